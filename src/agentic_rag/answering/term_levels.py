"""How far a unit expresses each term of a question, in its own words and in what stands above it.

A term's level is 1 in the unit's own letters, ``SIMILAR`` in another ending or with a slip of the pen, up to ``LIKE`` in other
words, by the embedding model's tokens.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import date
from functools import cache, lru_cache, partial

import numpy as np
from numpy.typing import NDArray
from rapidfuzz import fuzz

from agentic_rag.answering.source_notes import SourceNote, cached_fold
from agentic_rag.answering.value_kinds import (
    NUMBERS,
    VERSIONS,
    is_called_one_of,
    states_cost,
    states_number,
    states_version,
)
from agentic_rag.dates.reading import dates_in
from agentic_rag.dates.spans import ONE_DAY, Span
from agentic_rag.domain import Chunk
from agentic_rag.domain.token_vectors import Floats
from agentic_rag.notes.units import LIST_KINDS, Unit
from agentic_rag.questions.forms import FIRST
from agentic_rag.questions.money import COSTS, SUM_NOUNS
from agentic_rag.questions.question import Question
from agentic_rag.questions.terms import DAYS
from agentic_rag.questions.times import in_year
from agentic_rag.questions.words import IRREGULAR, regular
from agentic_rag.questions.written_kinds import asked_writings
from agentic_rag.retrieval.term_likeness import TermLikeness
from agentic_rag.text import starts_cjk, tokens
from agentic_rag.text.compounds import says_noun
from agentic_rag.text.languages import language

SIMILAR = 0.85
"""Factor on the level of a word that is only similar to the term: another ending, a slip of the pen."""
LIKE, UNLIKE, ALIKE = 0.9, 0.42, 0.68
"""Level of a word that is expressed in other words, by the cosine of its tokens with the nearest tokens of the unit: 0 up
to UNLIKE, LIKE from ALIKE on. Measured: wrote/author .58, 页/pages .74; colour/phone .30, cost/dates .36."""
UNLIKE_NAME, ALIKE_NAME = 0.6, 0.85
"""The same of a proper name: Tokyo is near to Japan, and is another thing."""
CLEAR = 0.5
"""Level from which a unit counts as speaking of a term."""
TITLE_WEIGHT, HEADING_WEIGHT, NAME_WEIGHT = 0.95, 1.05, 1.15
"""Weight of a term where the note's title, the label or innermost heading, or the unit's own name that it stands in is
named whole by the question: what stands below is about the term, and not what only mentions it."""
HAN_MEASURES = frozenset("分岁年天次元块度斤")
"""Chinese measures that are also parts of many words, 部分, 天气: they say something behind a number alone."""
Levels = NDArray[np.float64]
"""Of each unit the level of each term in its own words, near above it, farther above, and in the sentences right before it,
shape (units, 4, terms)."""
BEFORE, SPOKEN_OF = 3, 0.48
"""Sentences of the same paragraph before a sentence that say what it speaks of, and the factor on their levels: below CLEAR,
for the sentence itself does not say it."""
PlacedUnit = tuple[Unit, SourceNote, Chunk | None]
"""A unit with its note and the chunk that it begins in."""


def levels_of_terms(question: Question, units: Sequence[PlacedUnit], likeness: TermLikeness | None) -> Levels:
    """Of each unit the level of each term of the question, in its own words, near above it, farther above, and before it.

    Args:
        question: as it was read.
        units: at least one.
        likeness: of the question's words with the notes' passages; None: words are compared by their letters alone.
    """
    levels = _in_letters(question, units)
    if likeness is None:
        return _with_before(units, levels)
    alike = _in_other_words(question, likeness, units)
    for number, _ in _number_labels(question):
        alike[:, :, number] = 0.0  # week 8 is no week 9
    # Tokens take on their note's subject: what is named above needs no other words below.
    is_open = levels.max(axis=1, keepdims=True) < SIMILAR
    return _with_before(units, np.where(is_open, np.maximum(levels, alike), levels))


def _with_before(units: Sequence[PlacedUnit], levels: NDArray[np.float64]) -> Levels:
    """The levels with those of the sentences before each in its paragraph."""
    before = np.zeros_like(levels[:, 0])
    places = np.array([(id(note), unit.block) for unit, note, _ in units])
    goes_on = np.array([unit.kind == "sentence" for unit, _, _ in units])
    for back in range(1, min(BEFORE + 1, len(units))):
        goes_on[:back] = False
        goes_on[back:] &= (places[back:] == places[:-back]).all(axis=1)
        before[goes_on] = np.maximum(before[goes_on], levels[np.flatnonzero(goes_on) - back, 0])
    of_before = SPOKEN_OF * np.where(before >= CLEAR, before, 0.0)
    return np.concatenate((levels, of_before[:, None]), axis=1)


def _in_letters(question: Question, units: Sequence[PlacedUnit]) -> NDArray[np.float64]:
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
    for nouns, states_value in (
        (COSTS | SUM_NOUNS, states_cost),
        (VERSIONS, states_version),
        (NUMBERS, states_number),
    ):
        _express(levels, units, [n for n, term in enumerate(terms) if term in nouns], states_value)
    _express(levels, units, [n for n, term in enumerate(terms) if FIRST.search(term)], _is_first)
    for place, names in question.attributes:
        asked = [n for n, t in enumerate(question.terms) if place.start < t.end and t.start < place.end]
        _express(levels, units, asked, partial(is_called_one_of, names))
    for row, short in _abbreviations(units):
        for n, term in enumerate(terms):
            if len(term) >= MIN_ABBREVIATED and term.startswith(short):
                levels[row, 0, n] = max(levels[row, 0, n], SIMILAR)
    for place, value in asked_writings(question.text):
        asked = [n for n, t in enumerate(question.terms) if place.start <= t.start and t.end <= place.end]
        _express(levels, units, asked, partial(_is_written, value))
    if question.days is not None and DAYS in terms:
        of_days = [_of_days(question.days, unit, note) for unit, note, _ in units]
        levels[:, :, terms.index(DAYS)] = of_days
    return levels


def _express(
    levels: Levels,
    units: Sequence[PlacedUnit],
    asked_terms: Sequence[int],
    states_value: Callable[[Unit], bool],
) -> None:
    """Raise the levels of terms in the own words of the units that state a value which expresses them."""
    if asked_terms:
        stated = np.array([states_value(unit) for unit, _, _ in units])
        levels[:, 0, asked_terms] = np.maximum(levels[:, 0, asked_terms], SIMILAR * stated[:, None])


def _is_first(unit: Unit) -> bool:
    return FIRST.search(unit.own()) is not None


def _is_written(value: re.Pattern[str], unit: Unit) -> bool:
    return value.search(unit.own()) is not None


MIN_ABBREVIATED = 5
"""Letters of a word from which a name may shorten it."""
_ABBREVIATION = re.compile(r"([a-z]{3,})\.")


def _abbreviations(units: Sequence[PlacedUnit]) -> Iterator[tuple[int, str]]:
    """The places of the units of which the name, or that of a column, is shortened, ``Ext.``, each with its letters."""
    for row, (unit, _, _) in enumerate(units):
        if unit.key is not None or unit.columns:
            for name in (unit.key or "", *(name for name, _ in unit.columns)):
                if short := _ABBREVIATION.fullmatch(name.casefold()):
                    yield row, short[1]


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


@cache
def _behind_number(piece: str) -> re.Pattern[str]:
    return re.compile(rf"[\d一二三四五六七八九十百千两半几多]\s*{piece}")


def _of_days(days: Span, unit: Unit, note: SourceNote) -> tuple[float, float, float]:
    """Whether the unit, what stands above it, or its note is of the days that are asked for."""
    above = (*unit.headings, *unit.parents)
    own_day = None if note.date is None else date.fromisoformat(note.date[:10])
    return (
        max(_overlap(days, text, own_day) for text in (unit.own(), *(cell for _, cell in unit.columns))),
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
    for one in dates_in(text) if _DAY_HINT.search(text) else ():
        spans = [one.span] if one.yearless is None else [in_year(one.yearless, year) for year in years]
        if any(days.overlaps(span) for span in spans):
            is_edge = len(edges) == 2 or any(span.covers(day) for span in spans for day in edges)
            level = max(level, 1.0 if is_edge else SIMILAR)
    return level


_DIGIT = re.compile(r"\d")
_DAY_HINT = re.compile(
    r"\d|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|jän|mär|mai|okt|dez)|[一二三四五六七八九十]月",
    re.IGNORECASE,
)
"""What a text has that names a day or month: most have none, and reading days takes time."""


def _in_other_words(
    question: Question, likeness: TermLikeness, units: Sequence[PlacedUnit]
) -> NDArray[np.float64]:
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


@lru_cache(maxsize=16_384)
def _plain_texts(texts: tuple[str, ...]) -> str:
    return "\n".join(map(cached_fold, texts))


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


_REMARK = re.compile(r"\s*[（(][^()（）]*[)）]\s*$")
"""What tells apart titles of one name: ``Ape (Creature)``."""


def named_whole(
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
        own = unit.columns[0][1] if unit.columns else unit.key or ""
        rows.append(row_of(note.title, (*label, *unit.headings[-1:]), own))
    return np.array(levels)[rows], np.array(is_own_value)[rows]


@lru_cache(maxsize=16_384)
def _name_words(name: str) -> frozenset[str]:
    return frozenset(map(regular, tokens(_REMARK.sub("", name))))
