"""The parts of a memory service, all in memory."""

from __future__ import annotations

from typing import Any

import pytest

from agentic_rag.stores.in_memory import InMemoryChunkStore
from agentic_rag.stores.in_memory_graph import InMemoryGraphStore
from agentic_rag.testing import FakeGraphEngine, HashingEmbedding
from agentic_rag_lab.designs.services.parts import ServiceParts
from user_memories import opened
from word_counts import count_words


class Silent:
    """A graph that finds nothing."""

    async def ainvoke(self, state: Any, config: Any = None, /, *, context: Any = None) -> dict[str, Any]:
        return {"reranked_results": []}


@pytest.fixture
def embedding() -> HashingEmbedding:
    return HashingEmbedding()


@pytest.fixture
def parts(embedding: HashingEmbedding) -> ServiceParts:
    return ServiceParts(
        namespace="memory",
        embedding=embedding,
        chunks=InMemoryChunkStore(dimension=embedding.dimension),
        knowledge=InMemoryGraphStore(embedding),
        graph_engine=FakeGraphEngine(),
        ask=Silent(),
        count_tokens=count_words,
        memories=opened(),
    )
