"""The walk: second hops are reached, restrictions hold on the way, the same graph gives the same visits."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pytest

from agentic_rag.domain import Entity
from agentic_rag.identity import entity_key
from agentic_rag.ports import GraphLinks
from agentic_rag.retrieval import passage_graph
from agentic_rag.retrieval.passage_graph import PassageGraph

MENTIONS = {
    "film": ["Film", "Director"],
    "director": ["Director", "Town"],
    "town": ["Town", "River"],
    "other": ["Elsewhere"],
    "more": ["Elsewhere", "Stranger"],
}
"""Chunk to the entities it mentions; the first is its own."""
DATES = {"director": datetime(2024, 6, 1, tzinfo=UTC)}


def links(mentions: dict[str, list[str]] = MENTIONS, label: str = "Note") -> GraphLinks:
    names = sorted({name for found in mentions.values() for name in found})
    pairs = sorted((c, names.index(name)) for c, found in enumerate(mentions.values()) for name in found)
    mentioning, mentioned = np.array(pairs, dtype=np.int32).reshape(-1, 2).T
    dates = [DATES[c].replace(tzinfo=None) if c in DATES else None for c in mentions]
    return GraphLinks(
        chunk_ids=list(mentions),
        titles=[found[0] for found in mentions.values()],
        aliases=[("Movie",) if found[0] == "Film" else () for found in mentions.values()],
        dates=np.array(dates, dtype="datetime64[us]"),
        entities=[Entity(entity_key(name), name, (label,)) for name in names],
        mentioning=mentioning,
        mentioned=mentioned,
    )


GRAPH = PassageGraph(links())


def visits(
    question: str = "Who made Film?", found: dict[str, float] | None = None, **options: object
) -> dict[str, float]:
    return GRAPH.visits(GRAPH.named_in(question), found or {}, **{"limit": 10, **options})  # type: ignore[arg-type]


def test_hops_fall_off_with_their_distance():
    reached = visits()
    assert list(reached) == ["film", "director", "town"]
    assert reached["film"] == 1.0
    assert 1.0 > reached["director"] > reached["town"] > 0.0


def test_a_walk_starts_at_what_an_alias_names():
    assert visits("Who made the Movie?") == visits("Who made Film?")


def test_the_walk_starts_at_what_was_found_too():
    assert "other" not in visits()
    with_found = visits(found={"more": 0.9, "gone": 1.0})
    assert with_found["more"] > with_found["other"] > 0


def test_a_question_that_names_nothing_with_a_place_names_nothing():
    assert GRAPH.named_in("Who was it?") == []
    assert PassageGraph(links(label="Thing")).named_in("Who made Film?") == []


def test_the_walk_does_not_pass_through_what_may_not_be_seen():
    assert list(visits(within=["film", "town"])) == ["film"]
    assert list(visits(as_of=datetime(2024, 5, 31, tzinfo=UTC))) == ["film"]
    assert list(visits(as_of=datetime(2024, 6, 1, tzinfo=UTC))) == ["film", "director", "town"]
    assert visits(within=[]) == {}


def test_limit_keeps_the_most_visited():
    assert list(visits(limit=2)) == ["film", "director"]


def test_a_name_that_everyone_mentions_says_less():
    crowd = {f"turn{n}": ["Anna"] for n in range(20)} | {"note": ["Rare", "Anna"]}
    graph = PassageGraph(links(crowd))
    anna, rare = (graph.visits(graph.named_in(name), {}, limit=50) for name in ("Anna", "Rare"))
    assert min(anna.values()) > min(rare.values())


def test_picking_out_and_multiplying_give_the_same(monkeypatch: pytest.MonkeyPatch):
    rng = np.random.default_rng(3)
    many = {
        f"c{n}": [f"E{n % 40}", *(f"E{k}" for k in rng.integers(0, 40, 3) if k != n % 40)] for n in range(200)
    }
    many = {chunk: list(dict.fromkeys(names)) for chunk, names in many.items()}
    graph = PassageGraph(links(many))
    given = graph.named_in("E7 and E9"), {"c3": 0.8, "c9": 0.4}
    monkeypatch.setattr(passage_graph, "FEW", 1.0)
    picked = graph.visits(*given, limit=200)
    monkeypatch.setattr(passage_graph, "FEW", -1.0)
    multiplied = graph.visits(*given, limit=200)
    for chunk, share in multiplied.items():
        assert picked.get(chunk, 0.0) == pytest.approx(share, abs=1e-3)


def test_an_empty_graph_has_nothing_to_visit():
    empty = PassageGraph(links({}))
    assert empty.named_in("Film") == []
