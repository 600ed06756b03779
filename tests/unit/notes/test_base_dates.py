"""Dates and durations in Obsidian's Bases."""

from __future__ import annotations

from datetime import date, datetime

import pytest

from agentic_rag.notes.base_dates import is_date, read_date, shift


def test_dates():
    assert read_date("2024-02-29") == date(2024, 2, 29)
    assert read_date("2024-02-29 10:00:00") == datetime(2024, 2, 29, 10)
    assert is_date("2024-02-29")
    assert is_date("2024-02-29T10:00:00")
    assert not any(
        is_date(value) for value in ("2023-02-29", "2024-02", "20240229", "2024-02-29 10:00", 2024, None)
    )


@pytest.mark.parametrize(
    ("duration", "sign", "expected"),
    [
        ("1M", 1, "2024-02-29"),
        ("1 month", -1, "2023-12-31"),
        ("2y", 1, "2026-01-31"),
        ("60d", -1, "2023-12-02"),
        ("1 week", 1, "2024-02-07"),
        ("24h", 1, "2024-02-01"),
        ("90m", 1, "2024-01-31T01:30:00"),
    ],
)
def test_durations(duration: str, sign: int, expected: str):
    assert shift(date(2024, 1, 31), duration, sign).isoformat() == expected


@pytest.mark.parametrize("duration", ["", "d", "1", "1 fortnight", "9999999999d", "99999y", "1.5d"])
def test_what_is_no_duration(duration: str):
    with pytest.raises(ValueError, match=r"."):
        shift(date(2024, 1, 31), duration, 1)
