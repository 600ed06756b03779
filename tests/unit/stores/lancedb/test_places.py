"""Rows read where they lie in the files: whatever is written, deleted or compacted, they are those that LanceDB reads."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentic_rag.domain import Chunk
from agentic_rag.domain.ports import PassageVectors
from agentic_rag.errors import StoreError
from agentic_rag.stores.lancedb import chunk_rows, row_ids
from agentic_rag.stores.lancedb.chunk_rows import ChunkRows
from agentic_rag.stores.lancedb.compaction import compact
from agentic_rag.stores.lancedb.connection import (
    STABLE_ROW_IDS,
    LanceConnection,
    lance_connection,
    translate_errors,
)
from agentic_rag.stores.lancedb.places import FILE, RowPlaces, read_places
from agentic_rag.stores.lancedb.rows import CHUNK, TOKENS, VECTOR, chunk_schema, to_table

DIMENSION = 384
COLUMNS = [CHUNK, VECTOR, TOKENS]


def chunk(name: str, text: str = "tea") -> Chunk:
    return Chunk(
        f"{name}#0", name, text, 0, len(text), 0, name, f"{name}.md", "paragraph", (), None, None, {}
    )


def rows(chunks: list[Chunk], tokens: int = 240) -> Any:
    """With random vectors, and so many bytes of tokens each."""
    chance = np.random.default_rng(len(chunks))
    vectors = chance.normal(size=(len(chunks), DIMENSION)).astype(np.float32)
    every = PassageVectors(vectors, tuple(chance.bytes(tokens) for _ in chunks))
    return to_table(chunks, every, chunk_schema(DIMENSION))


def long_chunks(names: list[str], length: int = 400) -> list[Chunk]:
    return [chunk(name, f"{name} 茶 " * (length // len(name))) for name in names]


async def made(connection: LanceConnection) -> Any:
    database = await connection.database()
    await database.create_table("t", schema=chunk_schema(DIMENSION), storage_options=STABLE_ROW_IDS)
    return await connection.table("t")


def folder(tmp_path: Path) -> Path:
    return tmp_path / "t.lance"


async def stored(table: Any) -> dict[str, tuple[bytes, ...]]:
    everything = await table.query().select(["chunk_id", *COLUMNS]).to_arrow()
    values = chunk_rows._values(everything, COLUMNS)
    return dict(zip(everything["chunk_id"].to_pylist(), values, strict=True))


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Numbers of rows that were read where they lie; row ids are read again after every change."""
    monkeypatch.setattr(row_ids, "REST_FACTOR", 0.0)
    numbers: list[int] = []
    read: Callable[..., Any] = RowPlaces.read

    def counting(self: RowPlaces, ids: Any, columns: Any) -> Any:
        found = read(self, ids, columns)
        numbers.append(len(found))
        return found

    monkeypatch.setattr(RowPlaces, "read", counting)
    return numbers


async def test_compacted_rows_are_read_where_they_lie_and_newer_ones_through_lancedb(
    tmp_path: Path, reads: list[int]
):
    async with lance_connection(str(tmp_path)) as connection:
        table = await made(connection)
        names = [f"{n:03}" for n in range(300)]
        await table.add(rows(long_chunks(names[:200])))
        await table.add(rows(long_chunks(names[200:])))
        await compact(table, timedelta(minutes=1))
        of = ChunkRows(connection)
        ids = [f"{name}#0" for name in names]
        assert await of.by_id(table, [*ids, "no such"], COLUMNS) == await stored(table)
        assert reads == [300], "all of them at their places"

        await table.delete("chunk_id IN ('000#0', '250#0')")
        await table.add(rows(long_chunks(["new"])))
        assert await of.by_id(table, [*ids, "new#0"], COLUMNS) == await stored(table)
        assert reads[1] == 298
        await compact(table, timedelta(milliseconds=1))
        connection._places.clear()
        assert await of.by_id(table, [*ids, "new#0"], COLUMNS) == await stored(table)
        assert reads[2] == 299


async def test_files_that_another_process_compacted_away(tmp_path: Path, reads: list[int]):
    async with lance_connection(str(tmp_path)) as connection:
        table = await made(connection)
        for n in range(3):
            await table.add(rows(long_chunks([f"{n}{m:02}" for m in range(60)])))
        await compact(table, timedelta(minutes=1))
        await connection.places(table)
        of = ChunkRows(connection)
        await table.add(rows(long_chunks(["new"])))
        await compact(table, timedelta(milliseconds=1))  # the places that are known are those before
        assert await of.by_id(table, ["000#0", "259#0", "new#0"], COLUMNS) == {
            i: values for i, values in (await stored(table)).items() if i in ("000#0", "259#0", "new#0")
        }
        assert reads == [0]


