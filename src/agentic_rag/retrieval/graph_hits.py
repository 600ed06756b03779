"""What a search of the graph found, as hits: passages with their facts, and facts alone."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from agentic_rag.domain import Chunk, FactHit, Hit, new_hit
from agentic_rag.domain.json_values import Json
from agentic_rag.domain.results import GraphFact
from agentic_rag.retrieval.calibration import Judge
from agentic_rag.retrieval.schemas import chunk_metadata

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
