"""Tables of an object store, read from copies in a local folder that follow them.

A search in a large table reads hundreds of pieces of files, each of which is a request to an object store. The files of a
Lance table never change: a new version is new files and a manifest that names all that it consists of. So a copy takes
the files that it lacks, and the manifest last; readers see a version when it is whole.
"""

from __future__ import annotations

import asyncio
import errno
import os
import re
import shutil
import time
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from agentic_rag.errors import StoreError
from agentic_rag.settings.addresses import without_login
from agentic_rag.stores.lancedb.connection import (
    KEEP_VERSIONS,
    READ_CONSISTENCY,
    LanceConnection,
    Prepare,
    translate_errors,
)
from agentic_rag.stores.lancedb.process_lock import process_lock
from agentic_rag.stores.lancedb.versions import version_files, version_of
from agentic_rag.stores.uninterrupted import without_unretrieved_warning

FILES_AT_ONCE = 8
PATIENCE = 1.0
"""Maximum seconds that a reader with a readable version waits for the latest one."""
COMPARED_EVERY = 10.0
"""Seconds. Between two looks a table may have been made again and have come to the same version."""
TRIES = 3
"""Maximum tries to copy a version; its files may be removed meanwhile, because a later one was written."""
_COMMIT_TABLE = re.compile(r"^(\w+)\+ddb://([^?]*).*$")


class Copy(NamedTuple):
    """What was copied of a table."""

    version: int
    manifest: bytes
    """What the version consists of: a table that was made again counts its versions anew."""


