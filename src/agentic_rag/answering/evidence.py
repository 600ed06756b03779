"""Scores the units of the notes that were retrieved: which of them speak of what a question asks.

    score(unit) = Σ rarity(term) · level(term, unit) / Σ rarity(term)  +  fit  +  prior

over the question's terms. ``level`` is 1 in the unit's own words, less in what stands above it (items, headings, the
note's title); ``rarity`` is log(1 + N / df) among the units that are compared; ``fit`` says whether the unit holds the
kind of value that is wanted; ``prior`` is the relevance of the passage that it stands in.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from datetime import date
from functools import cache, cached_property, lru_cache
from operator import attrgetter
from pathlib import PurePosixPath
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import fuzz

from agentic_rag.answering.value_kinds import (
    VERSIONS,
    fits,
    is_called_one_of,
    states_cost,
    states_measure,
    states_reason,
    states_version,
)
from agentic_rag.dates.reading import DatedText, read_spans
from agentic_rag.dates.spans import ONE_DAY, Span
from agentic_rag.domain import Chunk
from agentic_rag.domain.results import Passage
from agentic_rag.domain.token_vectors import Floats
from agentic_rag.notes.markdown import plain
from agentic_rag.notes.units import LIST_KINDS, Reading, Unit, read_plain, read_units
from agentic_rag.questions.money import COSTS
from agentic_rag.questions.question import DAYS, Question
from agentic_rag.questions.times import in_year
from agentic_rag.questions.words import IRREGULAR, regular
from agentic_rag.retrieval.term_likeness import TermLikeness
from agentic_rag.text import fold, starts_cjk, tokens
from agentic_rag.text.compounds import says_noun
from agentic_rag.text.languages import language

LEVELS = np.array((1.0, 0.9, 0.75))
"""Level of a term in the unit's own words, in the items above it and its innermost heading, and in other headings and
the note's title, folders and tags."""
TITLE_WEIGHT, HEADING_WEIGHT, NAME_WEIGHT = 0.95, 1.05, 1.15
"""Weight of a term where the note's title, the label or innermost heading, or the unit's own name that it stands in is
named whole by the question: what stands below is about the term, and not what only mentions it."""
OWN_VALUE = 0.2
"""For a unit whose name and whose note's or heading's name the question has: ``Speed`` of the note Goblin."""
SIMILAR = 0.85
"""Factor on the level of a word that is only similar to the term: another ending, a slip of the pen."""
LIKE, UNLIKE, ALIKE = 0.9, 0.42, 0.68
"""Level of a word that is expressed in other words, by the cosine of its tokens with the nearest tokens of the unit: 0 up
to UNLIKE, LIKE from ALIKE on. Measured: wrote/author .58, 页/pages .74; colour/phone .30, cost/dates .36."""
UNLIKE_NAME, ALIKE_NAME = 0.6, 0.85
"""The same of a proper name: Tokyo is near to Japan, and is another thing."""
CLEAR = 0.5
"""Level from which a unit counts as speaking of a term."""
GENERIC = 0.3
"""Factor on the weight of words that are too general to be missed."""
KEY = 0.15
"""Weight of how likely a property is what is asked for."""
FIT = 0.3
PRIOR, ORDER = 0.3, 0.3
"""Weight of the passage's relevance, and of its note's place in the ranking (1 / place)."""
HEAD = 0.1
"""For a unit that begins with what a value is wanted of: ``salt 4 g``, a table's row, a property."""
MEASURE = 0.25
"""For a unit that names the measure that is asked for as its own, ``Speed: 30 ft.`` of "how fast is it?", or says it with
a number, "5 feet tall", "7 charges" of "how many charges"."""
WHOLE = 0.08
"""Where a value is wanted, for a unit that has all of several terms in its own words."""
LONG, LENGTH = 0.08, 150
"""Taken from a unit longer than LENGTH code points, times ln of how much longer: many words match something."""
ASKING = 0.35
"""Taken from a unit that is itself a question."""
MAX_NOTE = 60_000
"""Code points of a note that are read whole; of a longer one the passages that were retrieved are read."""
_MARKDOWN = (".md", ".markdown", ".org", ".csv", ".docx", ".pptx", ".html", ".htm", ".epub")
"""Suffixes of what ingest reads as Markdown."""


