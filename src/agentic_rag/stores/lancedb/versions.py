"""Old versions of a table: how long they stay, what they occupy, and how they are removed."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path
from typing import Any

KEEP_VERSIONS = timedelta(minutes=1)
"""How long a version stays that readers may be in the middle of reading. They look for the latest one every second,
and read what they found for seconds at most."""
FREED_FROM = 0.1
"""Share of the latest version's bytes from which old ones are removed as soon as nobody can read them: to remove
them LanceDB may compact the table, which copies it."""
_AT_ONCE = timedelta(milliseconds=1)


async def cleaned(table: Any, uri: str) -> None:
    """Remove all versions but the latest where that frees enough; for the only one who has the table open."""
    folder = Path(uri) / f"{table.name}.lance"
    if await asyncio.to_thread(folder_bytes, folder) > (1 + FREED_FROM) * await needed_bytes(table, folder):
        await table.optimize(cleanup_older_than=_AT_ONCE)


async def needed_bytes(table: Any, folder: Path) -> int:
    """Bytes of the files of a table's latest version: rows, indexes, and the files that say what it consists of."""
    data_and_indexes = int((await table.stats())["total_bytes"])
    return data_and_indexes + await asyncio.to_thread(_newest_bytes, folder)


def _newest_bytes(folder: Path) -> int:
    found = [
        sorted(map(_age, folder.glob(pattern))) for pattern in ("_versions/*.manifest", "_transactions/*")
    ]
    return sum(files[-1][1] for files in found if files)


def _age(file: Path) -> tuple[int, int]:
    """When it was written, and its size; nothing for one that goes away meanwhile."""
    try:
        found = file.stat()
    except OSError:
        return 0, 0
    return found.st_mtime_ns, found.st_size


def folder_bytes(folder: Path) -> int:
    """Bytes of all files in a folder; one that goes away meanwhile counts nothing."""
    total = 0
    for file in folder.rglob("*"):
        try:
            total += file.stat().st_size if file.is_file() else 0
        except OSError:
            continue
    return total
