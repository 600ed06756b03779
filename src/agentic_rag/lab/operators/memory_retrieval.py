"""MemoryRetrieval, second of the test graph: what the memory has for the question."""

from __future__ import annotations

from typing import Any

from agentic_rag.domain.memory import DEFAULT_TOP_K, MemoryService, vector_of
from agentic_rag.errors import ConfigError
from agentic_rag.lab.operators.pre_retrieval import question_of
from agentic_rag.post_retrieval.operator import Data


class MemoryRetrieval:
    """Asks the memory with the question and, where PreRetrieval made one, its vector.

    Args:
        service: the memory.
        top_k: most memories, at least 1; None: the service's own default.

    Raises:
        ConfigError: ``top_k`` below 1.
    """

    def __init__(self, service: MemoryService, top_k: int | None = DEFAULT_TOP_K) -> None:
        if top_k is not None and top_k < 1:
            raise ConfigError(f"runtime.top_k must be at least 1, not {top_k}")
        self._service = service
        self._top_k = top_k

    async def execute(self, data: Data) -> dict[str, Any]:
        """``memory_data``: memories in the service's order.

        Raises:
            InputError: data without a question, or a vector that does not fit the memory.
            StoreError, ModelError: the memory failed.
        """
        memories = await self._service.retrieve(
            query=question_of(data),
            vector=vector_of(data.get("query_embedding")),
            metadata=None,
            top_k=self._top_k,
        )
        return {"memory_data": memories}
