"""Answers to "when": the time that the best sentence names, else one its turn names, else the turn's own day."""

from __future__ import annotations

from collections.abc import Sequence

from agentic_rag.lab.reading.dates import Time, day_text, times_of
from agentic_rag.lab.reading.history import History
from agentic_rag.lab.reading.questions import ParsedQuestion
from agentic_rag.lab.reading.statements import Statement

NAMED = 1.0
"""What it counts that a sentence itself names a time, beside its support."""
NEAR = 0.5
"""What it counts that another sentence of its turn does."""
CONSIDERED = 12
"""Sentences."""


def moment_answer(question: ParsedQuestion, statements: Sequence[Statement], history: History) -> str:
    """When it was; "" where no time and no day is known.

    Args:
        question: one for a time.
        statements: best first.
        history: in which they stand.
    """
    answers: list[tuple[float, str]] = []
    for statement in statements[:CONSIDERED]:
        time, counts = _time(statement, history)
        told = _told(question, statement, time)
        if told:
            answers.append((statement.support + counts, told))
    return max(answers, key=lambda answer: answer[0], default=(0.0, ""))[1]


def _time(statement: Statement, history: History) -> tuple[Time | None, float]:
    """The time nearest to a statement, and what it counts."""
    line = statement.sentence.line
    own = times_of(statement.sentence.text, line.date)
    if own:
        return own[0], NAMED
    beside = sorted(
        (sentence for sentence in history.sentences if sentence.line == line),
        key=lambda sentence: (abs(sentence.place - statement.sentence.place), sentence.place),
    )
    for sentence in beside:
        times = times_of(sentence.text, line.date)
        if times:
            return times[0], NEAR
    return None, 0.0


def _told(question: ParsedQuestion, statement: Statement, time: Time | None) -> str:
    day = statement.sentence.line.date if time is None else time.day
    if question.kind == "year":
        return "" if day is None else str(day.year)
    if time is not None:
        return time.text
    return "" if day is None else day_text(day)
