"""The span of days that a question names."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Collection
from dataclasses import dataclass
from datetime import date, timedelta

from agentic_rag.dates.reading import DatedText, read_spans
from agentic_rag.questions.words import Span

_LEADS = re.compile(
    r"(?<![a-z])(?:in|on|during|of|from|since|until|till|before|after|by|between|for|year|im|am|vom|seit|vor|nach)(?: the)?(?: year)?\s*$|[在于自从]\s*$",
    re.IGNORECASE,
)
_WITH_LEAD = re.compile(r"\D|.*年")
"""A date as it is read may begin with its preposition."""
_FOLLOWS = re.compile(r"^\s*(?:年|[,，]?\s*(?:我|都|做|写|发生))")


@dataclass(frozen=True, slots=True)
class Time:
    """A span of days that a question names: ISO dates, half-open; None is open."""

    start: str | None
    end: str | None
    span: Span


def named_time(question: str, today: date, days: Collection[date] = ()) -> Time | None:
    """The one span that a question names; None where it names none, or several that differ.

    A year alone counts after a preposition: "in 2024", and not "the 2018 World Cup".

    Args:
        question: in English or Chinese.
        today: what "last week" is counted from.
        days: of the notes; a day or month without a year is the latest such that has a note.
    """
    yearless = [one for one in read_spans(question) if one.yearless is not None]
    if yearless:
        latest = max((day for day in days if yearless[0].covers(day)), default=None)
        return None if latest is None or len(yearless) > 1 else _of_yearless(yearless[0], latest)
    dates = [one for one in read_spans(question, today=today) if _is_time(question, one)]
    if not dates or len({one.span for one in dates}) > 1:
        return None
    first, span = dates[0], dates[0].span
    start, end = (None if day is None else day.isoformat() for day in (span.start, span.end))
    return Time(start, end, Span(first.start, dates[-1].end))


def _of_yearless(one: DatedText, latest: date) -> Time:
    """The day or month of a yearless date in the year of the latest note that it covers."""
    (month, day), (last_month, last_day) = one.yearless  # type: ignore[misc]
    first = latest.replace(month=month, day=day or 1)
    last = latest.replace(month=last_month, day=min(last_day or 31, monthrange(latest.year, last_month)[1]))
    return Time(first.isoformat(), (last + timedelta(days=1)).isoformat(), Span(one.start, one.end))


def _is_time(question: str, one: DatedText) -> bool:
    if one.precision != "year" or one.relation != "in":
        return True
    written = question[one.start : one.end]
    return bool(
        _LEADS.search(question[: one.start])
        or _WITH_LEAD.match(written)
        or _FOLLOWS.match(question[one.end :])
    )
