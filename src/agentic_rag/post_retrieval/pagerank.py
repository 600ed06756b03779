"""Personalised PageRank: how often a walk over links, that now and then starts again, visits each place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Walk:
    """Where a walk has been."""

    visits: Floats
    """Of each place, shape (places,), at least 0, sum 1."""
    converged: bool
    """False where it was cut off first."""


def personalised_pagerank(
    ties: Mapping[tuple[int, int], float],
    restart: Floats,
    *,
    damping_factor: float = 0.85,
    max_iterations: int = 100,
    convergence_threshold: float = 1e-6,
) -> Walk:
    """The stationary visits ``r = d · (Pᵀ r + m · s) + (1 - d) · s`` by power iteration from ``s``.

    ``P`` moves along ties in proportion to their weights, ``s`` is where the walk starts again, ``m`` the
    share of visits at places without a tie.

    Args:
        ties: weight > 0 of each pair of places; a pair stands for both directions.
        restart: shares of the starts, shape (places,), at least 0; all 0 means all alike.
        damping_factor: d, in [0, 1).
        max_iterations: steps after which the walk is cut off.
        convergence_threshold: it ends when the visits of a step differ by less than this from the last, in sum.

    Source: Page, Brin, Motwani, Winograd, The PageRank Citation Ranking, 1999, section 6; Haveliwala,
    Topic-Sensitive PageRank, WWW 2002.
    """
    places = len(restart)
    if places == 0:
        return Walk(np.zeros(0), converged=True)
    start = restart / restart.sum() if restart.sum() > 0 else np.full(places, 1.0 / places)
    pairs = np.array(sorted(ties), dtype=np.intp).reshape(-1, 2)
    weights = np.array([ties[pair] for pair in sorted(ties)], dtype=np.float64)
    origins = np.concatenate([pairs[:, 0], pairs[:, 1]])
    targets = np.concatenate([pairs[:, 1], pairs[:, 0]])
    both = np.concatenate([weights, weights])
    leaving = np.bincount(origins, weights=both, minlength=places)
    shares = both / leaving[origins]
    lonely = leaving == 0
    visits = start
    for _ in range(max_iterations):
        moved = np.bincount(targets, weights=visits[origins] * shares, minlength=places)
        after = damping_factor * (moved + visits[lonely].sum() * start) + (1 - damping_factor) * start
        change = float(np.abs(after - visits).sum())
        visits = after
        if change < convergence_threshold:
            return Walk(visits, converged=True)
    return Walk(visits, converged=False)
