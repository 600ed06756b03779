"""The cascade: when the graph is enough, and that the vector store is searched only if it is not."""

from typing import Any

import pytest

from agentic_rag.errors import ConfigError, InputError
from agentic_rag.fusion import Hit, cascade_retrieval, decide_tier, read_graphiti

Hits = list[dict[str, Any]]


class Search:
    """An async search that counts how often it was asked."""

    def __init__(self, hits: Hits) -> None:
        self.hits = hits
        self.asked: list[str] = []

    async def __call__(self, query: str) -> Hits:
        self.asked.append(query)
        return self.hits


def graph(*scores: float | None) -> Hits:
    return [{"id": f"g{rank}", "rank": rank, "score": score} for rank, score in enumerate(scores, start=1)]


VECTOR: Hits = [{"id": "g2", "rank": 1, "score": 0.9}, {"id": "v1", "rank": 2, "score": 0.8}]


async def test_tier_one_is_enough_and_the_vector_store_is_not_asked():
    first, second = Search(graph(0.9, 0.7, 0.2)), Search(VECTOR)
    results, report = await cascade_retrieval("q", first, second, graphiti_threshold=2)
    assert (first.asked, second.asked) == (["q"], [])
    assert [(result.id, result.tier, result.source) for result in results] == [
        ("g1", 1, "graphiti"),
        ("g2", 1, "graphiti"),
        ("g3", 1, "graphiti"),
    ]
    assert report == {
        "tier": 1,
        "graphiti_count": 3,
        "high_quality": 2,
        "lancedb_count": None,
        "threshold": 2,
        "min_score": 0.7,
        "decision": "sufficient",
        "reason": "2 of 3 graph hits have relevance ≥ 0.7, 2 needed",
    }


async def test_tier_two_fuses_both_by_rank():
    results, report = await cascade_retrieval(
        "q", Search(graph(0.9, 0.7)), Search(VECTOR), graphiti_threshold=3
    )
    assert [(result.id, result.tier, result.fused_score) for result in results] == [
        ("g2", 1, 1 / 62 + 1 / 61),
        ("g1", 1, 1 / 61),
        ("v1", 2, 1 / 62),
    ]
    assert (report["tier"], report["lancedb_count"], report["decision"]) == (2, 2, "fallback")


async def test_the_defaults_are_five_hits_of_point_seven():
    for count, tier in ((4, 2), (5, 1)):
        _, report = await cascade_retrieval("q", Search(graph(*[0.7] * count)), Search(VECTOR))
        assert (report["tier"], report["threshold"], report["min_score"]) == (tier, 5, 0.7)


async def test_fallback_can_be_switched_off():
    second = Search(VECTOR)
    results, report = await cascade_retrieval("q", Search(graph(0.1)), second, use_lancedb_fallback=False)
    assert second.asked == []
    assert [result.tier for result in results] == [1]
    assert (report["tier"], report["decision"], report["lancedb_count"]) == (1, "fallback_disabled", None)


def test_scores_outside_zero_to_one_judge_nothing():
    """Graphiti's own RRF scores reach 2.0; they say "ranked first somewhere", not "relevant"."""
    report = decide_tier(graph(2.0, 1.5, None, -0.2, 0.9), 2, 0.7)
    assert (report["high_quality"], report["decision"]) == (1, "fallback")
    assert report["reason"].endswith("4 carry no calibrated relevance")


def test_a_chunk_found_twice_counts_once():
    assert (
        decide_tier(read_graphiti([{"id": "a", "score": 0.9}, {"id": "a", "score": 0.8}]), 2, 0.7)[
            "high_quality"
        ]
        == 1
    )


def test_relevance_can_be_read_elsewhere():
    hits = [
        {"id": "a", "score": 2.0, "metadata": {"relevance": 0.8}},
        {"id": "b", "metadata": {"relevance": 0.0}},
    ]

    def relevance(hit: Hit) -> float | None:
        value: float | None = hit["metadata"].get("relevance")
        return value

    assert decide_tier(hits, 1, 0.8, relevance=relevance)["decision"] == "sufficient"
    assert decide_tier(hits, 2, 0.0, relevance=relevance)["high_quality"] == 2


@pytest.mark.parametrize("value", [1.2, -0.1, float("nan")])
def test_a_relevance_outside_zero_to_one_is_refused(value: float):
    with pytest.raises(InputError, match="'g1'"):
        decide_tier(graph(0.9), relevance=lambda hit: value)


@pytest.mark.parametrize(
    "parameters",
    [
        {"threshold": 0},
        {"threshold": 2.5},
        {"min_score": 1.1},
        {"min_score": -0.1},
        {"min_score": float("nan")},
        {"min_score": True},
    ],
)
def test_parameters_out_of_range_are_refused(parameters: dict[str, Any]):
    with pytest.raises(ConfigError):
        decide_tier(graph(0.9), **parameters)


async def test_bad_parameters_are_refused_before_anything_is_searched():
    first = Search(graph(0.9))
    for bad in ({"num_results": 0}, {"k": 0}):
        with pytest.raises(ConfigError):
            await cascade_retrieval("q", first, Search(VECTOR), **bad)
    assert first.asked == []
