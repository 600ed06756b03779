"""What one search may see of one table: predicates, and what predicates cannot say.

Most restrictions are columns of the row itself. Which entities the allowed chunks name is not, and
neither are the labels of a fact's ends: those are looked up for the rows a leg found, and the leg
fetches more until enough are left.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

from agentic_rag.stores.graphiti import sql
from agentic_rag.stores.graphiti.restriction import RestrictedFilters
from agentic_rag.stores.graphiti.schemas import Kind, Row
from agentic_rag.stores.graphiti.tables import GraphTables

Scored = list[tuple[Row, float]]
GROWTH = 4
"""Factor by which a leg fetches more while too few of its rows are allowed."""


@dataclass(frozen=True)
class Visibility:
    """The restriction of one search on one kind in one group."""

    tables: GraphTables
    group: str
    kind: Kind
    conditions: tuple[str, ...]
    labels: frozenset[str] | None
    """A fact needs one of these labels at both ends."""
    as_of: Any
    """An entity needs a chunk that is not dated later, or none at all."""

    @classmethod
    async def of(cls, tables: GraphTables, group: str, kind: Kind, filters: Any) -> Visibility:
        """From Graphiti's filters or ours; None restricts nothing."""
        ours = filters if isinstance(filters, RestrictedFilters) else RestrictedFilters()
        within = ours.within
        as_of = ours.as_of
        labels = getattr(filters, "node_labels", None)
        conditions: list[str | None] = []
        if kind == "facts" and filters is not None:
            conditions.extend(sql.edge_filter(filters))
        if kind in ("facts", "episodes") and as_of is not None:
            conditions.append(sql.not_after("chunk_date", as_of))
        if kind == "entities" and labels:
            conditions.append(sql.has_any("labels", labels))
        if within is not None:
            episodes = list(within)
            made = await ours.once(group, kind, lambda: _within(tables, group, kind, episodes))
            conditions.append(made)
        return cls(
            tables=tables,
            group=group,
            kind=kind,
            conditions=tuple(condition for condition in conditions if condition),
            labels=frozenset(labels) if labels and kind == "facts" else None,
            as_of=as_of if kind == "entities" else None,
        )

    async def filled(self, fetch: Callable[[int], Awaitable[Scored]], limit: int) -> Scored:
        """Up to ``limit`` allowed rows of a leg, best first."""
        count = limit
        while True:
            found = await fetch(count)
            allowed = {row["uuid"] for row in await self.allowed([row for row, _ in found])}
            kept = [(row, score) for row, score in found if row["uuid"] in allowed]
            if len(kept) >= limit or len(found) < count:
                return kept[:limit]
            count *= GROWTH

    async def allowed(self, rows: Sequence[Row]) -> list[Row]:
        """Rows that pass what the predicates could not say."""
        if rows and self.labels is not None:
            ends = {row["source_uuid"] for row in rows} | {row["target_uuid"] for row in rows}
            having = sql.has_any("labels", self.labels)
            found = await self.tables.select_in(self.group, "entities", "uuid", ends, ["uuid"], having)
            good = {row["uuid"] for row in found}
            rows = [row for row in rows if row["source_uuid"] in good and row["target_uuid"] in good]
        if rows and self.as_of is not None:
            dated = await self._only_later({row["uuid"] for row in rows})
            rows = [row for row in rows if row["uuid"] not in dated]
        return list(rows)

    async def _only_later(self, entities: Collection[str]) -> set[str]:
        """Entities that chunks name, all of them dated after the reference time."""
        named: set[str] = set()
        visible: set[str] = set()
        for kind, column in _NAMING:
            names = [column, "chunk_date"]
            for row in await self.tables.select_in(self.group, kind, column, entities, names):
                named.add(row[column])
                if row["chunk_date"] is None or row["chunk_date"] <= self.as_of:
                    visible.add(row[column])
        return named - visible


_NAMING: tuple[tuple[Kind, str], ...] = (
    ("mentions", "target_uuid"),
    ("facts", "source_uuid"),
    ("facts", "target_uuid"),
)
"""Where a chunk names an entity: its mentions and both ends of its facts."""


async def _within(tables: GraphTables, group: str, kind: Kind, episodes: Sequence[str]) -> str:
    if kind == "facts":
        return sql.has_any("episodes", episodes)
    if kind == "episodes":
        return sql.is_in("uuid", episodes)
    if kind == "entities":
        return sql.is_in("uuid", await _entities_of(tables, group, episodes))
    return sql.NOTHING  # a community comes from no chunk


async def _entities_of(tables: GraphTables, group: str, episodes: Sequence[str]) -> set[str]:
    mentions = await tables.select_in(group, "mentions", "source_uuid", episodes, ["target_uuid"])
    facts = await tables.select(
        group, "facts", sql.has_any("episodes", episodes), ["source_uuid", "target_uuid"]
    )
    return {row["target_uuid"] for row in (*mentions, *facts)} | {row["source_uuid"] for row in facts}
