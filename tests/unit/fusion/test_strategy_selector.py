"""The strategy of an operation; results and report of its execution."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from agentic_rag.errors import ConfigError, UnknownOperation
from agentic_rag.fusion import (
    OPERATIONS,
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


def test_the_table_of_the_design_is_read_off_one_place():
    """k is the caller's default too, or the table's would have no effect."""
    assert set(OPERATIONS) == set(CanvasOperation)
    told = {
        operation.value: (
            profile.strategy.value,
            profile.parameters.model_dump(exclude_defaults=operation != "verification_canvas"),
        )
        for operation, profile in OPERATIONS.items()
    }
    assert told == {
        "verification_canvas": ("rrf", FusionParameters(k=60).model_dump()),
        "weak_point_clustering": ("weighted_graphiti", {"graphiti_weight": 0.7, "lancedb_weight": 0.3}),
        "concept_relation": ("cascade", {"graphiti_threshold": 3, "graphiti_min_score": 0.6}),
        "document_retrieval": ("weighted_lancedb", {"graphiti_weight": 0.3, "lancedb_weight": 0.7}),
    }
    assert FusionParameters().k == 60


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
def test_without_an_operation_what_is_unset_is_the_strategys(strategy: FusionStrategy):
    """An operation with another strategy of its own adds nothing to it."""
    other = next(operation for operation in OPERATIONS if OPERATIONS[operation].strategy is not strategy)
    resolved = resolve_parameters(other, FusionParameters(strategy=strategy))
    assert execute_fusion(strategy, GRAPH, VECTOR) == execute_fusion(strategy, GRAPH, VECTOR, resolved)


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


def test_weighted_refuses_weights_that_do_not_sum_to_one():
    with pytest.raises(ConfigError, match="sum to"):
        execute_fusion(
            "weighted_graphiti", GRAPH, VECTOR, FusionParameters(graphiti_weight=0.5, lancedb_weight=0.6)
        )


def test_the_cascades_defaults_are_its_own_without_an_operation():
    enough: list[dict[str, Any]] = [
        {"id": name, "rank": rank, "score": 0.7} for rank, name in enumerate("abcde", 1)
    ]
    for hits, tier, high in ((enough, 1, 5), (enough[:4], 2, 4), (GRAPH, 2, 1)):
        report = execute_fusion("cascade", hits, []).report
        assert (report["tier"], report["high_quality"]) == (tier, high)
        assert (report["threshold"], report["min_score"]) == (5, 0.7)
        assert report["parameters"]["graphiti_threshold"] == 5
        assert report["parameters"]["graphiti_min_score"] == 0.7


def test_under_concept_relation_the_cascades_are_the_operations():
    outcome = execute_fusion("cascade", GRAPH, None, resolve_parameters("concept_relation"))
    assert [(result.id, result.tier) for result in outcome.results] == [("a", 1), ("b", 1), ("c", 1)]
    report = outcome.report
    assert (report["tier"], report["threshold"], report["min_score"]) == (1, 3, 0.6)
    assert (report["decision"], report["lancedb_count"]) == ("sufficient", None)


def test_the_cascade_leaves_an_unneeded_list_out():
    outcome = execute_fusion("cascade", GRAPH, VECTOR, FusionParameters(graphiti_threshold=1))
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


def test_what_the_graph_knows_can_turn_the_order():
    graph, vector = [{"id": "g", "score": 0.9}], [{"id": "v", "score": 0.9}]
    for operation in ("document_retrieval", "verification_canvas"):
        orders = [
            [
                result.id
                for result in fuse_for_operation(operation, graph, vector, specificity=specificity).results
            ]
            for specificity in (0.0, 1.0)
        ]
        assert orders == [["v", "g"], ["g", "v"]]


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


def test_an_operation_may_be_named_in_the_users_words():
    told = (
        fuse_for_operation(name, GRAPH, VECTOR, specificity=0.3)
        for name in ("文档检索", "document_retrieval")
    )
    assert len({json.dumps(outcome.report) for outcome in told}) == 1


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


@pytest.mark.parametrize(
    ("weights", "specificity"),
    [((0.3, 0.7), 1.0), ((0.7, 0.3), 0.0), ((1.0, 1.0), 0.25), ((0.5, 0.25), 0.9)],
)
def test_the_graphs_odds_grow_by_the_steepness_times_how_telling_the_start_is(
    weights: tuple[float, float], specificity: float
):
    graph, vector = adapted_weights(weights, specificity)
    expected = weights[0] / weights[1] * math.e ** (STEEPNESS * (specificity - EVEN))
    assert graph / vector == pytest.approx(expected)


def test_the_numbers_of_the_design():
    assert (STEEPNESS, EVEN) == (4.0, 0.57)
    told = {
        0.0: (0.041995, 0.958005),
        0.3: (0.127050, 0.872950),
        0.57: (0.3, 0.7),
        1.0: (0.705308, 0.294692),
    }
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
