"""From what the graph found to chunks: facts, entities and episodes become evidence on one identity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from agentic_rag.domain import Chunk, GraphHit, Hit, search_text
from agentic_rag.odds import log_odds, log_visits, probability
from agentic_rag.retrieval.calibration import Calibration, Evidence
from agentic_rag.retrieval.schemas import chunk_metadata
from agentic_rag.text import content_tokens, coverage, script, script_beside

MAX_FACTS = 5
"""Facts kept as evidence on one chunk, best first."""
WALK, UNJUDGED = 2.0, 3.0
"""In log-odds; chosen on the first halves of hotpot, musique and 2wiki."""


@dataclass(slots=True)
class _Support:
    """What the graph says of one chunk, while it is collected."""

    facts: list[GraphHit] = field(default_factory=list)
    entities: list[GraphHit] = field(default_factory=list)
    episode: GraphHit | None = None


@dataclass(frozen=True, slots=True)
class Passages:
    """Chunks by id, and the cosine of the question with each of them, where it could be taken."""

    chunks: Mapping[str, Chunk]
    cosines: Mapping[str, float]


class Projection:
    """What one search of the graph found, as hits on chunks.

    A chunk's score is the calibrated relevance, in [0, 1], of its own cosine together with its episode's
    BM25. Without its own cosine that of its best fact stands for it; the BM25 alone where no fact supports
    it; an entity alone supports the chunks that mention it as the least similar fact would.

    Args:
        query: what was searched for.
        found: the graph's hits.
        calibration: turns cosine and BM25 into relevance.
        cosines: of the query and each chunk, by chunk id; empty where the passages could not be compared.
        doubt: taken from every score, in log-odds; see ``floor``.
        chunks: how many the dataset has, where that is known.
    """

    def __init__(
        self,
        query: str,
        found: Sequence[GraphHit],
        calibration: Calibration,
        cosines: Mapping[str, float],
        doubt: float = 0.0,
        chunks: int | None = None,
    ) -> None:
        self._found = found
        self._calibration = calibration
        self._cosines = cosines
        self._doubt = doubt
        self._chunks = chunks
        self._best = _Best.of(found, list(cosines.values()))
        self._asked_in, self._asked = script(query), frozenset(content_tokens(query))

    def hits(self, chunks: Mapping[str, Chunk]) -> list[Hit]:
        """Best first, each chunk once; a graph thing without a chunk stays a hit of its own.

        ``chunks``: those among the found that exist; others are dropped (they were just removed).
        """
        supports: dict[str, _Support] = {}
        alone: list[Hit] = []
        for hit in self._found:
            if not hit.chunk_ids:
                alone.append(self._standalone(hit))
            for chunk_id in hit.chunk_ids:
                if chunk_id in chunks:
                    _add(supports.setdefault(chunk_id, _Support()), hit)
        hits = [self._hit(chunks[chunk_id], support) for chunk_id, support in supports.items()]
        return _ranked([*hits, *alone])

    def joined(self, hits: Sequence[Hit], more: Passages) -> list[Hit]:
        """The hits and passages that other words found besides, judged by the question's cosine."""
        return _ranked([*hits, *self._others(hits, more)])

    def walked(self, hits: Sequence[Hit], reached: Passages, visits: Mapping[str, float]) -> list[Hit]:
        """The hits and what a walk reached besides, in a new order; the hits as they are without a walk.

        A passage's log-odds fall by WALK for each natural logarithm by which it is visited less than the
        most visited. ``metadata["walk"]`` holds the visits, in [0, 1].

        Args:
            hits: see ``hits``.
            reached: passages that are no hits.
            visits: by chunk id, in (0, 1]; see ``PassageGraph.visits``.
        """
        if not visits:
            return list(hits)
        return _ranked([_moved(hit, visits) for hit in [*hits, *self._others(hits, reached)]])

    def _others(self, hits: Sequence[Hit], others: Passages) -> list[Hit]:
        """Passages that are no hits yet, as hits. One that nothing can judge starts UNJUDGED above the least."""
        known = {hit["id"] for hit in hits}
        lowest = min((hit["score"] for hit in hits if hit["score"] is not None), default=0.0)
        found = []
        for chunk in others.chunks.values():
            if chunk.id in known:
                continue
            hit = self._hit(chunk, _Support(), others.cosines.get(chunk.id))
            if chunk.id not in others.cosines:
                hit["score"] = probability(log_odds(lowest) + UNJUDGED)
            found.append(hit)
        return found

    def _hit(self, chunk: Chunk, support: _Support, own: float | None = None) -> Hit:
        own = self._cosines.get(chunk.id, own)
        cosines = [hit.cosine for hit in support.facts if hit.cosine is not None]
        if support.episode is not None and support.episode.cosine is not None:
            cosines.append(support.episode.cosine)
        cosine = own if own is not None else max(cosines, default=None)
        evidence = Evidence(
            cosine=cosine,
            bm25=support.episode.bm25 if support.episode is not None else None,
            # Episodes have no vectors: one that no fact supports is judged by its words alone.
            best_cosine=None if cosine is None and support.episode is not None else self._best.cosine,
            best_bm25=self._best.bm25,
            worst_cosine=self._best.worst_cosine,
            scripts=(self._asked_in, script_beside(self._asked_in, chunk.text)),
            chunks=self._chunks,
            coverage=coverage(self._asked, search_text(chunk)) if cosine is None else None,
        )
        kind = "edge" if support.facts else "episode" if support.episode is not None else "node"
        return {
            "id": chunk.id,
            "content": chunk.text,
            "type": kind,
            "rank": 0,
            "score": probability(self._calibration.logit(evidence) - self._doubt),
            "metadata": {**chunk_metadata(chunk), "entities": sorted({hit.name for hit in support.entities})},
            "facts": [_fact(hit) for hit in support.facts[:MAX_FACTS]],
        }

    def _standalone(self, hit: GraphHit) -> Hit:
        scripts = (self._asked_in, script_beside(self._asked_in, hit.text))
        odds = None if hit.cosine is None else log_odds(self._calibration.of_cosine(hit.cosine, scripts))
        return {
            "id": hit.id,
            "content": hit.text,
            "type": hit.kind,
            "rank": 0,
            "score": None if odds is None else probability(odds - self._doubt),
            "metadata": {"name": hit.name},
            "facts": [_fact(hit)] if hit.kind == "edge" else [],
        }


