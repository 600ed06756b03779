"""Does a passage speak of the time that the question states? Asked only where the question states one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from agentic_rag.dates.instants import moment_of
from agentic_rag.dates.stated import Interval, asked_interval, named_dates

SAME_START, SAME_END, INSIDE = 1.9, 0.5, 1.0
"""What it counts that a passage names the year in which the question's time begins, in which it ends, or
any time within, in log-odds; fitted on the first half of timeqa's questions. At most 3.4 together."""
OUTSIDE = 0.5
"""Share that such a year counts where the passage names a day or month of it that lies outside the time: what began
in March may hold in May."""
_INSTANT = timedelta(seconds=1)
_Date = tuple[datetime, datetime]


def dates_match(stated: Interval, result: Mapping[str, Any]) -> float:
    """How well the dates of a passage fit the question's time, in [0, 3.4].

    Dates are read from its text, as exactly as they stand there: of a question on March 2024 "2024" speaks more than
    "October 2024" does. The date of the passage itself (a turn's, a note's) counts as one within, where it is.

    Args:
        stated: see ``asked_time``; an open side fits anything.
        result: a fused result.
    """
    start, end = stated
    named = named_dates(result["content"])
    first = None if start is None else start.year
    last = None if end is None else (end - _INSTANT).year
    score = SAME_START * _share(first, named, stated)
    if last != first:
        score += SAME_END * _share(last, named, stated)
    within = any(_overlap(date, stated) for date in named)
    return score + (INSIDE if within or _dated_within(stated, result["metadata"].get("date")) else 0.0)


def asked_time(question: str) -> Interval | None:
    """The one interval (start, end) that a question states ("from 1994 to 1997", "in May 2023", "before 2020"), else None."""
    return asked_interval(question)


def _share(year: int | None, named: Sequence[_Date], stated: Interval) -> float:
    """1 where the year is named for the stated time, OUTSIDE where only for another part of it, else 0."""
    of_year = [date for date in named if year is not None and date[0].year == year]
    if not of_year:
        return 0.0
    return 1.0 if any(_overlap(date, stated) for date in of_year) else OUTSIDE


def _overlap(date: _Date, stated: Interval) -> bool:
    (first, last), (start, end) = date, stated
    return (start is None or last > start) and (end is None or first < end)


def _dated_within(stated: Interval, written: object) -> bool:
    moment = moment_of(written)
    return moment is not None and _overlap((moment, moment + _INSTANT), stated)
