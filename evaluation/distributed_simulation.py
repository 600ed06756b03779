"""How long an ingest takes on a cluster, by simulation: workers prepare shares, the driver stores them in their order.

A share is worked on by one worker, a batch (one a share) is stored by the driver, each a number of seconds on a core that
nobody else uses. Whoever works shares the cores evenly. A worker takes no share where too many are prepared or begun and
not yet stored, as Ray Data keeps back what comes faster than it is stored.
"""

from __future__ import annotations

from dataclasses import dataclass

WAITING = 2
"""Shares a worker that may be under way or wait for the driver. Ray Data bounds the bytes, which are more."""


@dataclass(frozen=True)
class Ingest:
    """Measured of one worker."""

    shares: int
    share_seconds: float
    """A worker's, for a share."""
    batch_seconds: float
    """The driver's, for a batch."""


def seconds(ingest: Ingest, workers: int, cores: float) -> float:
    """From the first share begun to the last batch stored.

    Args:
        ingest: what there is to do.
        workers: on how many machines, or on this one.
        cores: how many cores' work all of them can do together; infinite: each has a core of its own.
    """
    clock = 0.0
    working: dict[int, float] = {}
    """By share, seconds of work left."""
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
    """With more workers than that, each with a core of its own, the driver is the slowest part."""
    return ingest.share_seconds / ingest.batch_seconds
