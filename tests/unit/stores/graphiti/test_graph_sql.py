from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from agentic_rag.stores.graphiti import sql
from agentic_rag.stores.graphiti.library import ComparisonOperator, DateFilter, SearchFilters
from agentic_rag.stores.lancedb.sql import timestamp

DAY = datetime(2024, 1, 2, tzinfo=UTC)
AFTER = DateFilter(date=DAY, comparison_operator=ComparisonOperator.greater_than)
MISSING = DateFilter(comparison_operator=ComparisonOperator.is_null)


def test_values_are_quoted() -> None:
    assert sql.is_in("uuid", ["o'x", "b"]) == "uuid IN ('o''x', 'b')"
    assert sql.has_any("labels", ["a'"]) == "array_has_any(labels, make_array('a'''))"


@pytest.mark.parametrize("make", [sql.is_in, sql.has_any])
def test_no_value_matches_nothing(make: object) -> None:
    assert make("uuid", []) == make("uuid", ["\0"]) == sql.NOTHING  # type: ignore[operator]


def test_timestamps_are_utc() -> None:
    assert timestamp(datetime(2024, 1, 2, 3, tzinfo=timezone(timedelta(hours=3)))) == (
        "TIMESTAMP '2024-01-02T00:00:00.000000Z'"
    )
    assert timestamp(datetime(2024, 1, 2)) == timestamp(DAY)
    assert timestamp(datetime(476, 9, 4, tzinfo=UTC)) == "TIMESTAMP '0476-09-04T00:00:00.000000Z'"


def test_date_filters_are_alternatives_of_conjunctions() -> None:
    day = timestamp(DAY)
    assert sql.dates("valid_at", [[AFTER, MISSING], [MISSING]]) == (
        f"((valid_at > {day}) AND (valid_at IS NULL) OR (valid_at IS NULL))"
    )
    assert sql.dates("valid_at", None) is None
    assert sql.dates("valid_at", []) is None


def test_edge_filter_says_everything_the_filters_say() -> None:
    filters = SearchFilters(
        edge_types=["A"], edge_uuids=[], edge_source_node_uuids=["s"], expired_at=[[MISSING]]
    )
    assert sql.every(sql.edge_filter(filters)) == (
        f"((expired_at IS NULL)) AND name IN ('A') AND {sql.NOTHING} AND source_uuid IN ('s')"
    )
    assert sql.every(sql.edge_filter(SearchFilters())) is None
