from __future__ import annotations

import asyncio
import random
from pathlib import Path
from typing import Any

import pytest
from lancedb.table import AsyncTable

from agentic_rag.errors import StoreError
from agentic_rag.stores.graph.change import Change
from agentic_rag.stores.graph.journal import Journal
from agentic_rag.stores.graph.tables import GraphTables
from agentic_rag.stores.lancedb import pieces
from agentic_rag.testing import HashingEmbedding
from graph_fixtures import BACKENDS, in_graph, in_tables, note, opened
from graph_servers import GraphServer
from images import WRITES

JOURNAL = "graph.journal"


@BACKENDS
async def test_no_orphans_after_many_changes(
    tmp_path: Path, embedding: HashingEmbedding, options: dict[str, Any]
) -> None:
    chance = random.Random(3)
    topics = [f"topic{i}" for i in range(12)]
    live: dict[str, tuple[str, ...]] = {}
    async with opened(tmp_path, embedding, **options) as store:
        for _ in range(18):
            names = chance.sample([f"note{i}" for i in range(6)], k=2)
            if chance.random() < 0.3:
                await store.remove_documents("笔记", names)
                for name in names:
                    live.pop(name, None)
            else:
                chosen = {name: tuple(chance.sample(topics, k=chance.randint(0, 4))) for name in names}
                await store.replace_documents("笔记", [note(name, *own) for name, own in chosen.items()])
                live |= chosen
        tables = await in_tables(store)
        assert await in_graph(store) == tables
        assert len(tables["entities"]) == len({topic for own in live.values() for topic in own})
        assert len(tables["mentions"]) == sum(len(own) for own in live.values())
        assert len(tables["facts"]) == sum(max(len(own) - 1, 0) for own in live.values())
        assert len(tables["episodes"]) == len(live)


WRITTEN = [
    "facts", "mentions", "entities",  # deleted
    "entities", "episodes", "episodes", "facts", "mentions", "mentions",  # files, then the version that names them
    "journal",
]  # fmt: skip
"""What is written, one after the other, once the journal names it and until it is empty, when a note is replaced."""


def watched(monkeypatch: pytest.MonkeyPatch, fails_from: int | None = None) -> list[str]:
    """Kinds of the tables that are written from now on; the disk is full after so many writes."""
    written: list[str] = []

    def watch(owner: Any, name: str) -> None:
        real = getattr(owner, name)

        async def write(of: Any, *args: object, **kwargs: object) -> Any:
            if len(written) == fails_from:
                raise OSError("disk full")
            written.append("journal" if owner is Journal else of.name.rpartition("_")[2])
            return await real(of, *args, **kwargs)

        monkeypatch.setattr(owner, name, write)

    for owner in (AsyncTable, pieces):
        for name in WRITES[owner]:
            watch(owner, name)
    watch(Journal, "clear")
    return written


@BACKENDS
async def test_every_write_of_a_replacement_is_known(
    tmp_path: Path, embedding: HashingEmbedding, monkeypatch: pytest.MonkeyPatch, options: dict[str, Any]
) -> None:
    """Each is made to fail below."""
    async with opened(tmp_path, embedding, **options) as store:
        await store.replace_documents("notes", [note("one", "old1", "b1"), note("two", "b1", "c1")])
        written = watched(monkeypatch)
        await store.replace_documents("notes", [note("one", "new1", "b1")])
        assert written == WRITTEN


