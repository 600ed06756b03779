"""Ranks the sentences of a history for a question: by shared rare words, speaker, time."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta

from agentic_rag.text import starts_cjk
from agentic_rag_lab.designs.reading.history import History, Line, Sentence
from agentic_rag_lab.designs.reading.questions import ParsedQuestion
from agentic_rag_lab.designs.reading.words import stem

MAX_COMPARED = 24
"""Maximum number of sentences that are returned."""
LATE = timedelta(days=10)
"""Time after an event during which people still speak of it as recent."""


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence with its match features."""

    sentence: Sentence
    own: float
    """Share of the question's terms in the sentence, weighted by rarity, in [0, 1]."""
    turn: float
    """Share that only the rest of its line has."""
    before: float
    """Share that only the line before has."""
    about: bool
    """Whether the person asked about says it, or it names them; True if the question is about nobody."""
    timely: bool
    """Whether its line has the question's date; True if the question states none."""

    @property
    def support(self) -> float:
        """How well it matches, higher is better; lower for a return question or a mere exclamation."""
        count = len(self.sentence.words)
        return (
            2.5 * self.own
            + 2.4 * self.turn
            + 1.5 * self.before
            + 1.9 * self.about
            + 1.6 * self.timely
            - 0.8 * self.sentence.asks
            - 0.3 * self.sentence.caption
            - (0.8 if count <= 3 else 0.4 if count <= 6 else 0.0)
        )


def bearing_statements(question: ParsedQuestion, history: History) -> list[Statement]:
    """The best matching sentences by support, then in the history's order; at most ``MAX_COMPARED``."""
    rarity = term_rarity(question, history)
    scored = [_statement(question, history, rarity, sentence) for sentence in history.sentences]
    scored.sort(key=lambda one: (-one.support, one.sentence.line.index, one.sentence.place))
    return scored[:MAX_COMPARED]


def term_rarity(question: ParsedQuestion, history: History) -> dict[str, float]:
    """Weight of each term of the question by its rarity in the history; the sum is 1."""
    frequency = Counter(term for line in history.lines for term in line.terms)
    every = len(history.lines) + 1
    raw = {term: math.log(1 + every / (frequency[term] + 1)) for term in sorted(question.terms)}
    total = sum(raw.values())
    return {term: value / total for term, value in raw.items()} if total else {}


def _statement(
    question: ParsedQuestion, history: History, rarity: dict[str, float], sentence: Sentence
) -> Statement:
    line = sentence.line
    own = sentence.terms & question.terms
    turn = (line.terms & question.terms) - own
    former = history.lines[line.index - 1] if line.index else None
    beside = former is not None and former.date == line.date and former.speaker != line.speaker
    before = (former.terms & question.terms) - own - turn if former is not None and beside else frozenset()
    return Statement(
        sentence,
        own=_weight(own, rarity),
        turn=_weight(turn, rarity),
        before=_weight(before, rarity),
        about=is_about(sentence, question.subject),
        timely=_timely(question, line),
    )


def _weight(terms: frozenset[str], rarity: dict[str, float]) -> float:
    return math.fsum(rarity.get(term, 0.0) for term in sorted(terms))


def is_about(sentence: Sentence, person: str) -> bool:
    """Whether the person says the sentence, or, without a known speaker, it names them. True if no person is
    given."""
    if not person:
        return True
    if sentence.line.speaker:
        return sentence.line.speaker == person
    if starts_cjk(person):
        return person in sentence.text
    return stem(person.split()[0]) in {word.stem for word in sentence.words}


def _timely(question: ParsedQuestion, line: Line) -> bool:
    if question.interval is None:
        return True
    if line.date is None:
        return False
    start, end = question.interval
    moment = datetime.combine(line.date, time(12), tzinfo=UTC)
    return (start is None or start <= moment) and (end is None or moment < end + LATE)
