"""Spans of days: half-open, open where a side is not stated."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Literal

Precision = Literal["day", "week", "month", "season/part", "year"]
Interval = tuple[datetime | None, datetime | None]
"""(start, end): start inclusive, end exclusive, UTC; None is open."""
ONE_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Span:
    """The days from ``start`` to the day before ``end``; None is open.

    >>> str(Span(date(2024, 4, 8), date(2024, 4, 13))), str(Span(None, date(2024, 3, 1)))
    ('2024-04-08 to 2024-04-12', 'before 2024-03-01')
    """

    start: date | None
    end: date | None

    def covers(self, day: date) -> bool:
        """Whether the day lies within."""
        return (self.start is None or self.start <= day) and (self.end is None or day < self.end)

    def overlaps(self, other: Span) -> bool:
        """Whether the two have a day in common."""
        return (self.start is None or other.end is None or self.start < other.end) and (
            other.start is None or self.end is None or other.start < self.end
        )

    def interval(self) -> Interval:
        """The span as instants: midnights in UTC, the end exclusive."""
        return _midnight(self.start), _midnight(self.end)

    def __str__(self) -> str:
        """For people, in ISO dates: one day, ``first to last`` (both within), ``before …``, ``since …``."""
        if self.start is None:
            return "any day" if self.end is None else f"before {self.end}"
        if self.end is None:
            return f"since {self.start}"
        last = self.end - ONE_DAY
        return str(self.start) if last <= self.start else f"{self.start} to {last}"


def day_span(day: date, days: int = 1) -> Span:
    """The span of a number of days from a day on; open at the end of the calendar."""
    try:
        return Span(day, day + timedelta(days=days))
    except OverflowError:
        return Span(day, None)


def week_span(day: date) -> Span:
    """The ISO week of a day, from its Monday.

    Raises:
        OverflowError: the week begins before the year 1.
    """
    return day_span(day - timedelta(days=day.weekday()), 7)


def months_span(year: int, month: int = 1, count: int = 1) -> Span:
    """The span of a number of months; ``month`` may lie outside 1 to 12 and then counts into other years.

    Raises:
        ValueError: it begins or ends outside the years 1 to 9999.
    """
    first, last = year * 12 + month - 1, year * 12 + month - 1 + count
    return Span(*(date(number // 12, number % 12 + 1, 1) for number in (first, last)))


def _midnight(day: date | None) -> datetime | None:
    return None if day is None else datetime.combine(day, time.min, tzinfo=UTC)
