"""What a search returns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agentic_rag.domain import TOLD, Chunk


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


def chunk_metadata(chunk: Chunk) -> dict[str, Any]:
    """A chunk's user metadata, but what is in ``TOLD``, and its place in the source, as plain values for the state."""
    return {
        **{name: value for name, value in chunk.metadata.items() if name not in TOLD},
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
