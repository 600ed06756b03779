"""Finds unreadable files of tables, and salvages the readable rows of damaged tables.

Lance keeps no checksums: a file counts as damaged where Lance or Arrow refuses it.
"""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

import pyarrow as pa

from agentic_rag.errors import StoreError
from agentic_rag.stores.batch import batches
from agentic_rag.stores.data_folder import REPAIR
from agentic_rag.stores.lancedb.connection import (
    LATEST_BLANK,
    LATEST_GONE,
    STABLE_ROW_IDS,
    address,
    translate_errors,
)
from agentic_rag.stores.lancedb.full_text import WORD_COLUMNS, index_words
from agentic_rag.stores.lancedb.process_lock import in_use
from agentic_rag.stores.lancedb.versions import has_data, is_blank, is_latest_gone, latest_hint, version_files

BLOCK = 1_024
"""Rows that are read together; of a block that cannot be read, its halves are tried."""
MAX_PARTS = 10_000
"""Most parts a fragment is divided into to find its readable rows; each failing read takes a millisecond."""
_FOLDERS = re.compile(r"\S*\.lance/(?=\S)|Generic \S+ error: |Wrapped error: |Not found: (?=.*Not found: )")
"""What a reason need not repeat of the table's path, and the layers of Lance that it came through."""
_DELETIONS = re.compile(r"_deletions/([^/\s]+\.(?:arrow|bin))")
_EMPTY_BITMAP = struct.pack("<II", 12346, 0)
_ROW_IDS = pa.schema([pa.field("row_id", pa.uint32(), nullable=False)])


@dataclass(frozen=True, slots=True)
class Damage:
    """What is wrong with a table."""

    table: str
    reason: str
    indexes: tuple[str, ...] = ()
    """Names of indexes that cannot be read, where every row can; "" for a full text that is missing."""


@dataclass(frozen=True, slots=True)
class Salvage:
    """How much of a damaged table was copied."""

    kept_rows: int
    lost_rows: int | None
    """Rows that could not be read; None where nothing says how many there were."""
    is_latest: bool
    """Whether all salvaged rows are of the latest version; else some come from earlier ones."""


def table_names(database: Path) -> list[str]:
    """Sorted names of all table folders, including those without a manifest."""
    return sorted(
        folder.name.removesuffix(".lance") for folder in database.glob("*.lance") if folder.is_dir()
    )


async def all_damages(folder: Path, names: Sequence[str]) -> list[Damage]:
    """What is wrong with these tables of the database in a folder; every row and index is read.

    Others may write meanwhile: what seems damaged is looked at twice, for its files may just have been replaced.
    """
    import lancedb

    using = await in_use(str(folder))
    database = await lancedb.connect_async(address(str(folder)))
    try:
        suspects = [name for name in names if await _damage_of(database, folder, name)]
        return [found for name in suspects if (found := await _damage_of(database, folder, name))]
    finally:
        database.close()
        if using is not None:
            using.close()


async def _damage_of(database: Any, folder: Path, name: str) -> Damage | None:
    if not version_files(folder / f"{name}.lance"):
        told = Damage(name, "its manifest file is missing")
        return told if has_data(folder / f"{name}.lance") else None
    if is_latest_gone(folder / f"{name}.lance"):
        return Damage(name, LATEST_GONE)
    try:
        with translate_errors("reading"):
            table = await database.open_table(name)
            if await is_blank(table):
                return Damage(name, LATEST_BLANK)
            async for batch in await table.query().to_batches():
                batch.validate(full=True)
            indexes = await table.list_indices()
            columns = (await table.schema()).names
    except StoreError as error:
        return Damage(name, _reason(error))
    broken: dict[str, str] = {}
    for index in indexes:
        try:
            with translate_errors("reading"):
                await table.prewarm_index(index.name)
        except StoreError as error:
            broken[index.name] = _reason(error)
    table.close()
    have = {index.columns[0] for index in indexes}
    if any(column in columns and column not in have for column in WORD_COLUMNS):
        broken[""] = "its full-text index is missing"
    return Damage(name, next(iter(broken.values())), tuple(broken)) if broken else None


async def without_indexes(folder: Path, damage: Damage) -> None:
    """Drop the indexes that cannot be read; full text is indexed anew at once, the rest when it is tidied."""
    import lancedb

    with translate_errors(f"indexing {damage.table} anew"):
        database = await lancedb.connect_async(address(str(folder)))
        table = await database.open_table(damage.table)
        for name in filter(None, damage.indexes):
            await table.drop_index(name)
        await index_words(table)
        table.close()
        database.close()


async def salvage(folder: Path, name: str, scratch: Path) -> Salvage:
    """Copy what can be read of the table ``<folder>/<name>.lance`` to ``<scratch>/<name>.lance``, of which it leaves
    none where nothing can.

    The table itself stays as it is. What the latest version lacks is looked for in earlier ones that are still there.
    """
    import lancedb

    shutil.rmtree(scratch, ignore_errors=True)
    gone = is_latest_gone(folder / f"{name}.lance")
    old = scratch / "old" / f"{name}.lance"
    await asyncio.to_thread(_link_files, folder / f"{name}.lance", old)
    latest_hint(old).unlink(missing_ok=True)
    copy = _Copy(await lancedb.connect_async(address(str(scratch))), name)
    latest, is_latest = None, True
    for number, manifest in enumerate(version_files(old)):
        before = copy.kept_rows
        rows, whole = await copy.add_version(old.parent)
        if number == 0:
            latest = None if gone else rows
            is_latest = latest is not None and copy.kept_rows <= latest
        elif copy.kept_rows > before:
            is_latest = False
        if whole:
            break
        manifest.unlink()
    await copy.finish()
    await asyncio.to_thread(shutil.rmtree, scratch / "old")
    lost = None if latest is None else max(0, latest - copy.kept_rows)
    return Salvage(copy.kept_rows, lost, is_latest and latest is not None)


