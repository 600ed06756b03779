"""Simulates the time of an ingest on a cluster: workers prepare shares, the driver stores them in order.

One worker prepares a share; the driver stores a batch (one per share); each takes a given number of seconds on a free
core. Busy processes share the cores evenly. A worker takes no share while too many are prepared or under way and not
yet stored, as Ray Data limits the backlog.
"""

from __future__ import annotations

from dataclasses import dataclass

WAITING = 2
"""Shares per worker that may be under way or wait for the driver. Ray Data limits bytes, which allows more."""


@dataclass(frozen=True)
class Ingest:
    """Measurements of one worker."""

    shares: int
    share_seconds: float
    """Seconds of a worker per share."""
    batch_seconds: float
    """Seconds of the driver per batch."""


def seconds(ingest: Ingest, workers: int, cores: float) -> float:
    """Seconds from the start of the first share until the last batch is stored.

    Args:
        ingest: the work.
        workers: number of workers.
        cores: total capacity in cores; infinite: each worker has its own core.
    """
    clock = 0.0
    working: dict[int, float] = {}
    """Seconds of work left, by share."""
    prepared: set[int] = set()
    taken = stored = 0
    storing: float | None = None
    while stored < ingest.shares:
        while taken < ingest.shares and len(working) < workers and taken - stored < WAITING * workers + 1:
            working[taken] = ingest.share_seconds
            taken += 1
        if storing is None and stored in prepared:
            storing = ingest.batch_seconds
        left = [*working.values(), *([] if storing is None else [storing])]
        pace = min(1.0, cores / len(left))
        done = min(left)
        clock += done / pace
        working = {share: work - done for share, work in working.items()}
        prepared |= {share for share, work in working.items() if work <= 0}
        working = {share: work for share, work in working.items() if work > 0}
        if storing is not None:
            storing -= done
            if storing <= 0:
                storing, stored = None, stored + 1
    return clock


def most_workers(ingest: Ingest) -> float:
    """Number of workers beyond which the driver is the bottleneck, if each worker has its own core."""
    return ingest.share_seconds / ingest.batch_seconds
