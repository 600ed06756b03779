"""Hybrid: both legs at the same time, judged together."""

from __future__ import annotations

from agentic_rag.domain.ports import Restriction
from agentic_rag.retrieval.calibration import Legs, Vectors
from agentic_rag.retrieval.schemas import RetrievalResult
from agentic_rag.retrieval.strategies.base import BaseStrategy


class HybridStrategy(BaseStrategy):
    """Dense and sparse in parallel; a chunk that one leg missed is judged by its vector all the same."""

    async def retrieve(
        self, dataset: str, query: str, *, limit: int, restriction: Restriction
    ) -> list[RetrievalResult]:
        asked = await self.embed(query)
        dense, sparse = await self.store.search_both(
            dataset, query, asked, limit=limit, wanted=limit, restriction=restriction
        )
        legs = {"dense": dense, "sparse": sparse}
        profile = await self.store.profile(dataset)
        calibration = await self.calibration.of_cosines()
        doubted = self.doubt(calibration, profile, query, legs, asked)
        if doubted is None:
            return []
        vectors = await self._vectors(dataset, legs)
        return self.judged(
            calibration, query, legs, limit, profile, vectors=vectors, asked=asked, doubt=doubted
        )

    async def _vectors(self, dataset: str, legs: Legs) -> Vectors:
        """Of every chunk found; asked for where the store did not read them along."""
        found = {scored.chunk.id: scored.vector for leg in legs.values() for scored in leg}
        missing = [chunk_id for chunk_id, vector in found.items() if vector is None]
        read = await self.store.get_vectors(dataset, missing) if missing else {}
        return {i: vector for i, vector in found.items() if vector is not None} | read
