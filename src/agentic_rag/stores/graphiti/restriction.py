"""What one search may see: Graphiti's ``SearchFilters`` with allowed episodes, a reference time and raw scores.

Most restrictions are predicates on the row. The labels of a fact's ends are not: they are checked on the rows a leg
found, and the leg fetches more rows until enough pass.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from pydantic import PrivateAttr

from agentic_rag.stores.graph import sql
from agentic_rag.stores.graph.schemas import Kind, Row
from agentic_rag.stores.graph.tables import GraphTables
from agentic_rag.stores.graphiti.library import ComparisonOperator, DateFilter, SearchFilters
from agentic_rag.stores.lancedb.sql import not_after, timestamp

ScoredRows = list[tuple[Row, float]]
_OPERATORS = {"=", "<>", ">", "<", ">=", "<="}
_NULL_TESTS = {"IS NULL", "IS NOT NULL"}
GROWTH = 4
"""Factor by which a leg fetches more while too few of its rows are allowed."""


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


@dataclass(frozen=True)
class Visibility:
    """The restriction of one search on one kind in one group."""

    tables: GraphTables
    group: str
    conditions: tuple[str, ...]
    labels: frozenset[str] | None
    """A fact needs one of these labels at both ends."""

    @classmethod
    def of(cls, tables: GraphTables, group: str, kind: Kind, filters: Any) -> Visibility:
        """The restriction that Graphiti's filters or ours state; None restricts nothing."""
        labels = getattr(filters, "node_labels", None)
        conditions: list[str | None] = []
        if kind == "facts" and filters is not None:
            conditions.extend(edge_filter(filters))
        if kind == "entities" and labels:
            conditions.append(sql.has_any("labels", labels))
        if isinstance(filters, RestrictedFilters):
            if filters.as_of is not None:
                conditions.append(not_after("chunk_date", filters.as_of))
            if filters.within is not None:
                conditions.append(sql.has_any("episodes", filters.within))
        return cls(
            tables=tables,
            group=group,
            conditions=tuple(condition for condition in conditions if condition),
            labels=frozenset(labels) if labels and kind == "facts" else None,
        )

    async def fill_leg(self, fetch: Callable[[int], Awaitable[ScoredRows]], limit: int) -> ScoredRows:
        """Up to ``limit`` allowed rows of a leg, best first."""
        count = limit
        while True:
            found = await fetch(count)
            allowed = {row["uuid"] for row in await self.allowed_rows([row for row, _ in found])}
            kept = [(row, score) for row, score in found if row["uuid"] in allowed]
            if len(kept) >= limit or len(found) < count:
                return kept[:limit]
            count *= GROWTH

    async def allowed_rows(self, rows: Sequence[Row]) -> list[Row]:
        """Rows that pass the restriction on labels, which is no predicate."""
        if rows and self.labels is not None:
            ends = {row["source_uuid"] for row in rows} | {row["target_uuid"] for row in rows}
            having = sql.has_any("labels", self.labels)
            found = await self.tables.select_in(self.group, "entities", "uuid", ends, ["uuid"], having)
            good = {row["uuid"] for row in found}
            rows = [row for row in rows if row["source_uuid"] in good and row["target_uuid"] in good]
        return list(rows)


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
