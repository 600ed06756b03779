"""Answers to "when": the time named by the best sentence, else one named in its turn, else the date of the turn.

Relative times are resolved by the date of their line, in the form of LoCoMo's answers: a day as a day ("7 May 2023"),
a week or weekday beside the line's date ("The week before 9 June 2023", "The sunday before 25 May 2023"), months and
years by name ("June 2023", "2022").
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from agentic_rag.dates.months import MONTHS, day_text
from agentic_rag.dates.relative import relative_dates
from agentic_rag.dates.spans import Precision, Span
from agentic_rag.dates.written import WrittenDate, written_dates
from agentic_rag.text import starts_cjk
from agentic_rag_lab.designs.reading.history import History
from agentic_rag_lab.designs.reading.questions import ParsedQuestion
from agentic_rag_lab.designs.reading.statements import Statement

NAME_SCORE = 1.0
"""Points for a sentence that itself names a time, added to its support."""
NEAR = 0.5
"""Points if another sentence of its turn names a time."""
MAX_CANDIDATES = 12
"""Maximum number of sentences considered."""

_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_BESIDE = re.compile(
    rf"\b(?P<which>on|last|this past|past|this|next)\s(?P<day>weekend|{'|'.join(_WEEKDAYS)})\b", re.IGNORECASE
)
_SINGLE = re.compile(r"\b(?:in|since|early|late|mid|until|during|from)\s\Z", re.IGNORECASE)
"""Before a month or year that is a time only there."""


@dataclass(frozen=True, slots=True)
class Time:
    """A time named in a sentence."""

    start: int
    """Position of its words in the sentence."""
    text: str
    """The time as an answer."""
    day: date | None
    """The day, or a day within the period; None if unknown."""


def times_of(sentence: str, said_on: date | None) -> list[Time]:
    """The times named in a sentence, in order of place; if ``said_on`` is unknown, only those that do not need it."""
    beside = [] if said_on is None else [_of_weekday(match, said_on) for match in _BESIDE.finditer(sentence)]
    places = {time.start for time in beside}
    written = written_dates(sentence, relative_dates(sentence, said_on))
    times = [_time_of(sentence, one, said_on) for one in written if one.start not in places]
    return sorted([*beside, *(one for one in times if one is not None)], key=lambda time: time.start)


def month_text(day: date) -> str:
    """A month in English: ``May 2023``."""
    return f"{MONTHS[day.month - 1]} {day.year}"


def _of_weekday(match: re.Match[str], said_on: date) -> Time:
    """``last Friday``, ``on Friday``, ``next weekend``: beside the day on which it was said."""
    name, is_later = match["day"].lower(), match["which"].lower() in ("this", "next")
    wanted = 5 if name == "weekend" else _WEEKDAYS.index(name)
    if is_later:
        day = _day_after(said_on, (wanted - said_on.weekday() - 1) % 7 + 1)
    else:
        day = _day_after(said_on, -((said_on.weekday() - wanted - 1) % 7 + 1))
    return Time(match.start(), f"The {name} {'after' if is_later else 'before'} {day_text(said_on)}", day)


def _day_after(day: date, days: int) -> date | None:
    try:
        return day + timedelta(days=days)
    except OverflowError:
        return None


def _time_of(sentence: str, one: WrittenDate, said_on: date | None) -> Time | None:
    if not one.alone and not _SINGLE.search(sentence, max(0, one.start - 8), one.start):
        return None
    span = (one if said_on is None else one.of_year(said_on.year)).span
    if span is None or span.start is None:
        return None
    text = _text(sentence[one.start : one.end], one.precision, span, said_on)
    return Time(one.start, text, span.start)


def _text(words: str, precision: Precision, span: Span, said_on: date | None) -> str:
    day = span.start or date.min
    if starts_cjk(words):
        parts = {"year": 1, "month": 2}.get(precision, 3)
        return "".join((f"{day.year}年", f"{day.month}月", f"{day.day}日")[:parts])
    if precision == "week" and said_on is not None:
        count = words.lower().removesuffix(" ago").removesuffix(" back")
        if count != words.lower():
            return f"{count.capitalize()} before {day_text(said_on)}"
        side = "after" if day > said_on else "of" if span.covers(said_on) else "before"
        return f"The week {side} {day_text(said_on)}"
    if precision == "year":
        return str(day.year)
    return month_text(day) if precision == "month" else day_text(day)


def moment_answer(question: ParsedQuestion, statements: Sequence[Statement], history: History) -> str:
    """The time of an event, from the statements of a history, best first; "" if no time or day is known."""
    answers: list[tuple[float, str]] = []
    for statement in statements[:MAX_CANDIDATES]:
        time, counts = _time(statement, history)
        told = _answer_text(question, statement, time)
        if told:
            answers.append((statement.support + counts, told))
    return max(answers, key=lambda answer: answer[0], default=(0.0, ""))[1]


def _time(statement: Statement, history: History) -> tuple[Time | None, float]:
    """The time nearest to a statement, and its points."""
    line = statement.sentence.line
    own = times_of(statement.sentence.text, line.date)
    if own:
        return own[0], NAME_SCORE
    beside = sorted(
        (sentence for sentence in history.sentences if sentence.line == line),
        key=lambda sentence: (abs(sentence.place - statement.sentence.place), sentence.place),
    )
    for sentence in beside:
        times = times_of(sentence.text, line.date)
        if times:
            return times[0], NEAR
    return None, 0.0


def _answer_text(question: ParsedQuestion, statement: Statement, time: Time | None) -> str:
    day = statement.sentence.line.date if time is None else time.day
    if question.kind == "year":
        return "" if day is None else str(day.year)
    if time is not None:
        return time.text
    return "" if day is None else day_text(day)
