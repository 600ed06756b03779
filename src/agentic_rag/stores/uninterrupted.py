"""Writes that are finished whatever becomes of their caller."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

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
