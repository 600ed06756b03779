"""RRF against its formula, its properties, and ranx."""

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_rag.errors import ConfigError, InputError
from agentic_rag.fusion import UnifiedResult, fuse_ids, read_hits, read_lancedb, reciprocal_rank_fusion

Hits = list[dict[str, Any]]


def hits(*ids: str) -> Hits:
    return [{"id": identity, "rank": rank} for rank, identity in enumerate(ids, start=1)]


def scores(results: list[UnifiedResult]) -> dict[str, float]:
    return {result.id: result.fused_score for result in results}


ranked_ids = st.lists(st.sampled_from("abcdefghij"), unique=True, max_size=10)
scored = st.lists(
    st.fixed_dictionaries(
        {"id": st.sampled_from("abcdef"), "score": st.floats(-1e6, 1e6)},
        optional={"content": st.sampled_from(["", "text"]), "metadata": st.just({"m": 1})},
    ),
    max_size=12,
)


# ── arithmetic ──────────────────────────────────────────────────────────────────────────────────


def test_the_formula():
    fused = reciprocal_rank_fusion(hits("a", "b"), hits("b", "c"))
    assert scores(fused) == {"b": 1 / (60 + 2) + 1 / (60 + 1), "a": 1 / (60 + 1), "c": 1 / (60 + 2)}
    assert [result.id for result in fused] == ["b", "a", "c"]
    assert [result.source for result in fused] == ["graphiti+lancedb", "graphiti", "lancedb"]


def test_k_and_weights():
    fused = reciprocal_rank_fusion(hits("a"), hits("b", "a"), k=10, graphiti_weight=2, lancedb_weight=0.5)
    assert scores(fused) == {"a": 2 * (1 / (10 + 1)) + 0.5 * (1 / (10 + 2)), "b": 0.5 * (1 / (10 + 1))}


def test_every_source_is_on_record():
    (result,) = reciprocal_rank_fusion(
        [{"id": "a", "score": 0.4, "type": "edge", "content": "fact"}],
        [{"id": "a", "score": 0.0, "content": "text"}],
    )
    assert result.sources == {
        "graphiti": {"rank": 1, "raw": 0.4, "normalised": 1 / 61, "weight": 1.0},
        "lancedb": {"rank": 1, "raw": 0.0, "normalised": 1 / 61, "weight": 1.0},
    }
    assert result.rrf_score == result.fused_score == 1 / 61 + 1 / 61
    assert result.original_score == 0.4
    assert (result.type, result.content) == ("document", "text")  # the chunk's own text, not a stand-in
    assert (result.rerank_score, result.tier) == (None, None)


def test_the_original_score_is_that_of_the_best_ranked_source_and_never_invented():
    fused = reciprocal_rank_fusion(
        hits("a"), [{"id": "b", "rank": 1, "score": 0.9}, {"id": "a", "rank": 2, "score": 0.8}]
    )
    assert {result.id: result.original_score for result in fused} == {"a": None, "b": 0.9}


def test_metadata_of_both_sources_the_best_ranked_one_first():
    graph = [{"id": "a", "rank": 1, "metadata": {"x": "graph", "g": 1}}]
    vector = [{"id": "a", "rank": 2, "metadata": {"x": "vector", "v": 1}}]
    assert reciprocal_rank_fusion(graph, vector)[0].metadata == {"x": "graph", "g": 1, "v": 1}


@pytest.mark.parametrize(
    "parameters",
    [
        {"k": 0},
        {"k": 1.5},
        {"limit": 0},
        {"graphiti_weight": -1},
        {"graphiti_weight": float("nan")},
        {"lancedb_weight": float("inf")},
        {"graphiti_weight": 0, "lancedb_weight": 0},
    ],
)
def test_parameters_out_of_range_are_refused(parameters: dict[str, Any]):
    with pytest.raises(ConfigError):
        reciprocal_rank_fusion(hits("a"), hits("a"), **parameters)


def test_an_id_that_stands_twice_in_a_ranking_counts_once_and_those_behind_it_move_up():
    assert fuse_ids({"graph": ["a", "a", "b"]}) == [("a", 1 / (60 + 1)), ("b", 1 / (60 + 2))]


