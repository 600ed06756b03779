"""Graphiti's ``SearchInterface`` answered by LanceDB: facts by full text and cosine, entities by full text and by
their facts, breadth first, distance, mentions.

Every leg orders totally (score descending, then uuid) and never opens the graph.
"""

from __future__ import annotations

import asyncio
import math
import unicodedata
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ConfigDict, PrivateAttr

from agentic_rag.stores.graph import sql
from agentic_rag.stores.graph.schemas import Kind, Row
from agentic_rag.stores.graph.tables import GraphTables
from agentic_rag.stores.graph.walk import neighbours, reach
from agentic_rag.stores.graphiti import objects
from agentic_rag.stores.graphiti.library import EntityEdge, EntityNode, SearchInterface
from agentic_rag.stores.graphiti.restriction import RestrictedFilters, ScoredRows, Visibility

MAX_WORDS = 60
"""Graphiti drops the full-text leg beyond 63 words on one backend and 128 on another."""
MAX_CHARACTERS = 600
"""Bounds scripts that put no space between words."""

Fetch = Callable[[str, str | None, int], Awaitable[ScoredRows]]
"""One leg on one group: group, predicate, limit."""


@dataclass(frozen=True, slots=True)
class _Leg:
    """What one leg of a search may return."""

    kind: Kind
    search_filter: Any
    """Graphiti's."""
    group_ids: list[str] | None
    """None: all groups."""
    limit: int


class LanceSearch(SearchInterface):  # type: ignore[misc]
    """Graphiti's search legs over ``GraphTables``; communities are left to Cypher on a graph server."""

    model_config = ConfigDict(arbitrary_types_allowed=True)
    _tables: GraphTables = PrivateAttr()

    def __init__(self, tables: GraphTables) -> None:
        super().__init__()
        self._tables = tables

    # Full text

    async def edge_fulltext_search(
        self,
        driver: Any,
        query: str,
        search_filter: Any,
        group_ids: list[str] | None = None,
        limit: int = 100,
    ) -> list[Any]:
        found = await self._full_text(_Leg("facts", search_filter, group_ids, limit), query)
        return _objects("facts", found, search_filter)

    async def node_fulltext_search(
        self,
        driver: Any,
        query: str,
        search_filter: Any,
        group_ids: list[str] | None = None,
        limit: int = 100,
    ) -> list[Any]:
        found = await self._full_text(_Leg("entities", search_filter, group_ids, limit), query)
        return _objects("entities", found, search_filter)

    async def episode_fulltext_search(
        self,
        driver: Any,
        query: str,
        search_filter: Any,
        group_ids: list[str] | None = None,
        limit: int = 100,
    ) -> list[Any]:
        """None: episodes are chunks, which the chunk store searches."""
        return []

    # Cosine

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
        ends = [
            sql.is_in("source_uuid", [source_node_uuid]) if source_node_uuid is not None else None,
            sql.is_in("target_uuid", [target_node_uuid]) if target_node_uuid is not None else None,
        ]
        leg = _Leg("facts", search_filter, group_ids, limit)
        found = await self._cosine(leg, search_vector, min_score, ends)
        return _objects("facts", found, search_filter)

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
            allowed = await self._pick_rows(group, "entities", list(scores), search_filter)
            found += [(row, scores[uuid]) for uuid, row in allowed.items()]
        found.sort(key=lambda pair: (-pair[1], pair[0]["uuid"]))
        return _objects("entities", found[:limit], search_filter)

    # Breadth first

    async def edge_bfs_search(
        self,
        driver: Any,
        bfs_origin_node_uuids: list[str] | None,
        bfs_max_depth: int,
        search_filter: Any,
        group_ids: list[str] | None = None,
        limit: int = 100,
    ) -> list[Any]:
        """Facts on paths of up to ``bfs_max_depth`` edges from entities or episodes; nearer ones first."""
        found: list[Row] = []
        for group in await self._groups(group_ids):
            reached = await reach(self._tables, group, bfs_origin_node_uuids or [], bfs_max_depth)
            allowed = await self._pick_rows(group, "facts", list(reached.facts), search_filter)
            found.extend(allowed[uuid] for uuid in reached.facts if uuid in allowed)
        return [objects.to_fact(row) for row in found[:limit]]

    async def node_bfs_search(
        self,
        driver: Any,
        bfs_origin_node_uuids: list[str] | None,
        search_filter: Any,
        bfs_max_depth: int,
        group_ids: list[str] | None = None,
        limit: int = 100,
    ) -> list[Any]:
        """Entities reached over up to ``bfs_max_depth`` edges from entities or episodes; nearer ones first."""
        found: list[Row] = []
        for group in await self._groups(group_ids):
            reached = await reach(self._tables, group, bfs_origin_node_uuids or [], bfs_max_depth)
            allowed = await self._pick_rows(group, "entities", list(reached.entities), search_filter)
            found.extend(allowed[uuid] for uuid in reached.entities if uuid in allowed)
        return [objects.to_entity(row) for row in found[:limit]]

    # Rerankers

    async def node_distance_reranker(
        self, driver: Any, node_uuids: list[str], center_node_uuid: str, min_score: float = 0
    ) -> tuple[list[str], list[float]]:
        """1 / distance: 10 for the centre itself, 1 for a direct neighbour, 0 for the rest; as Graphiti does."""
        others = [uuid for uuid in node_uuids if uuid != center_node_uuid]
        near: set[str] = set()
        for group in await self._tables.groups():
            near |= await neighbours(self._tables, group, center_node_uuid, others)
        scored = [(uuid, 1.0 if uuid in near else 0.0) for uuid in others]
        scored.sort(key=lambda pair: -pair[1])
        if center_node_uuid in node_uuids:
            scored.insert(0, (center_node_uuid, 10.0))
        kept = [(uuid, score) for uuid, score in scored if score >= min_score]
        return [uuid for uuid, _ in kept], [score for _, score in kept]

    async def episode_mentions_reranker(
        self, driver: Any, node_uuids: list[list[str]], min_score: float = 0
    ) -> tuple[list[str], list[float]]:
        """By the number of episodes that mention the node; ties as Graphiti's RRF orders them."""
        first: dict[str, float] = {}
        for ranked in node_uuids:
            for rank, uuid in enumerate(ranked, start=1):
                first[uuid] = first.get(uuid, 0.0) + 1 / rank
        counts: Counter[str] = Counter()
        for group in await self._tables.groups():
            rows = await self._tables.select_in(group, "mentions", "target_uuid", first, ["target_uuid"])
            counts.update(row["target_uuid"] for row in rows)
        ordered = sorted(first, key=lambda uuid: (-counts[uuid], -first[uuid], uuid))
        kept = [uuid for uuid in ordered if counts[uuid] >= min_score]
        return kept, [float(counts[uuid]) for uuid in kept]

    async def _full_text(self, leg: _Leg, query: str) -> ScoredRows:
        text = searchable(query)
        select = _columns(leg.kind, leg.search_filter)

        async def fetch(group: str, where: str | None, count: int) -> ScoredRows:
            return await self._tables.matching(group, leg.kind, text, select, where=where, limit=count)

        found = await self._search_leg(leg, fetch)
        if isinstance(leg.search_filter, RestrictedFilters):
            for row, score in found:
                leg.search_filter.recorder.saw(row, score)
        return found

    async def _cosine(
        self, leg: _Leg, vector: Sequence[float], min_score: float, ends: Sequence[str | None] = ()
    ) -> ScoredRows:
        if not _points(vector):
            return []

        select = _columns(leg.kind, leg.search_filter)

        async def fetch(group: str, where: str | None, count: int) -> ScoredRows:
            return await self._tables.nearest(group, leg.kind, vector, select, where=where, limit=count)

        found = await self._search_leg(leg, fetch, ends)
        kept = [(row, score) for row, score in found if score > min_score]
        if isinstance(leg.search_filter, RestrictedFilters):
            for row, _ in kept:
                leg.search_filter.recorder.saw(row)
        return kept

    async def _search_leg(self, leg: _Leg, fetch: Fetch, ends: Sequence[str | None] = ()) -> ScoredRows:
        """One leg over all groups, each restricted before ranks are given."""

        async def one(group: str) -> ScoredRows:
            visible = Visibility.of(self._tables, group, leg.kind, leg.search_filter)
            where = sql.every([*visible.conditions, *ends])
            return await visible.fill_leg(lambda count: fetch(group, where, count), leg.limit)

        parts = await asyncio.gather(*(one(group) for group in await self._groups(leg.group_ids)))
        merged = [pair for part in parts for pair in part]
        return sorted(merged, key=lambda pair: (-pair[1], pair[0]["uuid"]))[: leg.limit]

    async def _pick_rows(
        self, group: str, kind: Kind, uuids: Sequence[str], search_filter: Any
    ) -> dict[str, Row]:
        visible = Visibility.of(self._tables, group, kind, search_filter)
        where = sql.every(visible.conditions)
        rows = await self._tables.select_in(group, kind, "uuid", uuids, also=where)
        return {row["uuid"]: row for row in await visible.allowed_rows(rows)}

    async def _groups(self, group_ids: list[str] | None) -> list[str]:
        return group_ids if group_ids is not None else await self._tables.groups()


