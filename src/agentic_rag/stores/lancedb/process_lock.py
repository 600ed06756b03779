"""Locks for writes that LanceDB alone does not keep from overwriting each other.

A lock is a file in the database's folder. Closing the file frees it, and so does the end of the process. An
object store has no locks: processes that share a data folder lock there; between machines LanceDB's own commits decide.
Waiting takes no thread and may be cancelled.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Collection
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager
from pathlib import Path
from typing import IO

from agentic_rag.errors import StoreError, StoreLocked

MAKING_TABLES = "making-tables"
"""A second process would overwrite the table that the first just made."""
USING = "using"
"""Shared by all who have the database open, so that the last one may remove what only others could still read."""
RECORDING_VALUES = "recording-values"
"""Forgetting unused metadata values must not meet a write that is about to use one."""
FIRST_WAIT, MAX_WAIT = 0.001, 0.05
"""Seconds between two looks at a lock that another one holds; doubled from look to look."""


@asynccontextmanager
async def process_lock(uri: str, purpose: str, *, is_shared: bool = False) -> AsyncIterator[None]:
    """Held for a purpose by one task of one process per local folder, or by several that share it.

    Where files can only be locked exclusively (Windows), sharing is taking turns.

    Raises:
        StoreError: the folder cannot be written, or has no locks.
    """
    if "://" in uri:
        yield
        return
    with await _open_file(uri, purpose) as file:
        await _wait_for(file, is_shared=is_shared)
        yield


@asynccontextmanager
async def only_one(uri: str, purpose: str, refusal: str) -> AsyncIterator[None]:
    """Like ``process_lock``, but whoever comes second gets ``StoreLocked`` with the refusal, at once."""
    if "://" in uri:
        yield
        return
    with await _open_file(uri, purpose) as file:
        if not _try_lock(file, is_shared=False):
            raise StoreLocked(refusal)
        yield


@asynccontextmanager
async def fair_lock(uri: str, purpose: str, *, is_shared: bool = False) -> AsyncIterator[None]:
    """Like ``process_lock``, but whoever wants it alone is let in between a stream of those who share it.

    A task that holds it must not take it again: both would wait for an exclusive waiter in between.
    """
    async with AsyncExitStack() as held:
        # Whoever wants it alone holds the gate while it waits; the others only pass it.
        async with process_lock(uri, f"{purpose}-next", is_shared=is_shared):
            await held.enter_async_context(process_lock(uri, purpose, is_shared=is_shared))
        yield


@asynccontextmanager
async def writing(uri: str, groups: Collection[str]) -> AsyncIterator[None]:
    """Held while a write resolves which tables are in force and writes to them; many may. A ``fair_lock``."""
    async with AsyncExitStack() as held:
        for group in sorted(groups):
            await held.enter_async_context(fair_lock(uri, _writing(group), is_shared=True))
        yield


@asynccontextmanager
async def switching(uri: str, group: str) -> AsyncIterator[None]:
    """Held alone, while nobody is ``writing``."""
    async with fair_lock(uri, _writing(group)):
        yield


def _writing(group: str) -> str:
    return f"writing-{group}"


def is_lock(file: Path) -> bool:
    """Whether a file is that of a lock, by its name."""
    return file.name.startswith(".") and file.suffix == ".lock"


async def in_use(uri: str) -> IO[bytes] | None:
    """Share the lock ``USING`` until the file is closed.

    None where that cannot be: in an object store, in a folder that cannot be written, and where files can only be
    locked exclusively (Windows).
    """
    if "://" in uri or sys.platform == "win32":
        return None
    try:
        file = await _open_file(uri, USING)
        with ExitStack() as unless_shared:
            unless_shared.callback(file.close)
            await _wait_for(file, is_shared=True)
            unless_shared.pop_all()
    except StoreError:
        return None
    return file


def is_alone(using: IO[bytes]) -> bool:
    """Whether nobody else shares the lock; from now on nobody can, until the file is closed.

    Where another one does, the lock is lost: for who is about to close the file.
    """
    return _try_lock(using, is_shared=False)


async def _open_file(uri: str, purpose: str) -> IO[bytes]:
    """The lock's file, closed at once if the caller is cancelled while a thread opens it."""
    opening = asyncio.ensure_future(asyncio.to_thread(_file, uri, purpose))
    try:
        return await asyncio.shield(opening)
    except asyncio.CancelledError:
        opening.add_done_callback(_close_file)
        raise


def _close_file(opening: asyncio.Future[IO[bytes]]) -> None:
    if not opening.cancelled() and opening.exception() is None:
        opening.result().close()


def _file(uri: str, purpose: str) -> IO[bytes]:
    folder = Path(uri)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return (folder / f".{purpose}.lock").open("ab")
    except OSError as error:
        raise _unusable(folder, error) from error


async def _wait_for(file: IO[bytes], *, is_shared: bool) -> None:
    wait = FIRST_WAIT
    while not _try_lock(file, is_shared=is_shared):
        await asyncio.sleep(wait)
        wait = min(2 * wait, MAX_WAIT)


def _try_lock(file: IO[bytes], *, is_shared: bool) -> bool:
    """Whether the lock could be taken just now."""
    if sys.platform == "win32":
        import msvcrt

        file.seek(0)
        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True
    import fcntl

    try:
        fcntl.flock(file.fileno(), (fcntl.LOCK_SH if is_shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        raise _unusable(Path(file.name).parent, error) from error
    return True


def _unusable(folder: Path, error: OSError) -> StoreError:
    return StoreError(
        f"{folder} cannot be locked: {error.strerror or error}; "
        "it must be a folder that can be written, on a file system with locks"
    )
