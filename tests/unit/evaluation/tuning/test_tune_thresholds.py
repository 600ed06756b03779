"""Thresholds: how many are refused, before and after."""

from __future__ import annotations

import numpy as np
import pytest

from agentic_rag.evaluation.tuning.thresholds import abstention_threshold, carried, rightness


def test_at_most_a_tenth_of_the_answerable_is_refused():
    confidences = np.linspace(0.05, 0.95, 30)
    threshold = abstention_threshold(confidences)
    assert (confidences < threshold).sum() == 3
    assert abstention_threshold(np.array([0.123456])) == 0.1234


def test_a_threshold_is_carried_to_another_scale():
    before = np.linspace(0.0, 1.0, 101)[:-1]
    after = before / 2
    assert (before < 0.4).sum() == 40
    threshold = carried(0.4, before, after)
    assert (after < threshold).sum() == 40
    assert carried(0.4, before, before + 0.01) == 0.4, "as good as the same"


def test_a_threshold_that_refuses_nobody_goes_on_doing_so():
    before, after = np.full(20, 0.9), np.linspace(0.1, 0.9, 20)
    assert carried(0.42, before, after) == pytest.approx(0.1)


def test_both_kinds_count_alike():
    answerable = np.array([1.0, 1.0, 1.0, 0.0])
    assert rightness(np.array([0.9, 0.9, 0.9, 0.9]), answerable, 0.5).mean() == pytest.approx(0.5)
    assert rightness(np.array([0.1, 0.1, 0.1, 0.1]), answerable, 0.5).mean() == pytest.approx(0.5)
    assert rightness(np.array([0.9, 0.9, 0.1, 0.1]), answerable, 0.5).mean() == pytest.approx((2 / 3 + 1) / 2)
    each = np.array([0.95, 0.5, 0.05, 0.5])
    assert rightness(np.array([0.9, 0.9, 0.1, 0.1]), answerable, each).mean() == pytest.approx(
        (2 / 3 + 1) / 2
    )
