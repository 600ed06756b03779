"""The parts for memory services: stores, engines and models."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from pydantic import Field

from agentic_rag.domain.ports import ChunkStore, Embedding, GraphStore, TokenCounter
from agentic_rag.memory.memories import Memories
from agentic_rag.retrieval.graph_engine import GraphEngine
from agentic_rag.settings.parameters import Section
from agentic_rag_lab.designs.memory import DEFAULT_TOP_K


class AskGraph(Protocol):
    """The compiled retrieval graph."""

    async def ainvoke(self, state: Any, config: Any = None, /, *, context: Any = None) -> dict[str, Any]:
        """Run it on the caller's keys; returns the final state."""
        ...


@dataclass(frozen=True, slots=True)
class ServiceParts:
    """The available parts; each service uses those it needs.

    The engines and the ask graph must use the same stores as ``chunks`` and ``knowledge``.
    """

    namespace: str
    """The service's own dataset in the stores; earlier contents are removed before the first write."""
    embedding: Embedding
    chunks: ChunkStore
    knowledge: GraphStore
    graph_engine: GraphEngine
    ask: AskGraph
    count_tokens: TokenCounter
    """Counts tokens of the embedding model."""
    memories: Memories | None = None
    """The product's memory agents."""
    seed: int = 0
    """Seed of a service's random numbers: the same seed gives the same memory."""


class RankedSettings(Section):
    """Settings of a service with ranked results."""

    topk: int = Field(DEFAULT_TOP_K, ge=1, description="memories given back where a call does not say")
