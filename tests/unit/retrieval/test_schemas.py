"""Projection: visited chunks become hits, with their supporting facts."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from agentic_rag.domain import FactHit, Hit
from agentic_rag.retrieval.embedding_calibration import fitted_calibration
from agentic_rag.retrieval.graph_hits import MAX_FACTS, alone, hits_of, rank_hits
from agentic_rag.retrieval.schemas import chunk_metadata
from agentic_rag.testing import fake_chunk

OWN = {"walk": ["home"], "legs": 4, "entities": "many", "familiarity": "high", "names": ["me"]}
TEA = fake_chunk("tea", "Oolong tea comes from Fujian.", metadata=OWN)
MILK = fake_chunk("milk", "Milk tea is sweet.")
CALIBRATION = fitted_calibration().calibration
FACT = FactHit(
    "f1", "COMES_FROM", "Oolong comes from Fujian.", 1, 0.9, 7.0, (TEA.id,), "Oolong", "Fujian",
    datetime(2024, 1, 1, tzinfo=UTC), None,
)  # fmt: skip
TOLD = {
    "id": "f1",
    "name": "COMES_FROM",
    "text": "Oolong comes from Fujian.",
    "source": "Oolong",
    "target": "Fujian",
    "valid_at": "2024-01-01T00:00:00+00:00",
    "invalid_at": None,
    "cosine": 0.9,
}


def projected(
    *found: FactHit, relevance: Mapping[str, float] | None = None, entities: Sequence[str] = ("Oolong",)
) -> list[Hit]:
    return hits_of(
        {TEA.id: TEA, MILK.id: MILK},
        relevance or {TEA.id: 0.7, MILK.id: 0.2},
        {TEA.id: 1.0, MILK.id: 0.01, "gone#0": 0.5},
        {TEA.id: entities, MILK.id: ()},
        found,
    )


def test_where_nothing_was_visited_there_is_nothing():
    assert hits_of({}, {}, {}, {}, [FACT]) == []


def test_a_chunk_is_a_hit_with_all_that_supports_it():
    first, second = projected(FACT)
    assert first == {
        "id": TEA.id,
        "content": TEA.text,
        "type": "edge",
        "rank": 1,
        "score": 0.7,
        "metadata": chunk_metadata(TEA),
        "evidence": {"walk": 1.0, "entities": ["Oolong"]},
        "facts": [TOLD],
    }
    assert (second["id"], second["rank"], second["type"], second["facts"]) == (MILK.id, 2, "episode", [])
    assert second["evidence"] == {"walk": 0.01, "entities": []}


def test_a_property_named_as_what_the_walk_tells_is_the_notes_own():
    (first, _) = projected()
    assert {key: first["metadata"][key] for key in OWN} == OWN
    assert first["evidence"] == {"walk": 1.0, "entities": ["Oolong"]}


def test_hits_are_plain_values():
    hits = [*projected(FACT, entities=("Oolong", "Fujian")), alone(FACT, CALIBRATION.judge("latin"))]
    assert json.loads(json.dumps(hits)) == hits


def test_without_a_fact_a_chunk_is_an_episode():
    assert [hit["type"] for hit in projected()] == ["episode", "episode"]


def test_the_relevance_given_is_what_counts():
    hits = projected(FACT, relevance={TEA.id: 0.1, MILK.id: 0.6})
    assert [(hit["id"], hit["score"], hit["rank"]) for hit in hits] == [(MILK.id, 0.6, 1), (TEA.id, 0.1, 2)]


def test_a_fact_of_two_chunks_supports_both():
    both = replace(FACT, chunk_ids=(MILK.id, TEA.id))
    assert [hit["facts"] for hit in projected(both)] == [[TOLD], [TOLD]]


def test_a_fact_of_a_chunk_that_was_not_visited_brings_none():
    hits = projected(replace(FACT, chunk_ids=("gone#0",)))
    assert {hit["id"] for hit in hits} == {TEA.id, MILK.id}
    assert [hit["facts"] for hit in hits] == [[], []]


def test_a_chunk_keeps_its_best_facts_only():
    many = [replace(FACT, id=f"f{n}", rank=n) for n in range(1, MAX_FACTS + 4)]
    assert [fact["id"] for fact in projected(*many)[0]["facts"]] == [f"f{n}" for n in range(1, MAX_FACTS + 1)]


def test_a_fact_alone_is_judged_by_its_cosine():
    fact = replace(FACT, chunk_ids=())
    assert alone(fact, CALIBRATION.judge("latin")) == {
        "id": "f1",
        "content": "Oolong comes from Fujian.",
        "type": "edge",
        "rank": 0,
        "score": CALIBRATION.of_cosine(0.9, ("latin", "latin")),
        "metadata": {"name": "COMES_FROM"},
        "evidence": {},
        "facts": [TOLD],
    }
    nearer = alone(replace(fact, cosine=0.95), CALIBRATION.judge("latin"))
    asked_in_chinese = alone(fact, CALIBRATION.judge("cjk"))
    assert (nearer["score"] or 0) > CALIBRATION.of_cosine(0.9, ("latin", "latin"))
    assert asked_in_chinese["score"] == CALIBRATION.of_cosine(0.9, ("cjk", "latin"))


def test_a_fact_that_no_vector_was_compared_with_has_no_score():
    assert alone(replace(FACT, cosine=None, chunk_ids=()), CALIBRATION.judge("latin"))["score"] is None


@given(st.dictionaries(st.text(max_size=3), st.none() | st.floats(0.0, 1.0)))
def test_ranks_are_by_score_then_id_and_no_score_is_like_nought(scores: dict[str, float | None]):
    one = alone(FACT, CALIBRATION.judge("latin"))
    hits = rank_hits([{**one, "id": name, "score": score} for name, score in scores.items()])
    assert [hit["rank"] for hit in hits] == list(range(1, len(scores) + 1))
    assert {hit["id"]: hit["score"] for hit in hits} == scores
    order = [(-(hit["score"] or 0.0), hit["id"]) for hit in hits]
    assert order == sorted(order)
