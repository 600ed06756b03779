"""What fusion returns: ``UnifiedResult``, and by re-export the readers of what the sources return.

Neither Graphiti nor LanceDB is imported; their results are read by their fields.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, make_dataclass
from typing import Any, cast

from agentic_rag.domain import Hit
from agentic_rag.errors import InputError
from agentic_rag.fusion.hits import LanceDBResults, plain, read_hits, read_lancedb
from agentic_rag.fusion.search_results import GraphitiResults, SearchResultsLike, read_graphiti

__all__ = [
    "GraphitiResults",
    "Hit",
    "LanceDBResults",
    "SearchResultsLike",
    "UnifiedResult",
    "plain",
    "read_graphiti",
    "read_hits",
    "read_lancedb",
]


@dataclass(frozen=True, slots=True)
class UnifiedResult:
    """One chunk (or a graph thing without a chunk) with all that every source said about it.

    Order among results is total: ``fused_score`` descending, then ``id`` ascending.
    """

    id: str
    content: str
    source: str
    """Sorted names of the sources that found it, joined by ``+``."""
    type: str
    original_score: float | None
    """Raw score of the source that ranks it best (at equal rank one that has a score, then by name);
    None where that source gave none. Never invented."""
    rrf_score: float = 0.0
    """Σ weight / (k + rank) where the strategy computed it, else 0."""
    metadata: dict[str, Any] = field(default_factory=dict)
    fused_score: float = 0.0
    """What the strategy sorted by; ranks within one list, judges nothing."""
    rerank_score: float | None = None
    tier: int | None = None
    """Cascade only: 1 if the graph found it, 2 if only the vector store did."""
    sources: dict[str, dict[str, Any]] = field(default_factory=dict)
    """By source: ``rank``, ``raw`` score, ``normalised`` score, ``weight``.
    ``fused_score`` is Σ weight · normalised."""
    facts: list[dict[str, Any]] = field(default_factory=list)
    evidence: dict[str, Any] = field(default_factory=dict)
    """What the sources' judgements rest on (see ``Hit``), all in one."""

    def to_dict(self) -> dict[str, Any]:
        """A deep copy of plain JSON values, for graph state; ``from_dict`` reads it back."""
        return {name: plain(getattr(self, name)) for name in _FIELDS}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> UnifiedResult:
        """The result that ``to_dict`` wrote. Raises ``InputError`` on a missing or an unknown field."""
        unknown = sorted(set(values) - set(_FIELDS))
        missing = [name for name in _FIELDS[:5] if name not in values]
        if unknown or missing:
            raise InputError(
                f"this is no UnifiedResult: missing {missing or 'nothing'}, unknown {unknown or 'nothing'}"
            )
        return cls(**{name: plain(value) for name, value in values.items()})


_FIELDS = tuple(entry.name for entry in fields(UnifiedResult))
_Unfrozen: Any = make_dataclass("_Unfrozen", _FIELDS, slots=True)


def unified(*values: Any) -> UnifiedResult:
    """``UnifiedResult(*values)``, every field given, four times as fast.

    A frozen dataclass sets each field through ``object.__setattr__``, which took a third of a fusion's
    time. So the same slots are filled unfrozen and then change their class.
    """
    result = _Unfrozen(*values)
    result.__class__ = UnifiedResult
    return cast(UnifiedResult, result)
