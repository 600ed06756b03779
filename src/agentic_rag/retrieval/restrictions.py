"""What a search may return: the rule that every store's own translation of a ``Restriction`` must agree with."""

from __future__ import annotations

from agentic_rag.dates.instants import as_utc
from agentic_rag.domain import Chunk, filterable
from agentic_rag.domain.filters import matches
from agentic_rag.domain.ports import Restriction


def passes(chunk: Chunk, restriction: Restriction) -> bool:
    """Whether a restriction lets a chunk pass; what every store's translation of it must say."""
    if restriction.filters is not None and not matches(restriction.filters, filterable(chunk)):
        return False
    return restriction.as_of is None or chunk.date is None or as_utc(chunk.date) <= as_utc(restriction.as_of)
