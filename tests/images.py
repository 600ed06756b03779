"""Copies of a data folder before and after each single write of a run: the possible states after a kill."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import lancedb
import pytest
from lancedb.table import AsyncTable

from agentic_rag.stores.graph.journal import Journal
from agentic_rag.stores.lancedb import compaction, pieces

WRITES: dict[Any, tuple[str, ...]] = {
    AsyncTable: (
        "_do_merge", "add", "update", "delete", "optimize", "create_index", "drop_index",
        "add_columns", "alter_columns", "drop_columns",
    ),
    lancedb.AsyncConnection: ("create_table", "drop_table"),
    Journal: ("write", "clear"),
    compaction: ("in_lance",),
    pieces: ("in_lance",),
}  # fmt: skip
"""Everything that changes a file of the folder."""


class Images:
    """The folder as it was at each point where a kill could end the run; a point that changed no file has none.

    Writes take turns, so that no image holds a half of one: LanceDB makes each of them whole or not at all.
    """

    def __init__(self, data: Path, to: Path) -> None:
        self.taken: list[Path] = []
        self._data, self._to = data, to
        self._seen: dict[str, tuple[int, int]] | None = None
        self._turn = asyncio.Lock()

    def take(self) -> None:
        files = _files(self._data)
        if files != self._seen:
            self._seen = files
            self.taken.append(copied(self._data, self._to / str(len(self.taken))))

    def watched(self, write: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        async def taken(*args: Any, **kwargs: Any) -> Any:
            async with self._turn:
                self.take()
                result = await write(*args, **kwargs)
                self.take()
                return result

        return taken


async def images_of(
    data: Path, to: Path, run: Callable[[], Awaitable[Any]], monkeypatch: pytest.MonkeyPatch
) -> list[Path]:
    """Do the run, which opens and closes the folder itself; the images of all its points."""
    images = Images(data, to)
    with monkeypatch.context() as watching:
        for owner, names in WRITES.items():
            for name in names:
                watching.setattr(owner, name, images.watched(getattr(owner, name)))
        await run()
    images.take()
    return images.taken


def copied(data: Path, to: Path) -> Path:
    """LanceDB never changes a file that it has written, so that a link is as good as a copy."""
    for name in _files(data):
        target = to / name
        target.parent.mkdir(parents=True, exist_ok=True)
        (os.link if name.endswith((".lance", ".manifest", ".txn", ".arrow")) else shutil.copyfile)(
            data / name, target
        )
    to.mkdir(exist_ok=True, parents=True)
    return to


def _files(data: Path) -> dict[str, tuple[int, int]]:
    found = (path for path in data.rglob("*") if path.is_file() and path.suffix != ".lock")
    states = ((path, path.stat()) for path in found)
    return {str(path.relative_to(data)): (state.st_size, state.st_mtime_ns) for path, state in states}
