"""Action merge: the service is queried again; new results are added once."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentic_rag.errors import InputError, StoreError
from agentic_rag_lab.designs.memory import Memory
from agentic_rag_lab.designs.post_retrieval import PostRetrieval, PostRetrievalTools, parse_steps
from word_counts import count_words


def memory(entry_id: str, score: float | None = 0.5, **metadata: Any) -> dict[str, Any]:
    return {"text": f"text {entry_id}", "entry_id": entry_id, "score": score, "metadata": metadata or None}


class Service:
    """Answers by a script: found memories by query, linked memories by entry id."""

    def __init__(
        self,
        found: Mapping[str, Sequence[tuple[str, float | None]]] | None = None,
        links: Mapping[str, Sequence[tuple[str, float | None]]] | None = None,
    ) -> None:
        self.found, self.links = found or {}, links or {}
        self.asked: list[tuple[str, int | None]] = []

    async def retrieve(
        self, query: str = "", vector: Any = None, metadata: Any = None, *, top_k: int | None = None
    ) -> list[Memory]:
        assert vector is None
        self.asked.append((query, top_k))
        await asyncio.sleep(
            0.001 * (3 - len(self.asked)) if len(self.asked) < 3 else 0
        )  # later ones end first
        return self._memories(self.found[query][:top_k], query)

    async def neighbours(self, entry_id: str, *, top_k: int | None = None) -> list[Memory]:
        self.asked.append((entry_id, top_k))
        return self._memories(self.links.get(entry_id, ())[:top_k], entry_id)

    @staticmethod
    def _memories(pairs: Sequence[tuple[str, float | None]], source: str) -> list[Memory]:
        return [
            Memory(
                text=f"text {name}",
                metadata={"sources": [[9, 0, 1]], "by": source},
                entry_id=name,
                score=score,
            )
            for name, score in pairs
        ]


async def merged(
    memories: list[dict[str, Any]], kind: str, service: Any, **settings: Any
) -> tuple[list[tuple[str, float | None]], list[dict[str, Any]]]:
    steps = parse_steps({"action": "merge", "merge_type": kind, **settings})
    written = await PostRetrieval(steps, PostRetrievalTools(service, None, None, count_words)).execute(
        {"question": "Where {is} she?", "memory_data": memories}
    )
    found = written["memory_data"]
    pairs = [
        (one["entry_id"], one["score"] if one["score"] is None else round(one["score"], 6)) for one in found
    ]
    return pairs, found


# --- link_expand ---------------------------------------------------------------------------------


async def test_a_new_memory_has_its_parents_score_times_the_link():
    service = Service(links={"a": [("x", 0.5), ("b", 1.0)], "b": [("y", 0.9)]})
    found, memories = await merged([memory("a", 0.8), memory("b", 0.6)], "link_expand", service)
    assert found == [("a", 0.8), ("b", 0.6), ("y", 0.54), ("x", 0.4)]
    assert memories[2]["metadata"]["sources"] == [[9, 0, 1]]
    assert service.asked == [("a", 5), ("b", 5)]


async def test_only_the_best_are_followed_and_so_many_links_are_asked():
    service = Service(links={"a": [("x", 1.0), ("y", 1.0)], "b": [("z", 1.0)]})
    found, _ = await merged(
        [memory("b", 0.1), memory("a", 0.8)], "link_expand", service, expand_top_n=1, link_top_k=1
    )
    assert found == [("a", 0.8), ("x", 0.8), ("b", 0.1)]
    assert service.asked == [("a", 1)]


async def test_links_are_followed_as_deep_as_said_and_cycles_end():
    service = Service(links={"a": [("b", 0.5)], "b": [("c", 0.5), ("a", 1.0)], "c": [("a", 1.0), ("c", 1.0)]})
    assert (await merged([memory("a", 1.0)], "link_expand", service))[0] == [("a", 1.0), ("b", 0.5)]
    two, _ = await merged([memory("a", 1.0)], "link_expand", service, max_depth=2)
    assert two == [("a", 1.0), ("b", 0.5), ("c", 0.25)]
    service.asked.clear()
    assert (await merged([memory("a", 1.0)], "link_expand", service, max_depth=10))[0] == two
    assert [name for name, _ in service.asked] == ["a", "b", "c"]


async def test_of_two_parents_the_better_one_counts():
    service = Service(links={"a": [("x", 0.5)], "b": [("x", 0.9)]})
    found, memories = await merged([memory("a", 0.8), memory("b", 0.6)], "link_expand", service)
    assert found == [("a", 0.8), ("b", 0.6), ("x", 0.54)]
    assert len(memories) == 3


async def test_unscored_parents_stand_in_the_middle_and_before_their_children():
    service = Service(links={"new": [("x", 0.5)], "old": [("y", None)]})
    found, _ = await merged([memory("old", None), memory("new", None)], "link_expand", service)
    assert found == [("old", None), ("new", None), ("y", 0.5), ("x", 0.25)]


async def test_a_child_is_never_better_than_its_parent():
    service = Service(links={"a": [("x", 0.5), ("y", 1.0)]})
    assert (await merged([memory("a", -0.4)], "link_expand", service))[0] == [
        ("a", -0.4),
        ("y", -0.4),
        ("x", -0.6),
    ]


async def test_a_memory_without_an_id_is_not_followed():
    service = Service(links={"": [("x", 1.0)]})
    without = {"text": "tea"}
    found, _ = await merged([without, without], "link_expand", service)
    assert found == [("", None), ("", None)]
    assert service.asked == []


@settings(max_examples=60)
@given(
    links=st.dictionaries(
        st.sampled_from("abcdef"),
        st.lists(st.tuples(st.sampled_from("abcdef"), st.floats(0, 1)), max_size=4),
        max_size=6,
    ),
    start=st.lists(st.sampled_from("abc"), min_size=1, max_size=3),
    depth=st.integers(1, 5),
)
async def test_each_entry_is_there_once_and_within_reach(links: Any, start: list[str], depth: int):
    memories = [memory(name, 0.9) for name in start]
    _, found = await merged(
        memories, "link_expand", Service(links=links), max_depth=depth, expand_top_n=9, link_top_k=9
    )
    names = [one["entry_id"] for one in found]
    assert len(names) == len(set(names))
    reached = set(start)
    for _ in range(depth):
        reached |= {there for here in reached for there, _ in links.get(here, ())}
    assert set(names) == reached
    keys = [(-one["score"], one["entry_id"]) for one in found]
    assert keys == sorted(keys)


# --- multi_query ---------------------------------------------------------------------------------

QUERIES = [{"query": "facts about {question}", "top_k": 2}, {"query": "{{places}}"}]
FOUND: dict[str, list[tuple[str, float | None]]] = {
    "facts about Where {is} she?": [("b", 0.9), ("x", 0.3), ("beyond", 0.2)],
    "{places}": [("x", 0.7), ("y", 0.1)],
}


async def test_queries_join_by_entry_with_the_best_score():
    service = Service(FOUND)
    given_memories = [memory("a", 0.8, kept=True), memory("b", 0.2, kept=True)]
    found, memories = await merged(given_memories, "multi_query", service, secondary_queries=QUERIES)
    assert found == [("b", 0.9), ("a", 0.8), ("x", 0.7), ("y", 0.1)]
    assert memories[0]["metadata"] == {"kept": True}
    assert memories[2]["metadata"]["by"] == "facts about Where {is} she?"
    assert service.asked == [("facts about Where {is} she?", 2), ("{places}", 5)]


async def test_where_nothing_is_ranked_memories_stand_as_they_were_found():
    unranked = {query: [(name, None) for name, _ in pairs] for query, pairs in FOUND.items()}
    found, _ = await merged([memory("y", None)], "multi_query", Service(unranked), secondary_queries=QUERIES)
    assert found == [("y", None), ("b", None), ("x", None)]


async def test_an_entry_given_twice_is_there_once():
    twice = [memory("a", 0.2), memory("a", 0.8)]
    assert (await merged(twice, "multi_query", Service(FOUND), secondary_queries=QUERIES[1:]))[0] == [
        ("a", 0.8),
        ("x", 0.7),
        ("y", 0.1),
    ]


class Broken(Service):
    """A service whose store fails."""

    async def retrieve(self, *given: Any, **named: Any) -> list[Memory]:
        raise StoreError("the store is gone")

    async def neighbours(self, entry_id: str, *, top_k: int | None = None) -> list[Memory]:
        return [{"text": 3}]  # type: ignore[list-item, typeddict-item]


async def test_a_service_that_fails_fails_the_step():
    with pytest.raises(StoreError, match="the store is gone"):
        await merged([memory("a")], "multi_query", Broken(), secondary_queries=QUERIES)
    with pytest.raises(InputError, match="text 3"):
        await merged([memory("a")], "link_expand", Broken())
