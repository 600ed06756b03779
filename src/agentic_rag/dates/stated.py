"""The one interval that a sentence or a question states, with a preference for precision over recall; and the match of
a passage's dates with it.

The dates are those of ``reading``. Of a sentence only days, months and years with a year count, behind a word that
applies them to the statement ("in 1994", "from March 2023 to June 2024", 自2024年7月起). Ignored are relative ("last
year"), vague ("in early 1994") and negated ("not until 2019") dates, several times in one sentence, and a single date in
the middle of a statement.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache

from agentic_rag.dates.instants import moment_of
from agentic_rag.dates.reading import TAIL, DatedText, Relation, read_spans
from agentic_rag.dates.spans import Interval, Span, months_span
from agentic_rag.dates.written import HAN_YEAR, written_dates, year_of
from agentic_rag.domain import result_text
from agentic_rag.domain.results import Passage

_ANY_YEAR = re.compile(rf"(?<!\d){HAN_YEAR}(?!\d)")
_RELATION_PATTERNS: Mapping[Relation, str] = {
    "in": rf"(?:in|during|on)\s|(?<!过){HAN_YEAR}\s{{0,2}}年",
    "between": r"(?:from|between|during|in|for)\s|[从從自由]?\s?[^a-z]+\Z",
    "since": r"(?:since|from)\s|.*(?:起|以来|以來|以降|から|至今|到今天|到现在|到現在|开始|開始)\Z",
    "until": r"(?:until|till)\s|直到|.*(?:为止|為止|まで)\Z",
}
"""Words and dates that say when a whole statement holds; other dates may belong to one of its words."""
_NEGATION = re.compile(
    r"\b(?:not|never|n['’]t|if|unless|hardly)\b[^.;]{0,60}\Z|[不没未非]\S{0,8}\Z", re.IGNORECASE
)
_NEGATED_WITHIN = 80


def stated_interval(text: str) -> Interval | None:
    """The one interval a sentence states, or None.

    >>> stated_interval("She led the club from March 2023 to June 2024.")[1].isoformat()
    '2024-07-01T00:00:00+00:00'
    """
    stated = _only_date(text)
    return None if stated is None else stated.span.interval()


def asked_interval(question: str, *, today: date | None = None) -> Interval | None:
    """The one interval of the dates in a question, each as it is written; None for none, several or negated ones.

    A question applies its date wherever it stands, and also by "before October 2024", 2024年十月以前 and "spring
    2024". A year alone counts if no other number could be one.

    Args:
        question: English or Chinese.
        today: reads relative dates ("last week") and days without a year, see ``read_spans``.

    >>> asked_interval("What did I miss before October 2024?")[1].isoformat()
    '2024-10-01T00:00:00+00:00'
    """
    dates = read_spans(question, today=today)
    if len({dated.span for dated in dates}) != 1 or dates[0].yearless:
        return None
    if any(_is_negated(question, dated) for dated in dates):
        return None
    if any(dated.precision == "year" for dated in dates) and _has_year_elsewhere(question, dates):
        return None
    return dates[0].span.interval()


def holding_interval(text: str) -> Interval | None:
    """The interval in which a sentence's statement holds: as ``stated_interval``, but a single date is only its start.

    "In 1994 the garden was planted" is as true in 2024; "led it from 2022 to 2023" is not.

    >>> holding_interval("The garden was planted in 1994.")[1] is None
    True
    """
    stated = _only_date(text)
    if stated is None:
        return None
    start, end = stated.span.interval()
    return (start, None) if stated.relation == "in" else (start, end)


def _only_date(text: str) -> DatedText | None:
    if not any(map(str.isdecimal, text)) and "年" not in text:
        return None
    dates = [dated for dated in read_spans(text) if _is_stated(text, dated)]
    if len({dated.span for dated in dates}) != 1 or _has_year_elsewhere(text, dates):
        return None
    return dates[0]


def _is_stated(text: str, date_text: DatedText) -> bool:
    """Whether the words of a date apply it to its whole sentence."""
    pattern = _RELATION_PATTERNS.get(date_text.relation)
    if pattern is None or date_text.yearless or date_text.precision == "season/part":
        return False
    applied = re.compile(pattern, re.IGNORECASE | re.DOTALL)
    if not applied.match(text, date_text.start, date_text.end) or _is_negated(text, date_text):
        return False
    is_english = text[date_text.start].isascii() and text[date_text.start].isalpha()
    if is_english and not (TAIL.match(text, date_text.end) or text.startswith("from", date_text.start)):
        return False
    return date_text.relation != "in" or _of_whole_sentence(text, date_text.start, date_text.end)


def _is_negated(text: str, date_text: DatedText) -> bool:
    """Whether an open span is one that is denied: "not until 2019" says nothing of the time before."""
    before = text[max(0, date_text.start - _NEGATED_WITHIN) : date_text.start]
    return date_text.relation not in ("in", "between") and _NEGATION.search(before) is not None


_NAMED_YEAR = re.compile(rf"(?<![\d.,])({HAN_YEAR})(?:\s*[-–—/]\s*(\d{{2}})(?![-/]\d))?(?!\d)(?![.,]\d)")


PASSAGES = 4096
"""Passages whose dates are remembered: the same ones are read for many questions."""


@lru_cache(PASSAGES)
def named_dates(text: str) -> Sequence[tuple[datetime, datetime]]:
    """Every day, week, month or year (start, end) in a text, with the precision of the text, in order.

    ``1916-20`` gives both years. Other numbers (a price, a version) may be taken for a year, and a season is its year:
    a passage that names one is judged by the year.

    >>> [start.date().isoformat() for start, _ in named_dates("March 2023, 二〇二四年十月, 1916–20")]
    ['2023-03-01', '2024-10-01', '1916-01-01', '1920-01-01']
    """
    dates = [date for date in written_dates(text) if date.precision not in ("year", "season/part")]
    named = {date.start: [date.span] for date in dates if date.span is not None}
    for match in _NAMED_YEAR.finditer(text):
        around = next((date for date in dates if date.start <= match.start() < date.end), None)
        year, second = year_of(match[1]), match[2]
        if second is not None and int(second) > year % 100:
            named[match.start()] = [_year(year), _year(year - year % 100 + int(second))]
        elif around is None or around.span is None:
            named[match.start()] = [_year(year)]
    return tuple(
        (_instant(span.start), _instant(span.end)) for _, spans in sorted(named.items()) for span in spans
    )


def _year(year: int) -> Span:
    return months_span(year, count=12)


def _instant(day: date | None) -> datetime:
    return datetime.combine(day or date.max, time.min, tzinfo=UTC)


SAME_START, SAME_END, INSIDE = 1.9, 0.5, 1.0
"""Log-odds for a passage that names the year in which the question's interval begins, the year in which it ends,
or any time within; fitted on the first half of timeqa's questions. At most 3.4 together."""
OUTSIDE = 0.5
"""Factor on a year's log-odds if the passage names only days or months of it outside the interval: a state that
began in March may still hold in May."""
_INSTANT = timedelta(seconds=1)


