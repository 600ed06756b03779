"""Disks that fill and servers that go away in the middle: what docs/reliability.md says of each, done.

Kills are enumerated in ``test_killed_runs``; endpoints that misbehave are in ``test_llm_extraction`` and ``test_remote``.
"""

from __future__ import annotations

import asyncio
import errno
import itertools
import os
import shutil
import signal
import sqlite3
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from agentic_rag import Rag, RagConfig, open_rag
from agentic_rag.domain.ports import FloatArray
from agentic_rag.errors import AgenticRagError, StoreAway, StoreError
from agentic_rag.memory.schemas import MemoryType
from agentic_rag.memory.store import IN_GRAPH
from agentic_rag.stores.checkpoints import FILE, Checkpoints, kept_conversations
from agentic_rag.testing import HashingEmbedding
from graph_servers import GraphServer, falkordb_server, neo4j_server
from images import WRITES, copied
from object_store import ObjectStore, s3_server
from stored import assert_same, everything

QUESTION = "What is note 3 about?"


class Disk:
    """A file system of a few megabytes."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def resize(self, megabytes: float) -> None:
        size = f"size={int(megabytes * 1024)}k"
        subprocess.run(["mount", "-o", f"remount,{size}", self.folder], check=True)

    def used(self) -> float:
        """Megabytes."""
        held = os.statvfs(self.folder)
        return (held.f_blocks - held.f_bfree) * held.f_frsize / 2**20

    def fill(self, left: float = 0.02) -> None:
        """Leave so many megabytes."""
        self.resize(self.used() + left)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    folder = tmp_path / "disk"
    folder.mkdir()
    made = shutil.which("mount") and subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", folder], check=False, capture_output=True
    )
    if not made or made.returncode:
        pytest.skip("needs the right to mount a small file system")
    try:
        yield Disk(folder)
    finally:
        subprocess.run(["umount", "-l", folder], check=True)


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    folder = tmp_path / "vault"
    folder.mkdir()
    for number in range(40):
        text = f"# Note {number}\n\nNote {number} is about tea number {number}, see [[Note {number + 1}]].\n"
        (folder / f"Note {number}.md").write_text(text + "More words. " * 40, "utf-8")
    return folder


@asynccontextmanager
async def opened(folder: Path) -> AsyncIterator[Rag]:
    async with open_rag(RagConfig(data_dir=folder), embedding=HashingEmbedding()) as rag:
        yield rag


async def test_a_disk_that_fills_ends_an_ingest_and_the_next_one_finishes_it(
    disk: Disk, vault: Path, tmp_path: Path
):
    data = disk.folder / "data"
    async with opened(data) as rag:
        await rag.ingest(vault / "Note 3.md")
    disk.fill(left=0.1)
    async with opened(data) as rag:
        with pytest.raises(StoreError) as told:
            await rag.ingest(vault)
        assert "\n" not in str(told.value)
        # What was stored is asked on a full disk.
        assert (await rag.ask(QUESTION)).citations
    disk.resize(64)
    async with opened(data) as rag:
        await rag.ingest(vault)
        mended = await everything(rag)
    async with opened(tmp_path / "fresh") as rag:
        await rag.ingest(vault / "Note 3.md")
        await rag.ingest(vault)
        fresh = await everything(rag)
    assert_same(mended, fresh)


@pytest.mark.parametrize("left", [0.0, 0.04])
async def test_a_disk_that_fills_keeps_a_memory_whole_or_not_at_all(disk: Disk, left: float):
    data = disk.folder / "data"
    async with opened(data) as rag:
        await rag.memory.remember("My favourite tea is oolong.", "ada")
        before = {record.content for record in await rag.memory.list("ada")}
        disk.fill(left)
        stored = True
        try:
            await rag.memory.remember("My favourite city is Bergen.", "ada")
        except AgenticRagError:
            stored = False
    disk.resize(64)
    async with opened(data) as rag:
        after = {record.content for record in await rag.memory.list("ada")}
        assert before <= after
        if stored:
            assert any("Bergen" in text for text in after)
        # Said again it is there, and of each kind once.
        await rag.memory.remember("My favourite city is Bergen.", "ada")
        told = [
            (one.memory_type, one.content)
            for one in await rag.memory.list("ada")
            if "Bergen" in one.content and one.memory_type is not MemoryType.EPISODIC
        ]
        assert told
        assert len(told) == len(set(told))


@contextmanager
def full_from(write: int) -> Iterator[list[int]]:
    """While it lasts, the writes of a data folder from the given one on fail as on a full disk; lists their numbers."""
    made: list[int] = []

    def failing(original: Callable[..., Awaitable[object]]) -> Callable[..., Awaitable[object]]:
        async def tried(*args: Any, **kwargs: Any) -> object:
            made.append(len(made))
            if len(made) > write:
                raise OSError(errno.ENOSPC, "No space left on device")
            return await original(*args, **kwargs)

        return tried

    with pytest.MonkeyPatch.context() as patch:
        for owner, names in WRITES.items():
            for name in names:
                patch.setattr(owner, name, failing(getattr(owner, name)))
        yield made


async def test_a_memory_whose_write_fails_is_stored_once_or_not_at_all(tmp_path: Path):
    text = "My favourite city is Bergen. Always answer in Norwegian."
    base = tmp_path / "base"
    async with opened(base) as rag:
        await rag.memory.remember("My favourite city is Oslo. I live in Oslo.", "ada")
    for write in itertools.count():
        data = copied(base, tmp_path / str(write))
        returned = True
        async with opened(data) as rag:
            before = await rag.memory.list("ada", include_ended=True)
            with full_from(write) as made:
                try:
                    await rag.memory.remember(text, "ada")
                except AgenticRagError:
                    returned = False
        async with opened(data) as rag:
            if not returned:
                assert await rag.memory.list("ada", include_ended=True) == before
                await rag.memory.remember(text, "ada")
            after = await rag.memory.list("ada", include_ended=True)
            counts = await rag.knowledge.counts("memory:ada")
            assert sum(one.content == text for one in after) == 1
            assert len({(one.memory_type, one.content, one.valid_at) for one in after}) == len(after)
        if len(made) <= write:
            break
    assert write > 5
    assert counts.episodes == sum(one.memory_type in IN_GRAPH for one in after)


async def test_a_follower_goes_on_when_a_full_disk_has_room_again(disk: Disk, vault: Path):
    stop = asyncio.Event()
    problems, done = [], asyncio.Event()
    async with opened(disk.folder / "data") as rag:

        async def follow() -> None:
            async for told in rag.watch(vault, stop=stop):
                problems.append(told.problem)
                done.set()

        task = asyncio.create_task(follow())
        await asyncio.wait_for(done.wait(), 60)
        done.clear()
        disk.fill(0.0)
        (vault / "New.md").write_text("The new kettle is made of copper. " * 20, "utf-8")
        await asyncio.wait_for(done.wait(), 60)
        assert problems[0] is None
        assert problems[1] is not None
        disk.resize(64)
        while problems[-1] is not None:
            done.clear()
            await asyncio.wait_for(done.wait(), 60)
        assert "New.md" in await rag.ledger.records("default")
        stop.set()
        await task


async def test_a_full_disk_leaves_no_half_backup(disk: Disk, vault: Path, tmp_path: Path):
    async with opened(tmp_path / "data") as rag:
        await rag.ingest(vault)
        disk.resize(0.1)
        with pytest.raises(StoreError, match="the unfinished copy was removed"):
            await rag.backup(disk.folder / "copy")
    assert not list(disk.folder.iterdir())


@asynccontextmanager
async def conversing(folder: Path) -> AsyncIterator[tuple[Checkpoints, Rag]]:
    config = RagConfig(data_dir=folder)
    async with (
        kept_conversations(config) as kept,
        open_rag(config, embedding=HashingEmbedding(), checkpointer=kept.saver) as rag,
    ):
        yield kept, rag


async def assert_told(of: Awaitable[object], what: str) -> None:
    """In one line, without the folder: it may be a service's."""
    with pytest.raises(StoreError, match=rf"\Aconversations\.sqlite cannot be {what}[^\n]*\Z"):
        await of