@dataclass(frozen=True)
class SourceNote:
    """A note with a retrieved passage, and its units."""

    document_id: str | None
    title: str
    path: str
    url: str | None
    date: str | None
    tags: tuple[str, ...]
    order: int
    """Of its best passage in the ranking, from 0."""
    relevance: float
    """Of its best passage, in [0, 1]."""
    chunks: tuple[Chunk, ...]
    """In the order of the text, as far as they were read."""
    passages: Mapping[str, float]
    """Relevance of the retrieved chunks by id."""
    reading: Reading
    base: Passage = field(compare=False)
    """The retrieved result where it comes from no stored document (a memory), else the first chunk's place."""
    names: tuple[str, ...] = ()
    """Its title, folders, tags and the values of its properties."""

    def chunk_at(self, start: int) -> Chunk | None:
        """The chunk that a unit begins in; None where the note has no stored chunks."""
        n = bisect_right(self.chunks, start, key=_chunk_start) - 1
        return self.chunks[n] if n >= 0 and start < self.chunks[n].end else None

    def text(self, start: int, end: int) -> str:
        """The text of a span, as far as chunks of it were read."""
        if not self.chunks:
            return str(self.base["content"])[start - self.offset : end - self.offset]
        parts = [
            chunk.text[max(0, start - chunk.start) : max(0, end - chunk.start)]
            for chunk in self.chunks
            if chunk.start < end and start < chunk.end
        ]
        return "".join(parts)

    @cached_property
    def is_prose(self) -> bool:
        """Whether it is a document without markup, whose sentences say together what the units of a note say alone."""
        suffix = PurePosixPath(self.path).suffix.casefold()
        return bool(self.chunks) and suffix not in (*_MARKDOWN, ".canvas")

    @property
    def offset(self) -> int:
        """Start of the retrieved result in its document, in code points, where no chunks are stored."""
        return int(self.base["metadata"].get("start") or 0)


_chunk_start = attrgetter("start")


@dataclass(frozen=True)
class Candidate:
    """A unit with what it matches of a question."""

    unit: Unit
    note: SourceNote
    score: float
    """Higher is better; about in [0, 2]."""
    terms: Sequence[str]
    """Of the question."""
    levels: NDArray[np.float64] = field(compare=False, repr=False)
    """Of each term in its own words, near above it and farther above, in [0, 1], shape (3, terms)."""
    nearness: float = 0.0
    """What its meaning adds to ``score`` where no unit says all that is asked, see ``meaning``."""

    @cached_property
    def own(self) -> Mapping[str, float]:
        """Level of each term in its own words, in (0, 1]; terms without one are left out."""
        return self._above_zero(0)

    @cached_property
    def near(self) -> Mapping[str, float]:
        """The same of the items above it, its lead and its innermost heading."""
        return self._above_zero(1)

    @cached_property
    def above(self) -> Mapping[str, float]:
        """The same of the other headings, the note's title, folders, tags and properties."""
        return self._above_zero(2)

    def _above_zero(self, place: int) -> dict[str, float]:
        levels = zip(self.terms, self.levels[place].tolist(), strict=True)
        return {term: level for term, level in levels if level}

    @property
    def total(self) -> float:
        """``score`` with ``nearness``; higher is better."""
        return self.score + self.nearness

    def level(self, term: str) -> float:
        """How far the unit with its context expresses a term, in [0, 1]."""
        return max(self.own.get(term, 0.0), self.near.get(term, 0.0), self.above.get(term, 0.0))


