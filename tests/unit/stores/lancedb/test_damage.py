"""Every kind of damage to every kind of table file: it is found, and every readable row is kept."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import lancedb
import pyarrow as pa
import pytest
from lancedb.index import FTS, BTree

from agentic_rag.errors import StoreError
from agentic_rag.stores.data_folder import REPAIR
from agentic_rag.stores.lancedb.connection import STABLE_ROW_IDS, LanceConnection, translate_errors
from agentic_rag.stores.lancedb.damage import Salvage, all_damages, salvage, table_names, without_indexes
from agentic_rag.stores.lancedb.versions import version_files

ROWS = 60
SCHEMA = pa.schema([pa.field("uuid", pa.string(), nullable=False), pa.field("text", pa.string())])
HARMS: dict[str, Callable[[bytes], bytes | None]] = {
    "deleted": lambda raw: None,
    "halved": lambda raw: raw[: len(raw) // 2],
    "emptied": lambda raw: b"",
    "garbage": lambda raw: bytes((37 * place + 11) % 256 for place in range(len(raw))),
    "zeroed": lambda raw: bytes(len(raw)),
}


def rows(first: int, count: int = ROWS) -> pa.Table:
    numbers = range(first, first + count)
    columns = {"uuid": [f"{n:05}" for n in numbers], "text": [f"tea {n} " * 20 for n in numbers]}
    return pa.table(columns, schema=SCHEMA)


@asynccontextmanager
async def table(folder: Path) -> AsyncIterator[Any]:
    database = await lancedb.connect_async(str(folder))
    opened = await database.open_table("t")
    yield opened
    opened.close()
    database.close()


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two writes, each in a file of its own; from the second one a row is deleted."""
    folder = tmp_path_factory.mktemp("damage")

    async def make() -> None:
        database = await lancedb.connect_async(str(folder))
        table = await database.create_table("t", schema=SCHEMA, storage_options=STABLE_ROW_IDS)
        await table.add(rows(0))
        await table.create_index("text", config=FTS())
        await table.create_index("uuid", config=BTree())
        await table.add(rows(ROWS))
        await table.delete(f"uuid = '{ROWS:05}'")
        table.close()
        database.close()

    asyncio.run(make())
    return folder


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    return shutil.copytree(made, tmp_path / "vectors")


def harmed(folder: Path, pattern: str, harm: str, *, last: bool = False) -> None:
    files = sorted((folder / "t.lance").glob(pattern), key=lambda file: (file.stat().st_mtime_ns, file.name))
    file = files[-1 if last else 0]
    left = HARMS[harm](file.read_bytes())
    file.unlink() if left is None else file.write_bytes(left)


async def kept(folder: Path, tmp_path: Path) -> tuple[Salvage, set[str]]:
    saved = await salvage(folder, "t", tmp_path / "scratch")
    if not saved.kept_rows:
        assert not (tmp_path / "scratch" / "t.lance").exists()
        return saved, set()
    assert await all_damages(tmp_path / "scratch", ["t"]) == []
    async with table(tmp_path / "scratch") as copy:
        found = await copy.query().to_arrow()
        assert found.schema.field("uuid").type == pa.string()
        keys = found["uuid"].to_pylist()
        assert len(keys) == len(set(keys)) == saved.kept_rows
        return saved, set(keys)


FIRST, SECOND = {f"{n:05}" for n in range(ROWS)}, {f"{n:05}" for n in range(ROWS + 1, 2 * ROWS)}


async def test_a_whole_table_has_no_damage(folder: Path):
    assert table_names(folder) == ["t"]
    assert await all_damages(folder, ["t"]) == []


@pytest.mark.parametrize("harm", HARMS)
async def test_rows_of_other_files_stay(folder: Path, tmp_path: Path, harm: str):
    harmed(folder, "data/*.lance", harm)
    (damage,) = await all_damages(folder, ["t"])
    assert not damage.indexes
    assert str(tmp_path) not in damage.reason
    saved, keys = await kept(folder, tmp_path)
    assert keys == SECOND
    assert (saved.lost_rows, saved.is_latest) == (ROWS, True)


async def test_rows_of_other_pages_stay(folder: Path, tmp_path: Path):
    file = max((folder / "t.lance" / "data").glob("*.lance"), key=lambda one: one.stat().st_mtime_ns)
    raw = bytearray(file.read_bytes())
    raw[100:140] = bytes(40)
    file.write_bytes(raw)
    assert await all_damages(folder, ["t"])
    _, keys = await kept(folder, tmp_path)
    assert keys >= FIRST


async def test_the_other_rows_of_a_page_stay(folder: Path, tmp_path: Path):
    file = max((folder / "t.lance" / "data").glob("*.lance"), key=lambda one: one.stat().st_mtime_ns)
    raw = file.read_bytes()
    assert raw.count(b"00077") == 1
    file.write_bytes(raw.replace(b"00077", b"000\xff\xff"))
    _, keys = await kept(folder, tmp_path)
    assert keys == (FIRST | SECOND) - {"00077"}


@pytest.mark.parametrize("harm", HARMS)
async def test_the_version_before_stands_in_for_the_latest(folder: Path, tmp_path: Path, harm: str):
    harmed(folder, "_versions/*.manifest", harm, last=True)
    (damage,) = await all_damages(folder, ["t"])
    assert not damage.indexes
    saved, keys = await kept(folder, tmp_path)
    # The row that the latest version had deleted is there again; who repairs knows which are not to be.
    assert keys == FIRST | SECOND | {f"{ROWS:05}"}
    assert (saved.lost_rows, saved.is_latest) == (None, False)


