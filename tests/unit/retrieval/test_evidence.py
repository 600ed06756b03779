"""What the legs say of each chunk, and how alike the chunks found are."""

from __future__ import annotations

import numpy as np
import pytest

from agentic_rag.domain.ports import ScoredChunk
from agentic_rag.retrieval.evidence import gathered, likeness
from agentic_rag.testing import fake_chunk

TEA, MILK = fake_chunk("tea", "Oolong tea."), fake_chunk("milk", "牛奶很甜")
EAST, NORTH = np.eye(2, dtype=np.float32)


def test_each_leg_says_what_it_found_and_its_best():
    legs = {"dense": [ScoredChunk(TEA, 0.9)], "sparse": [ScoredChunk(MILK, 4.0)]}
    found = gathered("tea", legs)
    tea, milk = found["tea#0"], found["milk#0"]
    assert (tea.cosine, tea.bm25, tea.best_cosine, tea.best_bm25) == (0.9, None, 0.9, 4.0)
    assert (milk.cosine, milk.bm25, milk.worst_cosine) == (None, 4.0, 0.9)
    assert (tea.scripts, milk.scripts) == (("latin", "latin"), ("latin", "cjk"))
    assert tea.coverage is None


def test_a_vector_gives_the_cosine_that_the_dense_leg_left_out():
    legs = {"dense": [ScoredChunk(TEA, 0.9)], "sparse": [ScoredChunk(MILK, 4.0)]}
    found = gathered("tea", legs, {"tea#0": EAST, "milk#0": NORTH}, EAST)
    assert found["milk#0"].cosine == 0.0
    assert found["tea#0"].cosine == 0.9, "what the leg itself says stays"


def test_a_leg_that_ran_and_found_nothing_is_evidence():
    found = gathered("tea", {"dense": [ScoredChunk(TEA, 0.9)], "sparse": []})
    assert found["tea#0"].best_bm25 == 0.0
    alone = gathered("oolong milk", {"sparse": [ScoredChunk(TEA, 2.0)]})
    assert (alone["tea#0"].best_cosine, alone["tea#0"].coverage) == (None, 0.5)
    assert gathered("tea", {"dense": [], "sparse": []}) == {}


def test_the_size_of_the_dataset_goes_with_each_chunk():
    legs = {"sparse": [ScoredChunk(TEA, 2.0), ScoredChunk(MILK, 1.0)]}
    assert {found.chunks for found in gathered("tea", legs, chunks=7).values()} == {7}
    assert gathered("tea", legs)["tea#0"].chunks is None


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
