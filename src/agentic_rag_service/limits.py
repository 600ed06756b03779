"""Limits on concurrent questions, on the queue, and on the time of a question."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from agentic_rag.errors import RunError

MAX_RUNNING = 8
"""Questions answered at the same time."""
MAX_WAITING = 64
"""Questions that may wait; each holds a connection and its request, and 64 of them wait for as long as eight rounds of
those that run."""
RETRY_AFTER = 1
"""Seconds after which a client may try again when the queue is full."""


class Busy(RunError):
    """The queue of questions is full."""


class TooLate(RunError):
    """A question exceeded its time limit."""


class QuestionSlots:
    """Limits the questions that run at the same time, with a queue for the others.

    Args:
        running: questions answered at the same time.
        seconds: time limit of a question, waiting included.
    """

    def __init__(self, running: int, seconds: float) -> None:
        self._free = asyncio.Semaphore(running)
        self._most, self._seconds = running + MAX_WAITING, seconds
        self.used_slots = 0
        """Number of questions running and waiting."""
        self.running = 0

    @asynccontextmanager
    async def acquire(self) -> AsyncIterator[None]:
        """Hold a place for one question.

        Raises:
            Busy: the queue is full.
            TooLate: the time limit passed; the question was cancelled.
        """
        if self.used_slots >= self._most:
            raise Busy(
                f"the service is busy: {self.used_slots} questions are running or waiting; try again later"
            )
        self.used_slots += 1
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
            self.used_slots -= 1
