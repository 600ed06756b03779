"""Rerank without a model: the sort key, and the relevance assigned in its order."""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_rag.domain import Hit
from agentic_rag.domain.odds import log_odds
from agentic_rag.fusion.strategy_selector import SourceHits, fuse_for_operation
from agentic_rag.rerank.features import TERMS
from agentic_rag.rerank.offline import (
    MIN_GAP,
    REORDERS,
    WEIGHTS,
    SearchedQuestion,
    assigned_relevance,
    rerank_offline,
)
from agentic_rag.settings.parameters import FusionStrategy, Parameters

CLUSTER = "weak_point_clustering"
NOTHING = dict.fromkeys(WEIGHTS, 0.0)


def weighed(**weights: float) -> dict[str, float]:
    """These weights, and no others."""
    return {**NOTHING, **weights}


def dealt(
    fused: Sequence[float], odds: Sequence[float], weights: dict[str, float], **terms: Sequence[float]
) -> list[float]:
    columns = {name: np.array(terms.get(name, [0.0] * len(fused))) for name in TERMS}
    return assigned_relevance(np.array(fused), np.array(odds), columns, weights).tolist()  # type: ignore[no-any-return]


def result(
    identity: str, raw: float | None = 0.5, content: str = "tea", *, fused: float = 0.5, **metadata: Any
) -> dict[str, Any]:
    return {
        "id": identity,
        "content": content,
        "metadata": {"title": "", "document_id": "d", "ordinal": 0, **metadata},
        "sources": {"lancedb": {"rank": 1, "raw": raw, "normalised": 1.0, "weight": 1.0}},
        "fused_score": fused,
        "rerank_score": None,
    }


def order(results: Sequence[dict[str, Any]]) -> list[str]:
    return [one["id"] for one in results]


def scores(results: Sequence[dict[str, Any]]) -> dict[str, float]:
    return {one["id"]: one["rerank_score"] for one in results}


# --- the key -------------------------------------------------------------------------------------


def test_the_weights_are_the_prior_and_the_terms():
    assert list(WEIGHTS) == ["prior", *TERMS]
    assert set(TERMS) >= REORDERS


# --- what is dealt -------------------------------------------------------------------------------


def test_at_equal_relevance_the_key_still_tells_them_apart():
    first, second, third = dealt([0.1, 0.3, 0.2], [1.0, 1.0, 1.0], weighed(prior=2.0))
    assert second > third > first
    assert second - first == pytest.approx(2 * MIN_GAP, rel=1e-3)


ROWS = st.lists(
    st.tuples(st.sampled_from([1.0, 0.5, 0.25, 0.0]), *[st.integers(-2, 2)] * (1 + len(TERMS))),
    min_size=1,
    max_size=7,
)


@given(ROWS, st.lists(st.integers(0, 3), min_size=len(WEIGHTS), max_size=len(WEIGHTS)))
def test_it_is_the_formula_written_out(rows: list[tuple[float, ...]], weights: list[int]):
    """In whole numbers, so that what is equal on paper is so here."""
    prior, time, mistake, window, speaker, length = weights
    best = max(row[0] for row in rows) or 1.0
    keys, relevances = [], []
    for fused, odds, timely, wrong, around, asked, long in rows:
        how_well = time * timely + window * around + speaker * asked + length * long
        keys.append(prior * math.log(max(fused / best, 1e-4)) + (how_well + mistake * wrong))
        relevances.append(odds + how_well)
    greatest = [min(max(one, -12.0), 12.0) for one in sorted(relevances, reverse=True)]
    pairs = list(zip(keys, relevances, strict=True))
    expected = [greatest[sum(other > pair for other in pairs)] for pair in pairs]
    fused, odds, *columns = (list(column) for column in zip(*rows, strict=True))
    parameters = weighed(**dict(zip(WEIGHTS, map(float, weights), strict=True)))
    told = dealt(fused, odds, parameters, **dict(zip(TERMS, columns, strict=True)))
    assert told == pytest.approx(expected, abs=1e-7)
    for one in range(len(rows)):
        for other in range(len(rows)):
            assert (told[one] > told[other]) == (pairs[one] > pairs[other])


