"""Damaged files of a data folder: what docs/reliability.md says of each, done."""

from __future__ import annotations

import asyncio
import contextlib
import json
import shutil
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import lancedb
import pytest
from typer.testing import CliRunner

from agentic_rag import Rag, RagConfig, open_rag
from agentic_rag.cli.app import app
from agentic_rag.cli.datasets import _of
from agentic_rag.diagnosis import Finding, _conversations, _tables
from agentic_rag.errors import (
    AgenticRagError,
    ConfigError,
    InputError,
    ManifestMismatch,
    StoreError,
    UnknownDataset,
)
from agentic_rag.memory.schemas import MemoryType
from agentic_rag.repair import MendedDataset, RepairReport, _Repair, repair
from agentic_rag.stores.checkpoints import FILE as CONVERSATIONS
from agentic_rag.stores.checkpoints import kept_conversations
from agentic_rag.stores.data_folder import REPAIRING
from agentic_rag.stores.data_format import FORMAT
from agentic_rag.stores.graph.journal import FILE_NAME as JOURNAL
from agentic_rag.stores.lancedb.manifests import Manifests
from agentic_rag.stores.lancedb.process_lock import process_lock
from agentic_rag.testing import HashingEmbedding
from example_vault import EXAMPLE_VAULT
from stored import Stored, assert_same, tables

QUESTION = "How does polyphenol oxidase act on catechins?"
COMMAND = "run: agentic-rag repair"
ADA = "u_6d656d6f72793a616461"
NOTES = 4
"""Of each of the two datasets."""
DATA, MANIFEST = "data/*.lance", "_versions/*.manifest"


def deleted(raw: bytes) -> bytes | None:
    return None


