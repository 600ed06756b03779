"""Compiled graphs as Mermaid text, without a store or a model behind them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

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
    return build_rag_graph(parts).compile().get_graph().draw_mermaid()


class _NoOperator:
    """Stands where a drawing needs an operator; it is never run."""

    async def execute(self, data: Mapping[str, Any]) -> dict[str, Any]:
        raise NotImplementedError


def _memory_main() -> str:
    from agentic_rag.lab.graph import build_main_graph
    from agentic_rag.lab.runs import Runs

    async def unused(*_: Any) -> Any:
        raise NotImplementedError

    return build_main_graph(Runs(unused, unused)).get_graph().draw_mermaid()


def _memory_insert() -> str:
    from agentic_rag.lab.graph import build_insert_graph

    nothing = _NoOperator()
    return build_insert_graph(nothing, nothing, nothing).get_graph().draw_mermaid()


def _memory_test() -> str:
    from agentic_rag.lab.graph import build_test_graph

    nothing = _NoOperator()
    return build_test_graph(nothing, nothing, nothing, nothing).get_graph().draw_mermaid()


DRAWINGS: dict[str, Callable[[], str]] = {
    "agentic_rag": _main_graph,
    "memory_main": _memory_main,
    "memory_insert": _memory_insert,
    "memory_test": _memory_test,
}
"""By the name that ``langgraph.json`` gives the graph."""