def source_notes(
    results: Sequence[Passage],
    relevance: Sequence[float],
    documents: Mapping[str, Sequence[Chunk]],
) -> list[SourceNote]:
    """The notes of the results, in the order of their best passage.

    Args:
        results: best first.
        relevance: of each, in [0, 1].
        documents: all chunks of the notes, as far as they could be read.
    """
    groups: dict[str, list[tuple[int, Passage, float]]] = {}
    for order, (result, known) in enumerate(zip(results, relevance, strict=True)):
        groups.setdefault(str(result["metadata"].get("document_id") or result["id"]), []).append(
            (order, result, known)
        )
    return [_source_note(key, group, documents.get(key, ())) for key, group in groups.items()]


def _source_note(
    key: str, group: Sequence[tuple[int, Passage, float]], chunks: Sequence[Chunk]
) -> SourceNote:
    order, best, _ = group[0]
    passages = {str(result["id"]): known for _, result, known in group}
    if chunks:  # a result may be a fact, whose title is not its note's
        return replace(note_of_chunks(chunks, passages), order=order)
    metadata, reading = best["metadata"], _of_results(group)
    path, title = str(metadata.get("path") or ""), str(metadata.get("title") or "")
    return SourceNote(
        document_id=metadata.get("document_id"),
        title=title,
        path=path,
        url=metadata.get("url"),
        date=metadata.get("date"),
        tags=_tags(metadata),
        order=order,
        relevance=max(passages.values()),
        chunks=(),
        passages=passages,
        reading=reading,
        names=_names(title, path, reading),
        base=best,
    )


def _tags(metadata: Mapping[str, Any]) -> tuple[str, ...]:
    tags = metadata.get("tags") or ()
    return tuple(str(tag) for tag in ([tags] if isinstance(tags, str) else tags))


def _names(title: str, path: str, reading: Reading) -> tuple[str, ...]:
    return (title, *PurePosixPath(path).parts, *(unit.text for unit in reading.properties))


def note_of_chunks(chunks: Sequence[Chunk], passages: Mapping[str, float] | None = None) -> SourceNote:
    """The note that these stored chunks make.

    Args:
        chunks: all of its chunks, at least one, in the order of the text.
        passages: relevance of the retrieved ones by id; None: it was selected, and all of it is as relevant.
    """
    first = chunks[0]
    if passages is None:
        passages = {chunk.id: 1.0 for chunk in chunks}
    reading = _reading(first.path, chunks, passages)
    return SourceNote(
        document_id=first.document_id,
        title=first.title,
        path=first.path,
        url=first.url,
        date=None if first.date is None else first.date.isoformat(),
        tags=_tags(first.metadata),
        order=0,
        relevance=max(passages.values()),
        chunks=tuple(chunks),
        passages=passages,
        reading=reading,
        names=_names(first.title, first.path, reading),
        base={
            "id": first.id,
            "metadata": {"path": first.path, "title": first.title, "start": first.start},
            "content": first.text,
            "facts": [],
        },
    )


def _reading(path: str, chunks: Sequence[Chunk], passages: Mapping[str, float]) -> Reading:
    """The units of a note; of a long one those of the retrieved passages and of their neighbours.

    Text without markup has its headings (a canvas its groups) in its chunks alone.
    """
    markdown = PurePosixPath(path).suffix.casefold() in _MARKDOWN
    is_long = chunks[-1].end - chunks[0].start > MAX_NOTE
    if markdown and not is_long:
        return _read("".join(chunk.text for chunk in chunks), chunks[0].start, (), True)
    places = {n for n, chunk in enumerate(chunks) if chunk.id in passages or not is_long}
    wanted = sorted({near for n in places for near in (n - 1, n, n + 1) if 0 <= near < len(chunks)})
    units: list[Unit] = []
    for n in wanted:
        chunk = chunks[n]
        read = _read(
            chunk.text, chunk.start, _headings_above(chunk) if markdown else chunk.heading_path, markdown
        )
        units += [replace(unit, block=unit.block + 1_000 * n) for unit in read.units]
    return Reading(tuple(units))


_HEADING = re.compile(r"\s*#{1,6}[ \t]+(?P<title>[^\r\n]*)")


