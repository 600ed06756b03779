"""Writing behind: what a service changed is noted, and stored together before the next thing that reads it.

A store takes a hundred documents in about the time of one, and conversations are inserted turn by turn. It
is safe because the store is only a projection of what the service holds: nobody else reads the namespace,
every reading of the service stores what is noted first, and a run that is killed inserts anew from the start
(the namespace is cleared before the first write).
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

BATCH_DOCUMENTS = 64
"""Documents a write; bounds one transaction of a store."""


class WriteBehind:
    """Which documents of a namespace differ from what is stored.

    Args:
        clear: removes what the namespace holds from an earlier run; called once, before the first write.
        write: makes the stores hold these documents as they are now, or no longer; given again after a failure.
    """

    def __init__(
        self, clear: Callable[[], Awaitable[None]], write: Callable[[Sequence[str]], Awaitable[None]]
    ) -> None:
        self._clear = clear
        self._write = write
        self._cleared = False
        self._changes = 0
        self._noted: dict[str, int] = {}
        self._writing = asyncio.Lock()

    def note(self, document_id: str) -> None:
        """The document has changed, or is gone."""
        self._changes += 1
        self._noted[document_id] = self._changes

    async def flush(self) -> None:
        """Store what is noted; it stays noted until it is stored.

        Raises:
            StoreError, ModelError: what the store or the model behind ``write`` raised; the next call tries again.
        """
        async with self._writing:
            if not self._noted:
                return
            if not self._cleared:
                await self._clear()
                self._cleared = True
            noted = list(self._noted.items())
            for start in range(0, len(noted), BATCH_DOCUMENTS):
                batch = noted[start : start + BATCH_DOCUMENTS]
                await self._write([document_id for document_id, _ in batch])
                for document_id, change in batch:
                    if self._noted[document_id] == change:  # else it changed again while it was written
                        del self._noted[document_id]
