from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

from agentic_rag.stores.graph import sql
from agentic_rag.stores.graphiti.library import ComparisonOperator, DateFilter, SearchFilters
from agentic_rag.stores.graphiti.search_filters import date_filter, edge_filter
from agentic_rag.stores.lancedb.sql import timestamp

DAY = datetime(2024, 1, 2, tzinfo=UTC)
AFTER = DateFilter(date=DAY, comparison_operator=ComparisonOperator.greater_than)
MISSING = DateFilter(comparison_operator=ComparisonOperator.is_null)


def test_timestamps_are_utc() -> None:
    assert timestamp(datetime(2024, 1, 2, 3, tzinfo=timezone(timedelta(hours=3)))) == (
        "TIMESTAMP '2024-01-02T00:00:00.000000Z'"
    )
    assert timestamp(datetime(2024, 1, 2)) == timestamp(DAY)
    assert timestamp(datetime(476, 9, 4, tzinfo=UTC)) == "TIMESTAMP '0476-09-04T00:00:00.000000Z'"


def test_date_filters_are_alternatives_of_conjunctions() -> None:
    day = timestamp(DAY)
    assert date_filter("valid_at", [[AFTER, MISSING], [MISSING]]) == (
        f"((valid_at > {day}) AND (valid_at IS NULL) OR (valid_at IS NULL))"
    )
    assert date_filter("valid_at", None) is None
    assert date_filter("valid_at", []) is None


def test_edge_filter_says_everything_the_filters_say() -> None:
    filters = SearchFilters(
        edge_types=["A"], edge_uuids=[], edge_source_node_uuids=["s"], expired_at=[[MISSING]]
    )
    assert sql.every(edge_filter(filters)) == (
        f"((expired_at IS NULL)) AND name IN ('A') AND {sql.NOTHING} AND source_uuid IN ('s')"
    )
    assert sql.every(edge_filter(SearchFilters())) is None
