"""One process at a time makes tables: LanceDB lets a second one overwrite what the first just made."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import IO

LOCK_FILE = ".making-tables.lock"


@asynccontextmanager
async def process_lock(uri: str) -> AsyncIterator[None]:
    """Held by one task of one process per local folder; an object store, which has no locks, is not locked.

    Closing the file frees it, as the end of a process does however it ends.
    """
    if "://" in uri:
        yield
        return
    file = await asyncio.to_thread(_locked, Path(uri))
    try:
        yield
    finally:
        file.close()


def _locked(folder: Path) -> IO[bytes]:
    folder.mkdir(parents=True, exist_ok=True)
    file = (folder / LOCK_FILE).open("ab")
    if sys.platform == "win32":
        import msvcrt

        file.seek(0)
        msvcrt.locking(file.fileno(), msvcrt.LK_LOCK, 1)
    else:
        import fcntl

        fcntl.flock(file.fileno(), fcntl.LOCK_EX)
    return file