def _headings_above(chunk: Chunk) -> tuple[str, ...]:
    """The headings above a chunk, without the one that it begins with and those below that."""
    path, opening = chunk.heading_path, _HEADING.match(chunk.text)
    title = None if opening is None else plain(opening["title"])
    return path[: path.index(title)] if title in path else path


def _of_results(group: Sequence[tuple[int, Passage, float]]) -> Reading:
    """Units of passages without a stored document: memories, facts without a chunk."""
    units: list[Unit] = []
    for _, result, _ in group:
        metadata = result["metadata"]
        headings = tuple(str(part) for part in metadata.get("heading_path") or ())
        units += _read(str(result["content"]), int(metadata.get("start") or 0), headings, False).units
    return Reading(tuple(units))


@lru_cache(maxsize=512)
def _read(text: str, start: int, headings: tuple[str, ...], markdown: bool) -> Reading:
    read = read_units if markdown else read_plain
    return read(text, start=start, headings=headings)


def score_units(
    question: Question,
    notes: Sequence[SourceNote],
    likeness: TermLikeness | None = None,
    keys: Mapping[str, float] | None = None,
) -> list[Candidate]:
    """All units of the notes, score descending, then by the note's order and the unit's place.

    Args:
        question: as it was read.
        notes: of the results.
        likeness: of the question's words with the notes' passages; None: words are compared by their letters alone.
        keys: how likely each property name is what is asked for, in [0, 1], by name.
    """
    repeated = _repeated_sentences(notes)
    units = [
        (unit, note, note.chunk_at(unit.start))
        for note in notes
        for unit in note.reading.units
        if unit.text not in repeated
    ]
    if not units:
        return []
    terms = [term.token for term in question.terms]
    levels = _in_letters(question, units)
    if likeness is not None:
        alike = _in_other_words(question, likeness, units)
        for number, _ in _number_labels(question):
            alike[:, :, number] = 0.0  # week 8 is no week 9
        # Tokens take on their note's subject: what is named above needs no other words below.
        is_open = levels.max(axis=1, keepdims=True) < SIMILAR
        levels = np.where(is_open, np.maximum(levels, alike), levels)
    frequency = (levels.max(axis=1) >= CLEAR).sum(axis=0).tolist()
    rarity = {
        term.token: math.log(1 + len(units) / max(met, 0.5)) * (GENERIC if term.is_generic else 1.0)
        for term, met in zip(question.terms, frequency, strict=True)
    }
    total = sum(rarity.values()) or 1.0
    weights = np.array([rarity[term] for term in terms])
    weighted = (levels * LEVELS[:, None]).max(axis=1)
    by_name, is_own_value = _named_whole(terms, units)
    by_terms = (np.maximum(weighted, by_name) * weights).sum(axis=1) / total + OWN_VALUE * is_own_value
    whole = _say_whole(question, units, levels).tolist()
    is_reason = question.asks_reason
    is_headed = bool(question.wants) or question.form in ("list", "definition")
    # No unit begins with a term that it does not have in its own letters.
    may_begin = (is_headed & (levels[:, 0] == 1.0).any(axis=1)).tolist()
    pieces = tuple(filter(starts_cjk, terms))
    stems = set(terms).difference(pieces)
    candidates = []
    for (unit, note, chunk), score, three, may_be_head, says_whole in zip(
        units, by_terms.tolist(), levels, may_begin, whole, strict=True
    ):
        score += FIT * (states_reason(unit) if is_reason else fits(question, unit))
        score += MEASURE * states_measure(question, unit)
        score += HEAD * (may_be_head and _begins_with(unit, stems, pieces))
        score += KEY * (keys or {}).get(unit.key or "", 0.0) * (unit.kind == "property")
        score += PRIOR * _relevance(chunk, note) + ORDER / (1 + note.order)
        score -= LONG * math.log1p(max(0, len(unit.text) - LENGTH) / LENGTH)
        score -= ASKING * is_question(unit)
        score += WHOLE * says_whole
        candidates.append(Candidate(unit, note, score, terms, three))
    return sorted(candidates, key=lambda one: (-one.score, one.note.order, one.unit.start))