@pytest.mark.parametrize("harm", HARMS)
async def test_a_table_without_a_manifest_is_lost(folder: Path, tmp_path: Path, harm: str):
    for manifest in (folder / "t.lance" / "_versions").glob("*.manifest"):
        left = HARMS[harm](manifest.read_bytes())
        manifest.unlink() if left is None else manifest.write_bytes(left)
    assert len(await all_damages(folder, ["t"])) == 1
    saved, keys = await kept(folder, tmp_path)
    assert (saved, keys) == (Salvage(0, None, False), set())


@pytest.mark.parametrize("harm", HARMS)
async def test_a_list_of_deleted_rows_counts_as_empty(folder: Path, tmp_path: Path, harm: str):
    for file in (folder / "t.lance" / "_versions").glob("*.manifest"):
        if file != min((folder / "t.lance" / "_versions").glob("*.manifest")):
            file.unlink()
    harmed(folder, "_deletions/*", harm)
    assert len(await all_damages(folder, ["t"])) == 1
    saved, keys = await kept(folder, tmp_path)
    assert keys == FIRST | SECOND | {f"{ROWS:05}"}
    assert not saved.is_latest


@pytest.mark.parametrize(
    ("part", "harm"),
    [
        *(("part_0_tokens", harm) for harm in HARMS),
        ("part_0_invert", "halved"),
        ("part_0_docs", "garbage"),
        ("page_data", "emptied"),
        ("page_lookup", "deleted"),
    ],
)
async def test_an_index_is_dropped_alone(folder: Path, part: str, harm: str):
    harmed(folder, f"_indices/*/{part}.lance", harm)
    (damage,) = await all_damages(folder, ["t"])
    assert damage.indexes == ("text_idx" if part.startswith("part") else "uuid_idx",)
    await without_indexes(folder, damage)
    assert await all_damages(folder, ["t"]) == []
    async with table(folder) as mended:
        assert await mended.count_rows() == 2 * ROWS - 1
        assert len(await mended.query().nearest_to_text(f"{ROWS + 1}").limit(5).to_list()) == 1


async def test_a_missing_full_text_is_found(folder: Path):
    async with table(folder) as mended:
        await mended.drop_index("text_idx")
    (damage,) = await all_damages(folder, ["t"])
    await without_indexes(folder, damage)
    assert await all_damages(folder, ["t"]) == []


@pytest.mark.parametrize("harm", HARMS)
@pytest.mark.parametrize("pattern", ["data/*.lance", "_deletions/*"])
async def test_the_error_names_the_command(folder: Path, pattern: str, harm: str):
    harmed(folder, pattern, harm)
    async with table(folder) as damaged:
        words = f"LanceDB failed while reading tea: .*; run: {REPAIR}"
        with pytest.raises(StoreError, match=words), translate_errors("reading tea"):
            await damaged.query().to_arrow()


async def test_a_panic_of_lance_is_a_store_error(folder: Path):
    class RustPanic(Exception):
        """As pyo3 names its own."""

    with pytest.raises(StoreError, match=REPAIR), translate_errors("reading tea"):
        raise RustPanic("rust future panicked: unknown error")


async def test_a_table_whose_manifests_are_gone_is_not_an_empty_one(folder: Path):
    shutil.rmtree(folder / "t.lance" / "_versions")
    connection = LanceConnection(str(folder))
    with pytest.raises(StoreError, match=f"table t has data files but no manifest file; run: {REPAIR}"):
        await connection.table("t")
    assert await connection.table("another") is None
    await connection.close()


async def test_a_table_whose_latest_version_is_gone_is_not_read_as_it_was_before(folder: Path):
    version_files(folder / "t.lance")[0].unlink()
    connection = LanceConnection(str(folder))
    with pytest.raises(
        StoreError, match=f"table t: the manifest file of its latest version is missing; run: {REPAIR}"
    ):
        await connection.table("t")
    await connection.close()


def middle_zeroed(raw: bytes) -> bytes:
    return raw[: len(raw) // 3] + bytes(len(raw) // 3) + raw[2 * len(raw) // 3 :]


@pytest.mark.parametrize(
    "harm",
    [
        HARMS["zeroed"],
        lambda raw: bytes(20),
        lambda raw: bytes(4096),
        middle_zeroed,
        lambda raw: raw[: len(raw) // 2] + bytes(len(raw) // 2),
        lambda raw: raw[:-16] + bytes(16),
        lambda raw: b"\xff" * len(raw),
    ],
)
async def test_a_manifest_of_zeros_is_no_empty_table(folder: Path, harm: Callable[[bytes], bytes]):
    """LanceDB opens most of these as a table without columns."""
    latest = version_files(folder / "t.lance")[0]
    latest.write_bytes(harm(latest.read_bytes()))
    connection = LanceConnection(str(folder))
    with pytest.raises(StoreError, match=f"table t: .*; run: {REPAIR}"):
        await connection.table("t")
    await connection.close()
    assert await all_damages(folder, ["t"])


async def test_an_error_that_is_no_damage_names_no_command():
    with pytest.raises(StoreError) as told, translate_errors("writing tea"):
        raise OSError(28, "No space left on device")
    assert REPAIR not in str(told.value)
