"""The mark of a write under way: what it touches, on disk before the first change and gone after the last.

A journal that is there when nobody has the turn to write tells of a process that died on its way.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path

from agentic_rag.errors import StoreError
from agentic_rag.stores.whole_file import write_whole

FILE_NAME = "graph.journal"
Touched = dict[str, dict[str, list[str]]]
"""Group → kind → uuids; kind ``candidates`` lists entities that may have lost their last mention."""


class Journal:
    """One small JSON file in the data folder; its writes are atomic and reach the disk."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / FILE_NAME

    async def write(self, touched: Mapping[str, Mapping[str, list[str]]]) -> None:
        await asyncio.to_thread(self._write, json.dumps(touched))

    async def read(self) -> Touched | None:
        """What was touched, nothing where there is no journal; None where it cannot be read, so everything may be."""
        return await asyncio.to_thread(self._read)

    async def clear(self) -> None:
        await asyncio.to_thread(self.path.unlink, missing_ok=True)

    def _write(self, text: str) -> None:
        try:
            write_whole(self.path, text)
        except OSError as error:
            raise StoreError(f"cannot write the journal {self.path}: {error}") from error

    def _read(self) -> Touched | None:
        try:
            touched = json.loads(self.path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return {}
        except (OSError, ValueError):
            return None
        return touched if isinstance(touched, dict) and touched else None
