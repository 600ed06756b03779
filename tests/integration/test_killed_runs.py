"""A run killed at any point, followed by any operation, ends in the state of a fresh ingest."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from agentic_rag import Rag, RagConfig, open_rag
from agentic_rag.domain import Document
from agentic_rag.errors import UnknownDataset
from agentic_rag.ingest.documents import DocumentWriter
from agentic_rag.memory.records import RECORD
from agentic_rag.notes.markdown import parse_markdown
from agentic_rag.opening import token_counter
from agentic_rag.stores.lancedb.rows import CHUNK, unpack_chunk
from agentic_rag.testing import HashingEmbedding
from images import copied, images_of
from stored import Stored, assert_same, assert_whole, everything, tables

BEFORE = {
    "Oolong.md": (
        "---\naliases: [blue tea]\norigin: '[[Fujian]]'\ngrade: fine\n---\n"
        "# Oolong\n\nHalf oxidised, from [[Taiwan]]. See [[Lin Mei]].\n"
    ),
    "Roasting.md": "# Roasting\n\nDries the leaf of blue tea. #craft\n",
    "Day.md": "# Day\n\nDrank blue tea with Lin Mei after Roasting.\n",
}
AFTER = {
    "Oolong.md": (
        "---\naliases: [dark tea]\nlevel: coarse\n---\n# Oolong\n\nNow from [[Wuyi]], says Su Wen. #craft\n"
    ),
    "Day.md": BEFORE["Day.md"],
    "Lin Mei.md": "---\nage: 40\n---\n# Lin Mei\n\nKnows Taiwan and dark tea.\n",
}
"""One note changed, with another alias and other properties, one gone, one new; the last one names these."""
OLD, NEW = 64, 96
Step = Callable[[Rag], Awaitable[object]]


@dataclass(frozen=True)
class Folders:
    """A vault, a data folder that holds it as ``BEFORE``, and what fresh ingests give, by notes and dimension."""

    vault: Path
    before: Path
    fresh: Mapping[tuple[str, int], Stored]

    def put(self, notes: Mapping[str, str]) -> None:
        shutil.rmtree(self.vault, ignore_errors=True)
        self.vault.mkdir()
        for name, text in notes.items():
            (self.vault / name).write_text(text, encoding="utf-8")

    async def ingest(self, rag: Rag) -> None:
        await rag.ingest(self.vault)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Folders:
    tmp = tmp_path_factory.mktemp("killed")
    fresh: dict[tuple[str, int], Stored] = {}
    made = Folders(tmp / "vault", tmp / f"before-{OLD}", fresh)
    for called, notes in (("before", BEFORE), ("after", AFTER)):
        made.put(notes)
        for dimension in (OLD, NEW):
            data = tmp / f"{called}-{dimension}"
            fresh[called, dimension] = asyncio.run(done(data, made.ingest, dimension))
    return made


async def done(data: Path, step: Step, dimension: int = OLD) -> Stored:
    """What the folder holds after a step."""
    async with open_rag(RagConfig(data_dir=data), embedding=HashingEmbedding(dimension)) as rag:
        await step(rag)
        return await everything(rag)


async def remove_all(rag: Rag) -> None:
    """As a person would do it again: the second time there may be nothing left to remove."""
    try:
        await rag.remove(None)
    except UnknownDataset:
        assert await rag.ledger.records("default") == {}


async def killed(
    base: Path | None, tmp: Path, step: Step, monkeypatch: pytest.MonkeyPatch, dimension: int = OLD
) -> list[Path]:
    """Data folders as a kill leaves them, one for each state that a run of the step passes through.

    No two writes lie between two points. Points that differ only in how rows lie in files and indexes are one state.
    """
    data = copied(base, tmp / "data") if base is not None else tmp / "data"
    monkeypatch.setattr("agentic_rag.ingest.pipeline.BATCH_DOCUMENTS", 2)
    images = await images_of(data, tmp / "images", lambda: done(data, step, dimension), monkeypatch)
    states: list[Path] = []
    seen: list[Any] = []
    before: Mapping[str, object] | None = None
    for image in images:
        held = await tables(image, every_generation=True)
        journal = {path.name: path.read_bytes() for path in image.glob("*.journal")}
        now: Mapping[str, object] = held.versions | journal
        if before is not None:
            assert len(_changed(before, now)) <= 1, f"more than one write before {image}"
        before = now
        state = held.rows, sorted(held.versions), journal
        if state not in seen:
            seen.append(state)
            states.append(image)
    return states


def _changed(before: Mapping[str, object], now: Mapping[str, object]) -> set[str]:
    """Tables, and the journal, that are another one or of another version."""
    return {name for name in before.keys() | now.keys() if before.get(name) != now.get(name)}


@pytest.fixture
def no_index_care(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Called, compaction and indexing, which change no row, are left out: they take half of an ingest's time."""

    async def nothing(*_: Any, **__: Any) -> None: ...

    def leave_out() -> None:
        monkeypatch.setattr("agentic_rag.stores.lancedb.indexes._tidy", nothing)
        monkeypatch.setattr("lancedb.table.AsyncTable.create_index", nothing)

    return leave_out


