"""Scores the units of the notes that were retrieved: which of them speak of what a question asks.

    score(unit) = Σ rarity(term) · level(term, unit) / Σ rarity(term)  +  fit  +  prior

over the question's terms. ``level`` is 1 in the unit's own words, less in what stands above it (items, headings, the
note's title); ``rarity`` is log(1 + N / df) among the units that are compared; ``fit`` says whether the unit holds the
kind of value that is wanted; ``prior`` is the relevance of the passage that it stands in.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from agentic_rag.answering.source_notes import SourceNote, cached_fold
from agentic_rag.answering.term_levels import (
    CLEAR,
    SIMILAR,
    UNLIKE,
    Levels,
    PlacedUnit,
    levels_of_terms,
    named_whole,
)
from agentic_rag.answering.value_kinds import fits, states_measure, states_reason
from agentic_rag.dates.reading import dates_in
from agentic_rag.notes.units import LIST_KINDS, Unit
from agentic_rag.questions.forms import FIRST, LAST, NEXT, PRESENT
from agentic_rag.questions.question import Question
from agentic_rag.retrieval.term_likeness import TermLikeness
from agentic_rag.text import starts_cjk, tokens

LEVELS = np.array((1.0, 0.9, 0.75, 1.0))
"""Level of a term in the unit's own words, in the items above it and its innermost heading, in other headings and
the note's title, folders and tags; of what the sentences right before it say as it is."""
OWN_VALUE = 0.2
"""For a unit whose name and whose note's or heading's name the question has: ``Speed`` of the note Goblin."""
GENERIC = 0.3
"""Factor on the weight of words that are too general to be missed."""
NEW = 2.0
"""Factor on the weight of the words in which a question differs from the one before: "and the ketch?"."""
SPOKEN_OF, MIN_QUOTE = 0.45, 12
"""For a unit of a note that the answer before quotes, by a unit of MIN_QUOTE code points or more, where a question goes on
from it."""
KEY = 0.15
"""Weight of how likely a property is what is asked for."""
FIT = 0.3
PRIOR, ORDER = 0.3, 0.3
"""Weight of the passage's relevance, and of its note's place in the ranking (1 / place)."""
HEAD = 0.1
"""For a unit that begins with what a value is wanted of: ``salt 4 g``, a property."""
ROW_HEAD = 0.07
"""For a row that has the terms in its first cell, by their share; less than what parts units that say as much
(``lines.NEAR_TIE``), so that their meaning decides between the row and a sentence."""
MEASURE = 0.25
"""For a unit that names the measure that is asked for as its own, ``Speed: 30 ft.`` of "how fast is it?", or says it with
a number, "5 feet tall", "7 charges" of "how many charges"."""
WHOLE = 0.08
"""Where a value is wanted, for a unit that has all of several terms in its own words."""
LONG, LENGTH = 0.08, 150
"""Taken from a unit longer than LENGTH code points, times ln of how much longer: many words match something."""
RECENT = 0.2
"""For a unit of the latest note, where it is asked what holds now, for earlier ones less; and for one that says so itself."""
ASKING = 0.35
"""Taken from a unit that is itself a question."""
REPEATED_NOTES, NOTICE = 3, 20
"""Notes in which a sentence of NOTICE code points or more is a notice."""


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
    """Of each term in its own words, near above it, farther above and right before it, in [0, 1], shape (4, terms)."""
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

    @cached_property
    def before(self) -> Mapping[str, float]:
        """The same of the sentences right before it in its paragraph."""
        return self._above_zero(3)

    def _above_zero(self, place: int) -> dict[str, float]:
        levels = zip(self.terms, self.levels[place].tolist(), strict=True)
        return {term: level for term, level in levels if level}

    @property
    def total(self) -> float:
        """``score`` with ``nearness``; higher is better."""
        return self.score + self.nearness

    def level(self, term: str) -> float:
        """How far the unit with its context expresses a term, in [0, 1]."""
        places = (self.own, self.near, self.above, self.before)
        return max(levels.get(term, 0.0) for levels in places)

    def expresses(self, terms: Iterable[str]) -> bool:
        """Whether the unit with its context clearly expresses all of these terms."""
        return all(self.level(term) >= CLEAR for term in terms)


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
    levels = levels_of_terms(question, units, likeness)
    frequency = (levels.max(axis=1) >= CLEAR).sum(axis=0).tolist()
    rarity = {
        term.token: math.log(1 + len(units) / max(met, 0.5))
        * (GENERIC if term.is_generic else NEW if question.is_new(term) else 1.0)
        for term, met in zip(question.terms, frequency, strict=True)
    }
    total = sum(rarity.values()) or 1.0
    weights = np.array([rarity[term] for term in terms])
    weighted = (levels * LEVELS[:, None]).max(axis=1)
    by_name, is_own_value = named_whole(terms, units)
    by_terms = (np.maximum(weighted, by_name) * weights).sum(axis=1) / total + OWN_VALUE * is_own_value
    whole = _say_whole(question, units, levels).tolist()
    is_reason = question.asks_reason
    recency = _recency(notes) if question.asks_present else {}
    by_day = _by_day(question, units)
    spoken_of = {id(note) for note in notes if _is_quoted(note, question.answer_before)}
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
        if unit.columns and question.form != "compare":
            score += ROW_HEAD * _share_in_first_cell(unit, stems, pieces)
        else:
            score += HEAD * (may_be_head and _begins_with(unit, stems, pieces))
        score += KEY * (keys or {}).get(unit.key or "", 0.0) * (unit.kind == "property")
        score += PRIOR * note.relevance_at(chunk) + ORDER / (1 + note.order)
        score -= LONG * math.log1p(max(0, len(unit.text) - LENGTH) / LENGTH)
        score -= ASKING * is_question(unit)
        score += recency.get(note.date, 0.0) + by_day.get(id(unit), 0.0)
        score += RECENT * (question.asks_present and PRESENT.search(unit.own()) is not None)
        score += WHOLE * says_whole
        score += SPOKEN_OF * (id(note) in spoken_of)
        candidates.append(Candidate(unit, note, score, terms, three))
    return sorted(candidates, key=lambda one: (-one.score, one.note.order, one.unit.start))


