"""Memories on the real stores: kept over a restart, written by two, mended after a crash, gone from the files."""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path
from typing import Any

import pytest

from agentic_rag import RagConfig, open_rag
from agentic_rag.domain.identity import memory_dataset
from agentic_rag.domain.ports import GraphQuery
from agentic_rag.errors import InputError, ManifestMismatch, UnknownDataset
from agentic_rag.memory.schemas import MemoryType
from agentic_rag.rag import Rag
from agentic_rag.testing import HashingEmbedding

EMBEDDING = HashingEmbedding()


def rag(folder: Path, embedding: HashingEmbedding = EMBEDDING) -> Any:
    return open_rag(RagConfig(data_dir=folder), embedding=embedding)


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
        assert not found.degraded_agents
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
        assert (await opened.memory.forget("ada", [secret.evidence_id])).remaining == 0
    assert files_with(b"zyxxqvubla", tmp_path) == []


def files_with(word: bytes, folder: Path) -> list[Path]:
    return [file for file in folder.rglob("*") if file.is_file() and word in file.read_bytes()]


async def test_a_memory_of_another_model_is_degraded_until_it_is_reindexed(tmp_path: Path):
    note = tmp_path / "note.md"
    note.write_text("Oolong tea comes from Fujian.", encoding="utf-8")
    asked = {"user_id": "ada"}
    async with rag(tmp_path / "data") as opened:
        await opened.memory.remember("I buy my oolong tea in Bergen.", "ada")
    async with rag(tmp_path / "data", HashingEmbedding(96)) as opened:
        await opened.ingest(note)
        assert await opened.memory.count("ada") > 0
        answer = await opened.ask("Where does oolong tea come from?", **asked)
        assert "Fujian" in answer.text
        told = answer.outcomes["memory"]
        assert told["status"] == "degraded"
        assert "agentic-rag reindex --dataset memory:ada" in told["reason"]
        with pytest.raises(ManifestMismatch, match="agentic-rag reindex --dataset memory:ada"):
            await opened.memory.remember("I live in Oslo.", "ada")
        for dataset in await opened.chunks.datasets():
            await opened.reindex(dataset)
        await opened.memory.remember("I live in Oslo.", "ada")
        answer = await opened.ask("Where do I buy oolong tea?", **asked)
        assert answer.outcomes["memory"]["status"] == "ok"
        assert "Bergen" in answer.text
        with pytest.raises(UnknownDataset, match="memory:bo"):
            await opened.reindex("memory:bo")


async def facts_of(opened: Rag) -> tuple[set[Any], set[Any]]:
    """Text and time of the facts that have a slot, by the chunk store and by the graph."""
    held = await opened.memory.list("ada", MemoryType.SEMANTIC, include_ended=True)
    words = "I live in favourite tea"
    vector = (await EMBEDDING.embed_queries([words]))[0]
    hits = await opened.knowledge.search(memory_dataset("ada"), GraphQuery(words, vector), limit=50)
    return (
        {(one.content, one.valid_at, one.invalid_at) for one in held if one.slot},
        {(hit.text, hit.valid_at, hit.invalid_at) for hit in hits},
    )


@pytest.mark.parametrize("then", ["the same", "another change"])
@pytest.mark.parametrize(
    ("store", "call"),
    [
        *(("knowledge", call) for call in ("replace_documents", "remove_documents", "optimize")),
        *(("chunks", call) for call in ("replace_documents", "optimize")),
    ],
)
async def test_an_interrupted_forget_is_finished(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str, store: str, then: str
):
    async with rag(tmp_path) as opened:
        await opened.memory.remember("I live in Oslo.", "ada", at="2020-01-01")
        secret = await opened.memory.remember("I live in Zyxxqvubla.", "ada", at="2022-01-01")

        async def killed(*_: Any, **how: Any) -> None:
            raise RuntimeError("killed")

        with monkeypatch.context() as crash:
            crash.setattr(type(getattr(opened, store)), call, killed)
            with pytest.raises(RuntimeError, match="killed"):
                await opened.memory.forget("ada", [secret.evidence_id])
        if then == "another change":
            await opened.memory.remember("My favourite tea is oolong.", "ada", at="2023-01-01")
        else:
            with contextlib.suppress(InputError):  # of the interrupted one only the tidying is left
                await opened.memory.forget("ada", [secret.evidence_id])
            assert await lives_in(opened) == ["Oslo"]
            assert files_with(b"yxxqvubla", tmp_path) == []
        by_chunks, by_graph = await facts_of(opened)
        assert by_graph == by_chunks
        assert by_graph


@pytest.mark.parametrize("before", ["another model", "a reindex"])
async def test_memories_are_forgotten_under_another_model(tmp_path: Path, before: str):
    """Neither the tables of the model before nor those that a reindex leaves hold anything of it."""
    async with rag(tmp_path) as opened:
        await opened.memory.remember("I live in Oslo.", "ada", at="2020-01-01")
        secret = await opened.memory.remember("I live in Zyxxqvubla.", "ada", at="2022-01-01")
        await opened.memory.remember("I live in Rome.", "bo")
    async with rag(tmp_path, HashingEmbedding(96)) as opened:
        if before == "a reindex":
            await opened.reindex("memory:ada")
        assert (await opened.memory.forget("ada", [secret.evidence_id])).remaining == 0
        assert await lives_in(opened) == ["Oslo"]
        assert files_with(b"yxxqvubla", tmp_path) == []
        assert (await opened.memory.forget("ada")).remaining == 0
        assert await opened.memory.count("ada") == 0
        with pytest.raises(InputError, match="no memory"):
            await opened.memory.forget("ada", [secret.evidence_id])
    async with rag(tmp_path) as opened:  # the other user's memories are as they were
        assert len(await opened.memory.list("bo", MemoryType.EPISODIC)) == 1
