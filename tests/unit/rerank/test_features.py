"""What reranking knows of results: the offline scores are pinned, every feature is what its line says."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from agentic_rag.errors import ConfigError
from agentic_rag.odds import log_odds
from agentic_rag.parameters import Parameters, RerankParameters
from agentic_rag.rerank.features import TERMS, graph_share, terms_of
from agentic_rag.rerank.late_interaction import FAMILIARITY, SIMILARITY
from agentic_rag.rerank.offline import FAMILIAR, dealt_odds, rerank_offline


def found(rank: int, raw: float | None, weight: float) -> dict[str, Any]:
    return {"rank": rank, "raw": raw, "normalised": 1.0 / rank, "weight": weight}


def one(identity: str, content: str, sources: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {
        "id": identity,
        "content": content,
        "type": "document",
        "fused_score": fields.pop("fused_score", 0.5),
        "facts": [],
        "tier": fields.pop("tier", None),
        "metadata": {"document_id": "d", "ordinal": 0, **fields},
        "sources": sources,
    }


NOTES = [
    one(
        "a", "oolong tea is rolled", {"lancedb": found(1, 0.9, 0.7), "graphiti": found(2, 0.4, 0.3)}, walk=0.5
    ),
    one("b", "trains and stations", {"lancedb": found(2, 0.3, 0.7)}, ordinal=1),
    one("c", "an island in the sea", {"graphiti": found(1, 0.8, 0.3)}, walk=1.0, document_id="e"),
    one("d", "tea", {"lancedb": found(3, None, 0.7), "graphiti": found(3, None, 0.3)}, walk=0.0),
]
DIALOGUE = [
    one(
        "t1",
        "Ann: I bought a red bicycle in Lisbon.",
        {"lancedb": found(1, 0.8, 0.5), "graphiti": found(1, 0.7, 0.5)},
        kind="turn",
        speaker="Ann",
        ordinal=0,
        walk=0.2,
    ),
    one(
        "t2",
        "Ben: Lovely! My dog Pepper would chase it.",
        {"lancedb": found(2, 0.2, 0.5)},
        kind="turn",
        speaker="Ben",
        ordinal=1,
    ),
    one("t3", "Ann: Yes.", {"graphiti": found(2, 0.1, 0.5)}, kind="turn", speaker="Ann", ordinal=2, walk=1.0),
    one("t4", "a bare fact", {"graphiti": found(3, None, 0.5)}, ordinal=None),
]


@pytest.mark.parametrize(
    ("query", "results", "expected"),
    [
        (
            "which oolong tea is rolled",
            NOTES,
            {
                "a": 0.8999999999999999,
                "c": 0.29999999979,
                "b": 0.29999999958,  # as relevant as c, but no walk comes by
                "d": 0.29999999958,
            },
        ),
        (
            "Where did Ann buy a bicycle?",
            DIALOGUE,
            {
                "t1": 0.9561229408976777,
                "t3": 0.21885708756706604,
                "t4": 0.19999999968,
                "t2": 0.15325628008539904,
            },
        ),
    ],
)
def test_offline_scores_are_these(query: str, results: list[dict[str, Any]], expected: dict[str, float]):
    ranked = rerank_offline(query, results, RerankParameters(walk=5.0, time=0.0, brief=0.0, doubt=0.0))
    assert [one["id"] for one in ranked] == list(expected)
    assert {one["id"]: one["rerank_score"] for one in ranked} == pytest.approx(expected, rel=1e-12)


def test_every_term_is_weighed_by_a_parameter_of_its_name():
    assert TERMS.keys() <= RerankParameters.model_fields.keys()
    for name in TERMS:
        with pytest.raises(ConfigError, match=name):
            Parameters().overridden({"rerank": {name: -0.1}})


def test_without_weights_only_the_judge_decides():
    nothing = RerankParameters.model_validate(dict.fromkeys(TERMS, 0.0))
    scores = {one["id"]: one["rerank_score"] for one in rerank_offline("Ann", DIALOGUE, nothing)}
    # what the vector store did not find is judged like the last that it found
    assert scores == pytest.approx({"t1": 0.8, "t2": 0.2, "t3": 0.2, "t4": 0.2})


@pytest.mark.parametrize(("best", "first"), [(0.95, "near"), (0.3, "tied")])
def test_what_reorders_counts_more_the_less_relevant_the_best_is(best: float, first: str):
    """The walk is for the other one, of log-odds .5 less: its .4 times the share count 1 + 16 (1 - p) times."""
    less = 1 / (1 + math.exp(0.5 - math.log(best / (1 - best))))
    found_by = {
        "near": {"graphiti": found(1, best, 1.0), "lancedb": found(1, best, 1.0)},
        "tied": {"graphiti": found(2, less, 1.0), "lancedb": found(2, less, 1.0)},
    }
    results = [
        one("near", "tea", found_by["near"], walk=math.exp(-0.5)),
        one("tied", "tea", found_by["tied"], walk=1.0),
    ]
    weights = RerankParameters(walk=0.8, interaction=0.0, brief=0.0, doubt=16.0)
    share = graph_share(results)
    counts = (1 + 16 * (1 - best)) * 0.8 * share * 0.5
    assert (counts > 0.5) == (first == "tied"), "the example is as it says"
    ranked = rerank_offline("tea", results, weights)
    assert ranked[0]["id"] == first
    assert ranked[0]["rerank_score"] == pytest.approx(best), "the scores are dealt out, not changed"


def test_where_a_stated_time_tells_results_apart_nothing_counts_more():
    judged, columns = np.array([-1.0, -1.5]), {name: np.zeros(2) for name in TERMS}
    columns |= {"walk": np.array([-0.5, 0.0]), "time": np.array([0.0, -0.1])}
    weights = RerankParameters(walk=0.5, time=1.0, doubt=16.0)
    undated, nothing = {**columns, "time": np.zeros(2)}, np.zeros(2, dtype=bool)
    assert np.argmax(dealt_odds(judged, columns, weights, familiarity=None, named=nothing)) == 0
    assert np.argmax(dealt_odds(judged, undated, weights, familiarity=None, named=nothing)) == 1


def told(familiarity: float | None) -> list[dict[str, Any]]:
    """Two notes, one relevant at .5, compared with the question's tokens or not."""
    compared = {} if familiarity is None else {SIMILARITY: 0.3, FAMILIARITY: familiarity}
    return [
        one(name, "tea " * 30, {"lancedb": found(n, 0.5 / n, 1.0)}, **compared)
        for n, name in ((1, "a"), (2, "b"))
    ]