@pytest.mark.parametrize("damage", ["missing", "empty", "cut", "other"])
async def test_a_file_of_places_that_cannot_be_read_is_not_needed(tmp_path: Path, damage: str):
    async with lance_connection(str(tmp_path)) as connection:
        table = await made(connection)
        await table.add(rows(long_chunks(["a", "b"])))
        await compact(table, timedelta(minutes=1))
        file = folder(tmp_path) / FILE
        content = file.read_bytes()
        file.unlink()
        if damage != "missing":
            file.write_bytes({"empty": b"", "cut": content[:-40], "other": os.urandom(500)}[damage])
        assert read_places(folder(tmp_path)) is None
        assert await ChunkRows(connection).by_id(table, ["a#0"], [CHUNK]) == {
            "a#0": ((await stored(table))["a#0"][0],)
        }


async def test_a_column_that_lance_lays_out_in_another_way_is_read_through_lancedb(
    tmp_path: Path, reads: list[int]
):
    async with lance_connection(str(tmp_path)) as connection:
        table = await made(connection)
        await table.add(rows(long_chunks(["a", "b"]), tokens=0))
        await table.add(rows(long_chunks(["c", "d"])))
        await compact(table, timedelta(minutes=1))
        of = ChunkRows(connection)
        ids = ["a#0", "b#0", "c#0", "d#0"]
        expected = await stored(table)
        assert await of.by_id(table, ids, COLUMNS) == expected
        assert await of.by_id(table, ids, [VECTOR]) == {i: expected[i][1:2] for i in ids}
        assert reads[-1] == 4


async def test_damaged_bytes_are_refused_with_the_way_to_mend_them(tmp_path: Path):
    async with lance_connection(str(tmp_path)) as connection:
        table = await made(connection)
        await table.add(rows(long_chunks([f"{n:03}" for n in range(50)])))
        await compact(table, timedelta(minutes=1))
        places = read_places(folder(tmp_path))
        assert places is not None
        with (folder(tmp_path) / "data" / places.files[0]).open("r+b") as file:
            file.seek(int(places.offsets[CHUNK][7]) + 8)
            file.write(b"\xff" * 16)
        refusal = pytest.raises(StoreError, match=r"corrupt.*run: agentic-rag repair")
        with refusal, translate_errors("reading"):
            await ChunkRows(connection).by_id(table, [f"{n:03}#0" for n in range(50)], [CHUNK])


async def test_an_older_copy_that_was_put_back(tmp_path: Path, reads: list[int]):
    async with lance_connection(str(tmp_path)) as connection:
        table = await made(connection)
        await table.add(rows(long_chunks(["a", "b"])))
        shutil.copytree(folder(tmp_path), tmp_path / "copy")
        await table.add(rows(long_chunks(["c", "d"])))
        await compact(table, timedelta(minutes=1))
    places = (folder(tmp_path) / FILE).read_bytes()
    shutil.rmtree(folder(tmp_path))
    shutil.move(tmp_path / "copy", folder(tmp_path))
    (folder(tmp_path) / FILE).write_bytes(places)
    async with lance_connection(str(tmp_path)) as connection:
        table = await connection.table("t")
        await table.add(rows(long_chunks(["e", "f"])))
        assert (await ChunkRows(connection).by_id(table, ["f#0"], COLUMNS)).keys() == {"f#0"}
        assert reads == []


async def test_a_table_that_is_made_anew_under_its_name(tmp_path: Path):
    async with lance_connection(str(tmp_path)) as connection:
        for text in ("before", "after"):
            table = await made(connection)
            await table.add(rows([chunk(name, text * 100) for name in ("a", "b")]))
            await compact(table, timedelta(minutes=1))
            values = await ChunkRows(connection).by_id(table, ["a#0"], [CHUNK])
            assert text.encode() in values["a#0"][0]
            await connection.drop_table("t")


@given(
    st.lists(
        st.tuples(st.integers(1, 40), st.sampled_from([0, 3, 200, 5_000]), st.sampled_from([0, 1, 300])),
        min_size=1,
        max_size=4,
    ),
    st.lists(st.integers(0, 60), max_size=8),
)
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
async def test_any_rows(
    tmp_path_factory: pytest.TempPathFactory, writes: list[tuple[int, int, int]], gone: list[int]
):
    async with lance_connection(str(tmp_path_factory.mktemp("any"))) as connection:
        table = await made(connection)
        number = 0
        for count, length, tokens in writes:
            names = [f"{n:03}" for n in range(number, number + count)]
            await table.add(rows(long_chunks(names, length), tokens))
            number += count
        for n in gone:
            await table.delete(f"chunk_id = '{n:03}#0'")
        await compact(table, timedelta(minutes=1))
        ids = [f"{n:03}#0" for n in range(number)]
        for columns in ([CHUNK], [VECTOR], [TOKENS]):
            at = COLUMNS.index(columns[0])
            expected = {i: values[at : at + 1] for i, values in (await stored(table)).items()}
            assert await ChunkRows(connection).by_id(table, ids, columns) == expected
