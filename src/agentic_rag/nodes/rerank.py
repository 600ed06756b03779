"""Put the fused results in their final order."""

from __future__ import annotations

from typing import Any

from langgraph.runtime import Runtime

from agentic_rag.nodes.node import Node
from agentic_rag.nodes.prepare_query import completed
from agentic_rag.parameters import Parameters
from agentic_rag.ports import Reranker
from agentic_rag.rerank import rerank_results
from agentic_rag.state import CanvasRAGState


def rerank(defaults: Parameters, model: Reranker | None = None) -> Node:
    """The node; writes ``reranked_results``, all fused results in a new order, each with its score.

    Args:
        defaults: parameters where a call overrides nothing.
        model: what ``rerank.method`` ``cross_encoder`` and ``chat`` use.
    """

    async def node(state: CanvasRAGState, *, runtime: Runtime[Any]) -> dict[str, Any]:
        parameters = defaults.overridden(runtime.context).rerank
        # Words a rewrite added help to find, but what is found is judged by the question itself.
        question = completed(state["run"]["query"], state.get("messages") or [])
        results = await rerank_results(question, state["fused_results"], parameters, model)
        return {"reranked_results": results}

    return node
