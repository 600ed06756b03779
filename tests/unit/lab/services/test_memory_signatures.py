"""Locality-sensitive hashing: the angle law, Hamming order, and a table that grows and forgets."""

from __future__ import annotations

import numpy as np
import pytest

from agentic_rag.lab.services.signatures import Hyperplanes, SignatureTable, nearest


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


def test_nearest_by_hamming_similarity_then_number() -> None:
    table = SignatureTable(8)
    for number, bits in zip(
        (5, 3, 4, 9), packed("11110000", "11110001", "11100000", "00001111"), strict=True
    ):
        table.add(number, bits)
    (asked,) = packed("11110000")
    found = nearest(asked, table.snapshot(), limit=9)
    assert found == [(5, 1.0), (3, 1 - 1 / 8), (4, 1 - 1 / 8), (9, 0.0)]
    assert nearest(asked, table.snapshot(), limit=2) == found[:2]
    assert nearest(asked, table.snapshot([9, 4]), limit=9) == [(4, 1 - 1 / 8), (9, 0.0)]
    assert nearest(asked, SignatureTable(8).snapshot(), limit=3) == []


def test_a_table_grows_and_forgets() -> None:
    drawn = np.random.default_rng(0).integers(0, 256, (500, 2), dtype=np.uint8)
    table = SignatureTable(16)
    held: dict[int, np.ndarray] = {}
    for number, bits in enumerate(drawn):
        table.add(number, bits)
        held[number] = bits
        if number % 3 == 2:
            for gone in (number, number - 2):
                table.remove(gone)
                del held[gone]
    assert len(table) == len(held)
    assert all(np.array_equal(table.get(number), bits) for number, bits in held.items())
    signatures, numbers = table.snapshot()
    assert {int(n): bits.tolist() for n, bits in zip(numbers, signatures, strict=True)} == {
        number: bits.tolist() for number, bits in held.items()
    }


def test_a_snapshot_stays_as_it_was() -> None:
    table = SignatureTable(8)
    first, second = packed("11110000", "00001111")
    table.add(1, first)
    table.add(2, second)
    signatures, numbers = table.snapshot()
    table.remove(1)
    assert numbers.tolist() == [1, 2]
    assert signatures.tolist() == [first.tolist(), second.tolist()]