class TableCopies:
    """The files of tables, copied; for one thread a table.

    Args:
        uri: of the database.
        storage_options: of its object store.
        folder: where the copies lie, each as ``NAME.lance``; it can be deleted while nobody reads it.
    """

    def __init__(self, uri: str, storage_options: Mapping[str, str], folder: Path) -> None:
        import lance.file

        self._session = lance.file.LanceFileSession(_COMMIT_TABLE.sub(r"\1://\2", uri), dict(storage_options))
        self._uri = uri
        self._folder = folder
        self._is_stopped = False
        self._unlisted_since: dict[str, float] = {}
        """Since when a file of a copy is not one of its table any more, by the clock of this process."""

    def names(self) -> list[str]:
        """The names of the tables in the folder or bucket.

        Raises:
            OSError, RuntimeError: the object store failed, or the folder is not there.
        """
        if "://" not in self._uri and not Path(self._uri).is_dir():
            raise FileNotFoundError(errno.ENOENT, "the folder is not there", self._uri)
        found = self._session.list_with_delimiter().common_prefixes
        return sorted(name.removesuffix(".lance") for name in found if name.endswith(".lance"))

    def remove_others(self) -> None:
        """Remove copies of tables that are not there any more; raises as ``names``."""
        names = self.names()
        for copied in self._folder.glob("*.lance"):
            if copied.stem not in names:
                shutil.rmtree(copied)

    def latest(self, name: str) -> int:
        """Number of the latest version; 0 if the table does not exist. Raises as ``names``."""
        manifest = self._latest(name)
        return version_of(manifest) if manifest else 0

    def follow(self, name: str) -> Copy | None:
        """Make the copy hold the latest version; None where there is no such table.

        Raises:
            OSError, RuntimeError: the object store failed, the folder cannot be written, or ``stop`` was called.
        """
        for _ in range(TRIES - 1):
            with suppress(FileNotFoundError):
                return self._follow(name)
        return self._follow(name)

    def stop(self) -> None:
        """Copy no further file; for another thread to call."""
        self._is_stopped = True

    def _latest(self, name: str) -> Path | None:
        """The manifest of the latest version, as the session names it."""
        manifests = self._session.list(f"{name}.lance/_versions")
        found = [Path(file) for file in manifests if file.endswith(".manifest")]
        if not found:
            self.names()  # raises where it is the folder that is not there
        return max(found, key=version_of, default=None)

    def _follow(self, name: str) -> Copy | None:
        target = self._folder / f"{name}.lance"
        # First the version and then the files: all that it consists of was there before it.
        latest = self._latest(name)
        if latest is None:
            shutil.rmtree(target, ignore_errors=True)
            return None
        held = version_files(target)
        if not held or held[0].name != latest.name or not self._holds(latest.as_posix()):
            self._copy_all(target, latest.as_posix())
            for manifest in held:
                if version_of(manifest) > version_of(latest):
                    manifest.unlink(missing_ok=True)
        return Copy(version_of(latest), (self._folder / latest).read_bytes())

    def _holds(self, manifest: str) -> bool:
        """Whether a manifest of the copy is the table's."""
        part = self._download(manifest)
        is_same = part.read_bytes() == (self._folder / manifest).read_bytes()
        part.unlink()
        return is_same

    def _copy_all(self, target: Path, manifest: str) -> None:
        listed = self._session.list(target.name)
        if manifest not in listed:
            raise FileNotFoundError(errno.ENOENT, "removed meanwhile", manifest)
        needed = {file for file in listed if "/_versions/" not in file}
        held = {file.relative_to(self._folder).as_posix() for file in target.rglob("*") if file.is_file()}
        with ThreadPoolExecutor(FILES_AT_ONCE) as threads:
            for _ in threads.map(self._copy, sorted(needed - held)):
                pass
        self._copy(manifest)
        self._remove(held - needed - {manifest})

    def _copy(self, file: str) -> None:
        part = self._download(file)
        with part.open("rb") as written:
            os.fsync(written.fileno())
        part.replace(self._folder / file)

    def _download(self, file: str) -> Path:
        """Beside its place."""
        if self._is_stopped:
            raise InterruptedError(errno.EINTR, "the copying was stopped", file)
        target = self._folder / file
        target.parent.mkdir(parents=True, exist_ok=True)
        part = target.with_name(target.name + ".part")
        try:
            self._session.download_file(file, part)
        except OSError as error:
            part.unlink(missing_ok=True)
            if "not found" in str(error):
                raise FileNotFoundError(errno.ENOENT, "removed meanwhile", file) from error
            raise
        return part

    def _remove(self, unlisted_files: Iterable[str]) -> None:
        """Those of versions that nobody can be in the middle of reading any more."""
        now = time.monotonic()
        for file in unlisted_files:
            since = self._unlisted_since.setdefault(file, now)
            if now - since > KEEP_VERSIONS.total_seconds():
                (self._folder / file).unlink(missing_ok=True)
                del self._unlisted_since[file]


