"""Values: limits of JSON and UTF-8, and written dates."""

from __future__ import annotations

from datetime import UTC, date, datetime

import pytest

from agentic_rag.dates.names import date_in_name
from agentic_rag.notes.values import jsonable, metadata_date, read_date, valid_unicode


def test_lone_surrogates_are_replaced() -> None:
    assert valid_unicode("a\ud800b😀") == "a\ufffdb😀"


def test_jsonable() -> None:
    assert jsonable(
        {"a": (1, 2.5, float("nan")), None: date(2023, 1, 2), "s": {3}, "b": b"x", "o": object()}
    ) == {"a": [1, 2.5], "null": "2023-01-02", "s": [3]}
    assert jsonable(float("inf")) is None


def test_depth_and_size_are_bounded() -> None:
    deep: list[object] = []
    deep.append(deep)
    with pytest.raises(ValueError, match="too deeply"):
        jsonable(deep)
    with pytest.raises(ValueError, match="too many"):
        jsonable(list(range(30_000)))


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2023-09-12", datetime(2023, 9, 12, tzinfo=UTC)),
        ("2023/9/2", datetime(2023, 9, 2, tzinfo=UTC)),
        ("2023-09-12T10:30:00Z", datetime(2023, 9, 12, 10, 30, tzinfo=UTC)),
        ("2023-09-12 9:30+0200", datetime(2023, 9, 12, 7, 30, tzinfo=UTC)),
        ("2023-02-30 or 2023-03-01", datetime(2023, 3, 1, tzinfo=UTC)),
        (["x", "2023-01-01"], datetime(2023, 1, 1, tzinfo=UTC)),
        ("0001-01-01T00:00+10:00", None),
        ("12345-01-01", None),
        (2023, None),
        (None, None),
        ({}, None),
    ],
)
def test_read_date(value: object, expected: datetime | None) -> None:
    assert read_date(value) == expected


def test_keys_in_order_and_any_case() -> None:
    assert metadata_date({"Published": "2020-01-01", "start": "2021-01-01"}) == datetime(
        2020, 1, 1, tzinfo=UTC
    )
    assert metadata_date({"year": 2020}) is None


@pytest.mark.parametrize("name", ["Call 20230912", "1-2-3", "2023-1-1", "99999999", "2023-0912"])
def test_names_without_a_date(name: str) -> None:
    assert date_in_name(name) is None


def test_names_with_a_date() -> None:
    day = datetime(2023, 9, 12, tzinfo=UTC)
    for name in (
        "2023-09-12",
        "Trip 2023_09_12b",
        "2023.09.12 x",
        "20230912",
        "20230912153000 x",
        "记2023年09月12日",
    ):
        assert date_in_name(name) == day
