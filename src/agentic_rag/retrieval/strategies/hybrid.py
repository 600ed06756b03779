"""Hybrid: both legs at the same time, judged together."""

from __future__ import annotations

import asyncio

from agentic_rag.domain.ports import Restriction
from agentic_rag.retrieval.schemas import RetrievalResult
from agentic_rag.retrieval.strategies.base import BaseStrategy


class HybridStrategy(BaseStrategy):
    """Dense and sparse in parallel; a chunk that one leg missed is judged by its vector all the same."""

    async def retrieve(
        self, dataset: str, query: str, *, limit: int, restriction: Restriction
    ) -> list[RetrievalResult]:
        asked = await self.embed(query)
        dense, sparse = await asyncio.gather(
            self.store.search_dense(dataset, asked, limit=limit, restriction=restriction),
            self.store.search_sparse(dataset, query, limit=limit, restriction=restriction),
        )
        legs = {"dense": dense, "sparse": sparse}
        return await self.judged_by_vectors(dataset, query, legs, asked, limit=limit, is_compared=True)
