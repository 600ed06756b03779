"""Graphiti's ``SearchFilters`` as predicates on the facts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agentic_rag.stores.graph import sql
from agentic_rag.stores.lancedb.sql import timestamp

_OPERATORS = {"=", "<>", ">", "<", ">=", "<="}
_NULL_TESTS = {"IS NULL", "IS NOT NULL"}


def edge_filter(filters: Any) -> list[str | None]:
    """What ``SearchFilters`` says of facts, except of the labels of their endpoints."""
    conditions: list[str | None] = [
        date_filter("valid_at", filters.valid_at),
        date_filter("invalid_at", filters.invalid_at),
        date_filter("created_at", filters.created_at),
        date_filter("expired_at", filters.expired_at),
    ]
    named = {
        "name": filters.edge_types,
        "uuid": filters.edge_uuids,
        "source_uuid": filters.edge_source_node_uuids,
        "target_uuid": filters.edge_target_node_uuids,
    }
    conditions.extend(sql.is_in(column, values) for column, values in named.items() if values is not None)
    return conditions


def date_filter(column: str, alternatives: Sequence[Sequence[Any]] | None) -> str | None:
    """Graphiti's date filter: any of the inner lists holds, each with all of its comparisons."""
    if alternatives is None:
        return None
    either = [sql.every(_comparison(column, test) for test in tests) or "TRUE" for tests in alternatives]
    return f"({' OR '.join(either)})" if either else None


def _comparison(column: str, test: Any) -> str:
    operator = str(test.comparison_operator.value)
    if operator in _NULL_TESTS:
        return f"({column} {operator})"
    if operator not in _OPERATORS or test.date is None:
        return sql.NOTHING
    return f"({column} {operator} {timestamp(test.date)})"
