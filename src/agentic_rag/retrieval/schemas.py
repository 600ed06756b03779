"""What a search returns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from agentic_rag.domain import Chunk


@dataclass(frozen=True, slots=True)
class Leg:
    """Where one leg ranked a chunk: rank from 1, and its own score (raw cosine, or BM25)."""

    rank: int
    score: float


@dataclass(frozen=True, slots=True)
class RetrievalResult:
    """A chunk with its relevance.

    ``score`` is calibrated relevance in [0, 1], higher is better, comparable between queries and
    strategies; results are ordered by it, then by chunk id. ``legs`` holds what each leg that found
    the chunk said of it.
    """

    chunk: Chunk
    score: float
    legs: Mapping[str, Leg]
    tokens: float | None = None
    """How near its tokens come to the question's, about in [-1, 1]; None where they were not compared."""

    @property
    def id(self) -> str:
        return self.chunk.id

    @property
    def content(self) -> str:
        return self.chunk.text

    @property
    def metadata(self) -> dict[str, Any]:
        """The user's metadata, and what a citation needs (``document_id``, ``path``, ``title``, …)."""
        return chunk_metadata(self.chunk)


class Judged(NamedTuple):
    """What a search found and judged."""

    results: list[RetrievalResult]
    """By relevance descending, then id."""
    familiarity: float | None = None
    """How near the question's tokens come to those of all results together, about in [-1, 1]; None where none are
    stored."""


def chunk_metadata(chunk: Chunk) -> dict[str, Any]:
    """A chunk's user metadata and its place in the source, as plain values for the state."""
    return {
        **chunk.metadata,
        "document_id": chunk.document_id,
        "path": chunk.path,
        "title": chunk.title,
        "heading_path": list(chunk.heading_path),
        "start": chunk.start,
        "end": chunk.end,
        "ordinal": chunk.ordinal,
        "kind": chunk.kind,
        "date": chunk.date.isoformat() if chunk.date is not None else None,
        "url": chunk.url,
    }


class Linked(NamedTuple):
    """A chunk that mentions what another one mentions."""

    chunk: Chunk
    strength: float
    """Of the link, in (0, 1]; see ``PassageGraph.linked``."""
    relevance: float
    """Of the chunk for the question, in [0, 1], by its cosine; 0 where its vector cannot be read."""
