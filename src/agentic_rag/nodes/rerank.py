"""Put the fused results in their final order."""

from __future__ import annotations

import logging

from agentic_rag.channels import in_full, shortened_results
from agentic_rag.errors import ModelError
from agentic_rag.nodes.request import Request
from agentic_rag.rerank import Rerankers, rerank_results
from agentic_rag.state import CanvasRAGState, step_outcome

logger = logging.getLogger(__name__)


async def rerank(state: CanvasRAGState, *, rerankers: Rerankers | None = None) -> CanvasRAGState:
    """Writes ``reranked_results``, all fused results in a new order, and ``rerank_outcome``.

    A model that fails is replaced by the offline method, and ``rerank_outcome`` says so.

    Args:
        state: with ``fused_results``.
        rerankers: what ``rerank.method`` ``cross_encoder`` and ``chat`` use.
    """
    request = Request.of(state)
    parameters, fused = request.parameters.rerank, in_full(state["fused_results"])
    outcome = step_outcome(parameters.method)
    try:
        results = await rerank_results(
            request.question, fused, parameters, rerankers, operation=request.operation
        )
    except ModelError as error:
        logger.warning("the rerank model failed, reranking offline instead: %s", error)
        outcome = step_outcome("offline", str(error))
        offline = parameters.model_copy(update={"method": "offline"})
        results = await rerank_results(request.question, fused, offline, None, operation=request.operation)
    return {
        "reranked_results": shortened_results(results, request.top_k, {result["id"] for result in fused}),
        "rerank_outcome": outcome,
    }