# --- results -------------------------------------------------------------------------------------


def test_the_fused_result_decides_and_the_relevances_are_dealt_out():
    results = [result("a", 0.2, fused=0.3), result("b", 0.9, fused=0.2), result("c", 0.5, fused=0.4)]
    ranked = rerank_offline("tea", results)
    assert order(ranked) == ["c", "a", "b"]
    assert scores(ranked) == pytest.approx({"c": 0.9, "a": 0.5, "b": 0.2})


def test_without_the_prior_the_relevance_of_both_sources_decides():
    results = [result("a", 0.2, fused=0.9), result("b", 0.9), result("c", None), result("d", 0.6)]
    results[0]["sources"]["graphiti"] = {"raw": 0.98}
    ranked = rerank_offline("tea", results, weights=NOTHING)
    # odds of 1/4 and of 49; of what the graph missed 49 times as much, as of the last that it found
    assert order(ranked) == ["b", "d", "a", "c"]
    assert scores(ranked) == pytest.approx(
        {"b": 441 / 442, "d": 73.5 / 74.5, "a": 12.25 / 13.25, "c": 12.25 / 13.25}
    )


def test_what_is_as_good_as_certain_is_in_the_order_of_the_fusion_and_not_of_ids():
    """Log-odds of 27, which is 1 to the last digit of a double."""
    results = [result(name, 0.999999, fused=fused) for name, fused in (("c", 0.3), ("a", 0.2), ("b", 0.1))]
    for one in results:
        one["sources"]["graphiti"] = {"raw": 0.999999}
    ranked = rerank_offline("tea", results)
    assert order(ranked) == ["c", "a", "b"]
    assert ranked[0]["rerank_score"] > ranked[1]["rerank_score"] > ranked[2]["rerank_score"]


def test_a_note_of_the_right_year_comes_first_and_is_no_more_relevant_for_it():
    dated = {"wrong": "2020-01-01T00:00:00+00:00", "right": "2025-05-01T00:00:00+00:00"}
    results = [result(name, 0.3, date=date) for name, date in dated.items()]
    ranked = rerank_offline("What was the capital of Mongolia in 2025?", results)
    assert order(ranked) == ["right", "wrong"]
    assert ranked[0]["rerank_score"] == pytest.approx(0.3)
    assert log_odds(ranked[1]["rerank_score"]) == pytest.approx(log_odds(0.3) - 2.0, abs=1e-6)


def test_a_recorded_mistake_comes_first_where_mistakes_are_grouped_and_is_no_more_relevant_for_it():
    results = [result("note", 0.6), result("mistake", 0.4, fused=0.3, tags=["mistake"])]
    assert order(rerank_offline("tea", results)) == ["note", "mistake"]
    ranked = rerank_offline("tea", results, operation=CLUSTER)
    assert order(ranked) == ["mistake", "note"]
    assert scores(ranked) == pytest.approx({"mistake": 0.6, "note": 0.4})


def test_in_dialogue_the_speaker_asked_for_decides():
    turns = [
        result(name, content="I like tea.", kind="turn", speaker=name, ordinal=n * 10)
        for n, name in enumerate(["Ada", "Bob"])
    ]
    ranked = rerank_offline("What does Bob like?", turns, weights=weighed(prior=2.0, speaker=2.5))
    assert order(ranked) == ["Bob", "Ada"]
    assert log_odds(ranked[0]["rerank_score"]) == pytest.approx(2.5, abs=1e-6)


GRAPH = [{"id": "graph", "score": 0.9}, {"id": "both", "score": 0.6}]
VECTOR = [{"id": "vector", "score": 0.9}, {"id": "both", "score": 0.6}]


@pytest.mark.parametrize(
    ("operation", "final"),
    [
        ("verification_canvas", ["both", "graph", "vector"]),
        ("weak_point_clustering", ["graph", "both", "vector"]),
        ("document_retrieval", ["vector", "both", "graph"]),
    ],
)
def test_the_strategy_reaches_the_result(operation: str, final: list[str]):
    """RRF, .7 and .3, .3 and .7 of the same hits."""
    fused = [result.to_dict() for result in fuse_for_operation(operation, GRAPH, VECTOR).results]
    for given_order in (fused, fused[::-1]):
        ranked = rerank_offline("tea", given_order, operation=operation)
        assert order(ranked) == final
    without = rerank_offline("tea", fused, operation, {**WEIGHTS, "prior": 0.0})
    assert order(without) == ["graph", "vector", "both"], "by relevance alone, whatever the strategy"


