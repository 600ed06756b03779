"""A backup of a data folder in use: complete, consistent as of one moment, and itself a data folder."""

from __future__ import annotations

import asyncio
import errno
import shutil
import sqlite3
import threading
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from dataclasses import asdict, dataclass
from pathlib import Path

from agentic_rag.domain.json_values import Json
from agentic_rag.errors import ConfigError, InputError, StoreError
from agentic_rag.settings.config import RagConfig
from agentic_rag.stores.checkpoints import FILE as CONVERSATIONS
from agentic_rag.stores.data_folder import COPYING, VECTORS
from agentic_rag.stores.lancedb.process_lock import fair_lock, in_use, is_lock
from agentic_rag.stores.uninterrupted import run_uninterrupted

_BESIDE_CONVERSATIONS = (f"{CONVERSATIONS}-wal", f"{CONVERSATIONS}-shm")


@dataclass(frozen=True, slots=True)
class BackupReport:
    """The result of a backup: number and size of the copied files."""

    path: str
    files: int
    size_bytes: int
    seconds: float

    def to_dict(self) -> Json:
        """Plain JSON values."""
        return asdict(self)


@asynccontextmanager
async def changing(data_dir: Path) -> AsyncIterator[None]:
    """Held while an ingest, a removal, a reindex or a memory changes the folder; shared by many."""
    async with fair_lock(str(data_dir), COPYING, is_shared=True):
        yield


async def back_up(config: RagConfig, target: Path) -> BackupReport:
    """Copy the data folder to ``target``. Questions are answered meanwhile; the copy waits for writers, and
    writers wait for the copy.

    The target appears only when complete. To restore it, use it as ``data_dir``, or copy it back.

    Args:
        config: configuration of the data folder, which must hold the vectors too.
        target: a folder that does not exist yet, outside the data folder.

    Raises:
        InputError: the target exists or is within the data folder, or there is no data folder.
        ConfigError: some data lie outside the data folder.
        StoreError: a file cannot be read or written; nothing is left at the target.
    """
    source, place = _places(config, target)
    started = time.perf_counter()
    # Held as a reader: the last reader to close removes old versions, and their files may be under copy.
    using = await in_use(str(source / VECTORS)) if (source / VECTORS).is_dir() else None
    try:
        async with fair_lock(str(source), COPYING):
            is_cancelled = threading.Event()
            copying = asyncio.to_thread(_copy, source, place, is_cancelled)
            files, size = await run_uninterrupted(copying, is_cancelled.set)
    finally:
        if using is not None:
            using.close()
    return BackupReport(str(target), files, size, round(time.perf_counter() - started, 3))


def _places(config: RagConfig, target: Path) -> tuple[Path, Path]:
    """Source and target folder, checked as ``back_up`` says."""
    source, place = config.data_dir.resolve(), target.resolve()
    if config.lancedb_uri is not None or config.vectors.backend != "lancedb":
        raise ConfigError(
            "a backup copies the data folder alone, and the vectors lie elsewhere; back up lancedb_uri or vectors.uri separately"
        )
    if not source.is_dir():
        raise InputError(f"there is no data folder {str(config.data_dir)!r}")
    if place.exists():
        raise InputError(f"{str(target)!r} exists already; name a new folder")
    if place.is_relative_to(source):
        raise InputError(f"{str(target)!r} lies within the data folder; name one outside")
    return source, place


def _copy(source: Path, place: Path, is_cancelled: threading.Event) -> tuple[int, int]:
    """Number of copied files, and their bytes. After a cancellation it stops behind the current file and removes
    the copy."""
    beside = place.with_name(f".{place.name}.new")
    try:
        shutil.rmtree(beside, ignore_errors=True)
        beside.mkdir(parents=True)
        for file in sorted(source.rglob("*")):
            if is_cancelled.is_set():
                raise InterruptedError(errno.EINTR, "the backup was cancelled")
            to = beside / file.relative_to(source)
            if file.is_dir():
                to.mkdir(exist_ok=True)
            elif file == source / CONVERSATIONS:
                with closing(sqlite3.connect(file)) as one, closing(sqlite3.connect(to)) as other:
                    one.backup(other)
            elif file.is_file() and not is_lock(file) and file.name not in _BESIDE_CONVERSATIONS:
                shutil.copy2(file, to)
        copied = [file for file in beside.rglob("*") if file.is_file()]
        size = sum(file.stat().st_size for file in copied)
        beside.rename(place)
    except (OSError, sqlite3.Error) as error:
        shutil.rmtree(beside, ignore_errors=True)
        reason = getattr(error, "strerror", None) or str(error)
        raise StoreError(
            f"cannot copy {source} to {place}: {reason}; the unfinished copy was removed"
        ) from error
    return len(copied), size
