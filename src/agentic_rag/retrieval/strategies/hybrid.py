"""Hybrid: both legs at the same time, judged together."""

from __future__ import annotations

import asyncio

from agentic_rag.ports import Restriction, ScoredChunk
from agentic_rag.retrieval.schemas import RetrievalResult
from agentic_rag.retrieval.strategies.base import BaseStrategy


class HybridStrategy(BaseStrategy):
    """Dense and sparse in parallel; a chunk that one leg missed is judged by the other alone."""

    async def retrieve(
        self, dataset: str, query: str, *, limit: int, restriction: Restriction
    ) -> list[RetrievalResult]:
        dense, sparse = await asyncio.gather(
            self._dense(dataset, query, limit, restriction),
            self.store.search_sparse(dataset, query, limit=limit, restriction=restriction),
        )
        return self.judged(query, {"dense": dense, "sparse": sparse}, limit)

    async def _dense(
        self, dataset: str, query: str, limit: int, restriction: Restriction
    ) -> list[ScoredChunk]:
        vector = await self.embed(query)
        return await self.store.search_dense(dataset, vector, limit=limit, restriction=restriction)