class _Copy:
    """A new table, of the readable rows of versions of an old one, newest first."""

    def __init__(self, database: Any, name: str) -> None:
        self._database = database
        self._name = name
        self._table: Any = None
        self._seen_keys: set[Any] = set()
        self._known_ids: set[int] | None = None
        """Ids of the rows of the first version that tells them; an earlier one has others, which were deleted."""
        self.kept_rows = 0

    async def add_version(self, folder: Path) -> tuple[int | None, bool]:
        """Rows of the latest version in the folder, None if it cannot be opened; whether all were read."""
        import lancedb

        database = await lancedb.connect_async(address(str(folder)))
        try:
            with translate_errors("reading"):
                table = await database.open_table(self._name)
                schema = await table.schema()
                rows = int(await table.count_rows())
            if await is_blank(table):
                return None, False
        except StoreError:
            return None, False
        if self._table is not None and (await self._table.schema()).names != schema.names:
            return rows, False
        places = await _places(table, folder / f"{self._name}.lance")
        if places is None:
            return rows, False
        if self._table is None:
            self._table = await self._database.create_table(
                self._name, schema=schema, storage_options=STABLE_ROW_IDS
            )
        whole = len(places) == rows
        self._known_ids = {row_id for _, row_id in places} if self._known_ids is None else self._known_ids
        # Of rows of one key the one in the last fragment is the latest.
        for _, fragment in groupby(sorted(places, reverse=True), key=lambda place: place[0]):
            ids = sorted(row_id for _, row_id in fragment if row_id in self._known_ids)
            least = max(1, len(ids) // MAX_PARTS)
            for block in batches(ids, BLOCK):
                whole = await self._add(table, list(block), least) and whole
        table.close()
        database.close()
        return rows, whole

    async def _add(self, table: Any, ids: list[int], least: int) -> bool:
        """Copy these rows, or those of them that can be read; whether all could be."""
        try:
            with translate_errors("reading"):
                found = await table.take_row_ids(ids).to_arrow()
                found.validate(full=True)
        except StoreError:
            if len(ids) <= least:
                return False
            half = len(ids) // 2
            first = await self._add(table, ids[:half], least)
            return await self._add(table, ids[half:], least) and first
        keys = found.column(0).to_pylist()
        new = [number for number, key in enumerate(keys) if key not in self._seen_keys]
        new = list({keys[number]: number for number in new}.values())
        if new:
            self._seen_keys.update(keys)
            self.kept_rows += len(new)
            with translate_errors(f"copying {self._name}"):
                await self._table.add(found.take(new))
        return True

    async def finish(self) -> None:
        """Search by words works at once; nothing is left of a table without a row."""
        if self._table is not None:
            if self.kept_rows:
                await index_words(self._table)
            self._table.close()
            if not self.kept_rows:
                await self._database.drop_table(self._name)
        self._database.close()


async def _places(table: Any, folder: Path) -> list[tuple[int, int]] | None:
    """Fragment and id of each row; a list of deleted rows that cannot be read counts as empty."""
    emptied: set[Path] = set()
    while True:
        try:
            with translate_errors("reading"):
                found = await table.query().select(["_rowaddr", "_rowid"]).to_arrow()
        except StoreError as error:
            lists = _unreadable_lists(folder, str(error.__cause__)) - emptied
            if not lists:
                return None
            for file in lists:
                _empty(file)
            emptied |= lists
        else:
            fragments = (address >> 32 for address in found["_rowaddr"].to_pylist())
            return list(zip(fragments, found["_rowid"].to_pylist(), strict=True))


def _unreadable_lists(folder: Path, message: str) -> set[Path]:
    """Unreadable lists of deleted rows: the damaged files, and the missing one that an error names."""
    there = {file for file in (folder / "_deletions").glob("*") if not _is_arrow(file)}
    return there | {folder / "_deletions" / name for name in _DELETIONS.findall(message)}


def _empty(file: Path) -> None:
    """Write a list of deleted rows that names none."""
    if file.suffix == ".bin":
        content = _EMPTY_BITMAP
    else:
        sink = pa.BufferOutputStream()
        with pa.ipc.new_file(sink, _ROW_IDS) as writer:
            writer.write_batch(pa.record_batch([pa.array([], pa.uint32())], schema=_ROW_IDS))
        content = sink.getvalue().to_pybytes()
    file.parent.mkdir(exist_ok=True)
    file.unlink(missing_ok=True)  # it is linked to the table's own
    file.write_bytes(content)


def _is_arrow(file: Path) -> bool:
    try:
        with pa.memory_map(str(file)) as source:
            pa.ipc.open_file(source).read_all()
    except (OSError, ValueError):
        return False
    return True


def _link_files(source: Path, target: Path) -> None:
    """A copy; LanceDB never changes a file that it has written, so links are as good."""
    for file in _files(source):
        to = target / file.relative_to(source)
        to.parent.mkdir(parents=True, exist_ok=True)
        try:
            os.link(file, to)
        except OSError:
            shutil.copy2(file, to)


def _files(folder: Path) -> Iterator[Path]:
    return (file for file in sorted(folder.rglob("*")) if file.is_file())


def _reason(error: StoreError) -> str:
    """In the words of Lance, without the place in its source."""
    reason = str(error).partition(": ")[2].removesuffix(f"; run: {REPAIR}")
    reason = reason.removeprefix("lance error: ").removeprefix("LanceError(IO): ")
    return _FOLDERS.sub("", reason)
