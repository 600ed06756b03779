"""Reranking: the contract of every method. (The quality of the weights is measured by a benchmark.)"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from agentic_rag.domain.ports import Reranker
from agentic_rag.errors import ConfigError, ModelError
from agentic_rag.models.rerankers import ConfiguredRerankers
from agentic_rag.rerank import rerank_results
from agentic_rag.rerank.offline import rerank_offline
from agentic_rag.settings.parameters import RerankParameters


def result(identity: str, content: str = "tea", *, fused: float = 0.5, **metadata: Any) -> dict[str, Any]:
    return {
        "id": identity,
        "content": content,
        "metadata": {"title": "", "document_id": "d", "ordinal": 0, **metadata},
        "sources": {"lancedb": {"rank": 1, "raw": 0.5, "normalised": 1.0, "weight": 1.0}},
        "fused_score": fused,
        "rerank_score": None,
    }


def order(results: Sequence[dict[str, Any]]) -> list[str]:
    return [one["id"] for one in results]


class Scores:
    """A rerank model with fixed scores."""

    def __init__(self, *scores: float) -> None:
        self.scores = list(scores)
        self.passages: list[str] = []

    async def score(self, query: str, passages: Sequence[str]) -> list[float]:
        self.passages = list(passages)
        return self.scores


def by(model: Reranker) -> ConfiguredRerankers:
    return ConfiguredRerankers(reranker=model)


async def test_a_models_scores_decide():
    model = Scores(0.1, 0.9, 0.9)
    ranked = await rerank_results(
        "tea",
        [result("a", "x"), result("c", "y"), result("b", "z")],
        RerankParameters(method="chat"),
        by(model),
    )
    assert [(one["id"], one["rerank_score"]) for one in ranked] == [("b", 0.9), ("c", 0.9), ("a", 0.1)]
    assert model.passages == ["x", "y", "z"]


@pytest.mark.parametrize("scores", [(0.5,), (0.5, 0.5, 0.5), (0.5, 1.5), (0.5, -0.1), (0.5, float("nan"))])
async def test_a_model_that_answers_nonsense_is_told(scores: tuple[float, ...]):
    with pytest.raises(ModelError, match="reranker gave"):
        await rerank_results(
            "tea", [result("a"), result("b")], RerankParameters(method="chat"), by(Scores(*scores))
        )


async def test_a_model_is_not_asked_about_nothing():
    model = Scores(0.5)
    assert await rerank_results("tea", [], RerankParameters(method="chat"), by(model)) == []
    assert model.passages == []


async def test_a_model_reads_titles_and_headings_too():
    model = Scores(0.5)
    found = result("a", "It is rolled.", title="Oolong", heading_path=["Making"])
    await rerank_results("oolong", [found], RerankParameters(method="cross_encoder"), by(model))
    assert model.passages == ["Oolong. Making. It is rolled."]


@pytest.mark.parametrize("rerankers", [None, ConfiguredRerankers()])
@pytest.mark.parametrize("method", ["chat", "cross_encoder"])
async def test_without_its_model_a_method_cannot_be_used(method: Any, rerankers: Any):
    with pytest.raises(ConfigError, match=rf"rerank\.method is '{method}'"):
        await rerank_results("tea", [result("a")], RerankParameters(method=method), rerankers)


FIVE = [
    result("c", fused=0.1),
    result("a", fused=0.2),
    result("d", fused=0.5, tags=["mistake"]),
    result("b", fused=0.7),
    result("e", fused=0.4),
]


@pytest.mark.parametrize("method", ["chat", "cross_encoder"])
async def test_a_model_looks_at_the_first_depth_and_the_others_follow_as_they_were(
    method: Any, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("agentic_rag.rerank.DEPTH", 2)
    model = Scores(0.1, 0.9)
    ranked = await rerank_results("tea", FIVE, RerankParameters(method=method), by(model))
    assert len(model.passages) == 2
    assert order(ranked) == ["a", "c", "d", "b", "e"]
    assert ranked[2:] == FIVE[2:]
    assert [one["rerank_score"] for one in ranked] == [0.9, 0.1, None, None, None]


async def test_a_model_looks_at_twenty():
    model = Scores(*[0.5] * 20)
    results = [result(f"{number:02}") for number in range(25)]
    await rerank_results("tea", results, RerankParameters(method="chat"), by(model))
    assert len(model.passages) == 20


async def test_offline_looks_at_all_results_whatever_the_depth(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("agentic_rag.rerank.DEPTH", 2)
    ranked = await rerank_results("tea", FIVE, RerankParameters(), None)
    assert ranked == rerank_offline("tea", FIVE)
    assert order(ranked) == ["b", "d", "e", "a", "c"]
    assert all(one["rerank_score"] is not None for one in ranked)


async def test_offline_reads_what_the_operation_asks_for():
    ranked = await rerank_results("tea", FIVE, RerankParameters(), None, operation="weak_point_clustering")
    assert order(ranked) == ["d", "b", "e", "a", "c"]


async def test_none_keeps_the_order_and_scores_nothing():
    results = FIVE[:2]
    assert await rerank_results("tea", results, RerankParameters(method="none"), None) == results
