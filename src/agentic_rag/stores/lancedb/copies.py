"""Tables of an object store, read from copies in a local folder that follow them.

A search in a large table reads hundreds of pieces of files, each of which is a request to an object store. The files of a
Lance table never change: a new version is new files and a manifest that names all that it consists of. So a copy takes
the files that it lacks, and the manifest last; readers see a version when it is whole.
"""

from __future__ import annotations

import asyncio
import re
import shutil
import time
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa

from agentic_rag.errors import StoreError
from agentic_rag.stores.lancedb.connection import (
    KEEP_VERSIONS,
    READ_CONSISTENCY,
    LanceConnection,
    Prepare,
    translated,
)
from agentic_rag.stores.lancedb.process_lock import process_lock
from agentic_rag.stores.lancedb.versions import version_of

AT_ONCE = 8
"""Files under way."""
PATIENCE = 1.0
"""Seconds that a reader waits for the latest version where it has one to read."""
TRIES = 3
"""At a version whose files were removed meanwhile, because a later one was written."""
Change = Literal["same", "later", "another"]
_COMMIT_TABLE = re.compile(r"^(\w+)\+ddb://([^?]*).*$")
_UNFINISHED = ".part"


class TableCopies:
    """The files of tables, copied; for one thread a table.

    Args:
        uri: of the database.
        storage_options: of its object store.
        folder: where the copies lie, each as ``NAME.lance``; whatever lies there can be deleted at any time.
    """

    def __init__(self, uri: str, storage_options: Mapping[str, str], folder: Path) -> None:
        import lance.file

        self._session = lance.file.LanceFileSession(_COMMIT_TABLE.sub(r"\1://\2", uri), dict(storage_options))
        self._folder = folder
        self._unlisted: dict[str, float] = {}
        """Since when a file of a copy is not one of its table any more, by the clock of this process."""

    def names(self) -> list[str]:
        """Of the tables that there are."""
        found = self._session.list_with_delimiter().common_prefixes
        return sorted(name.removesuffix(".lance") for name in found if name.endswith(".lance"))

    def follow(self, name: str) -> Change:
        """Make the copy hold the latest version.

        Returns:
            ``later``: it did not yet; ``another``: that is of another table, or there is none any more.

        Raises:
            OSError, RuntimeError: the object store failed, or the folder cannot be written.
        """
        for _ in range(TRIES - 1):
            with suppress(FileNotFoundError):
                return self._follow(name)
        return self._follow(name)

    def _follow(self, name: str) -> Change:
        listed = self._session.list(f"{name}.lance")
        manifest = max(filter(_is_manifest, listed), key=_version, default=None)
        target = self._folder / f"{name}.lance"
        if manifest is None:
            shutil.rmtree(target, ignore_errors=True)
            return "another"
        held = _files(self._folder, target)
        if is_another := _is_another_table(held, listed, manifest):
            shutil.rmtree(target)
            held = set()
        needed = {file for file in listed if "/_versions/" not in file}
        with ThreadPoolExecutor(AT_ONCE) as threads:
            for _ in threads.map(self._copy, sorted(needed - held)):
                pass
        if is_later := manifest not in held:
            self._copy(manifest)
        self._remove(held - needed - {manifest})
        return "another" if is_another else "later" if is_later else "same"

    def _copy(self, file: str) -> None:
        target = self._folder / file
        target.parent.mkdir(parents=True, exist_ok=True)
        part = target.with_name(target.name + _UNFINISHED)
        try:
            self._session.download_file(file, part)
        except OSError as error:
            part.unlink(missing_ok=True)
            if "not found" in str(error):
                raise FileNotFoundError(str(error)) from error
            raise
        part.replace(target)

    def _remove(self, unlisted: Iterable[str]) -> None:
        """Those of versions that nobody can be in the middle of reading any more."""
        now = time.monotonic()
        for file in unlisted:
            since = self._unlisted.setdefault(file, now)
            if now - since > KEEP_VERSIONS.total_seconds():
                (self._folder / file).unlink(missing_ok=True)
                del self._unlisted[file]


class CopiedConnection(LanceConnection):
    """A connection that only reads, from copies; see ``LanceConnection``.

    Args:
        uri: of the database.
        storage_options: of its object store.
        folder: where the copies lie.
    """

    def __init__(self, uri: str, storage_options: Mapping[str, str], folder: Path) -> None:
        super().__init__(str(folder))
        self._of = (uri, storage_options)
        self._copies: TableCopies | None = None
        self._followed: dict[str, float] = {}
        """When a table was last looked at, by the clock of this process."""
        self._following: dict[str, asyncio.Task[None]] = {}

    async def table(self, name: str) -> Any | None:
        since = time.monotonic() - self._followed.get(name, float("-inf"))
        if since > READ_CONSISTENCY.total_seconds() and not self._closed:
            task = self._following.get(name)
            if task is None:
                task = self._following[name] = asyncio.create_task(self._follow(name))
                task.add_done_callback(_heard)
            await asyncio.wait([task], timeout=PATIENCE if name in self._tables else None)
            if task.done():
                task.result()
        return await super().table(name)

    async def table_names(self) -> list[str]:
        with translated("listing tables"):
            return await asyncio.to_thread(lambda: self._opened().names())

    async def reach(self) -> None:
        await self.table_names()

    async def create_table(
        self, name: str, schema: pa.Schema, key: str, prepare: Prepare | None = None
    ) -> Any:
        """Raises ``StoreError``."""
        raise StoreError(f"table {name} would be written, and this process reads copies (lancedb_copies)")

    async def drop_table(self, name: str) -> None:
        """Raises ``StoreError``."""
        raise StoreError(f"table {name} would be dropped, and this process reads copies (lancedb_copies)")

    async def close(self) -> None:
        if self._following:
            await asyncio.wait(list(self._following.values()))
        await super().close()

    async def _follow(self, name: str) -> None:
        try:
            async with process_lock(self.locks, f"copying-{name}"):
                with translated(f"copying table {name} of {self._of[0]}"):
                    change = await asyncio.to_thread(lambda: self._opened().follow(name))
        finally:
            del self._following[name]
        self._followed[name] = time.monotonic()
        if change == "another":
            self._tables.pop(name, None)
        elif change == "later":
            self._stale.add(name)

    def _opened(self) -> TableCopies:
        if self._copies is None:
            uri, options = self._of
            self._copies = TableCopies(uri, options, Path(self.uri))
        return self._copies

    async def _clean_up(self) -> None:
        """Nothing: copies are removed as the files of the tables are."""


def _heard(task: asyncio.Task[None]) -> None:
    """An error is raised to who waits; where nobody does any more, the next one tries again."""
    if not task.cancelled():
        task.exception()


def _is_manifest(file: str) -> bool:
    return file.endswith(".manifest")


def _version(file: str) -> int:
    return version_of(Path(file))


def _is_another_table(held: set[str], listed: Iterable[str], latest: str) -> bool:
    """Whether the table was dropped and made again: its versions count from 1 anew."""
    ours = max(filter(_is_manifest, held), key=_version, default=None)
    if ours is None or _version(latest) > _version(ours):
        return False
    return latest != ours or not any("/_transactions/" in file and file in held for file in listed)


def _files(folder: Path, table: Path) -> set[str]:
    """Of a copy, as the session names them."""
    return {
        file.relative_to(folder).as_posix()
        for file in table.rglob("*")
        if file.is_file() and file.suffix != _UNFINISHED
    }
