"""Relevance of fused results by what both sources judge."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_rag.domain.odds import log_odds, probability
from agentic_rag.rerank.relevance import UNKNOWN, judged, relevance_odds, vector_odds


def found_by(**raws: float | None) -> dict[str, Any]:
    """A fused result with the score that each source gave it; what is not among them did not find it."""
    sources = {name: {"rank": 1, "raw": raw, "normalised": 1.0, "weight": 1.0} for name, raw in raws.items()}
    return {"id": "a", "sources": sources, "fused_score": 0.5, "rerank_score": None}


def relevances(*results: dict[str, Any]) -> list[float]:
    return [probability(odds) for odds in relevance_odds(results)]


def test_the_log_odds_of_both_sources_add_up():
    # odds of 4 and of 3/2 make 6, those of 1/4 and of 3/2 make 3/8
    told = relevances(found_by(lancedb=0.8, graphiti=0.6), found_by(lancedb=0.2, graphiti=0.6))
    assert told == pytest.approx([6 / 7, 3 / 11])


def test_the_graph_only_adds():
    """What lies far from what the question names may answer all the same."""
    told = relevances(
        found_by(lancedb=0.8, graphiti=0.1),
        found_by(lancedb=0.8, graphiti=0.5),
        found_by(lancedb=0.8, graphiti=0.6),
    )
    assert told == pytest.approx([0.8, 0.8, 6 / 7])


def test_a_passage_that_a_source_missed_is_judged_like_the_last_it_found():
    # the last of the vector store has odds of 1/4, the last of the graph of 3/2
    told = relevances(
        found_by(lancedb=0.8, graphiti=0.6),
        found_by(lancedb=0.2),
        found_by(graphiti=0.9),
    )
    assert told == pytest.approx([6 / 7, 3 / 11, 9 / 13])


@pytest.mark.parametrize("name", ["lancedb", "graphiti"])
@pytest.mark.parametrize("other", [{}, {"graphiti": None, "lancedb": None}])
def test_a_source_that_found_nothing_says_nothing_of_any(name: str, other: dict[str, None]):
    results = [found_by(**{**other, name: raw}) for raw in (0.8, 0.3)]
    assert relevances(*results) == pytest.approx([0.8, 0.3])


@pytest.mark.parametrize("name", ["lancedb", "graphiti"])
def test_a_hit_without_a_score_is_one_that_the_source_did_not_judge(name: str):
    assert relevances(found_by(**{name: 0.8}), found_by(**{name: None}), found_by(**{name: 0.3})) == (
        pytest.approx([0.8, 0.3, 0.3])
    )


@pytest.mark.parametrize("result", [found_by(), found_by(lancedb=None, graphiti=None)])
def test_of_what_no_source_judged_nothing_is_known(result: dict[str, Any]):
    assert relevances(result, result) == pytest.approx([UNKNOWN, UNKNOWN])


def test_scores_beyond_0_and_1_count_as_these():
    outside = relevance_odds([found_by(lancedb=1.7), found_by(lancedb=-0.5)])
    assert outside == relevance_odds([found_by(lancedb=1.0), found_by(lancedb=0.0)])


def test_of_no_results_there_is_nothing_to_say():
    assert (relevance_odds([]), judged([]), vector_odds([])) == ([], [], [])


def three() -> list[dict[str, Any]]:
    return [found_by(lancedb=0.8, graphiti=0.6), found_by(lancedb=0.4), found_by(lancedb=0.2)]


def test_where_nothing_was_reranked_the_sources_judge():
    assert judged(three()) == pytest.approx([6 / 7, 0.5, 3 / 11])
    nameless = [{name: one[name] for name in ("id", "sources")} for one in three()]
    assert judged(nameless) == judged(three())


@pytest.mark.parametrize(
    ("scores", "told"),
    [
        ((0.1, 0.9, 0.0), [0.1, 0.9, 0.0]),
        ((0.9, 0.7, None), [0.9, 0.7, 3 / 11]),
        ((0.3, 0.1, None), [0.3, 0.1, 0.1]),
        ((0.9, None, None), [0.9, 0.5, 3 / 11]),
        ((0.0, None, None), [0.0, 0.0, 0.0]),
    ],
)
def test_a_rerank_score_stands_and_what_was_not_looked_at_is_no_better_than_the_last_that_was(
    scores: tuple[float | None, ...], told: list[float]
):
    """Else the sources would say of the tail what the model denies of the head."""
    results = three()
    for result, score in zip(results, scores, strict=True):
        result["rerank_score"] = score
    assert judged(results) == pytest.approx(told)


def test_the_vector_store_reads_the_passages_and_where_it_found_none_the_graph_speaks():
    both = [found_by(lancedb=0.8, graphiti=0.6), found_by(graphiti=0.9), found_by(lancedb=0.2)]
    assert vector_odds(both) == pytest.approx([log_odds(0.8), log_odds(0.2), log_odds(0.2)])
    assert vector_odds([found_by(graphiti=0.9)]) == pytest.approx([log_odds(0.9)])
    assert vector_odds([found_by()]) == pytest.approx([log_odds(UNKNOWN)])


RAWS = st.none() | st.floats(0, 1)
RESULTS = st.lists(
    st.builds(lambda graph, vector: found_by(graphiti=graph, lancedb=vector), RAWS, RAWS), max_size=6
)


@given(RESULTS, st.randoms())
def test_it_does_not_depend_on_the_order_of_the_results(results: list[dict[str, Any]], random: Any):
    places = list(range(len(results)))
    random.shuffle(places)
    told = relevance_odds(results)
    assert relevance_odds([results[place] for place in places]) == [told[place] for place in places]


@given(RESULTS)
def test_the_graph_takes_nothing_away_from_what_the_vector_store_judged(results: list[dict[str, Any]]):
    alone = [{**one, "sources": {"lancedb": one["sources"]["lancedb"]}} for one in results]
    if any(one["sources"]["lancedb"]["raw"] is not None for one in results):
        pairs = zip(relevance_odds(results), relevance_odds(alone), strict=True)
        assert all(both >= by_text for both, by_text in pairs)
