"""Probabilities and log-odds: evidence adds up in log-odds, people and thresholds read probabilities."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

MIN_PROBABILITY = 1e-6
"""Probabilities nearer to 0 or 1 than this count as so near."""
MAX_ODDS = 60.0


def log_odds(probability: float) -> float:
    """``ln(p / (1 - p))``, finite for any p in [0, 1]."""
    bounded = min(1.0 - MIN_PROBABILITY, max(MIN_PROBABILITY, probability))
    return math.log(bounded / (1.0 - bounded))


def probability(odds: float) -> float:
    """The logistic function: log-odds, however large, to [0, 1]."""
    return 1.0 / (1.0 + math.exp(-max(-MAX_ODDS, min(MAX_ODDS, odds))))


def probabilities(odds: NDArray[np.float64]) -> NDArray[np.float64]:
    """``probability`` of each, of any shape."""
    each: NDArray[np.float64] = 1.0 / (1.0 + np.exp(-np.clip(odds, -MAX_ODDS, MAX_ODDS)))
    return each
