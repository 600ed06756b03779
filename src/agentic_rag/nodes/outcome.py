"""Asking one source: its results and an honest outcome, whatever happens."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable

from agentic_rag.domain import Findings, Hit
from agentic_rag.errors import InputError, ManifestMismatch, RunError
from agentic_rag.state import Outcome

READY_SECONDS = 60.0
"""That a source may take once, before its first search, to get ready: a model that nothing was fitted for embeds
its reference pairs then, in which a slow one is slower than any search."""

logger = logging.getLogger(__name__)


async def search_source(
    search: Callable[[], Awaitable[Findings]],
    timeout_seconds: float,
    why_empty: Callable[[], Awaitable[str | None]] | None = None,
    ready: Callable[[], Awaitable[None]] | None = None,
) -> tuple[list[Hit], Outcome]:
    """Run one source's search within its time; ``why_empty`` gives the reason where it finds nothing.

    A failure or time-out gives no hits and a ``degraded`` outcome with the reason; input errors are
    the caller's and pass through. What ``ready`` takes, up to READY_SECONDS, is not the search's time.
    """
    started = time.perf_counter()
    found = Findings([], {})
    status: str = "ok"
    reason: str | None = None
    allowed = max(timeout_seconds, READY_SECONDS)
    try:
        async with asyncio.timeout(allowed) as limit:
            if ready is not None:
                await ready()
        allowed = timeout_seconds
        async with asyncio.timeout(allowed) as limit:
            found = await search()
            if not found.hits and why_empty is not None:
                reason = await why_empty()
    except (InputError, ManifestMismatch):
        raise
    except (RunError, OSError, RuntimeError) as error:
        late = isinstance(error, TimeoutError) and limit.expired()
        reason = f"no answer within {allowed:g} s" if late else f"{type(error).__name__}: {error}"
        status = "degraded"
    if status == "ok" and not found.hits:
        status = "empty"
    if status == "degraded":
        logger.warning("a source is degraded: %s", reason)
    milliseconds = round((time.perf_counter() - started) * 1000, 3)
    outcome: Outcome = {
        "status": status,
        "reason": reason,
        "count": len(found.hits),
        "ms": milliseconds,
        "question": found.question,
    }
    return found.hits, outcome
