"""Repair of a data folder: unreadable data is set aside, readable data is kept, the rest is made again.

The order makes an interrupted repair resumable by the next one: the readable part of a damaged table is copied, a note
in the folder ``repairing`` records it, and the copy replaces the table. Then the lost part of one store is made from
the other, and documents that only an ingest can restore are marked pending. Then the notes are deleted.
"""

from __future__ import annotations

import asyncio
import json
import shutil
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from itertools import chain, count
from pathlib import Path
from typing import cast

from agentic_rag.domain import Chunk, search_text
from agentic_rag.domain.identity import dataset_name, dataset_of_group, group_id, user_of
from agentic_rag.domain.json_values import Json
from agentic_rag.domain.ports import DocumentRecord, Embedding, Restriction
from agentic_rag.errors import ConfigError, InputError, ManifestMismatch, StoreError, UnknownDataset
from agentic_rag.ingest.preparing import embedded_documents
from agentic_rag.memory.store import MAX_ROWS, MemoryStore, Upkeep
from agentic_rag.opening import token_counter
from agentic_rag.rag import Rag, open_rag
from agentic_rag.settings.config import RagConfig
from agentic_rag.stores import data_format
from agentic_rag.stores.batch import batches
from agentic_rag.stores.checkpoints import FILE as CONVERSATIONS
from agentic_rag.stores.checkpoints import is_database
from agentic_rag.stores.data_folder import COPIES, COPYING, REPAIRING, SET_ASIDE, VECTORS
from agentic_rag.stores.graph.journal import Journal
from agentic_rag.stores.graphiti.store import GraphitiStore
from agentic_rag.stores.lancedb.chunk_store import LanceChunkStore
from agentic_rag.stores.lancedb.connection import LanceConnection
from agentic_rag.stores.lancedb.damage import Damage, all_damages, salvage, table_names, without_indexes
from agentic_rag.stores.lancedb.manifests import Manifest, Manifests, generation_name, of_generation
from agentic_rag.stores.lancedb.process_lock import fair_lock, in_use
from agentic_rag.stores.set_aside import place_of
from agentic_rag.stores.whole_file import write_whole

UNKNOWN_ROOT = "unknown-folder"
"""Folder name of documents whose record is lost; this path never exists."""
OF_NOTES = frozenset({"chunks", "entities", "episodes", "facts", "mentions"})
"""Parts of a dataset that an ingest of its notes creates again."""
LEDGER, DATASETS = "ledger", "datasets"
DOCUMENTS_A_STEP = 64


@dataclass(frozen=True, slots=True)
class MendedTable:
    """A table that could not be read completely."""

    table: str
    part: str
    """``chunks``, ``facts``, …; ``ledger`` and ``datasets`` belong to no dataset."""
    group: str | None
    reason: str
    kept: int
    """Rows."""
    lost: int | None
    """Rows; None if unknown."""
    is_latest: bool
    """Whether all kept rows are of the latest version."""

    def __str__(self) -> str:
        return (
            self.part
            if self.group is None
            else f"{self.part} of {dataset_of_group(self.group) or self.group}"
        )


@dataclass(frozen=True, slots=True)
class MendedDataset:
    """The result of the repair for a damaged dataset."""

    dataset: str
    restored: int
    """Number of chunks restored from the graph."""
    pending: int
    """Number of documents that the next ingest writes again."""
    roots: tuple[str, ...]
    """Folders to ingest for it; one that does not exist stands for an unknown folder."""
    lost: int | None = 0
    """Number of lost passages of a user's memories; None if unknown."""
    problem: str | None = None
    """Why the repair of the dataset is incomplete."""


@dataclass(frozen=True, slots=True)
class RepairReport:
    """Everything that a repair did."""

    checked: int
    """Number of tables that were read completely."""
    tables: tuple[MendedTable, ...]
    indexes: Mapping[str, str]
    """Reason by the name of each table whose indexes were built again."""
    files: Mapping[str, str]
    """Meaning of each other file that was set aside."""
    datasets: tuple[MendedDataset, ...]
    aside: str | None
    """The folder with the unreadable data."""
    seconds: float

    def to_dict(self) -> Json:
        """Plain JSON values."""
        return asdict(self)


