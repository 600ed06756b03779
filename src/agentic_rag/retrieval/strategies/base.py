"""What every strategy does: find candidates with one or both legs, and judge them on one scale."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from agentic_rag.domain import search_text
from agentic_rag.ports import ChunkStore, Embedding, FloatArray, Restriction, ScoredChunk
from agentic_rag.retrieval.calibration import Calibration, Evidence
from agentic_rag.retrieval.schemas import Leg, RetrievalResult
from agentic_rag.text import content_tokens, coverage, script


class BaseStrategy(ABC):
    """Searches one dataset of a chunk store.

    Args:
        store: where the chunks are.
        embedding: the model they were embedded with.
        calibration: turns cosine and BM25 into relevance in [0, 1].
    """

    def __init__(self, store: ChunkStore, embedding: Embedding, calibration: Calibration) -> None:
        self.store = store
        self.embedding = embedding
        self.calibration = calibration

    @abstractmethod
    async def retrieve(
        self, dataset: str, query: str, *, limit: int, restriction: Restriction
    ) -> list[RetrievalResult]:
        """Up to ``limit`` results, relevance descending, ties by chunk id; [] where nothing is found."""

    async def embed(self, query: str) -> FloatArray:
        """The query's unit vector."""
        vectors = await self.embedding.embed_queries([query])
        vector: FloatArray = vectors[0]
        return vector

    def judged(self, query: str, legs: dict[str, Sequence[ScoredChunk]], limit: int) -> list[RetrievalResult]:
        """Results of the legs as one list, each chunk once, judged by what the legs say of it."""
        found = {
            name: {scored.chunk.id: Leg(rank, scored.score) for rank, scored in enumerate(leg, start=1)}
            for name, leg in legs.items()
        }
        chunks = {scored.chunk.id: scored.chunk for leg in legs.values() for scored in leg}
        # A leg that ran and found nothing is evidence too: its best is 0, not unknown.
        best = {
            name: max((leg.score for leg in leg_of.values()), default=0.0) for name, leg_of in found.items()
        }
        query_script, asked = script(query), frozenset(content_tokens(query))
        results = []
        for chunk_id, chunk in chunks.items():
            said = {name: leg_of[chunk_id] for name, leg_of in found.items() if chunk_id in leg_of}
            evidence = Evidence(
                cosine=said["dense"].score if "dense" in said else None,
                bm25=said["sparse"].score if "sparse" in said else None,
                best_cosine=best.get("dense"),
                best_bm25=best.get("sparse"),
                worst_cosine=legs["dense"][-1].score if legs.get("dense") else None,
                scripts=(query_script, script(chunk.text[:400])),
                coverage=None if "dense" in legs else coverage(asked, search_text(chunk)),
            )
            results.append(RetrievalResult(chunk, self.calibration.relevance(evidence), said))
        return sorted(results, key=lambda result: (-result.score, result.id))[:limit]
