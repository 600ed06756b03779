"""LanceDB predicates for the graph's tables, built from values only; pure.

Column names are literals of this package; every value goes through ``quoted``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

from agentic_rag.stores.lancedb.sql import is_one_of, quoted, timestamp

_OPERATORS = {"=", "<>", ">", "<", ">=", "<="}
_NULL_TESTS = {"IS NULL", "IS NOT NULL"}
NOTHING = "1 = 0"


def is_in(column: str, values: Collection[str]) -> str:
    """``column`` is one of the values; never true for none."""
    clean = [value for value in values if "\0" not in value]
    if not clean:
        return NOTHING
    return is_one_of(column, clean)


def has_any(column: str, values: Collection[str]) -> str:
    """The list column shares an item with the values."""
    clean = [value for value in values if "\0" not in value]
    if not clean:
        return NOTHING
    return f"array_has_any({column}, make_array({', '.join(quoted(value) for value in clean)}))"


def dates(column: str, alternatives: Sequence[Sequence[Any]] | None) -> str | None:
    """Graphiti's date filter: any of the inner lists holds, each with all of its comparisons."""
    if alternatives is None:
        return None
    either = [every(_comparison(column, test) for test in tests) or "TRUE" for tests in alternatives]
    return f"({' OR '.join(either)})" if either else None


def _comparison(column: str, test: Any) -> str:
    operator = str(test.comparison_operator.value)
    if operator in _NULL_TESTS:
        return f"({column} {operator})"
    if operator not in _OPERATORS or test.date is None:
        return NOTHING
    return f"({column} {operator} {timestamp(test.date)})"


def every(conditions: Iterable[str | None]) -> str | None:
    """The conjunction of the conditions; None without conditions."""
    present = [condition for condition in conditions if condition]
    return " AND ".join(present) if present else None


def edge_filter(filters: Any) -> list[str | None]:
    """What ``SearchFilters`` says of facts, except of the labels of their endpoints."""
    conditions: list[str | None] = [
        dates("valid_at", filters.valid_at),
        dates("invalid_at", filters.invalid_at),
        dates("created_at", filters.created_at),
        dates("expired_at", filters.expired_at),
    ]
    named = {
        "name": filters.edge_types,
        "uuid": filters.edge_uuids,
        "source_uuid": filters.edge_source_node_uuids,
        "target_uuid": filters.edge_target_node_uuids,
    }
    conditions.extend(is_in(column, values) for column, values in named.items() if values is not None)
    return conditions
