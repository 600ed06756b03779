"""The graphs of memory designs as ``agentic-rag graph`` draws them: entries of ``agentic_rag.drawings``."""

from __future__ import annotations

from typing import Any

from agentic_rag_lab.designs.config import RuntimeConfig
from agentic_rag_lab.designs.graph import build_insert_graph, build_main_graph, build_test_graph
from agentic_rag_lab.designs.runs import Runs


async def _never(*_: Any) -> Any:
    raise NotImplementedError("a graph that is only drawn")


class _NoOperator:
    """A placeholder for operators in a drawing; it is never run."""

    execute = staticmethod(_never)


def memory_main() -> Any:
    return build_main_graph(Runs(_never, _never, RuntimeConfig()))


def memory_insert() -> Any:
    nothing = _NoOperator()
    return build_insert_graph(nothing, nothing, nothing)


def memory_test() -> Any:
    nothing = _NoOperator()
    return build_test_graph(nothing, nothing, nothing, nothing)