async def test_a_disk_that_fills_ends_a_question_of_a_conversation(disk: Disk, vault: Path):
    async with conversing(disk.folder / "data") as (kept, rag):
        await rag.ingest(vault / "Note 3.md")
        await rag.ask(QUESTION, thread_id="ada/one")
        disk.fill(0.0)
        for _ in range(2):
            await assert_told(
                rag.ask(QUESTION, thread_id="ada/one"), "written: .*disk .*; it must lie on a disk"
            )
            assert len(await rag.messages("ada/one")) == 2
        assert (await rag.ask(QUESTION)).citations
        disk.resize(64)
        await rag.ask(QUESTION, thread_id="ada/one")
        assert len(await rag.messages("ada/one")) == 4
        assert list(await kept.threads("")) == ["ada/one"], "nothing is kept of a question without a thread"


@pytest.mark.parametrize(
    ("pragma", "what"),
    [("query_only = ON", "written: attempt to write a readonly database;"), ("busy_timeout = 0", "written: database is locked;")],
)  # fmt: skip
async def test_conversations_that_cannot_be_written_are_told_in_a_line(
    vault: Path, tmp_path: Path, pragma: str, what: str
):
    """Forgotten too, all of a conversation or nothing."""
    async with conversing(tmp_path) as (kept, rag):
        await rag.ingest(vault / "Note 3.md")
        await rag.ask(QUESTION, thread_id="ada/one")
        with closing(sqlite3.connect(tmp_path / FILE, isolation_level=None)) as other:
            await kept.saver.conn.execute(f"PRAGMA {pragma}")
            if "busy" in pragma:
                other.execute("BEGIN IMMEDIATE")
                other.execute("CREATE TABLE other (number)")
            await assert_told(rag.ask(QUESTION, thread_id="ada/one"), what)
            await assert_told(kept.saver.adelete_thread("ada/one"), what)
            assert len(await rag.messages("ada/one")) == 2
            other.commit()
        await kept.saver.conn.execute("PRAGMA query_only = OFF")
        await rag.ask(QUESTION, thread_id="ada/one")
        assert len(await rag.messages("ada/one")) == 4


