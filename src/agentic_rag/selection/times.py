"""The span of days that a question names."""

from __future__ import annotations

import re

from agentic_rag.dates.stated import asked_interval
from agentic_rag.selection.reading import Time
from agentic_rag.selection.words import Span, Words

_DIGITS = re.compile(r"\d{4}")


def named_time(question: str) -> Time | None:
    """The one span that a question names; None where it names none, or several."""
    interval = asked_interval(question)
    if interval is None:
        return None
    text = Words.of(question).text
    place = _DIGITS.search(text)
    if place is None:
        return None
    start, end = (None if one is None else one.date().isoformat() for one in interval)
    return Time(start, end, Span(max(0, place.start() - 20), min(len(text), place.end() + 8)), True)
