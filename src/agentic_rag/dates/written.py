"""The single dates written in a text, each with its place and what it states of year, month and day.

How they are joined ("from … to …") and what stands around them ("before", 以前) is for ``reading``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Literal

from agentic_rag.dates.months import MONTH, month_number
from agentic_rag.dates.spans import ONE_DAY, Precision, Span, day_span, months_span
from agentic_rag.text.patterns import lazy_pattern

HAN_DIGITS = "〇一二三四五六七八九"
YEAR = r"(?:[1１]\d{3}|[2２][0０]\d{2})"
HAN_YEAR = rf"(?:{YEAR}|[一二][〇零○一二三四五六七八九]{{3}})"
COUNT = r"(?:\d{1,3}|[一二两三四五六七八九十]{1,3})"
"""A number in digits or a Chinese numeral below a hundred."""

_ONES = "first second third fourth fifth sixth seventh eighth ninth".split()
_TEENS = "tenth eleventh twelfth thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth".split()
_ORDINALS = {
    word: number
    for number, word in enumerate(
        [*_ONES, *_TEENS, "twentieth", *(f"twenty-{one}" for one in _ONES), "thirtieth", "thirty-first"], 1
    )
}
_PARTS = {
    **dict.fromkeys(("spring", "春"), (3, 3)),
    **dict.fromkeys(("summer", "夏"), (6, 3)),
    **dict.fromkeys(("autumn", "fall", "秋"), (9, 3)),
    **dict.fromkeys(("winter", "冬"), (1, 14)),
    **dict.fromkeys(("first half", "上半", "h1"), (1, 6)),
    **dict.fromkeys(("second half", "下半", "h2"), (7, 6)),
    **dict.fromkeys(("first quarter", "q1", "1季", "一季"), (1, 3)),
    **dict.fromkeys(("second quarter", "q2", "2季", "二季"), (4, 3)),
    **dict.fromkeys(("third quarter", "q3", "3季", "三季"), (7, 3)),
    **dict.fromkeys(("fourth quarter", "q4", "4季", "四季"), (10, 3)),
}
"""First month and number of months. Winter is both the beginning and the end of the year: the whole year counts."""


@dataclass(frozen=True, slots=True)
class WrittenDate:
    """One date, ``text[start:end]``, or a run of days of one month (``8-12 April``)."""

    start: int
    end: int
    precision: Precision
    span: Span | None
    """None: without a year, or no such day (30 February)."""
    month: int | None = None
    """Of a day or month without a year."""
    days: tuple[int, int] | None = None
    """First and last day of a run, or the one day twice, without a year."""
    run: Literal["", "range", "list"] = ""
    """Several days of one month: ``8-12 April``, ``8 and 12 April``."""
    alone: bool = True
    """False: a number or a word that is a date only beside a word of time ("in 2024", "since May")."""

    def of_year(self, year: int) -> WrittenDate:
        """The date in this year, where it has none of its own."""
        return self if self.month is None else replace(self, span=_of_days(year, self.month, self.days))

    def parts(self) -> tuple[WrittenDate, WrittenDate]:
        """First and last day of a run."""
        first = last = None
        if self.span is not None and self.span.start is not None and self.span.end is not None:
            first, last = day_span(self.span.start), day_span(self.span.end - ONE_DAY)
        days = self.days or (1, 1)
        return (
            replace(self, span=first, days=(days[0], days[0]), run=""),
            replace(self, span=last, days=(days[1], days[1]), run=""),
        )


def number_of(text: str) -> int | None:
    """The value of digits, an English ordinal (``5th``, ``twenty first``) or a Chinese numeral below a hundred; None else."""
    text = text.lower()
    if text[:1].isdecimal():
        return int(re.match(r"\d+", text)[0])  # type: ignore[index]
    if ordinal := _ORDINALS.get("-".join(text.replace("-", " ").split())):
        return ordinal
    tens, ten, ones = text.replace("两", "二").rpartition("十")
    if "十" in tens or len(tens) > 1 or len(ones) > 1:
        return None
    return (_han_digit(tens or "一") * 10 if ten else 0) + (_han_digit(ones) if ones else 0)


def year_of(text: str) -> int:
    """The year that four digits give, Chinese or not: ``二〇二四`` is 2024."""
    return int(text) if text.isdecimal() else int("".join(str(_han_digit(character)) for character in text))


def _han_digit(character: str) -> int:
    return max(0, HAN_DIGITS.find(character))


_S = r"[ \t\r\n\u00a0]{1,4}"
_OF = rf"(?:,?{_S}(?:(?:of|in){_S}(?:the{_S}year{_S})?)?|-)"
_WORDS = "|".join(word.replace("-", "[- ]") for word in sorted(_ORDINALS, key=len, reverse=True))


def _day(name: str = "d") -> str:
    return rf"(?P<{name}>\d{{1,2}}(?:st|nd|rd|th)?|{_WORDS})(?![A-Za-z\d])"


_D = _day()
_M = rf"(?P<month>{MONTH})"
_Y = rf"(?P<y>{YEAR})(?!\d)"
_HY = rf"(?P<y>{HAN_YEAR})\s{{0,2}}年"
_HM = rf"(?P<m>{COUNT})\s{{0,2}}月份?"
_HD = rf"(?P<d>{COUNT})\s{{0,2}}[日号號]"
_TO = rf"(?:\s?[-–—~～]\s?|{_S}(?:to|and|or|until|till|through|bis){_S}(?:the{_S})?)"
_DAY_MONTH = rf"(?:[.]|{_S}of|{_S}of{_S}the{_S}month)?(?:{_S}(?:of{_S})?|-)"
_NUMERIC: tuple[tuple[Precision, str], ...] = (
    ("day", r"(?P<y>\d{4})([-/._])(?P<m>\d{1,2})\2(?P<d>\d{1,2})(?!\d|[-/.]\d)"),
    ("day", rf"(?P<d>\d{{1,2}})\.\s?(?P<m>\d{{1,2}})\.\s?{_Y}(?!\.\d)"),
    ("day", rf"(?P<a>\d{{1,2}})([/-])(?P<b>\d{{1,2}})\2{_Y}"),
    ("week", rf"{_Y}-?W(?P<w>\d{{2}})(?:-(?P<weekday>[1-7]))?(?!\d)"),
    ("week", rf"(?:(?:calendar{_S})?week|KW|CW){_S}(?P<w>\d{{1,2}})(?:,?{_S}(?:of{_S})?|/){_Y}"),
    ("week", rf"{_Y},?{_S}week{_S}(?P<w>\d{{1,2}})(?!\d)"),
    ("month", rf"{_Y}-(?P<m>\d{{2}})(?![\d-]|\s?[年月])"),
    ("month", rf"(?P<m>\d{{2}})/{_Y}"),
    ("season/part", rf"(?P<part>spring|summer|autumn|fall|winter|(?:first|second){_S}half|(?:first|second|third|fourth){_S}quarter)(?:{_S}|{_S}of{_S}|,{_S}){_Y}(?!\s+(?:Olympic|Games))"),
    ("season/part", rf"(?P<part>[QH][1-4])[ /-]?{_Y}|(?P<y2>{YEAR})[ -]?(?P<part2>[QH][1-4])(?!\w)"),
    ("year", rf"(?P<y>{YEAR})(?![\d/%]|[.,]\d|['’]?s\b)"),
)  # fmt: skip
_NAMED_DATES: tuple[tuple[Precision, str], ...] = (
    ("day", rf"{_M}(?:{_S}|-)(?:the{_S})?{_D}{_OF}{_Y}"),
    ("day", rf"{_D}{_DAY_MONTH}{_M}{_OF}{_Y}"),
    ("day", rf"{_D}{_TO}{_day('last')}{_DAY_MONTH}{_M}(?:{_OF}{_Y})?"),
    ("day", rf"{_M}{_S}{_D}{_TO}{_day('last')}(?!{_DAY_MONTH}{MONTH})(?:{_OF}{_Y})?"),
    ("day", rf"{_D}{_DAY_MONTH}{_M}"),
    ("day", rf"{_M}{_S}(?:the{_S})?{_D}(?!:\d|\.\d|%)"),
    ("month", rf"{_M}{_OF}{_Y}"),
    ("month", _M),
)  # fmt: skip
_HAN: tuple[tuple[Precision, str], ...] = (
    ("day", rf"{_HY}\s{{0,2}}{_HM}\s{{0,2}}{_HD}"),
    ("day", rf"(?:{_HY}\s{{0,2}})?{_HM}\s{{0,2}}{_HD}\s?(?:[到至–—~～和与與、-]|—{{2}})\s?(?P<last>{COUNT})\s?[日号號]"),
    ("day", rf"{_HM}\s{{0,2}}{_HD}"),
    ("week", rf"{_HY}\s?的?第?\s?(?P<w>{COUNT})\s?[周週](?!年)"),
    ("month", rf"{_HY}\s{{0,2}}{_HM}"),
    ("month", _HM),
    ("season/part", rf"(?P<y>{HAN_YEAR})\s{{0,2}}年?\s{{0,2}}的?第?(?P<part>[春夏秋冬](?=天|季(?!奥)|\W|\Z)|[上下]半|[1-4一二三四]季)(?:天|季|年|度)?"),
    ("year", _HY),
)  # fmt: skip
_CUES: tuple[tuple[str, tuple[tuple[Precision, str], ...]], ...] = (
    (r"\d", _NUMERIC),
    (rf"(?<![A-Za-z]){MONTH}", _NAMED_DATES),
    (r"[年月半季春夏秋冬]", _HAN),
)
"""What a text needs to have dates of these forms."""
_FORMS = tuple(
    (
        re.compile(cue, re.IGNORECASE),
        tuple((precision, lazy_pattern(form, re.IGNORECASE)) for precision, form in forms),
    )
    for cue, forms in _CUES
)
_LIST = re.compile(r"and|or|[和与與、]", re.IGNORECASE)


def written_dates(text: str, others: Sequence[WrittenDate] = ()) -> list[WrittenDate]:
    """The dates of a text in order, the longest at each place, none within another.

    A date that does not exist has its place and no span, so that its year is not read alone.

    Args:
        text: of any length; the time is linear in it.
        others: dates of other forms, that count among these by their place.
    """
    found = list(others)
    for cue, forms in _FORMS:
        if cue.search(text):
            matches = ((match, precision) for precision, form in forms for match in form.finditer(text))
            found += [date for match, precision in matches if (date := _read(match, precision)) is not None]
    found.sort(key=lambda date: (date.start, -date.end))
    apart: list[WrittenDate] = []
    end = 0
    for date in found:
        if date.start >= end and _begins(text, date.start, end):
            apart.append(date)
            end = date.end
    return apart


def _begins(text: str, start: int, end: int) -> bool:
    """Whether a date can begin here: not within a word, a number, a path or a version."""
    before, first = text[max(0, start - 2) : start], text[start]
    if not before:
        return True
    if first.isdecimal():
        if 0 < end == start - 1 and before[-1] in "-/~":
            return True
        return not (
            before[-1].isdecimal()
            or before[-1] in "/$€£¥#"
            or re.fullmatch(r"\d[.,-]|v\.?|.v", before, re.IGNORECASE)
        )
    return not (before[-1].isalpha() and before[-1] < "\u0250" and first < "\u0250") and not (
        first in HAN_DIGITS + "十" and before[-1] in HAN_DIGITS + "零十百千"
    )


def _read(match: re.Match[str], precision: Precision) -> WrittenDate | None:
    """What a form states; None where it can be read in two ways (``3/4/2024``)."""
    parts = match.groupdict()
    start, end = match.span()
    if "a" in parts:
        first, second = int(parts["a"]), int(parts["b"])
        if first != second and max(first, second) <= 12:
            return None
        parts["d"], parts["m"] = (second, first) if second > 12 else (first, second)
    year = parts.get("y") or parts.get("y2")
    if year is None:
        return _without_year(match, parts, precision)
    try:
        span = _span(parts, year_of(year), precision)
    except ValueError:
        span = None
    if parts.get("weekday"):
        precision = "day"
    return WrittenDate(
        start, end, precision, span,
        run=_run(match),
        alone=precision != "year" or "年" in match[0],
    )  # fmt: skip


def _span(parts: Mapping[str, str | int | None], year: int, precision: Precision) -> Span | None:
    """The days of a form.

    Raises:
        ValueError: there are no such days.
    """
    if precision == "year":
        return months_span(year, count=12)
    if precision == "week":
        week = number_of(str(parts["w"])) or 0
        day = date.fromisocalendar(year, week, int(parts.get("weekday") or 1))
        return day_span(day, 1 if parts.get("weekday") else 7)
    if precision == "season/part":
        part = _PARTS.get(" ".join(str(parts["part"] or parts.get("part2")).lower().split()))
        return None if part is None else months_span(year, *part)
    return _of_days(year, _month(parts), _days(parts))


def _without_year(
    match: re.Match[str], parts: dict[str, str | None], precision: Precision
) -> WrittenDate | None:
    month, days = _month(parts), _days(parts)
    # 2024 stands for any leap year.
    if _of_days(2024, month, days) is None:
        return WrittenDate(*match.span(), precision, None)
    named = (parts.get("month") or "").rstrip(".")
    alone = "月" in match[0] or (days is not None and named not in ("may", "march", "mar"))
    return WrittenDate(*match.span(), precision, None, month, days, _run(match), alone)


def _run(match: re.Match[str]) -> Literal["", "range", "list"]:
    if "last" not in match.groupdict():
        return ""
    return (
        "list"
        if _LIST.search(match[0], match.end("d") - match.start(), match.start("last") - match.start())
        else "range"
    )


def _month(parts: Mapping[str, str | int | None]) -> int:
    named = parts.get("month")
    number = month_number(str(named)) if named else number_of(str(parts["m"]))
    return number or 0


def _days(parts: Mapping[str, str | int | None]) -> tuple[int, int] | None:
    if parts.get("d") is None:
        return None
    first = number_of(str(parts["d"])) or 0
    last = parts.get("last")
    return first, first if last is None else number_of(str(last)) or 0


def _of_days(year: int, month: int, days: tuple[int, int] | None) -> Span | None:
    """The days of a month; None if there are none such."""
    if not 1 <= month <= 12:
        return None
    if days is None:
        return months_span(year, month)
    try:
        first, last = date(year, month, days[0]), date(year, month, days[1])
    except ValueError:
        return None
    return day_span(first, (last - first).days + 1) if first <= last else None
