"""Graphiti's look-ups answered by LanceDB: what reading an episode and adding a fact need.

For what is left out here, Graphiti asks in Cypher, which the embedded graph does not have.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any

from pydantic import ConfigDict, PrivateAttr

from agentic_rag.stores.graph import sql
from agentic_rag.stores.graph.schemas import Kind, Row
from agentic_rag.stores.graph.tables import GraphTables
from agentic_rag.stores.graphiti import objects
from agentic_rag.stores.graphiti.library import (
    EdgeNotFoundError,
    EpisodeType,
    GraphOperationsInterface,
    NodeNotFoundError,
)
from agentic_rag.stores.lancedb.sql import not_after


class ReadOperations(GraphOperationsInterface):  # type: ignore[misc]
    """Entities, facts and episodes by uuid, entities by name, the latest episodes, and facts' vectors.

    Args:
        tables: where all of it is read.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)
    _tables: GraphTables = PrivateAttr()

    def __init__(self, tables: GraphTables) -> None:
        super().__init__()
        self._tables = tables

    async def edge_load_embeddings(self, edge: Any, driver: Any) -> None:
        vectors = await self.edge_load_embeddings_bulk(driver, [edge])
        edge.fact_embedding = _only(vectors.get(edge.uuid), EdgeNotFoundError(edge.uuid))

    async def edge_load_embeddings_bulk(
        self, driver: Any, edges: list[Any], batch_size: int = 100
    ) -> dict[str, list[float]]:
        return await _vectors(self._tables, edges)

    async def node_get_by_uuid(self, _cls: Any, driver: Any, uuid: str) -> Any:
        return _only(await self.node_get_by_uuids(_cls, driver, [uuid]), NodeNotFoundError(uuid))[0]

    async def node_get_by_uuids(
        self, _cls: Any, driver: Any, uuids: list[str], group_id: str | None = None
    ) -> list[Any]:
        return [objects.to_entity(row) for row in await _rows(self._tables, "entities", uuids)]

    async def node_get_by_names(
        self, _cls: Any, driver: Any, names: list[str], group_ids: list[str]
    ) -> list[Any]:
        found: list[Row] = []
        for group in sorted(set(group_ids)):
            found.extend(await self._tables.select_in(group, "entities", "name", set(names)))
        return [objects.to_entity(row) for row in found]

    async def edge_get_by_uuid(self, _cls: Any, driver: Any, uuid: str) -> Any:
        return _only(await self.edge_get_by_uuids(_cls, driver, [uuid]), EdgeNotFoundError(uuid))[0]

    async def edge_get_by_uuids(self, _cls: Any, driver: Any, uuids: list[str]) -> list[Any]:
        return [objects.to_fact(row) for row in await _rows(self._tables, "facts", uuids)]

    async def episodic_node_get_by_uuid(self, _cls: Any, driver: Any, uuid: str) -> Any:
        return _only(await self.episodic_node_get_by_uuids(_cls, driver, [uuid]), NodeNotFoundError(uuid))[0]

    async def episodic_node_get_by_uuids(self, _cls: Any, driver: Any, uuids: list[str]) -> list[Any]:
        return [objects.to_episode(row) for row in await _rows(self._tables, "episodes", uuids)]

    async def retrieve_episodes(
        self,
        driver: Any,
        reference_time: datetime,
        last_n: int = 3,
        group_ids: list[str] | None = None,
        source: EpisodeType | None = None,
        saga: str | None = None,
    ) -> list[Any]:
        """The latest episodes up to the reference time, oldest first.

        Raises ``NotImplementedError`` for a saga: Graphiti asks in Cypher then.
        """
        if saga is not None:
            raise NotImplementedError
        of_source = sql.is_in("source", [source.name]) if source else None
        where = sql.every([not_after("valid_at", reference_time), of_source])
        columns = ["uuid", "valid_at", "created_at"]
        dated: list[Row] = []
        for group in group_ids or await self._tables.groups():
            dated.extend(await self._tables.select(group, "episodes", where, columns))
        dated.sort(key=lambda row: (row["valid_at"], row["created_at"], row["uuid"]))
        latest = [row["uuid"] for row in dated[max(0, len(dated) - last_n) :]]
        return [objects.to_episode(row) for row in await _rows(self._tables, "episodes", latest)]


def _only(results: Any, missing: Exception) -> Any:
    """What was found; raises ``missing`` where that is nothing."""
    if not results:
        raise missing
    return results


async def _rows(tables: GraphTables, kind: Kind, uuids: Collection[str]) -> list[Row]:
    """In the order of the uuids, from whichever group has them."""
    found: dict[str, Row] = {}
    for group in await tables.groups() if uuids else []:
        found |= {row["uuid"]: row for row in await tables.select_in(group, kind, "uuid", uuids)}
    return [found[uuid] for uuid in dict.fromkeys(uuids) if uuid in found]


async def _vectors(tables: GraphTables, facts: Sequence[Any]) -> dict[str, list[float]]:
    """By uuid, of those that are stored."""
    groups: dict[str, list[str]] = {}
    for fact in facts:
        groups.setdefault(fact.group_id, []).append(fact.uuid)
    found: dict[str, list[float]] = {}
    for group, uuids in groups.items():
        vectors = await tables.vectors(group, "facts", uuids)
        found |= {uuid: [float(x) for x in vector] for uuid, vector in vectors.items()}
    return {fact.uuid: found[fact.uuid] for fact in facts if fact.uuid in found}
