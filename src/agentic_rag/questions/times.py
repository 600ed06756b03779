"""The span of days that a question names."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from itertools import pairwise

from agentic_rag.dates.reading import DatedText, MonthDay, read_spans
from agentic_rag.dates.relative import relative_dates
from agentic_rag.dates.spans import Span
from agentic_rag.questions.words import Place

_LEADS = re.compile(
    r"(?<![a-z])(?:in|on|during|of|from|since|until|till|before|after|by|between|for|year|im|am|vom|seit|vor|nach)(?: the)?(?: year)?\s*$|[在于自从]\s*$",
    re.IGNORECASE,
)
_WITH_LEAD = re.compile(r"\D|.*年")
"""A date as it is read may begin with its preposition."""
_FOLLOWS = re.compile(r"^\s*(?:年|[,，]?\s*(?:我|都|做|写|发生))")


_AND = re.compile(
    r"\s*(?:[,、]\s*)?(?:and|or|und|oder|和|与|或者?|以及|还有|及|[&,、])?\s*(?:in|on|im|am|在)?\s*(?:the\s+)?",
    re.IGNORECASE,
)
"""What may stand between two spans that are named together."""
_OPEN_ENDED = ("before", "after", "since", "until")


@dataclass(frozen=True, slots=True)
class Time:
    """The days that a question names: ISO dates, half-open; None is open."""

    start: str | None
    end: str | None
    span: Place
    """Its place in the question."""
    parts: tuple[tuple[str | None, str | None], ...] = ()
    """Where several spans are named together, "in March and in May", each; ``start`` and ``end`` then bound them all."""


def named_time(
    question: str, today: date, days: Collection[date] = (), stated_days: Collection[date] = ()
) -> Time | None:
    """The span that a question names, or the spans that it names together; None where it names none, or several apart.

    A year alone counts after a preposition: "in 2024", and not "the 2018 World Cup".

    Args:
        question: in English or Chinese.
        today: what "last week" is counted from.
        days: of the notes. A day or month without a year is of the year that is named beside it, else the latest such
            that has a note; "before July" is of the year of the latest note.
        stated_days: what the notes state as dates; for a day or month that no note is of.
    """
    dates = _find_dates(question, today, days, stated_days)
    if not dates:
        return None
    if any(_AND.fullmatch(question[a.end : b.start]) is None for a, b in pairwise(dates)):
        return _time(dates) if len({one.span for one in dates}) == 1 else None
    return _time(dates)


def _time(dates: Sequence[DatedText]) -> Time | None:
    """The days of dates that are named together: of "after … and before …" what both leave, else all."""
    place = Place(dates[0].start, dates[-1].end)
    spans = sorted(
        {one.span for one in dates}, key=lambda span: (span.start or date.min, span.end or date.max)
    )
    starts = [span.start for span in spans if span.start is not None]
    ends = [span.end for span in spans if span.end is not None]
    if len(spans) > 1 and any(one.relation in _OPEN_ENDED for one in dates):
        first, last = max(starts, default=None), min(ends, default=None)
        is_bounded = first is not None and last is not None and first < last
        return Time(_iso(first), _iso(last), place) if is_bounded else None
    last = max(ends) if len(ends) == len(spans) else None
    is_whole = all(a.end == b.start for a, b in pairwise(spans))
    parts = () if is_whole else tuple((_iso(span.start), _iso(span.end)) for span in spans)
    return Time(_iso(spans[0].start), _iso(last), place, parts)


def _iso(day: date | None) -> str | None:
    return None if day is None else day.isoformat()


def _find_dates(
    question: str, today: date, days: Collection[date], stated_days: Collection[date]
) -> Sequence[DatedText]:
    """The dates of a question, those without a year in the year that is meant; nothing where no year is known."""
    plain = read_spans(question)
    if not any(one.yearless for one in plain):  # "before July" is of the year of the latest note
        is_relative = bool(relative_dates(question, today))
        latest_end = max(days, default=today).replace(month=12, day=31)
        return _times(question, read_spans(question, today=today if is_relative else min(today, latest_end)))
    dates = _times(question, plain)
    dated = [one.span.start.year for one in dates if one.yearless is None and one.span.start is not None]
    latest = {n: _latest_year(one, days) or _latest_year(one, stated_days) for n, one in enumerate(dates)}
    year = dated[0] if dated else max((y for y in latest.values() if y is not None), default=None)
    if year is None:
        return []
    return [
        one
        if one.yearless is None
        else replace(one, span=in_year(one.yearless, year if dated else latest[n] or year), yearless=None)
        for n, one in enumerate(dates)
    ]


def _latest_year(one: DatedText, days: Collection[date]) -> int | None:
    return max((day.year for day in days if one.covers(day)), default=None)


def _times(question: str, dates: Sequence[DatedText]) -> list[DatedText]:
    """The dates that tell a time, or go on from one that does: "in 2023 and 2024"."""
    times: list[DatedText] = []
    for one in dates:
        before = question[times[-1].end : one.start] if times else ""
        if _is_time(question, one) or (before and _AND.fullmatch(before)):
            times.append(one)
    return times


def in_year(yearless: tuple[MonthDay, MonthDay], year: int) -> Span:
    """The span of a day or month without a year, in a year."""
    (month, day), (last_month, last_day) = yearless
    last = min(last_day or 31, monthrange(year, last_month)[1])
    first = min(day or 1, monthrange(year, month)[1])
    return Span(date(year, month, first), date(year, last_month, last) + timedelta(days=1))


def _is_time(question: str, one: DatedText) -> bool:
    if one.precision != "year" or one.relation != "in":
        return True
    written = question[one.start : one.end]
    return bool(
        _LEADS.search(question[: one.start])
        or _WITH_LEAD.match(written)
        or _FOLLOWS.match(question[one.end :])
    )
