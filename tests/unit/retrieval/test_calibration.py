"""Calibration: relevance is in [0, 1] and monotone in the evidence."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentic_rag.domain.ports import ScoredChunk
from agentic_rag.retrieval.calibration import (
    BM25_CAP,
    BM25_UNIT,
    COSINE_UNIT,
    MIN_CHUNKS,
    SCRIPT_PAIRS,
    Calibration,
    Coefficients,
    Evidence,
    bm25_level,
    gather_evidence,
    likeness,
    script_pair,
)
from agentic_rag.retrieval.embedding_calibration import fitted_calibration
from agentic_rag.retrieval.graph_engine import SPECIFICITY_OF_FACTS
from agentic_rag.retrieval.graph_relevance import FEWEST_VISITS, GraphRelevance
from agentic_rag.testing import fake_chunk
from agentic_rag.text import Script

LATIN: tuple[Script, Script] = ("latin", "latin")
SHIPPED = fitted_calibration().calibration
STEP = Coefficients({"latin": 0.0, "cjk": 1.0}, {"latin": 1.0, "cjk": 2.0}, 0.5, 0.0, 0.0)
PLAIN = Calibration(
    {"latin": 0.8, "cjk": 0.9, "latin_cjk": 0.7, "cjk_latin": 0.75},
    {"dense": STEP, "sparse": STEP, "hybrid": STEP},
    SHIPPED.sense,
)
FOUND = Evidence(0.85, 12.0, 0.9, 20.0, 0.7, LATIN)


def logistic(value: float) -> float:
    return float(1 / (1 + 2.718281828459045**-value))


@pytest.mark.parametrize(
    ("cosine", "scripts", "logit"),
    [
        (0.80, LATIN, 0.0),
        (0.80 + COSINE_UNIT, LATIN, 1.0),
        (0.80 - 2 * COSINE_UNIT, LATIN, -2.0),
        (0.90 + COSINE_UNIT, ("cjk", "cjk"), 1.0 + 2.0),
        (0.70 + COSINE_UNIT, ("latin", "cjk"), 1.0),
        (0.75 + COSINE_UNIT, ("cjk", "latin"), 1.0),
        (0.90, ("other", "cjk"), 1.0),
        (0.80, ("other", "other"), 0.0),
    ],
)
def test_a_cosine_is_read_from_its_scripts_centre(
    cosine: float, scripts: tuple[Script, Script], logit: float
):
    assert PLAIN.of_cosine(cosine, scripts) == pytest.approx(logistic(logit))


def test_below_the_best_counts_extra():
    evidence = Evidence(0.80, None, 0.80 + 2 * COSINE_UNIT, None, 0.7, LATIN)
    assert PLAIN.relevance(evidence) == pytest.approx(logistic(0.0 + 0.5 * -2))


def test_what_the_dense_leg_missed_lies_no_higher_than_its_last():
    missed = Evidence(None, 5.0, 0.8, 5.0, 0.8 - COSINE_UNIT, LATIN)
    assert PLAIN.relevance(missed) == pytest.approx(logistic(-1.0 + 0.5 * -1))


@pytest.mark.parametrize(
    ("pair", "expected"),
    [
        (("latin", "latin"), "latin"),
        (("cjk", "cjk"), "cjk"),
        (("latin", "cjk"), "latin_cjk"),
        (("cjk", "latin"), "cjk_latin"),
        (("other", "cjk"), "cjk"),
        (("latin", "other"), "latin"),
        (("other", "other"), "latin"),
    ],
)
def test_script_pairs(pair: tuple[Script, Script], expected: str):
    assert script_pair(pair) == expected


def test_the_shipped_models_cover_every_way_of_searching():
    assert set(SHIPPED.models) == {"dense", "sparse", "hybrid"}
    assert set(SHIPPED.centres) == set(SHIPPED.units) == set(SCRIPT_PAIRS)


def test_more_evidence_is_more_relevance():
    assert SHIPPED.relevance(replace(FOUND, cosine=0.9)) > SHIPPED.relevance(FOUND)
    assert SHIPPED.relevance(replace(FOUND, bm25=20.0)) > SHIPPED.relevance(FOUND)
    assert SHIPPED.relevance(FOUND) > SHIPPED.relevance(replace(FOUND, bm25=None))
    words = Evidence(None, 10.0, None, 20.0, None, LATIN)
    assert SHIPPED.relevance(replace(words, bm25=20.0)) > SHIPPED.relevance(words)


def test_the_words_of_a_small_dataset_say_as_much():
    """BM25 weighs a word that one of n chunks has by ln(1 + (n - .5) / 1.5)."""
    few, many = (
        replace(FOUND, best_bm25=2 * math.log(1 + (n - 0.5) / 1.5), chunks=n) for n in (30, MIN_CHUNKS)
    )
    assert (few.best_bm25 or 0.0) < 0.63 * (many.best_bm25 or 0.0)
    assert bm25_level(few) == pytest.approx(bm25_level(many), rel=0.05)


@pytest.mark.parametrize("chunks", [None, MIN_CHUNKS, 10_000])
def test_the_words_of_an_ordinary_dataset_are_taken_as_they_are(chunks: int | None):
    assert bm25_level(replace(FOUND, chunks=chunks)) == 20.0 / BM25_UNIT


@pytest.mark.parametrize("chunks", [0, 1, 2])
def test_a_dataset_of_a_chunk_or_two_has_a_level_too(chunks: int):
    assert 0.0 < bm25_level(replace(FOUND, best_bm25=0.3, chunks=chunks)) < bm25_level(FOUND)
    assert bm25_level(replace(FOUND, best_bm25=1e6, chunks=chunks)) == BM25_CAP / BM25_UNIT
    assert bm25_level(replace(FOUND, best_bm25=0.0, chunks=chunks)) == 0.0


EVIDENCE = st.builds(
    Evidence,
    cosine=st.none() | st.floats(-1, 1),
    bm25=st.none() | st.floats(0, 1e6),
    best_cosine=st.none() | st.floats(-1, 1),
    best_bm25=st.none() | st.floats(0, 1e6),
    worst_cosine=st.none() | st.floats(-1, 1),
    scripts=st.tuples(*[st.sampled_from(["latin", "cjk", "other"])] * 2),
    chunks=st.none() | st.integers(0, 10_000_000),
)


@settings(max_examples=200)
@given(EVIDENCE)
def test_relevance_lies_between_0_and_1_whatever_is_said(evidence: Evidence):
    assert 0 <= SHIPPED.relevance(evidence) <= 1


TEA, MILK = fake_chunk("tea", "Oolong tea."), fake_chunk("milk", "牛奶很甜")
EAST, NORTH = np.eye(2, dtype=np.float32)


def test_each_leg_says_what_it_found_and_its_best():
    legs = {"dense": [ScoredChunk(TEA, 0.9)], "sparse": [ScoredChunk(MILK, 4.0)]}
    found = gather_evidence("tea", legs)
    tea, milk = found["tea#0"], found["milk#0"]
    assert (tea.cosine, tea.bm25, tea.best_cosine, tea.best_bm25) == (0.9, None, 0.9, 4.0)
    assert (milk.cosine, milk.bm25, milk.worst_cosine) == (None, 4.0, 0.9)
    assert (tea.scripts, milk.scripts) == (("latin", "latin"), ("latin", "cjk"))
    assert tea.coverage is None


def test_a_vector_gives_the_cosine_that_the_dense_leg_left_out():
    legs = {"dense": [ScoredChunk(TEA, 0.9)], "sparse": [ScoredChunk(MILK, 4.0)]}
    found = gather_evidence("tea", legs, {"tea#0": EAST, "milk#0": NORTH}, EAST)
    assert found["milk#0"].cosine == 0.0
    assert found["tea#0"].cosine == 0.9, "what the leg itself says stays"


def test_a_leg_that_ran_and_found_nothing_is_evidence():
    found = gather_evidence("tea", {"dense": [ScoredChunk(TEA, 0.9)], "sparse": []})
    assert found["tea#0"].best_bm25 == 0.0
    alone = gather_evidence("oolong milk", {"sparse": [ScoredChunk(TEA, 2.0)]})
    assert (alone["tea#0"].best_cosine, alone["tea#0"].coverage) == (None, 0.5)
    assert gather_evidence("tea", {"dense": [], "sparse": []}) == {}


def test_the_size_of_the_dataset_goes_with_each_chunk():
    legs = {"sparse": [ScoredChunk(TEA, 2.0), ScoredChunk(MILK, 1.0)]}
    assert {found.chunks for found in gather_evidence("tea", legs, chunks=7).values()} == {7}
    assert gather_evidence("tea", legs)["tea#0"].chunks is None


def test_likeness_is_zero_for_the_likest_and_negative_for_the_rest():
    vectors = {"a": EAST, "b": EAST, "c": EAST, "d": NORTH}
    found = likeness({"a": 3.0, "b": 2.0, "c": 1.0, "d": 0.0}, vectors)
    assert found["a"] == found["b"] == found["c"] == 0.0
    assert found["d"] == pytest.approx(-1.0)
    assert likeness({}, {}) == {}


def test_likeness_compares_with_the_best_by_order_then_id():
    vectors = {"a": EAST, "b": EAST, "c": EAST, "d": NORTH, "e": NORTH, "f": NORTH}
    order = dict.fromkeys(vectors, 1.0)
    assert likeness(order, vectors)["a"] == 0.0
    assert likeness({**order, "d": 2.0, "e": 2.0, "f": 2.0}, vectors)["a"] == pytest.approx(-1.0)


PLAIN_WALK = GraphRelevance(intercept=-1.0, specificity=2.0, visits=0.5)
SHIPPED_WALK = fitted_calibration().graph
SHARE = st.floats(FEWEST_VISITS, 1.0)
TELLING = st.floats(0.01, 1.0)


@pytest.mark.parametrize(
    ("visits", "specificity", "logit"),
    [
        (1.0, 1.0, -1.0 + 2.0),
        (math.exp(-2), 1.0, -1.0 + 2.0 - 1.0),
        (1.0, 0.5, -1.0 + 1.0),
        (math.exp(-2), 0.5, -1.0 + 1.0 - 0.5),
        (math.exp(-4), 0.25, -1.0 + 0.5 - 0.5),
    ],
)
def test_log_odds_are_a_sum(visits: float, specificity: float, logit: float):
    assert PLAIN_WALK.logit(visits, specificity) == pytest.approx(logit)
    assert PLAIN_WALK.relevance(visits, specificity) == pytest.approx(1 / (1 + math.exp(-logit)))


def test_what_is_hardly_visited_counts_as_the_fewest_visits():
    assert (
        PLAIN_WALK.logit(FEWEST_VISITS / 50, 1.0)
        == PLAIN_WALK.logit(0.0, 1.0)
        == PLAIN_WALK.logit(FEWEST_VISITS, 1.0)
    )
    assert PLAIN_WALK.logit(FEWEST_VISITS, 1.0) < PLAIN_WALK.logit(2 * FEWEST_VISITS, 1.0)


@given(SHARE, SHARE, TELLING)
def test_more_visits_are_never_less_relevant(one: float, other: float, specificity: float):
    fewer, more = sorted([one, other])
    assert (
        0.0 <= SHIPPED_WALK.relevance(fewer, specificity) <= SHIPPED_WALK.relevance(more, specificity) <= 1.0
    )


@given(TELLING, TELLING)
def test_a_more_telling_name_makes_what_it_leads_to_more_relevant(one: float, other: float):
    less, more = sorted([one, other])
    assert SHIPPED_WALK.relevance(1.0, less) <= SHIPPED_WALK.relevance(1.0, more)


@given(SHARE, SHARE, TELLING, TELLING)
def test_a_more_telling_name_tells_near_and_far_further_apart(a: float, b: float, c: float, d: float):
    (fewer, more), (less, specificity) = sorted([a, b]), sorted([c, d])
    gaps = [SHIPPED_WALK.logit(more, t) - SHIPPED_WALK.logit(fewer, t) for t in (less, specificity)]
    assert gaps[0] <= gaps[1] + 1e-9


def test_the_shipped_numbers_call_near_relevant_and_far_irrelevant():
    assert SHIPPED_WALK.relevance(1.0, 1.0) > SHIPPED_WALK.relevance(1.0, SPECIFICITY_OF_FACTS) > 0.5
    assert SHIPPED_WALK.relevance(0.01, 1.0) < 0.2
    assert SHIPPED_WALK.relevance(0.01, SPECIFICITY_OF_FACTS) < 0.5
