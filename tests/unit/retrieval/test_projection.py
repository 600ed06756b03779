"""Projection: what the graph found becomes evidence on the chunks it came from."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from agentic_rag.domain import GraphHit, Hit
from agentic_rag.odds import log_odds
from agentic_rag.retrieval.embedding_calibration import fitted_calibration
from agentic_rag.retrieval.projection import MAX_FACTS, Passages, Projection
from agentic_rag.testing import fake_chunk

TEA, MILK = fake_chunk("tea", "Oolong tea comes from Fujian."), fake_chunk("milk", "Milk tea is sweet.")
CHUNKS = {chunk.id: chunk for chunk in (TEA, MILK)}
CALIBRATION = fitted_calibration().calibration
QUERY = "Where does oolong come from?"
FACT = GraphHit(
    "edge", "f1", "COMES_FROM", "Oolong comes from Fujian.", 1, 0.9, 7.0, (TEA.id,), "Oolong", "Fujian",
    datetime(2024, 1, 1, tzinfo=UTC), None,
)  # fmt: skip
NODE = GraphHit("node", "n1", "Oolong", "Oolong", 1, 0.8, None, (TEA.id, MILK.id))
EPISODE = GraphHit("episode", "e1", TEA.id, TEA.text, 1, None, 9.0, (TEA.id,))


def projected(*found: GraphHit) -> list[Hit]:
    return Projection(QUERY, found, CALIBRATION, {}).hits(CHUNKS)


def test_nothing_gives_nothing():
    assert projected() == []


def test_a_chunk_counts_once_with_all_that_supports_it():
    hits = projected(FACT, NODE, EPISODE)
    assert [hit["id"] for hit in hits] == [TEA.id, MILK.id]
    assert [hit["rank"] for hit in hits] == [1, 2]
    first = hits[0]
    assert (first["content"], first["type"]) == (TEA.text, "edge")
    assert first["metadata"]["entities"] == ["Oolong"]
    assert first["metadata"]["document_id"] == "tea"
    assert first["facts"] == [
        {
            "id": "f1",
            "name": "COMES_FROM",
            "text": "Oolong comes from Fujian.",
            "source": "Oolong",
            "target": "Fujian",
            "valid_at": "2024-01-01T00:00:00+00:00",
            "invalid_at": None,
            "cosine": 0.9,
        }
    ]
    assert json.loads(json.dumps(hits)) == hits


@pytest.mark.parametrize(
    ("found", "kind"), [((FACT, EPISODE), "edge"), ((EPISODE, NODE), "episode"), ((NODE,), "node")]
)
def test_the_strongest_support_names_the_type(found: tuple[GraphHit, ...], kind: str):
    assert projected(*found)[0]["type"] == kind


def test_a_fact_of_two_chunks_supports_both():
    both = replace(FACT, chunk_ids=(MILK.id, TEA.id))
    assert {hit["id"] for hit in projected(both)} == {TEA.id, MILK.id}


def test_chunks_that_are_gone_are_left_out():
    assert projected(replace(FACT, chunk_ids=("gone#0",))) == []
    assert [hit["id"] for hit in projected(replace(FACT, chunk_ids=("gone#0", TEA.id)))] == [TEA.id]


def test_a_thing_without_a_chunk_stays_by_itself():
    fact = replace(FACT, chunk_ids=())
    community = GraphHit("community", "c1", "Teas", "All about tea.", 1, None, None, ())
    hits = projected(community, fact)
    assert [(hit["id"], hit["type"]) for hit in hits] == [("f1", "edge"), ("c1", "community")]
    assert len(hits[0]["facts"]) == 1
    assert (hits[1]["score"], hits[1]["metadata"], hits[1]["facts"]) == (None, {"name": "Teas"}, [])


def test_scores_are_relevance_descending_then_id():
    facts = [
        replace(FACT, id=f"f{n}", cosine=cosine, chunk_ids=())
        for n, cosine in enumerate([0.7, 0.9, 0.8, 0.9])
    ]
    hits = projected(*facts)
    assert [hit["id"] for hit in hits] == ["f1", "f3", "f2", "f0"]
    assert all(hit["score"] is not None and 0 <= hit["score"] <= 1 for hit in hits)


def test_doubt_is_taken_from_every_score():
    far = GraphHit("node", "n2", "Assam", "Assam", 2, 0.8, None, ())
    sure = projected(FACT, NODE, far)
    doubted = Projection(QUERY, [FACT, NODE, far], CALIBRATION, {}, doubt=0.6).hits(CHUNKS)
    assert [hit["id"] for hit in doubted] == [hit["id"] for hit in sure]
    for before, after in zip(sure, doubted, strict=True):
        assert log_odds(after["score"] or 0) == pytest.approx(log_odds(before["score"] or 0) - 0.6)


def test_a_nearer_fact_makes_its_chunk_more_relevant():
    near = projected(FACT, replace(FACT, id="f2", cosine=0.7, chunk_ids=(MILK.id,)))
    assert [hit["id"] for hit in near] == [TEA.id, MILK.id]


def test_a_chunk_keeps_its_best_facts_only():
    many = [replace(FACT, id=f"f{n}", rank=n) for n in range(1, MAX_FACTS + 4)]
    assert [fact["id"] for fact in projected(*many)[0]["facts"]] == [f"f{n}" for n in range(1, MAX_FACTS + 1)]


def test_a_passage_is_judged_by_its_own_cosine_where_there_is_one():
    """A fact can be near where its passage is far, and the other way round."""
    far = Projection(QUERY, [FACT, EPISODE], CALIBRATION, {TEA.id: 0.75}).hits(CHUNKS)
    near = Projection(QUERY, [FACT, EPISODE], CALIBRATION, {TEA.id: 0.95}).hits(CHUNKS)
    assert (far[0]["score"] or 0) < (projected(FACT, EPISODE)[0]["score"] or 0) < (near[0]["score"] or 0)


def walked(*found: GraphHit, cosines: dict[str, float], visits: dict[str, float]) -> list[Hit]:
    projection = Projection(QUERY, found, CALIBRATION, {})
    hits = projection.hits({TEA.id: TEA})
    return projection.walked(hits, Passages({MILK.id: MILK}, cosines), visits)


def test_without_a_walk_nothing_changes():
    assert walked(EPISODE, cosines={}, visits={}) == Projection(QUERY, [EPISODE], CALIBRATION, {}).hits(
        CHUNKS
    )


def test_what_a_walk_seldom_comes_by_is_held_back():
    before = projected(EPISODE)[0]["score"] or 0
    often, seldom = (
        walked(EPISODE, cosines={}, visits={TEA.id: share, MILK.id: 1.0}) for share in (1.0, 0.01)
    )
    by_id = [{hit["id"]: hit for hit in hits} for hits in (often, seldom)]
    assert by_id[0][TEA.id]["score"] == pytest.approx(before)
    assert (by_id[1][TEA.id]["score"] or 0) < before
    assert by_id[1][TEA.id]["metadata"]["walk"] == 0.01
    assert [hit["rank"] for hit in seldom] == [1, 2]


def test_what_only_a_walk_reached_is_judged_by_its_cosine():
    near, far = (
        walked(EPISODE, cosines={MILK.id: cosine}, visits={TEA.id: 1.0, MILK.id: 1.0})
        for cosine in (0.95, 0.7)
    )
    assert [hit["id"] for hit in near] == [MILK.id, TEA.id]
    assert [hit["id"] for hit in far] == [TEA.id, MILK.id]
    assert near[0]["type"] == "node"


def test_what_no_vector_judges_stands_above_the_least_relevant_hit():
    hits = walked(EPISODE, cosines={}, visits={TEA.id: 1.0, MILK.id: 1.0})
    assert [hit["id"] for hit in hits] == [MILK.id, TEA.id]


def test_a_thing_without_a_chunk_is_no_place_to_walk_to():
    alone = replace(FACT, chunk_ids=())
    projection = Projection(QUERY, [alone], CALIBRATION, {})
    before = projection.hits({})
    assert projection.walked(before, Passages({}, {}), {TEA.id: 1.0}) == before
