"""What a search returns: results of the vector store, hits of the graph with the facts that support them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple, TypedDict

from agentic_rag.domain import Chunk, Metadata
from agentic_rag.domain.results import Passage


@dataclass(frozen=True, slots=True)
class Leg:
    """Where one leg ranked a chunk: rank from 1, and its own score (raw cosine, or BM25)."""

    rank: int
    score: float


class LegValues(TypedDict):
    """A ``Leg`` as JSON values."""

    rank: int
    score: float


class ResultValues(TypedDict):
    """A ``RetrievalResult`` as JSON values."""

    id: str
    content: str
    score: float
    metadata: Metadata
    legs: dict[str, LegValues]


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
    def metadata(self) -> Metadata:
        """The user's metadata, and what a citation needs (``document_id``, ``path``, ``title``, …)."""
        return chunk_metadata(self.chunk)

    def to_dict(self) -> ResultValues:
        """JSON values, as ``search --json`` and the service give them."""
        return {
            "id": self.id,
            "content": self.content,
            "score": self.score,
            "metadata": self.metadata,
            "legs": self.leg_values(),
        }

    def leg_values(self) -> dict[str, LegValues]:
        """Rank and score by leg, as JSON values."""
        return {name: {"rank": leg.rank, "score": leg.score} for name, leg in self.legs.items()}


class JudgedResults(NamedTuple):
    """What a search found and judged."""

    results: list[RetrievalResult]
    """By relevance descending, then id."""
    familiarity: float | None = None
    """Similarity of the question's tokens to those of all results together, about in [-1, 1]; None without stored
    tokens."""


def chunk_passage(chunk: Chunk) -> Passage:
    """A stored chunk as a passage that is quoted, without facts."""
    return {"id": chunk.id, "content": chunk.text, "metadata": chunk_metadata(chunk), "facts": []}


def chunk_metadata(chunk: Chunk) -> Metadata:
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
