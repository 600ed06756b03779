"""How far a long piece of work is, for whoever waits for it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

Progress = Callable[[str, int, int], None]
"""Called with stage, done, total; from the event loop, often."""


def silent(stage: str, finished_work: int, total: int) -> None:
    """A progress callback that ignores every report."""


def in_this_loop(progress: Progress) -> Progress:
    """The callback for a worker thread to call: it runs in the event loop that is running now."""
    loop = asyncio.get_running_loop()

    def from_thread(stage: str, finished_work: int, total: int) -> None:
        loop.call_soon_threadsafe(progress, stage, finished_work, total)

    return from_thread


class Meter:
    """Tells a stage's progress in units (chunks, rows) by the share of its work that is done.

    So a bar moves evenly, and the time left that it extrapolates is honest, though units differ.
    """

    def __init__(self, progress: Progress | None, stage: str, *, units: int, work: float) -> None:
        self._progress = progress or silent
        self._stage = stage
        self._units = units
        self._work = max(work, 1.0)
        self._finished_work = 0.0
        self._progress(stage, 0, units)

    @classmethod
    def silent(cls) -> Meter:
        """A meter whose progress is reported nowhere."""
        return cls(None, "", units=0, work=0.0)

    def add(self, work: float) -> None:
        """Count finished work; a sum beyond the announced work is not reported."""
        self._finished_work = min(self._work, self._finished_work + work)
        self._progress(self._stage, int(self._units * self._finished_work / self._work), self._units)

    def finish(self) -> None:
        """Everything is done, however much work it was."""
        self.add(self._work)


class StageClock:
    """Seconds by stage of a piece of work, rounded to .1 ms."""

    def __init__(self) -> None:
        self._start = self._last = time.perf_counter()
        self.stages: dict[str, float] = {}

    def lap(self, stage: str) -> None:
        """What has passed since the last lap was this stage's."""
        now = time.perf_counter()
        self.add(stage, now - self._last)
        self._last = now

    def add(self, stage: str, seconds: float) -> None:
        """Passed elsewhere: none of the total."""
        self.stages[stage] = round(self.stages.get(stage, 0.0) + seconds, 4)

    def total(self) -> float:
        return round(time.perf_counter() - self._start, 4)
