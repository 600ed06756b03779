"""Reranking, one method a file: what is known of the fused results decides their final order."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from agentic_rag.errors import ConfigError
from agentic_rag.rerank.model import Rerankers, rerank_by_model
from agentic_rag.rerank.offline import rerank_offline
from agentic_rag.settings.parameters import RerankParameters

__all__ = ["rerank_results"]


async def rerank_results(
    query: str,
    results: Sequence[dict[str, Any]],
    parameters: RerankParameters,
    rerankers: Rerankers | None,
    *,
    operation: str | None = None,
) -> list[dict[str, Any]]:
    """All results in their final order, each that a method looked at with ``rerank_score`` in [0, 1].

    ``offline`` looks at all of them, and reads what the ``operation`` asks for; a model looks at the first
    ``depth``, and the others follow as they were, without a score. ``none`` keeps the fused order and scores
    nothing. Order is total: rerank score descending, then id.

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
    head, tail = results[: parameters.depth], results[parameters.depth :]
    return [*await rerank_by_model(query, head, model), *tail]
