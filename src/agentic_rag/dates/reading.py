"""The reader of days and spans: every date of a text, with its place, its days and its relation to them.

``read_spans`` joins the single dates of ``written`` and ``relative`` ("from … to …") and reads the words around them
("before", 以前). Vague dates (early 1994, around 2024, 2024年底) are left out, as are days that do not exist and
numbers that may be counts ("in 2000 houses").
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date, datetime
from functools import lru_cache
from typing import Literal, get_args

from agentic_rag.dates.instants import moment_of
from agentic_rag.dates.relative import relative_dates
from agentic_rag.dates.spans import Interval, Precision, Span
from agentic_rag.dates.written import WrittenDate, written_dates

Relation = Literal["in", "before", "after", "since", "until", "between"]
MonthDay = tuple[int, int]

# After a bare year or month: nothing, punctuation, or a word that cannot make the number a count.
TAIL = re.compile(
    r"(?=\s{0,4}(?:[^\w\s%°/~–—-]|\Z)|\s{1,4}[–—-]\s|\s{1,4}(?:the|a|an|he|she|it|they|we|i|you|his|her|their|its|this|that|and|but|or|as|at|by|to|for|from"
    r"|with|when|where|while|who|which|was|were|is|are|has|had|after|before|under|through|during|because|then|there|onwards?"
    r"|until|till|in|on|of|over|my|our|your|did|do|does|have|compared|versus|vs|about|what|how|why|only|so|all|altogether"
    r"|im|am|bei|an|auf|zu|ich|wir|habe?n?|hat|bin|ist|sind|war|für|mit|und|oder|der|die|das|insgesamt|zusammen)\b"
    r"|\s{1,4}[a-zäöü]{0,6}ge[a-zäöü]{2,12}(?:t|en)\W*\Z"
    r"|\s{1,4}(?-i:[A-Z])(?-i:(?!C\b|CE\b|D\b|BC\b)))",
    re.IGNORECASE,
)
_LEAD = re.compile(
    r"(?<![a-z])(?:(?P<vague>early|mid|late|around|circa|ca\.?|approximately|roughly|(?:end|start|beginning|middle)\s+of|(?:days?|weeks?|months?|years?)\s+(?:before|after))"
    r"|(?P<between>between)|(?P<before>before|prior\s+to|earlier\s+than)|(?P<after>after|later\s+than)|(?P<since>since|starting)"
    r"|(?P<until>until|till|by|up\s+to|through)|(?P<in>in|im|am|on|during|throughout|within|from|for|of|dated))[\s-]\s{0,3}"
    r"(?:the\s+)?(?:(?:year|months?)\s+(?:of\s+)?)?(?:[a-z]{3,6}day,?\s+)?(?:the\s+)?\Z"
    r"|(?P<han_vague>约|大约|大約|近)\Z|(?P<han_before>早于|先于)\Z|(?P<han_after>晚于)\Z|(?P<han_since>从|從|(?<!来)自从?|由)\s?\Z"
    r"|(?P<han_until>直到|截至|截止到?|(?<!\d)[到至])\s?\Z",
    re.IGNORECASE,
)
_BEHIND = re.compile(
    r"\s{0,2}(?:(?P<before>(?:以前|之前|前(?![后後])))(?![\d一二三四五六七八九十几半])"
    r"|(?P<after>(?:以|之)?[后後])(?![\d一二三四五六七八九十几半])"
    r"|(?P<since>起|以来|以來|以降|から|至今|到今天|到现在|到現在|开始|開始|(?:to|until|till|through)\s+(?:the\s+present|present|now|today)\b)"
    r"|(?P<until>为止|為止|まで)"
    r"|(?P<vague>代|級|级|版|款|制|间|度|より|頃|ごろ|左右|前|[后後]|初|底|末|中旬|上旬|下旬|春|夏|秋|冬|第|的?[历歷]史|之久))"
)
_ONWARDS = re.compile(r"\s{1,4}(?P<since>onwards?|on(?=\s{0,4}(?:[,.;?!]|\Z)))", re.IGNORECASE)
_JOINS = re.compile(
    r"\s{0,4}(?:(?:to|until|till|through|up\s+to|bis)\s+|[-–—~～到至]|—{2}|から)\s{0,4}(?:the\s+)?",
    re.IGNORECASE,
)
_ANDS = re.compile(
    r"\s{0,4}(?:and\s+|or\s+|&|,\s+(?:and\s+|or\s+)?|和|与|與|跟|及|、)\s{0,4}(?:the\s+)?", re.IGNORECASE
)
_BETWEEN = re.compile(r"\s?(?P<between>之[间間])")
_DOUBTFUL = re.compile(r"(?:for|of|by|up\s+to|through)\b", re.IGNORECASE)
_UNLIKELY = re.compile(r"1[0-8]\d{2}|2000|[^\W\d]{3}\.?")
"""A number, or a short word, that is no date behind these."""
_MARKS = " \t\r\n.,;:!?？。，()[]"
_LEAD_LENGTH = 40
_RELATIONS: dict[str, Relation] = {"before": "before", "after": "after", "since": "since", "until": "until"}
_RECURRING = ("", "in", "between")


@dataclass(frozen=True, slots=True)
class DatedText:
    """A date in a text, with the words that belong to it."""

    start: int
    """Of ``text[start:end]``, "between 8 and 12 April 2024"."""
    end: int
    span: Span
    """The days that are meant, the relation included: open at the start for "before March 2024"."""
    precision: Precision
    """Of the date as it is written; of a range, its coarser end."""
    relation: Relation
    yearless: tuple[MonthDay, MonthDay] | None = None
    """First and last (month, day), both within, of a date that recurs every year, as its year is neither written nor to
    be known from today; the span is then open on both sides. A month is all its days."""

    def covers(self, day: date) -> bool:
        """Whether the day is meant: within the span, or, of a date without a year, such a day of any year."""
        if self.yearless is None:
            return self.span.covers(day)
        first, last = self.yearless
        here = (day.month, day.day)
        return first <= here <= last if first <= last else here >= first or here <= last


@dataclass(frozen=True, slots=True)
class _Phrase:
    """One date, or two that are joined, and the words around."""

    first: WrittenDate
    last: WrittenDate
    """Of a range; else the same."""
    lead: re.Match[str] | None
    behind: re.Match[str] | None
    bare: bool = False
    """A list goes on: the lead is that of the date before."""

    @property
    def relation(self) -> str:
        """The relation that the words around state; "" if there are none, "vague" if the date cannot be read as days."""
        lead = "" if self.lead is None else str(self.lead.lastgroup).removeprefix("han_")
        behind = "" if self.behind is None else str(self.behind.lastgroup)
        return "vague" if "vague" in (lead, behind) else behind or lead


def read_spans(text: str, *, today: date | None = None) -> list[DatedText]:
    """The dates of a text, in order.

    Args:
        text: a question, a sentence, a name; English or Chinese, months also German.
        today: with it also relative dates are read, and a day without a year is the latest such day until today;
            without it such a day is ``yearless``.

    >>> [str(date.span) for date in read_spans("between 8 and 12 April 2024, or before March 1st, 2023?")]
    ['2024-04-08 to 2024-04-12', 'before 2023-03-01']
    """
    dates = written_dates(text, relative_dates(text, today))
    return [
        dated
        for phrase in _phrases(text, dates)
        if _is_date(text, phrase)
        for dated in _phrase_dates(phrase, today)
    ]


@lru_cache(maxsize=4096)
def dates_in(text: str) -> tuple[DatedText, ...]:
    """The dates of a text of stored notes, as ``read_spans`` reads them; every question asks for those of the same units
    again."""
    return tuple(read_spans(text))


def _phrases(text: str, dates: list[WrittenDate]) -> Iterator[_Phrase]:
    before: WrittenDate | None = None
    lead: re.Match[str] | None = None
    waiting = deque(dates)
    while waiting:
        first = last = waiting.popleft()
        end = 0 if before is None else before.end
        own = _LEAD.search(text, max(end, first.start - _LEAD_LENGTH), first.start)
        is_listed = before is not None and _ANDS.fullmatch(text, end, first.start) is not None
        if before is not None and is_listed:
            first = last = _of_same_year(first, before)
        lead = lead if own is None and is_listed else own
        if waiting and _are_joined(text, first, waiting[0], lead):
            last = waiting.popleft()
        elif waiting and _ANDS.fullmatch(text, first.end, waiting[0].start):
            first = last = _of_same_year(first, waiting[0])
        behind = _BETWEEN.match(text, last.end) if last is not first or first.run else None
        behind = behind or _BEHIND.match(text, last.end) or _onwards(text, last.end, lead)
        yield _Phrase(first, last, lead, behind, own is None)
        before = last


def _of_same_year(date: WrittenDate, other: WrittenDate) -> WrittenDate:
    return date if other.span is None or other.span.start is None else date.of_year(other.span.start.year)


def _are_joined(text: str, first: WrittenDate, last: WrittenDate, lead: re.Match[str] | None) -> bool:
    if _JOINS.fullmatch(text, first.end, last.start):
        return True
    bounded = (lead is not None and lead.lastgroup == "between") or _BETWEEN.match(text, last.end) is not None
    return bounded and _ANDS.fullmatch(text, first.end, last.start) is not None


def _onwards(text: str, end: int, lead: re.Match[str] | None) -> re.Match[str] | None:
    return None if lead is None else _ONWARDS.match(text, end)


def _is_date(text: str, phrase: _Phrase) -> bool:
    """Whether numbers and words that need it stand beside a word of time, and the days are not vague."""
    first, last = phrase.first, phrase.last
    if phrase.relation == "vague":
        return False
    if last.alone or phrase.behind is not None:
        return True
    if not TAIL.match(text, last.end):
        return False
    if last is not first or (not text[: first.start].strip(_MARKS) and not text[last.end :].strip(_MARKS)):
        return True
    return phrase.lead is not None and not (
        _DOUBTFUL.match(phrase.lead[0]) and _UNLIKELY.fullmatch(text, first.start, last.end)
    )


def _phrase_dates(phrase: _Phrase, today: date | None) -> list[DatedText]:
    """The dates of a phrase: one, two of a run that is a list ("8 and 12 April"), none where there is no such day."""
    first, last = phrase.first, phrase.last
    if first.run == "list" and phrase.relation != "between":
        return [
            dated
            for part in first.parts()
            for dated in _phrase_dates(replace(phrase, first=part, last=part), today)
        ]
    start = first.start if phrase.lead is None or phrase.bare else phrase.lead.start()
    end = last.end if phrase.behind is None else phrase.behind.end()
    precision = max(first.precision, last.precision, key=get_args(Precision).index)
    is_range = last is not first or bool(first.run)
    span = _between(first, last, today)
    if span is not None:
        relation = _RELATIONS.get(phrase.relation, "in")
        relation = "between" if is_range and relation not in ("before", "after") else relation
        return [DatedText(start, end, _beside(span, relation), precision, relation)]
    if today is None and first.month is not None and last.month is not None and phrase.relation in _RECURRING:
        days = (
            (first.month, first.days[0] if first.days else 1),
            (last.month, last.days[1] if last.days else 31),
        )
        relation = "between" if is_range else "in"
        return [DatedText(start, end, Span(None, None), precision, relation, yearless=days)]
    return []


def _between(first: WrittenDate, last: WrittenDate, today: date | None) -> Span | None:
    """From the start of the first to the end of the last; None if one is unknown, or they are in the wrong order.

    A date without a year takes that of the other: ``December to January 2024`` begins in 2023.
    """
    if first.span is None and last.span is not None:
        first = _nearest(first, last, (0, -1))
    if first.span is None and today is not None:
        first = _latest(first, today)
    if last.span is None and first.span is not None:
        last = _nearest(last, first, (0, 1)) if last.start != first.start else first
    if first.span is None or last.span is None or first.span.start is None or last.span.start is None:
        return None
    wrong = last is not first and last.span.start < first.span.start
    return None if wrong else Span(first.span.start, last.span.end)


def _nearest(date: WrittenDate, other: WrittenDate, years: tuple[int, int]) -> WrittenDate:
    """The date in the year of the other, or the one beside it, so that the two are in order."""
    if date.month is None or other.span is None or other.span.start is None:
        return date
    near = [date.of_year(other.span.start.year + step) for step in years]
    sign = years[0] - years[1]
    for moved in near:
        if moved.span is not None and moved.span.start is not None:
            distance = (moved.span.start - other.span.start).days
            if distance * sign <= 0:
                return moved
    return near[0]


def _latest(date: WrittenDate, today: date) -> WrittenDate:
    """The date in the latest year in which it is not after today; 29 February is looked for in eight years."""
    for year in range(today.year, max(0, today.year - 9), -1):
        moved = date.of_year(year)
        if moved.span is not None and moved.span.start is not None and moved.span.start <= today:
            return moved
    return date


def _beside(span: Span, relation: Relation) -> Span:
    if relation == "before":
        return Span(None, span.start)
    if relation == "after":
        return Span(span.end, None)
    if relation == "since":
        return Span(span.start, None)
    return Span(None, span.end) if relation == "until" else span


_TIME = re.compile(
    r"(?:[T ,]{1,3}|\s{1,2}at\s)(\d{1,2}):(\d{2})(?::(\d{2})(?:\.\d+)?)?(?:\s?(Z|[+-]\d{2}:?\d{2})(?!\d))?(?!\d)"
)


def day_of(value: object) -> Interval | None:
    """The day, month or year that a property's whole value is, as (start, end) in UTC; with a time, that instant twice.

    ``2024``, ``2024-06``, ``2024-W18``, ``June 30th, 2024``, ``20240630``, ``2024-06-30T12:00+08:00``, a ``date``.

    Args:
        value: text, number or date; None for any other value.
    """
    if isinstance(value, datetime | date):
        value = value.isoformat()
    if isinstance(value, bool) or not isinstance(value, str | int):
        return None
    text = str(value).strip()
    moment = moment_in(text) if _TIME.search(text) else None
    if moment is not None:
        return moment, moment
    text = re.sub(r"(\d{4})(\d{2})(\d{2})", r"\1-\2-\3", text) if len(text) == 8 else text
    dates = read_spans(text)
    return (
        dates[0].span.interval()
        if len(dates) == 1 and len(text) == dates[0].end and not dates[0].yearless
        else None
    )


def moment_in(text: str) -> datetime | None:
    """The first day, week or month with a year that a text states, at its start or at the time beside it, in UTC.

    >>> moment_in("March 15th, 2024, at Anna's").isoformat()
    '2024-03-15T00:00:00+00:00'
    """
    for written in written_dates(text):
        if written.span is None or written.span.start is None or written.precision == "year":
            continue
        clock = _TIME.match(text, written.end) if written.precision == "day" else None
        hour, minute, second, zone = clock.groups() if clock is not None else ("0", "00", None, None)
        moment = moment_of(f"{written.span.start}T{int(hour):02}:{minute}:{second or '00'}{zone or ''}")
        if moment is not None:
            return moment
    return None
