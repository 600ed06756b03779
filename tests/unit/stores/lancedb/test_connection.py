"""Old versions are deleted when no reader can use them, and never under an open reader."""

from __future__ import annotations

import asyncio
import contextlib
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from agentic_rag.errors import StoreError
from agentic_rag.stores.lancedb import connection as connections
from agentic_rag.stores.lancedb.connection import LanceConnection, lance_connection, translate_errors
from agentic_rag.stores.lancedb.indexes import IndexPlan, table_stats, tidy_table
from agentic_rag.stores.lancedb.row_ids import RowIds
from agentic_rag.stores.lancedb.sizes import folder_bytes

SCHEMA = pa.schema([pa.field("id", pa.string(), nullable=False), pa.field("text", pa.string())])
ROWS = 40


async def write(connection: LanceConnection, times: int = 6) -> Any:
    """Give all rows another text, in a version each; what that leaves is compacted."""
    table = await connection.create_table("rows", SCHEMA, "id")
    for number in range(times):
        columns = [
            [str(n) for n in range(ROWS)],
            [f"{number} {random.randbytes(20_000).hex()}" for _ in range(ROWS)],
        ]
        rows = pa.Table.from_arrays([pa.array(column) for column in columns], schema=SCHEMA)
        merge = table.merge_insert("id").when_matched_update_all().when_not_matched_insert_all()
        await merge.execute(rows)
        await tidy_table(table, IndexPlan(), "rows")
    return table


async def versions(uri: str) -> int:
    async with lance_connection(uri) as connection:
        table = await connection.table("rows")
        assert table is not None
        assert await table.count_rows() == ROWS
        return len(await table.list_versions())


async def texts(connection: LanceConnection) -> set[str]:
    table = await connection.table("rows")
    assert table is not None
    return {text.split()[0] for text in (await table.query().select(["text"]).to_arrow())["text"].to_pylist()}


@pytest.fixture
def uri(tmp_path: Path) -> str:
    return str(tmp_path / "lance")


async def test_the_last_one_to_close_removes_what_it_made_old(uri: str) -> None:
    async with lance_connection(uri) as connection:
        table = await write(connection)
        told = await table_stats(table, uri, "rows")
        assert told.versions is not None
        assert told.versions > 6
    freed = (told.size_bytes or 0) - folder_bytes(Path(uri) / "rows.lance")
    assert freed > 3 * folder_bytes(Path(uri) / "rows.lance")
    assert freed == pytest.approx(told.old_bytes, abs=2_000)
    assert await versions(uri) == 1


@pytest.mark.parametrize("looking", [connections.READ_CONSISTENCY, None])
async def test_a_reader_that_is_open_reads_on(
    uri: str, looking: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Even one that never looks for a later version, as a search under way does not."""
    async with lance_connection(uri) as first:
        await write(first, times=1)
    monkeypatch.setattr(connections, "READ_CONSISTENCY", looking)
    async with lance_connection(uri) as reader:
        assert await texts(reader) == {"0"}
        async with lance_connection(uri) as writer:
            reading = [asyncio.create_task(texts(reader)) for _ in range(20)]
            await write(writer)
            assert set.union(*await asyncio.gather(*reading)) <= {str(number) for number in range(6)}
        assert await versions(uri) > 1
        assert await texts(reader) <= {"0", "5"}
    async with lance_connection(uri) as late:
        await write(late, times=1)
    assert await versions(uri) == 1


READER = """
import asyncio, sys
from agentic_rag.stores.lancedb.connection import lance_connection

async def main():
    async with lance_connection(sys.argv[1]) as connection:
        table = await connection.table("rows")
        assert await table.count_rows() == 40
        print("ready", flush=True)
        sys.stdin.readline()
        print(len(await table.query().select(["text"]).to_arrow()), flush=True)

asyncio.run(main())
"""


async def test_a_reader_in_another_process_reads_on(uri: str) -> None:
    async with lance_connection(uri) as writer:
        await write(writer, times=1)
        reader = await asyncio.to_thread(
            subprocess.Popen,
            [sys.executable, "-c", READER, uri],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert reader.stdout is not None
        assert await asyncio.to_thread(reader.stdout.readline) == "ready\n"
        await write(writer)
    assert len(list((Path(uri) / "rows.lance" / "_versions").glob("*.manifest"))) > 1
    out, _ = await asyncio.to_thread(reader.communicate, "go\n")
    assert (out, reader.returncode) == (f"{ROWS}\n", 0)
    # Who is last removes them, though it wrote nothing itself.
    assert len(list((Path(uri) / "rows.lance" / "_versions").glob("*.manifest"))) == 1


async def test_one_that_cannot_be_cleaned_closes_all_the_same(
    uri: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def full(*_: Any) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr(connections, "clean", full)
    async with lance_connection(uri) as connection:
        await write(connection)
    assert "removing old versions of rows: no space left on device; a later run removes them" in caplog.text
    monkeypatch.undo()
    async with lance_connection(uri) as connection:
        await write(connection, times=1)
    assert await versions(uri) == 1


async def test_a_database_that_is_not_local_is_left_to_the_age_of_its_versions(tmp_path: Path) -> None:
    uri = f"file://{tmp_path}/lance"
    async with lance_connection(uri) as connection:
        await write(connection)
    assert await versions(uri) > 1


@pytest.mark.parametrize("how", ["close", "drop_table", "replace"])
async def test_what_still_reads_a_table_that_goes_does_not_panic(
    uri: str, how: str, capfd: pytest.CaptureFixture[str]
) -> None:
    connection = LanceConnection(uri)
    table = await write(connection, 1)
    batches = await table.query().select(["id"]).to_batches(max_batch_length=1)
    assert (await anext(batches)).num_rows
    if how == "close":
        await connection.close()
    else:
        await connection.drop_table("rows")
    if how == "replace":
        await write(connection, 1)
    with contextlib.suppress(StoreError), translate_errors("reading rows"):
        [batch async for batch in batches]
        await RowIds("id").rows(table, {"1"}, ["text"])
    with contextlib.suppress(StoreError), translate_errors("reading rows"):
        await table.query().select(["text"]).to_arrow()
    assert "panicked" not in capfd.readouterr().err
    await connection.close()


async def test_a_table_that_is_opened_while_another_is_cleaned(
    uri: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    connection = LanceConnection(uri)
    await write(connection, 1)
    other = await connection.create_table("others", SCHEMA, "id")
    del connection._tables["others"]

    async def cleaned(*_: Any) -> None:
        connection._tables["others"] = other

    monkeypatch.setattr(connections, "clean", cleaned)
    await connection.close()
    assert connection._tables == {}


async def test_a_relative_path_is_a_folder_whatever_it_is_called(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    async with lance_connection("db/vectors") as connection:
        await connection.database()
    assert (tmp_path / "db" / "vectors").is_dir()
