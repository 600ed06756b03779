"""PreRetrieval and MemoryRetrieval, the first operators of the test graph: embed the question, search the memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from agentic_rag.settings.parameters import Section
from agentic_rag_lab.designs.memory import MemoryService, vector_of
from agentic_rag_lab.designs.operators import NoAction, OperatorTools, text_of
from agentic_rag_lab.designs.post_retrieval.operator import Data


class EmbedQuestion(Section):
    """Settings: the question's embedding is added."""

    action: Literal["embedding"] = "embedding"


PreRetrievalSettings = NoAction | EmbedQuestion
PRE_RETRIEVAL: Mapping[str, type[PreRetrievalSettings]] = {"none": NoAction, "embedding": EmbedQuestion}
"""Settings class by action."""


@dataclass(frozen=True, slots=True)
class PreRetrieval:
    """``none``: adds nothing. ``embedding``: adds ``query_embedding``, a unit vector as list of floats."""

    settings: PreRetrievalSettings
    tools: OperatorTools

    async def execute(self, data: Data) -> dict[str, Any]:
        """The question's embedding, if the action is ``embedding``.

        Raises:
            InputError: the data have no question.
            ModelError: the embedding failed.
        """
        question = text_of(data, "question")
        if isinstance(self.settings, NoAction):
            return {}
        vectors = await self.tools.embedding.embed_queries([question])
        return {"query_embedding": [float(value) for value in vectors[0]]}


@dataclass(frozen=True, slots=True)
class MemoryRetrieval:
    """Searches the memory with the question and, if PreRetrieval made one, its vector."""

    service: MemoryService
    top_k: int | None
    """Maximum number of memories, at least 1; None: the service's own default."""

    async def execute(self, data: Data) -> dict[str, Any]:
        """``memory_data``: memories in the service's order.

        Raises:
            InputError: the data have no question, or the vector does not fit the memory.
            StoreError, ModelError: the memory failed.
        """
        memories = await self.service.retrieve(
            query=text_of(data, "question"),
            vector=vector_of(data.get("query_embedding")),
            metadata=None,
            top_k=self.top_k,
        )
        return {"memory_data": memories}
