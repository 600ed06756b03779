"""Graphiti's ``SearchInterface`` answered by LanceDB: facts by full text and cosine, entities by their facts.

These are the legs that a search for facts and the extraction ask for. Every leg orders totally (score descending, then
uuid) and never opens the graph.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from pydantic import ConfigDict, PrivateAttr

from agentic_rag.stores.graph import sql
from agentic_rag.stores.graph.searching import ScoredRows, searchable
from agentic_rag.stores.graph.tables import GraphTables
from agentic_rag.stores.graphiti import objects
from agentic_rag.stores.graphiti.library import SearchInterface
from agentic_rag.stores.graphiti.search_filters import edge_filter

Fetch = Callable[[str, str | None], Awaitable[ScoredRows]]
"""One leg on one group: group, predicate."""


class LanceSearch(SearchInterface):  # type: ignore[misc]
    """Graphiti's search legs over ``GraphTables``."""

    model_config = ConfigDict(arbitrary_types_allowed=True)
    _tables: GraphTables = PrivateAttr()

    def __init__(self, tables: GraphTables) -> None:
        super().__init__()
        self._tables = tables

    async def edge_fulltext_search(
        self,
        driver: Any,
        query: str,
        search_filter: Any,
        group_ids: list[str] | None = None,
        limit: int = 100,
    ) -> list[Any]:
        text, columns = searchable(query), objects.FACT_COLUMNS

        async def fetch(group: str, where: str | None) -> ScoredRows:
            return await self._tables.matching(group, "facts", text, columns, where=where, limit=limit)

        found = await self._search_leg(fetch, search_filter, group_ids, limit)
        return [objects.to_fact(row) for row, _ in found]

    async def edge_similarity_search(
        self,
        driver: Any,
        search_vector: list[float],
        source_node_uuid: str | None,
        target_node_uuid: str | None,
        search_filter: Any,
        group_ids: list[str] | None = None,
        limit: int = 100,
        min_score: float = 0.7,
    ) -> list[Any]:
        if not _points(search_vector):
            return []
        columns = objects.FACT_COLUMNS
        ends = [
            sql.is_in(column, [uuid])
            for column, uuid in {"source_uuid": source_node_uuid, "target_uuid": target_node_uuid}.items()
            if uuid is not None
        ]

        async def fetch(group: str, where: str | None) -> ScoredRows:
            return await self._tables.nearest(
                group, "facts", search_vector, columns, where=where, limit=limit
            )

        found = await self._search_leg(fetch, search_filter, group_ids, limit, ends)
        return [objects.to_fact(row) for row, score in found if score > min_score]

    async def node_similarity_search(
        self,
        driver: Any,
        search_vector: list[float],
        search_filter: Any,
        group_ids: list[str] | None = None,
        limit: int = 100,
        min_score: float = 0.7,
    ) -> list[Any]:
        """Entities at the ends of the facts nearest to the vector: names have no vectors here.

        Their order is that of the facts. ``min_score`` is meant for names, whose cosines are higher than those of
        sentences, and is not compared with them.
        """
        if not _points(search_vector):
            return []
        found: ScoredRows = []
        for group in await self._groups(group_ids):
            scores: dict[str, float] = {}
            ends = ["uuid", "source_uuid", "target_uuid"]
            nearest = await self._tables.nearest(group, "facts", search_vector, ends, where=None, limit=limit)
            for fact, score in nearest:
                for end in (fact["source_uuid"], fact["target_uuid"]):
                    scores.setdefault(end, score)
            rows = await self._tables.select_in(group, "entities", "uuid", list(scores))
            found += [(row, scores[row["uuid"]]) for row in rows]
        found.sort(key=lambda pair: (-pair[1], pair[0]["uuid"]))
        return [objects.to_entity(row) for row, _ in found[:limit]]

    async def _search_leg(
        self,
        fetch: Fetch,
        search_filter: Any,
        group_ids: list[str] | None,
        limit: int,
        ends: Sequence[str] = (),
    ) -> ScoredRows:
        """One leg over all groups, each restricted before ranks are given."""
        where = sql.every([*edge_filter(search_filter), *ends])
        parts = await asyncio.gather(*(fetch(group, where) for group in await self._groups(group_ids)))
        merged = [pair for part in parts for pair in part]
        return sorted(merged, key=lambda pair: (-pair[1], pair[0]["uuid"]))[:limit]

    async def _groups(self, group_ids: list[str] | None) -> list[str]:
        return group_ids if group_ids is not None else await self._tables.groups()


def _points(vector: Sequence[float]) -> bool:
    """Whether a vector has a direction."""
    return all(math.isfinite(x) for x in vector) and any(vector)
