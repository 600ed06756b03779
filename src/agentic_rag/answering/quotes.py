"""What an answer quotes: a unit of a result, verbatim, and the card that a verification board makes of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from agentic_rag.domain.results import Passage
from agentic_rag.notes.units import Unit

CardKind = Literal[
    "definition", "relation", "row", "steps", "members", "property", "amount", "name", "memory"
]


@dataclass(frozen=True, slots=True)
class Card:
    """A question and its answer."""

    asks: str
    answer: str
    kind: CardKind


@dataclass(frozen=True, slots=True)
class Quote:
    """A unit of a result, verbatim: ``result["content"][start:end] == text``."""

    text: str
    start: int
    end: int
    result: Passage
    score: float
    """Order of the quotes of one question, higher is better."""
    order: int
    """Position of its result in the final ranking, from 0."""
    unit: Unit
    card: Card | None = None
    """What a verification board asks of it."""

    @classmethod
    def of(cls, unit: Unit, result: Passage, score: float = 0.0, order: int = 0) -> Quote:
        """The quote of a unit of the result's content."""
        return cls(result["content"][unit.start : unit.end], unit.start, unit.end, result, score, order, unit)

    @property
    def note(self) -> Any:
        """The key of the quote's note."""
        return self.result["metadata"].get("document_id", self.result["id"])
