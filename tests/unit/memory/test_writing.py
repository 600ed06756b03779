"""CachedEmbedding, changing and forgetting: the stored records, and those deleted together."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentic_rag.domain.filters import Comparison
from agentic_rag.domain.identity import memory_dataset
from agentic_rag.domain.ports import Restriction
from agentic_rag.errors import InputError, ModelError
from agentic_rag.memory.memories import Memories
from agentic_rag.memory.reading.reader import ChatStatements
from agentic_rag.memory.schemas import MemoryType, RememberReport
from agentic_rag.stores.in_memory import InMemoryChunkStore
from agentic_rag.stores.in_memory_graph import InMemoryGraphStore
from agentic_rag.testing import HashingEmbedding, ScriptedChat
from user_memories import memories_on, opened

CORE, EPISODIC, SEMANTIC, PROCEDURAL, WORKING = MemoryType


@pytest.fixture
def memories() -> Memories:
    return opened()


def changes(kept: RememberReport) -> list[tuple[str, str, str]]:
    return [(one["change"], one["memory_type"], one["content"]) for one in kept.memories]


async def facts(memories: Memories, **how: Any) -> list[tuple[str, str]]:
    """Slots and values of what holds."""
    held = await memories.list("ada", SEMANTIC, **how)
    return [(one.details["slot"], one.details["value"]) for one in held if one.slot]


async def test_what_was_said_is_kept_verbatim_with_what_follows_from_it(memories: Memories):
    text = "I live in Oslo, and I prefer tea!  "
    kept = await memories.remember(text, "ada", at="2024-01-01", metadata={"from": "a test"})
    (said,) = await memories.list("ada", EPISODIC)
    assert (said.id, said.content, said.metadata) == (kept.evidence_id, text, {"from": "a test"})
    assert said.at == datetime(2024, 1, 1, tzinfo=UTC)
    assert changes(kept) == [
        ("new", "semantic", "I live in Oslo"),
        ("new", "core", "I live in Oslo"),
        ("new", "core", "I prefer tea"),
    ]
    derived = [one for one in await memories.list("ada") if one.memory_type is not EPISODIC]
    assert all(one.evidence == (said.id,) and one.content in text for one in derived)


async def test_what_is_said_again_is_confirmed(memories: Memories):
    first = await memories.remember("I prefer tea.", "ada")
    second = await memories.remember("I prefer tea.", "ada")
    assert {change for change, _, _ in changes(second)} == {"repeated"}
    (line,) = await memories.list("ada", CORE)
    assert line.evidence == (first.evidence_id, second.evidence_id)


async def test_a_fact_that_changed_is_closed_and_kept(memories: Memories):
    await memories.remember("I live in Oslo.", "ada", at="2020-01-01")
    await memories.remember("I moved to Bergen.", "ada", at="2022-01-01")
    assert await facts(memories) == [("lives in", "Bergen")]
    assert await facts(memories, include_ended=True) == [("lives in", "Oslo"), ("lives in", "Bergen")]
    core = await memories.list("ada", CORE)
    assert [one.details["value"] for one in core] == ["Bergen"]


async def test_nothing_of_others_is_closed(memories: Memories):
    for text in ("I live in Oslo.", "My sister lives in Rome.", "Bo lives in Lund.", "I work at Equinor."):
        await memories.remember(text, "ada")
    await memories.remember("I moved to Bergen.", "ada")
    assert sorted(await facts(memories)) == [
        ("employer", "Equinor"),
        ("lives in", "Bergen"),
        ("lives in", "Lund"),
        ("lives in", "Rome"),
    ]


async def test_what_is_forgotten_takes_along_what_rests_on_it_alone(memories: Memories):
    await memories.remember("I live in Oslo.", "ada", at="2020-01-01")
    moved = await memories.remember("I moved to Bergen. I prefer tea.", "ada", at="2022-01-01")
    await memories.remember("I prefer tea.", "ada", at="2023-01-01")
    told = await memories.forget("ada", [moved.evidence_id])
    assert (told.memories, told.remaining) == (3, 0)
    # The earlier fact holds again, and what was said twice stays on what is left of it.
    assert await facts(memories) == [("lives in", "Oslo")]
    assert [one.content for one in await memories.list("ada", CORE)] == ["I live in Oslo", "I prefer tea"]


async def test_a_derived_memory_is_forgotten_with_what_was_said(memories: Memories):
    kept = await memories.remember("I prefer tea.", "ada")
    line = next(one["id"] for one in kept.memories if one["memory_type"] == "core")
    await memories.forget("ada", [line])
    assert await memories.list("ada", include_ended=True) == []


async def test_forgetting_everything_leaves_nothing(memories: Memories):
    for text in ("I live in Oslo.", "I moved to Bergen.", "Remind me to call Bo."):
        await memories.remember(text, "ada")
    assert (await memories.forget("ada")).remaining == 0
    assert await memories.list("ada", include_ended=True) == []
    assert (await memories.forget("ada")).memories == 0


async def test_the_order_of_arrival_goes_on(memories: Memories):
    first = await memories.remember("one thing was said", "ada")
    second = await memories.remember("another thing was said", "ada")
    assert [one.id for one in await memories.list("ada", EPISODIC)] == [first.evidence_id, second.evidence_id]


async def test_an_assistants_words_tell_nothing_of_the_person(memories: Memories):
    kept = await memories.remember(
        "I live in the cloud. I prefer tea.", "ada", metadata={"role": "assistant"}
    )
    assert kept.memories == ()


async def test_many_at_once_lose_nothing(memories: Memories):
    texts = [f"thing number {number} was said today" for number in range(12)]
    await asyncio.gather(*(memories.remember(text, user) for text in texts for user in ("ada", "bo")))
    for user in ("ada", "bo"):
        said = await memories.list(user, EPISODIC)
        assert sorted(one.content for one in said) == sorted(texts)
        assert [one.details["order"] for one in said] == list(range(1, 13))


async def test_the_next_works_after_one_that_was_cancelled(memories: Memories):
    task = asyncio.create_task(memories.remember("I live in Oslo.", "ada"))
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    await memories.remember("I moved to Bergen.", "ada")
    assert ("lives in", "Bergen") in await facts(memories)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"text": " "}, "there is nothing to remember"),
        ({"text": 3}, "there is nothing to remember"),
        ({"text": "x", "at": "soon"}, "at must be an ISO date"),
        ({"text": "x", "metadata": [1]}, "metadata must be a mapping"),
        ({"text": "x", "metadata": {1: 2}}, "metadata must be a mapping"),
    ],
)
async def test_bad_input_keeps_nothing(memories: Memories, given: dict[str, Any], told: str):
    with pytest.raises(InputError, match=told):
        await memories.remember(given.pop("text"), "ada", **given)
    assert await memories.list("ada") == []


@settings(max_examples=30)
@given(
    st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=3_000).filter(
        str.strip
    )
)
def test_any_text_comes_back_as_it_was_said(text: str):
    async def run() -> None:
        memories = opened()
        await memories.remember(text, "ada", metadata={"speaker": "Ada"})
        (said,) = await memories.list("ada", EPISODIC)
        assert said.content == text

    asyncio.run(run())


@pytest.mark.parametrize(
    "reply", ["None.", '{"type": "array"}', '[{"title": "Memory", "type": "object"}]', '["semantic"]']
)
async def test_the_rules_read_where_the_chat_model_lists_no_memories(reply: str):
    kept = await opened(ChatStatements(ScriptedChat(reply))).remember("I live in Oslo.", "ada")
    by_rules = await opened().remember("I live in Oslo.", "ada")
    assert changes(kept) == changes(by_rules)


async def test_a_chat_model_may_find_nothing_to_remember():
    kept = await opened(ChatStatements(ScriptedChat("[]"))).remember("Hi there.", "ada")
    assert changes(kept) == []


async def test_a_chat_model_reads_where_there_is_one():
    reply = (
        '[{"type": "semantic", "text": "I reside in Oslo", "subject": "user", "slot": "lives in", "value": "Oslo"},'
        ' {"type": "core", "text": "made up", "subject": "user"}]'
    )
    memories = opened(ChatStatements(ScriptedChat(reply, ModelError("gone"))))
    kept = await memories.remember("Well, I reside in Oslo, you know.", "ada")
    assert ("new", "semantic", "I reside in Oslo") in changes(kept)
    assert not any("made up" in content for _, _, content in changes(kept))
    # Where it fails the rules read.
    again = await memories.remember("I moved to Bergen.", "ada")
    assert ("superseded", "semantic", "I reside in Oslo") in changes(again)


@pytest.mark.parametrize(
    ("first", "then", "question"),
    [
        ("I love Chinese food.", "I hate Chinese food.", "Do I like Chinese food?"),
        ("I'm a big fan of horror films.", "I can't stand horror films any more.", "Do I like horror films?"),
        ("I hate running.", "I've come to love running.", "How do I like running?"),
        ("我很喜欢喝咖啡。", "我不喜欢喝咖啡了。", "我喜欢咖啡吗？"),
    ],
)
async def test_a_preference_of_the_opposite_sign_supersedes(
    memories: Memories, first: str, then: str, question: str
):
    await memories.remember(first, "ada", at="2024-01-01")
    kept = await memories.remember(then, "ada", at="2024-06-01")
    assert {change for change, kind, _ in changes(kept) if kind in ("semantic", "core")} == {
        "superseded",
        "new",
    }
    for kind in (SEMANTIC, CORE):
        (held,) = await memories.list("ada", kind)
        assert held.content == then.rstrip(".。")
    found = await memories.search(question, "ada")
    assert found.memories[0].content == then.rstrip(".。")


async def test_a_value_stated_again_in_one_message_counts_once_at_its_last_place(memories: Memories):
    await memories.remember("I live in Oslo. I live in Bergen. I live in Oslo. I live in Oslo.", "ada")
    (message,) = await memories.list("ada", EPISODIC)
    stated = [(one["value"], one["start"]) for one in message.details["says"]]
    assert stated == [("Bergen", 16), ("Oslo", 50)]
    assert await facts(memories) == [("lives in", "Oslo")]


async def test_each_passage_of_a_long_message_holds_its_own_statements():
    embedding = HashingEmbedding()
    chunks = InMemoryChunkStore(dimension=embedding.dimension)
    memories = memories_on(embedding, chunks, InMemoryGraphStore(embedding))
    text = " ".join(f"I like tea{number}." for number in range(1000))
    await memories.remember(text, "ada")
    of_message = Restriction(Comparison("memory_type", "$eq", "episodic"))
    ids = await chunks.matching_chunk_ids(memory_dataset("ada"), of_message, limit=100)
    passages = (await chunks.get_chunks(memory_dataset("ada"), ids)).values()
    own = [one.metadata["record"]["details"]["says"] for one in passages]
    assert len(passages) > 3
    assert all(part[0]["value"] == "likes" and len(part) < 500 for part in own)
    (message,) = await memories.list("ada", EPISODIC)
    assert [one["start"] for one in message.details["says"]] == [
        place for place in range(len(text)) if text.startswith("I like", place)
    ]