def test_no_ranking_at_all_is_refused_and_empty_ones_give_nothing():
    with pytest.raises(ConfigError, match="every weight is 0"):
        fuse_ids({})
    assert fuse_ids({"graph": [], "vectors": ()}) == []


@pytest.mark.parametrize(
    ("parameters", "told"),
    [
        ({"k": 0}, "k is 0"),
        ({"limit": 0}, "limit is 0"),
        ({"weights": {"graph": -1}}, "graph_weight is -1"),
        ({"weights": {"grap": 1}}, "a weight is given for the unknown ranking 'grap'; use some of: 'graph'"),
        ({"weights": {"graph": 0}}, "every weight is 0"),
    ],
)
def test_parameters_of_ids_out_of_range_are_refused(parameters: dict[str, Any], told: str):
    with pytest.raises(ConfigError, match=told):
        fuse_ids({"graph": ["a"]}, **parameters)


@pytest.mark.parametrize("ranking", ["abc", b"abc", 7, {"a": 1}, ["a", ""], ["a", None], [{"id": "a"}]])
def test_what_is_no_ranking_of_ids_is_refused(ranking: Any):
    with pytest.raises(InputError, match="the ranking 'graph'"):
        fuse_ids({"graph": ranking})


# ── properties ──────────────────────────────────────────────────────────────────────────────────


@given(scored, scored, st.randoms(use_true_random=False))
def test_the_order_of_scored_input_does_not_matter(graph: Hits, vector: Hits, rng: random.Random):
    shuffled = [rng.sample(items, len(items)) for items in (graph, vector)]
    fused, again = reciprocal_rank_fusion(graph, vector), reciprocal_rank_fusion(*shuffled)
    assert [(one.id, one.fused_score) for one in fused] == [(one.id, one.fused_score) for one in again]


@given(
    ranked_ids,
    ranked_ids,
    st.integers(1, 100),
    st.sampled_from([0, 0.1, 1, 5]),
    st.none() | st.integers(1, 12),
)
def test_ids_alone_are_fused_as_hits_are(
    graph: list[str], vector: list[str], k: int, weight: float, limit: int | None
):
    fused = reciprocal_rank_fusion(hits(*graph), hits(*vector), k, lancedb_weight=weight, limit=limit)
    rankings = {"graphiti": graph, "lancedb": vector}
    alone = fuse_ids(rankings, k, weights={"lancedb": weight}, limit=limit)
    assert alone == [(result.id, result.fused_score) for result in fused]


@given(ranked_ids, ranked_ids)
def test_weight_zero_removes_a_source(graph: list[str], vector: list[str]):
    fused = reciprocal_rank_fusion(hits(*graph), hits(*vector), graphiti_weight=0)
    assert fused == reciprocal_rank_fusion([], hits(*vector))
    assert all(result.source == "lancedb" for result in fused)


@given(scored, scored)
def test_the_order_is_total(graph: Hits, vector: Hits):
    keys = [(-result.fused_score, result.id) for result in reciprocal_rank_fusion(graph, vector)]
    assert keys == sorted(set(keys))


@given(scored)
def test_reading_twice_changes_nothing(items: Hits):
    once = read_lancedb(items)
    assert read_lancedb(once) == once
    assert read_hits(once, "lancedb") == once
    assert len({hit["id"] for hit in once}) == len(once)


# ── oracle ──────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.filterwarnings(
    "ignore::DeprecationWarning", "ignore::SyntaxWarning", "ignore:.*:numba.NumbaWarning"
)
def test_ranx_agrees():
    from ranx import Run, fuse

    rng = random.Random(7)
    queries = [f"q{number}" for number in range(20)]
    runs = []
    for _ in range(2):
        run = {}
        for query in queries:
            found = rng.sample(range(40), 25)
            run[query] = {f"d{document:02}": rng.random() for document in found}
        runs.append(run)
    oracle = fuse([Run(run) for run in runs], method="rrf", params={"k": 60}).to_dict()
    for query in queries:
        sides = [[{"id": document, "score": score} for document, score in run[query].items()] for run in runs]
        assert scores(reciprocal_rank_fusion(*sides)) == pytest.approx(oracle[query])
