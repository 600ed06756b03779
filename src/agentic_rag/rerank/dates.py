"""Does a passage speak of the time that the question states? Asked only where the question states one."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from agentic_rag.instants import as_utc
from agentic_rag.intervals import Interval, asked_interval, named_dates

SAME_START, SAME_END, INSIDE = 1.9, 0.5, 1.0
"""What it counts that a passage names the year in which the question's time begins, in which it ends, or
any time within, in log-odds; fitted on the first half of timeqa's questions. At most 3.4 together."""
_INSTANT = timedelta(seconds=1)


def dates_match(stated: Interval, result: Mapping[str, Any]) -> float:
    """How well the dates of a passage fit the question's time, in [0, 3.4].

    Dates are read from its text, as exactly as they stand there: of a question on March 2024 "October 2024" speaks
    as little as "2019" does, "2024" may. The date of the passage itself (a turn's, a note's) counts as one within,
    where it is.

    Args:
        stated: see ``asked_time``; an open side fits anything.
        result: a fused result.
    """
    start, end = stated
    named = [date for date in named_dates(result["content"]) if _overlap(date, stated)]
    years = {year for first, last in named for year in (first.year, (last - _INSTANT).year)}
    score = 0.0
    if start is not None and start.year in years:
        score += SAME_START
    if end is not None and (last := (end - _INSTANT).year) in years and (start is None or last != start.year):
        score += SAME_END
    return score + (INSIDE if named or _dated_within(stated, result["metadata"].get("date")) else 0.0)


def asked_time(question: str) -> Interval | None:
    """The one interval (start, end) that a question states ("from 1994 to 1997", "in May 2023", "before 2020"), else None."""
    return asked_interval(question)


def _overlap(date: tuple[datetime, datetime], stated: Interval) -> bool:
    (first, last), (start, end) = date, stated
    return (start is None or last > start) and (end is None or first < end)


def _dated_within(stated: Interval, written: object) -> bool:
    if not isinstance(written, str):
        return False
    try:
        moment = as_utc(datetime.fromisoformat(written))
    except ValueError:
        return False
    return _overlap((moment, moment + _INSTANT), stated)
