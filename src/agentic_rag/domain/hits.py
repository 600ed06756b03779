"""What the sources find: hits of the graph's search, findings, and hits as the state holds them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from typing_extensions import TypedDict

HitKind = Literal["node", "edge", "episode", "community", "document"]


@dataclass(frozen=True, slots=True)
class GraphHit:
    """One thing the graph's search found, before it is projected to chunks."""

    kind: Literal["node", "edge", "episode", "community"]
    id: str
    """Graphiti uuid."""
    name: str
    """Entity name, relation name, or chunk id of an episode."""
    text: str
    """Fact sentence, entity summary or name, episode content."""
    rank: int
    """From 1, within its kind, as Graphiti's own reranker ordered it."""
    cosine: float | None
    """Cosine of query and fact / name / passage in [-1, 1]; None where no vector was compared."""
    bm25: float | None
    chunk_ids: tuple[str, ...]
    """Chunks of the episodes it came from, in id order; empty for a thing without an episode."""
    source_name: str | None = None
    target_name: str | None = None
    valid_at: datetime | None = None
    invalid_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Findings:
    """What one source found for a question."""

    hits: list[Hit]
    """Best first."""
    question: dict[str, Any]
    """What the source knows of the question itself: ``names`` and ``telling`` of the graph, ``familiarity`` of the
    vector store. Plain values."""


class Hit(TypedDict):
    """One source's result, projected to the chunk it supports. Plain JSON values."""

    id: str
    """Chunk id; the thing's own uuid where the graph names no chunk."""
    content: str
    type: str
    """``node``, ``edge``, ``episode``, ``community`` or ``document``."""
    rank: int
    """From 1 within the source."""
    score: float | None
    """The source's own, higher is better; None where it gave none."""
    metadata: dict[str, Any]
    """The chunk's place in its source and the note's own properties; nothing else."""
    evidence: dict[str, Any]
    """What the source's judgement rests on: ``legs`` and ``tokens`` of the vector store, ``walk`` and
    ``entities`` of the graph."""
    facts: list[dict[str, Any]]
    """What of the graph supports it."""
