"""What happens around a commit: a turn, the repair of an earlier write, the journal, the change in LanceDB."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

from agentic_rag.stores.graph.change import Change
from agentic_rag.stores.graph.journal import Journal
from agentic_rag.stores.graph.mirror import Run
from agentic_rag.stores.graph.settling import Settling
from agentic_rag.stores.graph.tables import GraphTables
from agentic_rag.stores.lancedb.process_lock import process_lock

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
        settling: what the first write of a process, and the write after an interrupted one, begin with.
        folder: the data folder; its lock and journal are shared by all processes that write there.
    """

    def __init__(self, tables: GraphTables, settling: Settling, folder: Path) -> None:
        self._tables = tables
        self._settling = settling
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
        await self._settling.settle(run, touched)
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
