"""Compaction copies recently written data, and leaves large pieces in place."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from lancedb.index import FTS, BTree

from agentic_rag.errors import StoreError
from agentic_rag.stores.lancedb import compaction
from agentic_rag.stores.lancedb.compaction import clean, compact, expected_pieces
from agentic_rag.stores.lancedb.connection import lance_connection, translate_errors

SCHEMA = pa.schema([pa.field("id", pa.string(), nullable=False), pa.field("text", pa.string())])
AT_ONCE = timedelta(0)


@pytest.fixture
async def table(tmp_path: Path) -> AsyncIterator[Any]:
    async with lance_connection(str(tmp_path / "lance")) as connection:
        yield await connection.create_table("rows", SCHEMA, "id")


async def add(table: Any, count: int) -> None:
    start = await table.count_rows()
    ids = [f"k{number}" for number in range(start, start + count)]
    await table.add(pa.table({"id": ids, "text": [f"word{start} " * 20] * count}, schema=SCHEMA))


async def pieces(table: Any) -> list[int]:
    found = (await table.stats())["fragment_stats"]
    return [found["num_fragments"], found["lengths"]["min"], found["lengths"]["max"]]


async def test_small_pieces_become_one_and_large_ones_stay(
    table: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    data = tmp_path / "lance" / "rows.lance" / "data"
    await add(table, 1_000)
    monkeypatch.setattr(compaction, "PIECE_BYTES", sum(file.stat().st_size for file in data.iterdir()) // 4)
    large = set(data.iterdir())
    for _ in range(5):
        await add(table, 10)
    await compact(table, AT_ONCE)
    assert await pieces(table) == [2, 50, 1_000]
    assert large < set(data.iterdir())
    assert len(set(data.iterdir())) == 2, "what was merged is gone"
    assert await table.count_rows() == 1_050
    await table.delete("id < 'k3'")
    await compact(table, AT_ONCE)
    assert not large & set(data.iterdir()), (
        "of a large piece many rows of which were deleted the rest is copied"
    )


async def test_what_was_written_since_is_in_the_indexes_but_those_to_leave(table: Any) -> None:
    await add(table, 60)
    await table.create_index("id", config=BTree())
    await table.create_index("text", config=FTS())
    await add(table, 300)
    await compact(table, AT_ONCE, leaving=["id_idx"])
    assert {index.name: index.num_indexed_rows for index in await table.list_indices()} == {
        "id_idx": 60,
        "text_idx": 360,
    }
    await compact(table, AT_ONCE)
    assert {index.num_indexed_rows for index in await table.list_indices()} == {360}, (
        "Lance writes what LanceDB reads: both of the same version"
    )
    assert await table.count_rows("id = 'k359'") == 1


async def test_old_versions_go_and_the_latest_stays(table: Any) -> None:
    await add(table, 3)
    await table.delete("id = 'k0'")
    latest = await table.version()
    await clean(table, timedelta(hours=1))
    assert len(await table.list_versions()) > 1
    await clean(table, AT_ONCE)
    assert [one["version"] for one in await table.list_versions()] == [latest]
    assert await table.count_rows() == 2


async def test_nothing_and_damaged_files(table: Any, tmp_path: Path) -> None:
    await compact(table, AT_ONCE)
    for _ in range(2):
        await add(table, 3)
    for file in (tmp_path / "lance" / "rows.lance" / "data").iterdir():
        file.write_bytes(file.read_bytes()[:40])
    expected = r"LanceDB failed while indexing rows: .*run: agentic-rag repair"
    with pytest.raises(StoreError, match=expected), translate_errors("indexing rows"):
        await compact(table, AT_ONCE)


async def test_a_panic_is_told_as_damage(table: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def panicking(*_: object) -> None:
        raise type("PanicException", (BaseException,), {})("called `Option::unwrap()` on a `None` value")

    monkeypatch.setattr(compaction, "_compact", panicking)
    with (
        pytest.raises(StoreError, match=r"panicked: called .* run: agentic-rag repair"),
        translate_errors("indexing"),
    ):
        await compact(table, AT_ONCE)


async def test_a_cancelled_caller_waits_for_the_end(table: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    going, ended = threading.Event(), threading.Event()

    def slow(*_: object) -> None:
        going.set()
        time.sleep(0.3)
        ended.set()

    monkeypatch.setattr(compaction, "_compact", slow)
    task = asyncio.create_task(compact(table, AT_ONCE))
    await asyncio.to_thread(going.wait, 10)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert ended.is_set()


def test_how_many_pieces_a_compacted_table_may_have() -> None:
    assert expected_pieces(0) == expected_pieces(1_000_000) == 0
    assert expected_pieces(100 << 30) == 800