def _say_whole(question: Question, units: Sequence[PlacedUnit], levels: Levels) -> NDArray[np.bool_]:
    """Whether each unit has all specific terms of a question that wants a value, shape (units,); none where there is
    only one term. A row and a property stand below their names, a sentence alone."""
    specific = [place for place, term in enumerate(question.terms) if not term.is_generic]
    if not question.wants or len(specific) < 2:
        return np.zeros(len(units), dtype=bool)
    is_below_name = np.array([unit.kind in ("row", "property") for unit, _, _ in units])
    of_terms = levels[:, :, specific]
    words = np.where(is_below_name[:, None], of_terms.max(axis=1), of_terms[:, 0])
    return np.asarray((words >= SIMILAR).all(axis=1))


def is_question(unit: Unit) -> bool:
    """Whether a unit is itself a question."""
    return unit.text.rstrip().endswith(("?", "？"))


def _repeated_sentences(notes: Sequence[SourceNote]) -> frozenset[str]:
    """Sentences that stand in REPEATED of the notes or more: notices and licences, which answer nothing."""
    counts = Counter(text for note in notes for text in {u.text for u in note.reading.units if _is_notice(u)})
    return frozenset(text for text, count in counts.items() if count >= REPEATED_NOTES)


def _is_notice(unit: Unit) -> bool:
    """Whether a unit may be one; a value that has a name is of its own note, however many have the same."""
    return unit.kind == "sentence" and unit.key is None and len(unit.text) >= NOTICE


REPEATED_NOTES, NOTICE = 3, 20
"""Notes in which a sentence of NOTICE code points or more is a notice."""
Levels = NDArray[np.float64]
"""Of each unit the level of each term in its own words, near above it and farther above, shape (units, 3, terms)."""
PlacedUnit = tuple[Unit, SourceNote, Chunk | None]
"""A unit with its note and the chunk that it begins in."""


def _in_letters(question: Question, units: Sequence[PlacedUnit]) -> Levels:
    """Levels of the terms that units have in the same letters, in another ending, or with a slip of the pen."""
    rows: dict[tuple[str, ...], int] = {}
    places = [[rows.setdefault(texts, len(rows)) for texts in _texts(unit, note)] for unit, note, _ in units]
    terms = [term.token for term in question.terms]
    of_texts = _levels_of_texts(terms, list(rows))
    if language(question.text) == "german":
        of_texts = np.maximum(of_texts, _levels_of_compounds(question, list(rows)))
    for number, pattern in _number_labels(question):
        has_label = np.array([any(map(pattern.search, texts)) for texts in rows])
        if has_label.any():
            of_texts[~has_label, number] = 0.0
    levels = of_texts[places]
    for nouns, states_value in ((COSTS, states_cost), (VERSIONS, states_version)):
        named = [n for n, term in enumerate(terms) if term in nouns]
        if named:
            stated = np.array([states_value(unit) for unit, _, _ in units])
            levels[:, 0, named] = np.maximum(levels[:, 0, named], SIMILAR * stated[:, None])
    for place, names in question.attributes:
        asked = [n for n, t in enumerate(question.terms) if place.start < t.end and t.start < place.end]
        if asked:
            stated = np.array([is_called_one_of(names, unit) for unit, _, _ in units])
            levels[:, 0, asked] = np.maximum(levels[:, 0, asked], SIMILAR * stated[:, None])
    if question.days is not None and DAYS in terms:
        of_days = [_of_days(question.days, unit, note) for unit, note, _ in units]
        levels[:, :, terms.index(DAYS)] = of_days
    return levels


_NUMBER_LABEL = re.compile(r"([^\W\d_]{3,}) (\d{1,3})(?![\w.,:%°]*\d)(?![%°])\b")
"""A thing that is told from its like by a number: week 9, type 1."""


