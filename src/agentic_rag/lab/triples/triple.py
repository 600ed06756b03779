"""One remembered statement, as subject, predicate and object, and the sentence they make."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import regex

from agentic_rag.text import HAN

_BETWEEN_HAN = regex.compile(rf"(?<=[{HAN}]) (?=[{HAN}])")


class Triple(NamedTuple):
    """Who, does or is what, to what. Each part is plain text without white space around it."""

    subject: str
    predicate: str
    object: str


@dataclass(frozen=True, slots=True)
class TripleStatement:
    """A triple and where it was said."""

    triple: Triple
    turn: int | None = None
    """Place of its turn in the packet, from 0; None where that is not known."""
    sentence: str = ""
    """As said; "" where only the triple is known."""


def refactored(triple: Triple) -> str:
    """The triple in natural language: its parts with a space between, none between two Han characters.

    >>> refactored(Triple("Alice", "works at", "Google"))
    'Alice works at Google'
    """
    subject, predicate, thing = triple
    plain = f"{subject} {predicate} {thing}"
    first, second = len(subject), len(subject) + 1 + len(predicate)
    joints = {match.start() for match in _BETWEEN_HAN.finditer(plain)} & {first, second}
    return "".join(character for place, character in enumerate(plain) if place not in joints)


def distinct(statements: list[TripleStatement]) -> list[TripleStatement]:
    """Each triple once, the first time it was said; case and white space aside."""
    first: dict[str, TripleStatement] = {}
    for statement in statements:
        key = " ".join("\n".join(statement.triple).casefold().split(" "))
        first.setdefault(key, statement)
    return list(first.values())
