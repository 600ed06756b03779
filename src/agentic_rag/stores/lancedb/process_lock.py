"""One process at a time where LanceDB alone would let a second one undo what the first just did."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import IO

MAKING_TABLES = "making-tables"
"""A second process would overwrite the table that the first just made."""
RECORDING_VALUES = "recording-values"
"""Forgetting unused metadata values must not meet a write that is about to use one."""


@asynccontextmanager
async def process_lock(uri: str, purpose: str) -> AsyncIterator[None]:
    """Held for a purpose by one task of one process per local folder; an object store, which has no locks, is not locked.

    Closing the file frees it, as the end of a process does however it ends.
    """
    if "://" in uri:
        yield
        return
    file = await asyncio.to_thread(_locked, Path(uri), purpose)
    try:
        yield
    finally:
        file.close()


def _locked(folder: Path, purpose: str) -> IO[bytes]:
    folder.mkdir(parents=True, exist_ok=True)
    file = (folder / f".{purpose}.lock").open("ab")
    if sys.platform == "win32":
        import msvcrt

        file.seek(0)
        msvcrt.locking(file.fileno(), msvcrt.LK_LOCK, 1)
    else:
        import fcntl

        fcntl.flock(file.fileno(), fcntl.LOCK_EX)
    return file
