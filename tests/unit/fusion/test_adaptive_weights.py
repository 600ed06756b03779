"""Weights that follow how telling the start of the graph's walk is."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_rag.fusion import adapted_weights
from agentic_rag.fusion.adaptive_weights import EVEN, STEEPNESS

WEIGHTS = st.floats(1e-6, 1)
TELLING = st.floats(0, 1)


@pytest.mark.parametrize(
    ("weights", "telling"),
    [((0.3, 0.7), 1.0), ((0.7, 0.3), 0.0), ((1.0, 1.0), 0.25), ((0.5, 0.25), 0.9)],
)
def test_the_graphs_odds_grow_by_the_steepness_times_how_telling_the_start_is(
    weights: tuple[float, float], telling: float
):
    graph, vector = adapted_weights(weights, telling)
    expected = weights[0] / weights[1] * math.e ** (STEEPNESS * (telling - EVEN))
    assert graph / vector == pytest.approx(expected)


def test_the_numbers_of_the_design():
    assert (STEEPNESS, EVEN) == (4.0, 0.57)
    told = {
        0.0: (0.041995, 0.958005),
        0.3: (0.127050, 0.872950),
        0.57: (0.3, 0.7),
        1.0: (0.705308, 0.294692),
    }
    for telling, weights in told.items():
        assert adapted_weights((0.3, 0.7), telling) == pytest.approx(weights, abs=1e-6)


@given(WEIGHTS, WEIGHTS)
def test_at_even_the_weights_are_as_they_are(graph: float, vector: float):
    assert adapted_weights((graph, vector), EVEN) == pytest.approx((graph, vector))


@given(WEIGHTS, WEIGHTS, TELLING)
def test_the_sum_is_kept_and_neither_source_is_left_out(graph: float, vector: float, telling: float):
    adapted = adapted_weights((graph, vector), telling)
    assert sum(adapted) == pytest.approx(graph + vector)
    assert min(adapted) > 0


def test_weights_however_far_apart_stay_numbers():
    assert adapted_weights((1.0, 1e-310), 1.0) == pytest.approx((1.0, 0.0))


@pytest.mark.parametrize("weights", [(0.0, 1.0), (1.0, 0.0), (0.0, 0.0)])
@given(telling=TELLING)
def test_a_source_that_is_left_out_stays_so(weights: tuple[float, float], telling: float):
    assert adapted_weights(weights, telling) == weights


@given(st.floats(0.01, 1), st.floats(0.01, 1), TELLING, TELLING)
def test_the_more_telling_the_more_the_graph_weighs(graph: float, vector: float, one: float, other: float):
    less, more = sorted((one, other))
    before, after = (adapted_weights((graph, vector), telling)[0] for telling in (less, more))
    assert before < after if more - less > 1e-9 else before <= after
