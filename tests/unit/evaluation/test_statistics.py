"""Intervals and tests: hand-computed exact values, seeded random numbers."""

from itertools import product
from typing import Any

import numpy as np
import pytest
import scipy.stats

from agentic_rag.errors import InputError
from agentic_rag_lab.evaluation.statistics import bootstrap_interval, holm, randomisation_test, roc_area


def test_the_interval_holds_the_mean_and_is_seeded():
    values = np.random.default_rng(1).random(200).tolist()
    interval = bootstrap_interval(values)
    assert interval.value == pytest.approx(sum(values) / 200)
    assert interval.low < interval.value < interval.high
    assert bootstrap_interval(values) == interval


def test_the_interval_agrees_with_scipy():
    values = np.random.default_rng(2).beta(0.5, 0.5, 300)
    theirs = scipy.stats.bootstrap(
        (values,), np.mean, method="percentile", rng=np.random.default_rng(3)
    ).confidence_interval
    ours = bootstrap_interval(values.tolist())
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), abs=0.004)


def test_equal_values_have_no_width():
    assert bootstrap_interval([1.0] * 5 + [0.0] * 2, kinds=[1] * 5 + [0] * 2) == (5 / 7, 5 / 7, 5 / 7)
    assert bootstrap_interval([0.5] * 7) == (0.5, 0.5, 0.5)


def test_many_values_are_resampled_in_pieces():
    interval = bootstrap_interval([0.0, 1.0] * 5_000, samples=1_000)
    assert 0.48 < interval.low < 0.5 < interval.high < 0.52


def test_the_exact_p_value_by_hand():
    first, second = [0.9, 0.8, 0.3, 0.5], [0.1, 0.3, 0.4, 0.5]
    differences = [a - b for a, b in zip(first, second, strict=True)]
    observed = abs(sum(differences))
    swaps = list(product([1, -1], repeat=4))
    extreme = sum(
        abs(sum(s * d for s, d in zip(signs, differences, strict=True))) >= observed - 1e-12
        for signs in swaps
    )
    assert randomisation_test(first, second) == extreme / len(swaps)
    assert randomisation_test(second, first) == extreme / len(swaps)


def test_sampling_agrees_with_scipy():
    rng = np.random.default_rng(4)
    first = rng.random(60)
    second = first - rng.normal(0.05, 0.2, 60)
    theirs = scipy.stats.permutation_test(
        (first, second), lambda a, b, axis: np.mean(a - b, axis=axis), permutation_type="samples",
        vectorized=True, n_resamples=50_000, rng=np.random.default_rng(5),
    ).pvalue  # fmt: skip
    assert randomisation_test(first.tolist(), second.tolist()) == pytest.approx(theirs, abs=0.01)


def test_equal_systems_do_not_differ_and_different_ones_never_get_zero():
    assert randomisation_test([0.5, 0.2], [0.5, 0.2]) == 1.0
    assert randomisation_test([1.0] * 50, [0.0] * 50, samples=999) == 2 / 1000
    assert randomisation_test([0.5, 0.2], [0.5, 0.1]) == 1.0


def test_holm_by_hand():
    adjusted = holm({"x": 0.04, "y": 0.01, "z": 0.03, "w": 0.5})
    assert adjusted == pytest.approx({"x": 3 * 0.03, "y": 4 * 0.01, "z": 3 * 0.03, "w": 1 * 0.5})
    assert list(adjusted) == ["x", "y", "z", "w"]
    assert holm({"a": 0.7, "b": 0.9}) == {"a": 1.0, "b": 1.0}
    assert holm({}) == {}


def test_the_roc_area_by_hand():
    positive, negative = [0.9, 0.5, 0.5], [0.5, 0.1]
    wins = [1.0 if p > n else 0.5 if p == n else 0.0 for p in positive for n in negative]
    assert roc_area(positive, negative).value == pytest.approx(sum(wins) / 6)
    assert roc_area(negative, positive).value == pytest.approx(1 - sum(wins) / 6)
    assert roc_area([2.0, 3.0], [1.0, 0.0]) == (1.0, 1.0, 1.0)
    assert roc_area([1.0], [1.0]) == (0.5, 0.5, 0.5)


def test_the_roc_area_agrees_with_scipy_and_its_interval_with_plain_resampling():
    rng = np.random.default_rng(6)
    positive, negative = np.round(rng.normal(0.6, 0.2, 90), 2), np.round(rng.normal(0.5, 0.2, 40), 2)
    ours = roc_area(positive.tolist(), negative.tolist())
    theirs = scipy.stats.mannwhitneyu(positive, negative).statistic / (90 * 40)
    assert ours.value == pytest.approx(theirs)
    areas = [
        scipy.stats.mannwhitneyu(rng.choice(positive, 90), rng.choice(negative, 40)).statistic / (90 * 40)
        for _ in range(2_000)
    ]
    assert (ours.low, ours.high) == pytest.approx(tuple(np.quantile(areas, [0.025, 0.975])), abs=0.015)
    assert roc_area(positive.tolist(), negative.tolist()) == ours


@pytest.mark.parametrize(
    "call",
    [
        lambda: bootstrap_interval([]),
        lambda: bootstrap_interval([float("nan")]),
        lambda: bootstrap_interval([1.0], samples=0),
        lambda: randomisation_test([1.0], [1.0, 2.0]),
        lambda: randomisation_test([], []),
        lambda: randomisation_test([1.0], [0.0], samples=0),
        lambda: holm({"a": 1.5}),
        lambda: roc_area([], [1.0]),
        lambda: roc_area([1.0], []),
        lambda: roc_area([1.0], [float("inf")]),
    ],
)
def test_bad_input_is_refused(call: Any):
    with pytest.raises(InputError):
        call()
