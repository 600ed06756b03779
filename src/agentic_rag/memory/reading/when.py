"""Start of a statement's validity, if its clause states one: a date, or a day or period before the message."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from agentic_rag.dates.instants import as_utc
from agentic_rag.dates.months import month_number
from agentic_rag.dates.spans import Interval
from agentic_rag.dates.stated import named_dates, stated_interval

_NUMBERS = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "一": 1, "两": 2, "二": 2, "三": 3, "四": 4, "五": 5, "六": 6, "半": 0}  # fmt: skip
_AGO = re.compile(
    r"\b(?P<n>\d{1,3}|an?|one|two|three|four|five|six)\s(?P<unit>day|week|month|year)s?\sago\b|(?P<hn>\d{1,3}|[一两二三四五六])(?P<hunit>天|周|个星期|个月|年)(?:以)?前",
    re.IGNORECASE,
)
_PERIOD = re.compile(
    r"\blast\s(?P<unit>week|month|year)\b|(?P<hunit>上周|上星期|上个?月|去年)|\b(?P<yesterday>yesterday)\b|(?P<hyesterday>昨天)",
    re.IGNORECASE,
)
_DAY = re.compile(
    r"\b(?:on|since|from|as of|starting)\s(?:the\s)?(?:(?P<month>Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\.?\s(?P<day>\d{1,2})(?:st|nd|rd|th)?|(?P<day2>\d{1,2})(?:st|nd|rd|th)?\s(?:of\s)?(?P<month2>Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*)\b(?!,?\s*\d{4}|\sto\b|\s?[-–])",
    re.IGNORECASE,
)
_DATE_MARKER = re.compile(
    r"\b(?:since|in|on|from|as of|effective|starting)\s(?=[^,;]{0,20}\d{4})|[从自]\s*\d{4}|\d{4}年",
    re.IGNORECASE,
)
_UNITS = {"天": "day", "周": "week", "个星期": "week", "个月": "month", "年": "year", "上周": "week", "上星期": "week", "上月": "month", "上个月": "month", "去年": "year"}  # fmt: skip


def since(clause: str, at: datetime | None) -> datetime | None:
    """The stated start of a clause's validity, in UTC; None if it states none.

    A named month or year gives its beginning. "Last week" gives its end, the latest possible time, so that it does not
    precede other statements of that week. A period that has not ended at ``at`` gives None.

    Args:
        clause: of one statement.
        at: time of the message; None: only full dates are read.
    """
    said_at = None if at is None else as_utc(at)
    start, end = _only_date(clause) or (None, None)
    if start is None:
        return None if said_at is None else _relative(clause, said_at)
    lasting = end is not None and end - start > timedelta(days=1)
    going_on = lasting and said_at is not None and end is not None and start <= said_at < end
    return None if going_on else start


def held_interval(clause: str) -> Interval | None:
    """The stated interval in which a clause held, if it states both start and end."""
    stated = stated_interval(clause) if any(map(str.isdecimal, clause)) else None
    if stated is None or stated[0] is None or stated[1] is None:
        return None
    return stated if re.search(r"\b(?:from|between)\b|[从自由至到]", clause, re.IGNORECASE) else None


def _only_date(clause: str) -> Interval | None:
    if not any(map(str.isdecimal, clause)) and "年" not in clause:
        return None
    found = stated_interval(clause)
    if found is not None or not _DATE_MARKER.search(clause):
        return found
    dates = named_dates(clause)
    return dates[0] if len(dates) == 1 else None


def _relative(clause: str, at: datetime) -> datetime | None:
    today = at.replace(hour=0, minute=0, second=0, microsecond=0)
    ago = _AGO.search(clause)
    if ago is not None:
        number, unit = ago["n"] or ago["hn"], ago["unit"] or _UNITS[ago["hunit"]]
        count = int(number) if number.isdigit() else _NUMBERS[number.lower()]
        return _before(today, count, unit.lower())
    period = _PERIOD.search(clause)
    if period is not None:
        return _end_of_last(today, period)
    day = _DAY.search(clause)
    return (
        None if day is None else _last(today, day["month"] or day["month2"], int(day["day"] or day["day2"]))
    )


def _before(today: datetime, count: int, unit: str) -> datetime | None:
    try:
        if unit in ("day", "week"):
            return today - timedelta(days=count * (7 if unit == "week" else 1))
        months = today.year * 12 + today.month - 1 - count * (12 if unit == "year" else 1)
        return today.replace(year=months // 12, month=months % 12 + 1, day=min(today.day, 28))
    except (ValueError, OverflowError):
        return None


def _end_of_last(today: datetime, period: re.Match[str]) -> datetime:
    if period["yesterday"] or period["hyesterday"]:
        return today - timedelta(days=1)
    unit = (period["unit"] or _UNITS[period["hunit"]]).lower()
    if unit == "week":
        return today - timedelta(days=today.weekday())
    return today.replace(day=1) if unit == "month" else today.replace(month=1, day=1)


def _last(today: datetime, month: str, day: int) -> datetime | None:
    """The nearest such day of a year; None if it is in the future."""
    number = month_number(month) or 0
    try:
        near = [
            datetime(year, number, day, tzinfo=UTC) for year in (today.year - 1, today.year, today.year + 1)
        ]
    except ValueError:
        return None
    nearest = min(near, key=lambda moment: abs(moment - today))
    return nearest if nearest <= today else None
