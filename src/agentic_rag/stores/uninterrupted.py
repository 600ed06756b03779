"""Work that is finished whatever becomes of its caller."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

Result = TypeVar("Result")


async def run_uninterrupted(
    work: Coroutine[Any, Any, Result], end: Callable[[], None] | None = None
) -> Result:
    """Finish the work even if the caller is cancelled, then let the cancellation through.

    A cancelled LanceDB write may still land, after the lock was given away and the next write was made.

    Args:
        work: what must not be left half done.
        end: called if the caller is cancelled, for work that can end early by itself.
    """
    task = without_unretrieved_warning(asyncio.ensure_future(work))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        if end is not None:
            end()
        while not task.done():
            try:
                await asyncio.wait([task])
            except asyncio.CancelledError:
                continue  # cancelled again; the first one is passed on below
        raise


async def left_running(work: Coroutine[Any, Any, Result]) -> Result:
    """Let a caller that is cancelled go at once, and finish the work for whoever needs it next; its error is then nobody's."""
    task = without_unretrieved_warning(asyncio.ensure_future(work))
    _left_running.add(task)
    task.add_done_callback(_left_running.discard)
    return await asyncio.shield(task)


_left_running: set[asyncio.Future[Any]] = set()
"""An event loop alone does not keep its tasks."""


def without_unretrieved_warning(task: asyncio.Future[Result]) -> asyncio.Future[Result]:
    """Mark the task's exception as retrieved, so that asyncio logs no warning; returns the task."""
    task.add_done_callback(lambda future: future.cancelled() or future.exception())
    return task
