"""Features of the rerank: every term has the documented value."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_rag.domain.odds import log_odds, probability
from agentic_rag.fusion.strategy_selector import CanvasOperation
from agentic_rag.rerank.features import (
    TERMS,
    UNKNOWN_RELEVANCE,
    judge,
    records_mistake,
    relevance_odds,
    terms_of,
    vector_odds,
)
from agentic_rag.rerank.offline import rerank_offline

CLUSTER = "weak_point_clustering"
OF_DIALOGUE = ("window", "speaker", "length")


def one(identity: str, content: str, sources: dict[str, float | None], **metadata: Any) -> dict[str, Any]:
    return {
        "id": identity,
        "content": content,
        "metadata": {"document_id": "d", "ordinal": 0, **metadata},
        "sources": {name: {"raw": raw} for name, raw in sources.items()},
    }


NOTES = [
    one("a", "oolong tea is rolled", {"lancedb": 0.9, "graphiti": 0.4}, speaker="oolong"),
    one("b", "trains and stations", {"lancedb": 0.3}, ordinal=1),
    one("c", "an island in the sea", {"graphiti": 0.8}, document_id="e"),
]
DIALOGUE = [
    one("t0", "Ann: I bought a red bicycle.", {"lancedb": 0.8}, kind="turn", speaker="Ann", ordinal=0),
    one("t1", "Ben: Lovely!", {"lancedb": 0.4, "graphiti": 0.9}, kind="turn", speaker="Ben Ray", ordinal=1),
    one("t3", "Ann: Yes.", {"lancedb": 0.2}, kind="turn", speaker="Ann", ordinal=3),
    one("n", "a bare fact", {"graphiti": 0.7}, ordinal=None),
]


@pytest.mark.parametrize("results", [[], NOTES, DIALOGUE])
@pytest.mark.parametrize("operation", [None, CLUSTER])
def test_there_is_a_column_for_every_term_with_a_value_for_every_result(
    results: list[dict[str, Any]], operation: str | None
):
    columns = terms_of("Where was Ann in 2023?", results, operation)
    assert list(columns) == list(TERMS)
    assert all(column.shape == (len(results),) for column in columns.values())
    assert all(np.isfinite(column).all() for column in columns.values())


def test_of_notes_and_a_question_without_a_time_no_term_says_anything():
    """Not even where a note has a property that is called ``speaker``."""
    assert {name: set(column.tolist()) for name, column in terms_of("oolong", NOTES).items()} == {
        name: {0.0} for name in TERMS
    }


# --- time ----------------------------------------------------------------------------------------


def dated(*texts: str) -> list[dict[str, Any]]:
    return [one(str(n), text, {"lancedb": 0.5}) for n, text in enumerate(texts)]


def test_time_takes_away_what_the_best_fits_better():
    """1.9 for the year and 1 for a date within; half of the former for another month of the year."""
    results = dated(
        "It was built in March 2024.", "It was built in May 2024.", "It was built in 1999.", "It was."
    )
    time = terms_of("What was built in March 2024?", results)["time"]
    assert time.tolist() == pytest.approx([0.0, 0.95 - 2.9, -2.9, -2.9])


def test_where_all_fit_the_time_alike_it_says_nothing():
    for results in (dated("In 2024 it was.", "It was so in 2024."), dated("It was.", "It is.")):
        assert terms_of("What was built in 2024?", results)["time"].tolist() == [0.0, 0.0]


# --- mistakes ------------------------------------------------------------------------------------


def test_what_records_a_mistake_is_told_where_mistakes_are_grouped():
    results = [*NOTES, one("m", "I took steam for gas.", {"lancedb": 0.1}, tags=["mistake"])]
    assert terms_of("steam", results, CLUSTER)["mistake"].tolist() == [0.0, 0.0, 0.0, 1.0]
    for operation in (None, "verification_canvas", "concept_relation", "document_retrieval"):
        assert not terms_of("steam", results, operation)["mistake"].any()


# --- dialogue ------------------------------------------------------------------------------------


def test_a_turn_is_judged_by_the_turns_beside_it_too():
    """What the vector store missed, or nobody found, is as relevant as its last; a bare fact has no place."""
    high, low, least = log_odds(0.8), log_odds(0.4), log_odds(0.2)
    typical = (low + least) / 2
    assert terms_of("x", DIALOGUE)["window"].tolist() == pytest.approx(
        [(least + low) / 2 - typical, (high + least) / 2 - typical, least - typical, 0.0]
    )


def test_turns_of_another_conversation_are_not_beside_it():
    elsewhere = [{**DIALOGUE[1], "metadata": {**DIALOGUE[1]["metadata"], "document_id": "e"}}]
    window = terms_of("x", [DIALOGUE[0], *elsewhere])["window"]
    typical = (log_odds(0.8) + log_odds(0.4)) / 2
    assert window.tolist() == pytest.approx([log_odds(0.4) - typical] * 2)


@pytest.mark.parametrize(
    ("query", "asked"),
    [
        ("What did Ann buy?", [1.0, 0.0, 1.0, 0.0]),
        ("What did Ben say?", [0.0, 0.0, 0.0, 0.0]),
        ("What did Ben Ray say to Ann?", [1.0, 1.0, 1.0, 0.0]),
        ("What was bought?", [0.0, 0.0, 0.0, 0.0]),
    ],
)
def test_a_speaker_is_asked_for_by_all_words_of_the_name(query: str, asked: list[float]):
    assert terms_of(query, DIALOGUE)["speaker"].tolist() == asked


@pytest.mark.parametrize("speaker", ["", "!", 7, ["Ann"]])
def test_a_speaker_without_a_name_is_not_asked_for(speaker: Any):
    turn = one("t", "Yes.", {"lancedb": 0.5}, kind="turn", speaker=speaker)
    assert terms_of("Ann 7", [turn])["speaker"].tolist() == [0.0]


def test_a_longer_turn_says_more_than_one_of_twenty_words():
    turns = [
        one(str(n), " ".join(["tea"] * n), {"lancedb": 0.5}, kind="turn", speaker="Ann") for n in (2, 20, 40)
    ]
    assert terms_of("x", turns)["length"].tolist() == pytest.approx(
        [math.log(3 / 21), 0.0, math.log(41 / 21)]
    )


def test_in_a_mixed_list_only_turns_have_the_terms_of_a_dialogue():
    columns = terms_of("What did Ann buy?", [*NOTES, *DIALOGUE])
    for name in OF_DIALOGUE:
        assert not columns[name][: len(NOTES)].any()
        assert columns[name][len(NOTES) :].any()
    spoken = terms_of("Ann", [one("t", "Ann: tea", {"lancedb": 0.5}, kind="turn")])
    assert not any(column.any() for column in spoken.values()), "of a turn without a speaker nothing is known"


CALLOUT = "Which is hotter?\n\n> [!failure] My answer\n> 06, because six is more.\n> About forty degrees.\n\n> [!success]\n> Cone 4.\n"


def note(identity: str = "a", content: str = "Cone 4 is hotter.", **metadata: Any) -> dict[str, Any]:
    return {
        "id": identity,
        "content": content,
        "type": "document",
        "fused_score": 0.5,
        "facts": [],
        "tier": None,
        "metadata": metadata,
        "sources": {"lancedb": {"rank": 1, "raw": 0.7, "normalised": 1.0, "weight": 1.0}},
    }


@pytest.mark.parametrize(
    "recorded",
    [
        note(tags=["kiln", "mistake"]),
        note(tags="Mistakes"),
        note(tags=["study/my_mistakes"]),
        note(tags=["错题"]),
        note(path="错题本/2024-03-16.md"),
        note(path="02 Mistakes/cones.md"),
        note(title="常见误区"),
        note(title="Cones", heading_path=["Cones", "Weak points"]),
        note(content=CALLOUT),
        note(content="> [!FAIL]- Mine\n> 06"),
    ],
    ids=lambda recorded: str(recorded["metadata"]),
)
def test_what_records_a_mistake(recorded: dict[str, Any]) -> None:
    assert records_mistake(recorded)


@pytest.mark.parametrize(
    "other",
    [
        note(),
        note(tags=None, path=None, title=None, heading_path=None),
        note(tags=["terror", "weaken"], path="mistakes.md", title="Night terrors"),
        note(tags=[2024, None], title="Cones", heading_path=["Cones"]),
        note(content="I made a mistake with the cones. [!failure]"),
        note(content="> [!success]\n> Cone 4."),
    ],
    ids=lambda other: str(other["metadata"]),
)
def test_what_records_none(other: dict[str, Any]) -> None:
    assert not records_mistake(other)


def test_mistakes_come_first_under_weak_point_clustering_alone() -> None:
    better = note("a", document_id="a")
    slip = note("b", document_id="b", tags=["mistake"])
    slip["sources"] = {"lancedb": {**slip["sources"]["lancedb"], "rank": 2, "raw": 0.6}}
    plain = rerank_offline("cones", [better, slip])
    grouped = rerank_offline("cones", [better, slip], CanvasOperation.WEAK_POINT_CLUSTERING)
    assert [result["id"] for result in plain] == ["a", "b"]
    assert [result["id"] for result in grouped] == ["b", "a"]
    # They are dealt the relevance that there was: nothing is answered for being a mistake.
    assert [result["rerank_score"] for result in grouped] == pytest.approx(
        [result["rerank_score"] for result in plain]
    )
    for operation in set(CanvasOperation) - {CanvasOperation.WEAK_POINT_CLUSTERING}:
        assert rerank_offline("cones", [better, slip], operation) == plain


def test_where_no_note_records_a_mistake_nothing_changes() -> None:
    notes = [note("a", document_id="a"), note("b", document_id="b")]
    plain = rerank_offline("cones", notes)
    assert rerank_offline("cones", notes, operation=CanvasOperation.WEAK_POINT_CLUSTERING) == plain


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
    told = relevances(found_by(lancedb=0.8, graphiti=0.6), found_by(lancedb=0.2), found_by(graphiti=0.9))
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
    assert relevances(result, result) == pytest.approx([UNKNOWN_RELEVANCE, UNKNOWN_RELEVANCE])


def test_scores_beyond_0_and_1_count_as_these():
    outside = relevance_odds([found_by(lancedb=1.7), found_by(lancedb=-0.5)])
    assert outside == relevance_odds([found_by(lancedb=1.0), found_by(lancedb=0.0)])


def test_of_no_results_there_is_nothing_to_say():
    assert (relevance_odds([]), judge([]), vector_odds([])) == ([], [], [])


def three() -> list[dict[str, Any]]:
    return [found_by(lancedb=0.8, graphiti=0.6), found_by(lancedb=0.4), found_by(lancedb=0.2)]


def test_where_nothing_was_reranked_the_sources_judge():
    assert judge(three()) == pytest.approx([6 / 7, 0.5, 3 / 11])
    nameless = [{name: one[name] for name in ("id", "sources")} for one in three()]
    assert judge(nameless) == judge(three())


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
    assert judge(results) == pytest.approx(told)


def test_the_vector_store_reads_the_passages_and_where_it_found_none_the_graph_speaks():
    both = [found_by(lancedb=0.8, graphiti=0.6), found_by(graphiti=0.9), found_by(lancedb=0.2)]
    assert vector_odds(both) == pytest.approx([log_odds(0.8), log_odds(0.2), log_odds(0.2)])
    assert vector_odds([found_by(graphiti=0.9)]) == pytest.approx([log_odds(0.9)])
    assert vector_odds([found_by()]) == pytest.approx([log_odds(UNKNOWN_RELEVANCE)])


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
