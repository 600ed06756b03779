"""Memory test, the verdict: whether an answer contradicts the right one in what few words decide.

Words alone do not tell "Likely yes" from "Likely no", nor 25 May from 7 May: most of them are shared. So three
things are compared by what they mean: affirmation or denial, dates, and numbers.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta

from agentic_rag.dates.stated import named_dates
from agentic_rag.ingest.conversation import MONTHS

_DAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
_SMALL = "zero one two three four five six seven eight nine ten eleven twelve".split()
_ORDINALS = "first second third fourth fifth sixth seventh eighth ninth tenth".split()
_HAN = "二三四五六七八九十"
_WORDS = {
    **{word: str(number) for number, word in enumerate(_SMALL)},
    **{word: str(number) for number, word in enumerate(_ORDINALS, start=1)},
    **{han: str(number) for number, han in enumerate(_HAN, start=2)},
    "两": "2",
}
"""Numbers in words; 一 is left out: it is a part of too many words that count nothing."""
_VALUE = re.compile(
    rf"\d+(?:,\d{{3}})*(?:\.\d+)?|[两{_HAN}]|\b(?:(?i:{'|'.join((*_SMALL, *_ORDINALS, *_DAYS))})|{'|'.join(MONTHS)})\b"
)
_YES = re.compile(r"\W*(?:(?:most|very|quite)\s+)?(?:(?:likely|probably|perhaps|maybe)\W+)?yes\b|\W*是的", re.IGNORECASE)  # fmt: skip
_NO = re.compile(r"\b(?:no|not|never|none|nobody|nothing|neither|nor|cannot|without)\b|n['’]t\b|[不没沒否]", re.IGNORECASE)  # fmt: skip
_BESIDE = re.compile(
    rf"\b(?:(?P<count>\d{{1,2}}|{'|'.join(_SMALL)})\s+)?(?P<unit>day|week(?:end)?|{'|'.join(_DAYS)})s?\s+(?P<side>before|after)\b",
    re.IGNORECASE,
)
_Span = tuple[datetime, datetime]


def agrees(predicted: str, truth: str) -> bool:
    """Whether an answer affirms or denies as the truth does, means its dates, and has all its numbers.

    A date agrees with one that lies within it: "June 2023" with "13 June 2023", and "the Friday before 23 July
    2023" with "21 July 2023". Numbers count as figures or in words; further ones do no harm.

    >>> agrees("25 May 2023", "7 May 2023"), agrees("ten years ago", "10 years ago")
    (False, True)
    """
    if _denies(predicted) != _denies(truth):
        return False
    said, meant = _times(predicted), _times(truth)
    if not said or not meant:
        return _values(truth) <= _values(predicted)
    dated = all(any(first < end and start < last for first, last in said) for start, end in meant)
    return dated and _values(truth) - _parts_of_dates(truth) <= _values(predicted)


def _denies(answer: str) -> bool:
    return _YES.match(answer) is None and _NO.search(answer) is not None


def _values(text: str) -> frozenset[str]:
    """Numbers, months and weekdays."""
    found = (match[0].lower().replace(",", "") for match in _VALUE.finditer(text))
    return frozenset(_WORDS.get(value, value) for value in found)


def _parts_of_dates(text: str) -> frozenset[str]:
    parts = {*_DAYS}
    for day, end in named_dates(text):
        parts |= {str(day.year), str(day.month), f"{day.month:02}", MONTHS[day.month - 1].lower()}
        if end - day <= timedelta(days=1):
            parts |= {str(day.day), f"{day.day:02}"}
    for match in _BESIDE.finditer(text):
        parts |= _values(match[0])
    return frozenset(parts)


def _times(text: str) -> list[_Span]:
    """The dates that a text names, those beside a date ("the week before 9 June 2023") reckoned from it."""
    found = named_dates(text)
    for match in _BESIDE.finditer(text):
        n = len(named_dates(text[: match.start()]))
        if n < len(found):
            found[n] = _beside(found[n], match)
    return found


def _beside(date: _Span, match: re.Match[str]) -> _Span:
    unit, count = match["unit"].lower(), (match["count"] or "1").lower()
    number = int(_WORDS.get(count, count))
    start, end = date
    before = match["side"].lower() == "before"
    if unit in _DAYS:
        wanted = _DAYS.index(unit)
        off = (start.weekday() - wanted - 1) % 7 + 1 if before else (wanted - start.weekday() - 1) % 7 + 1
        first, days = start + timedelta(days=-off if before else off), 1
    else:
        days = 1 if unit == "day" else 7
        first = start - timedelta(days=days * number) if before else end + timedelta(days=days * (number - 1))
    return first, first + timedelta(days=days)