def _number_labels(question: Question) -> Iterator[tuple[int, re.Pattern[str]]]:
    """Places among the terms of the numbers that tell things apart, each with the pattern of texts that name the thing."""
    places = {(term.start, term.end): n for n, term in enumerate(question.terms)}
    for match in _NUMBER_LABEL.finditer(question.text):
        noun, number = places.get(match.span(1)), places.get(match.span(2))
        if noun is not None and number is not None and not question.terms[noun].is_generic:
            yield number, re.compile(rf"\b{match[1]}\W{{1,3}}0*{match[2]}\b", re.IGNORECASE)


def _levels_of_texts(terms: Sequence[str], texts: Sequence[tuple[str, ...]]) -> NDArray[np.float64]:
    """Levels of the terms that texts have in their letters, shape (texts, terms)."""
    words = list(map(_words, texts))
    forms = _forms(terms, frozenset().union(*words))
    known = frozenset(forms)
    pieces = [(n, term) for n, term in enumerate(terms) if starts_cjk(term)]
    levels = [[0.0] * len(terms) for _ in texts]
    for row, parts, own in zip(levels, texts, words, strict=True):
        for form in known & own:
            for n, factor in forms[form]:
                row[n] = max(row[n], factor)
        plain = _plain_texts(parts) if pieces else ""
        for n, piece in pieces:
            if piece in plain and (piece not in HAN_MEASURES or _behind_number(piece).search(plain)):
                row[n] = 1.0
    return np.array(levels)


def _levels_of_compounds(question: Question, texts: Sequence[tuple[str, ...]]) -> NDArray[np.float64]:
    """Levels of the German nouns that texts have as compounds, or of which they have the parts, shape (texts, terms)."""
    words = list(map(_words, texts))
    levels = np.zeros((len(texts), len(question.terms)))
    for n, term in enumerate(question.terms):
        if not term.is_generic and question.text[term.start].isupper():
            levels[:, n] = [SIMILAR * says_noun(own, term.token) for own in words]
    return levels


HAN_MEASURES = frozenset("分岁年天次元块度斤")
"""Chinese measures that are also parts of many words, 部分, 天气: they say something behind a number alone."""


@cache
def _behind_number(piece: str) -> re.Pattern[str]:
    return re.compile(rf"[\d一二三四五六七八九十百千两半几多]\s*{piece}")


_REMARK = re.compile(r"\s*[（(][^()（）]*[)）]\s*$")
"""What tells apart titles of one name: ``Ape (Creature)``."""


