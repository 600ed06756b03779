"""What a search returns: results of the vector store, hits of the graph with the facts that support them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypedDict

from agentic_rag.domain import Chunk, FactHit, Hit, Metadata, new_hit
from agentic_rag.domain.json_values import Json
from agentic_rag.domain.results import GraphFact, Passage
from agentic_rag.retrieval.calibration import Judge


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


MAX_FACTS = 5
"""Facts kept as evidence on one chunk, best first."""


def hits_of(
    chunks: Mapping[str, Chunk],
    relevance: Mapping[str, float],
    visits: Mapping[str, float],
    entities: Mapping[str, Sequence[str]],
    found_facts: Sequence[FactHit],
) -> list[Hit]:
    """One hit a chunk, relevance descending, then id.

    Args:
        chunks: those that the walk visited and that may be returned, by id.
        relevance: of each, in [0, 1].
        visits: of at least these chunks, in (0, 1].
        entities: by chunk, the names of its entities that the question names.
        found_facts: each joins the hits of its chunks.
    """
    facts: dict[str, list[GraphFact]] = defaultdict(list)
    for hit in found_facts:
        for chunk_id in hit.chunk_ids:
            facts[chunk_id].append(_fact(hit))
    evidence = {i: {"walk": visits[i], "entities": list(entities[i])} for i in chunks}
    return rank_hits(
        [_hit(chunk, relevance[i], evidence[i], facts.get(i, [])) for i, chunk in chunks.items()]
    )


def _hit(chunk: Chunk, relevance: float, evidence: Json, facts: list[GraphFact]) -> Hit:
    """Of a chunk, not ranked yet."""
    return new_hit(
        chunk.id,
        chunk.text,
        "edge" if facts else "episode",
        score=relevance,
        metadata=chunk_metadata(chunk),
        evidence=evidence,
        facts=facts[:MAX_FACTS],
    )


def alone(fact: FactHit, judge: Judge) -> Hit:
    """A hit for a fact without a chunk; its relevance comes from its cosine alone."""
    score = None if fact.cosine is None else judge(fact.cosine, fact.text)
    return new_hit(fact.id, fact.text, "edge", score=score, metadata={"name": fact.name}, facts=[_fact(fact)])


def rank_hits(hits: Sequence[Hit]) -> list[Hit]:
    """The hits by score descending (without one: last), then id; ranks from 1."""
    ordered = sorted(hits, key=lambda hit: (-(hit["score"] or 0.0), hit["id"]))
    return [{**hit, "rank": rank} for rank, hit in enumerate(ordered, start=1)]


def _fact(hit: FactHit) -> GraphFact:
    return {
        "id": hit.id,
        "name": hit.name,
        "text": hit.text,
        "source": hit.source_name,
        "target": hit.target_name,
        "valid_at": hit.valid_at.isoformat() if hit.valid_at else None,
        "invalid_at": hit.invalid_at.isoformat() if hit.invalid_at else None,
        "cosine": hit.cosine,
    }
