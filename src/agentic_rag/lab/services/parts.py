"""What a memory service may be built of: the stores, engines and models that are handed in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from pydantic import Field

from agentic_rag.domain.memory import DEFAULT_TOP_K
from agentic_rag.domain.ports import ChunkStore, Embedding, GraphStore, TokenCounter
from agentic_rag.memory.memories import Memories
from agentic_rag.retrieval.graph_engine import GraphEngine
from agentic_rag.settings.parameters import Section


class AskGraph(Protocol):
    """The whole compiled retrieval graph."""

    async def ainvoke(self, state: Any, config: Any = None, /, *, context: Any = None) -> dict[str, Any]:
        """Run it on the caller's keys; the state at the end."""
        ...


@dataclass(frozen=True, slots=True)
class ServiceParts:
    """What there is to build services of; each takes what it needs.

    The engines and the ask graph must stand on the same stores as ``chunks`` and ``knowledge``.
    """

    namespace: str
    """Dataset of its own in the stores; what it holds from before is removed before the first write."""
    embedding: Embedding
    chunks: ChunkStore
    knowledge: GraphStore
    graph_engine: GraphEngine
    ask: AskGraph
    count_tokens: TokenCounter
    """Tokens of the embedding model."""
    memories: Memories | None = None
    """The product's memory agents."""
    seed: int = 0
    """Of what a service draws at random: the same seed, the same memory."""


class RankedSettings(Section):
    """Of a service that ranks what it gives back."""

    topk: int = Field(DEFAULT_TOP_K, ge=1, description="memories given back where a call does not say")
