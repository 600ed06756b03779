"""Put the fused results in their final order."""

from __future__ import annotations

import logging
from typing import Any

from langgraph.runtime import Runtime

from agentic_rag.errors import ModelError
from agentic_rag.fusion.strategy_selector import parse_operation
from agentic_rag.nodes.node import Node
from agentic_rag.nodes.prepare_query import DEFAULT_OPERATION, whole_question
from agentic_rag.nodes.rerank_tools import RerankTools
from agentic_rag.parameters import Parameters
from agentic_rag.rerank import rerank_results
from agentic_rag.state import CanvasRAGState

logger = logging.getLogger(__name__)


def rerank(defaults: Parameters, tools: RerankTools | None = None) -> Node:
    """The node; writes ``reranked_results``, all fused results in a new order, and ``rerank_outcome``.

    A model that fails is replaced by the offline method, and ``rerank_outcome`` says so. Where ``post_retrieval.steps`` are set, they run on what was reranked, and
    ``post_retrieval`` says what each did.

    Args:
        defaults: parameters where a call overrides nothing.
        tools: models and the vector store, for what is configured to need them.
    """
    tools = tools or RerankTools()

    async def node(state: CanvasRAGState, *, runtime: Runtime[Any]) -> dict[str, Any]:
        overridden = defaults.overridden(runtime.context)
        parameters = overridden.rerank
        # Words a rewrite added help to find, but what is found is judged by the question itself.
        question = whole_question(state)
        operation = parse_operation(state.get("operation") or DEFAULT_OPERATION)
        outcome: dict[str, Any] = {"status": "ok", "reason": None, "method": parameters.method}
        fused = state["fused_results"]
        try:
            results = await rerank_results(question, fused, parameters, tools.rerankers, operation=operation)
        except ModelError as error:
            logger.warning("the rerank model failed, reranking offline instead: %s", error)
            outcome |= {"status": "degraded", "reason": str(error), "method": "offline"}
            offline = parameters.model_copy(update={"method": "offline"})
            results = await rerank_results(question, fused, offline, None, operation=operation)
        records: list[dict[str, Any]] = []
        if overridden.post_retrieval.steps:
            # Imported where it is used: most runs have no steps, and a cold start should not wait for them.
            from agentic_rag.nodes.post_retrieval import post_retrieved

            results, records = await post_retrieved(question, results, overridden, tools, state)
        return {"reranked_results": results, "rerank_outcome": outcome, "post_retrieval": records}

    return node