def dates_match(stated_interval: Interval, result: Passage) -> float:
    """Match of a passage's dates with the question's interval, log-odds in [0, 3.4].

    Dates are read from title, headings and text with their own precision: for a question about March 2024, "2024" counts more
    than "October 2024". The date of the passage itself (a turn's, a note's) counts as a time within if it lies
    within.

    Args:
        stated_interval: the question's interval, see ``asked_interval``; an open side matches anything.
        result: a fused result.
    """
    start, end = stated_interval
    text = result_text(result)
    named = named_dates(text) if _may_name(stated_interval, text) else ()
    first = None if start is None else start.year
    last = None if end is None else (end - _INSTANT).year
    score = SAME_START * _share(first, named, stated_interval)
    if last != first:
        score += SAME_END * _share(last, named, stated_interval)
    within = any(_overlap(date, stated_interval) for date in named)
    return score + (
        INSIDE if within or _dated_within(stated_interval, result["metadata"].get("date")) else 0.0
    )


_ANY_YEAR = re.compile(rf"({HAN_YEAR})(?:\s*[-–—/]\s*(\d{{2}}))?")


def _may_name(stated_interval: Interval, text: str) -> bool:
    """Whether a year of the interval, or the one before or after it, stands in the text. To read all dates of a text takes
    twenty times as long, and most passages name other years."""
    start, end = stated_interval
    first = 0 if start is None else start.year - 1
    last = 9999 if end is None else end.year + 1
    for match in _ANY_YEAR.finditer(text):
        year = year_of(match[1])
        second = year if match[2] is None else year - year % 100 + int(match[2])
        if first <= year <= last or first <= second <= last:
            return True
    return False


def _share(
    year: int | None, named_intervals: Sequence[tuple[datetime, datetime]], stated_interval: Interval
) -> float:
    """1 if a date of this year overlaps the interval, OUTSIDE if the text names only others of this year, else 0."""
    of_year = [date for date in named_intervals if year is not None and date[0].year == year]
    if not of_year:
        return 0.0
    return 1.0 if any(_overlap(date, stated_interval) for date in of_year) else OUTSIDE


def _overlap(date: tuple[datetime, datetime], stated_interval: Interval) -> bool:
    (first, last), (start, end) = date, stated_interval
    return (start is None or last > start) and (end is None or first < end)


def _dated_within(stated_interval: Interval, date_value: object) -> bool:
    moment = moment_of(date_value)
    return moment is not None and _overlap((moment, moment + _INSTANT), stated_interval)


def _of_whole_sentence(text: str, start: int, end: int) -> bool:
    """Whether a single date applies to the whole sentence: at its start or end, or after 在 or 于.

    A date in the middle may belong to a neighbouring word ("from bushes set in 1962 and roasted by Lin"); in a
    question it always counts.
    """
    if text.rstrip()[-1:] in ("?", "？") or text[start - 1 : start] in ("在", "于"):
        return True
    return not any(map(str.isalpha, text[:start])) or not any(map(str.isalpha, text[end:]))


def _has_year_elsewhere(text: str, dates: Sequence[DatedText]) -> bool:
    return any(
        not any(dated.start <= year.start() and year.end() <= dated.end for dated in dates)
        for year in _ANY_YEAR.finditer(text)
    )