def _columns(kind: Kind, search_filter: Any) -> list[str]:
    """Columns that a leg reads of the rows it finds; reading costs more than searching."""
    if not isinstance(search_filter, RestrictedFilters):
        return objects.columns_of_objects(kind)
    return ["uuid", "_rowid"]


_TYPES: Mapping[Kind, tuple[Callable[[Row], Any], Any]] = {
    "facts": (objects.to_fact, EntityEdge.model_construct(uuid="")),
    "entities": (objects.to_entity, EntityNode.model_construct(uuid="")),
}
"""Constructor of Graphiti's objects by kind, and an empty object: a copy takes a hundredth of a construction."""


def _objects(kind: Kind, scored_rows: ScoredRows, search_filter: Any) -> list[Any]:
    """Graphiti's objects; those of our own searches have only a uuid, because the best rows are read
    afterwards."""
    made, empty = _TYPES[kind]
    if isinstance(search_filter, RestrictedFilters):
        return [empty.model_copy(update={"uuid": row["uuid"]}) for row, _ in scored_rows]
    return [made(row) for row, _ in scored_rows]


def _points(vector: Sequence[float]) -> bool:
    """Whether a vector has a direction."""
    return all(math.isfinite(x) for x in vector) and any(vector)


def searchable(query: str) -> str:
    """The query without control characters and surrogates, at most 60 words; may be empty."""
    printable = "".join(" " if unicodedata.category(c)[0] == "C" else c for c in query[: 20 * MAX_CHARACTERS])
    words = unicodedata.normalize("NFKC", printable).split()[:MAX_WORDS]
    return " ".join(words)[:MAX_CHARACTERS].strip()
