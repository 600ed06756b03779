"""How many bytes the files of tables and folders take."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any


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
