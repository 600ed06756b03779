"""Whether work grows linearly or quadratically with its input, by processor time, which other load does not change."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable

STEP = 4
"""How much longer the second text is: linear work takes 4 times as long, quadratic 16 times."""
NOISE_SECONDS = 0.2


TRIES = 3
"""A processor that is shared slows one run or the other; quadratic work is too slow in every try."""


def assert_linear(work: Callable[[str], object], piece: str, length: int = 50_000) -> None:
    """``work`` on ``piece`` repeated to ``length`` characters, and to four times as many."""
    tries = []
    for _ in range(TRIES):
        long = _spent(work, piece * (STEP * length // len(piece)))
        if long < NOISE_SECONDS:
            return
        short = _spent(work, piece * (length // len(piece)))
        if long < 2 * STEP * short + NOISE_SECONDS:
            return
        tries.append((short, long))
    raise AssertionError(f"{tries} s for {piece!r}")


def _spent(work: Callable[[str], object], text: str) -> float:
    gc.disable()  # it goes through all that other tests have left, the longer the work the more often
    try:
        before = time.process_time()
        work(text)
        return time.process_time() - before
    finally:
        gc.enable()
