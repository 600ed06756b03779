"""What every strategy does: find candidates with one or both legs, and judge them on one scale."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence

import numpy as np

from agentic_rag.domain import Chunk
from agentic_rag.domain.odds import probability
from agentic_rag.domain.ports import (
    ChunkSearch,
    DatasetProfile,
    Embedding,
    FloatArray,
    Restriction,
    ScoredChunk,
)
from agentic_rag.retrieval.calibration import Calibration, Legs, Vectors, gather_evidence, likeness
from agentic_rag.retrieval.embedding_calibration import EmbeddingCalibration
from agentic_rag.retrieval.floor import Nats, doubt
from agentic_rag.retrieval.schemas import Leg, RetrievalResult
from agentic_rag.text import script


class BaseStrategy(ABC):
    """Searches one dataset of a chunk store.

    Args:
        store: where the chunks are.
        embedding: the model they were embedded with.
        calibration: turns cosine and BM25 into relevance in [0, 1].
        nats: tells language from gibberish; see ``floor``.
    """

    def __init__(
        self,
        store: ChunkSearch,
        embedding: Embedding,
        calibration: EmbeddingCalibration,
        nats: Nats | None = None,
    ) -> None:
        self.store = store
        self.embedding = embedding
        self.calibration = calibration
        self.nats = nats

    @abstractmethod
    async def retrieve(
        self, dataset: str, query: str, *, limit: int, restriction: Restriction
    ) -> list[RetrievalResult]:
        """Up to ``limit`` results, relevance descending, ties by chunk id; [] where nothing is found.

        Each leg looks at its first ``limit`` chunks.
        """

    async def embed(self, query: str) -> FloatArray:
        """The query's unit vector."""
        vectors = await self.embedding.embed_queries([query])
        vector: FloatArray = vectors[0]
        return vector

    async def join_results(
        self,
        dataset: str,
        question: str,
        first_results: Sequence[RetrievalResult],
        more: Sequence[RetrievalResult],
    ) -> list[RetrievalResult]:
        """The results of the question, and further results of its rewrite, judged by their cosine with the
        question.

        A question without results counts as nonsense here, so its rewrite adds nothing.
        """
        known = {result.id for result in first_results}
        new = {result.id: result for result in more if result.id not in known}
        if not first_results or not new:
            return list(first_results)
        asked = await self.embed(question)
        vectors = await self.store.get_vectors(dataset, sorted(new))
        nearest = [
            ScoredChunk(new[i].chunk, float(np.dot(vector, asked)), vector) for i, vector in vectors.items()
        ]
        nearest.sort(key=lambda scored_chunk: (-scored_chunk.score, scored_chunk.chunk.id))
        legs = {name: () for result in first_results for name in result.legs} | {"dense": nearest}
        judged = await self.judged_by_vectors(dataset, question, legs, asked, limit=len(nearest))
        alike = [RetrievalResult(result.chunk, result.score, new[result.id].legs) for result in judged]
        return sorted([*first_results, *alike], key=lambda result: (-result.score, result.id))

    async def judged_by_vectors(
        self,
        dataset: str,
        query: str,
        legs: Legs,
        query_vector: FloatArray,
        *,
        limit: int,
        is_compared: bool = False,
    ) -> list[RetrievalResult]:
        """Results of the legs, the dense one among them, best first; [] for nonsense (see ``floor``).

        Args:
            dataset, query: what is asked of what.
            legs: results of each leg by its name.
            limit: most results.
            query_vector: the query's unit vector.
            is_compared: also use each chunk's own vector and its similarity to the best chunks.
        """
        profile = await self.store.profile(dataset)
        calibration = await self.calibration.of_cosines()
        doubted = doubt(calibration, query, legs, query_vector, profile, self.nats)
        if doubted is None:
            return []
        vectors = await self._vectors(dataset, legs) if is_compared else None
        judged = judge(calibration, query, legs, profile, vectors, query_vector)
        return best_results({i: logit - doubted for i, logit in judged.items()}, legs, limit)

    async def _vectors(self, dataset: str, legs: Legs) -> Vectors:
        """Vectors of all chunks of the legs; read from the store where a leg did not return them."""
        found = {scored.chunk.id: scored.vector for leg in legs.values() for scored in leg}
        missing = [chunk_id for chunk_id, vector in found.items() if vector is None]
        read = await self.store.get_vectors(dataset, missing) if missing else {}
        return {i: vector for i, vector in found.items() if vector is not None} | read


def judge(
    calibration: Calibration,
    query: str,
    legs: Legs,
    profile: DatasetProfile | None,
    vectors: Vectors | None = None,
    query_vector: FloatArray | None = None,
) -> dict[str, float]:
    """Log-odds of relevance of each chunk of the legs, by its scores in them.

    With ``vectors`` and ``query_vector`` also by its similarity to the best chunks.
    """
    evidence = gather_evidence(query, legs, vectors, query_vector, chunks=profile.chunks if profile else None)
    logits = {chunk_id: calibration.logit(known) for chunk_id, known in evidence.items()}
    for chunk_id, alike in likeness(logits, vectors or {}).items():
        logits[chunk_id] += calibration.of_likeness(alike, script(query))
    return logits


def best_results(logits: Mapping[str, float], legs: Legs, limit: int) -> list[RetrievalResult]:
    """The ``limit`` chunks of the legs with the highest log-odds, as results with what each leg said of them."""
    said: dict[str, dict[str, Leg]] = {
        chunk_id: {} for chunk_id in sorted(logits, key=lambda i: (-logits[i], i))[:limit]
    }
    chunks: dict[str, Chunk] = {}
    for name, leg in legs.items():
        for place, scored in enumerate(leg, start=1):
            chunk = scored.chunk
            if chunk.id in said and name not in said[chunk.id]:
                chunks[chunk.id] = chunk
                said[chunk.id][name] = Leg(place, scored.score)
    results = [RetrievalResult(chunks[i], probability(logits[i]), of_legs) for i, of_legs in said.items()]
    return sorted(results, key=lambda result: (-result.score, result.id))
