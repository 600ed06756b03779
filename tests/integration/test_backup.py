"""A data folder that is copied while it is used, and folders of other versions."""

from __future__ import annotations

import asyncio
import json
import shutil
import threading
from pathlib import Path

import pytest
from typer.testing import CliRunner

from agentic_rag import RagConfig, open_rag
from agentic_rag.backup import back_up, changing
from agentic_rag.cli.app import app
from agentic_rag.errors import ConfigError, InputError, StoreError
from agentic_rag.stores.checkpoints import kept_conversations
from agentic_rag.stores.data_folder import COPYING
from agentic_rag.stores.data_format import FILE, FORMAT
from agentic_rag.stores.lancedb.process_lock import process_lock
from agentic_rag.testing import HashingEmbedding
from held_embedding import HeldEmbedding

QUESTION = "What is note 3 about?"


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    folder = tmp_path / "vault"
    folder.mkdir()
    for number in range(12):
        (folder / f"{number}.md").write_text(f"Note {number} is about tea number {number}.\n", "utf-8")
    return folder


async def test_a_copy_is_whole_whoever_writes_and_asks_meanwhile(tmp_path: Path, vault: Path):
    config, copy = RagConfig(data_dir=tmp_path / "data"), RagConfig(data_dir=tmp_path / "copy")
    async with (
        kept_conversations(config) as kept,
        open_rag(config, embedding=(model := HeldEmbedding()), checkpointer=kept.saver) as rag,
    ):
        ingest = asyncio.create_task(rag.ingest(vault))
        await model.begun.wait()
        backup = asyncio.create_task(rag.backup(copy.data_dir))
        await asyncio.sleep(0.2)
        assert not backup.done()  # the ingest is waited for
        assert not copy.data_dir.exists()
        later = asyncio.create_task(rag.ingest(vault, dataset="other"))
        model.go_on.set()
        await ingest
        report = await backup
        await later
        answer = await rag.ask(QUESTION, thread_id="one")
        await rag.memory.remember("My favourite tea is oolong.", "ada")
        again = await rag.backup(tmp_path / "second")
    assert report.files > 10
    assert again.size_bytes > report.size_bytes
    async with open_rag(copy, embedding=HashingEmbedding()) as rag:
        records = await rag.ledger.records("default")
        assert len(records) == 12
        assert not any(record.pending for record in records.values())
        assert (await rag.ask(QUESTION)).citations == answer.citations
        assert (await rag.ingest(vault)).count("unchanged") == 12
    second = RagConfig(data_dir=tmp_path / "second")
    async with kept_conversations(second) as kept, open_rag(second, embedding=HashingEmbedding()) as rag:
        assert list(await kept.threads("one")) == ["one"]
        assert await rag.memory.list("ada")


async def test_what_is_remembered_waits_for_a_copy(tmp_path: Path):
    config = RagConfig(data_dir=tmp_path / "data")
    async with open_rag(config, embedding=HashingEmbedding()) as rag:
        await rag.memory.remember("My favourite tea is oolong.", "ada")
        before = await rag.memory.count("ada")
        async with process_lock(str(config.data_dir), COPYING):
            remembering = asyncio.create_task(rag.memory.remember("My favourite city is Bergen.", "ada"))
            await asyncio.wait([remembering], timeout=2)
            assert not remembering.done()
            assert await rag.memory.count("ada") == before
        await remembering
        assert await rag.memory.count("ada") > before


async def test_a_cancelled_copy_ends_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    data = tmp_path / "data"
    data.mkdir()
    for number in range(20):
        (data / f"{number:02}").write_text("before", "utf-8")
    begun, go_on = threading.Event(), threading.Event()
    real = shutil.copy2

    def slow(file: Path, to: Path) -> Path:
        begun.set()
        go_on.wait(10)
        return Path(real(file, to))

    monkeypatch.setattr("agentic_rag.backup.shutil.copy2", slow)
    copying = asyncio.create_task(back_up(RagConfig(data_dir=data), tmp_path / "copy"))
    await asyncio.to_thread(begun.wait, 10)
    copying.cancel()
    await asyncio.sleep(0.05)
    assert not copying.done()  # a writer must not be let in while a file is copied
    go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await copying
    assert sorted(file.name for file in tmp_path.iterdir()) == ["data"]


