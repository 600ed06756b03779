"""Sparse: best chunks by BM25 over title, heading path and text."""

from __future__ import annotations

from agentic_rag.domain.ports import Restriction
from agentic_rag.retrieval.schemas import RetrievalResult
from agentic_rag.retrieval.strategies.base import BaseStrategy, best_results, judge


class SparseStrategy(BaseStrategy):
    """Exact words: names, numbers, identifiers."""

    async def retrieve(
        self, dataset: str, query: str, *, limit: int, restriction: Restriction
    ) -> list[RetrievalResult]:
        found = await self.store.search_sparse(dataset, query, limit=limit, restriction=restriction)
        profile = await self.store.profile(dataset)
        legs = {"sparse": found}
        return best_results(judge(self.calibration.of_words, query, legs, profile), legs, limit)