async def repair(
    config: RagConfig, dataset: str | None = None, *, embedding: Embedding | None = None
) -> RepairReport:
    """Read every table completely and repair the damaged ones. The repair waits for writers, and writers wait for it.

    Nothing is deleted: unreadable data is moved to ``damaged-<time>`` in the data folder; that of a user's memory is
    deleted when the user's memories are forgotten.

    Args:
        config: configuration of the data folder.
        dataset: repair only the tables of this dataset and the shared ones; None: all tables.
        embedding: used instead of the configured one.

    Raises:
        InputError: the folder is no data folder.
        UnknownDataset: the dataset has no table.
        ConfigError: the tables are not in the data folder.
        StoreError, ModelError: something failed; run again to finish.
    """
    if config.lancedb_uri is not None:
        raise ConfigError(
            "repair works on the data folder alone, and lancedb_uri names another place; "
            f"damaged copies of its tables ({COPIES}) can be deleted"
        )
    folder = config.data_dir
    if not (folder / VECTORS).is_dir():
        raise InputError(f"{str(folder)!r} is no data folder: it has no folder {VECTORS!r}")
    started = time.perf_counter()
    using = await in_use(str(folder / VECTORS))
    try:
        async with fair_lock(str(folder), COPYING):
            report = await _Repair(config, dataset, embedding).run()
    except OSError as error:
        raise StoreError(f"cannot repair {folder}: {error}; run it again to finish") from error
    finally:
        if using is not None:
            using.close()
    return replace(report, seconds=round(time.perf_counter() - started, 3))


