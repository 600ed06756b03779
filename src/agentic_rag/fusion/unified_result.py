"""``UnifiedResult``, which the public fusion functions return."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, cast

from agentic_rag.domain.results import GraphFact, Result, SourceScores
from agentic_rag.errors import InputError
from agentic_rag.fusion.hits import plain


@dataclass(frozen=True, slots=True)
class UnifiedResult:
    """A ``domain.results.Result``, whose fields it has, for callers of the fusion functions; frozen."""

    id: str
    content: str
    source: str
    type: str
    original_score: float | None
    rrf_score: float = 0.0
    metadata: Mapping[str, Any] = field(default_factory=dict)
    fused_score: float = 0.0
    rerank_score: float | None = None
    tier: int | None = None
    sources: dict[str, SourceScores] = field(default_factory=dict)
    facts: list[GraphFact] = field(default_factory=list)
    evidence: Mapping[str, Any] = field(default_factory=dict)

    def to_dict(self) -> Result:
        """A deep copy of plain JSON values; ``from_dict`` reads it back."""
        return cast(Result, {name: plain(getattr(self, name)) for name in _FIELDS})

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


def as_unified(results: list[Result]) -> list[UnifiedResult]:
    """The results as the public functions return them."""
    return [UnifiedResult(**result) for result in results]
