"""Availability of the stores that a service needs, for load balancers that ask every second."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Mapping

from agentic_rag.errors import AgenticRagError
from agentic_rag.opening import Reach

logger = logging.getLogger(__name__)
LOOKED_AT_EVERY = 1.0
"""Seconds for which a result is cached."""
MAX_LOOK_SECONDS = 2.0
"""Time limit of a check in seconds; a store that has not answered by then counts as unavailable."""


class Readiness:
    """Checks all stores at once; concurrent callers share one check.

    Args:
        stores: a check by name; it raises ``AgenticRagError`` if the store cannot be used.
    """

    def __init__(self, stores: Mapping[str, Reach]) -> None:
        self._stores = dict(stores)
        self._looking = asyncio.Lock()
        self._last_problems: dict[str, str] = {}
        self._at = float("-inf")

    async def problems(self) -> dict[str, str]:
        """Reason by the name of each unavailable store; at most a second old."""
        async with self._looking:
            if time.monotonic() - self._at > LOOKED_AT_EVERY:
                told = await asyncio.gather(*map(_problem, self._stores.values()))
                seen = {name: why for name, why in zip(self._stores, told, strict=True) if why}
                self._note(seen)
                self._last_problems, self._at = seen, time.monotonic()
            return self._last_problems

    def _note(self, problems: Mapping[str, str]) -> None:
        """Log each change of state, not each check."""
        for name in problems.keys() - self._last_problems.keys():
            logger.warning("not ready, the %s cannot be used: %s", name, problems[name])
        for name in self._last_problems.keys() - problems.keys():
            logger.warning("the %s can be used again", name)


async def _problem(reach: Reach) -> str | None:
    try:
        async with asyncio.timeout(MAX_LOOK_SECONDS):
            await reach()
    except TimeoutError:
        return f"no answer within {MAX_LOOK_SECONDS:g} s"
    except AgenticRagError as error:
        return str(error)
    return None
