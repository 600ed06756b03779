"""The five agents: a common suite, and each agent's own behaviour."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import Any

import pytest

from agentic_rag.memory.agents.base import StoredAgent
from agentic_rag.memory.agents.episodic import shown_messages
from agentic_rag.memory.memories import Memories
from agentic_rag.memory.records import MemoryRecord
from agentic_rag.memory.schemas import (
    OPERATIONS,
    MemoryType,
    RetrievalStrategy,
    TaskRequest,
    TaskResponse,
)
from agentic_rag.memory.searching import FoundMemory, Search
from growth import assert_linear
from user_memories import opened

CORE, EPISODIC, SEMANTIC, PROCEDURAL, WORKING = MemoryType
TEXT = "green tea is brewed at seventy degrees"
OWN: dict[MemoryType, dict[str, Any]] = {CORE: {"block_type": "human"}}
"""What an insert of a kind needs besides its content."""


@pytest.fixture
def memories() -> Memories:
    return opened()


@pytest.fixture(params=MemoryType)
def agent(request: pytest.FixtureRequest, memories: Memories) -> StoredAgent:
    return memories.agents[request.param]


async def do(agent: StoredAgent, operation: str, **given: Any) -> TaskResponse:
    return await agent.execute_task(TaskRequest(operation, {"user_id": "ada", **given}))


async def insert(agent: StoredAgent, content: str = TEXT, **given: Any) -> str:
    response = await do(agent, "insert", content=content, **{**OWN.get(agent.memory_type, {}), **given})
    assert response.success, response.error
    return str(response.result["id"])


async def test_what_is_inserted_is_found_by_every_strategy_and_listed(agent: StoredAgent):
    name = await insert(agent, metadata={"from": "a test"})
    for strategy in agent.strategies:
        found = await do(agent, "search", query="at how many degrees is green tea brewed", strategy=strategy)
        assert found.success, found.error
        assert [one["id"] for one in found.result["results"]] == [name]
        (memory,) = found.result["results"]
        assert 0 <= memory["score"] <= 1
        assert (memory["content"], memory["metadata"]) == (TEXT, {"from": "a test"})
        assert found.result["strategy"] == strategy
    listed = await do(agent, "list")
    assert [one["id"] for one in listed.result["results"]] == [name]


async def test_what_is_deleted_is_gone_with_its_evidence(agent: StoredAgent, memories: Memories):
    name = await insert(agent)
    deleted = await do(agent, "delete", id=name)
    assert name in deleted.result["deleted"]
    assert await memories.list("ada", include_ended=True) == []
    assert (await do(agent, "delete", id=name)).result == {"deleted": []}


async def test_an_update_puts_a_new_memory_in_the_place_of_one_that_ends(agent: StoredAgent):
    name = await insert(agent)
    changed = await do(agent, "update", id=name, content="green tea is brewed at eighty degrees")
    if agent.memory_type is EPISODIC:
        assert "the text of an episodic memory cannot be changed" in str(changed.error)
        return
    assert changed.success, changed.error
    current = await do(agent, "list")
    assert [one["content"] for one in current.result["results"]] == ["green tea is brewed at eighty degrees"]
    every = await do(agent, "list", include_ended=True)
    assert {one["content"] for one in every.result["results"]} >= {TEXT}


async def test_a_strategy_that_it_lacks_is_an_error_that_lists_those_it_has(agent: StoredAgent):
    for strategy in (*(one for one in RetrievalStrategy if one not in agent.strategies), "guess"):
        response = await do(agent, "search", query="tea", strategy=strategy)
        assert not response.success
        assert all(one.value in str(response.error) for one in agent.strategies)


@pytest.mark.parametrize(
    ("operation", "given", "told"),
    [
        ("dream", {}, "unknown operation 'dream'"),
        ("search", {}, "a search needs query"),
        ("search", {"query": 3}, "a search needs query"),
        ("search", {"query": "x", "limit": 0}, "limit must be a whole number from 1 to 1000, not 0"),
        ("search", {"query": "x", "limit": 1001}, "not 1001"),
        ("search", {"query": "x", "limit": True}, "not True"),
        ("search", {"query": "x", "limit": "3"}, "not '3'"),
        ("search", {"query": "x", "as_of": "soon"}, "as_of must be an ISO date"),
        ("search", {"query": "x", "now": "soon"}, "now must be an ISO date"),
        ("insert", {"block_type": "human"}, "an insert needs content"),
        ("insert", {"content": "  ", "block_type": "human"}, "an insert needs content"),
        ("insert", {"content": "x", "at": "soon", "block_type": "human"}, "at must be an ISO date"),
        ("insert", {"content": "x", "metadata": "m", "block_type": "human"}, "metadata must be a mapping"),
        ("update", {"content": "x"}, "this needs id"),
        ("update", {"id": "nobody", "content": "x"}, "has no"),
        ("delete", {}, "this needs id"),
    ],
)
async def test_bad_input_is_told(agent: StoredAgent, operation: str, given: dict[str, Any], told: str):
    response = await do(agent, operation, **given)
    assert (response.success, response.result) == (False, {})
    assert told in str(response.error)


async def test_a_blank_query_finds_nothing(agent: StoredAgent):
    await insert(agent)
    assert (await do(agent, "search", query="  ")).result["results"] == []


async def test_an_unknown_user_has_nothing(agent: StoredAgent):
    for strategy in agent.strategies:
        assert (await do(agent, "search", query="tea", strategy=strategy)).result["results"] == []
    assert (await do(agent, "list")).result["results"] == []


async def test_what_takes_too_long_is_told(agent: StoredAgent, monkeypatch: pytest.MonkeyPatch):
    async def never(given: Any) -> dict[str, Any]:
        await asyncio.sleep(60)
        return {}

    monkeypatch.setattr(agent, "_operations", dict.fromkeys(OPERATIONS, never))
    response = await agent.execute_task(TaskRequest("list", {"user_id": "ada"}, timeout_ms=10))
    assert (response.success, response.error) == (False, "no answer within 10 ms")


async def test_a_cancellation_passes(agent: StoredAgent, monkeypatch: pytest.MonkeyPatch):
    started = asyncio.Event()

    async def never(given: Any) -> dict[str, Any]:
        started.set()
        await asyncio.sleep(60)
        return {}

    monkeypatch.setattr(agent, "_operations", dict.fromkeys(OPERATIONS, never))
    task = asyncio.create_task(agent.execute_task(TaskRequest("list", {"user_id": "ada"})))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_an_id_of_another_kind_is_refused(memories: Memories):
    name = await insert(memories.agents[WORKING])
    response = await do(memories.agents[SEMANTIC], "update", id=name, content="x")
    assert "this user has no semantic memory" in str(response.error)


# --- what is each one's own ----------------------------------------------------------------------


async def test_core_memories_lie_in_blocks(memories: Memories):
    core = memories.agents[CORE]
    human = await insert(core, block_type="human")
    await insert(core, "be brief about tea", block_type="persona")
    found = await do(core, "search", query="tea", block_type="human")
    assert [one["id"] for one in found.result["results"]] == [human]
    for given in ({"content": "x"}, {"content": "x", "block_type": "diary"}):
        told = str((await do(core, "insert", **given)).error)
        assert "persona, human, preferences" in told


async def test_a_full_block_loses_its_oldest_line(memories: Memories, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("agentic_rag.memory.derivation.BLOCK_CHARACTERS", 40)
    for text in ("I prefer tea to coffee.", "I prefer trains to planes.", "I prefer cats to dogs."):
        await memories.remember(text, "ada")
    lines = await memories.list("ada", CORE)
    assert [line.content for line in lines] == ["I prefer cats to dogs"]
    every = await memories.list("ada", CORE, include_ended=True)
    assert len(every) == 3


async def test_episodes_are_found_by_time(memories: Memories):
    episodic = memories.agents[EPISODIC]
    old = await insert(episodic, "we drank tea in Kyoto", at="2023-05-01")
    new = await insert(episodic, "we drank tea in Hangzhou", at="2024-05-01")
    by_query = await do(episodic, "search", query="what tea in May 2023", strategy="temporal")
    assert [one["id"] for one in by_query.result["results"]] == [old]
    by_bounds = await do(episodic, "search", query="tea", after="2024-01-01", before="2024-12-31")
    assert [one["id"] for one in by_bounds.result["results"]] == [new]
    then = await do(episodic, "search", query="tea", as_of="2023-12-31")
    assert [one["id"] for one in then.result["results"]] == [old]


async def test_a_fact_of_a_slot_is_superseded_and_nothing_else(memories: Memories):
    semantic = memories.agents[SEMANTIC]
    said = {"subject": "ada", "slot": "lives in"}
    oslo = await insert(semantic, "Ada lives in Oslo", **said, value="Oslo", valid_at="2020-01-01")
    other = await insert(semantic, "Bo lives in Oslo", subject="bo", slot="lives in", value="Oslo")
    bergen = await insert(semantic, "Ada moved to Bergen", **said, value="Bergen", valid_at="2022-01-01")
    now = await do(semantic, "list")
    assert {one["id"] for one in now.result["results"]} == {other, bergen}
    for moment, expected in (("2021-12-31T23:59:59", oslo), ("2022-01-01T00:00:00", bergen)):
        then = await do(semantic, "search", name_query="where does ada live", as_of=moment, **said)
        assert [one["id"] for one in then.result["results"]] == [expected]


@pytest.mark.parametrize(
    "given",
    [
        {"slot": "lives in", "value": "Oslo"},
        {"subject": "ada", "slot": "lives in"},
        {"subject": "ada", "slot": " ", "value": "x"},
    ],
)
async def test_a_slot_needs_a_subject_and_a_value(memories: Memories, given: dict[str, Any]):
    assert "a fact with a slot needs" in str(
        (await do(memories.agents[SEMANTIC], "insert", content="x", **given)).error
    )


async def test_a_procedure_has_a_trigger_and_steps(memories: Memories):
    procedural = memories.agents[PROCEDURAL]
    await insert(procedural, "How to brew", trigger="brewing tea", steps=["boil", "pour"])
    (found,) = (await do(procedural, "search", query="how to brew")).result["results"]
    assert (found["details"]["trigger"], found["details"]["steps"]) == ("brewing tea", ["boil", "pour"])
    for given in ({"trigger": 3}, {"steps": "boil"}, {"steps": [1]}):
        assert not (await do(procedural, "insert", content="x", **given)).success


async def test_working_memories_expire(memories: Memories):
    working = memories.agents[WORKING]
    await insert(working, "I am brewing tea", at="2024-01-01")
    own = await insert(working, "tea for the week", at="2024-01-01", expires_at="2024-01-08")
    later = await do(working, "search", query="tea", now="2024-01-03")
    assert [one["id"] for one in later.result["results"]] == [own]
    assert (await do(working, "list", now="2024-01-09")).result["results"] == []


async def test_showing_a_long_message_takes_time_by_its_length(memories: Memories):
    """A message of 20,000 characters took 76 s, in which nobody else was answered."""
    texts: dict[str, list[FoundMemory]] = {}
    facts: dict[str, list[MemoryRecord]] = {}
    for count in (250, 1000):
        user = str(count)
        await memories.remember(" ".join(f"I like tea{number}." for number in range(count)), user)
        texts["." * count] = [FoundMemory(one, 1.0) for one in await memories.list(user, EPISODIC)]
        facts["." * count] = list(await memories.list(user, SEMANTIC))
    search = Search("ada", EPISODIC, "tea", 10, datetime.now(UTC))
    assert_linear(lambda text: shown_messages(texts[text], facts[text], search), ".", 250)