class _Repair:
    """One run of the repair, under the lock on the folder."""

    def __init__(self, config: RagConfig, dataset: str | None, embedding: Embedding | None) -> None:
        self._config = config
        self._only = None if dataset is None else dataset_name(dataset)
        self._embedding = embedding
        self._folder = config.data_dir
        self._vectors = config.data_dir / VECTORS
        self._state = config.data_dir / REPAIRING
        self._aside = _unused_path(
            config.data_dir / SET_ASIDE.replace("*", f"{datetime.now(UTC):%Y-%m-%dT%H%M%S}")
        )

    async def run(self) -> RepairReport:
        files = await asyncio.to_thread(self._mended_files)
        self._finish_swaps()
        names = self._names()
        indexes = await self._mended_tables(names)
        tables = self._replaced_tables()
        datasets: list[MendedDataset] = []
        if tables or indexes:
            async with open_rag(self._config, embedding=self._embedding) as rag:
                datasets = await self._made_again(rag, tables, indexes)
        shutil.rmtree(self._state, ignore_errors=True)
        return RepairReport(
            checked=len(names),
            tables=tuple(tables),
            indexes=indexes,
            files=files,
            datasets=tuple(datasets),
            aside=str(self._aside) if self._aside.exists() else None,
            seconds=0.0,
        )

    def _mended_files(self) -> dict[str, str]:
        """The unreadable files other than tables, set aside."""
        told = {}
        try:
            data_format.checked_format(self._folder)
        except StoreError:
            file = self._folder / data_format.FILE
            if file.read_bytes().strip().isdigit():
                raise  # written by a later version
            self._set_aside(file)
            data_format.checked_format(self._folder)
            told[data_format.FILE] = f"the format number {data_format.FORMAT} was written again"
        file = self._folder / CONVERSATIONS
        if file.exists() and not is_database(file):
            for one in (file, *self._folder.glob(f"{CONVERSATIONS}-*")):
                self._set_aside(one)
            told[CONVERSATIONS] = "the conversations in it are lost; restart the service"
        return told

    def _set_aside(self, path: Path) -> None:
        target = self._aside / path.relative_to(self._folder)
        target.parent.mkdir(parents=True, exist_ok=True)
        path.rename(target)

    def _finish_swaps(self) -> None:
        """Activate copies that were complete when an earlier repair was interrupted."""
        for one in self._replaced_tables():
            if not (self._vectors / f"{one.table}.lance").exists():
                self._put_in_place(one.table)

    def _put_in_place(self, name: str) -> None:
        copy = self._state / "tables" / f"{name}.lance"
        if copy.exists():
            copy.rename(self._vectors / f"{name}.lance")

    def _replaced_tables(self) -> list[MendedTable]:
        """The tables replaced by copies, in this repair or an interrupted one."""
        return [
            MendedTable(**json.loads(note.read_text("utf-8"))) for note in sorted(self._state.glob("*.json"))
        ]

    def _names(self) -> list[str]:
        """Names of the tables to read."""
        names = table_names(self._vectors)
        if self._only is None:
            return names
        group = group_id(self._only)
        if group not in (groups := {place_of(name)[0] for name in names}):
            raise UnknownDataset(
                self._only, [known for one in groups if one is not None and (known := dataset_of_group(one))]
            )
        return [name for name in names if place_of(name)[0] in (group, None)]

    async def _mended_tables(self, names: Sequence[str]) -> dict[str, str]:
        """Replace damaged tables by their readable copies, each with a note; returns the dropped indexes."""
        damages = await all_damages(self._vectors, names)
        for damage in damages:
            if damage.indexes:
                await without_indexes(self._vectors, damage)
            else:
                await self._replace(damage)
        return {damage.table: damage.reason for damage in damages if damage.indexes}

    async def _replace(self, damage: Damage) -> None:
        name = damage.table
        saved = await salvage(self._vectors, name, self._state / "tables")
        group, part = place_of(name)
        mended = MendedTable(
            name, part, group, damage.reason, saved.kept_rows, saved.lost_rows, saved.is_latest
        )
        write_whole(self._state / f"{name}.json", json.dumps(asdict(mended)))
        self._set_aside(self._vectors / f"{name}.lance")
        self._put_in_place(name)

    async def _made_again(
        self, rag: Rag, tables: Sequence[MendedTable], indexes: Mapping[str, str]
    ) -> list[MendedDataset]:
        touched: dict[str | None, dict[str, MendedTable]] = defaultdict(dict)
        for table in tables:
            touched[table.group][table.part] = table
        shared = touched.pop(None, {})
        if DATASETS in shared:
            await _restore_manifests(rag, table_names(self._vectors))
        if any(not table.is_latest for table in tables):
            # A journal that names nothing makes the next write look for entities that have no reference any more.
            await Journal(self._folder).write({})
        groups = set(touched) | {place_of(name)[0] for name in indexes}
        names = {*await rag.chunks.datasets(), *await rag.ledger.datasets()}
        mended = []
        for name in sorted(names):
            parts = touched.get(group_id(name), {})
            try:
                told = await self._remade(rag, name, parts, ledger_lost=LEDGER in shared)
                if group_id(name) in groups:
                    await rag.chunks.optimize(name)
                    await rag.knowledge.optimize(name)
            except ManifestMismatch as error:
                told = replace(
                    await self._mark_pending(rag, name, 0, everything=bool(parts)), problem=str(error)
                )
            if parts or told.pending:
                mended.append(told)
        return mended

    async def _remade(
        self, rag: Rag, name: str, parts: Mapping[str, MendedTable], *, ledger_lost: bool
    ) -> MendedDataset:
        """Restore the lost part of one store from the other, or mark it pending."""
        restored = await _restore(rag, name, newer="episodes" not in parts) if "chunks" in parts else 0
        if parts and isinstance(rag.chunks, LanceChunkStore):
            await rag.chunks.record_values(name)
        if (user := user_of(name)) is not None:
            if parts.keys() & OF_NOTES:
                upkeep = Upkeep(lambda _: nullcontext())
                store = MemoryStore(rag.chunks, rag.knowledge, rag.embedding, token_counter(), upkeep)
                await store.rebuild_graph(user)
            return MendedDataset(name, restored, 0, (), _lost_chunks(parts.get("chunks"), restored))
        if ledger_lost:
            await self._record(rag, name)
        elif parts:
            await _without_removed(rag, name)
        is_whole = _lost_chunks(parts.get("chunks"), restored) == 0
        lacks = parts.keys() & (OF_NOTES - {"chunks"} if is_whole else OF_NOTES)
        return await self._mark_pending(rag, name, restored, everything=bool(lacks))

    async def _record(self, rag: Rag, name: str) -> None:
        """Add documents that the ledger has lost, as pending and under UNKNOWN_ROOT."""
        known = await rag.ledger.records(name)
        chunks = [one for one in (await _chunks_of(rag, name)).values() if one.document_id not in known]
        of: dict[str, list[Chunk]] = defaultdict(list)
        for chunk in chunks:
            of[chunk.document_id].append(chunk)
        root = str((self._folder / UNKNOWN_ROOT).resolve())
        records = [
            DocumentRecord(document, root, first.path, "", "", (first.title,), True, len(its))
            for document, its in sorted(of.items())
            for first in its[:1]
        ]
        await rag.ledger.put(name, records)

    async def _mark_pending(
        self, rag: Rag, name: str, restored_chunks: int, *, everything: bool
    ) -> MendedDataset:
        """Mark every document of a dataset pending if ``everything``; the report on the pending documents."""
        records = await rag.ledger.records(name)
        if everything:
            pending = [
                replace(record, pending=True, content_hash="", graph_hash="") for record in records.values()
            ]
            await rag.ledger.put(name, pending)
        else:
            pending = [record for record in records.values() if record.pending]
        return MendedDataset(
            name, restored_chunks, len(pending), tuple(sorted({record.root for record in pending}))
        )


