"""State that following folders keeps between ingests, so that an edit costs only the work for one note."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Generic, TypeVar

from agentic_rag.ingest.facts.names import TitleIndex

Result = TypeVar("Result")
Key = tuple[str | None, ...]
SETTLED_NS = 2_000_000_000
"""A file that was changed so lately when it was read is read again: it may change once more in the same tick of its
file system's clock."""


class SeenFiles(Generic[Result]):
    """What was found in each file, as long as its size, its times and its place on the disk are the same."""

    def __init__(self) -> None:
        self._results: dict[Key, tuple[tuple[int, ...], Result]] = {}

    def get(self, key: Key, stamp: tuple[int, ...] | None) -> Result | None:
        """What was found, where the file is as it was then."""
        held = self._results.get(key)
        return held[1] if held is not None and held[0] == stamp else None

    def keep(self, key: Key, stamp: tuple[int, ...] | None, result: Result) -> None:
        """Remember what was found in a file that had this stamp before it was read."""
        if stamp is not None and max(stamp[:2]) < time.time_ns() - SETTLED_NS:
            self._results[key] = stamp, result
        else:
            self._results.pop(key, None)


def stamp_of(path: Path) -> tuple[int, ...] | None:
    """Modification times, size and inode of a file; None if it cannot be read."""
    try:
        found = os.stat(path)  # noqa: PTH116  # a Path's own costs twice as much
    except OSError:
        return None
    return found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino


def stamp_of_all(paths: Sequence[Path]) -> tuple[int, ...] | None:
    """One stamp of several files, which another name, order or number changes too; None if one cannot be read."""
    stamps = [stamp for path in paths if (stamp := stamp_of(path)) is not None]
    if not stamps or len(stamps) < len(paths):
        return None
    newest = (max(stamp[0] for stamp in stamps), max(stamp[1] for stamp in stamps))
    return *newest, hash(tuple(map(str, paths))), *(part for stamp in stamps for part in stamp)


@dataclass(slots=True)
class DatasetCache:
    """What a process caches of one dataset between two ingests."""

    files: SeenFiles[Any] = field(default_factory=SeenFiles)
    titles: tuple[str, TitleIndex] | None = None
    """The latest names of all notes, and their digest."""