class CopiedConnection(LanceConnection):
    """A connection that only reads, from copies; see ``LanceConnection``.

    Tables are checked out at the version that was copied, which LanceDB lets nobody write to.

    Args:
        uri: of the database.
        storage_options: of its object store.
        folder: where the copies lie.
    """

    def __init__(self, uri: str, storage_options: Mapping[str, str], folder: Path) -> None:
        super().__init__(str(folder))
        self._of = (uri, storage_options)
        self._copies: TableCopies | None = None
        self._copies_by_table: dict[str, Copy | None] = {}
        """As of the last time; None for a table that is not there."""
        self._checked_out: dict[str, Copy] = {}
        self._last_look: dict[str, float] = {}
        """When a table was last looked at, by the clock of this process."""
        self._last_comparison: dict[str, float] = {}
        """When its manifest was last compared."""
        self._looking: dict[str, asyncio.Future[int]] = {}
        self._copying: dict[str, tuple[float, asyncio.Future[None]]] = {}
        """Since when it is copied."""
        self._failures: dict[str, Exception] = {}
        """Why it could not be copied the last time."""
        self._opening_copies = asyncio.Lock()

    async def table(self, name: str) -> Any | None:
        if self._is_closed:
            return await super().table(name)
        await self._up_to_date(name)
        copied, open_at = self._copies_by_table.get(name), self._checked_out.get(name)
        if (
            open_at is not None
            and copied != open_at
            and (copied is None or copied.version <= open_at.version)
        ):
            self._tables.pop(name, None)  # it was made again
            del self._checked_out[name]
        if copied is None:
            return None
        table = await super().table(name)
        if table is not None and self._checked_out.get(name) != copied:
            with translate_errors(f"reading the latest version of {name}"):
                await table.checkout(copied.version)
            self._checked_out[name] = copied
        return table

    async def ready(self) -> None:
        await asyncio.gather(*map(self._up_to_date, await self.table_names()))

    def refresh(self) -> None:
        self._last_look.clear()

    async def table_names(self) -> list[str]:
        copies = await self._open_copies()
        with translate_errors("listing tables"):
            return await asyncio.to_thread(copies.names)

    async def reach(self) -> None:
        await self.table_names()

    async def create_table(
        self, name: str, schema: pa.Schema, key: str, prepare: Prepare | None = None
    ) -> Any:
        """Raises ``StoreError``."""
        raise StoreError(
            f"table {name} cannot be written: this process reads copies; unset lancedb_copies to write"
        )

    async def drop_table(self, name: str) -> None:
        """Raises ``StoreError``."""
        raise StoreError(
            f"table {name} cannot be dropped: this process reads copies; unset lancedb_copies to write"
        )

    async def close(self) -> None:
        self._is_closed = True
        if self._copies is not None:
            self._copies.stop()
        copying: list[asyncio.Future[Any]] = [task for _, task in self._copying.values()]
        if under_way := [*self._looking.values(), *copying]:
            await asyncio.wait(under_way)
        await super().close()

    async def _up_to_date(self, name: str) -> None:
        """Check for the latest version and wait until it is copied; only briefly if an older one is readable."""
        since = time.monotonic() - self._last_look.get(name, float("-inf"))
        if name not in self._copies_by_table or since > READ_CONSISTENCY.total_seconds():
            if name not in self._looking:
                self._looking[name] = without_unretrieved_warning(asyncio.create_task(self._look(name)))
            latest = await asyncio.shield(self._looking[name])
            known = self._copies_by_table.get(name)
            unlike = latest != (known.version if known else 0)
            is_due = time.monotonic() - self._last_comparison.get(name, float("-inf")) > COMPARED_EVERY
            if (unlike or is_due) and name not in self._copying:
                task = without_unretrieved_warning(asyncio.create_task(self._copy(name)))
                self._copying[name] = (time.monotonic(), task)
        if name in self._copying:
            begun, task = self._copying[name]
            longest = max(0.0, begun + PATIENCE - time.monotonic())
            await asyncio.wait([task], timeout=longest if name in self._copies_by_table else None)
            if name in self._failures:
                raise self._failures[name]

    async def _look(self, name: str) -> int:
        """The number of the latest version."""
        try:
            copies = await self._open_copies()
            with translate_errors(f"looking for the latest version of {name}"):
                latest = await asyncio.to_thread(copies.latest, name)
            self._last_look[name] = time.monotonic()
            return latest
        finally:
            del self._looking[name]

    async def _copy(self, name: str) -> None:
        try:
            copies = await self._open_copies()
            async with process_lock(self.locks, f"copying-{name}"):
                with translate_errors(f"copying table {name} of {without_login(self._of[0])}"):
                    self._copies_by_table[name] = await asyncio.to_thread(copies.follow, name)
            self._last_comparison[name] = time.monotonic()
            self._failures.pop(name, None)
        except StoreError as error:
            self._failures[name] = error
            self._last_look.pop(name, None)
        finally:
            del self._copying[name]

    async def _open_copies(self) -> TableCopies:
        async with self._opening_copies:
            if self._copies is None:
                uri, options = self._of
                with translate_errors(f"opening {without_login(uri)}"):
                    copies = await asyncio.to_thread(TableCopies, uri, options, Path(self.uri))
                    await asyncio.to_thread(copies.remove_others)
                self._copies = copies
        return self._copies

    async def _clean_up(self) -> None:
        """Nothing: copies are removed as the files of the tables are."""