def _unused_path(path: Path) -> Path:
    """The path, with a number appended if it exists."""
    numbered = (path.with_name(f"{path.name}-{number}") for number in count(2))
    return next(one for one in chain([path], numbered) if not one.exists())


def _lost_chunks(chunks: MendedTable | None, restored_chunks: int) -> int | None:
    if chunks is None:
        return 0
    return max(0, chunks.lost - restored_chunks) if chunks.lost is not None and chunks.is_latest else None


async def _chunks_of(rag: Rag, name: str) -> dict[str, Chunk]:
    ids = await rag.chunks.matching_chunk_ids(name, Restriction(), limit=MAX_ROWS)
    return await rag.chunks.get_chunks(name, ids)


async def _restore(rag: Rag, name: str, *, newer: bool) -> int:
    """Store the chunks that only the graph holds; returns their number. ``newer``: the graph's text replaces the
    stored one."""
    held = await _chunks_of(rag, name)
    told = {chunk.id: chunk for chunk in await cast(GraphitiStore, rag.knowledge).all_chunks(name)}
    chunks = {**held, **told} if newer else {**told, **held}
    other = {chunk.document_id for chunk in chunks.values() if held.get(chunk.id) != chunk}
    of: dict[str, list[Chunk]] = defaultdict(list)
    for chunk in chunks.values():
        if chunk.document_id in other:
            of[chunk.document_id].append(chunk)
    for documents in batches(sorted(of), DOCUMENTS_A_STEP):
        some = {one: sorted(of[one], key=lambda chunk: (chunk.ordinal, chunk.id)) for one in documents}
        made = await embedded_documents(rag.chunks, rag.embedding, name, some, held)
        await rag.chunks.replace_documents(name, made)
    return len(chunks.keys() - held.keys())


async def _without_removed(rag: Rag, name: str) -> None:
    """Delete documents that an older version of a table brought back."""
    records = await rag.ledger.records(name)
    if records:
        held = await rag.chunks.document_ids(name)
        held |= {chunk.document_id for chunk in await cast(GraphitiStore, rag.knowledge).all_chunks(name)}
        if gone := sorted(held - records.keys()):
            await rag.knowledge.remove_documents(name, gone)
            await rag.chunks.remove_documents(name, gone)


async def _restore_manifests(rag: Rag, tables: Sequence[str]) -> None:
    """Restore the manifest of each group: the model and generation of its vectors."""
    connection = cast(GraphitiStore, rag.knowledge).connection
    manifests = Manifests(connection, model=rag.embedding.name, dimension=rag.embedding.dimension)
    named = {group_id(name): name for name in await rag.ledger.datasets()}
    generations: dict[str, list[str]] = defaultdict(list)
    for table in tables:
        group, part = place_of(table)
        if group is not None and part in ("chunks", "facts"):
            generations[group].append(table)
    for group, of_group in generations.items():
        stored = await manifests.stored_manifest(group)
        generation = await _generation(connection, of_group)
        if stored is not None and stored.generation == generation:
            continue
        name = named.get(group) or dataset_of_group(group) or ""
        model, dimension = await _model(rag, connection, generation_name(f"chunks_{group}", generation))
        await manifests.restore(group, Manifest(model, dimension, generation=generation, name=name))


async def _generation(connection: LanceConnection, tables: Sequence[str]) -> int:
    """The latest complete generation; an interrupted reindex leaves one with fewer rows."""
    counted: dict[str, dict[int, int]] = defaultdict(dict)
    for name in tables:
        base, generation = of_generation(name)
        if (table := await connection.table(name)) is not None:
            counted[base][generation] = int(await table.count_rows())
    rows = next((held for _, held in sorted(counted.items())), {0: 0})
    best = 0
    for generation in sorted(rows):
        best = generation if rows[generation] >= rows.get(best, 0) else best
    return best


async def _model(rag: Rag, connection: LanceConnection, table: str) -> tuple[str, int]:
    """Name and dimension of the model behind a table's vectors: the configured one if it gives the same vector."""
    from agentic_rag.stores.lancedb.rows import CHUNK, unpack_chunk, vectors_of

    configured = rag.embedding.name, rag.embedding.dimension
    opened = await connection.table(table)
    if opened is None or not await opened.count_rows():
        return configured
    found = await opened.query().select(["chunk", "vector"]).limit(1).to_arrow()
    stored = vectors_of(found)[0]
    if len(stored) != rag.embedding.dimension:
        return "unknown", len(stored)
    made = (await rag.embedding.embed_passages([search_text(unpack_chunk(found.to_pylist()[0][CHUNK]))]))[0]
    return configured if float(made @ stored) > 0.99 else ("unknown", len(stored))
