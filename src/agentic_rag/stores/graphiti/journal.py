"""The dirty marker: what a write is about to touch, on disk before the graph's commit, gone after LanceDB's.

A journal that is there when no write is under way tells of a crash between the two.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path

from agentic_rag.errors import StoreError
from agentic_rag.stores.whole_file import write_whole

Touched = dict[str, dict[str, list[str]]]
"""Group → kind → uuids; kind ``candidates`` lists entities that may have lost their last mention."""


class Journal:
    """One small JSON file; its writes are atomic and reach the disk."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def pending(self) -> bool:
        return self.path.exists()

    async def write(self, touched: Mapping[str, Mapping[str, list[str]]]) -> None:
        await asyncio.to_thread(self._write, json.dumps(touched))

    async def read(self) -> Touched | None:
        """What was touched; None where the journal cannot be read, so everything may be."""
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
        return touched if isinstance(touched, dict) else None
