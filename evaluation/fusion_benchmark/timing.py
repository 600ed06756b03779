"""Each system in turn, round after round, on the same lists."""

from __future__ import annotations

import gc
import time
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from fusion_benchmark.systems import Prepared


class Times(NamedTuple):
    """Milliseconds of one system at one size."""

    p50: float
    p95: float


def timed(systems: Mapping[str, Prepared], rounds: int) -> dict[str, Times]:
    """Median and 95th percentile of ``rounds`` calls each, each after a call that does not count.

    The uncounted call fills the processor's caches and the interpreter's free lists after the other systems'
    calls. The garbage collector runs as in any program, but objects from before the measurement are frozen:
    otherwise a system that allocates objects would pay for traversing those of every compared library.
    """
    taken: dict[str, list[float]] = {name: [] for name in systems}
    gc.collect()
    gc.freeze()
    for _ in range(rounds):
        for name, system in systems.items():
            warm, given = system.fresh(), system.fresh()
            gc.collect()
            system.fuse(warm)
            started = time.perf_counter()
            found = system.fuse(given)
            taken[name].append((time.perf_counter() - started) * 1e3)
            del found
    gc.unfreeze()
    return {
        name: Times(float(np.percentile(values, 50)), float(np.percentile(values, 95)))
        for name, values in taken.items()
    }
