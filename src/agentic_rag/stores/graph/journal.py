"""The journal of a write to the graph: what a run that is killed in between leaves to be settled."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agentic_rag.errors import StoreError
from agentic_rag.stores.graph.change import TouchedRows
from agentic_rag.stores.whole_file import write_whole

FILE_NAME = "graph.journal"


class Journal:
    """One small JSON file in the data folder; its writes are atomic and reach the disk."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / FILE_NAME

    async def write(self, touched_rows: Mapping[str, Mapping[str, list[str]]]) -> None:
        await asyncio.to_thread(self._write, json.dumps(touched_rows))

    async def read(self) -> TouchedRows | None:
        """The uuids in the journal, empty without a journal; None if it is unreadable, so that any uuid may be
        affected."""
        return await asyncio.to_thread(self._read)

    async def clear(self) -> None:
        await asyncio.to_thread(self.path.unlink, missing_ok=True)

    def _write(self, text: str) -> None:
        try:
            write_whole(self.path, text)
        except OSError as error:
            raise StoreError(f"cannot write the journal {self.path}: {error}") from error

    def _read(self) -> TouchedRows | None:
        try:
            touched = json.loads(self.path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return {}
        except (OSError, ValueError):
            return None
        return touched if touched and _is_touched(touched) else None


def _is_touched(value: Any) -> bool:
    """Whether the value has a journal's form: group → kind → uuids."""
    return isinstance(value, dict) and all(
        isinstance(kinds, dict)
        and all(
            isinstance(uuids, list) and all(isinstance(u, str) for u in uuids) for uuids in kinds.values()
        )
        for kinds in value.values()
    )
