"""Episodic memory: what was said and happened, verbatim, and when."""

from __future__ import annotations

from agentic_rag.memory.agents.base import StoredAgent
from agentic_rag.memory.schemas import MemoryType, RetrievalStrategy


class EpisodicAgent(StoredAgent):
    """Episodes of the temporal knowledge graph, which are the passages of what was said.

    Parameters of its own: ``after`` and ``before`` (ISO 8601) narrow a search to a time, half-open; ``speaker`` to one
    who spoke. What was said cannot be changed, only its metadata.
    """

    memory_type = MemoryType.EPISODIC
    strategies = (
        RetrievalStrategy.CONTEXT_AWARE,
        RetrievalStrategy.HYBRID,
        RetrievalStrategy.EMBEDDING,
        RetrievalStrategy.BM25,
        RetrievalStrategy.TEMPORAL,
        RetrievalStrategy.SEMANTIC_GRAPH,
        RetrievalStrategy.STRING_MATCH,
    )
    fields = ("speaker",)
