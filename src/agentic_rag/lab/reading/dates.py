"""When something was: the time a sentence names, told from the date of its line as people write it.

A day is told as a day ("7 May 2023"), a week or weekday as one before the day of the line ("The week before 9
June 2023", "The sunday before 25 May 2023"), months, seasons and years by name ("June 2023", "2022"): no
answer says more than the sentence does.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from agentic_rag.ingest.conversation import MONTHS

FIRST, LAST = date(1000, 1, 1), date(9998, 12, 31)
"""Days from which can be counted; any other is taken for unknown."""
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_SMALL = "one two three four five six seven eight nine ten eleven twelve".split()
_VALUES = {"a": 1, "an": 1, **{word: number for number, word in enumerate(_SMALL, start=1)}}

_COUNT = rf"(?P<count>\d{{1,3}}|{'|'.join(_SMALL)}|(?:a )?(?:couple|few|several)|an?)(?: of)?"
_MONTH = rf"(?P<month>{'|'.join(MONTHS)})"
_DAY = rf"(?P<day>{'|'.join(day.capitalize() for day in _DAYS)})s?"
_ORDINAL = r"(?P<number>\d{1,2})(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>(?:19|20)\d{2})"


@dataclass(frozen=True, slots=True)
class Time:
    """A time that a sentence names."""

    start: int
    """Where the words that name it stand in the sentence."""
    end: int
    text: str
    """As an answer."""
    day: date | None
    """The day, or one within; None where none can be told."""


def times_of(sentence: str, said: date | None) -> list[Time]:
    """The times that a sentence names, in order of place.

    Args:
        sentence: what was said.
        said: on which day; None where it is not known: then only what needs no such day is told.
    """
    if said is not None and not FIRST <= said <= LAST:
        said = None
    found: list[Time] = []
    for pattern, tell in _RULES:
        for match in pattern.finditer(sentence):
            if any(match.start() < time.end and time.start < match.end() for time in found):
                continue
            told = tell(match, said)
            if told is not None:
                found.append(Time(match.start(), match.end(), *told))
    return sorted(found, key=lambda time: time.start)


def day_text(day: date) -> str:
    """``7 May 2023``."""
    return f"{day.day} {MONTHS[day.month - 1]} {day.year}"


def month_text(day: date) -> str:
    """``May 2023``."""
    return f"{MONTHS[day.month - 1]} {day.year}"


Telling = tuple[str, date | None]
_Tell = Callable[[re.Match[str], date | None], Telling | None]


def _written_day(match: re.Match[str], said: date | None) -> Telling | None:
    year = match.groupdict().get("year")
    if year is None and said is None:
        return f"{match['number']} {match['month']}", None
    try:
        day = date(int(year or said.year), _month(match), int(match["number"]))  # type: ignore[union-attr]
    except ValueError:
        return None
    return day_text(day), day


def _written_month(match: re.Match[str], said: date | None) -> Telling | None:
    year = match.groupdict().get("year")
    if year is None and said is None:
        return match["month"], None
    first = date(int(year or said.year), _month(match), 1)  # type: ignore[union-attr]
    return month_text(first), first


def _written_year(match: re.Match[str], said: date | None) -> Telling | None:
    return match["year"], date(int(match["year"]), 1, 1)


def _days_off(days: int) -> _Tell:
    def tell(match: re.Match[str], said: date | None) -> Telling | None:
        if said is None:
            return None
        day = said + timedelta(days=days)
        return day_text(day), day

    return tell


def _month_off(months: int) -> _Tell:
    def tell(match: re.Match[str], said: date | None) -> Telling | None:
        return None if said is None else _by_month(said, months)

    return tell


def _year_off(years: int) -> _Tell:
    def tell(match: re.Match[str], said: date | None) -> Telling | None:
        return None if said is None else (str(said.year + years), date(said.year + years, 1, 1))

    return tell


def _beside(form: str, days: int) -> _Tell:
    """A week or weekend beside the day on which it was said."""

    def tell(match: re.Match[str], said: date | None) -> Telling | None:
        return None if said is None else (f"The {form} {day_text(said)}", said + timedelta(days=days))

    return tell


def _weekday(match: re.Match[str], said: date | None) -> Telling | None:
    """``last Friday``, ``on Friday``, ``next Friday``: beside the day on which it was said."""
    if said is None:
        return None
    wanted = _DAYS.index(match["day"].lower())
    if match["which"].lower() in {"next", "this", "coming"}:
        return f"The {match['day'].lower()} after {day_text(said)}", said + timedelta(
            days=(wanted - said.weekday() - 1) % 7 + 1
        )
    return f"The {match['day'].lower()} before {day_text(said)}", said - timedelta(
        days=(said.weekday() - wanted - 1) % 7 + 1
    )


def _season(match: re.Match[str], said: date | None) -> Telling | None:
    if said is None:
        return None
    name, which = match["season"].lower(), match["which"].lower()
    middle = {"spring": 4, "summer": 7, "fall": 10, "autumn": 10, "winter": 1}[name]
    year = said.year
    if which == "last" and middle >= said.month:
        year -= 1
    elif which == "next" and middle <= said.month:
        year += 1
    return f"{name.capitalize()} {year}", date(year, middle, 15)


def _ago(match: re.Match[str], said: date | None) -> Telling | None:
    """``two weeks ago``: what is counted is told, what is vague is told with the day that it is counted from."""
    count, unit = match["count"].lower(), match["unit"].lower().rstrip("s")
    number = int(count) if count.isdigit() else _VALUES.get(count)
    words = f"{match['count']} {match['unit']}".replace(" of ", " ")
    if said is None or (number is None and unit == "year"):
        return match.group(), None
    if number is None or unit in {"week", "weekend"}:
        days = {"day": 3, "week": 7, "weekend": 7, "month": 30}[unit] * (3 if number is None else number)
        return f"{words.capitalize()} before {day_text(said)}", said - timedelta(days=days)
    if unit == "day":
        return _days_off(-number)(match, said)
    return _by_month(said, -number) if unit == "month" else _years_ago(said, number)


def _years_ago(said: date, number: int) -> Telling:
    if number == 1:
        return _by_month(said, -12)
    return str(said.year - number), date(said.year - number, 1, 1)


def _by_month(said: date, months: int) -> Telling:
    first = _first_of_month(said, months)
    return month_text(first), first


def _first_of_month(said: date, months: int) -> date:
    count = said.year * 12 + said.month - 1 + months
    return date(count // 12, count % 12 + 1, 1)


def _han_day(days: int, form: str = "{day}") -> _Tell:
    """What is said in Chinese is told in Chinese: ``2024年3月4日``; a week by the day on which it was said."""

    def tell(match: re.Match[str], said: date | None) -> Telling | None:
        if said is None:
            return None
        day = said + timedelta(days=days)
        shown = day if form == "{day}" else said
        return form.format(day=f"{shown.year}年{shown.month}月{shown.day}日"), day

    return tell


def _han_month(months: int) -> _Tell:
    def tell(match: re.Match[str], said: date | None) -> Telling | None:
        if said is None:
            return None
        first = _first_of_month(said, months)
        return f"{first.year}年{first.month}月", first

    return tell


def _han_year(years: int) -> _Tell:
    def tell(match: re.Match[str], said: date | None) -> Telling | None:
        return None if said is None else (f"{said.year + years}年", date(said.year + years, 1, 1))

    return tell


def _as_said(match: re.Match[str], said: date | None) -> Telling | None:
    return match.group(), None


def _month(match: re.Match[str]) -> int:
    return MONTHS.index(match["month"].capitalize()) + 1


_RULES: Sequence[tuple[re.Pattern[str], _Tell]] = [
    (re.compile(rf"\b{form}" if form[0] != "(" else form, re.IGNORECASE), tell)
    for form, tell in (
        (rf"{_ORDINAL} (?:of )?{_MONTH},? {_YEAR}\b", _written_day),
        (rf"{_MONTH} {_ORDINAL},? {_YEAR}\b", _written_day),
        (rf"{_ORDINAL} (?:of )?{_MONTH}\b", _written_day),
        (rf"{_MONTH} {_ORDINAL}\b(?!\s*(?:years|people|days|miles|%))", _written_day),
        (rf"{_MONTH},? (?:of )?{_YEAR}\b", _written_month),
        (r"(?:the )?day before yesterday\b", _days_off(-2)),
        (r"(?:the )?day after tomorrow\b", _days_off(2)),
        (r"(?:yesterday|last night)\b", _days_off(-1)),
        (r"tomorrow\b", _days_off(1)),
        (r"(?:today|tonight|this (?:morning|afternoon|evening))\b", _days_off(0)),
        (rf"{_COUNT} (?P<unit>days?|weeks?|weekends?|months?|years?) (?:ago|back)\b", _ago),
        (rf"(?P<which>last|this past|past|on|next|this|coming) {_DAY}\b", _weekday),
        (r"(?:last|this past|past) week\b(?! of)", _beside("week before", -7)),
        (r"(?:last|this past|past) weekend\b", _beside("weekend before", -7)),
        (r"(?:this|the) week\b(?! of)", _beside("week of", 0)),
        (r"this weekend\b", _beside("weekend of", 0)),
        (r"next week\b(?! of)", _beside("week after", 7)),
        (r"next weekend\b", _beside("weekend after", 7)),
        (r"last month\b", _month_off(-1)),
        (r"this month\b", _month_off(0)),
        (r"next month\b", _month_off(1)),
        (r"(?P<which>last|this|next) (?P<season>spring|summer|fall|autumn|winter)\b", _season),
        (r"last year\b", _year_off(-1)),
        (r"this year\b", _year_off(0)),
        (r"next year\b", _year_off(1)),
        (rf"(?:in|since|early|late|mid|last|next|this|until|during) {_MONTH}\b(?! \d)", _written_month),
        (rf"(?:in|since|from|during|until|back in) {_YEAR}\b", _written_year),
        (r"(?:前天)", _han_day(-2)),
        (r"(?:昨[天晚日])", _han_day(-1)),
        (r"(?:今[天晚早日])", _han_day(0)),
        (r"(?:明[天晚早日])", _han_day(1)),
        (r"(?:后天)", _han_day(2)),
        (r"(?:上个?(?:周|星期))(?![一二三四五六日天末])", _han_day(-7, "{day}的前一周")),
        (r"(?:下个?(?:周|星期))(?![一二三四五六日天末])", _han_day(7, "{day}的后一周")),
        (r"(?:上个月)", _han_month(-1)),
        (r"(?:这个月|本月)", _han_month(0)),
        (r"(?:下个月)", _han_month(1)),
        (r"(?:去年)", _han_year(-1)),
        (r"(?:今年)", _han_year(0)),
        (r"(?:明年)", _han_year(1)),
        (r"(?:\d{4}年\d{1,2}月(?:\d{1,2}[日号])?)", _as_said),
        (r"when (?:i|we) (?:was|were) [^,.;!?]{3,40}", _as_said),
    )
]
