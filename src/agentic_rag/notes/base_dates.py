"""Dates and durations in expressions of Obsidian's Bases, as the ISO texts that filters compare."""

from __future__ import annotations

import re
from calendar import monthrange
from datetime import date, datetime, timedelta

_DURATION = re.compile(r"\s*([+-]?\d+)\s*([A-Za-z]+)\s*")
_MONTHS = {"y": 12, "year": 12, "years": 12, "M": 1, "month": 1, "months": 1}
_SECONDS = {
    **dict.fromkeys(("w", "week", "weeks"), 604_800),
    **dict.fromkeys(("d", "day", "days"), 86_400),
    **dict.fromkeys(("h", "hour", "hours"), 3_600),
    **dict.fromkeys(("m", "minute", "minutes"), 60),
    **dict.fromkeys(("s", "second", "seconds"), 1),
}


def read_date(text: str) -> date | datetime:
    """``2024-01-31`` as a day, ``2024-01-31 12:00:00`` as a moment.

    Raises:
        ValueError: it is neither.
    """
    return date.fromisoformat(text) if len(text) == 10 else datetime.fromisoformat(text)


def is_date(value: object) -> bool:
    """Whether a value is the ISO text of a day or a moment, spelled as ``read_date`` gives it back."""
    try:
        return isinstance(value, str) and read_date(value).isoformat() == value
    except ValueError:
        return False


def shift(moment: date | datetime, duration: str, sign: int) -> date | datetime:
    """The moment plus or minus a duration: ``1M``, ``2 weeks``, ``4h``; a day stays a day if it can.

    The day of a month that is too short is its last one.

    Raises:
        ValueError: no such duration, or it leads beyond the calendar.
    """
    match = _DURATION.fullmatch(duration)
    count, unit = (int(match.group(1)) * sign, match.group(2)) if match else (0, "")
    try:
        if unit in _MONTHS:
            months = moment.year * 12 + moment.month - 1 + count * _MONTHS[unit]
            year, month = divmod(months, 12)
            return moment.replace(year, month + 1, min(moment.day, monthrange(year, month + 1)[1]))
        length = timedelta(seconds=count * _SECONDS[unit])
        if length % timedelta(days=1) and not isinstance(moment, datetime):
            moment = datetime(moment.year, moment.month, moment.day)
        return moment + length
    except (KeyError, OverflowError) as error:
        raise ValueError(f"no duration: {duration!r}") from error
