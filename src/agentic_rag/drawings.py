"""Compiled graphs as Mermaid text, without a store or a model behind them."""

from __future__ import annotations

from collections.abc import Callable

from agentic_rag.errors import InputError


def drawing(name: str) -> str:
    """Mermaid text of a compiled graph.

    Raises:
        InputError: no such graph; the error lists the known ones.
    """
    if name not in DRAWINGS:
        raise InputError(f"unknown graph {name!r}; use one of: {', '.join(DRAWINGS)}")
    return DRAWINGS[name]()


def _main_graph() -> str:
    from agentic_rag.graph import GraphParts, build_rag_graph
    from agentic_rag.retrieval.engine import RetrievalEngine
    from agentic_rag.retrieval.graph_engine import GraphEngine
    from agentic_rag.stores.memory import InMemoryChunkStore
    from agentic_rag.stores.memory_graph import InMemoryGraphStore
    from agentic_rag.testing import HashingEmbedding

    embedding = HashingEmbedding()
    chunks = InMemoryChunkStore(dimension=embedding.dimension)
    parts = GraphParts(
        GraphEngine(InMemoryGraphStore(embedding), chunks, embedding),
        RetrievalEngine(chunks, embedding),
        embedding,
    )
    return build_rag_graph(parts).compile().get_graph().draw_mermaid()


DRAWINGS: dict[str, Callable[[], str]] = {"agentic_rag": _main_graph}
"""By the name that ``langgraph.json`` gives the graph."""
