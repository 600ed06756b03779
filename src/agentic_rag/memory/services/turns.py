"""Memory texts to the turns of a conversation: ``(2023-05-08)Caroline: I went …``, a line each."""

from __future__ import annotations

import re
from dataclasses import dataclass

# No space behind the date, so that "(aside) see http://…" is no turn of somebody called "see http".
_TURN = re.compile(r"\((?P<date>[^()\n]*)\)(?P<speaker>[^\s:][^:\n]{0,59}):(?=\s|\Z)(?P<said>.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Turn:
    """One line of a memory's text."""

    text: str
    speaker: str = ""
    """"" where the line names none."""
    date_text: str = ""
    """As written; "" where the line has none."""


def turns_of(text: str) -> list[Turn]:
    """The lines that say something, in order; one that is not ``(date)Name: text`` has no speaker.

    >>> turns_of("(2023-05-08)Mel: Hi!\\nAlice works at Google")
    [Turn(text='Hi!', speaker='Mel', date_text='2023-05-08'), Turn(text='Alice works at Google', speaker='', date_text='')]
    """
    return [_turn(line) for line in text.split("\n") if line.strip()]


def _turn(line: str) -> Turn:
    match = _TURN.fullmatch(line)
    if match is None or not match["said"].strip():
        return Turn(line.strip())
    return Turn(match["said"].strip(), match["speaker"].strip(), match["date"].strip())
