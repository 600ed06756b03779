"""Answers to "when": the time named by the best sentence, else one named in its turn, else the date of the turn.

Relative times are resolved by the date of their line, with the sentence's own precision: a day as a day ("7 May
2023"), a week or weekday relative to the line's date ("The week before 9 June 2023", "The sunday before 25 May
2023"), months, seasons and years by name ("June 2023", "2022").
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from agentic_rag.dates.months import MONTHS, day_text
from agentic_rag_lab.designs.reading.history import History
from agentic_rag_lab.designs.reading.questions import ParsedQuestion
from agentic_rag_lab.designs.reading.statements import Statement

FIRST, LAST = date(1000, 1, 1), date(9998, 12, 31)
"""Range of days for date arithmetic; other days count as unknown."""
NAME_SCORE = 1.0
"""Points for a sentence that itself names a time, added to its support."""
NEAR = 0.5
"""Points if another sentence of its turn names a time."""
MAX_CANDIDATES = 12
"""Maximum number of sentences considered."""

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
    """A time named in a sentence."""

    start: int
    """Position of its words in the sentence."""
    end: int
    text: str
    """The time as an answer."""
    day: date | None
    """The day, or a day within the period; None if unknown."""


def times_of(sentence: str, said_on: date | None) -> list[Time]:
    """The times named in a sentence, in order of place; if ``said_on`` is unknown, only those
    that do not need it."""
    if said_on is not None and not FIRST <= said_on <= LAST:
        said_on = None
    found: list[Time] = []
    for pattern, tell in _RULES:
        for match in pattern.finditer(sentence):
            if any(match.start() < time.end and time.start < match.end() for time in found):
                continue
            told = tell(match, said_on)
            if told is not None:
                found.append(Time(match.start(), match.end(), *told))
    return sorted(found, key=lambda time: time.start)


def month_text(day: date) -> str:
    """A month in English: ``May 2023``."""
    return f"{MONTHS[day.month - 1]} {day.year}"


_Texts = Mapping[str, Callable[[date], str]]
_ENGLISH: _Texts = {"day": day_text, "month": month_text, "year": lambda day: str(day.year)}
_HAN: _Texts = {
    "day": lambda day: f"{day.year}年{day.month}月{day.day}日",
    "month": lambda day: f"{day.year}年{day.month}月",
    "year": lambda day: f"{day.year}年",
}
"""Chinese date formats, for Chinese sentences."""

Telling = tuple[str, date | None]
_Tell = Callable[[re.Match[str], date | None], Telling | None]


def _written_day(match: re.Match[str], said_on: date | None) -> Telling | None:
    year = match.groupdict().get("year")
    if year is None and said_on is None:
        return f"{match['number']} {match['month']}", None
    try:
        day = date(int(year or said_on.year), _month(match), int(match["number"]))  # type: ignore[union-attr]
    except ValueError:
        return None
    return day_text(day), day


def _written_month(match: re.Match[str], said_on: date | None) -> Telling | None:
    year = match.groupdict().get("year")
    if year is None and said_on is None:
        return match["month"], None
    first = date(int(year or said_on.year), _month(match), 1)  # type: ignore[union-attr]
    return month_text(first), first


def _written_year(match: re.Match[str], said_on: date | None) -> Telling | None:
    return match["year"], date(int(match["year"]), 1, 1)


def _move(said_on: date, unit: str, count: int) -> date:
    """A day ``count`` days later, or the first day of the month or year ``count`` later."""
    if unit == "day":
        return said_on + timedelta(days=count)
    if unit == "year":
        return date(said_on.year + count, 1, 1)
    months = said_on.year * 12 + said_on.month - 1 + count
    return date(months // 12, months % 12 + 1, 1)


def _off(unit: str, count: int, texts: _Texts = _ENGLISH) -> _Tell:
    """The day, month or year ``count`` before or after the one in which it was said."""

    def tell(match: re.Match[str], said_on: date | None) -> Telling | None:
        if said_on is None:
            return None
        moved = _move(said_on, unit, count)
        return texts[unit](moved), moved

    return tell


def _beside(form: str, days: int, texts: _Texts = _ENGLISH) -> _Tell:
    """A week or weekend, described relative to the day on which it was said."""

    def tell(match: re.Match[str], said_on: date | None) -> Telling | None:
        return (
            None if said_on is None else (form.format(texts["day"](said_on)), said_on + timedelta(days=days))
        )

    return tell


def _weekday(match: re.Match[str], said_on: date | None) -> Telling | None:
    """``last Friday``, ``on Friday``, ``next Friday``: relative to the day on which it was said."""
    if said_on is None:
        return None
    day, wanted = match["day"].lower(), _DAYS.index(match["day"].lower())
    if match["which"].lower() in {"next", "this", "coming"}:
        later = (wanted - said_on.weekday() - 1) % 7 + 1
        return f"The {day} after {day_text(said_on)}", said_on + timedelta(days=later)
    earlier = (said_on.weekday() - wanted - 1) % 7 + 1
    return f"The {day} before {day_text(said_on)}", said_on - timedelta(days=earlier)


def _season(match: re.Match[str], said_on: date | None) -> Telling | None:
    if said_on is None:
        return None
    name, which = match["season"].lower(), match["which"].lower()
    middle = {"spring": 4, "summer": 7, "fall": 10, "autumn": 10, "winter": 1}[name]
    year = said_on.year
    if which == "last" and middle >= said_on.month:
        year -= 1
    elif which == "next" and middle <= said_on.month:
        year += 1
    return f"{name.capitalize()} {year}", date(year, middle, 15)


def _ago(match: re.Match[str], said_on: date | None) -> Telling | None:
    """``two weeks ago``: a counted expression becomes a date, a vague one keeps its wording and gets the date of the turn."""
    count, unit = match["count"].lower(), match["unit"].lower().rstrip("s")
    number = int(count) if count.isdigit() else _VALUES.get(count)
    words = f"{match['count']} {match['unit']}".replace(" of ", " ")
    if said_on is None or (number is None and unit == "year"):
        return match.group(), None
    if number is None or unit in {"week", "weekend"}:
        days = {"day": 3, "week": 7, "weekend": 7, "month": 30}[unit] * (3 if number is None else number)
        return f"{words.capitalize()} before {day_text(said_on)}", said_on - timedelta(days=days)
    if unit == "year" and number == 1:
        unit, number = "month", 12
    return _off(unit, -number)(match, said_on)


def _as_said(match: re.Match[str], said_on: date | None) -> Telling | None:
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
        (r"(?:the )?day before yesterday\b", _off("day", -2)),
        (r"(?:the )?day after tomorrow\b", _off("day", 2)),
        (r"(?:yesterday|last night)\b", _off("day", -1)),
        (r"tomorrow\b", _off("day", 1)),
        (r"(?:today|tonight|this (?:morning|afternoon|evening))\b", _off("day", 0)),
        (rf"{_COUNT} (?P<unit>days?|weeks?|weekends?|months?|years?) (?:ago|back)\b", _ago),
        (rf"(?P<which>last|this past|past|on|next|this|coming) {_DAY}\b", _weekday),
        (r"(?:last|this past|past) week\b(?! of)", _beside("The week before {}", -7)),
        (r"(?:last|this past|past) weekend\b", _beside("The weekend before {}", -7)),
        (r"(?:this|the) week\b(?! of)", _beside("The week of {}", 0)),
        (r"this weekend\b", _beside("The weekend of {}", 0)),
        (r"next week\b(?! of)", _beside("The week after {}", 7)),
        (r"next weekend\b", _beside("The weekend after {}", 7)),
        (r"last month\b", _off("month", -1)),
        (r"this month\b", _off("month", 0)),
        (r"next month\b", _off("month", 1)),
        (r"(?P<which>last|this|next) (?P<season>spring|summer|fall|autumn|winter)\b", _season),
        (r"last year\b", _off("year", -1)),
        (r"this year\b", _off("year", 0)),
        (r"next year\b", _off("year", 1)),
        (rf"(?:in|since|early|late|mid|last|next|this|until|during) {_MONTH}\b(?! \d)", _written_month),
        (rf"(?:in|since|from|during|until|back in) {_YEAR}\b", _written_year),
        (r"(?:前天)", _off("day", -2, _HAN)),
        (r"(?:昨[天晚日])", _off("day", -1, _HAN)),
        (r"(?:今[天晚早日])", _off("day", 0, _HAN)),
        (r"(?:明[天晚早日])", _off("day", 1, _HAN)),
        (r"(?:后天)", _off("day", 2, _HAN)),
        (r"(?:上个?(?:周|星期))(?![一二三四五六日天末])", _beside("{}的前一周", -7, _HAN)),
        (r"(?:下个?(?:周|星期))(?![一二三四五六日天末])", _beside("{}的后一周", 7, _HAN)),
        (r"(?:上个月)", _off("month", -1, _HAN)),
        (r"(?:这个月|本月)", _off("month", 0, _HAN)),
        (r"(?:下个月)", _off("month", 1, _HAN)),
        (r"(?:去年)", _off("year", -1, _HAN)),
        (r"(?:今年)", _off("year", 0, _HAN)),
        (r"(?:明年)", _off("year", 1, _HAN)),
        (r"(?:\d{4}年\d{1,2}月(?:\d{1,2}[日号])?)", _as_said),
        (r"when (?:i|we) (?:was|were) [^,.;!?]{3,40}", _as_said),
    )
]


def moment_answer(question: ParsedQuestion, statements: Sequence[Statement], history: History) -> str:
    """The time of an event, from the statements of a history, best first; "" if no time or day is known."""
    answers: list[tuple[float, str]] = []
    for statement in statements[:MAX_CANDIDATES]:
        time, counts = _time(statement, history)
        told = _answer_text(question, statement, time)
        if told:
            answers.append((statement.support + counts, told))
    return max(answers, key=lambda answer: answer[0], default=(0.0, ""))[1]


def _time(statement: Statement, history: History) -> tuple[Time | None, float]:
    """The time nearest to a statement, and its points."""
    line = statement.sentence.line
    own = times_of(statement.sentence.text, line.date)
    if own:
        return own[0], NAME_SCORE
    beside = sorted(
        (sentence for sentence in history.sentences if sentence.line == line),
        key=lambda sentence: (abs(sentence.place - statement.sentence.place), sentence.place),
    )
    for sentence in beside:
        times = times_of(sentence.text, line.date)
        if times:
            return times[0], NEAR
    return None, 0.0


def _answer_text(question: ParsedQuestion, statement: Statement, time: Time | None) -> str:
    day = statement.sentence.line.date if time is None else time.day
    if question.kind == "year":
        return "" if day is None else str(day.year)
    if time is not None:
        return time.text
    return "" if day is None else day_text(day)
