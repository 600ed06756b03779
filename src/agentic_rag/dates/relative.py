"""Dates that are written by their distance from today: ``yesterday``, ``three days ago``, 去年三月."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, timedelta

from agentic_rag.dates.months import MONTH, month_number
from agentic_rag.dates.spans import ONE_DAY, Precision, Span, day_span, months_span, week_span
from agentic_rag.dates.written import COUNT, WrittenDate, number_of
from agentic_rag.text.patterns import lazy_pattern

_WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
WEEKDAY = r"(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day"
"""A pattern for the name of a weekday."""
_NUMBERS = "one two three four five six seven eight nine ten eleven twelve".split()
_DAYS = {
    "the day before yesterday": -2, "day before yesterday": -2, "yesterday": -1, "last night": -1, "today": 0, "tonight": 0, "tomorrow": 1,
    "前天": -2, "昨": -1, "今": 0, "明": 1, "后天": 2, "後天": 2,
}  # fmt: skip
_STEPS = {"last": -1, "past": -1, "previous": -1, "this": 0, "current": 0, "next": 1, "coming": 1, "上上": -2, "上": -1, "本": 0, "这": 0, "這": 0, "下": 1}  # fmt: skip
_YEARS = {"前年": -2, "去年": -1, "今年": 0, "明年": 1}
_UNITS = {"天": "day", "日": "day", "周": "week", "週": "week", "星期": "week", "礼拜": "week", "禮拜": "week", "月": "month", "年": "year"}  # fmt: skip
_HAN_UNIT = r"个?個?(?P<unit>天|日|周|週|星期|礼拜|禮拜|月|年)"
_NUMBER = rf"(?P<count>\d{{1,3}}|an?|{'|'.join(_NUMBERS)})"

Reading = tuple[Precision, Span | None]
_ReadDate = Callable[[re.Match[str], date], Reading]


def relative_dates(text: str, today: date | None) -> list[WrittenDate]:
    """Each such date, in any order; one outside the years 1 to 9999 has no span.

    Without today only those that hold a month are given, without a span, so that "last March" is not any March.
    """
    if not _CUE.search(text):
        return []
    forms = _OF_MONTHS if today is None else (*_FORMS, *_OF_MONTHS)
    return [_written_date(match, read, today) for form, read in forms for match in form.finditer(text)]


def _written_date(match: re.Match[str], read_date: _ReadDate, today: date | None) -> WrittenDate:
    precision: Precision = "day"
    span = None
    if today is not None:
        try:
            precision, span = read_date(match, today)
        except (ValueError, OverflowError):
            span = None
    return WrittenDate(*match.span(), precision, span)


def _by_name(match: re.Match[str], today: date) -> Reading:
    name = " ".join(match[0].lower().split())
    step = _DAYS.get(name)
    return "day", day_span(today + timedelta(days=_DAYS[name[0]] if step is None else step))


def _beside(match: re.Match[str], today: date) -> Reading:
    """Last, this or next week, month or year."""
    return _unit(match["unit"], _STEPS[match["step"].lower()], today)


def _ago(match: re.Match[str], today: date) -> Reading:
    """``three weeks ago``: the week, three weeks back; a count of days is one day."""
    return _unit(match["unit"], -_count(match["count"]), today)


def _latest(match: re.Match[str], today: date) -> Reading:
    """``the last three weeks``: as many days back, today among them."""
    unit, count = _UNITS.get(match["unit"].lower(), match["unit"].lower()), _count(match["count"] or "1")
    length = {"day": 1, "week": 7, "month": 30, "year": 365}[unit] * count
    precision: Precision = "day" if unit == "day" else "week" if unit == "week" else "month" if unit == "month" else "year"  # fmt: skip
    return precision, Span(today - timedelta(days=length), today + ONE_DAY)


def _weekday(match: re.Match[str], today: date) -> Reading:
    """``last Monday`` is the nearest before today, ``next`` the nearest after, ``this`` that of the week."""
    step, wanted = _STEPS[match["step"].lower()], _WEEKDAYS.index(match["day"][:3].lower())
    if step == 0:
        distance = wanted - today.weekday()
    elif step > 0:
        distance = (wanted - today.weekday() - 1) % 7 + 1
    else:
        distance = -((today.weekday() - wanted - 1) % 7 + 1)
    return "day", day_span(today + timedelta(days=distance))


def _weekday_of_week(match: re.Match[str], today: date) -> Reading:
    """上周三 is the Wednesday of the last week, whatever day is today."""
    monday = today - timedelta(days=today.weekday())
    wanted = max(0, "一二三四五六".find(match["day"])) if match["day"] not in "日天" else 6
    return "day", day_span(monday + timedelta(days=7 * _STEPS[match["step"]] + wanted))


def _month(match: re.Match[str], today: date) -> Reading:
    """``last March`` is the latest that is over, ``next`` the first to come, ``this`` that of the year."""
    step, month = _STEPS[match["step"].lower()], month_number(match["month"]) or 0
    year = today.year
    if step < 0 and month >= today.month:
        year -= 1
    elif step > 0 and month <= today.month:
        year += 1
    return "month", months_span(year, month)


def _of_year(match: re.Match[str], today: date) -> Reading:
    year = today.year + _YEARS[match["year"]]
    if match["m"] is None:
        return "year", months_span(year, count=12)
    month = number_of(match["m"]) or 0
    if not 1 <= month <= 12 or match["d"] is None:
        return "month", months_span(year, month) if 1 <= month <= 12 else None
    return "day", day_span(date(year, month, number_of(match["d"]) or 0))


def _unit(unit: str, step: int, today: date) -> Reading:
    unit = _UNITS.get(unit.lower(), unit.lower())
    if unit == "day":
        return "day", day_span(today + timedelta(days=step))
    if unit == "week":
        return "week", week_span(today + timedelta(days=7 * step))
    if unit == "month":
        return "month", months_span(today.year, today.month + step)
    return "year", months_span(today.year + step, count=12)


def _count(count_text: str) -> int:
    count_text = count_text.lower()
    if count_text in ("a", "an"):
        return 1
    return _NUMBERS.index(count_text) + 1 if count_text in _NUMBERS else number_of(count_text) or 0


_S = r"[ \t\r\n]{1,4}"
_CUE = re.compile(
    r"day|night|ago|back|last|past|previous|this|current|next|tomorrow|coming|[前昨今明后後上本这這下去近]",
    re.IGNORECASE,
)


def _compile_forms(*forms: tuple[str, _ReadDate]) -> tuple[tuple[re.Pattern[str], _ReadDate], ...]:
    return tuple((lazy_pattern(pattern, re.IGNORECASE), read) for pattern, read in forms)


_FORMS = _compile_forms(
    (rf"\b(?:(?:the{_S})?day{_S}before{_S}yesterday|yesterday|last{_S}night|today|tonight|tomorrow)\b", _by_name),
    (r"前天|[昨今明][天日晚早]|[后後]天", _by_name),
    (rf"\b(?P<step>last|previous|this|current|next){_S}(?P<unit>week|month|year)\b(?!{_S}of)", _beside),
    (r"(?P<step>上上|[上本这這下])" + _HAN_UNIT.replace("天|日|", "").replace("|年", "") + "(?![一二三四五六日天末])", _beside),
    (rf"\b{_NUMBER}{_S}(?P<unit>day|week|month|year)s?{_S}(?:ago|back)\b", _ago),
    (rf"(?P<count>{COUNT}){_HAN_UNIT.replace('|月', '|(?<=[个個])月')}(?:以|之)?前(?![后後])", _ago),
    (rf"\b(?:last|past|previous){_S}{_NUMBER}{_S}(?P<unit>day|week|month|year)s?\b", _latest),
    (rf"(?:过去|過去|最近|近)的?(?P<count>{COUNT}){_HAN_UNIT}", _latest),
    (rf"\bpast{_S}(?P<count>)(?P<unit>week|month|year)\b", _latest),
    (rf"\b(?P<step>last|past|this|next|coming){_S}(?P<day>{WEEKDAY})\b", _weekday),
    (r"(?P<step>上上|[上本这這下])个?個?(?:周|週|星期|礼拜|禮拜)(?P<day>[一二三四五六日天])", _weekday_of_week),
)  # fmt: skip
_OF_MONTHS = _compile_forms(
    (rf"\b(?P<step>last|past|this|next|coming){_S}(?P<month>{MONTH})(?!{_S}\d)", _month),
    (rf"(?P<year>前年|去年|今年|明年)的?(?:(?P<m>{COUNT})月份?(?:(?P<d>{COUNT})[日号號])?)?", _of_year),
)  # fmt: skip
