"""Evaluation, the doubt: how far a mean over queries could be chance.

Every random draw comes from a seed, so the same values give the same answer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from agentic_rag.errors import InputError

_CELLS = 4_000_000
"""Values held at once while resampling (32 MB)."""
_EXACT = 16
"""Up to this many differing pairs all sign patterns are tried: 65,536."""


class Interval(NamedTuple):
    """A mean and the bounds of its confidence interval."""

    value: float
    low: float
    high: float


def bootstrap_interval(
    values: Sequence[float],
    *,
    kinds: Sequence[float] | None = None,
    samples: int = 10_000,
    level: float = 0.95,
    seed: int = 0,
) -> Interval:
    """Percentile bootstrap interval of the mean over queries.

    For the interval of a difference give the paired differences.

    Args:
        values: one per query.
        kinds: what each query is; as many of each kind are drawn as there are. None: all are one kind.
        samples: resamples of the queries, with replacement.
        level: coverage, between 0 and 1.
        seed: of the draws.

    Raises:
        InputError: no values, one that is not finite, samples below 1 or a level outside (0, 1).

    Source: Efron, Tibshirani, An Introduction to the Bootstrap, 1993, chapter 13; Sakai, SIGIR 2006.
    """
    data = _finite(values, "values")
    _check_samples(samples)
    _check_level(level)
    apart = np.zeros(data.size) if kinds is None else np.asarray(kinds)
    strata = [data[apart == kind] for kind in np.unique(apart)]
    rng = np.random.default_rng(seed)
    means = np.empty(samples)
    step = max(1, _CELLS // data.size)
    for start in range(0, samples, step):
        count = min(step, samples - start)
        drawn = [own[rng.integers(0, own.size, size=(count, own.size))] for own in strata]
        means[start : start + count] = np.concatenate(drawn, axis=1).mean(axis=1)
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(data.mean()), float(low), float(high))


def randomisation_test(
    first: Sequence[float], second: Sequence[float], *, samples: int = 100_000, seed: int = 0
) -> float:
    """Two-sided p-value of "both systems are equally good", by swapping their values query by query.

    With up to 16 queries that differ, every pattern of swaps is tried and p is exact; otherwise
    ``p = (1 + #{|mean swapped| ≥ |mean observed|}) / (1 + samples)``, which is never 0.

    Args:
        first, second: one value per query, in the same order.
        samples: random patterns where not all are tried.
        seed: of the draws.

    Raises:
        InputError: different lengths, no values, one that is not finite, or samples below 1.

    Source: Smucker, Allan, Carterette, A Comparison of Statistical Significance Tests for Information
    Retrieval Evaluation, CIKM 2007.
    """
    left, right = _finite(first, "first"), _finite(second, "second")
    if left.size != right.size:
        raise InputError(f"{left.size} values against {right.size}; a paired test needs one pair per query")
    _check_samples(samples)
    differences = left - right
    differences = differences[differences != 0]
    if differences.size == 0:
        return 1.0
    observed = abs(differences.sum())
    bar = observed - 1e-12 * max(1.0, float(np.abs(differences).sum()))
    if differences.size <= _EXACT:
        patterns = np.arange(2**differences.size)[:, None] >> np.arange(differences.size)
        sums = (1 - 2 * (patterns & 1)) @ differences
        return float((np.abs(sums) >= bar).mean())
    rng = np.random.default_rng(seed)
    extreme = 0
    step = max(1, _CELLS // differences.size)
    for start in range(0, samples, step):
        count = min(step, samples - start)
        signs = rng.integers(0, 2, size=(count, differences.size), dtype=np.int8) * 2 - 1
        extreme += int((np.abs(signs @ differences) >= bar).sum())
    return (1 + extreme) / (1 + samples)


def holm(p_values: Mapping[str, float]) -> dict[str, float]:
    """Holm's adjusted p-values, by name: each can be held against the level as if it were the only one.

    With m tests in ascending order, ``adjusted_i = max_{j ≤ i} min(1, (m - j + 1) · p_j)``, j from 1.

    Raises:
        InputError: a value outside [0, 1].

    Source: Holm, A Simple Sequentially Rejective Multiple Test Procedure, 1979.

    >>> holm({"a": 0.01, "b": 0.04, "c": 0.03})
    {'a': 0.03, 'b': 0.06, 'c': 0.06}
    """
    for name, p_value in p_values.items():
        if not 0 <= p_value <= 1:
            raise InputError(f"p-value of {name!r} is {p_value!r}; it lies between 0 and 1")
    adjusted: dict[str, float] = {}
    highest = 0.0
    for rank, name in enumerate(sorted(p_values, key=lambda name: (p_values[name], name))):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[name]))
        adjusted[name] = highest
    return {name: adjusted[name] for name in p_values}


def area_under_roc(positive: Sequence[float], negative: Sequence[float]) -> float:
    """How often a positive lies above a negative, ties one half; ``roc_area`` without the interval.

    Raises:
        InputError: no values on one side, or one that is not finite.
    """
    return float(_area(*(counts[None] for counts in _counts(positive, negative)))[0])


def roc_area(
    positive: Sequence[float],
    negative: Sequence[float],
    *,
    samples: int = 2_000,
    level: float = 0.95,
    seed: int = 0,
) -> Interval:
    """Area under the ROC curve: how often a positive lies above a negative, ties one half.

    0.5 is chance, 1 a perfect order. The interval is a percentile bootstrap that resamples positives and
    negatives each among themselves.

    Args:
        positive, negative: scores, higher for what should be positive.
        samples: resamples.
        level: coverage, between 0 and 1.
        seed: of the draws.

    Raises:
        InputError: no values on one side, one that is not finite, samples below 1 or a level outside (0, 1).

    Source: Hanley, McNeil, The Meaning and Use of the Area under a ROC Curve, 1982.
    """
    ups, downs = _counts(positive, negative)
    _check_samples(samples)
    _check_level(level)
    rng = np.random.default_rng(seed)
    areas = np.empty(samples)
    step = max(1, _CELLS // ups.size)
    for start in range(0, samples, step):
        count = min(step, samples - start)
        drawn = [rng.multinomial(side.sum(), side / side.sum(), size=count) for side in (ups, downs)]
        areas[start : start + count] = _area(*drawn)
    low, high = np.quantile(areas, [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(_area(ups[None], downs[None])[0]), float(low), float(high))


def _counts(
    positive: Sequence[float], negative: Sequence[float]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """How many positives and how many negatives there are at each value, in ascending order."""
    above, below = _finite(positive, "positive"), _finite(negative, "negative")
    values, places = np.unique(np.concatenate([above, below]), return_inverse=True)
    return (
        np.bincount(places[: above.size], minlength=values.size),
        np.bincount(places[above.size :], minlength=values.size),
    )


def _area(ups: NDArray[np.int64], downs: NDArray[np.int64]) -> NDArray[np.float64]:
    """Areas from counts at each value in ascending order, shape (samples, values)."""
    below = np.cumsum(downs, axis=1) - downs
    pairs = ups.sum(axis=1) * downs.sum(axis=1)
    area: NDArray[np.float64] = (ups * (below + downs / 2)).sum(axis=1) / pairs
    return area


def _finite(values: Sequence[float], name: str) -> NDArray[np.float64]:
    data = np.asarray(values, dtype=np.float64)
    if data.ndim != 1 or data.size == 0 or not np.isfinite(data).all():
        raise InputError(
            f"{name} are {data.size} values in {data.ndim} dimensions; give a list of finite numbers"
        )
    return data


def _check_samples(samples: int) -> None:
    if samples < 1:
        raise InputError(f"samples is {samples!r}; give a whole number of at least 1")


def _check_level(level: float) -> None:
    if not 0 < level < 1:
        raise InputError(f"level is {level!r}; give a coverage between 0 and 1, such as 0.95")
