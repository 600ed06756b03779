"""Numbers in text."""

from __future__ import annotations

import pytest

from agentic_rag.text.numbers import numbers


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("一九九一年", [1991.0]),
        ("六成", [60.0]),
        ("1,200.5 and forty two", [42.0, 1200.5]),
        ("九" * 5_000, []),  # no number that a float could be
        ("零" * 400 + "十", []),
    ],
)
def test_numbers(text: str, expected: list[float]):
    assert sorted(numbers(text)) == expected
