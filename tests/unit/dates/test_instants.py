"""ISO 8601 dates and times."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from agentic_rag.dates.instants import as_utc, parse_as_of
from agentic_rag.errors import InputError


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2024-06-30", datetime(2024, 6, 30, 23, 59, 59, 999999, tzinfo=UTC)),
        ("20240630", datetime(2024, 6, 30, 23, 59, 59, 999999, tzinfo=UTC)),
        ("0001-01-01", datetime(1, 1, 1, 23, 59, 59, 999999, tzinfo=UTC)),
        ("9999-12-31", datetime.max.replace(tzinfo=UTC)),
        ("2024-06-30T12:00", datetime(2024, 6, 30, 12, tzinfo=UTC)),
        ("2024-06-30 12:00:01.5", datetime(2024, 6, 30, 12, 0, 1, 500000, tzinfo=UTC)),
        ("2024-06-30T12:00Z", datetime(2024, 6, 30, 12, tzinfo=UTC)),
        ("2024-06-30T12:00+08:00", datetime(2024, 6, 30, 4, tzinfo=UTC)),
    ],
)
def test_what_is_read(text: str, moment: datetime):
    read = parse_as_of(text)
    assert read == moment
    assert read is not None
    assert read.tzinfo is UTC


def test_none_is_no_restriction():
    assert parse_as_of(None) is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "yesterday",
        "2024",
        "2024-06",
        "2024-13-01",
        "30.06.2024",
        "2024-06-30Tnoon",
        20240630,
        "2024-06-30T25",
    ],
)
def test_what_cannot_be_read_is_told(text: str):
    with pytest.raises(InputError, match=r"as_of must be an ISO date.*not"):
        parse_as_of(text)


@pytest.mark.parametrize("text", ["9999-12-31T23:59:59-05:00", "0001-01-01T00:00:00+05:00"])
def test_a_moment_outside_the_calendar_is_told(text: str):
    with pytest.raises(InputError, match="years 1 to 9999"):
        parse_as_of(text)


def test_as_utc_keeps_the_moment():
    noon = datetime(2024, 6, 30, 12)
    assert as_utc(noon) == noon.replace(tzinfo=UTC)
    east = noon.replace(tzinfo=timezone(timedelta(hours=8)))
    assert as_utc(east) == east
    assert as_utc(east).hour == 4
