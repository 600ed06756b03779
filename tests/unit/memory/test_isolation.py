"""Isolation of users: with any names and texts, each finds, lists and exports only their own memories."""

from __future__ import annotations

import asyncio
import tempfile
import unicodedata
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentic_rag.errors import InputError
from agentic_rag.memory.exchange import read_export
from agentic_rag.memory.memories import Memories
from agentic_rag.memory.schemas import MemoryType, RetrievalRequest, RetrievalStrategy, TaskRequest
from user_memories import opened

NO_USERS = (None, "", "   ", "\0", "\ud800", 3, ["ada"])
ALIKE = (
    "ada",
    "Ada",
    "ADA",
    "ada ",
    " ada",
    "memory:ada",
    "ａｄａ",
    "u_616461",
    "é",
    "e",
    "用户",
    "用户1",
    "a'b",
    'a"b',
    "a%",
    "*",
)
"""Ids that somebody could take for each other; no two of them are one in NFC."""

user_ids = st.sampled_from(ALIKE) | st.text(min_size=1, max_size=12).filter(
    lambda name: bool(name.strip()) and "\0" not in name and not any("\ud800" <= c <= "\udfff" for c in name)
)
texts = st.sampled_from(
    (
        "I live in Oslo.",
        "I moved from Oslo to Bergen.",
        "I prefer green tea.",
        "Please always answer in English.",
        "I am working on the report this week.",
        "我住在北京。",
        "One line\u2028and another\x85here.",
    )
) | st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=40).filter(str.strip)
said = st.lists(st.tuples(user_ids, texts), min_size=2, max_size=6)


def one(user: str) -> str:
    """What a user is, however the id is written."""
    return unicodedata.normalize("NFC", user)


async def told(memories: Memories, what: Sequence[tuple[str, str]]) -> None:
    for user, text in what:
        await memories.remember(text, user, metadata={"owner": one(user)})


async def owners_seen(
    memories: Memories, user: str, query: str, strategy: RetrievalStrategy | None
) -> set[str]:
    """Whose everything is that a user can get at."""
    response = await memories.search(query, user, max_results=50, strategy=strategy)
    assert not response.degraded_agents
    seen = {memory.metadata["owner"] for memory in response.memories}
    for agent in memories.agents.values():
        for own in agent.strategies:
            asked = {"user_id": user, "query": query, "strategy": own, "include_ended": True, "limit": 100}
            found = await agent.execute_task(TaskRequest("search", asked))
            assert found.success
            seen |= {memory["metadata"]["owner"] for memory in found.result["results"]}
    seen |= {record.metadata["owner"] for record in await memories.list(user, include_ended=True)}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "export.jsonl"
        await memories.export(user, file)
        return seen | {record.metadata["owner"] for record in read_export(file)}


@pytest.mark.slow
@settings(max_examples=15)
@given(what=said, other=user_ids, query=texts, strategy=st.none() | st.sampled_from(RetrievalStrategy))
def test_each_sees_what_is_their_own_alone(
    what: list[tuple[str, str]], other: str, query: str, strategy: RetrievalStrategy | None
) -> None:
    async def run() -> None:
        memories = opened()
        await told(memories, what)
        for user in {*(user for user, _ in what), other}:
            for asked in (query, what[-1][1]):
                seen = await owners_seen(memories, user, asked, strategy)
                assert seen <= {one(user)}

    asyncio.run(run())


@settings(max_examples=15)
@given(what=said, data=st.data())
def test_what_one_forgets_the_others_keep(what: list[tuple[str, str]], data: st.DataObject) -> None:
    async def run() -> None:
        memories = opened()
        await told(memories, what)
        users = sorted({one(user) for user, _ in what})
        forgetting = data.draw(st.sampled_from(users))
        before = {user: await memories.list(user, include_ended=True) for user in users}
        await memories.forget(forgetting)
        for user in users:
            left = await memories.list(user, include_ended=True)
            assert left == ([] if user == forgetting else before[user])

    asyncio.run(run())


def test_a_user_is_one_however_the_id_is_composed() -> None:
    async def run() -> None:
        memories = opened()
        await memories.remember("I live in Oslo.", "e\u0301va")
        assert await memories.list("\u00e9va")

    asyncio.run(run())


def test_ids_of_another_users_memories_do_nothing() -> None:
    async def run() -> None:
        memories = opened()
        kept = await memories.remember("I prefer green tea.", "ada")
        await memories.remember("I live in Lima.", "bob")
        names = [kept.evidence_id, *(str(memory["id"]) for memory in kept.memories)]
        with pytest.raises(InputError, match="this user has no memory"):
            await memories.forget("bob", names[1:])
        for agent in memories.agents.values():
            for operation in ("delete", "update"):
                given_ = {"user_id": "bob", "id": names[-1], "content": "no", "block_type": "human"}
                response = await agent.execute_task(TaskRequest(operation, given_))
                assert not response.success or response.result == {"deleted": []}
        assert {record.id for record in await memories.list("ada")} == set(names)

    asyncio.run(run())


@pytest.mark.parametrize("user", NO_USERS)
def test_nothing_is_done_without_a_user(user: Any, tmp_path: Path) -> None:
    async def run() -> None:
        memories = opened()
        file = tmp_path / "empty.jsonl"
        await memories.export("ada", file)
        for work in (
            memories.remember("I live in Oslo.", user),
            memories.search("Where do I live?", user),
            memories.list(user),
            memories.forget(user),
            memories.forget(user, ["said-000000001-00000000"]),
            memories.export(user, tmp_path / "export.jsonl"),
            memories.import_(user, file),
            memories.find(user, "Where do I live?", limit=5),
            memories.orchestrator.execute_retrieval(RetrievalRequest("Where do I live?", user)),
        ):
            with pytest.raises(InputError, match="a memory needs the id of its user"):
                await work
        for agent in memories.agents.values():
            for operation in ("search", "insert", "update", "delete", "list"):
                given_ = {"user_id": user, "query": "x", "content": "x", "id": "x", "block_type": "human"}
                response = await agent.execute_task(TaskRequest(operation, given_))
                assert not response.success
                assert "a memory needs the id of its user" in str(response.error)

    asyncio.run(run())


def test_every_kind_is_asked() -> None:
    assert set(opened().agents) == set(MemoryType)
