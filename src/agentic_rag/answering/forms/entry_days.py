"""Which entries of tables and lists are of the days that a question names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date

from agentic_rag.answering.evidence import Candidate
from agentic_rag.dates.reading import DatedText, dates_in, read_spans
from agentic_rag.dates.spans import Span
from agentic_rag.questions.question import Question
from agentic_rag.questions.times import in_year

_YEAR = re.compile(r"(?<![\d.])(?:19|20)\d\d(?![\d.])")
_LABEL = re.compile(r"\W*(?P<label>[^:：\d]{3,12}|[^:：]{3,20}?)(?:[:：]|\s[-–]\s)")
_DAY_MONTH = re.compile(r"\W*(?P<day>0?[1-9]|[12]\d|3[01])\.\s?(?P<month>0?[1-9]|1[0-2])\.(?!\d)")
_ANY_YEAR = 2024
"""A leap year, for days of no year."""


def of_days(question: Question, group: Sequence[Candidate]) -> list[Candidate]:
    """The entries of the day, month or year that the question names, all where it names none; of a month without a year
    those of the latest year."""
    asked_days = read_spans(question.text)
    is_yearless = any(day.yearless for day in asked_days)
    if question.days is not None and not is_yearless:
        asked_days = [_of_span(question.days)]
    if not asked_days:
        return list(group)
    dates = {id(one): _dates_of(one) for one in group}
    entries = [
        one for one in group if any(_is_within(its, days) for its in dates[id(one)] for days in asked_days)
    ]
    years = {
        id(one): max((its.span.start.year for its in dates[id(one)] if its.span.start), default=0)
        for one in entries
    }
    return [one for one in entries if not is_yearless or years[id(one)] == max(years.values())]


def is_of_other_days(question: Question, group: Sequence[Candidate]) -> bool:
    """Whether the question names days that none of the entries is of, though each has a date."""
    return not of_days(question, group) and all(map(_dates_of, group))


def _dates_of(one: Candidate) -> Sequence[DatedText]:
    """The dates of an entry: its own, else those of what stands above it, else the year above it. A date without a year
    is of the year above it."""
    above = [*reversed((one.note.title, *one.unit.headings, *one.unit.parents))]
    years = [int(year) for text in above for year in _YEAR.findall(text)]
    dates = _opening_dates(one.unit.own())
    dates = dates or next((its for text in (one.unit.own(), *above) if (its := dates_in(text))), ())
    if not years:
        return dates
    if not dates:
        return [_of_span(Span(date(years[0], 1, 1), date(years[0] + 1, 1, 1)))]
    return [_of_span(in_year(its.yearless, years[0])) if its.yearless else its for its in dates]


def _opening_dates(text: str) -> Sequence[DatedText]:
    """The date of a label that an entry begins with, ``May: 12 €``, or of the day and month, ``31.08. tomatoes``."""
    day_month = _DAY_MONTH.match(text)
    if day_month is not None:
        place = int(day_month["month"]), int(day_month["day"])
        return [DatedText(0, 0, Span(None, None), "day", "in", (place, place))]
    label = _LABEL.match(text)
    return () if label is None else dates_in(label["label"])


def _of_span(span: Span) -> DatedText:
    return DatedText(0, 0, span, "day", "in")


def _is_within(its: DatedText, days: DatedText) -> bool:
    """Whether a date begins within days; one without a year in any year."""
    if its.yearless is None:
        return its.span.start is not None and days.covers(its.span.start)
    first, last = days.span.start, days.span.end
    years = range(first.year, last.year + 1) if first is not None and last is not None else (_ANY_YEAR,)
    starts = (in_year(its.yearless, year).start for year in years)
    return any(start is not None and days.covers(start) for start in starts)
