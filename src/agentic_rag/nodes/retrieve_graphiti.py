"""Search the knowledge graph: facts, entities and episodes, projected to the chunks they came from."""

from __future__ import annotations

from typing import Any

from langgraph.runtime import Runtime

from agentic_rag.domain import Findings
from agentic_rag.filters import parse_filters
from agentic_rag.instants import parse_as_of
from agentic_rag.nodes.node import Node
from agentic_rag.nodes.outcome import asked
from agentic_rag.nodes.prepare_query import DEFAULT_DATASET, whole_question
from agentic_rag.parameters import Parameters
from agentic_rag.retrieval.graph_engine import GraphEngine
from agentic_rag.state import CanvasRAGState


def retrieve_graphiti(engine: GraphEngine, defaults: Parameters) -> Node:
    """The node over a graph engine; writes ``graphiti_results`` and ``graphiti_outcome``."""

    async def node(state: CanvasRAGState, *, runtime: Runtime[Any]) -> dict[str, Any]:
        parameters = defaults.overridden(runtime.context).retrieval

        async def search() -> Findings:
            return await engine.find(
                state.get("dataset") or DEFAULT_DATASET,
                state["search_query"],
                limit=parameters.candidates,
                # Words a rewrite added help to find, but what is found is judged by the question itself.
                judged_as=whole_question(state),
                filters=parse_filters(state.get("filters")),
                as_of=parse_as_of(state.get("as_of")),
            )

        hits, outcome = await asked(search, state, parameters.timeout_seconds, ready=engine.ready)
        return {"graphiti_results": hits, "graphiti_outcome": outcome}

    return node
