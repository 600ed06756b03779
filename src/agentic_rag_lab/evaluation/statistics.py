"""Evaluation, the statistics: confidence intervals and significance tests of means over queries.

All random numbers come from one seed, so the same values give the same result.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.stats import bootstrap, permutation_test, rankdata

from agentic_rag.errors import InputError

Numbers = NDArray[np.float64]
Name = TypeVar("Name", bound=Hashable)
LEVEL, SEED = 0.95, 0
"""Coverage of all intervals; seed of all random numbers."""
_CELLS = 4_000_000
"""Maximum number of values held in resampling (32 MB)."""


class Interval(NamedTuple):
    """A mean and the bounds of its confidence interval."""

    value: float
    low: float
    high: float


class PairedTest(NamedTuple):
    """The probability of a difference at least as large by chance, for this test alone and after Holm's correction."""

    p: float
    p_holm: float


def bootstrap_interval(
    values: Sequence[float],
    *,
    kinds: Sequence[float] | None = None,
    samples: int = 10_000,
) -> Interval:
    """95 % percentile bootstrap interval of the mean over queries.

    For the interval of a difference, pass the paired differences.

    Args:
        values: one per query.
        kinds: stratum of each query; each stratum is resampled with its own size. None: one stratum.
        samples: number of resamples of the queries, with replacement.

    Raises:
        InputError: no values, one that is not finite, or samples below 1.

    Source: Efron, Tibshirani, An Introduction to the Bootstrap, 1993, chapter 13; Sakai, SIGIR 2006.
    """
    data = _finite(values, "values")
    of_kind = np.zeros(data.size) if kinds is None else np.asarray(kinds)
    strata = [data[of_kind == kind] for kind in np.unique(of_kind)]

    def mean(*sample: Numbers, axis: int) -> Numbers:
        sums = [part.mean(axis) * own.size for part, own in zip(sample, strata, strict=True)]
        return np.asarray(np.sum(sums, axis=0) / data.size)

    return _bootstrap(strata, mean, samples)


def randomisation_test(first: Sequence[float], second: Sequence[float], *, samples: int = 20_000) -> float:
    """Two-sided p-value of "both systems are equally good", by swapping their values query by query.

    If ``samples`` covers every pattern of swaps (up to 14 queries that differ), p is exact; otherwise the rarer tail,
    observed value included, counts twice, so that p is never 0.

    Args:
        first, second: one value per query, in the same order.
        samples: number of random patterns if not all are tried.

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
    if differences.size < 2:  # both patterns have the same distance from 0
        return 1.0
    test = permutation_test(
        (differences,),
        np.mean,
        permutation_type="samples",
        vectorized=True,
        n_resamples=samples,
        batch=max(1, _CELLS // differences.size),
        rng=np.random.default_rng(SEED),
    )
    return float(test.pvalue)


def holm(p_values: Mapping[Name, float]) -> dict[Name, float]:
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
    adjusted: dict[Name, float] = {}
    highest = 0.0
    for rank, name in enumerate(sorted(p_values, key=p_values.__getitem__)):  # equal p-values stay equal
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[name]))
        adjusted[name] = highest
    return {name: adjusted[name] for name in p_values}


def paired_tests(pairs: Mapping[Name, tuple[Sequence[float], Sequence[float]]]) -> dict[Name, PairedTest]:
    """``randomisation_test`` of each pair of systems, with ``holm`` over all of them."""
    p_values = {name: randomisation_test(*pair) for name, pair in pairs.items()}
    adjusted = holm(p_values)
    return {name: PairedTest(p_values[name], adjusted[name]) for name in pairs}


def area_under_roc(positive: Sequence[float], negative: Sequence[float]) -> float:
    """Probability that a positive scores above a negative, ties one half; ``roc_area`` without the interval.

    Raises:
        InputError: no values on one side, or one that is not finite.
    """
    return float(_area(_finite(positive, "positive"), _finite(negative, "negative")))


def roc_area(positive: Sequence[float], negative: Sequence[float]) -> Interval:
    """Area under the ROC curve: probability that a positive scores above a negative, ties one half.

    0.5 is chance, 1 a perfect order. The interval is a 95 % percentile bootstrap of 2,000 resamples; positives and
    negatives are resampled separately.

    Args:
        positive, negative: scores, higher for what should be positive.

    Raises:
        InputError: no values on one side, or one that is not finite.

    Source: Hanley, McNeil, The Meaning and Use of the Area under a ROC Curve, 1982.
    """
    sides = [_finite(positive, "positive"), _finite(negative, "negative")]
    return _bootstrap(sides, _area, 2_000)


def _area(positive: Numbers, negative: Numbers, axis: int = -1) -> Numbers:
    ups, downs = positive.shape[axis], negative.shape[axis]
    ranks = rankdata(np.concatenate([positive, negative], axis), axis=axis)
    return (ranks.take(range(ups), axis).sum(axis) - ups * (ups + 1) / 2) / (ups * downs)  # type: ignore[no-any-return]


def _bootstrap(parts: Sequence[Numbers], statistic: Callable[..., Numbers], samples: int) -> Interval:
    """The percentile interval of a statistic; each part is resampled separately."""
    _check_samples(samples)
    interval = bootstrap(
        [np.repeat(part, 2) if part.size == 1 else part for part in parts],  # scipy refuses a single value
        statistic,
        n_resamples=samples,
        batch=max(1, _CELLS // sum(part.size for part in parts)),
        vectorized=True,
        confidence_level=LEVEL,
        method="percentile",
        rng=np.random.default_rng(SEED),
    ).confidence_interval
    return Interval(float(statistic(*parts, axis=-1)), float(interval.low), float(interval.high))


def _finite(values: Sequence[float], name: str) -> Numbers:
    data = np.asarray(values, dtype=np.float64)
    if data.ndim != 1 or data.size == 0 or not np.isfinite(data).all():
        raise InputError(
            f"{name} are {data.size} values in {data.ndim} dimensions; give a list of finite numbers"
        )
    return data


def _check_samples(samples: int) -> None:
    if samples < 1:
        raise InputError(f"samples is {samples!r}; give a whole number of at least 1")
