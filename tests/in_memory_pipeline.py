"""An ingest pipeline over stores in memory, with vectors by hashing and words for tokens."""

from __future__ import annotations

from agentic_rag.ingest.documents import DocumentWriter
from agentic_rag.ingest.pipeline import IngestPipeline
from agentic_rag.stores.in_memory import InMemoryChunkStore, InMemoryLedger
from agentic_rag.stores.in_memory_graph import InMemoryGraphStore
from agentic_rag.testing import HashingEmbedding


def pipeline() -> IngestPipeline:
    """One with nothing in it."""
    embedding = HashingEmbedding()
    writer = DocumentWriter(
        InMemoryChunkStore(dimension=embedding.dimension),
        InMemoryGraphStore(embedding),
        embedding,
        lambda texts: [len(text.split()) for text in texts],
    )
    return IngestPipeline(writer, InMemoryLedger())