def test_the_given_results_are_not_changed():
    given_results = [result("b"), result("a", kind="turn", speaker="Ada")]
    before = copy.deepcopy(given_results)
    rerank_offline("tea", given_results)
    assert given_results == before


@given(
    st.text(max_size=40),
    st.lists(
        st.tuples(
            st.text(max_size=40),
            st.none() | st.floats(-0.5, 1.5),
            st.none() | st.sampled_from(["Ada", "", "茶"]),
            st.floats(0, 2),
        ),
        max_size=8,
    ),
    st.sampled_from([None, CLUSTER]),
)
def test_scores_lie_between_0_and_1_and_nothing_is_lost(
    query: str, rows: list[tuple[str, float | None, str | None, float]], operation: str | None
):
    results = [
        result(
            str(n),
            raw,
            text,
            fused=fused,
            ordinal=n,
            **({} if speaker is None else {"kind": "turn", "speaker": speaker}),
        )
        for n, (text, raw, speaker, fused) in enumerate(rows)
    ]
    ranked = rerank_offline(query, results, operation=operation)
    assert sorted(order(ranked)) == sorted(order(results))
    assert all(0 <= one["rerank_score"] <= 1 for one in ranked)
    assert [(-one["rerank_score"], one["id"]) for one in ranked] == sorted(
        (-r["rerank_score"], r["id"]) for r in ranked
    )


EXACT = Parameters()


def hits(*scored: tuple[str, float]) -> list[Hit]:
    return [
        {
            "id": name,
            "content": f"What {name} says.",
            "type": "document",
            "rank": rank,
            "score": score,
            "metadata": {},
            "evidence": {},
            "facts": [],
        }
        for rank, (name, score) in enumerate(scored, start=1)
    ]


def final(strategy: FusionStrategy, graph: list[Hit], vector: list[Hit], count: int) -> list[str]:
    fusion = EXACT.fusion.model_copy(update={"strategy": strategy})
    fused = fuse_for_operation("document_retrieval", graph, vector, fusion)
    ranked = rerank_offline("tea", [result.to_dict() for result in fused.results])
    return [result["id"] for result in ranked[:count]]


def told(graph: list[Hit], vector: list[Hit], ids: list[str], used: str) -> dict[str, int]:
    searched = SearchedQuestion("tea", SourceHits(graph, vector), "document_retrieval", EXACT, None)
    return searched.count_moved(ids, used)


def test_every_other_strategy_is_told_and_the_one_that_was_used_is_not():
    graph, vector = hits(("a", 0.9), ("b", 0.2)), hits(("c", 0.9), ("d", 0.2))
    ids = final(FusionStrategy.WEIGHTED_LANCEDB, graph, vector, 1)
    assert told(graph, vector, ids, "weighted_lancedb").keys() == {"rrf", "weighted_graphiti", "cascade"}


def test_a_result_that_only_this_strategy_puts_first_counts():
    graph, vector = hits(("a", 0.9), ("b", 0.2)), hits(("c", 0.9), ("d", 0.2))
    ids = final(FusionStrategy.WEIGHTED_LANCEDB, graph, vector, 1)
    assert ids == ["c"]
    assert told(graph, vector, ids, "weighted_lancedb")["weighted_graphiti"] == 1


def test_where_all_results_are_shown_no_strategy_has_others():
    graph, vector = hits(("a", 0.9), ("b", 0.2)), hits(("c", 0.9), ("d", 0.2))
    ids = final(FusionStrategy.WEIGHTED_LANCEDB, graph, vector, 4)
    lost = told(graph, vector, ids, "weighted_lancedb")
    assert lost == {"rrf": 0, "weighted_graphiti": 0, "cascade": 0}
