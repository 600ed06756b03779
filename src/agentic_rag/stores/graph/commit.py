"""What happens around a commit: a turn, the repair of an earlier write, the journal, the change in LanceDB."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

from agentic_rag.errors import StoreError
from agentic_rag.stores.graph.change import Change, TouchedRows
from agentic_rag.stores.graph.repair import Repair
from agentic_rag.stores.graph.server_graph import Run
from agentic_rag.stores.graph.tables import GraphTables
from agentic_rag.stores.lancedb.process_lock import process_lock
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


WRITING = "writing-graph"
"""Whoever changes the graph reads first what its documents have stored."""


async def _no_statements(*_: Any, **__: Any) -> list[Any]:
    return []


class Committer:
    """Called by a driver's transaction; one transaction at a time.

    The order is: ``turn``, ``prepare``, a server's statements, ``before_commit``, a server's commit,
    ``after_commit``. Dying anywhere leaves either nothing changed or a journal.

    Args:
        tables: LanceDB.
        repair: what the first write of a process, and the write after an interrupted one, begin with.
        folder: the data folder; its lock and journal are shared by all processes that write there.
    """

    def __init__(self, tables: GraphTables, repair: Repair, folder: Path) -> None:
        self._tables = tables
        self._repair = repair
        self._folder = folder
        self._journal = Journal(folder)
        self._lock = asyncio.Lock()

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Held by one writer of the folder, of all tasks and processes, who sees what the one before wrote."""
        async with self._lock, process_lock(str(self._folder), WRITING):
            self._tables.refresh()
            yield

    async def prepare(self, run: Run = _no_statements) -> None:
        """Put right what an earlier write left; ``run`` executes statements that commit by themselves."""
        touched = await self._journal.read()
        await self._repair.settle(run, touched)
        if touched != {}:
            await self._journal.clear()

    async def before_commit(self, change: Change, exits: AsyncExitStack) -> None:
        """Takes part in ``exits`` until it is closed, which is after ``after_commit``.

        Raises ``ManifestMismatch`` before anything is written where the vectors come from another model.
        """
        if not change.is_empty():
            removing = change.removing()
            await exits.enter_async_context(self._tables.writing(change.writing(), removing=removing))
            await self._journal.write(change.touched_rows())

    async def after_commit(self, change: Change) -> None:
        if not change.is_empty():
            await change.apply(self._tables)
            await self._journal.clear()
