"""The rerank node: scores by the original question; a failed model is replaced and reported."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from langchain_core.messages import HumanMessage

from agentic_rag.errors import ConfigError, ModelError
from agentic_rag.models.rerankers import ConfiguredRerankers
from agentic_rag.nodes.rerank import rerank
from agentic_rag.settings.parameters import Parameters
from agentic_rag.testing import prepared_state

BY_MODEL = Parameters().override({"rerank": {"method": "cross_encoder"}})


class Model:
    """Scores every passage alike, or fails."""

    def __init__(self, error: Exception | None = None) -> None:
        self.error = error
        self.queries: list[str] = []

    async def score(self, query: str, passages: Sequence[str]) -> list[float]:
        self.queries.append(query)
        if self.error is not None:
            raise self.error
        return [0.5] * len(passages)


def state(parameters: Parameters | None = None, **keys: Any) -> Any:
    results = [
        {
            "id": name,
            "content": "tea",
            "metadata": {},
            "sources": {"lancedb": {"raw": raw, "weight": 1.0}},
            "fused_score": fused,
        }
        for name, raw, fused in (("b", 0.2, 0.6), ("a", 0.9, 0.7))
    ]
    asked = prepared_state(parameters, query="And when?", **keys)
    return {**asked, "search_query": "rewritten words", "fused_results": results}


async def test_all_results_are_put_in_order_with_a_score():
    written = await rerank(state())
    assert [result["id"] for result in written["reranked_results"]] == ["a", "b"]
    assert [result["rerank_score"] for result in written["reranked_results"]] == pytest.approx([0.9, 0.2])
    assert written["rerank_outcome"] == {"status": "ok", "reason": None, "method": "offline"}


async def test_the_question_judges_and_not_the_rewrite():
    model = Model()
    messages = [HumanMessage("Where is tea from?"), HumanMessage("And when?")]
    rerankers = ConfiguredRerankers(reranker=model)
    await rerank(state(BY_MODEL), rerankers=rerankers)
    await rerank(state(BY_MODEL, messages=messages), rerankers=rerankers)
    assert model.queries == ["And when?", "Where is tea from? And when?"]


async def test_a_model_that_fails_is_replaced_and_told():
    model = Model(ModelError("out of memory"))
    written = await rerank(state(BY_MODEL), rerankers=ConfiguredRerankers(reranker=model))
    assert [result["id"] for result in written["reranked_results"]] == ["a", "b"]
    assert written["rerank_outcome"]["status"] == "degraded"
    assert "out of memory" in written["rerank_outcome"]["reason"]


async def test_what_the_operation_asks_for_comes_first():
    given = state(operation="薄弱点聚类")
    given["fused_results"][0]["metadata"]["tags"] = ["mistake"]
    written = await rerank(given)
    assert [result["id"] for result in written["reranked_results"]] == ["b", "a"]


async def test_a_model_that_is_missing_is_told():
    with pytest.raises(ConfigError, match="no model to ask"):
        await rerank(state(BY_MODEL))
