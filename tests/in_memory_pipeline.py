"""An ingest pipeline over stores in memory, with vectors by hashing and words for tokens, and what its report says."""

from __future__ import annotations

from agentic_rag.ingest.documents import DocumentWriter
from agentic_rag.ingest.pipeline import IngestPipeline, IngestReport
from agentic_rag.stores.in_memory import InMemoryChunkStore, InMemoryLedger
from agentic_rag.stores.in_memory_graph import InMemoryGraphStore
from agentic_rag.testing import HashingEmbedding
from word_counts import count_words


def pipeline() -> IngestPipeline:
    """One with nothing in it."""
    embedding = HashingEmbedding()
    writer = DocumentWriter(
        InMemoryChunkStore(dimension=embedding.dimension),
        InMemoryGraphStore(embedding),
        embedding,
        count_words,
    )
    return IngestPipeline(writer, InMemoryLedger())


def actions(report: IngestReport) -> dict[str, str]:
    """What was done with each file, by its path."""
    return {file.path: file.action for file in report.files}
