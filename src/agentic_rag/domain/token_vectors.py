"""Token vectors for late interaction: how they are stored, and how near a question's come to a passage's.

A passage's MaxSim is, for each token of the question, the cosine with the token of the passage that is
most like it, averaged with the weights of the question's tokens. A passage's tokens are kept in four bits
a dimension, 48 bytes a token at 96 dimensions, which rank as the full vectors do; one bit ranks worse.

Source: Khattab and Zaharia, ColBERT, SIGIR 2020.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Places = NDArray[np.int32]
"""Start and end of tokens in their text, in code points, shape (tokens, 2)."""
STEP = 0.4
"""Quantisation step of a component, in units of 1 / √dimension."""
LENGTH, TYPICAL = 0.03, 100
"""Correction for the number of tokens; the slope on judged sets lies between .01 and .05."""
MAX_STEP, ZERO = 7, 8
"""Quantisation steps on either side of 0, and the code of 0."""
AT_ONCE = 600
"""Tokens that are unpacked at once. What is unpacked of 15,000 lies in no cache, and is memory that the system has to clear
for each question: that took twice the time."""
BY_ONE_THREAD = 200_000
"""Multiplications that OpenBLAS does not divide among threads, of which the second then waits in a loop for more work:
on two cores that took a quarter of an answer's processor time."""


@dataclass(frozen=True, slots=True, eq=False)
class QuestionTokens:
    """A question's tokens."""

    vectors: Floats
    """Unit vectors, shape (tokens, dimension); the dimension is even."""
    weights: Floats
    """Shape (tokens,), ≥ 0, of sum 1: rare tokens count more."""
    spans: tuple[tuple[int, int], ...] = ()
    """Of each token, code points in the question; empty where the model does not tell them."""

    def count(self, passage: bytes) -> int:
        """Number of a passage's packed tokens.

        Raises:
            ValueError: the bytes are not whole tokens of the question's dimension.
        """
        dimension: int = self.vectors.shape[1]
        count, rest = divmod(len(passage), dimension // 2)
        if rest:
            raise ValueError(f"packed tokens of {dimension} dimensions come in {dimension // 2} bytes each")
        return count


def pack(vectors: Floats) -> bytes:
    """Unit vectors of tokens, shape (tokens, dimension), as they are stored: ``dimension / 2`` bytes a token, in order."""
    steps = (
        np.rint(vectors * (np.sqrt(vectors.shape[1]) / STEP)).clip(-MAX_STEP, MAX_STEP).astype(np.int8) + ZERO
    )
    pairs = steps.astype(np.uint8).reshape(len(vectors), vectors.shape[1] // 2, 2)
    written: bytes = (pairs[:, :, 0] << 4 | pairs[:, :, 1]).tobytes()
    return written


class Similarities(NamedTuple):
    """How near passages come to a question; higher is nearer, about in [-1, 1], -1 for one without tokens."""

    each: list[float]
    """Of each passage, in order."""
    together: float
    """Of all passages, read as one."""


def similarities(question: QuestionTokens, passages: Sequence[bytes]) -> Similarities:
    """The MaxSim of passages' packed tokens, corrected for length.

    In more tokens the nearest is nearer by chance, so LENGTH · ln(tokens / TYPICAL) is subtracted: nothing at
    TYPICAL tokens.

    Raises:
        ValueError: a passage's bytes are not whole tokens of the question's dimension.
    """
    dimension = question.vectors.shape[1]
    counts = np.array(list(map(question.count, passages)), dtype=np.int64)
    each = np.full(len(passages), -1.0)
    if not counts.any() or not len(question.vectors):
        return Similarities(each.tolist(), -1.0)
    full = np.flatnonzero(counts)
    nearest = np.empty((len(question.vectors), len(full)), np.float32)
    for part in _parts(counts[full]):
        tokens = _unpack(b"".join(passages[n] for n in full[part]), dimension)
        lengths = np.sqrt(np.einsum("ij,ij->i", tokens, tokens))
        cosines = _products(question.vectors, tokens) / np.maximum(lengths, 1e-9)
        starts = np.cumsum(counts[full[part]]) - counts[full[part]]
        nearest[:, part] = np.maximum.reduceat(cosines, starts, axis=1)
    each[full] = question.weights @ nearest - LENGTH * np.log(counts[full] / TYPICAL)
    together = question.weights @ nearest.max(axis=1) - LENGTH * np.log(counts.sum() / TYPICAL)
    return Similarities(each.tolist(), float(together))


def _parts(counts: NDArray[np.int64]) -> Iterator[slice]:
    """Passages in a row of about AT_ONCE tokens together, at least one."""
    bounds = np.flatnonzero(np.diff(np.cumsum(counts) // AT_ONCE, prepend=-1)).tolist()
    yield from map(slice, bounds, [*bounds[1:], len(counts)])


def cosines(question: QuestionTokens, passage: bytes) -> Floats:
    """Cosine of each of the question's tokens with each of a passage's packed tokens, shape (question's, passage's).

    Raises:
        ValueError: the bytes are not whole tokens of the question's dimension.
    """
    count, dimension = question.count(passage), question.vectors.shape[1]
    own = np.sqrt(np.einsum("ij,ij->i", question.vectors, question.vectors))
    similar = np.empty((len(own), count), np.float32)
    for start in range(0, count, AT_ONCE):
        codes = passage[start * dimension // 2 : (start + AT_ONCE) * dimension // 2]
        tokens = _unpack(codes, dimension)
        lengths = np.sqrt(np.einsum("ij,ij->i", tokens, tokens))
        scale = np.maximum(own, 1e-9)[:, None] * np.maximum(lengths, 1e-9)
        similar[:, start : start + AT_ONCE] = _products(question.vectors, tokens) / scale
    return similar


def _unpack(codes: bytes, dimension: int) -> Floats:
    """The components of packed tokens, times √dimension / STEP, shape (tokens, dimension)."""
    kind = np.dtype("<u2") if dimension % 4 == 0 else np.dtype("u1")
    pairs: Floats = _components(kind.itemsize).take(np.frombuffer(codes, kind), axis=0)
    return pairs.reshape(-1, dimension)


@cache
def _components(size: int) -> Floats:
    """What each number of so many bytes stands for, shape (numbers, 2 · size); two bytes at once take half the time."""
    numbers = np.arange(256**size)
    shifts = [shift for byte in range(size) for shift in (8 * byte + 4, 8 * byte)]
    return np.stack([(numbers >> shift & 15) for shift in shifts], axis=1).astype(np.float32) - ZERO


def _products(left_rows: Floats, right: Floats) -> Floats:
    """``left @ right.T`` in parts that BLAS does by one thread."""
    rows = max(BY_ONE_THREAD // max(left_rows.size, 1), 1)
    return np.concatenate(
        [left_rows @ right[start : start + rows].T for start in range(0, len(right), rows)], axis=1
    )