async def test_a_stream_of_writers_lets_a_copy_in(tmp_path: Path):
    data = tmp_path / "data"
    data.mkdir()
    (data / "file").touch()

    async def write(copied: asyncio.Event) -> None:
        while not copied.is_set():
            async with changing(data):
                await asyncio.sleep(0.01)

    copied = asyncio.Event()
    writers = [asyncio.create_task(write(copied)) for _ in range(8)]
    await asyncio.sleep(0.05)
    report = await asyncio.wait_for(back_up(RagConfig(data_dir=data), tmp_path / "copy"), 10)
    assert report.files == 1
    copied.set()
    await asyncio.gather(*writers)


async def test_what_was_uploaded_is_copied_whatever_it_is_called(tmp_path: Path):
    data = tmp_path / "data"
    for name in ("notes.sqlite", "poetry.lock", "one.sqlite-wal"):
        file = data / "uploads" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("no database", "utf-8")
    (data / ".some.lock").touch()
    report = await back_up(RagConfig(data_dir=data), tmp_path / "copy")
    assert report.files == 3


def test_the_command_says_what_it_copied(tmp_path: Path, example_data: Path):
    data = shutil.copytree(example_data, tmp_path / "data")
    told = CliRunner().invoke(app, ["backup", str(tmp_path / "copy"), "--data-dir", str(data), "--json"])
    assert told.exit_code == 0
    report = json.loads(told.stdout)
    held = sum(file.stat().st_size for file in (tmp_path / "copy").rglob("*") if file.is_file())
    assert report["size_bytes"] == held
    assert not list((tmp_path / "copy").rglob("*.lock"))


async def test_what_cannot_be_copied_is_told(tmp_path: Path, vault: Path):
    config = RagConfig(data_dir=tmp_path / "data")
    with pytest.raises(InputError, match="there is no data folder"):
        await back_up(config, tmp_path / "copy")
    async with open_rag(config, embedding=HashingEmbedding()) as rag:
        await rag.ingest(vault)
        with pytest.raises(InputError, match="exists already"):
            await rag.backup(vault)
        with pytest.raises(InputError, match="within the data folder"):
            await rag.backup(config.data_dir / "copy")
        (tmp_path / "file").touch()
        with pytest.raises(StoreError, match=r"cannot copy .* the unfinished copy was removed"):
            await rag.backup(tmp_path / "file" / "copy")
    with pytest.raises(ConfigError, match="back up lancedb_uri"):
        await back_up(RagConfig(data_dir=tmp_path, lancedb_uri="s3://b/f"), tmp_path / "copy")


@pytest.mark.parametrize(
    ("noted", "told"), [(str(FORMAT + 1), "upgrade agentic-rag"), ("x", "must hold the number")]
)
async def test_a_folder_of_another_version_is_refused(tmp_path: Path, vault: Path, noted: str, told: str):
    config = RagConfig(data_dir=tmp_path / "data")
    async with open_rag(config, embedding=HashingEmbedding()) as rag:
        await rag.ingest(vault)
    file = config.data_dir / FILE
    assert file.read_text("utf-8") == f"{FORMAT}\n"
    file.unlink()  # of a version that noted nothing
    async with open_rag(config, embedding=HashingEmbedding()) as rag:
        assert (await rag.ask(QUESTION)).citations
    file.write_text(noted, "utf-8")
    with pytest.raises(StoreError, match=told):
        async with open_rag(config, embedding=HashingEmbedding()):
            pass
    assert file.read_text("utf-8") == noted