async def test_conversations_that_are_damaged_are_told_in_a_line(vault: Path, tmp_path: Path):
    async with conversing(tmp_path) as (kept, rag):
        await rag.ingest(vault / "Note 3.md")
        await rag.ask(QUESTION, thread_id="ada/one")
    file = tmp_path / FILE
    begins = file.read_bytes()[:4096]
    file.write_bytes(begins + b"\xff" * (file.stat().st_size - len(begins)))
    async with conversing(tmp_path) as (kept, rag):
        for done in (
            rag.ask(QUESTION, thread_id="ada/one"), kept.threads("ada/"), kept.saver.adelete_thread("ada/one"), kept.reach(),
        ):  # fmt: skip
            await assert_told(done, "read: database disk image is malformed; run: agentic-rag repair")


class Signalling(HashingEmbedding):
    """Sends a graph server a signal once it holds something, before more is embedded."""

    def __init__(self, server: GraphServer, sent_texts: signal.Signals) -> None:
        super().__init__()
        self.server, self.sent = server, sent_texts
        self.is_sent = False

    async def embed_passages(self, texts: Sequence[str]) -> FloatArray:
        if not self.is_sent and await asyncio.to_thread(self.server.nodes):
            self.is_sent = True
            os.kill(self.server.pid, self.sent)
        return await super().embed_passages(texts)


@asynccontextmanager
async def on_server(server: GraphServer, data: Path, embedding: HashingEmbedding) -> AsyncIterator[Rag]:
    config = RagConfig.model_validate({"data_dir": data, "graph": server.settings})
    async with open_rag(config, embedding=embedding) as rag:
        yield rag


async def assert_ends(server: GraphServer, sent: signal.Signals, vault: Path, data: Path) -> None:
    """An ingest during which the server gets a signal, in one line."""
    told = rf"\A{server.backend} at {server.uri.partition('//')[2]} cannot be used: [^\n]*; start it [^\n]*\Z"
    async with on_server(server, data, Signalling(server, sent)) as rag:
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr("agentic_rag.ingest.pipeline.BATCH_DOCUMENTS", 8)
            for name in ("GREETING_SECONDS", "SILENT_SECONDS"):
                patched.setattr(f"agentic_rag_backends.graphservers.drivers.{name}", 2.0)
            with pytest.raises(StoreAway, match=told):
                await rag.ingest(vault)


async def assert_finished(server: GraphServer, vault: Path, data: Path, tmp: Path) -> None:
    """By the next ingest: what was written before too, and no more."""
    async with on_server(server, data, HashingEmbedding()) as rag:
        assert (await rag.ingest(vault)).documents == 40
        assert (await rag.ask(QUESTION)).outcomes["graphiti"]["status"] == "ok"
        held = await rag.knowledge.counts("default")
    assert server.nodes() == held.entities + held.episodes
    async with opened(tmp / "embedded") as rag:
        await rag.ingest(vault)
        assert held == await rag.knowledge.counts("default")