async def assert_ends_as(
    states: list[Path], tmp: Path, step: Step, expected: Stored | None, dimension: int = OLD
) -> None:
    """From each state, the step ends in what is expected; None: in empty stores."""
    for number, state in enumerate(states):
        data = copied(state, tmp / "continued")
        stored = await done(data, step, dimension)
        where = f"state {number} of {len(states)}: {state}"
        try:
            assert not list(data.glob("*.journal"))
            assert_whole(stored)
            if expected is None:
                assert {name for name, rows in stored.rows.items() if rows} <= {"datasets"}
            else:
                assert_same(stored, expected, labels=True)
        except AssertionError as error:
            raise AssertionError(where) from error
        shutil.rmtree(data)


@pytest.mark.slow
async def test_a_first_ingest(
    folders: Folders, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_index_care: Callable[[], None]
) -> None:
    folders.put(BEFORE)
    states = await killed(None, tmp_path, folders.ingest, monkeypatch)
    assert len(states) > 20
    no_index_care()
    await assert_ends_as(states[::2], tmp_path, folders.ingest, folders.fresh["before", OLD])
    folders.put(AFTER)
    await assert_ends_as(states[1::2], tmp_path, folders.ingest, folders.fresh["after", OLD])


@pytest.mark.slow
async def test_an_incremental_ingest(
    folders: Folders, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_index_care: Callable[[], None]
) -> None:
    """Each state goes on in one of three ways, in turn: the same again, a removal, an ingest of the vault restored."""
    folders.put(AFTER)
    states = await killed(folders.before, tmp_path, folders.ingest, monkeypatch)
    assert len(states) > 20
    no_index_care()
    await assert_ends_as(states[::3], tmp_path, folders.ingest, folders.fresh["after", OLD])
    await assert_ends_as(states[1::3], tmp_path, remove_all, None)
    folders.put(BEFORE)
    await assert_ends_as(states[2::3], tmp_path, folders.ingest, folders.fresh["before", OLD])


@pytest.mark.slow
async def test_a_removal(
    folders: Folders, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_index_care: Callable[[], None]
) -> None:
    states = await killed(folders.before, tmp_path, remove_all, monkeypatch)
    assert len(states) > 7
    no_index_care()
    await assert_ends_as(states[::2], tmp_path, remove_all, None)
    folders.put(BEFORE)
    await assert_ends_as(states[1::2], tmp_path, folders.ingest, folders.fresh["before", OLD])


