"""The strategy of an operation; results and report of its execution."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from agentic_rag.errors import ConfigError, UnknownOperation
from agentic_rag.fusion import (
    CanvasOperation,
    FusionParameters,
    FusionStrategy,
    adapted_weights,
    calculate_mrr_at_k,
    choose_strategy,
    execute_fusion,
    fuse_for_operation,
    parse_operation,
    reciprocal_rank_fusion,
    resolve_parameters,
    select_fusion_algorithm,
    weighted_fusion,
)
from agentic_rag.fusion.strategy_selector import EVEN, STEEPNESS

GRAPH: list[dict[str, Any]] = [
    {"id": "a", "rank": 1, "score": 0.9},
    {"id": "b", "rank": 2, "score": 0.65},
    {"id": "c", "rank": 3, "score": 0.6},
]
VECTOR: list[dict[str, Any]] = [{"id": "b", "rank": 1, "score": 0.8}, {"id": "d", "rank": 2, "score": 0.3}]


def test_an_unknown_operation_is_an_error_that_lists_the_known():
    with pytest.raises(UnknownOperation, match="concept_relation") as caught:
        parse_operation("dance")
    assert caught.value.known_names == tuple(operation.value for operation in CanvasOperation)
    named = FusionParameters(strategy=FusionStrategy.RRF)
    for refused in (
        lambda: select_fusion_algorithm(""),
        lambda: choose_strategy("dance", named),
        lambda: resolve_parameters("dance", named),
        lambda: fuse_for_operation("dance", GRAPH, VECTOR),
    ):
        with pytest.raises(UnknownOperation, match="concept_relation"):
            refused()


def in_effect(operation: str, **given: Any) -> tuple[Any, ...]:
    resolved = resolve_parameters(operation, FusionParameters.parse(given))
    return (
        resolved.strategy,
        (resolved.graphiti_weight, resolved.lancedb_weight),
        (resolved.graphiti_threshold, resolved.graphiti_min_score),
    )


@pytest.mark.parametrize(
    ("operation", "given", "expected"),
    [
        ("verification_canvas", {}, ("rrf", (1.0, 1.0), (5, 0.7))),
        ("weak_point_clustering", {}, ("weighted_graphiti", (0.7, 0.3), (5, 0.7))),
        ("concept_relation", {}, ("cascade", (1.0, 1.0), (3, 0.6))),
        ("概念关联检索", {}, ("cascade", (1.0, 1.0), (3, 0.6))),
        ("document_retrieval", {}, ("weighted_lancedb", (0.3, 0.7), (5, 0.7))),
        # one given leaves the operation's other
        ("concept_relation", {"graphiti_threshold": 5}, ("cascade", (1.0, 1.0), (5, 0.6))),
        ("concept_relation", {"graphiti_min_score": 0.0}, ("cascade", (1.0, 1.0), (3, 0.0))),
        ("concept_relation", {"lancedb_weight": 0.5}, ("cascade", (1.0, 0.5), (3, 0.6))),
        # two weights that sum to 1
        ("weak_point_clustering", {"graphiti_weight": 0.5}, ("weighted_graphiti", (0.5, 0.5), (5, 0.7))),
        ("document_retrieval", {"lancedb_weight": 0.0}, ("weighted_lancedb", (1.0, 0.0), (5, 0.7))),
        # the operation's own strategy, said again
        ("concept_relation", {"strategy": "cascade"}, ("cascade", (1.0, 1.0), (3, 0.6))),
        # another strategy has its own defaults
        ("document_retrieval", {"strategy": "cascade"}, ("cascade", (1.0, 1.0), (5, 0.7))),
        ("concept_relation", {"strategy": "rrf"}, ("rrf", (1.0, 1.0), (5, 0.7))),
        (
            "weak_point_clustering",
            {"strategy": "weighted_lancedb"},
            ("weighted_lancedb", (0.3, 0.7), (5, 0.7)),
        ),
    ],
)
def test_what_is_set_wins_over_the_operation_and_that_over_the_strategy(
    operation: str, given: dict[str, Any], expected: tuple[Any, ...]
):
    assert in_effect(operation, **given) == expected


GIVEN = st.fixed_dictionaries(
    {},
    optional={
        "strategy": st.sampled_from(FusionStrategy),
        "k": st.integers(1, 1000),
        "graphiti_weight": st.floats(0, 1),
        "lancedb_weight": st.floats(0, 1),
        "normalization": st.sampled_from(["min_max", "z_score"]),
        "graphiti_threshold": st.integers(1, 9),
        "graphiti_min_score": st.floats(0, 1),
    },
)


@given(st.sampled_from(CanvasOperation), GIVEN)
def test_what_is_set_stands_and_nothing_the_strategy_needs_stays_unset(
    operation: CanvasOperation, given: dict[str, Any]
):
    parameters = FusionParameters(**given)
    resolved = resolve_parameters(operation, parameters)
    assert {name: getattr(resolved, name) for name in given} == given
    assert None not in resolved.model_dump().values()
    assert resolved.strategy == choose_strategy(operation, parameters)
    assert FusionParameters.parse(resolved.model_dump()) == resolved
    assert resolve_parameters(operation, resolved) == resolved
    assert parameters == FusionParameters(**given)


@pytest.mark.parametrize("strategy", list(FusionStrategy))
def test_what_is_fused_is_read_as_the_list_of_results_it_is(strategy: FusionStrategy):
    fused = execute_fusion(strategy=strategy, graphiti_results=GRAPH, lancedb_results=VECTOR)
    assert [result.id for result in fused] == [result.id for result in fused.results]
    assert (fused[0], fused[:2], len(fused)) == (fused.results[0], fused.results[:2], len(fused.results))
    best, *others = fused
    assert [best, *others] == fused.results
    assert calculate_mrr_at_k(fused, {fused[1].id}) == 1 / 2
    assert not execute_fusion(strategy, [], [])


def test_rrf():
    outcome = execute_fusion("rrf", GRAPH, VECTOR, FusionParameters(k=10), limit=2)
    assert outcome.results == reciprocal_rank_fusion(GRAPH, VECTOR, 10, limit=2)
    assert outcome.report["strategy"] == "rrf"
    assert outcome.report["parameters"] == {"k": 10, "graphiti_weight": 1.0, "lancedb_weight": 1.0}
    assert outcome.report["counts"] == {"graphiti": 3, "lancedb": 2, "fused": 2}


@pytest.mark.parametrize(
    ("strategy", "weights"), [("weighted_graphiti", (0.7, 0.3)), ("weighted_lancedb", (0.3, 0.7))]
)
def test_weighted(strategy: str, weights: tuple[float, float]):
    outcome = execute_fusion(strategy, GRAPH, VECTOR)
    assert outcome.results == weighted_fusion(GRAPH, VECTOR, *weights)
    used = outcome.report["parameters"]
    assert (used["graphiti_weight"], used["lancedb_weight"]) == weights
    assert outcome.report["normalised_by"] == {"graphiti": "score", "lancedb": "score"}


def test_weighted_says_when_it_went_by_rank():
    outcome = execute_fusion(
        "weighted_graphiti", [{"id": "a"}], VECTOR, FusionParameters(normalization="z_score")
    )
    assert outcome.report["normalised_by"] == {"graphiti": "rank", "lancedb": "score"}
    assert outcome.report["parameters"]["normalization"] == "z_score"


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
    parameters = FusionParameters(graphiti_min_score=0.8, lancedb_weight=None if fallback else 0.0)
    outcome = execute_fusion(FusionStrategy.CASCADE, GRAPH, vector, parameters)
    assert [result.id for result in outcome.results] == ids
    assert (outcome.report["tier"], outcome.report["decision"]) == (tier, decision)


@pytest.mark.parametrize("strategy", list(FusionStrategy))
def test_reports_are_plain_values_and_nothing_found_is_no_error(strategy: FusionStrategy):
    for graph, vector in ((None, None), ([], []), (GRAPH, None), (None, VECTOR), (GRAPH, VECTOR)):
        outcome = execute_fusion(strategy, graph, vector)
        report = json.loads(json.dumps(outcome.report))
        assert report == outcome.report
        assert {"strategy", "parameters", "counts", "tier", "reason"} <= set(report)
        assert report["counts"]["fused"] == len(outcome.results)


# --- for an operation ----------------------------------------------------------------------------

GIVEN_WEIGHTS = {
    "verification_canvas": (1.0, 1.0),
    "weak_point_clustering": (0.7, 0.3),
    "concept_relation": (1.0, 1.0),
    "document_retrieval": (0.3, 0.7),
}


def by_source(weights: tuple[float, float]) -> dict[str, float]:
    return dict(zip(("graphiti", "lancedb"), weights, strict=True))


@pytest.mark.parametrize("operation", list(GIVEN_WEIGHTS))
@pytest.mark.parametrize("parameters", [None, FusionParameters(k=3)])
def test_where_nothing_is_known_of_the_question_it_is_the_operations_fusion(
    operation: str, parameters: FusionParameters | None
):
    resolved = resolve_parameters(operation, parameters)
    expected = execute_fusion(choose_strategy(operation), GRAPH, VECTOR, resolved)
    outcome = fuse_for_operation(operation, GRAPH, VECTOR, parameters)
    weights = by_source(GIVEN_WEIGHTS[operation])
    assert outcome.results == expected.results
    assert outcome.report == {
        **expected.report,
        "weights": {"given": weights, "used": weights, "specificity": None},
    }


@pytest.mark.parametrize("operation", list(GIVEN_WEIGHTS))
@pytest.mark.parametrize("specificity", [0.0, 0.3, 1.0])
def test_the_weights_of_every_strategy_follow_what_the_graph_knows(operation: str, specificity: float):
    """Of the cascade those of its second tier, in which the graph alone is not enough."""
    given_weights = GIVEN_WEIGHTS[operation]
    used = adapted_weights(given_weights, specificity)
    assert used != given_weights, "or nothing is tested"
    outcome = fuse_for_operation(
        operation, GRAPH, VECTOR, FusionParameters(graphiti_min_score=0.8), specificity=specificity
    )
    assert outcome.report["weights"] == {
        "given": by_source(given_weights),
        "used": by_source(used),
        "specificity": specificity,
    }
    assert outcome.report["parameters"]["graphiti_weight"] == used[0]
    assert outcome.report["parameters"]["lancedb_weight"] == used[1]
    for result in outcome.results:
        assert {name: said["weight"] for name, said in result.sources.items()} == {
            name: weight for name, weight in by_source(used).items() if name in result.sources
        }
    if operation in ("verification_canvas", "concept_relation"):
        expected = reciprocal_rank_fusion(GRAPH, VECTOR, 60, graphiti_weight=used[0], lancedb_weight=used[1])
    else:
        expected = weighted_fusion(GRAPH, VECTOR, *used)
    assert [(result.id, result.fused_score) for result in outcome.results] == [
        (result.id, result.fused_score) for result in expected
    ]
    if operation == "concept_relation":
        assert outcome.report["tier"] == 2


@pytest.mark.parametrize("operation", list(GIVEN_WEIGHTS))
@pytest.mark.parametrize(
    "given_weights",
    [{"graphiti_weight": 0.25}, {"lancedb_weight": 0.75}, {"graphiti_weight": 0.25, "lancedb_weight": 0.75}],
)
def test_weights_that_the_caller_gave_are_as_they_are(operation: str, given_weights: dict[str, float]):
    parameters = FusionParameters(**given_weights)
    outcome = fuse_for_operation(operation, GRAPH, VECTOR, parameters, specificity=1.0)
    assert outcome == fuse_for_operation(operation, GRAPH, VECTOR, parameters)
    resolved = resolve_parameters(operation, parameters)
    assert outcome.report["weights"] == {
        "given": by_source(resolved.rank_weights()),
        "used": by_source(resolved.rank_weights()),
        "specificity": None,
    }


@pytest.mark.parametrize("strategy", list(FusionStrategy))
def test_of_a_strategy_that_the_caller_named_the_weights_follow_too(strategy: FusionStrategy):
    parameters = FusionParameters(strategy=strategy, graphiti_min_score=0.8)
    for operation in GIVEN_WEIGHTS:
        own = resolve_parameters(operation, parameters).rank_weights()
        report = fuse_for_operation(operation, GRAPH, VECTOR, parameters, specificity=1.0).report
        assert report["strategy"] == strategy
        assert report["weights"]["given"] == by_source(own)
        assert report["weights"]["used"] == by_source(adapted_weights(own, 1.0))


def test_enough_in_the_first_tier_is_enough_whatever_the_graph_knows():
    outcome = fuse_for_operation("concept_relation", GRAPH, VECTOR, specificity=0.0)
    assert [result.id for result in outcome.results] == ["a", "b", "c"]
    assert outcome.report["tier"] == 1


@given(st.sampled_from(CanvasOperation), GIVEN, st.none() | st.floats(0, 1))
def test_reports_of_an_operation_are_plain_values_and_the_sum_of_the_weights_is_kept(
    operation: CanvasOperation, given_values: dict[str, Any], specificity: float | None
):
    parameters = FusionParameters(**given_values)
    resolved = resolve_parameters(operation, parameters)
    assume(any(resolved.rank_weights()))
    weighted = resolved.strategy in (FusionStrategy.WEIGHTED_GRAPHITI, FusionStrategy.WEIGHTED_LANCEDB)
    if weighted and abs(sum(resolved.rank_weights()) - 1) > 1e-6:
        with pytest.raises(ConfigError, match="sum to"):
            fuse_for_operation(operation, GRAPH, VECTOR, parameters, specificity=specificity)
        return
    report = fuse_for_operation(operation, GRAPH, VECTOR, parameters, specificity=specificity).report
    assert json.loads(json.dumps(report)) == report
    weights = report["weights"]
    assert sum(weights["used"].values()) == pytest.approx(sum(weights["given"].values()))
    set_by_caller = {"graphiti_weight", "lancedb_weight"} & given_values.keys()
    acts = specificity is not None and not set_by_caller
    assert weights["specificity"] == (specificity if acts else None)
    assert acts or weights["used"] == weights["given"]


def test_an_unknown_strategy_is_an_error_that_lists_the_known():
    with pytest.raises(ConfigError, match="weighted_lancedb"):
        execute_fusion("borda", GRAPH, VECTOR)


WEIGHTS = st.floats(1e-6, 1)
TELLING = st.floats(0, 1)


def test_the_numbers_of_the_design():
    assert (STEEPNESS, EVEN) == (4.0, 0.57)
    told = {0.0: (0.041995, 0.958005), 0.3: (0.127050, 0.872950), 0.57: (0.3, 0.7), 1.0: (0.705308, 0.294692)}
    for specificity, weights in told.items():
        assert adapted_weights((0.3, 0.7), specificity) == pytest.approx(weights, abs=1e-6)


@given(WEIGHTS, WEIGHTS)
def test_at_even_the_weights_are_as_they_are(graph: float, vector: float):
    assert adapted_weights((graph, vector), EVEN) == pytest.approx((graph, vector))


@given(WEIGHTS, WEIGHTS, TELLING)
def test_the_sum_is_kept_and_neither_source_is_left_out(graph: float, vector: float, specificity: float):
    adapted = adapted_weights((graph, vector), specificity)
    assert sum(adapted) == pytest.approx(graph + vector)
    assert min(adapted) > 0


def test_weights_however_far_apart_stay_numbers():
    assert adapted_weights((1.0, 1e-310), 1.0) == pytest.approx((1.0, 0.0))


@pytest.mark.parametrize("weights", [(0.0, 1.0), (1.0, 0.0), (0.0, 0.0)])
@given(specificity=TELLING)
def test_a_source_that_is_left_out_stays_so(weights: tuple[float, float], specificity: float):
    assert adapted_weights(weights, specificity) == weights


@given(st.floats(0.01, 1), st.floats(0.01, 1), TELLING, TELLING)
def test_the_more_telling_the_more_the_graph_weighs(graph: float, vector: float, one: float, other: float):
    less, more = sorted((one, other))
    before, after = (adapted_weights((graph, vector), specificity)[0] for specificity in (less, more))
    assert before < after if more - less > 1e-9 else before <= after