def _is_quoted(note: SourceNote, answer: str) -> bool:
    """Whether an answer has a unit of a note."""
    if not answer:
        return False
    return any(unit.text in answer for unit in note.reading.units if len(unit.text) >= MIN_QUOTE)


def _recency(notes: Sequence[SourceNote]) -> dict[str | None, float]:
    """What a note's date adds to the score of its units, by date: most for the latest."""
    dates = sorted({note.date for note in notes if note.date is not None})
    return {date: RECENT * place / (len(dates) - 1) for place, date in enumerate(dates) if len(dates) > 1}


def _by_day(question: Question, units: Sequence[PlacedUnit]) -> dict[int, float]:
    """What its place among the days of its list or table adds to the score of a unit, by its ``id``, where the latest or first
    of several times is asked for; and that of one that speaks of the next time, where this is."""
    if NEXT.search(question.text):
        return {id(unit): RECENT for unit, _, _ in units if NEXT.search(unit.own())}
    is_last = question.asks_present or LAST.search(question.text) is not None
    if not (is_last or FIRST.search(question.text)):
        return {}
    lists: dict[tuple[int, int], list[tuple[date, Unit]]] = {}
    for unit, note, _ in units:
        if unit.kind in (*LIST_KINDS, "row"):
            days = [one.span.start for one in dates_in(unit.own()) if one.span.start is not None]
            lists.setdefault((id(note), unit.block), []).extend((day, unit) for day in days[:1])
    added: dict[int, float] = {}
    for dated in lists.values():
        days_of_list = sorted({day for day, _ in dated}, reverse=not is_last)
        if len(days_of_list) > 1:
            step = RECENT / (len(days_of_list) - 1)
            added |= {id(unit): step * days_of_list.index(day) for day, unit in dated}
    return added


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


def _begins_with(unit: Unit, stems: Set[str], pieces: tuple[str, ...]) -> bool:
    """Whether a unit begins with one of the terms, which are words' stems and pieces of Chinese."""
    own = unit.own()
    return not stems.isdisjoint(tokens(own[:MAX_HEAD])[:1]) or cached_fold(own).startswith(pieces)


def _share_in_first_cell(unit: Unit, stems: Set[str], pieces: tuple[str, ...]) -> float:
    """The share of the terms that a row's first cell has, which says what the row is of, in [0, 1]."""
    words, text = set(tokens(unit.text)), cached_fold(unit.text)
    named = len(stems & words) + sum(piece in text for piece in pieces)
    return named / max(1, len(stems) + len(pieces))


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
