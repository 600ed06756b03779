"""Links between memories: rare things in common count for more."""

from __future__ import annotations

from math import log

import pytest

from agentic_rag.domain import DocumentGraph, Entity, Mention
from agentic_rag.lab.services.shared_entities import SharedEntities

SAID = {"m1": ["google", "alice"], "m2": ["google", "bob"], "m3": ["alice"], "m4": ["tea"]}


def graph(said: dict[str, list[str]], document_id: str = "d") -> DocumentGraph:
    names = sorted({name for names in said.values() for name in names})
    entities = (*(Entity(name, name, ("Thing",)) for name in names), Entity("today", "Today", ("Session",)))
    mentions = [
        Mention(name, f"{document_id}#{m}") for m, names in said.items() for name in [*names, "today"]
    ]
    return DocumentGraph(document_id, (), entities, (), tuple(mentions))


def shared(said: dict[str, list[str]]) -> SharedEntities:
    links = SharedEntities()
    links.replace(graph(said), {f"d#{memory}": memory for memory in said})
    return links


def test_strength_is_the_weighted_share_of_what_is_common() -> None:
    rare, common = log(1 + 4 / 1), log(1 + 4 / 2)
    linked = shared(SAID).linked("m1", 4)
    assert [memory for memory, _ in linked] == ["m3", "m2"]
    assert [strength for _, strength in linked] == pytest.approx(
        [common / (common + common), common / (common + common + rare)]
    )


def test_links_are_the_same_both_ways() -> None:
    links = shared(SAID)
    strengths = {(a, b): strength for a in SAID for b, strength in links.linked(a, 4)}
    assert strengths == {(b, a): strength for (a, b), strength in strengths.items()}
    assert all(0 < strength <= 1 for strength in strengths.values())


def test_the_session_itself_links_nothing() -> None:
    assert shared(SAID).linked("m4", 4) == []
    assert shared(SAID).linked("unknown", 4) == []


def test_the_same_things_are_a_link_of_one() -> None:
    assert shared({"m1": ["a", "b"], "m2": ["b", "a"]}).linked("m1", 2) == [("m2", 1.0)]


def test_a_document_is_replaced_and_removed() -> None:
    links = shared(SAID)
    links.replace(graph({"m5": ["google"]}, "e"), {"e#m5": "m5"})
    assert [memory for memory, _ in links.linked("m5", 5)] == ["m1", "m2"]
    links.replace(graph({"m1": ["tea"]}), {"d#m1": "m1"})
    assert links.linked("m5", 2) == []
    links.remove("e")
    assert links.linked("m5", 1) == []
    links.remove("e")
