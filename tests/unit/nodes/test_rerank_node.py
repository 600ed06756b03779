"""The rerank node: judged by the question itself; a model that fails is replaced and told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from langchain_core.messages import HumanMessage
from langgraph.runtime import Runtime

from agentic_rag.errors import ConfigError, ModelError, StoreError
from agentic_rag.models.bundled import BundledEmbedding
from agentic_rag.models.rerankers import ConfiguredRerankers
from agentic_rag.nodes.rerank import rerank
from agentic_rag.nodes.rerank_tools import RerankTools
from agentic_rag.parameters import Parameters
from agentic_rag.rerank.late_interaction import Compared, LateInteraction
from agentic_rag.stores.in_memory import InMemoryChunkStore

BY_MODEL = Parameters().overridden({"rerank": {"method": "cross_encoder"}})


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


def state(**keys: Any) -> Any:
    results = [
        {"id": name, "content": "tea", "metadata": {}, "sources": {"lancedb": {"raw": raw, "weight": 1.0}}}
        for name, raw in (("b", 0.2), ("a", 0.9))
    ]
    return {
        "run": {"query": "And when?"},
        "search_query": "rewritten words",
        "fused_results": results,
        **keys,
    }


async def test_all_results_are_put_in_order_with_a_score():
    written = await rerank(Parameters())(state(), runtime=Runtime())  # type: ignore[call-arg]
    assert [result["id"] for result in written["reranked_results"]] == ["a", "b"]
    assert all(0 <= result["rerank_score"] <= 1 for result in written["reranked_results"])


async def test_the_question_judges_and_not_the_rewrite():
    model = Model()
    messages = [HumanMessage("Where is tea from?"), HumanMessage("And when?")]
    node = rerank(BY_MODEL, RerankTools(ConfiguredRerankers(given=model)))
    await node(state(), runtime=Runtime())  # type: ignore[call-arg]
    await node(state(messages=messages), runtime=Runtime())  # type: ignore[call-arg]
    assert model.queries == ["And when?", "Where is tea from? And when?"]


async def test_a_model_that_fails_is_replaced_and_told():
    model = Model(ModelError("out of memory"))
    written = await rerank(BY_MODEL, RerankTools(ConfiguredRerankers(given=model)))(
        state(), runtime=Runtime()
    )  # type: ignore[call-arg]
    assert [result["id"] for result in written["reranked_results"]] == ["a", "b"]
    assert written["rerank_outcome"]["status"] == "degraded"
    assert "out of memory" in written["rerank_outcome"]["reason"]


@dataclass(frozen=True)
class Tokens(LateInteraction):
    """Compares as it is told to, or fails."""

    similar: Mapping[str, float] | Exception

    async def compare(self, dataset: str, question: str, chunk_ids: Sequence[str]) -> Compared:
        if isinstance(self.similar, Exception):
            raise self.similar
        return Compared({name: self.similar[name] for name in chunk_ids}, together=0.5)


def comparing(similar: Mapping[str, float] | Exception) -> RerankTools:
    tokens = Tokens(BundledEmbedding(), InMemoryChunkStore(dimension=2), similar)
    return RerankTools(late_interaction=tokens)


async def test_tokens_move_a_result():
    tools = comparing({"a": -1.0, "b": 0.5})
    one_deep = Parameters().overridden({"rerank": {"depth": 1}})  # says nothing of the offline method
    written = await rerank(one_deep, tools)(state(), runtime=Runtime())  # type: ignore[call-arg]
    assert [result["id"] for result in written["reranked_results"]] == ["b", "a"]
    assert [result["metadata"]["token_similarity"] for result in written["reranked_results"]] == [0.5, -1.0]
    assert {result["metadata"]["familiarity"] for result in written["reranked_results"]} == {0.5}
    assert written["rerank_outcome"] == {"status": "ok", "reason": None, "method": "offline", "compared": 2}


async def test_tokens_that_cannot_be_read_are_done_without_and_told():
    tools = comparing(StoreError("the disk is gone"))
    written = await rerank(Parameters(), tools)(state(), runtime=Runtime())  # type: ignore[call-arg]
    assert [result["id"] for result in written["reranked_results"]] == ["a", "b"]
    assert written["rerank_outcome"]["status"] == "degraded"
    assert "the disk is gone" in written["rerank_outcome"]["reason"]
    assert written["rerank_outcome"]["compared"] == 0


async def test_a_model_that_is_missing_is_told():
    with pytest.raises(ConfigError, match="no model to ask"):
        await rerank(BY_MODEL)(state(), runtime=Runtime())  # type: ignore[call-arg]
