"""Memories on the real stores: kept over a restart, written by two, mended after a crash, gone from the files."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from agentic_rag import RagConfig, open_rag
from agentic_rag.domain.identity import memory_dataset
from agentic_rag.memory.schemas import MemoryType
from agentic_rag.rag import Rag
from agentic_rag.testing import HashingEmbedding

EMBEDDING = HashingEmbedding()


def rag(folder: Path) -> Any:
    return open_rag(RagConfig(data_dir=folder), embedding=EMBEDDING)


async def lives_in(opened: Rag) -> list[str]:
    held = await opened.memory.list("ada", MemoryType.SEMANTIC)
    return [str(one.details["value"]) for one in held if one.slot]


async def test_memories_outlive_a_restart_and_every_agent_finds_its_own(tmp_path: Path):
    texts = (
        "I live in Oslo.",
        "I prefer green tea.",
        "When I ask about tea, give degrees.",
        "I'm working on tea.",
    )
    async with rag(tmp_path) as first:
        for text in texts:
            await first.memory.remember(text, "ada")
        before = await first.memory.list("ada", include_ended=True)
    async with rag(tmp_path) as second:
        assert await second.memory.list("ada", include_ended=True) == before
        found = await second.memory.search("What about green tea?", "ada")
        assert not found.degraded
        agents = {source["agent"] for memory in found.memories for source in memory.sources}
        assert agents == {
            "core_agent",
            "episodic_agent",
            "procedural_agent",
            "semantic_agent",
            "working_agent",
        }


async def test_two_that_write_one_user_see_what_the_other_wrote(tmp_path: Path):
    async with rag(tmp_path) as one, rag(tmp_path) as other:
        await one.memory.remember("I live in Oslo.", "ada", at="2020-01-01")
        await other.memory.remember("I moved to Bergen.", "ada", at="2022-01-01")
        assert await lives_in(other) == ["Bergen"]
        said = [f"thing {number} was said" for number in range(6)]
        await asyncio.gather(*(each.memory.remember(text, "ada") for each in (one, other) for text in said))
        await asyncio.sleep(1.1)
        orders = [record.details["order"] for record in await one.memory.list("ada", MemoryType.EPISODIC)]
        assert orders == list(range(1, 15))


async def test_a_graph_that_lags_behind_is_mended_by_the_next_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    async with rag(tmp_path) as opened:
        await opened.memory.remember("I live in Oslo.", "ada")

        async def killed(*_: Any, **how: Any) -> None:
            raise RuntimeError("killed")

        with monkeypatch.context() as crash:
            crash.setattr(type(opened.knowledge), "replace_documents", killed)
            with pytest.raises(RuntimeError, match="killed"):
                await opened.memory.remember("I work at Equinor.", "ada")
        held = await opened.chunks.count(memory_dataset("ada"))
        assert (await opened.knowledge.counts(memory_dataset("ada"))).episodes < held
        await opened.memory.remember("I prefer tea.", "ada")
        kinds = (MemoryType.EPISODIC, MemoryType.SEMANTIC)
        of_graph = sum([len(await opened.memory.list("ada", kind)) for kind in kinds])
        assert (await opened.knowledge.counts(memory_dataset("ada"))).episodes == of_graph


async def test_a_users_memories_are_asked_with_the_notes(tmp_path: Path):
    note = tmp_path / "note.md"
    note.write_text("Oolong tea comes from Fujian.", encoding="utf-8")
    async with rag(tmp_path / "data") as opened:
        await opened.ingest(note)
        await opened.memory.remember("I buy my oolong tea in Bergen.", "ada")
        asked = {"operation": "verification_canvas"}
        with_user = await opened.ask("Where do I buy oolong tea?", user_id="ada", **asked)
        without = await opened.ask("Where do I buy oolong tea?", **asked)
        other = await opened.ask("Where do I buy oolong tea?", user_id="bo", **asked)
        assert "Bergen" in " ".join(one["content"] for one in with_user.results)
        for answer in (without, other):
            assert "Bergen" not in " ".join(one["content"] for one in answer.results)


async def test_what_is_forgotten_is_in_no_file(tmp_path: Path):
    async with rag(tmp_path) as opened:
        await opened.memory.remember("I prefer tea.", "ada")
        secret = await opened.memory.remember("My favourite word is zyxxqvubla.", "ada")
        assert (await opened.memory.forget("ada", [secret.evidence_id])).found == 0
    left = [file for file in tmp_path.rglob("*") if file.is_file() and b"zyxxqvubla" in file.read_bytes()]
    assert left == []
