"""Turns of a dialogue as memories hold them: lines such as ``(2023-08-01)Alice: Hello``."""

from __future__ import annotations

import re
from dataclasses import dataclass

_TURN = re.compile(r"(?P<lead>\((?P<date>[^()\n]{1,60})\)(?P<speaker>[^:：\n]{1,80}):[ \t]?)(?P<text>.*)")


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a memory. ``lead + text`` is the line."""

    lead: str
    """``(date)Speaker: ``, or "" where the line does not begin a turn."""
    text: str
    date: str = ""
    speaker: str = ""


def lines_of(text: str) -> list[Line]:
    """The lines of a memory, in order; joined by line feeds they are its text.

    >>> [(line.date, line.speaker, line.text) for line in lines_of("(2023-08-01)Alice: Hello")]
    [('2023-08-01', 'Alice', 'Hello')]
    """
    return [_line(line) for line in text.split("\n")]


def _line(line: str) -> Line:
    found = _TURN.fullmatch(line)
    if found is None:
        return Line("", line)
    return Line(found["lead"], found["text"], found["date"], found["speaker"].strip())
