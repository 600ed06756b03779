"""Projection: what the graph found becomes evidence on the chunks it came from."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from agentic_rag.domain import GraphHit, Hit
from agentic_rag.retrieval.calibration import Calibration
from agentic_rag.retrieval.projection import MAX_FACTS, project
from agentic_rag.testing import fake_chunk

TEA, MILK = fake_chunk("tea", "Oolong tea comes from Fujian."), fake_chunk("milk", "Milk tea is sweet.")
CHUNKS = {chunk.id: chunk for chunk in (TEA, MILK)}
CALIBRATION = Calibration.for_model("any")
FACT = GraphHit(
    "edge", "f1", "COMES_FROM", "Oolong comes from Fujian.", 1, 0.9, 7.0, (TEA.id,), "Oolong", "Fujian",
    datetime(2024, 1, 1, tzinfo=UTC), None,
)  # fmt: skip
NODE = GraphHit("node", "n1", "Oolong", "Oolong", 1, 0.8, None, (TEA.id, MILK.id))
EPISODE = GraphHit("episode", "e1", TEA.id, TEA.text, 1, None, 9.0, (TEA.id,))


def projected(*found: GraphHit) -> list[Hit]:
    return project("Where does oolong come from?", found, CHUNKS, CALIBRATION)


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


def test_a_nearer_fact_makes_its_chunk_more_relevant():
    near = projected(FACT, replace(FACT, id="f2", cosine=0.7, chunk_ids=(MILK.id,)))
    assert [hit["id"] for hit in near] == [TEA.id, MILK.id]


def test_a_chunk_keeps_its_best_facts_only():
    many = [replace(FACT, id=f"f{n}", rank=n) for n in range(1, MAX_FACTS + 4)]
    assert [fact["id"] for fact in projected(*many)[0]["facts"]] == [f"f{n}" for n in range(1, MAX_FACTS + 1)]
