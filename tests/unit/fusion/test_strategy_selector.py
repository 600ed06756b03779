"""Which strategy an operation gets, and what executing it returns and reports."""

import json
from typing import Any

import pytest

import agentic_rag.fusion
from agentic_rag.errors import ConfigError, UnknownOperation
from agentic_rag.fusion import (
    OPERATIONS,
    CanvasOperation,
    FusionParameters,
    FusionStrategy,
    choose_strategy,
    execute_fusion,
    parse_operation,
    reciprocal_rank_fusion,
    select_fusion_algorithm,
    weighted_fusion,
)

GRAPH: list[dict[str, Any]] = [
    {"id": "a", "rank": 1, "score": 0.9},
    {"id": "b", "rank": 2, "score": 0.65},
    {"id": "c", "rank": 3, "score": 0.6},
]
VECTOR: list[dict[str, Any]] = [{"id": "b", "rank": 1, "score": 0.8}, {"id": "d", "rank": 2, "score": 0.3}]


@pytest.mark.parametrize(
    ("operation", "words", "strategy"),
    [
        ("verification_canvas", "检验白板生成", "rrf"),
        ("weak_point_clustering", "薄弱点聚类", "weighted_graphiti"),
        ("concept_relation", "概念关联检索", "cascade"),
        ("document_retrieval", "文档检索", "weighted_lancedb"),
    ],
)
def test_every_operation_has_its_strategy(operation: str, words: str, strategy: str):
    assert select_fusion_algorithm(CanvasOperation(operation)) is FusionStrategy(strategy)
    assert select_fusion_algorithm(operation) == strategy
    assert parse_operation(words) == operation
    assert OPERATIONS[CanvasOperation(operation)].words == words


def test_no_operation_is_left_out():
    assert set(OPERATIONS) == set(CanvasOperation)


def test_an_unknown_operation_is_an_error_that_lists_the_known():
    with pytest.raises(UnknownOperation, match="concept_relation") as caught:
        parse_operation("dance")
    assert caught.value.known == tuple(operation.value for operation in CanvasOperation)
    with pytest.raises(UnknownOperation):
        select_fusion_algorithm("")
    with pytest.raises(UnknownOperation):
        choose_strategy("dance", FusionParameters(strategy=FusionStrategy.RRF))


def test_parameters_may_name_another_strategy():
    assert choose_strategy("concept_relation") is FusionStrategy.CASCADE
    assert choose_strategy("concept_relation", FusionParameters()) is FusionStrategy.CASCADE
    assert (
        choose_strategy("concept_relation", FusionParameters.parse({"strategy": "rrf"})) is FusionStrategy.RRF
    )


def test_rrf():
    outcome = execute_fusion("rrf", GRAPH, VECTOR, FusionParameters(k=10, limit=2))
    assert outcome.results == reciprocal_rank_fusion(GRAPH, VECTOR, 10, limit=2)
    assert outcome.report["strategy"] == "rrf"
    assert outcome.report["parameters"] == {
        "k": 10,
        "graphiti_weight": 1.0,
        "lancedb_weight": 1.0,
        "limit": 2,
    }
    assert outcome.report["counts"] == {"graphiti": 3, "lancedb": 2, "fused": 2}


@pytest.mark.parametrize(
    ("strategy", "weights"), [("weighted_graphiti", (0.7, 0.3)), ("weighted_lancedb", (0.3, 0.7))]
)
def test_weighted(strategy: str, weights: tuple[float, float]):
    outcome = execute_fusion(strategy, GRAPH, VECTOR)
    assert outcome.results == weighted_fusion(GRAPH, VECTOR, *weights)
    assert (
        outcome.report["parameters"]["graphiti_weight"],
        outcome.report["parameters"]["lancedb_weight"],
    ) == weights
    assert outcome.report["normalised_by"] == {"graphiti": "score", "lancedb": "score"}


def test_weighted_says_when_it_went_by_rank():
    outcome = execute_fusion(
        "weighted_graphiti", [{"id": "a"}], VECTOR, FusionParameters(normalization="z_score")
    )
    assert outcome.report["normalised_by"] == {"graphiti": "rank", "lancedb": "score"}
    assert outcome.report["parameters"]["normalization"] == "z_score"


def test_weighted_refuses_weights_that_do_not_sum_to_one():
    with pytest.raises(ConfigError, match="sum to"):
        execute_fusion(
            "weighted_graphiti", GRAPH, VECTOR, FusionParameters(graphiti_weight=0.5, lancedb_weight=0.6)
        )


def test_the_cascade_defaults_are_those_of_the_operation():
    outcome = execute_fusion("cascade", GRAPH, None)
    assert [(result.id, result.tier) for result in outcome.results] == [("a", 1), ("b", 1), ("c", 1)]
    assert outcome.report["tier"] == 1
    assert (outcome.report["threshold"], outcome.report["min_score"]) == (3, 0.6)
    assert (outcome.report["decision"], outcome.report["lancedb_count"]) == ("sufficient", None)


def test_the_cascade_leaves_an_unneeded_list_out():
    outcome = execute_fusion("cascade", GRAPH, VECTOR)
    assert {result.source for result in outcome.results} == {"graphiti"}


@pytest.mark.parametrize(
    ("vector", "fallback", "tier", "decision", "ids"),
    [
        (VECTOR, True, 2, "fallback", ["b", "a", "d", "c"]),
        ([], True, 2, "fallback", ["a", "b", "c"]),
        (None, True, 1, "fallback_missing", ["a", "b", "c"]),
        (VECTOR, False, 1, "fallback_disabled", ["a", "b", "c"]),
    ],
)
def test_the_cascade_when_the_graph_is_not_enough(
    vector: list[dict[str, Any]] | None, fallback: bool, tier: int, decision: str, ids: list[str]
):
    parameters = FusionParameters(graphiti_min_score=0.8, use_lancedb_fallback=fallback)
    outcome = execute_fusion(FusionStrategy.CASCADE, GRAPH, vector, parameters)
    assert [result.id for result in outcome.results] == ids
    assert (outcome.report["tier"], outcome.report["decision"]) == (tier, decision)


def test_the_cascade_judges_by_the_given_relevance():
    outcome = execute_fusion("cascade", GRAPH, VECTOR, relevance=lambda hit: 0.1)
    assert outcome.report["high_quality"] == 0


@pytest.mark.parametrize("strategy", list(FusionStrategy))
def test_reports_are_plain_values_and_nothing_found_is_no_error(strategy: FusionStrategy):
    for graph, vector in ((None, None), ([], []), (GRAPH, None), (None, VECTOR), (GRAPH, VECTOR)):
        outcome = execute_fusion(strategy, graph, vector)
        report = json.loads(json.dumps(outcome.report))
        assert report == outcome.report
        assert {"strategy", "parameters", "counts", "tier", "reason"} <= set(report)
        assert report["counts"]["fused"] == len(outcome.results)


def test_an_unknown_strategy_is_an_error_that_lists_the_known():
    with pytest.raises(ConfigError, match="weighted_lancedb"):
        execute_fusion("borda", GRAPH, VECTOR)


def test_everything_exported_exists():
    for name in agentic_rag.fusion.__all__:
        assert getattr(agentic_rag.fusion, name) is not None
