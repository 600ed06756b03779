"""The main graph as LangGraph class: one trace for a run, on the event loop of its stores; nodes can be exchanged."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from langgraph.graph import StateGraph
from langgraph.graph.state import CompiledStateGraph

from agentic_rag import tracing
from agentic_rag.domain.loops import check_loop, result_of
from agentic_rag.errors import InputError
from agentic_rag.settings.parameters import Overrides
from agentic_rag.state import CallerKeys, CanvasRAGState

Node = Callable[..., Any]
"""Takes the state, and its dependencies by keyword; returns the keys it writes."""


class RagGraph(CompiledStateGraph[CanvasRAGState, Any, CallerKeys, CanvasRAGState]):
    """The compiled main graph.

    It is a LangGraph graph like any other, with three differences. A run is one trace with one root. A run on another
    event loop than ``loop`` raises ``InputError`` at once, because stores and models would fail there one by one. And
    ``invoke`` and ``stream`` work from any thread but the loop's own.

    Args:
        loop: the event loop of its stores and models; None: any.
        pregel_arguments: what ``StateGraph.compile`` gives the class of LangGraph.
    """

    def __init__(self, *, loop: asyncio.AbstractEventLoop | None = None, **pregel_arguments: Any) -> None:
        super().__init__(**pregel_arguments)
        self.loop = loop

    if not TYPE_CHECKING:  # type checkers see the signatures of LangGraph, which these only pass on

        async def astream(self, *arguments: Any, **options: Any) -> AsyncIterator[Any]:
            check_loop(self.loop)
            parts = tracing.trace_parts("invoke_workflow", self.name, super().astream(*arguments, **options))
            async with aclosing(parts):
                async for part in parts:
                    yield part

        def invoke(self, *arguments: Any, **options: Any) -> Any:
            return result_of(self.ainvoke(*arguments, **options), self.loop)

        def stream(self, *arguments: Any, **options: Any) -> Iterator[Any]:
            parts = self.astream(*arguments, **options)
            try:
                while True:
                    yield result_of(anext(parts), self.loop)
            except StopAsyncIteration:
                return
            finally:
                result_of(parts.aclose(), self.loop)


class RagStateGraph(StateGraph[CanvasRAGState, Any, CallerKeys, CanvasRAGState]):
    """The uncompiled main graph, whose nodes can be replaced and added to before it is compiled.

    Args:
        loop: see ``RagGraph``.
        adapt: gives an added node the state with whole lists.
        state: ``CanvasRAGState``, or a type with further keys.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop | None,
        adapt: Callable[[Node], Node],
        state: type[CanvasRAGState] = CanvasRAGState,
    ) -> None:
        super().__init__(state, context_schema=Overrides, input_schema=CallerKeys)
        self.loop = loop
        self._adapt = adapt

    def replace_node(self, name: str, node: Node) -> None:
        """Run another function instead of a node, with the same edges.

        Args:
            name: of the node.
            node: takes the state, whose hits and results are whole; returns the keys that the node writes (see
                docs/state.md). A coroutine function or a plain one.

        Raises:
            InputError: the graph has no node of that name.
        """
        self._require(name)
        del self.nodes[name]
        self.add_node(name, self._adapt(node), input_schema=self.state_schema)

    def insert_node(self, name: str, node: Node, *, after: str) -> None:
        """Run a function between a node and what follows it.

        Args:
            name: of the new node.
            node: as in ``replace_node``; it may write any key of the state.
            after: the node whose edges the new one takes over.

        Raises:
            InputError: the graph has no node ``after``, or has a node ``name``.
        """
        self._require(after)
        if name in self.nodes:
            raise InputError(f"the graph has a node {name!r} already; use another name, or replace_node")
        self.add_node(name, self._adapt(node), input_schema=self.state_schema)
        self.edges = {(name if start == after else start, end) for start, end in self.edges}
        if after in self.branches:
            self.branches[name] = self.branches.pop(after)
        self.add_edge(after, name)

    def _require(self, name: str) -> None:
        if name not in self.nodes:
            raise InputError(f"the graph has no node {name!r}; its nodes are: {', '.join(self.nodes)}")

    def compile(self, *arguments: Any, **options: Any) -> RagGraph:
        """As ``StateGraph.compile``."""
        compiled = vars(super().compile(*arguments, **options))
        parts = {name: value for name, value in compiled.items() if name != "__orig_class__"}
        return RagGraph(loop=self.loop, **parts)
