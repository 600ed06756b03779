"""Compiled graphs as Mermaid text, built without stores and models."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agentic_rag.extensions import entries, load


def drawing(name: str) -> str:
    """Mermaid text of a compiled graph, built without stores and models.

    Raises:
        InputError: no such graph; the error lists the known ones.
    """
    build = _DRAWINGS.get(name) or load("drawings", name, "graph", tuple(_DRAWINGS))
    return str(build().get_graph().draw_mermaid())


def _main_graph() -> Any:
    from agentic_rag.graph import GraphParts, build_rag_graph
    from agentic_rag.retrieval.engine import RetrievalEngine
    from agentic_rag.retrieval.graph_engine import GraphEngine
    from agentic_rag.stores.in_memory import InMemoryChunkStore
    from agentic_rag.stores.in_memory_graph import InMemoryGraphStore
    from agentic_rag.testing import HashingEmbedding

    embedding = HashingEmbedding()
    chunks = InMemoryChunkStore(dimension=embedding.dimension)
    parts = GraphParts(
        GraphEngine(InMemoryGraphStore(embedding), chunks, embedding),
        RetrievalEngine(chunks, embedding),
        embedding,
    )
    return build_rag_graph(parts).compile()


def _memory_retrieval() -> Any:
    from agentic_rag.memory.orchestrator import MemoryOrchestrator
    from agentic_rag.memory.routing.router import Router

    return MemoryOrchestrator({}, Router({})).graph


_DRAWINGS: dict[str, Callable[[], Any]] = {
    "agentic_rag": _main_graph,
    "memory_retrieval": _memory_retrieval,
}
"""Functions that build the graphs of this package, by their name in ``langgraph.json``."""


def drawings() -> list[str]:
    """Names of the graphs that can be drawn: those of this package, and of ``agentic_rag.drawings``."""
    return [*_DRAWINGS, *entries("drawings")]