def halved(raw: bytes) -> bytes | None:
    return raw[: len(raw) // 2]


def emptied(raw: bytes) -> bytes | None:
    return b""


def garbage(raw: bytes) -> bytes | None:
    return bytes((37 * place + 11) % 256 for place in range(len(raw)))


def zeroed(raw: bytes) -> bytes | None:
    """What a power cut leaves of a file whose length was written before its content."""
    return bytes(len(raw))


Harm = Callable[[bytes], bytes | None]
HARMS: tuple[Harm, ...] = (deleted, halved, emptied, garbage, zeroed)


def damage(folder: Path, pattern: str, harm: Harm) -> Path:
    """Harm the first file of the pattern, which for manifests is the latest."""
    file = sorted(folder.glob(pattern))[0]
    _harm(file, harm)
    return file


def damage_all(folder: Path, pattern: str, harm: Harm) -> None:
    """Harm every file of the pattern: what was written one after the other lies in several."""
    for file in folder.glob(pattern):
        _harm(file, harm)


def _harm(file: Path, harm: Harm) -> None:
    left = harm(file.read_bytes())
    file.unlink() if left is None else file.write_bytes(left)


@asynccontextmanager
async def opened(folder: Path) -> AsyncIterator[Rag]:
    async with open_rag(RagConfig(data_dir=folder), embedding=HashingEmbedding()) as rag:
        yield rag


async def repaired(folder: Path, dataset: str | None = None) -> RepairReport:
    return await repair(RagConfig(data_dir=folder), dataset, embedding=HashingEmbedding())


class Base:
    """Two datasets and the memory of ada, whole."""

    def __init__(self, folder: Path) -> None:
        self.vault = folder / "vault"
        self.other = EXAMPLE_VAULT / "brewing"
        self.data = folder / "data"

    async def make(self) -> None:
        shutil.copytree(EXAMPLE_VAULT / "chemistry", self.vault / "chemistry")
        async with opened(self.data) as rag:
            await rag.ingest(self.vault)
            await rag.ingest(self.other, dataset="other")
            await rag.memory.remember("My favourite tea is oolong. I live in Bergen.", "ada")
            await rag.memory.remember("I moved to Oslo yesterday. Always answer in Norwegian.", "ada")
            await rag.ask(QUESTION)
        self.stored = await tables(self.data)

    def copied(self, to: Path) -> Path:
        shutil.copytree(self.data, to)
        return to


@pytest.fixture(scope="session")
def base(tmp_path_factory: pytest.TempPathFactory) -> Base:
    made = Base(tmp_path_factory.mktemp("repair"))
    asyncio.run(made.make())
    return made


async def told(folder: Path) -> dict[str, str]:
    """What is said by each command that meets the damage: an error, or why a source is degraded."""
    said: dict[str, str] = {}

    async def tried(name: str, command: Any) -> None:
        try:
            found = await command
        except AgenticRagError as error:
            said[name] = str(error)
        else:
            outcomes = [one for one in getattr(found, "outcomes", {}).values() if one != "skipped"]
            reasons = [one["reason"] if isinstance(one, dict) else one.reason for one in outcomes]
            if any(reasons):
                said[name] = "; ".join(filter(None, reasons))

    async with opened(folder) as rag:
        await tried("ask", rag.ask(QUESTION))
        await tried("ask other", rag.ask(QUESTION, dataset="other"))
        await tried("ask ada", rag.memory.search("Where do I live?", "ada"))
        await tried("search", rag.search(QUESTION))
        await tried("stats", _of(rag, "default"))
    return said


@contextmanager
def changed_note(base: Base) -> Iterator[None]:
    """While it lasts, one of the notes says more."""
    note = base.vault / "chemistry" / "Catechins.md"
    before = note.read_text("utf-8")
    note.write_text(f"{before}\nThey taste bitter, says [[Lin Mei]].\n", "utf-8")
    try:
        yield
    finally:
        note.write_text(before, "utf-8")


async def ingest_error(folder: Path, base: Base) -> str | None:
    """What an ingest says where it meets the damage."""
    try:
        async with opened(folder) as rag:
            await rag.ingest(base.vault)
    except StoreError as error:
        return str(error)
    return None


async def finding(folder: Path) -> Finding:
    """What ``doctor`` says of the tables."""
    return await _tables(RagConfig(data_dir=folder))


async def ingested(folder: Path, report: RepairReport, base: Base) -> None:
    """Run what the report says is to be run."""
    async with opened(folder) as rag:
        for one in report.datasets:
            if one.pending:
                known = [root for root in one.roots if Path(root).exists()]
                own = base.vault if one.dataset == "default" else base.other
                done = await rag.ingest(known or own, dataset=one.dataset)
                assert done.count("failed") == 0
        for dataset in ("default", "other"):
            assert not any(record.pending for record in (await rag.ledger.records(dataset)).values())


def assert_mended(now: Stored, before: Stored) -> None:
    """Everything is as it was, but for the order of keys in JSON."""
    for stored in (now, before):
        for name, rows in stored.rows.items():
            for row in rows.values() if name.endswith("_episodes") else ():
                if isinstance(row["metadata"], str):
                    noted = json.loads(row["metadata"])
                    row["metadata"] = {**noted, "metadata": json.loads(noted["metadata"])}
    assert_same(now, before)


CASES = [
    ("chunks_default", DATA, deleted), ("chunks_default", MANIFEST, emptied),
    ("ledger", DATA, halved), ("ledger", MANIFEST, garbage),
    ("datasets", MANIFEST, zeroed), ("values_default", DATA, garbage),
    ("graph_default_entities", MANIFEST, zeroed), ("graph_default_facts", MANIFEST, garbage),
    ("graph_default_mentions", DATA, emptied),
    (f"graph_{ADA}_facts", MANIFEST, deleted), (f"graph_{ADA}_episodes", DATA, zeroed),
]  # fmt: skip
"""Each kind of table: chunks, ledger, datasets, values, the graph of notes and of a memory; each kind of harm to each
kind of file is in tests/unit/stores/lancedb/test_damage.py."""


@pytest.mark.parametrize(
    ("table", "pattern", "harm"), CASES, ids=[f"{t}-{p.partition('/')[0]}-{h.__name__}" for t, p, h in CASES]
)
async def test_a_damaged_table_is_told_and_mended(
    base: Base, tmp_path: Path, table: str, pattern: str, harm: Harm
):
    folder = base.copied(tmp_path / "data")
    damage(folder / "vectors" / f"{table}.lance", pattern, harm)

    said = await told(folder)
    assert all(COMMAND in message for message in said.values()), said
    if table not in ("datasets", "ledger"):  # which all datasets share
        assert "ask other" not in said
    if table in ("chunks_default", "datasets", "ledger"):
        assert said
    with changed_note(base):
        failed = await ingest_error(shutil.copytree(folder, tmp_path / "tried"), base)
    assert failed is None or COMMAND in failed, failed
    found = await finding(folder)
    assert (found.status, found.cure) == ("missing", "agentic-rag repair")
    assert ADA not in found.detail

    report = await repaired(folder)
    assert [one.table for one in report.tables] == [table]
    assert report.aside is not None
    assert (Path(report.aside) / "vectors" / f"{table}.lance").is_dir()
    assert not (folder / REPAIRING).exists()
    assert {one.dataset for one in report.datasets if one.lost != 0} == set()

    await ingested(folder, report, base)
    assert_mended(await tables(folder), base.stored)
    assert (await finding(folder)).status == "ok"


@pytest.mark.parametrize(
    ("part", "harm"), [("metadata", deleted), ("part_0_tokens", halved), ("page_data", garbage)]
)
async def test_an_index_is_built_anew(base: Base, tmp_path: Path, part: str, harm: Harm):
    folder = base.copied(tmp_path / "data")
    indexes = folder / "vectors" / "chunks_default.lance" / "_indices"
    # The index that was made with the empty table has only metadata, and may still lie there.
    (full_text,) = (tokens.parent for tokens in indexes.glob("*/part_0_tokens.lance"))
    place = indexes if part == "page_data" else full_text
    damage(place, f"**/{part}.lance", harm)
    said = await told(folder)
    assert all(COMMAND in message for message in said.values()), said
    report = await repaired(folder)
    assert list(report.indexes) == ["chunks_default"]
    assert not report.tables
    assert await told(folder) == {}
    assert_mended(await tables(folder), base.stored)
    async with opened(folder) as rag:
        (chunks,) = (await rag.chunks.stats("default")).tables
        assert {index.column for index in chunks.indexes} == {"search_text", "meta", "document_id"}
    assert not (await repaired(folder)).indexes


@pytest.mark.parametrize("harm", [deleted, garbage])
async def test_a_list_of_deleted_rows(base: Base, tmp_path: Path, harm: Harm):
    folder = base.copied(tmp_path / "data")
    vectors = folder / "vectors"
    database = await lancedb.connect_async(str(vectors))
    table = await database.open_table("chunks_default")
    row = (await table.query().select(["chunk_id"]).limit(1).to_list())[0]
    await table.delete(f"chunk_id = '{row['chunk_id']}'")
    table.close()
    database.close()
    damage(vectors / "chunks_default.lance", "_deletions/*", harm)
    assert COMMAND in (await told(folder))["search"]
    report = await repaired(folder)
    await ingested(folder, report, base)
    assert_mended(await tables(folder), base.stored)


@pytest.mark.parametrize("harm", HARMS[::2])
async def test_files_that_nothing_depends_on(base: Base, tmp_path: Path, harm: Harm):
    """Notes of LanceDB on what it did; locks, which hold nothing; measured levels, which are measured again."""
    folder = base.copied(tmp_path / "data")
    for table in ("chunks_default", "ledger"):
        for pattern in ("_transactions/*", "_versions/latest_version_hint.json"):
            damage(folder / "vectors" / f"{table}.lance", pattern, harm)
    for file in [*folder.rglob(".*.lock"), folder / "embedding_levels.json"]:
        damage(file.parent, file.name, harm)
    assert await told(folder) == {}
    assert not (await repaired(folder)).tables
    async with opened(folder) as rag:
        assert (await rag.ingest(base.vault)).count("unchanged") == NOTES


@pytest.mark.parametrize("harm", [deleted, emptied])
async def test_what_of_a_memory_is_lost_is_told(base: Base, tmp_path: Path, harm: Harm):
    folder = base.copied(tmp_path / "data")
    damage_all(folder / "vectors" / f"chunks_{ADA}.lance", DATA, harm)
    async with opened(folder) as rag:
        with pytest.raises(StoreError, match=COMMAND):
            await rag.memory.list("ada")
    (report,) = (await repaired(folder)).datasets
    async with opened(base.data) as rag:
        before = await rag.memory.list("ada", include_ended=True)
    async with opened(folder) as rag:
        after = await rag.memory.list("ada", include_ended=True)
        await rag.memory.remember("My favourite city is Bergen.", "ada")
    in_graph = {MemoryType.EPISODIC, MemoryType.SEMANTIC}
    assert after == [one for one in before if one.memory_type in in_graph]
    assert report.dataset == "memory:ada"
    assert (report.restored, report.lost) == (len(after), len(before) - len(after))
    assert len(after) < len(before)


def files_with(word: str, folder: Path) -> list[Path]:
    return [file for file in folder.rglob("*") if file.is_file() and word.encode() in file.read_bytes()]


@pytest.mark.parametrize(
    ("table", "pattern", "harm", "everything"),
    [
        (f"chunks_{ADA}", MANIFEST, zeroed, True),
        (f"chunks_{ADA}", DATA, halved, False),
        (f"graph_{ADA}_episodes", MANIFEST, garbage, False),
        (f"values_{ADA}", MANIFEST, emptied, True),
    ],
)
async def test_forgetting_reaches_what_was_set_aside(
    base: Base, tmp_path: Path, table: str, pattern: str, harm: Harm, everything: bool
):
    folder = base.copied(tmp_path / "data")
    damage(folder / "vectors" / f"{table}.lance", pattern, harm)
    damage(folder / "vectors" / "chunks_other.lance", MANIFEST, harm)
    await repaired(folder)
    (aside,) = folder.glob("damaged-*")
    async with opened(folder) as rag:
        told = [one for one in await rag.memory.list("ada", include_ended=True) if "Norwegian" in one.content]
        assert (
            await rag.memory.forget("ada", None if everything else [one.id for one in told])
        ).remaining == 0
    assert files_with("Norwegian", folder) == []
    assert [one.name for one in (aside / "vectors").iterdir()] == ["chunks_other.lance"]


async def test_nothing_is_forgotten_in_the_middle_of_a_repair(
    base: Base, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    folder = base.copied(tmp_path / "data")
    damage(folder / "vectors" / f"chunks_{ADA}.lance", MANIFEST, zeroed)

    def stop(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, contextlib.suppress(KeyboardInterrupt):
        patch.setattr(_Repair, "_put_in_place", stop)
        await repaired(folder)
    async with opened(folder) as rag:
        with pytest.raises(StoreError, match=f"{COMMAND}, then forget again"):
            await rag.memory.forget("ada")
    await repaired(folder)
    async with opened(folder) as rag:
        await rag.memory.forget("ada")
    assert files_with("Norwegian", folder) == []


async def test_the_rows_of_other_files_stay(base: Base, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("agentic_rag.ingest.pipeline.TIDIED_FROM", 2.0)
    folder = base.copied(tmp_path / "data")
    (tmp_path / "New.md").write_text("# New\n\nWhite tea is withered for two days.\n", "utf-8")
    async with opened(folder) as rag:
        await rag.ingest(tmp_path / "New.md")
    chunks = folder / "vectors" / "chunks_default.lance"
    files = sorted((chunks / "data").glob("*.lance"), key=lambda file: file.stat().st_mtime_ns)
    files[-1].write_bytes(b"")
    report = await repaired(folder)
    (table,) = report.tables
    assert (table.kept, table.lost, table.is_latest) == (len(base.stored.rows["chunks_default"]), 1, True)
    assert report.datasets == (MendedDataset("default", 1, 0, ()),)


async def test_the_version_before_a_torn_write_is_kept(base: Base, tmp_path: Path):
    folder = base.copied(tmp_path / "data")
    (tmp_path / "New.md").write_text("# New\n\nWhite tea is withered for two days.\n", "utf-8")
    async with opened(folder) as rag:
        await rag.ingest(tmp_path / "New.md")
        # Closing would remove the version before.
        shutil.copytree(folder, tmp_path / "torn")
    damage(tmp_path / "torn" / "vectors" / "ledger.lance", MANIFEST, halved)
    report = await repaired(tmp_path / "torn")
    (table,) = report.tables
    assert table.kept == len(base.stored.rows["ledger"]) + 1
    assert not table.is_latest
    assert [one.roots for one in report.datasets] == [(str(tmp_path / "New.md"),)]


async def test_documents_whose_folder_nothing_tells_any_more(base: Base, tmp_path: Path):
    folder = base.copied(tmp_path / "data")
    damage_all(folder / "vectors" / "ledger.lance", DATA, garbage)
    report = await repaired(folder)
    assert [(one.dataset, one.pending) for one in report.datasets] == [("default", NOTES), ("other", NOTES)]
    vault = shutil.copytree(base.vault, tmp_path / "vault")
    (vault / "chemistry" / "Caffeine.md").unlink()
    async with opened(folder) as rag:
        assert (await rag.ask(QUESTION)).citations
        done = await rag.ingest(vault)
        assert (done.count("changed"), done.count("added")) == (NOTES - 1, 0)
        (left,) = [file for file in done.files if file.action == "skipped"]
        assert "1 of its documents are stored" in (left.reason or "")
        removed = await rag.remove(left.path)
        assert removed.count("removed") == 1
        assert not any(record.pending for record in (await rag.ledger.records("default")).values())


@pytest.mark.parametrize(
    ("table", "step"),
    [
        *(
            ("graph_default_mentions", step)
            for step in ("_set_aside", "_put_in_place", "_made_again", "_mark_pending")
        ),
        *((table, "_made_again") for table in ("chunks_default", "ledger", "datasets")),
    ],
)
async def test_an_interrupted_repair_is_finished_by_the_next(
    base: Base, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str, table: str
):
    folder = base.copied(tmp_path / "data")
    damage(folder / "vectors" / f"{table}.lance", DATA, halved)

    def stop(*_: Any, **__: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(_Repair, step, stop)
        try:
            await repaired(folder)
        except KeyboardInterrupt:
            assert (await finding(folder)).cure == "agentic-rag repair"
    await ingested(folder, await repaired(folder), base)
    assert_mended(await tables(folder), base.stored)


@pytest.mark.parametrize("table", ["chunks_default", "graph_default_mentions"])
async def test_an_ingest_between_the_damage_and_its_repair(base: Base, tmp_path: Path, table: str):
    folder = base.copied(tmp_path / "data")
    damage(folder / "vectors" / f"{table}.lance", DATA, deleted)
    fresh = base.copied(tmp_path / "fresh")
    with changed_note(base):
        await ingest_error(folder, base)
        report = await repaired(folder)
        assert [one.table for one in report.tables] == [table]
        assert await ingest_error(folder, base) is None
        assert await ingest_error(fresh, base) is None
    assert_mended(await tables(folder), await tables(fresh))


async def test_another_model_than_the_configured_one(base: Base, tmp_path: Path):
    folder = base.copied(tmp_path / "data")
    damage(folder / "vectors" / "graph_default_facts.lance", DATA, deleted)
    other = HashingEmbedding(32)
    (report,) = (await repair(RagConfig(data_dir=folder), embedding=other)).datasets
    assert report.pending == NOTES
    assert "agentic-rag reindex --dataset default" in (report.problem or "")
    async with open_rag(RagConfig(data_dir=folder), embedding=other) as rag:
        await rag.reindex()
        assert (await rag.ingest(base.vault)).count("changed") == NOTES
        counts = await rag.knowledge.counts("default")
        assert counts.facts == len(base.stored.rows["graph_default_facts"])


async def test_which_generation_and_model_are_in_force_is_found_out(base: Base, tmp_path: Path):
    folder = base.copied(tmp_path / "data")
    async with opened(folder) as rag:
        await rag.reindex()
    for file in (folder / "vectors" / "datasets.lance").glob(DATA):
        file.write_bytes(b"")
    shutil.copytree(folder, tmp_path / "other")
    await repaired(folder)
    assert await told(folder) == {}
    now = (await tables(folder)).rows["datasets"]
    assert {row["name"] for row in now.values()} == {"default", "other", "memory:ada"}
    async with opened(folder) as rag:
        assert (await rag.ingest(base.vault)).count("unchanged") == NOTES
        manifests = Manifests(rag.chunks.connection, model="hashing-64", dimension=64)  # type: ignore[attr-defined]
        assert await manifests.generation("default") == 1
        assert await manifests.generation("other") == 0
    config = RagConfig(data_dir=tmp_path / "other")
    await repair(config, embedding=HashingEmbedding(32))
    async with open_rag(config, embedding=HashingEmbedding(32)) as rag:
        with pytest.raises(ManifestMismatch, match=r"embedded with unknown \(64 dimensions"):
            await rag.search(QUESTION)


async def test_who_writes_is_waited_for(base: Base, tmp_path: Path):
    folder = base.copied(tmp_path / "data")
    async with process_lock(str(folder), "copying", is_shared=True):
        task = asyncio.create_task(repaired(folder))
        await asyncio.wait([task], timeout=0.5)
        assert not task.done()
    await task


async def test_who_has_the_folder_open_reads_the_mended_table(base: Base, tmp_path: Path):
    folder = base.copied(tmp_path / "data")
    async with opened(folder) as rag:
        assert await rag.search(QUESTION)
        damage(folder / "vectors" / "chunks_default.lance", DATA, deleted)
        await repaired(folder)
        await asyncio.sleep(1.1)
        assert await rag.search(QUESTION)
        assert (await rag.ingest(base.vault)).count("unchanged") == NOTES
        assert (await rag.ask(QUESTION)).outcomes["lancedb"]["status"] == "ok"


@pytest.mark.parametrize("text", ['{"default": {"facts": [1]}}', "\0\1"])
async def test_a_damaged_journal_costs_a_look_at_everything(base: Base, tmp_path: Path, text: str):
    folder = base.copied(tmp_path / "data")
    (folder / JOURNAL).write_text(text, "utf-8")
    (tmp_path / "New.md").write_text("# New\n\nWhite tea is withered.\n", "utf-8")
    assert await told(folder) == {}
    async with opened(folder) as rag:
        await rag.ingest(tmp_path / "New.md")
        await rag.remove(tmp_path / "New.md")
    assert not (folder / JOURNAL).exists()
    assert_mended(await tables(folder), base.stored)


@pytest.mark.parametrize("harm", [halved, zeroed])
async def test_the_form_of_the_folder(base: Base, tmp_path: Path, harm: Harm):
    folder = base.copied(tmp_path / "data")
    (folder / "format").write_text("one", "utf-8")
    damage(folder, "format", harm)
    with pytest.raises(StoreError, match=COMMAND):
        async with opened(folder):
            pass
    report = await repaired(folder)
    assert list(report.files) == ["format"]
    assert (folder / "format").read_text("utf-8") == f"{FORMAT}\n"
    assert await told(folder) == {}


async def test_a_folder_of_a_later_version_is_left_alone(base: Base, tmp_path: Path):
    folder = base.copied(tmp_path / "data")
    later = f"{FORMAT + 1}\n"
    (folder / "format").write_text(later, "utf-8")
    with pytest.raises(StoreError, match="upgrade agentic-rag"):
        await repaired(folder)
    assert (folder / "format").read_text("utf-8") == later


async def test_a_folder_of_an_earlier_version_is_left_alone(base: Base, tmp_path: Path):
    folder = base.copied(tmp_path / "data")
    (folder / "format").write_text("1\n", "utf-8")
    with pytest.raises(StoreError, match="ingest the notes into a new --data-dir"):
        async with opened(folder):
            pass
    assert (folder / "format").read_text("utf-8") == "1\n"


@pytest.mark.parametrize("harm", [halved, garbage, zeroed])
async def test_kept_conversations(base: Base, tmp_path: Path, harm: Harm):
    folder = base.copied(tmp_path / "data")
    config = RagConfig(data_dir=folder)
    async with (
        kept_conversations(config) as kept,
        open_rag(config, embedding=HashingEmbedding(), checkpointer=kept.saver) as rag,
    ):
        for number in range(3):
            await rag.ask(QUESTION, thread_id=str(number))
    damage(folder, CONVERSATIONS, harm)
    found = await _conversations(config)
    assert (found.status, found.cure) == ("missing", "agentic-rag repair")
    if harm is not halved:
        with pytest.raises(StoreError, match=COMMAND):
            async with kept_conversations(config):
                pass
    report = await repaired(folder)
    assert list(report.files) == [CONVERSATIONS]
    async with kept_conversations(config) as kept:
        assert await kept.threads("") == {}


async def test_only_one_dataset(base: Base, tmp_path: Path):
    folder = base.copied(tmp_path / "data")
    for dataset in ("default", "other"):
        damage(folder / "vectors" / f"chunks_{dataset}.lance", DATA, deleted)
    assert [one.table for one in (await repaired(folder, "other")).tables] == ["chunks_other"]
    assert [one.table for one in (await repaired(folder)).tables] == ["chunks_default"]
    with pytest.raises(UnknownDataset, match=r"known: default, memory:ada, other"):
        await repaired(folder, "nothing")


async def test_what_cannot_be_repaired_is_told(tmp_path: Path):
    with pytest.raises(InputError, match="is no data folder"):
        await repaired(tmp_path / "data")
    with pytest.raises(ConfigError, match="lancedb_uri"):
        await repair(RagConfig(data_dir=tmp_path, lancedb_uri="s3://b/f"))


def test_the_command_says_what_to_run_next(tmp_path: Path):
    (tmp_path / "vault").mkdir()
    (tmp_path / "vault" / "Oolong.md").write_text("# Oolong\n\nHalf oxidised, from [[Taiwan]].\n", "utf-8")
    data = tmp_path / "data"
    given = ["--data-dir", str(data)]
    assert CliRunner().invoke(app, ["ingest", str(tmp_path / "vault"), *given]).exit_code == 0
    whole = CliRunner().invoke(app, ["repair", *given])
    assert whole.stdout.startswith("nothing is damaged: ")
    damage(data / "vectors" / "graph_default_facts.lance", DATA, deleted)
    done = CliRunner().invoke(app, ["repair", *given])
    assert done.exit_code == 0
    assert "facts of default: " in done.stdout
    line = f"agentic-rag ingest {tmp_path / 'vault'} --dataset default --data-dir {data}"
    assert line in done.stdout
    assert CliRunner().invoke(app, line.split()[1:]).exit_code == 0
    as_json = CliRunner().invoke(app, ["repair", *given, "--json"])
    assert json.loads(as_json.stdout)["tables"] == []
