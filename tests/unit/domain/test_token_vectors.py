"""Late interaction's arithmetic, against the definition written out."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from agentic_rag.domain.token_vectors import QuestionTokens, pack, similarities

DIMENSION = 16


def tokens_of(count: int, seed: int) -> np.ndarray:
    drawn = np.random.default_rng(seed).normal(size=(count, DIMENSION)).astype(np.float32)
    return drawn / np.linalg.norm(drawn, axis=1, keepdims=True)


def question(count: int, seed: int = 0) -> QuestionTokens:
    weights = np.random.default_rng(seed).random(count).astype(np.float32)
    return QuestionTokens(tokens_of(count, seed), weights / max(weights.sum(), 1e-9))


def by_definition(asked: QuestionTokens, passage: np.ndarray) -> float:
    steps = np.clip(np.round(passage * np.sqrt(DIMENSION) / 0.4), -7, 7)
    nearest = sum(
        float(weight) * max(float(vector @ token) / float(np.linalg.norm(token)) for token in steps)
        for weight, vector in zip(asked.weights, asked.vectors, strict=True)
    )
    return nearest - 0.03 * math.log(len(passage) / 100)


@settings(max_examples=50)
@given(st.integers(1, 6), st.lists(st.integers(1, 9), min_size=1, max_size=5), st.integers(0, 10_000))
def test_it_is_what_the_definition_says(asked: int, lengths: list[int], seed: int):
    one = question(asked, seed)
    passages = [tokens_of(count, seed + number + 1) for number, count in enumerate(lengths)]
    found = similarities(one, [pack(passage) for passage in passages])
    assert found.each == pytest.approx([by_definition(one, passage) for passage in passages], abs=1e-5)
    assert found.together == pytest.approx(by_definition(one, np.concatenate(passages)), abs=1e-5)


def test_four_bits_are_nearly_the_vectors():
    one, passages = question(5), [tokens_of(8, seed) for seed in range(1, 40)]
    exact = [float(one.weights @ (one.vectors @ passage.T).max(axis=1)) for passage in passages]
    found = np.array(similarities(one, [pack(passage) for passage in passages]).each) + 0.03 * math.log(
        8 / 100
    )
    assert np.abs(found - exact).max() < 0.05
    assert np.corrcoef(found, exact)[0, 1] > 0.95


def test_a_token_is_half_a_byte_a_dimension():
    assert pack(tokens_of(3, 0)) == b"".join(pack(row[None, :]) for row in tokens_of(3, 0))
    assert len(pack(tokens_of(3, 0))) == 3 * DIMENSION // 2


def test_what_has_no_tokens_is_far():
    near = pack(tokens_of(2, 0))
    found = similarities(question(2), [b"", near, b""])
    alone = similarities(question(2), [near])
    assert found.each == pytest.approx([-1.0, *alone.each, -1.0])
    assert found.together == alone.together == pytest.approx(alone.each[0])
    assert similarities(question(2), []) == ([], -1.0)
    assert similarities(question(0), [near]) == ([-1.0], -1.0)


@given(arrays.arrays(np.uint8, st.integers(1, 30).filter(lambda size: size % 8)))
def test_half_a_token_is_refused(damaged: np.ndarray):
    with pytest.raises(ValueError, match="8 bytes each"):
        similarities(question(1), [damaged.tobytes()])