def _named_whole(
    terms: Sequence[str], units: Sequence[PlacedUnit]
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Of each unit the weight of the terms in its name, or in one above it, of which the question has every word, else 0,
    shape (units, terms); and whether the question has both, the thing and the name of its value, shape (units,)."""
    known = list(map(regular, terms))
    all_known = frozenset(known)

    @cache
    def places_of(name: str) -> frozenset[int]:
        words = _name_words(name)
        return frozenset(map(known.index, words)) if words and words <= all_known else frozenset()

    @cache
    def row_of(title: str, above: tuple[str, ...], own: str) -> int:
        row = [0.0] * len(terms)
        names = [(title, TITLE_WEIGHT), *((name, HEADING_WEIGHT) for name in above), (own, NAME_WEIGHT)]
        for name, weight in names:
            for place in places_of(name):
                row[place] = weight
        levels.append(row)
        value = places_of(own)
        is_own_value.append(bool(value) and any(places_of(name) - value for name, _ in names[:-1]))
        return len(levels) - 1

    levels: list[list[float]] = []
    is_own_value: list[bool] = []
    rows = []
    for unit, note, _ in units:
        label = () if unit.kind in LIST_KINDS else unit.parents
        rows.append(row_of(note.title, (*label, *unit.headings[-1:]), unit.key or ""))
    return np.array(levels)[rows], np.array(is_own_value)[rows]


@lru_cache(maxsize=16_384)
def _name_words(name: str) -> frozenset[str]:
    return frozenset(map(regular, tokens(_REMARK.sub("", name))))


def _begins_with(unit: Unit, stems: Set[str], pieces: tuple[str, ...]) -> bool:
    """Whether a unit begins with one of the terms, which are words' stems and pieces of Chinese."""
    own = unit.own()
    return not stems.isdisjoint(tokens(own[:MAX_HEAD])[:1]) or _fold(own).startswith(pieces)


MAX_HEAD = 40


def support(question: Question, chosen_units: Sequence[Candidate]) -> dict[str, float]:
    """How far the chosen units together express each specific term of the question, in [0, 1]; the words of one name as far
    as one unit expresses all of them: ``books_8`` is not the ``books`` of one and the ``8`` of another. So are an owner and what is asked of it."""
    levels = {
        term.token: max((one.level(term.token) for one in chosen_units), default=0.0)
        for term in question.terms
        if not term.is_generic
    }

    def together(words: Sequence[str]) -> float:
        """How far one unit expresses all of them."""
        return max((min(map(one.level, words)) for one in chosen_units), default=0.0)

    for name in question.names():
        level = together(name)
        if level <= UNLIKE:
            levels |= {token: min(levels[token], level) for token in name if token in levels}
    for owner, own in question.possessions():
        if own in levels and levels.get(owner, 0.0) >= CLEAR:
            levels[own] = min(levels[own], together((owner, own)))
    return levels


def _of_days(days: Span, unit: Unit, note: SourceNote) -> tuple[float, float, float]:
    """Whether the unit, what stands above it, or its note is of the days that are asked for."""
    above = (*unit.headings, *unit.parents)
    own_day = None if note.date is None else date.fromisoformat(note.date[:10])
    return (
        _overlap(days, unit.own(), own_day),
        max((_overlap(days, text, own_day) for text in above), default=0.0),
        float(own_day is not None and days.covers(own_day)),
    )


def _overlap(days: Span, text: str, own_day: date | None) -> float:
    """Whether a text names a day of a span, in [0, 1]; of an open span most where it names its first or last day.

    A day without a year is of the span's, where the note is not of another year.
    """
    last = None if days.end is None else days.end - ONE_DAY
    edges = [day for day in (days.start, last) if day is not None]
    years = {day.year for day in edges if own_day is None or own_day.year == day.year}
    level = 0.0
    for one in dates_in(text) if _DIGIT.search(text) else ():
        spans = [one.span] if one.yearless is None else [in_year(one.yearless, year) for year in years]
        if any(days.overlaps(span) for span in spans):
            is_edge = len(edges) == 2 or any(span.covers(day) for span in spans for day in edges)
            level = max(level, 1.0 if is_edge else SIMILAR)
    return level


@lru_cache(maxsize=4096)
def dates_in(text: str) -> tuple[DatedText, ...]:
    """The dates of a text, as ``read_spans`` reads them; every question asks for those of the same units again."""
    return tuple(read_spans(text))


_DIGIT = re.compile(r"\d")


def vocabulary_of(notes: Sequence[SourceNote]) -> str:
    """All that the notes say, for looking up runs of Chinese characters."""
    return "\n".join(_fold(text) for note in notes for text in (*note.names, *_all_texts(note.reading)))


def _all_texts(reading: Reading) -> Iterator[str]:
    for unit in reading.units:
        yield unit.own()
        yield from unit.headings[-1:]


def _in_other_words(question: Question, likeness: TermLikeness, units: Sequence[PlacedUnit]) -> Levels:
    """Levels of the terms that units express in other words, by the tokens of the embedding model."""
    rows: dict[tuple[str, int, int], int] = {}
    """Of each span of a chunk the row of its levels, from 1; row 0 is nothing."""

    def row(chunk: Chunk | None, start: int, end: int) -> int:
        return 0 if chunk is None else rows.setdefault((chunk.id, start, end), len(rows) + 1)

    own, near, above = [], [], []
    for unit, note, chunk in units:
        number = -1 if chunk is None else likeness.passages.get(chunk.id, -1)
        spans = _spans_above(unit, note) if number >= 0 else ()
        own.append(row(chunk, unit.start, unit.end) if number >= 0 else 0)
        near.append([row(note.chunk_at(start), start, end) for start, end in spans] or [0])
        above.append(number + 1)
    of_spans = _levels_of_cosines(question, likeness, likeness.of_spans(list(rows)))
    of_passages = _levels_of_cosines(question, likeness, likeness.above)
    depth = max(map(len, near))
    padded = np.array([places + [0] * (depth - len(places)) for places in near])
    return np.stack((of_spans[own], of_spans[padded].max(axis=1), of_passages[above]), axis=1)


def _levels_of_cosines(question: Question, likeness: TermLikeness, near: Floats) -> NDArray[np.float64]:
    """The level of each term, in [0, LIKE], in nothing and in what the question's tokens are so near to, shape
    (1 + columns, terms)."""
    levels = np.zeros((near.shape[1] + 1, len(question.terms)))
    for n, term in enumerate(question.terms):
        if term.is_generic or term.token == DAYS:
            continue  # a word that fits anything is like anything
        low, high = (UNLIKE_NAME, ALIKE_NAME) if term.is_name else (UNLIKE, ALIKE)
        cosines = likeness.of_term(near, term.start, term.end)
        levels[1:, n] = LIKE * ((cosines - low) / (high - low)).clip(0.0, 1.0)
    return levels


def _spans_above(unit: Unit, note: SourceNote) -> list[tuple[int, int]]:
    """Spans of the unit's innermost heading and of the items above it."""
    heading = note.reading.headings.get(unit.headings)
    items = [note.reading.items.get(parent) for parent in unit.parents]
    return [span for span in (heading, *items) if span is not None]


def _texts(unit: Unit, note: SourceNote) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """The unit's own words, what is near above it, and what is farther above."""
    own = (unit.own(), *(one.key for one in unit.fields))
    near = (*unit.parents, unit.lead or "", *unit.headings[-1:])
    return own, near, (*unit.headings[:-1], *note.names)


_fold = lru_cache(maxsize=16_384)(fold)


@lru_cache(maxsize=16_384)
def _plain_texts(texts: tuple[str, ...]) -> str:
    return "\n".join(map(_fold, texts))


@lru_cache(maxsize=16_384)
def _words(texts: tuple[str, ...]) -> frozenset[str]:
    return frozenset(token for text in texts for token in tokens(text))


def _forms(terms: Sequence[str], vocabulary: frozenset[str]) -> dict[str, list[tuple[int, float]]]:
    """The words of the vocabulary that express a term: of each the term's place, and a factor in (0, 1]."""
    forms: dict[str, list[tuple[int, float]]] = {}
    irregular: dict[str, list[str]] = {}
    for word in vocabulary & IRREGULAR.keys():
        irregular.setdefault(IRREGULAR[word], []).append(word)
    by_letter: dict[str, list[str]] = {term[:1]: [] for term in terms}
    for word in vocabulary:
        if word[0] in by_letter:
            by_letter[word[0]].append(word)
    for n, term in enumerate(terms):
        for word in irregular.get(regular(term), ()):
            if word != term:
                forms.setdefault(word, []).append((n, SIMILAR))
        if term in vocabulary:
            forms.setdefault(term, []).append((n, 1.0))
        if term.isascii() and len(term) >= 4:
            for word in by_letter[term[0]]:
                if word != term and _similar(term, word):
                    forms.setdefault(word, []).append((n, SIMILAR))
    return forms


@lru_cache(maxsize=65_536)
def _similar(term: str, word: str) -> bool:
    """Whether two stems are forms of one word (``direct``, ``director``) or one is a slip of the other."""
    if not word.isascii() or abs(len(term) - len(word)) > 4:
        return False
    if _DIGIT.search(term) or _DIGIT.search(word):  # books_1 is not books_8
        return False
    short, long = sorted((term, word), key=len)
    if len(short) < 5 or term[0] != word[0]:
        return False
    return long.startswith(short) or fuzz.ratio(term, word) >= 80 or fuzz.ratio(term, word[: len(term)]) >= 83


def _relevance(chunk: Chunk | None, note: SourceNote) -> float:
    """Of the passage that a unit stands in."""
    return note.relevance if chunk is None else note.passages.get(chunk.id, 0.5 * note.relevance)
