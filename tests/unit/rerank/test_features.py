"""What reranking knows of results that no source could: every term is what its line says."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from agentic_rag.domain.odds import log_odds
from agentic_rag.errors import ConfigError
from agentic_rag.rerank.features import TERMS, terms_of
from agentic_rag.settings.parameters import Parameters, RerankParameters

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


def test_every_term_is_weighed_by_a_parameter_of_its_name():
    assert TERMS.keys() <= RerankParameters.model_fields.keys()
    for name in TERMS:
        with pytest.raises(ConfigError, match=name):
            Parameters().overridden({"rerank": {name: -0.1}})


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
