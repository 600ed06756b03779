"""Does a passage speak of the time that the question states? Asked only where the question states one."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from agentic_rag.instants import as_utc
from agentic_rag.intervals import Interval, asked_interval

SAME_START, SAME_END, INSIDE = 1.9, 0.5, 1.0
"""What it counts that a passage names the year in which the question's time begins, in which it ends, or
any year within, in log-odds; fitted on the first half of timeqa's questions. At most 3.4 together."""
_YEAR = re.compile(r"(?<![\d.,])(1\d{3}|20\d{2})(?:\s*[-–—/]\s*(\d{2}))?(?!\d)(?![.,]\d)")


def dates_match(stated: Interval, result: Mapping[str, Any]) -> float:
    """How well the dates of a passage fit the question's time, in [0, 3.4].

    Years are read from its text; the date of the passage itself (a turn's, a note's) counts as one within,
    where it is.

    Args:
        stated: see ``asked_time``; an open side fits anything.
        result: a fused result.
    """
    first, last = _years(stated)
    years = _named_years(result["content"])
    score = SAME_START if first in years else 0.0
    if last in years and last != first:
        score += SAME_END
    within = any((first is None or first <= year) and (last is None or year <= last) for year in years)
    return score + (INSIDE if within or _dated_within(stated, result["metadata"].get("date")) else 0.0)


def asked_time(question: str) -> Interval | None:
    """The one interval (start, end) that a question states ("from 1994 to 1997", "in May 2023", "before 2020"), else None."""
    return asked_interval(question)


def _years(stated: Interval) -> tuple[int | None, int | None]:
    start, end = stated
    # The end is exclusive: midnight of the first of January still belongs to the year before.
    return (start.year if start else None), ((end - timedelta(seconds=1)).year if end else None)


def _named_years(text: str) -> set[int]:
    """Every year in a text, and the second one of ``1916-20``."""
    found: set[int] = set()
    for match in _YEAR.finditer(text):
        year = int(match.group(1))
        found.add(year)
        if match.group(2):
            found.add(year // 100 * 100 + int(match.group(2)))
    return found


def _dated_within(stated: Interval, written: object) -> bool:
    if not isinstance(written, str):
        return False
    try:
        moment = as_utc(datetime.fromisoformat(written))
    except ValueError:
        return False
    start, end = (bound or edge for bound, edge in zip(stated, _EDGES, strict=True))
    return start <= moment < end


_EDGES = (datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC))
