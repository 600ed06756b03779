"""Memories for tests, on in-memory stores or on given ones."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from agentic_rag.domain.ports import ChunkStore, Embedding, GraphStore
from agentic_rag.memory.agents import AGENTS
from agentic_rag.memory.memories import Memories
from agentic_rag.memory.reading.reader import RuleStatements
from agentic_rag.memory.routing.router import Router
from agentic_rag.memory.searching import SearchParts
from agentic_rag.memory.store import MemoryStore, Turn, Upkeep
from agentic_rag.memory.writing import StatementReader
from agentic_rag.retrieval.embedding_calibration import EmbeddingCalibration
from agentic_rag.retrieval.engine import RetrievalEngine
from agentic_rag.retrieval.graph_engine import GraphEngine
from agentic_rag.stores.in_memory import InMemoryChunkStore
from agentic_rag.stores.in_memory_graph import InMemoryGraphStore
from agentic_rag.testing import HashingEmbedding
from word_counts import count_words


def turns() -> Turn:
    """One at a time a dataset, in this event loop."""
    locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    @asynccontextmanager
    async def turn(dataset: str) -> AsyncIterator[None]:
        async with locks[dataset]:
            yield

    return turn


def opened(reader: StatementReader | None = None) -> Memories:
    """Empty memories that read by rules."""
    embedding = HashingEmbedding()
    chunks, graph = InMemoryChunkStore(dimension=embedding.dimension), InMemoryGraphStore(embedding)
    return memories_on(embedding, chunks, graph, reader)


def memories_on(
    embedding: Embedding,
    chunks: ChunkStore,
    graph: GraphStore,
    reader: StatementReader | None = None,
    data: Path | None = None,
) -> Memories:
    """Memories on given stores; ``data``: folder for the notes of calls under way."""
    calibration = EmbeddingCalibration(embedding)
    store = MemoryStore(chunks, graph, embedding, count_words, Upkeep(turns()), data=data)
    engines = (
        RetrievalEngine(chunks, embedding, calibration),
        GraphEngine(graph, chunks, embedding, calibration),
    )
    router = Router({agent.memory_type: agent.strategies for agent in AGENTS}, None)
    return Memories(SearchParts(store, *engines), reader or RuleStatements(), router)
