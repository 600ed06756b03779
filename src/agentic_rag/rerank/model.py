"""Rerank by a model that scores question and passage together (a cross-encoder, or a chat model)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from agentic_rag.domain import result_text
from agentic_rag.domain.ports import Reranker
from agentic_rag.errors import ModelError
from agentic_rag.settings.parameters import RerankParameters

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


async def rerank_by_model(
    query: str, results: Sequence[dict[str, Any]], model: Reranker
) -> list[dict[str, Any]]:
    """Results by the model's relevance in [0, 1], descending, then id; it reads titles and headings too.

    Raises:
        ModelError: see ``relevances``.
    """
    scores = await relevances(query, [result_text(result) for result in results], model)
    scored = [{**result, "rerank_score": score} for result, score in zip(results, scores, strict=True)]
    return sorted(scored, key=lambda result: (-result["rerank_score"], result["id"]))


async def relevances(query: str, passages: Sequence[str], model: Reranker) -> list[float]:
    """The model's relevance of each passage, in [0, 1]; of none it is not asked.

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
