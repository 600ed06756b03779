"""A memory's text as turns: ``(2023-05-08)Caroline: I went …``, a line each, as ``data_parser`` writes them."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

# No space behind the date and one behind the colon, so that neither "(aside) see: this" nor "(photo)http://…" is a
# turn of somebody.
_TURN = re.compile(
    r"(?P<lead>\((?P<date>[^()\n]*)\)(?P<speaker>[^\s:][^:\n]{0,59}):(?=\s|\Z)[ \t]?)(?P<text>.*)", re.DOTALL
)


@dataclass(frozen=True, slots=True)
class MemoryLine:
    """One line of a memory's text; ``lead + text`` is the line."""

    text: str
    lead: str = ""
    """``(date)Speaker: ``, or "" where the line does not begin a turn."""
    speaker: str = ""
    date: str = ""
    """As written; "" where the line has none."""


def lines_of(text: str) -> list[MemoryLine]:
    """All lines, in order; joined by line feeds they are the text.

    >>> [(line.date, line.speaker, line.text) for line in lines_of("(2023-08-01)Alice: Hello")]
    [('2023-08-01', 'Alice', 'Hello')]
    """
    return [_line(line) for line in text.split("\n")]


def turns_of(text: str) -> list[MemoryLine]:
    """The lines that say something, without the white space around it; a name alone is said by nobody."""
    return [
        replace(line, text=line.text.strip()) if line.text.strip() else MemoryLine(line.lead.strip())
        for line in lines_of(text)
        if (line.lead + line.text).strip()
    ]


def _line(line: str) -> MemoryLine:
    found = _TURN.fullmatch(line)
    if found is None:
        return MemoryLine(line)
    return MemoryLine(found["text"], found["lead"], found["speaker"].strip(), found["date"].strip())
