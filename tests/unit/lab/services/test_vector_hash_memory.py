"""Locality-sensitive hashing: the angle law, and Hamming order."""

from __future__ import annotations

import numpy as np
import pytest

from agentic_rag_lab.designs.services.vector_hash_memory import Hyperplanes, nearest


def packed(*bits: str) -> list[np.ndarray]:
    return [np.packbits(np.array([int(bit) for bit in row])) for row in bits]


@pytest.mark.parametrize("degrees", [0, 15, 45, 90, 135, 180])
def test_bits_differ_with_probability_of_the_angle_over_pi(degrees: int) -> None:
    angle = np.radians(degrees)
    planes = Hyperplanes(4096, 8, seed=1)
    one = np.eye(8, dtype=np.float32)[0]
    other = np.cos(angle) * one + np.sin(angle) * np.eye(8, dtype=np.float32)[1]
    differing = np.bitwise_count(planes.signature(one) ^ planes.signature(other.astype(np.float32))).sum()
    # Within four standard deviations of a binomial; opposite vectors never agree.
    share = degrees / 180
    assert abs(differing / 4096 - share) <= 4 * np.sqrt(share * (1 - share) / 4096)


def test_signature_is_packed_and_depends_on_seed_and_direction_alone() -> None:
    vector = np.arange(1, 9, dtype=np.float32)
    signature = Hyperplanes(24, 8, seed=3).signature(vector)
    assert signature.dtype == np.uint8
    assert signature.shape == (3,)
    assert np.array_equal(signature, Hyperplanes(24, 8, seed=3).signature(1000 * vector))
    assert not np.array_equal(
        Hyperplanes(256, 8, seed=3).signature(vector), Hyperplanes(256, 8, seed=4).signature(vector)
    )


def test_nearest_by_hamming_similarity_then_place() -> None:
    table = b"".join(bits.tobytes() for bits in packed("11110000", "00001111", "11110001", "11100000"))
    (asked,) = packed("11110000")
    found = nearest(asked, table, limit=9)
    assert found == [(0, 1.0), (2, 1 - 1 / 8), (3, 1 - 1 / 8), (1, 0.0)]
    assert nearest(asked, table, limit=2) == found[:2]
    assert nearest(asked, b"", limit=3) == []
