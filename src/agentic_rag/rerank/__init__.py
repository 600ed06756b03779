"""Reranking, one method a file: what is known of the fused results decides their final order."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from agentic_rag.errors import ConfigError
from agentic_rag.parameters import RerankParameters
from agentic_rag.rerank.late_interaction import LateInteraction, with_similarity
from agentic_rag.rerank.model import Rerankers, rerank_by_model
from agentic_rag.rerank.offline import rerank_offline

__all__ = ["compared_by_tokens", "rerank_results"]


async def compared_by_tokens(
    query: str,
    results: Sequence[dict[str, Any]],
    dataset: str,
    parameters: RerankParameters,
    late_interaction: LateInteraction | None,
) -> list[dict[str, Any]]:
    """The results as they are, with what late interaction tells of each, where the method reads it.

    Raises:
        StoreError, ModelError: as ``LateInteraction.compare``.
    """
    reads = parameters.method == "offline" and max(parameters.interaction, parameters.unfamiliar) > 0
    if late_interaction is None or not reads:
        return list(results)
    ids = [result["id"] for result in results]
    return with_similarity(results, await late_interaction.compare(dataset, query, ids))


async def rerank_results(
    query: str,
    results: Sequence[dict[str, Any]],
    parameters: RerankParameters,
    rerankers: Rerankers | None,
    *,
    operation: str | None = None,
) -> list[dict[str, Any]]:
    """All results in a new order, each that was looked at with ``rerank_score``.

    The ``operation`` says what the question is for; the method ``offline`` reads it.

    Order is total: rerank score descending, then id. The method ``offline`` looks at all results. A model
    looks at the first ``depth``; the others follow as they were, without a score. Method ``none`` keeps the
    fused order and scores nothing.

    Raises:
        ConfigError: a model is needed and none is configured.
        MissingExtra: what the method needs is not installed.
        ModelError: the model cannot be loaded, or failed.
    """
    if parameters.method == "none":
        return list(results)
    if parameters.method == "offline":
        return await asyncio.to_thread(rerank_offline, query, results, parameters, operation)
    if rerankers is None:
        raise ConfigError(f"rerank.method is {parameters.method!r} and there is no model to ask")
    model = await asyncio.to_thread(rerankers.model, parameters)
    # A model takes time or money for each passage, so it is asked about the best alone.
    head, tail = results[: parameters.depth], results[parameters.depth :]
    return [*await rerank_by_model(query, head, model), *tail]