@BACKENDS
@pytest.mark.parametrize("writes", range(len(WRITTEN)))
async def test_a_write_that_fails_half_way_is_put_right(
    tmp_path: Path,
    embedding: HashingEmbedding,
    monkeypatch: pytest.MonkeyPatch,
    writes: int,
    options: dict[str, Any],
) -> None:
    """The disk is full after so many writes; the same store, or a new one, recovers."""
    async with opened(tmp_path, embedding, **options) as store:
        await store.replace_documents("notes", [note("one", "old1", "b1"), note("two", "b1", "c1")])
        watched(monkeypatch, fails_from=writes)
        with pytest.raises(StoreError, match="disk full"):
            await store.replace_documents("notes", [note("one", "new1", "b1")])
        monkeypatch.undo()
        assert (tmp_path / JOURNAL).exists()
        if writes % 2:
            await store.remove_documents("notes", ["unrelated"])
            assert await in_graph(store) == await in_tables(store)
    async with opened(tmp_path, embedding, **options) as store:
        await store.remove_documents("notes", ["unrelated"])
        assert await in_graph(store) == await in_tables(store)
        assert not (tmp_path / JOURNAL).exists()
        await store.remove_documents("notes", ["one"])
        assert (await store.counts("notes")).entities == 2, "nothing of either version is left over"
        await store.replace_documents("notes", [note("one", "new1", "b1")])
        counts = await store.counts("notes")
        assert (counts.entities, counts.facts, counts.episodes, counts.mentions) == (3, 2, 2, 4)
        assert await in_graph(store) == await in_tables(store)


@BACKENDS
async def test_an_unreadable_journal_means_everything(
    tmp_path: Path, embedding: HashingEmbedding, monkeypatch: pytest.MonkeyPatch, options: dict[str, Any]
) -> None:
    async def nothing(*_: object) -> None: ...

    async with opened(tmp_path, embedding, **options) as store:
        await store.replace_documents("notes", [note("one", "a1", "b1"), note("two", "b1")])
        monkeypatch.setattr(GraphTables, "delete", nothing)  # as if the process had died before it
        await store.remove_documents("notes", ["one"])
        monkeypatch.undo()
    (tmp_path / JOURNAL).write_text("{half", encoding="utf-8")
    async with opened(tmp_path, embedding, **options) as store:
        await store.remove_documents("notes", ["one"])
        assert await in_graph(store) == await in_tables(store)
        assert (await store.counts("notes")).entities == 1
        assert not (tmp_path / JOURNAL).exists()


async def test_an_emptied_server_is_filled_by_the_next_write(
    tmp_path: Path, embedding: HashingEmbedding, falkordb: GraphServer, caplog: pytest.LogCaptureFixture
) -> None:
    async with opened(tmp_path, embedding, graph=falkordb.emptied()) as store:
        await store.replace_documents("notes", [note("one", "a1", "b1")])
        await store.replace_documents("笔记", [note("two", "b1", "c1")])
        before = await in_graph(store)
    async with opened(tmp_path, embedding, graph=falkordb.emptied()) as store:
        await (await store.graphiti()).driver.execute_query(
            "CREATE (n:Entity {uuid: 'stray', group_id: 'notes'})"
        )
        await store.remove_documents("notes", ["unknown"])
        assert await in_graph(store) == before == await in_tables(store)
    assert "repaired from LanceDB: 12 rows written, 1 deleted" in caplog.text


async def test_a_cancelled_write_is_put_right(tmp_path: Path, embedding: HashingEmbedding) -> None:
    chance = random.Random(5)
    async with opened(tmp_path, embedding) as store:
        for number in range(12):
            graphs = [note(f"n{i}", f"t{number}", "shared", f"u{i}") for i in range(4)]
            task = asyncio.create_task(store.replace_documents("notes", graphs))
            await asyncio.sleep(chance.random() * 0.1)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        await store.replace_documents("notes", [note(f"n{i}", "end", f"u{i}") for i in range(4)])
        assert await in_graph(store) == await in_tables(store)
        assert (await store.counts("notes")).entities == 5


async def test_a_large_dataset_is_removed_in_parts(
    tmp_path: Path, embedding: HashingEmbedding, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agentic_rag.stores.graph.writing.REMOVED_TOGETHER", 3)
    commits: list[int] = []
    async with opened(tmp_path, embedding) as store:
        await store.replace_documents(
            "notes", [note(f"n{number}", "tea", f"t{number}") for number in range(8)]
        )
        whole = Change.apply

        async def counted(self: Change, tables: GraphTables) -> None:
            commits.append(sum(map(len, self.documents.values())))
            await whole(self, tables)

        monkeypatch.setattr(Change, "apply", counted)
        await store.remove_documents("notes", [f"n{number}" for number in range(7)])
        assert commits == [3, 3, 1]
        assert (await store.counts("notes")).episodes == 1
        assert await in_graph(store) == await in_tables(store)
