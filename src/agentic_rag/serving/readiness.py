"""Whether the stores that a service needs answer, for load balancers that ask every second."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Mapping

from agentic_rag.errors import AgenticRagError
from agentic_rag.opening import Reach

logger = logging.getLogger(__name__)
LOOKED_AT_EVERY = 1.0
"""Seconds for which what was seen is told again."""
LONGEST_LOOK = 2.0
"""Seconds: a store that has not answered until then counts as away."""


class Readiness:
    """Looks at all stores at once, for one caller at a time.

    Args:
        stores: by name, what raises ``AgenticRagError`` where one cannot be used.
    """

    def __init__(self, stores: Mapping[str, Reach]) -> None:
        self._stores = dict(stores)
        self._looking = asyncio.Lock()
        self._seen: dict[str, str] = {}
        self._at = float("-inf")

    async def problems(self) -> dict[str, str]:
        """By the name of each store that cannot be used, why; as of a second ago at the most."""
        async with self._looking:
            if time.monotonic() - self._at > LOOKED_AT_EVERY:
                told = await asyncio.gather(*map(_problem, self._stores.values()))
                seen = {name: why for name, why in zip(self._stores, told, strict=True) if why}
                self._note(seen)
                self._seen, self._at = seen, time.monotonic()
            return self._seen

    def _note(self, seen: Mapping[str, str]) -> None:
        """A line in the log for each change, not for each look."""
        for name in seen.keys() - self._seen.keys():
            logger.warning("not ready, the %s cannot be used: %s", name, seen[name])
        for name in self._seen.keys() - seen.keys():
            logger.warning("the %s can be used again", name)


async def _problem(reach: Reach) -> str | None:
    try:
        async with asyncio.timeout(LONGEST_LOOK):
            await reach()
    except TimeoutError:
        return f"no answer within {LONGEST_LOOK:g} s"
    except AgenticRagError as error:
        return str(error)
    return None