@pytest.mark.parametrize(
    ("familiarity", "less"), [(FAMILIAR - 0.1, 2.0), (FAMILIAR, 0.0), (FAMILIAR + 0.3, 0.0), (None, 0.0)]
)
def test_scores_fall_where_nothing_found_comes_near_the_questions_tokens(
    familiarity: float | None, less: float
):
    before = rerank_offline("tea", told(familiarity), RerankParameters(unfamiliar=0.0))
    after = rerank_offline("tea", told(familiarity), RerankParameters(unfamiliar=2.0))
    assert [result["id"] for result in after] == [result["id"] for result in before]
    changes = [
        log_odds(now["rerank_score"]) - log_odds(then["rerank_score"])
        for now, then in zip(after, before, strict=True)
    ]
    assert changes == pytest.approx([-less, -less], abs=1e-6), "all by as much"


WITH_VENICE = [
    one("plain", "the tower of the city is high " * 5, {"lancedb": found(1, 0.4, 1.0)}),
    one("first", "he showed the tube in Venice " * 5, {"lancedb": found(2, 0.3, 1.0)}),
    one("second", "a lens from Venice came late " * 5, {"lancedb": found(3, 0.2, 1.0)}),
    one("other", "nothing to see here at all " * 5, {"lancedb": found(4, 0.1, 1.0)}),
]


def test_what_has_every_word_that_is_asked_about_is_lifted_in_its_order():
    ranked = rerank_offline("What is Venice?", WITH_VENICE, RerankParameters(named=0.5))
    assert [result["id"] for result in ranked] == ["first", "second", "plain", "other"]
    scores = [result["rerank_score"] for result in ranked]
    assert 0.5 <= scores[1] < scores[0] < 0.53
    assert scores[2:] == pytest.approx([0.4, 0.1])
    surer = rerank_offline("What is Venice?", WITH_VENICE, RerankParameters(named=0.25))
    assert [result["id"] for result in surer] == ["plain", "first", "second", "other"], (
        "0.3 is more than that"
    )


@pytest.mark.parametrize(
    ("query", "lifted"),
    [
        ("What is Venice?", True),
        ("What of the tube of Venice?", False),
        ("Which boats are in Venice?", False),
        ("What is it?", False),
        ("Is it late?", False),
    ],
)
def test_only_what_has_them_all_is_lifted(query: str, lifted: bool):
    results = [WITH_VENICE[2], WITH_VENICE[3]]
    best = rerank_offline(query, results, RerankParameters())[0]
    assert (best["rerank_score"] >= 0.5) == lifted


def test_words_that_most_results_have_lift_nothing():
    results = WITH_VENICE[1:3]
    assert rerank_offline("What is Venice?", results)[0]["rerank_score"] == pytest.approx(0.3)


def test_a_turn_that_has_the_words_is_not_lifted():
    turn = one("t", "Ann: Venice.", {"lancedb": found(1, 0.1, 1.0)}, kind="turn", speaker="Ann")
    weights = RerankParameters.model_validate(dict.fromkeys(TERMS, 0.0))
    assert rerank_offline("Venice?", [turn], weights)[0]["rerank_score"] == pytest.approx(0.1)


def test_a_weight_moves_what_has_the_term():
    base = RerankParameters.model_validate(dict.fromkeys(TERMS, 0.0))
    named = base.model_copy(update={"speaker": 2.0})
    before = {one["id"]: one["rerank_score"] for one in rerank_offline("What did Ben say?", DIALOGUE, base)}
    after = {one["id"]: one["rerank_score"] for one in rerank_offline("What did Ben say?", DIALOGUE, named)}
    assert [name for name in before if after[name] > before[name]] == ["t2"]


def test_terms_of_a_dialogue_are_nothing_in_notes():
    terms = terms_of("oolong", NOTES)
    assert terms.graph_share == pytest.approx(0.3)
    assert terms.column("walk") == pytest.approx(
        [0.3 * math.log(0.5), 0.3 * math.log(1e-4), 0.0, 0.3 * math.log(1e-4)]
    )
    assert all(
        set(terms.column(name)) == {0.0} for name in ("time", "coverage", "window", "speaker", "length")
    )


def test_a_line_alone_is_brief_and_a_turn_is_not():
    notes = [
        one("line", "tea", {}),
        one("long", " ".join(["tea"] * 60), {}),
        one("turn", "tea", {}, kind="turn", speaker="A"),
    ]
    assert terms_of("tea", notes).column("brief") == [pytest.approx(math.log(2 / 20)), 0.0, 0.0]


def test_the_graphs_share_is_of_what_was_found():
    assert graph_share(NOTES[1:2]) == 0.0
    assert graph_share(NOTES[2:3]) == 1.0
    assert graph_share([]) == 0.0
