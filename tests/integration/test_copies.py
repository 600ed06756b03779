"""A process that answers from copies of tables, while others write them."""

from __future__ import annotations

import asyncio
import errno
import shutil
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from agentic_rag import Rag, RagConfig, open_rag
from agentic_rag.diagnosis import examine
from agentic_rag.errors import ConfigError, StoreAway, StoreError
from agentic_rag.stores.data_folder import COPIES
from agentic_rag.stores.lancedb import copies
from agentic_rag.stores.lancedb.connection import lance_connection
from agentic_rag.stores.lancedb.copies import CopiedConnection, TableCopies
from agentic_rag.stores.lancedb.versions import version_files
from agentic_rag.testing import HashingEmbedding
from agentic_rag_service.app import create_app
from example_vault import EXAMPLE_VAULT
from graph_servers import free_port
from object_store import ObjectStore

QUESTION = "At what temperature and for how long is the second fire?"
_SCHEMA = pa.schema([pa.field("key", pa.string(), nullable=False)])


@pytest.fixture(params=["folder", "object_store"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> dict[str, Any]:
    """Where the tables lie, as settings."""
    if request.param == "folder":
        return {"lancedb_uri": str(tmp_path / "shared")}
    server = request.getfixturevalue(request.param)
    return {"lancedb_uri": server.empty_uri(), "storage_options": server.options}


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    """A part of the example vault; of the whole most of the time would go into the embedding."""
    for part in ("processing", "sessions"):
        shutil.copytree(EXAMPLE_VAULT / part, tmp_path / "vault" / part)
    return tmp_path / "vault"


def _writes(place: dict[str, Any], tmp_path: Path) -> RagConfig:
    return RagConfig(data_dir=tmp_path / "writer", **place)


def _reads(place: dict[str, Any], tmp_path: Path) -> RagConfig:
    return RagConfig(data_dir=tmp_path / "reader", lancedb_copies=True, **place)


async def _until_found(rag: Rag, query: str, text: str) -> float:
    """Seconds."""
    began = time.monotonic()
    while not any(text in one.content for one in await rag.search(query, top_k=5, threshold=0.0)):
        assert time.monotonic() - began < 20, f"{text!r} is not found"
        await asyncio.sleep(0.1)
    return time.monotonic() - began


@pytest.mark.slow
async def test_it_answers_as_from_the_tables_and_follows_them(
    place: dict[str, Any], vault: Path, tmp_path: Path
) -> None:
    async with open_rag(_writes(place, tmp_path)) as writer, open_rag(_reads(place, tmp_path)) as reader:
        await writer.ingest(vault)
        here, there = await writer.ask(QUESTION), await reader.ask(QUESTION)
        assert (there.text, there.results) == (here.text, here.results)
        assert not there.abstained

        (vault / "Lantern.md").write_text("# Lantern\n\nThe lantern room is locked at dusk.\n", "utf-8")
        await writer.ingest(vault)
        await _until_found(reader, "When is the lantern room locked?", "locked at dusk")
        (vault / "Lantern.md").write_text("# Lantern\n\nThe lantern room is locked at dawn.\n", "utf-8")
        await writer.ingest(vault)
        await _until_found(reader, "When is the lantern room locked?", "locked at dawn")
        (vault / "Lantern.md").unlink()
        await writer.ingest(vault)
        await asyncio.sleep(2.5)
        found = await reader.search("When is the lantern room locked?", top_k=50, threshold=0.0)
        assert not any("lantern room" in one.content for one in found)
        # The graph is read from copies, too.
        assert await reader.related_facts("kill-green") == await writer.related_facts("kill-green")


@pytest.mark.slow
async def test_it_follows_a_reindex_and_a_dataset_that_is_taken_out(
    place: dict[str, Any], vault: Path, tmp_path: Path
) -> None:
    async with open_rag(_writes(place, tmp_path), embedding=HashingEmbedding(16)) as writer:
        await writer.ingest(vault)
    async with open_rag(_reads(place, tmp_path), embedding=HashingEmbedding(32)) as reader:
        async with open_rag(_writes(place, tmp_path), embedding=HashingEmbedding(32)) as writer:
            await writer.reindex()
            await asyncio.sleep(2.5)
            assert await reader.search("kill-green") == await writer.search("kill-green")
            await writer.remove(None)
        await asyncio.sleep(2.5)
        assert await reader.search("kill-green", threshold=0.0) == []


async def test_all_tables_are_copied_before_the_first_question(
    place: dict[str, Any], vault: Path, tmp_path: Path
) -> None:
    async with open_rag(_writes(place, tmp_path), embedding=HashingEmbedding()) as writer:
        await writer.ingest(vault)
    config = _reads(place, tmp_path)
    async with open_rag(config, embedding=HashingEmbedding()):
        (folder,) = (config.data_dir / COPIES).iterdir()
        copied = sorted(one.stem for one in folder.glob("*.lance") if version_files(one))
    async with lance_connection(place["lancedb_uri"], place.get("storage_options")) as connection:
        assert copied == await connection.table_names()


async def test_a_second_start_copies_only_what_is_new(
    place: dict[str, Any], vault: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_rag(_writes(place, tmp_path), embedding=HashingEmbedding()) as writer:
        await writer.ingest(vault)
    config = _reads(place, tmp_path)
    async with open_rag(config, embedding=HashingEmbedding()) as reader:
        first = await reader.ask(QUESTION)
    (folder,) = (config.data_dir / COPIES).iterdir()
    held = {file.relative_to(folder).as_posix() for file in folder.rglob("*") if file.is_file()}
    copied: list[str] = []
    real = TableCopies._copy

    def noted(self: TableCopies, file: str) -> None:
        copied.append(file)
        real(self, file)

    monkeypatch.setattr(TableCopies, "_copy", noted)
    (folder / "of_a_reindex_before.lance").mkdir()
    async with open_rag(config, embedding=HashingEmbedding()) as reader:
        assert (await reader.ask(QUESTION)).text == first.text
    assert any(file.startswith("chunks_default.lance/data/") for file in held)
    assert not held.intersection(copied)
    assert not (folder / "of_a_reindex_before.lance").exists()


async def test_nothing_can_be_written(
    place: dict[str, Any], vault: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_rag(_writes(place, tmp_path), embedding=HashingEmbedding()) as writer:
        await writer.ingest(vault)
    async with open_rag(_reads(place, tmp_path), embedding=HashingEmbedding()) as reader:
        for write in (
            reader.ingest(vault),
            reader.remove(vault),
            reader.reindex(),
            reader.memory.remember("The kettle is cast iron.", user_id="ann"),
        ):
            with pytest.raises(ConfigError, match="lancedb_copies is set"):
                await write
        connection = reader.chunks.connection  # type: ignore[attr-defined]
        with pytest.raises(StoreError, match="cannot be dropped"):
            await connection.drop_table("chunks_default")
        table = await connection.table("chunks_default")
        rows = await table.count_rows()
        for write in (table.delete("true"), table.update({"content": "changed"}), table.optimize()):
            with pytest.raises(ValueError, match="checked out"):
                await write
        assert await table.count_rows() == rows > 0
        assert (await reader.ask(QUESTION)).results


def test_a_service_that_would_write_is_refused(tmp_path: Path) -> None:
    config = RagConfig(data_dir=tmp_path, lancedb_uri="s3://notes/lancedb", lancedb_copies=True)
    with pytest.raises(ConfigError, match=r"set service\.writes to false"):
        create_app(config)


async def test_tables_of_the_data_folder_are_not_copied(tmp_path: Path) -> None:
    config = RagConfig(data_dir=tmp_path, lancedb_copies=True)
    with pytest.raises(ConfigError, match="lancedb_uri is not"):
        async with open_rag(config):
            pass
    found = {one.what: one for one in await examine(lambda: config)}["vectors"]
    assert (found.status, found.detail) == ("missing", "lancedb_copies is set but lancedb_uri is not")


async def test_doctor_writes_nothing_to_an_object_store_of_copies(
    object_store: ObjectStore, tmp_path: Path
) -> None:
    place = {"lancedb_uri": object_store.empty_uri(), "storage_options": object_store.options}
    object_store.answered.clear()
    found = {one.what: one for one in await examine(lambda: _reads(place, tmp_path), thorough=True)}[
        "vectors"
    ]
    assert found.status == "ok"
    assert found.detail.endswith("0 tables; read from local copies, 0 MB")
    assert object_store.answered["PUT"] == 0


async def test_a_table_that_was_dropped_and_made_again(place: dict[str, Any], tmp_path: Path) -> None:
    uri, options = place["lancedb_uri"], place.get("storage_options", {})
    async with lance_connection(uri, options) as writer:
        reader = CopiedConnection(uri, options, tmp_path / "copies")
        try:
            for texts in (["a", "b", "c"], ["d"], ["e", "f", "g", "h", "i"]):
                await writer.drop_table("notes")
                table = await writer.create_table("notes", _SCHEMA, "key")
                for text in texts:
                    await table.add(pa.table({"key": [text]}, schema=_SCHEMA))
                await asyncio.sleep(1.1)
                copied = await reader.table("notes")
                assert copied is not None
                assert sorted(row["key"] for row in await copied.query().to_list()) == texts
            assert await reader.table_names() == ["notes"]
            await writer.drop_table("notes")
            await asyncio.sleep(1.1)
            assert await reader.table("notes") is None
            assert not (tmp_path / "copies" / "notes.lance").exists()
        finally:
            await reader.close()


@pytest.mark.parametrize("is_new_process", [True, False])
async def test_a_table_that_was_made_again_and_came_to_the_same_version(
    place: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_new_process: bool
) -> None:
    monkeypatch.setattr(copies, "COMPARED_EVERY", 1.0)
    uri, options = place["lancedb_uri"], place.get("storage_options", {})
    reader = CopiedConnection(uri, options, tmp_path / "copies")
    async with lance_connection(uri, options) as writer:
        for text in ("before", "after"):
            await writer.drop_table("notes")
            table = await writer.create_table("notes", _SCHEMA, "key")
            await table.add(pa.table({"key": [text]}, schema=_SCHEMA))
            await asyncio.sleep(1.1)
            copied = await reader.table("notes")
            assert copied is not None
            assert [row["key"] for row in await copied.query().to_list()] == [text]
            if is_new_process:
                await reader.close()
                reader = CopiedConnection(uri, options, tmp_path / "copies")
    await reader.close()


async def test_many_that_need_a_table_at_once_all_find_it(tmp_path: Path) -> None:
    uri = str(tmp_path / "shared")
    async with lance_connection(uri) as writer:
        await writer.create_table("notes", _SCHEMA, "key")
    for number in range(10):
        reader = CopiedConnection(uri, {}, tmp_path / str(number))

        async def after(turns: int, reader: CopiedConnection = reader) -> Any:
            for _ in range(turns):
                await asyncio.sleep(0.001)
            return await reader.table("notes")

        found = await asyncio.gather(*map(after, range(50)))
        assert all(table is not None for table in found)
        await reader.close()


async def test_a_version_that_is_removed_while_it_is_copied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    uri = str(tmp_path / "shared")
    copies_of = TableCopies(uri, {}, tmp_path / "copies")
    async with lance_connection(uri) as writer:
        table = await writer.create_table("notes", _SCHEMA, "key")
        await table.add(pa.table({"key": ["one"]}, schema=_SCHEMA))
    (data,) = (tmp_path / "shared" / "notes.lance" / "data").iterdir()
    missing = f"notes.lance/data/{data.name}"
    real, tried = TableCopies._copy, []

    def removed(self: TableCopies, file: str) -> None:
        tried.append(file)
        real(self, file + ".gone" if file == missing and tried.count(missing) == 1 else file)

    monkeypatch.setattr(TableCopies, "_copy", removed)
    assert copies_of.follow("notes") is not None
    assert tried.count(missing) == 2


async def test_what_takes_long_and_fails_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    uri = str(tmp_path / "shared")
    async with lance_connection(uri) as writer:
        table = await writer.create_table("notes", _SCHEMA, "key")
        reader = CopiedConnection(uri, {}, tmp_path / "copies")
        assert await reader.table("notes") is not None
        await table.add(pa.table({"key": ["one"]}, schema=_SCHEMA))
        await asyncio.sleep(1.1)

        def slow(self: TableCopies, name: str) -> int:
            time.sleep(1.5)
            raise OSError("the network is down")

        with monkeypatch.context() as failing:
            failing.setattr(TableCopies, "follow", slow)
            assert await reader.table("notes") is not None  # as it was, while it is copied
            await asyncio.sleep(1)
            with pytest.raises(StoreError, match="the network is down"):
                await reader.table("notes")
            await asyncio.sleep(2)
        assert await reader.table("notes") is not None
        await reader.close()


async def test_closing_does_not_wait_for_all_that_is_to_be_copied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    uri = str(tmp_path / "shared")
    async with lance_connection(uri) as writer:
        table = await writer.create_table("notes", _SCHEMA, "key")
        for number in range(20):
            await table.add(pa.table({"key": [str(number)]}, schema=_SCHEMA))
    real = TableCopies._copy

    def slow(self: TableCopies, file: str) -> None:
        time.sleep(0.3)
        real(self, file)

    monkeypatch.setattr(copies, "FILES_AT_ONCE", 1)
    monkeypatch.setattr(TableCopies, "_copy", slow)
    reader = CopiedConnection(uri, {}, tmp_path / "copies")
    asking = asyncio.create_task(reader.table("notes"))
    await asyncio.sleep(0.5)
    began = time.monotonic()
    await reader.close()
    assert time.monotonic() - began < 3
    with pytest.raises(StoreError, match="stopped"):
        await asking


async def test_files_that_are_no_longer_needed_are_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    uri = str(tmp_path / "shared")
    copies_of = TableCopies(uri, {}, tmp_path / "copies")

    async def replaced(text: str) -> None:
        """Whoever closes removes the versions before."""
        async with lance_connection(uri) as writer:
            table = await writer.create_table("notes", _SCHEMA, "key")
            await table.delete("true")
            await table.add(pa.table({"key": [text]}, schema=_SCHEMA))

    await replaced("one")
    first = copies_of.follow("notes")
    assert first is not None
    assert copies_of.follow("notes") == first
    (before,) = (tmp_path / "copies" / "notes.lance" / "data").iterdir()
    await replaced("two")
    assert (copies_of.follow("notes") or first).version > first.version
    assert before.exists()  # a reader may be in the middle of it
    later = time.monotonic() + 61
    monkeypatch.setattr(copies.time, "monotonic", lambda: later)
    await replaced("three")
    assert (copies_of.follow("notes") or first).version > first.version
    assert not before.exists()
    assert copies_of.follow("nothing") is None


async def test_what_is_cut_off_in_the_middle_is_told_and_copied_the_next_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    uri = str(tmp_path / "shared")
    async with lance_connection(uri) as writer:
        table = await writer.create_table("notes", _SCHEMA, "key")
        await table.add(pa.table({"key": ["one"]}, schema=_SCHEMA))
        reader = CopiedConnection(uri, {}, tmp_path / "copies")
        copied = await reader.table("notes")
        assert copied is not None
        await table.add(pa.table({"key": ["two"]}, schema=_SCHEMA))
        await asyncio.sleep(1.1)
        real = TableCopies._copy

        def full(self: TableCopies, file: str) -> None:
            if file.endswith(".manifest"):
                raise OSError(errno.ENOSPC, "No space left on device")
            real(self, file)

        with monkeypatch.context() as failing:
            failing.setattr(TableCopies, "_copy", full)
            with pytest.raises(StoreError, match=r"copying table notes.*No space left on device"):
                await reader.table("notes")
            assert await copied.count_rows() == 1  # as it was, and whole
        copied = await reader.table("notes")
        assert copied is not None
        assert await copied.count_rows() == 2
        await reader.close()


async def test_a_folder_that_is_not_there_is_told_and_removes_no_copy(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    async with lance_connection(str(shared)) as writer:
        table = await writer.create_table("notes", _SCHEMA, "key")
        await table.add(pa.table({"key": ["one"]}, schema=_SCHEMA))
    reader = CopiedConnection(str(shared), {}, tmp_path / "copies")
    assert await reader.table("notes") is not None
    shared.rename(tmp_path / "unmounted")
    await asyncio.sleep(1.1)
    for looks in (reader.reach, lambda: reader.table("notes"), reader.reach):
        with pytest.raises(StoreError, match="the folder is not there"):
            await looks()
    (tmp_path / "unmounted").rename(shared)
    table = await reader.table("notes")
    assert table is not None
    assert await table.count_rows() == 1
    await reader.close()


async def test_a_store_that_is_away_is_told(tmp_path: Path) -> None:
    options = {
        "aws_access_key_id": "test",
        "aws_secret_access_key": "test",
        "aws_region": "us-east-1",
        "aws_endpoint": f"http://127.0.0.1:{free_port()}",
        "allow_http": "true",
    }
    reader = CopiedConnection("s3://notes/x", options, tmp_path / "copies")
    try:
        with pytest.raises(StoreAway, match="cannot be reached; start it"):
            await reader.table("notes")
        with pytest.raises(StoreAway, match="cannot be reached; start it"):
            await reader.reach()
    finally:
        await reader.close()
