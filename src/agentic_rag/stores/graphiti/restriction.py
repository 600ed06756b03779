"""What one search may see: Graphiti's ``SearchFilters`` with allowed episodes, a reference time and raw scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from pydantic import PrivateAttr

from agentic_rag.stores.graph import sql
from agentic_rag.stores.graph.schemas import Row
from agentic_rag.stores.graphiti.library import ComparisonOperator, DateFilter, SearchFilters
from agentic_rag.stores.lancedb.sql import not_after, timestamp

ScoredRows = list[tuple[Row, float]]
_OPERATORS = {"=", "<>", ">", "<", ">=", "<="}
_NULL_TESTS = {"IS NULL", "IS NOT NULL"}


@dataclass
class Recorder:
    """What the legs of one search found, by uuid, so that only the rows that rank high in the end are read."""

    rows: dict[str, int] = field(default_factory=dict)
    """Row ids."""
    bm25: dict[str, float] = field(default_factory=dict)
    """The highest score, if a leg ran twice."""

    def saw(self, row: Row, bm25: float | None = None) -> None:
        uuid = row["uuid"]
        self.rows[uuid] = row["_rowid"]
        if bm25 is not None:
            self.bm25[uuid] = max(bm25, self.bm25.get(uuid, bm25))


class RestrictedFilters(SearchFilters):  # type: ignore[misc]
    """Filters of one search for facts, whose legs give objects with a uuid alone; never share an instance between
    searches.

    ``within``: only what comes from these episodes; None allows all, an empty list nothing.
    ``as_of``: facts that only chunks dated later name are left out; the facts' own validity is in ``valid_at`` and
    ``invalid_at`` (see ``as_of_filters``).
    """

    within: list[str] | None = None
    as_of: datetime | None = None
    _recorder: Recorder = PrivateAttr(default_factory=Recorder)

    @property
    def recorder(self) -> Recorder:
        return self._recorder


def as_of_filters(as_of: datetime | None, within: list[str] | None) -> RestrictedFilters:
    """valid_at ≤ as_of < invalid_at, a missing bound open, in Graphiti's own words."""
    if as_of is None:
        return RestrictedFilters(within=within)
    missing = [DateFilter(comparison_operator=ComparisonOperator.is_null)]
    begun = [DateFilter(date=as_of, comparison_operator=ComparisonOperator.less_than_equal)]
    not_over = [DateFilter(date=as_of, comparison_operator=ComparisonOperator.greater_than)]
    return RestrictedFilters(
        within=within, as_of=as_of, valid_at=[begun, missing], invalid_at=[not_over, missing]
    )


def visible_facts(filters: Any) -> list[str]:
    """Predicates on the facts that Graphiti's filters or ours allow; None allows all."""
    conditions: list[str | None] = [] if filters is None else edge_filter(filters)
    if isinstance(filters, RestrictedFilters):
        if filters.as_of is not None:
            conditions.append(not_after("chunk_date", filters.as_of))
        if filters.within is not None:
            conditions.append(sql.has_any("episodes", filters.within))
    return [condition for condition in conditions if condition]


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