async def test_falkordb_killed_in_the_middle_ends_an_ingest_and_the_next_one_finishes_it(
    vault: Path, tmp_path: Path
):
    """The server comes back empty, as one without a volume does."""
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    with falkordb_server(tmp_path / "one") as server:
        await assert_ends(server, signal.SIGKILL, vault, tmp_path / "data")
    with falkordb_server(tmp_path / "two") as server:
        await assert_finished(server, vault, tmp_path / "data", tmp_path)


async def test_neo4j_killed_in_the_middle_ends_an_ingest_and_the_next_one_finishes_it(
    vault: Path, tmp_path: Path
):
    """The server comes back with what it held."""
    (tmp_path / "server").mkdir()
    with neo4j_server(tmp_path / "server") as server:
        await assert_ends(server, signal.SIGKILL, vault, tmp_path / "data")
    with neo4j_server(tmp_path / "server") as server:
        await assert_finished(server, vault, tmp_path / "data", tmp_path)


@pytest.fixture(params=["neo4j", "falkordb"])
def server(request: pytest.FixtureRequest) -> GraphServer:
    """A server with nothing in it."""
    found: GraphServer = request.getfixturevalue(request.param)
    found.emptied()
    return found


async def test_a_graph_server_that_hangs_ends_an_ingest_and_the_next_one_finishes_it(
    server: GraphServer, vault: Path, tmp_path: Path
):
    # A write is never left half done, so that an ingest that waits for ever could not be ended otherwise.
    late = asyncio.get_running_loop().call_later(60, os.kill, server.pid, signal.SIGCONT)
    try:
        await assert_ends(server, signal.SIGSTOP, vault, tmp_path / "data")
    finally:
        late.cancel()
        os.kill(server.pid, signal.SIGCONT)
    await assert_finished(server, vault, tmp_path / "data", tmp_path)


async def test_a_graph_server_that_pauses_is_waited_for(server: GraphServer, vault: Path, tmp_path: Path):
    """Longer than its client waits, and shorter than it is given: a large change takes its time."""
    async with on_server(server, tmp_path / "data", HashingEmbedding()) as rag:
        await rag.ingest(vault / "Note 3.md")
        os.kill(server.pid, signal.SIGSTOP)
        try:
            ingest = asyncio.create_task(rag.ingest(vault))
            await asyncio.wait([ingest], timeout=7)
        finally:
            os.kill(server.pid, signal.SIGCONT)
        assert (await ingest).count("failed") == 0


class Stopping(HashingEmbedding):
    """Stops an object store when the third batch is embedded."""

    def __init__(self, store: ObjectStore) -> None:
        super().__init__()
        self.store = store
        self.calls = 0

    async def embed_passages(self, texts: Sequence[str]) -> FloatArray:
        self.calls += 1
        if self.calls == 3:
            await asyncio.to_thread(self.store.stop)
        return await super().embed_passages(texts)


async def test_an_object_store_that_goes_away_ends_an_ingest_and_the_next_one_finishes_it(
    vault: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("agentic_rag.ingest.pipeline.BATCH_DOCUMENTS", 8)
    with s3_server() as store:
        config = RagConfig(
            data_dir=tmp_path / "data", lancedb_uri=store.empty_uri(), storage_options=store.options
        )
        async with open_rag(config, embedding=Stopping(store)) as rag:
            with pytest.raises(
                StoreAway,
                match=rf"\A[^\n]*: the object store at {store.endpoint} cannot be reached; start it[^\n]*\Z",
            ):
                await rag.ingest(vault)
        store.start()
        async with open_rag(config, embedding=HashingEmbedding()) as rag:
            assert await rag.ledger.records("default"), "it was in the middle"
            assert (await rag.ingest(vault)).documents == 40
            assert (await rag.ask(QUESTION)).citations
            held = await rag.knowledge.counts("default"), await rag.chunks.count("default")
    async with opened(tmp_path / "embedded") as rag:
        await rag.ingest(vault)
        assert held == (await rag.knowledge.counts("default"), await rag.chunks.count("default"))
