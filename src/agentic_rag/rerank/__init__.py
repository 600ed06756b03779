"""Reranking of the fused results, offline or by a model that scores question and passage together."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Protocol

from agentic_rag.domain import result_text
from agentic_rag.domain.ports import Reranker
from agentic_rag.domain.results import Result, with_rerank_scores
from agentic_rag.errors import ConfigError, ModelError
from agentic_rag.rerank.offline import rerank_offline
from agentic_rag.settings.parameters import RerankParameters

__all__ = ["BY_MODEL", "DEPTH", "Rerankers", "relevances", "rerank_by_model", "rerank_results"]

DEPTH = 20
"""Most fused results that a model scores."""


async def rerank_results(
    query: str,
    results: Sequence[Result],
    parameters: RerankParameters,
    rerankers: Rerankers | None,
    *,
    operation: str | None = None,
) -> list[Result]:
    """All results in their final order; scored ones have ``rerank_score`` in [0, 1].

    ``offline`` scores all results, with the terms of the ``operation``. A model scores the first DEPTH; the
    others follow in fused order, without a score. ``none`` keeps the fused order and scores
    nothing. Order is total: rerank score descending, then id.

    Raises:
        ConfigError: a model is needed and none is configured.
        MissingExtra: what the method needs is not installed.
        ModelError: the model cannot be loaded, or failed.
    """
    if parameters.method == "none":
        return list(results)
    if parameters.method == "offline":
        return await asyncio.to_thread(rerank_offline, query, results, operation)
    if rerankers is None:
        raise ConfigError(f"rerank.method is {parameters.method!r} and there is no model to ask")
    model = await asyncio.to_thread(rerankers.model, parameters)
    head, tail = results[:DEPTH], results[DEPTH:]
    return [*await rerank_by_model(query, head, model), *tail]


BY_MODEL = ("cross_encoder", "chat")
"""The values of ``rerank.method`` that ask a model."""


class Rerankers(Protocol):
    """The models behind ``rerank.method`` and ``rerank.model``, which a call may name anew."""

    def check(self, parameters: RerankParameters) -> None:
        """Raises ``ConfigError`` where the method asks for a model that is not configured; loads nothing."""

    def model(self, parameters: RerankParameters) -> Reranker:
        """The model that one of BY_MODEL asks.

        Raises:
            ConfigError: as ``check``.
            MissingExtra, ModelError: it cannot be loaded.
        """


async def rerank_by_model(query: str, results: Sequence[Result], model: Reranker) -> list[Result]:
    """Results by the model's relevance in [0, 1], descending, then id; it reads titles and headings too.

    Raises:
        ModelError: see ``relevances``.
    """
    return with_rerank_scores(
        results, await relevances(query, [result_text(result) for result in results], model)
    )


async def relevances(query: str, passages: Sequence[str], model: Reranker) -> list[float]:
    """The model's relevance of each passage, in [0, 1]; an empty list calls no model.

    Raises:
        ModelError: the model failed, gave a score outside [0, 1], or not one a passage.
    """
    if not passages:
        return []
    scores = await model.score(query, passages)
    if len(scores) != len(passages):
        raise ModelError(f"the reranker gave {len(scores)} scores for {len(passages)} passages")
    for score in scores:
        if not 0.0 <= score <= 1.0:
            raise ModelError(f"the reranker gave the score {score!r}; a relevance is from 0 to 1")
    return [float(score) for score in scores]