def _ranked(hits: Sequence[Hit]) -> list[Hit]:
    ordered = sorted(hits, key=lambda hit: (-(hit["score"] or 0.0), hit["id"]))
    return [{**hit, "rank": rank} for rank, hit in enumerate(ordered, start=1)]


def _moved(hit: Hit, visits: Mapping[str, float]) -> Hit:
    """A hit after the walk; a graph thing without a chunk is no place to walk to, and stays."""
    if "document_id" not in hit["metadata"]:
        return hit
    share = visits.get(hit["id"], 0.0)
    odds = log_odds(hit["score"] or 0.0) + WALK * log_visits(share)
    return {**hit, "score": probability(odds), "metadata": {**hit["metadata"], "walk": share}}


@dataclass(frozen=True, slots=True)
class _Best:
    cosine: float
    bm25: float
    worst_cosine: float | None

    @classmethod
    def of(cls, found: Sequence[GraphHit], of_passages: Sequence[float]) -> _Best:
        cosines = list(of_passages) or [
            hit.cosine for hit in found if hit.kind in ("edge", "episode") and hit.cosine is not None
        ]
        bm25s = [hit.bm25 for hit in found if hit.kind == "episode" and hit.bm25 is not None]
        # The graph's words are always searched: where none was found, that is evidence too.
        return cls(max(cosines, default=0.0), max(bm25s, default=0.0), min(cosines, default=None))


def _add(support: _Support, hit: GraphHit) -> None:
    if hit.kind == "edge":
        support.facts.append(hit)
    elif hit.kind == "episode":
        support.episode = hit
    else:
        support.entities.append(hit)


def _fact(hit: GraphHit) -> dict[str, Any]:
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
