"""Index maintenance: minimum rows, renewal of stale indexes, and reports."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from lance.file import LanceFileReader
from lancedb.index import FTS, BTree

from agentic_rag.domain.ports import IndexStats
from agentic_rag.stores.lancedb import indexes
from agentic_rag.stores.lancedb.connection import LanceConnection, lance_connection
from agentic_rag.stores.lancedb.indexes import (
    MAX_PIECES,
    MAX_SEGMENTS,
    UNINDEXED_ROWS,
    IndexPlan,
    PlannedIndex,
    is_due,
    partitions,
    table_stats,
    tidied_when_due,
    tidy_table,
)

DIMENSION = 8
SCHEMA = pa.schema(
    [
        pa.field("id", pa.string(), nullable=False),
        pa.field("text", pa.string(), nullable=False),
        pa.field("vector", pa.list_(pa.float32(), DIMENSION), nullable=False),
    ]
)
PLAN = IndexPlan((PlannedIndex("text", FTS), PlannedIndex("id", BTree, rows=50)), vector_from=300)


@pytest.fixture
async def connection(tmp_path: Path) -> AsyncIterator[LanceConnection]:
    async with lance_connection(str(tmp_path / "lance")) as opened:
        yield opened


@pytest.fixture
async def table(connection: LanceConnection) -> Any:
    return await connection.create_table("rows.1", SCHEMA, "id")


async def add(table: Any, count: int) -> None:
    start = await table.count_rows()
    vectors = np.random.default_rng(start).normal(size=(count, DIMENSION)).astype(np.float32)
    await table.add(
        pa.Table.from_arrays(
            [
                pa.array([f"k{number}" for number in range(start, start + count)]),
                pa.array([f"word{number % 7} and more" for number in range(count)]),
                pa.FixedSizeListArray.from_arrays(pa.array(vectors.reshape(-1)), DIMENSION),
            ],
            schema=SCHEMA,
        )
    )


async def built_on(table: Any) -> dict[str, str]:
    return {index.columns[0]: index.name for index in await table.list_indices()}


async def test_what_pays_by_the_number_of_rows(table: Any) -> None:
    await tidy_table(table, PLAN, "rows")
    assert set(await built_on(table)) == {"text"}
    await add(table, 60)
    await tidy_table(table, PLAN, "rows")
    assert set(await built_on(table)) == {"text", "id"}
    await add(table, 300)
    await tidy_table(table, PLAN, "rows")
    assert set(await built_on(table)) == {"text", "id", "vector"}


async def test_a_vector_index_is_renewed_when_the_table_has_outgrown_it(table: Any) -> None:
    await add(table, 300)
    await tidy_table(table, PLAN, "rows")
    assert (await built_on(table))["vector"] == "vector_built_for_300"
    await add(table, 150)
    await tidy_table(table, PLAN, "rows")
    assert (await built_on(table))["vector"] == "vector_built_for_300", "half as many again is not more"
    await add(table, 1)
    await tidy_table(table, PLAN, "rows")
    built = [index.name for index in await table.list_indices() if index.columns == ["vector"]]
    assert built == ["vector_built_for_451"]
    assert (await table.index_stats(built[0])).num_unindexed_rows == 0


async def test_a_vector_index_of_many_segments_is_built_anew(table: Any) -> None:
    async def segments() -> list[int]:
        return [index.num_segments for index in await table.list_indices() if index.columns == ["vector"]]

    await add(table, 300)
    seen = []
    for _ in range(MAX_SEGMENTS + 1):
        await tidy_table(table, PLAN, "rows")
        seen += await segments()
        await add(table, 2)
    assert max(seen) == MAX_SEGMENTS
    assert seen[-1] == 1
    assert (await built_on(table))["vector"] == f"vector_built_for_{300 + 2 * MAX_SEGMENTS}"


@pytest.mark.parametrize(("removed", "rarer"), [(10, False), (150, True), (190, True)])
async def test_full_text_forgets_what_was_removed(table: Any, removed: int, rarer: bool) -> None:
    """LanceDB by itself takes a word for as rare as it was among rows that are gone."""

    async def best() -> float:
        found = await table.query().nearest_to_text("word3").limit(1).to_list()
        return float(found[0]["_score"])

    await add(table, 200)
    await tidy_table(table, PLAN, "rows")
    before = await best()
    await table.delete(f"id IN ({', '.join(repr(f'k{n}') for n in range(200 - removed, 200))})")
    await tidy_table(table, PLAN, "rows")
    after = await best()
    assert (after != before) == rarer
    await tidy_table(table, PLAN, "rows")
    assert await best() == after


async def test_what_a_crash_left_beside_the_newest_is_dropped(table: Any) -> None:
    from lancedb.index import IvfSq

    await add(table, 300)
    for name in ("vector_idx", "vector_built_for_200", "vector_built_for_250"):
        await table.create_index("vector", config=IvfSq(distance_type="cosine"), name=name)
    await tidy_table(table, PLAN, "rows")
    built = [index.name for index in await table.list_indices() if index.columns == ["vector"]]
    assert built == ["vector_built_for_250"]


async def test_when_it_is_due(table: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(indexes, "CARE_INTERVAL", timedelta(0))
    assert not await is_due(table)
    await tidy_table(table, PLAN, "rows")
    await add(table, UNINDEXED_ROWS)
    assert not await is_due(table)
    await add(table, 1)
    assert await is_due(table)
    monkeypatch.setattr(indexes, "CARE_INTERVAL", timedelta(minutes=1))
    assert not await is_due(table), "it was tidied a moment ago"
    monkeypatch.setattr(indexes, "CARE_INTERVAL", timedelta(0))
    await tidy_table(table, PLAN, "rows")
    assert not await is_due(table)


async def test_many_small_writes_are_joined_also_a_moment_after_the_last_time(table: Any) -> None:
    await tidy_table(table, PLAN, "rows")
    for _ in range(3 * MAX_PIECES):
        await add(table, 1)
        await tidied_when_due(table, lambda: tidy_table(table, PLAN, "rows"), "rows")
        assert (await table.stats())["fragment_stats"]["num_fragments"] <= MAX_PIECES
    assert await table.count_rows() == 3 * MAX_PIECES


async def test_a_large_table_is_not_copied_again_at_once(table: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(indexes, "ROWS_A_PIECE", 2)
    monkeypatch.setattr(indexes, "MAX_PIECES", 3)
    await add(table, 60)
    await tidy_table(table, PLAN, "rows")
    for _ in range(8):
        await add(table, 1)
    assert not await is_due(table)
    monkeypatch.setattr(indexes, "CARE_INTERVAL", timedelta(0))
    assert await is_due(table)


async def test_a_write_is_done_though_tidying_fails(
    table: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def full(*_: Any, **how: Any) -> None:
        raise OSError("no space left on device")

    for _ in range(MAX_PIECES + 1):
        await add(table, 1)
    monkeypatch.setattr(indexes, "_tidy", full)
    await tidied_when_due(table, lambda: tidy_table(table, PLAN, "rows"), "rows")
    assert "rows was stored, but not indexed" in caplog.text
    assert "no space left" in caplog.text


async def test_stats(table: Any, connection: LanceConnection) -> None:
    await add(table, 60)
    await tidy_table(table, PLAN, "rows")
    await add(table, 5)
    stats = await table_stats(table, connection.uri, "rows")
    assert (stats.name, stats.rows, stats.unindexed_rows) == ("rows", 65, 5)
    assert stats.indexes == (IndexStats("id", "BTREE", 60, 5), IndexStats("text", "FTS", 60, 5))
    assert stats.versions is not None
    assert stats.versions >= 3
    files = [file for file in Path(connection.uri, "rows.1.lance").rglob("*") if file.is_file()]
    assert stats.size_bytes == sum(file.stat().st_size for file in files)


@pytest.mark.parametrize(("rows", "wanted"), [(0, 1), (1_500, 1), (20_000, 2), (1_000_000, 122)])
def test_partitions(rows: int, wanted: int) -> None:
    assert partitions(rows) == wanted


async def test_a_purge_leaves_no_row_that_was_removed_in_a_file(
    connection: LanceConnection, table: Any
) -> None:
    await add(table, 60)
    await tidy_table(table, PLAN, "rows")
    await table.delete("id = 'k7'")
    folder = Path(connection.uri) / "rows.1.lance"
    await tidy_table(table, PLAN, "rows")
    assert list((folder / "_deletions").glob("*"))  # one row of a piece: LanceDB only notes that it is gone
    await tidy_table(table, PLAN, "rows", purge=True)
    assert not list((folder / "_deletions").glob("*"))
    assert len(await table.list_versions()) == 1
    assert await table.count_rows() == 59
    assert {index.num_indexed_rows for index in await table.list_indices()} == {59}


async def test_a_purge_leaves_no_vector_that_was_removed_in_an_index(
    connection: LanceConnection, table: Any
) -> None:
    def vectors_in_indexes() -> list[int]:
        files = Path(connection.uri).glob("rows.1.lance/_indices/*/auxiliary.idx")
        return [LanceFileReader(str(file)).metadata().num_rows for file in files]

    await add(table, 400)
    await tidy_table(table, PLAN, "rows")
    await table.delete("id = 'k7'")
    await tidy_table(table, PLAN, "rows")
    assert sum(vectors_in_indexes()) >= 400, "without a purge it is left there"
    await tidy_table(table, PLAN, "rows", purge=True)
    assert vectors_in_indexes() == [399]


async def test_a_purge_drops_the_indexes_that_no_longer_pay(table: Any) -> None:
    await add(table, 400)
    await tidy_table(table, PLAN, "rows")
    await table.delete("id != 'k7'")
    await tidy_table(table, PLAN, "rows", purge=True)
    assert {index.columns[0] for index in await table.list_indices()} == {"text"}
