"""Put the fused results in their final order."""

from __future__ import annotations

import logging
from typing import Any

from agentic_rag.errors import ModelError
from agentic_rag.nodes.request import Request
from agentic_rag.nodes.requirements import RerankTools
from agentic_rag.rerank import rerank_results
from agentic_rag.state import CanvasRAGState, in_full, shortened_results, step_outcome

logger = logging.getLogger(__name__)


async def rerank(state: CanvasRAGState, *, tools: RerankTools | None = None) -> dict[str, Any]:
    """Writes ``reranked_results``, all fused results in a new order, ``rerank_outcome`` and ``post_retrieval``.

    A model that fails is replaced by the offline method, and ``rerank_outcome`` says so. Where
    ``post_retrieval.steps`` are set, they run on what was reranked, and ``post_retrieval`` says what each did.

    Args:
        state: with ``fused_results``.
        tools: models and the vector store, for what is configured to need them.
    """
    tools, request = tools or RerankTools(), Request.of(state)
    parameters, fused = request.parameters.rerank, in_full(state["fused_results"])
    outcome = step_outcome(parameters.method)
    try:
        results = await rerank_results(
            request.question, fused, parameters, tools.rerankers, operation=request.operation
        )
    except ModelError as error:
        logger.warning("the rerank model failed, reranking offline instead: %s", error)
        outcome = step_outcome("offline", str(error))
        offline = parameters.model_copy(update={"method": "offline"})
        results = await rerank_results(request.question, fused, offline, None, operation=request.operation)
    records: list[dict[str, Any]] = []
    if request.parameters.post_retrieval.steps:
        # Imported where it is used: most runs have no steps, and a cold start should not wait for them.
        from agentic_rag.nodes.post_retrieval import post_retrieved

        results, records = await post_retrieved(request, results, tools)
    return {
        "reranked_results": shortened_results(results, request.top_k, {result["id"] for result in fused}),
        "rerank_outcome": outcome,
        "post_retrieval": records,
    }
