"""A message whose call did not return replaces itself when it is sent again; any other is a message of its own."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from agentic_rag.memory.intents import FOLDER, RESENT_WITHIN
from agentic_rag.memory.memories import Memories
from agentic_rag.memory.schemas import MemoryType, TaskRequest
from agentic_rag.stores.in_memory import InMemoryChunkStore
from agentic_rag.stores.in_memory_graph import InMemoryGraphStore
from agentic_rag.testing import HashingEmbedding
from user_memories import memories_on

TEXT = "My favourite tea is oolong."


class Cut(InMemoryChunkStore):
    """A store whose writes land, and whose callers are then cut off."""

    is_cut = False

    async def replace_documents(self, *args: Any) -> None:
        await super().replace_documents(*args)
        if self.is_cut:
            raise asyncio.CancelledError


@pytest.fixture
def chunks() -> Cut:
    return Cut(dimension=64)


@pytest.fixture
def memories(chunks: Cut, tmp_path: Path) -> Memories:
    embedding = HashingEmbedding()
    return memories_on(embedding, chunks, InMemoryGraphStore(embedding), data=tmp_path)


@asynccontextmanager
async def cut(chunks: Cut) -> AsyncIterator[None]:
    chunks.is_cut = True
    with pytest.raises(asyncio.CancelledError):
        yield
    chunks.is_cut = False


async def texts(memories: Memories, kind: MemoryType = MemoryType.EPISODIC) -> list[str]:
    return [one.content for one in await memories.list("ada", kind, include_ended=True)]


async def test_another_message_may_come_between(memories: Memories, chunks: Cut, tmp_path: Path):
    async with cut(chunks):
        await memories.remember(TEXT, "ada", metadata={"session": "1"})
    assert await texts(memories) == [TEXT]
    await memories.remember("My favourite tea is mate.", "ada")
    await memories.remember(TEXT, "ada", metadata={"session": "1"})
    assert sorted(await texts(memories)) == sorted([TEXT, "My favourite tea is mate."])
    assert not list((tmp_path / FOLDER).iterdir())


async def test_the_same_words_of_a_call_that_returned_are_another_message(memories: Memories):
    for _ in range(2):
        await memories.remember(TEXT, "ada")
    assert await texts(memories) == [TEXT, TEXT]


@pytest.mark.parametrize("changed", [{"at": "2024-01-01"}, {"metadata": {"role": "assistant"}}])
async def test_another_time_or_speaker_is_another_message(
    memories: Memories, chunks: Cut, changed: dict[str, Any]
):
    async with cut(chunks):
        await memories.remember(TEXT, "ada")
    await memories.remember(TEXT, "ada", **changed)
    assert await texts(memories) == [TEXT, TEXT]


async def test_the_same_words_much_later_are_another_message(memories: Memories, chunks: Cut, tmp_path: Path):
    async with cut(chunks):
        await memories.remember(TEXT, "ada")
    (note,) = (tmp_path / FOLDER).iterdir()
    then = note.stat().st_mtime - RESENT_WITHIN
    os.utime(note, (then, then))
    await memories.remember(TEXT, "ada")
    assert await texts(memories) == [TEXT, TEXT]


async def test_a_memory_that_an_agent_inserts_again(memories: Memories, chunks: Cut):
    given = {"user_id": "ada", "content": "Buy tea.", "memory_type": "working"}
    agent = memories.agents[MemoryType.WORKING]
    async with cut(chunks):
        await agent.execute_task(TaskRequest("insert", given, timeout_ms=None))
    assert (await agent.execute_task(TaskRequest("insert", given, timeout_ms=None))).success
    assert await texts(memories) == await texts(memories, MemoryType.WORKING) == ["Buy tea."]


@pytest.mark.parametrize("everything", [True, False])
async def test_a_forgotten_message_leaves_no_note(
    memories: Memories, chunks: Cut, tmp_path: Path, everything: bool
):
    async with cut(chunks):
        await memories.remember(TEXT, "ada")
    (said,) = await memories.list("ada", MemoryType.EPISODIC)
    await memories.forget("ada", None if everything else [said.id])
    assert not list((tmp_path / FOLDER).iterdir())
    assert await texts(memories) == []
