"""What happens around a graph commit: journal before it, LanceDB after it, repair before the next one."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextlib import AsyncExitStack
from typing import Any, TypeVar

from agentic_rag.stores.graphiti.change import Change
from agentic_rag.stores.graphiti.cypher import Run
from agentic_rag.stores.graphiti.journal import Journal
from agentic_rag.stores.graphiti.reconcile import Reconciler
from agentic_rag.stores.graphiti.tables import GraphTables

Result = TypeVar("Result")


async def uninterrupted(work: Coroutine[Any, Any, Result]) -> Result:
    """Finish the work even if the caller is cancelled, then let the cancellation through.

    A cancelled LanceDB write may still land, after the lock was given away and the next write was made.
    """
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        while not task.done():
            try:
                await asyncio.wait([task])
            except asyncio.CancelledError:
                continue  # cancelled again; the first one is passed on below
        if not task.cancelled():
            task.exception()  # looked at, for the caller only hears of the cancellation
        raise


class Committer:
    """Called by a driver's transaction; one transaction at a time.

    The order is: ``prepare``, the graph's statements, ``before_commit``, the graph's commit,
    ``after_commit``. Dying anywhere leaves either nothing changed or a journal.
    """

    def __init__(self, tables: GraphTables, journal: Journal, reconciler: Reconciler) -> None:
        self._tables = tables
        self._journal = journal
        self._reconciler = reconciler
        self._compared = False

    async def prepare(self, run: Run) -> None:
        """Put right what an earlier write left; ``run`` executes statements that commit by themselves."""
        if not self._compared or self._journal.pending():
            await self._reconciler.settle(run, compare=not self._compared)
            self._compared = True

    def is_settled(self) -> bool:
        """Whether no write has left anything to repair."""
        return not self._journal.pending()

    async def rewrite(self, run: Run) -> None:
        """Write all of LanceDB's rows into the graph, which was emptied."""
        await self._reconciler.rebuild(run)

    async def before_commit(self, change: Change, held: AsyncExitStack) -> None:
        """Takes part in ``held`` until it is closed, which is after ``after_commit``.

        Raises ``ManifestMismatch`` before anything is written where the vectors come from another model.
        """
        if not change.is_empty():
            removing = await change.removing(self._tables)
            await held.enter_async_context(self._tables.writing(change.writing(), removing=removing))
            await self._journal.write(change.touched())

    async def after_commit(self, change: Change) -> None:
        if not change.is_empty():
            await change.apply(self._tables)
            await self._journal.clear()
