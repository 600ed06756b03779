"""Dense: nearest chunks by cosine between the question's vector and the chunks'."""

from __future__ import annotations

from agentic_rag.domain.ports import Restriction
from agentic_rag.retrieval.schemas import RetrievalResult
from agentic_rag.retrieval.strategies.base import BaseStrategy


class DenseStrategy(BaseStrategy):
    """Meaning across wordings and languages."""

    async def retrieve(
        self, dataset: str, query: str, *, limit: int, restriction: Restriction
    ) -> list[RetrievalResult]:
        vector = await self.embed(query)
        dense = await self.store.search_dense(dataset, vector, limit=limit, restriction=restriction)
        return await self.judged_by_vectors(dataset, query, {"dense": dense}, vector, limit=limit)
