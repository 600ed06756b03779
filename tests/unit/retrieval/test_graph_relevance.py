"""Relevance by the graph alone: the formula, and which way it moves."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_rag.retrieval.embedding_calibration import fitted_calibration
from agentic_rag.retrieval.graph_relevance import FACTS, FEWEST_VISITS, GraphRelevance

PLAIN = GraphRelevance(intercept=-1.0, telling=2.0, visits=0.5)
SHIPPED = fitted_calibration().graph
SHARE = st.floats(FEWEST_VISITS, 1.0)
TELLING = st.floats(0.01, 1.0)


@pytest.mark.parametrize(
    ("visits", "telling", "logit"),
    [
        (1.0, 1.0, -1.0 + 2.0),
        (math.exp(-2), 1.0, -1.0 + 2.0 - 1.0),
        (1.0, 0.5, -1.0 + 1.0),
        (math.exp(-2), 0.5, -1.0 + 1.0 - 0.5),
        (math.exp(-4), 0.25, -1.0 + 0.5 - 0.5),
    ],
)
def test_log_odds_are_a_sum(visits: float, telling: float, logit: float):
    assert PLAIN.logit(visits, telling) == pytest.approx(logit)
    assert PLAIN.relevance(visits, telling) == pytest.approx(1 / (1 + math.exp(-logit)))


def test_what_is_hardly_visited_counts_as_the_fewest_visits():
    assert PLAIN.logit(FEWEST_VISITS / 50, 1.0) == PLAIN.logit(0.0, 1.0) == PLAIN.logit(FEWEST_VISITS, 1.0)
    assert PLAIN.logit(FEWEST_VISITS, 1.0) < PLAIN.logit(2 * FEWEST_VISITS, 1.0)


@given(SHARE, SHARE, TELLING)
def test_more_visits_are_never_less_relevant(one: float, other: float, telling: float):
    fewer, more = sorted([one, other])
    assert 0.0 <= SHIPPED.relevance(fewer, telling) <= SHIPPED.relevance(more, telling) <= 1.0


@given(TELLING, TELLING)
def test_a_more_telling_name_makes_what_it_leads_to_more_relevant(one: float, other: float):
    less, more = sorted([one, other])
    assert SHIPPED.relevance(1.0, less) <= SHIPPED.relevance(1.0, more)


@given(SHARE, SHARE, TELLING, TELLING)
def test_a_more_telling_name_tells_near_and_far_further_apart(a: float, b: float, c: float, d: float):
    (fewer, more), (less, telling) = sorted([a, b]), sorted([c, d])
    gaps = [SHIPPED.logit(more, t) - SHIPPED.logit(fewer, t) for t in (less, telling)]
    assert gaps[0] <= gaps[1] + 1e-9


def test_the_shipped_numbers_call_near_relevant_and_far_irrelevant():
    assert SHIPPED.relevance(1.0, 1.0) > SHIPPED.relevance(1.0, FACTS) > 0.5
    assert SHIPPED.relevance(0.01, 1.0) < 0.2
    assert SHIPPED.relevance(0.01, FACTS) < 0.5
