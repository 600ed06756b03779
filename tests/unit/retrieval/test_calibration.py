"""Calibration: relevance in [0, 1] that moves the way the evidence does."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentic_rag.retrieval.calibration import (
    BM25_CAP,
    BM25_UNIT,
    COSINE_UNIT,
    LEAST_CHUNKS,
    SCRIPT_PAIRS,
    Calibration,
    Coefficients,
    Evidence,
    bm25_level,
    script_pair,
)
from agentic_rag.retrieval.embedding_calibration import fitted_calibration
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
        replace(FOUND, best_bm25=2 * math.log(1 + (n - 0.5) / 1.5), chunks=n) for n in (30, LEAST_CHUNKS)
    )
    assert (few.best_bm25 or 0.0) < 0.63 * (many.best_bm25 or 0.0)
    assert bm25_level(few) == pytest.approx(bm25_level(many), rel=0.05)


@pytest.mark.parametrize("chunks", [None, LEAST_CHUNKS, 10_000])
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


@settings(max_examples=200, deadline=None)
@given(EVIDENCE)
def test_relevance_lies_between_0_and_1_whatever_is_said(evidence: Evidence):
    assert 0 <= SHIPPED.relevance(evidence) <= 1