async def test_a_reindex(
    folders: Folders, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_index_care: Callable[[], None]
) -> None:
    async def reindex(rag: Rag) -> None:
        await rag.reindex()

    states = await killed(folders.before, tmp_path, reindex, monkeypatch, NEW)
    assert len(states) > 5
    no_index_care()
    await assert_ends_as(states, tmp_path, reindex, folders.fresh["before", NEW], NEW)
    for number, state in enumerate(states):
        in_force = (await tables(state)).rows["datasets"]["default"]["manifest"]["dimension"]
        called = ("before", "after")[number % 2]
        folders.put({"before": BEFORE, "after": AFTER}[called])
        expected = folders.fresh[called, in_force]
        await assert_ends_as([state], tmp_path, folders.ingest, expected, in_force)


@pytest.mark.slow
async def test_documents_that_a_memory_writes(
    folders: Folders, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_index_care: Callable[[], None]
) -> None:
    """Without a ledger: the caller repeats what it was not told is stored."""

    def documents(notes: Mapping[str, str]) -> list[Document]:
        return [parse_markdown(name, name, text) for name, text in notes.items()]

    async def write(rag: Rag, *, gone: tuple[str, ...] = ("Roasting.md",)) -> None:
        writer = DocumentWriter(rag.chunks, rag.knowledge, rag.embedding, token_counter())
        await writer.replace("default", documents(AFTER))
        await writer.remove("default", gone)
        await rag.chunks.optimize("default")

    folders.put(BEFORE)
    states = await killed(folders.before, tmp_path, write, monkeypatch)
    assert len(states) > 10
    no_index_care()
    expected = await done(tmp_path / "fresh", write)
    for state in states:
        shutil.rmtree(state / "vectors" / "ledger.lance")
    await assert_ends_as(states[::2], tmp_path, write, expected)


FIRST = "My favourite tea is oolong. I live in Bergen."
SENT = "I moved to Oslo last week. Always answer in Norwegian. My friend Kari grows tea."
ADA, RETURNED = "chunks_u_6d656d6f72793a616461", "returned"


def memories_of(stored: Stored) -> list[tuple[str, list[str]]]:
    """Text and evidence of each stored memory of ada, without what depends on the time of the call."""
    chunks = (unpack_chunk(row[CHUNK]) for row in stored.rows[ADA].values())
    records = [(chunk.text, chunk.metadata[RECORD]) for chunk in chunks]
    return sorted((text, [name[:14] for name in record["evidence"]]) for text, record in records)


def counts_of(stored: Stored) -> dict[str, int]:
    """Rows of each table; of values for filters there may be some too many."""
    return {name: rows for name, rows in stored.row_counts().items() if not name.startswith("values_")}


@pytest.mark.parametrize("at", [None, "2024-06-30T10:00:00+00:00"])
async def test_a_message_sent_again_is_stored_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, no_index_care: Callable[[], None], at: str | None
) -> None:
    """Whatever write it was killed at, unless it had returned."""

    async def first(rag: Rag) -> None:
        await rag.memory.remember(FIRST, "ada", at="2024-01-01")

    async def send(rag: Rag) -> None:
        await rag.memory.remember(SENT, "ada", at=at)
        (rag.config.data_dir / RETURNED).touch()

    no_index_care()
    await done(tmp_path / "before", first)
    fresh = await done(copied(tmp_path / "before", tmp_path / "fresh"), send)
    images = await images_of(
        copied(tmp_path / "before", tmp_path / "data"),
        tmp_path / "images",
        lambda: done(tmp_path / "data", send),
        monkeypatch,
    )
    interrupted = [image for image in images if not (image / RETURNED).exists()]
    assert len(interrupted) > 7
    # Every second point: the other ones are tried with the other time.
    for number, image in enumerate(interrupted[at is None :: 2]):
        stored = await done(copied(image, tmp_path / f"continued-{number}"), send)
        assert memories_of(stored) == memories_of(fresh), f"image {image} of {len(images)}"
        assert counts_of(stored) == counts_of(fresh)
        if at is not None:
            assert stored.rows[ADA] == fresh.rows[ADA]
