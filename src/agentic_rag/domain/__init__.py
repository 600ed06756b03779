"""The words every stage shares: documents, chunks, the graph derived from them, hits. All are frozen values."""

from agentic_rag.domain.documents import (
    Block,
    BlockKind,
    Chunk,
    Document,
    DocumentGraph,
    Entity,
    Fact,
    Link,
    Mention,
    Metadata,
    Relation,
    filterable,
    result_text,
    search_text,
)
from agentic_rag.domain.hits import Findings, GraphHit, Hit, HitKind

__all__ = [
    "Block",
    "BlockKind",
    "Chunk",
    "Document",
    "DocumentGraph",
    "Entity",
    "Fact",
    "Findings",
    "GraphHit",
    "Hit",
    "HitKind",
    "Link",
    "Mention",
    "Metadata",
    "Relation",
    "filterable",
    "result_text",
    "search_text",
]
