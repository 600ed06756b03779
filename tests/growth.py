"""Does work grow with its input, or with the square of it? Told from processor time, which company does not change."""

from __future__ import annotations

import time
from collections.abc import Callable

STEP = 4
"""How much longer the second text is: linear work takes 4 times as long, quadratic 16 times."""
NOISE_SECONDS = 0.2


def assert_linear(work: Callable[[str], object], piece: str, length: int = 75_000) -> None:
    """``work`` on ``piece`` repeated to ``length`` characters, and to four times as many."""
    spent = []
    for characters in (length, STEP * length):
        text = piece * (characters // len(piece))
        before = time.process_time()
        work(text)
        spent.append(time.process_time() - before)
    assert spent[1] < 2 * STEP * spent[0] + NOISE_SECONDS, f"{spent} s for {piece!r}"
