"""Bit signatures of vectors: random hyperplanes, and a table of packed bits compared by Hamming distance; pure."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from agentic_rag.domain.ports import FloatArray

Bits = NDArray[np.uint8]
"""Packed, shape (nbits / 8,)."""

_FIRST_ROWS = 64


class Hyperplanes:
    """Locality-sensitive hashing for cosine: a bit says on which side of a random hyperplane a vector lies.

    bit_i(v) = [r_i · v ≥ 0] with r_i drawn from N(0, I); two vectors at angle θ differ in a bit with probability θ / π.

    Args:
        nbits: bits of a signature, a multiple of 8.
        dimension: of the vectors.
        seed: the same seed draws the same hyperplanes.

    Source: Charikar, "Similarity estimation techniques from rounding algorithms", STOC 2002, section 3.
    """

    def __init__(self, nbits: int, dimension: int, seed: int) -> None:
        drawn = np.random.default_rng(seed).standard_normal((nbits, dimension))
        self._normals: FloatArray = drawn.astype(np.float32)

    def signature(self, vector: FloatArray) -> Bits:
        """Of a vector, shape (dimension,); its length does not matter."""
        return np.packbits(self._normals @ vector >= 0)


class SignatureTable:
    """Signatures by number, in an array that doubles when it is full: an insert copies nothing, on average."""

    def __init__(self, nbits: int) -> None:
        self._nbits = nbits
        self._bits: Bits = np.zeros((_FIRST_ROWS, nbits // 8), dtype=np.uint8)
        self._numbers = np.zeros(_FIRST_ROWS, dtype=np.int64)
        self._rows: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self._rows)

    def add(self, number: int, bits: Bits) -> None:
        """Keep the signature of an entry; each number once."""
        row = len(self._rows)
        if row == len(self._numbers):
            self._bits = np.concatenate([self._bits, np.zeros_like(self._bits)])
            self._numbers = np.concatenate([self._numbers, np.zeros_like(self._numbers)])
        self._bits[row], self._numbers[row] = bits, number
        self._rows[number] = row

    def remove(self, number: int) -> None:
        """Forget an entry; the last row takes its place, for order among rows means nothing."""
        row, last = self._rows.pop(number), len(self._rows)
        if row != last:
            self._bits[row], self._numbers[row] = self._bits[last], self._numbers[last]
            self._rows[int(self._numbers[row])] = row

    def get(self, number: int) -> Bits:
        """The signature of an entry that is held."""
        bits: Bits = self._bits[self._rows[number]].copy()
        return bits

    def snapshot(self, numbers: list[int] | None = None) -> tuple[Bits, NDArray[np.int64]]:
        """Signatures, shape (n, nbits / 8), and their numbers, of all or of these; later changes leave them alone."""
        if numbers is None:
            held = len(self._rows)
            return self._bits[:held].copy(), self._numbers[:held].copy()
        rows = [self._rows[number] for number in numbers]
        return self._bits[rows], self._numbers[rows]


def nearest(bits: Bits, among: tuple[Bits, NDArray[np.int64]], *, limit: int) -> list[tuple[int, float]]:
    """Numbers with their Hamming similarity 1 - distance / nbits in [0, 1], descending, then by number.

    Args:
        bits: the signature asked for.
        among: a table's ``snapshot``.
        limit: most of them.
    """
    table, numbers = among
    distances = np.bitwise_count(table ^ bits).sum(axis=1, dtype=np.int64)
    order = np.lexsort((numbers, distances))[:limit]
    nbits = 8 * len(bits)
    return [(int(numbers[row]), 1.0 - int(distances[row]) / nbits) for row in order]
