"""How many questions are answered at a time, and how long one may take."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from agentic_rag.errors import RunError

RETRY_AFTER = 1
"""Seconds after which a client that found no place may try again."""


class Busy(RunError):
    """Too many questions wait already."""


class TooLate(RunError):
    """A question took longer than it may."""


class Places:
    """Places for questions, and a queue before them.

    Args:
        running: answered at the same time.
        waiting: that may wait.
        seconds: longest time, waiting included.
    """

    def __init__(self, running: int, waiting: int, seconds: float) -> None:
        self._free = asyncio.Semaphore(running)
        self._most, self._seconds = running + waiting, seconds
        self.taken = 0
        """Running and waiting."""
        self.running = 0

    @asynccontextmanager
    async def one(self) -> AsyncIterator[None]:
        """A place.

        Raises:
            Busy: the queue is full.
            TooLate: the time is over; what ran is ended.
        """
        if self.taken >= self._most:
            raise Busy(f"{self.taken} questions are being answered or wait; try again")
        self.taken += 1
        try:
            async with asyncio.timeout(self._seconds):
                async with self._free:
                    self.running += 1
                    try:
                        yield
                    finally:
                        self.running -= 1
        except TimeoutError as error:
            raise TooLate(f"no answer within {self._seconds:g} s") from error
        finally:
            self.taken -= 1
