"""Ranks the sentences of a history for a question: by shared rare words, meaning, speaker, time."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, time, timedelta

from agentic_rag.domain.ports import Embedding
from agentic_rag.text import starts_cjk
from agentic_rag_lab.designs.reading.history import History, Line, Sentence
from agentic_rag_lab.designs.reading.questions import ParsedQuestion
from agentic_rag_lab.designs.reading.words import stem

MAX_COMPARED = 24
"""Number of sentences compared with the question by meaning, at some milliseconds each."""
COMPARED_LETTERS = 200
"""Maximum characters of a sentence compared by meaning; the rest of a long one adds little."""
COSINE_UNIT = 0.05
"""Difference of cosine from the best that counts as one point."""
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
    cosine: float = 0.0
    """Cosine with the question minus the highest such cosine, so at most 0; 0 for all if none was computed."""

    @property
    def by_words(self) -> float:
        """Match by words alone, higher is better; lower for a return question or a mere exclamation."""
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

    @property
    def support(self) -> float:
        """Match by words and by meaning."""
        return self.by_words + self.cosine / COSINE_UNIT


async def bearing_statements(
    question: ParsedQuestion, history: History, embedding: Embedding | None
) -> list[Statement]:
    """The best matching sentences by support, then in the history's order; at most ``MAX_COMPARED``. Without an
    embedding they are ranked by words alone."""
    rarity = term_rarity(question, history)
    scored = [_statement(question, history, rarity, sentence) for sentence in history.sentences]
    scored.sort(key=lambda one: (-one.by_words, one.sentence.line.index, one.sentence.place))
    best = scored[:MAX_COMPARED]
    if embedding is not None and best:
        best = await _with_cosines(question, best, embedding)
    return sorted(best, key=lambda one: (-one.support, one.sentence.line.index, one.sentence.place))


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


async def _with_cosines(
    question: ParsedQuestion, statements: Sequence[Statement], embedding: Embedding
) -> list[Statement]:
    texts = [_display_text(statement.sentence) for statement in statements]
    vectors = await embedding.embed_passages(texts)
    asked = (await embedding.embed_queries([question.text]))[0]
    cosines = [float(value) for value in vectors @ asked]
    best = max(cosines)
    return [
        replace(statement, cosine=round(value - best, 6))
        for statement, value in zip(statements, cosines, strict=True)
    ]


def _display_text(sentence: Sentence) -> str:
    said = sentence.text[:COMPARED_LETTERS]
    return f"{sentence.line.speaker}: {said}" if sentence.line.speaker else said
