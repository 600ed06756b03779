"""Graphiti's hooks: every node and edge it writes goes to LanceDB, after a graph server's commit where there is one.

The look-ups that reading an episode needs answer from LanceDB. For what these hooks leave out, Graphiti
queries the server, or the copy that answers Cypher.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

from pydantic import ConfigDict, PrivateAttr

from agentic_rag.stores.graphiti import rows as convert
from agentic_rag.stores.graphiti import sql
from agentic_rag.stores.graphiti.library import (
    EdgeNotFoundError,
    EmbedderClient,
    EpisodeType,
    GraphOperationsInterface,
    NodeNotFoundError,
)
from agentic_rag.stores.graphiti.schemas import Kind, Row, embedded_column
from agentic_rag.stores.graphiti.server_graph import NoGraph
from agentic_rag.stores.graphiti.tables import GraphTables
from agentic_rag.stores.lancedb.sql import not_after


class LanceMirror(GraphOperationsInterface):  # type: ignore[misc]
    """Keeps LanceDB in step with what is written through Graphiti.

    Args:
        tables: where rows go after the commit.
        graph: how rows are written to a server.
        embedder: for nodes and edges that are saved without a vector.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)
    _tables: GraphTables = PrivateAttr()
    _graph: NoGraph = PrivateAttr()
    _embedder: EmbedderClient = PrivateAttr()

    def __init__(self, tables: GraphTables, graph: NoGraph, embedder: EmbedderClient) -> None:
        super().__init__()
        self._tables = tables
        self._graph = graph
        self._embedder = embedder

    # One object at a time

    async def node_save(self, node: Any, driver: Any) -> None:
        await self.save_many(driver, "entities", [node])

    async def episodic_node_save(self, node: Any, driver: Any) -> None:
        await self.save_many(driver, "episodes", [node])

    async def community_node_save(self, node: Any, driver: Any) -> None:
        await self.save_many(driver, "communities", [node])

    async def saga_node_save(self, node: Any, driver: Any) -> None:
        await self.save_many(driver, "sagas", [node])

    async def edge_save(self, edge: Any, driver: Any) -> None:
        await self.save_many(driver, "facts", [edge])

    async def episodic_edge_save(self, edge: Any, driver: Any) -> None:
        await self.save_many(driver, "mentions", [edge])

    async def community_edge_save(self, edge: Any, driver: Any) -> None:
        await self.save_many(driver, "links", [edge])

    async def has_episode_edge_save(self, edge: Any, driver: Any) -> None:
        await self.save_many(driver, "links", [edge])

    async def next_episode_edge_save(self, edge: Any, driver: Any) -> None:
        await self.save_many(driver, "links", [edge])

    # Many in one transaction; Graphiti's bulk writer calls these four

    async def episodic_node_save_bulk(
        self, _cls: Any, driver: Any, transaction: Any, nodes: list[Any], batch_size: int = 100
    ) -> None:
        rows = await asyncio.to_thread(lambda: [convert.episode_row(_plain(node)) for node in nodes])
        await self._put(transaction, "episodes", rows)

    async def node_save_bulk(
        self, _cls: Any, driver: Any, transaction: Any, nodes: list[Any], batch_size: int = 100
    ) -> None:
        await self._put(transaction, "entities", [convert.entity_row(_plain(node)) for node in nodes])

    async def episodic_edge_save_bulk(
        self, _cls: Any, driver: Any, transaction: Any, episodic_edges: list[Any], batch_size: int = 100
    ) -> None:
        rows = [convert.mention_row(_plain(edge)) for edge in episodic_edges]
        await self._put(transaction, "mentions", rows)

    async def edge_save_bulk(
        self, _cls: Any, driver: Any, transaction: Any, edges: list[Any], batch_size: int = 100
    ) -> None:
        await self._put(transaction, "facts", [convert.fact_row(_plain(edge)) for edge in edges])

    # Deleting

    async def node_delete(self, node: Any, driver: Any) -> None:
        await self._delete_nodes(driver, [node.uuid])

    async def saga_node_delete(self, node: Any, driver: Any) -> None:
        await self._delete_nodes(driver, [node.uuid])

    async def node_delete_by_uuids(
        self, _cls: Any, driver: Any, uuids: list[str], group_id: str | None = None, batch_size: int = 100
    ) -> None:
        await self._delete_nodes(driver, uuids)

    async def node_delete_by_group_id(
        self, _cls: Any, driver: Any, group_id: str, batch_size: int = 100
    ) -> None:
        await self._delete_group(driver, group_id, sagas=False)

    async def edge_delete(self, edge: Any, driver: Any) -> None:
        await self._delete_edges(driver, [edge.uuid])

    async def edge_delete_by_uuids(
        self, _cls: Any, driver: Any, uuids: list[str], group_id: str | None = None
    ) -> None:
        await self._delete_edges(driver, uuids)

    async def has_episode_edge_delete(self, edge: Any, driver: Any) -> None:
        await self._delete_edges(driver, [edge.uuid])

    async def next_episode_edge_delete(self, edge: Any, driver: Any) -> None:
        await self._delete_edges(driver, [edge.uuid])

    async def clear_data(self, driver: Any, group_ids: list[str] | None = None) -> None:
        for group in [None] if group_ids is None else group_ids:
            await self._delete_group(driver, group, sagas=True)

    async def remove_communities(self, driver: Any, group_ids: list[str] | None = None) -> None:
        uuids: list[str] = []
        for group in group_ids or await self._tables.groups():
            uuids.extend(row["uuid"] for row in await self._tables.select(group, "communities"))
        await self._delete_nodes(driver, uuids)

    # Reading: vectors, which only LanceDB has, and look-ups that would scan the graph

    async def node_load_embeddings(self, node: Any, driver: Any) -> None:
        node.name_embedding = await self._vector("entities", node)

    async def edge_load_embeddings(self, edge: Any, driver: Any) -> None:
        edge.fact_embedding = await self._vector("facts", edge)

    async def community_node_load_name_embedding(self, node: Any, driver: Any) -> None:
        node.name_embedding = await self._vector("communities", node)

    async def node_load_embeddings_bulk(
        self, driver: Any, nodes: list[Any], batch_size: int = 100
    ) -> dict[str, list[float]]:
        return await self._vectors("entities", nodes)

    async def edge_load_embeddings_bulk(
        self, driver: Any, edges: list[Any], batch_size: int = 100
    ) -> dict[str, list[float]]:
        return await self._vectors("facts", edges)

    async def community_load_embeddings_bulk(self, communities: list[Any]) -> dict[str, list[float]]:
        """For the search interface, which has the hook for communities."""
        return await self._vectors("communities", communities)

    async def node_get_by_uuid(self, _cls: Any, driver: Any, uuid: str) -> Any:
        found = await self.node_get_by_uuids(_cls, driver, [uuid])
        if not found:
            raise NodeNotFoundError(uuid)
        return found[0]

    async def node_get_by_uuids(
        self, _cls: Any, driver: Any, uuids: list[str], group_id: str | None = None
    ) -> list[Any]:
        return [convert.to_entity(row) for row in await self._rows("entities", uuids)]

    async def node_get_by_names(
        self, _cls: Any, driver: Any, names: list[str], group_ids: list[str]
    ) -> list[Any]:
        found: list[Row] = []
        for group in sorted(set(group_ids)):
            found.extend(await self._tables.select_in(group, "entities", "name", set(names)))
        return [convert.to_entity(row) for row in found]

    async def edge_get_by_uuid(self, _cls: Any, driver: Any, uuid: str) -> Any:
        found = await self.edge_get_by_uuids(_cls, driver, [uuid])
        if not found:
            raise EdgeNotFoundError(uuid)
        return found[0]

    async def edge_get_by_uuids(self, _cls: Any, driver: Any, uuids: list[str]) -> list[Any]:
        return [convert.to_fact(row) for row in await self._rows("facts", uuids)]

    async def episodic_node_get_by_uuid(self, _cls: Any, driver: Any, uuid: str) -> Any:
        found = await self.episodic_node_get_by_uuids(_cls, driver, [uuid])
        if not found:
            raise NodeNotFoundError(uuid)
        return found[0]

    async def episodic_node_get_by_uuids(self, _cls: Any, driver: Any, uuids: list[str]) -> list[Any]:
        return [convert.to_episode(row) for row in await self._rows("episodes", uuids)]

    async def episodic_node_get_by_group_ids(
        self,
        _cls: Any,
        driver: Any,
        group_ids: list[str],
        limit: int | None = None,
        uuid_cursor: str | None = None,
    ) -> list[Any]:
        where = sql.before("uuid", uuid_cursor) if uuid_cursor else None
        found: list[Row] = []
        for group in group_ids:
            found.extend(await self._tables.select(group, "episodes", where))
        found.sort(key=lambda row: str(row["uuid"]), reverse=True)
        return [convert.to_episode(row) for row in found[:limit]]

    async def retrieve_episodes(
        self,
        driver: Any,
        reference_time: datetime,
        last_n: int = 3,
        group_ids: list[str] | None = None,
        source: EpisodeType | None = None,
        saga: str | None = None,
    ) -> list[Any]:
        if saga is not None:
            raise NotImplementedError  # Graphiti asks in Cypher then
        where = sql.every(
            [
                not_after("valid_at", reference_time),
                sql.is_in("source", [source.name]) if source else None,
            ]
        )
        dated: list[Row] = []
        for group in group_ids or await self._tables.groups():
            dated.extend(
                await self._tables.select(group, "episodes", where, ["uuid", "valid_at", "created_at"])
            )
        dated.sort(key=lambda row: (row["valid_at"], row["created_at"], row["uuid"]))
        latest = [row["uuid"] for row in dated[max(0, len(dated) - last_n) :]]
        return [convert.to_episode(row) for row in await self._rows("episodes", latest)]

    # For the namespaces (see ``mirrored_operations``)

    async def save_many(self, driver: Any, kind: Kind, things: Sequence[Any]) -> None:
        """Many objects of one kind in one transaction."""
        rows = [_row(kind, thing) for thing in things]
        if rows:
            await self._embed(kind, rows)
            await _in_transaction(driver, lambda transaction: self._put(transaction, kind, rows))

    async def uuids(self, group: str, kind: Kind) -> list[str]:
        return [row["uuid"] for row in await self._tables.select(group, kind, select=["uuid"])]

    async def load_vectors(self, kind: Kind, things: Sequence[Any]) -> None:
        """Fill in the vectors that are stored."""
        found = await self._vectors(kind, things)
        for thing in things:
            if thing.uuid in found:
                setattr(thing, "fact_embedding" if kind == "facts" else "name_embedding", found[thing.uuid])

    async def _put(self, transaction: Any, kind: Kind, rows: list[Row]) -> None:
        await self._embed(kind, rows)
        await self._graph.upsert(transaction.run, kind, rows)
        transaction.change.put(kind, rows)

    async def _embed(self, kind: Kind, rows: Sequence[Row]) -> None:
        missing = [row for row in rows if "vector" in row and row["vector"] is None]
        if missing:
            texts = [str(row[embedded_column(kind)]) for row in missing]
            for row, vector in zip(missing, await self._embedder.create_batch(texts), strict=True):
                row["vector"] = vector

    async def _delete_nodes(self, driver: Any, uuids: Collection[str]) -> None:
        async def work(transaction: Any) -> None:
            await self._graph.delete_nodes(transaction.run, uuids)
            transaction.change.delete_nodes(uuids)

        if uuids:
            await _in_transaction(driver, work)

    async def _delete_edges(self, driver: Any, uuids: Collection[str]) -> None:
        async def work(transaction: Any) -> None:
            await self._graph.delete_edges(transaction.run, uuids)
            transaction.change.delete_edges(uuids)

        if uuids:
            await _in_transaction(driver, work)

    async def _delete_group(self, driver: Any, group: str | None, *, sagas: bool) -> None:
        async def work(transaction: Any) -> None:
            await self._graph.delete_group(transaction.run, group, sagas=sagas)
            transaction.change.delete_group(group, sagas=sagas)

        await _in_transaction(driver, work)

    async def _rows(self, kind: Kind, uuids: Collection[str]) -> list[Row]:
        """In the order asked for, from whichever group has them."""
        found: dict[str, Row] = {}
        for group in await self._tables.groups() if uuids else []:
            rows = await self._tables.select_in(group, kind, "uuid", uuids)
            found |= {row["uuid"]: row for row in rows}
        return [found[uuid] for uuid in dict.fromkeys(uuids) if uuid in found]

    async def _vector(self, kind: Kind, thing: Any) -> list[float]:
        found = await self._vectors(kind, [thing])
        if thing.uuid not in found:
            raise (EdgeNotFoundError if kind == "facts" else NodeNotFoundError)(thing.uuid)
        return found[thing.uuid]

    async def _vectors(self, kind: Kind, things: Sequence[Any]) -> dict[str, list[float]]:
        groups: dict[str, list[str]] = {}
        for thing in things:
            groups.setdefault(thing.group_id, []).append(thing.uuid)
        found: dict[str, list[float]] = {}
        for group, uuids in groups.items():
            vectors = await self._tables.vectors(group, kind, uuids)
            found |= {uuid: [float(x) for x in vector] for uuid, vector in vectors.items()}
        return {thing.uuid: found[thing.uuid] for thing in things if thing.uuid in found}


async def _in_transaction(driver: Any, work: Callable[[Any], Awaitable[None]]) -> None:
    session = driver.session()
    try:
        await session.execute_write(work)
    finally:
        await session.close()


def _row(kind: Kind, thing: Any) -> Row:
    if kind == "links":
        return convert.link_row(_LINKS[type(thing).__name__], thing.model_dump())
    return _ROWS[kind](thing.model_dump())


_ROWS: dict[Kind, Callable[[Mapping[str, Any]], Row]] = {
    "entities": convert.entity_row,
    "episodes": convert.episode_row,
    "facts": convert.fact_row,
    "mentions": convert.mention_row,
    "communities": convert.community_row,
    "sagas": convert.saga_row,
}
_LINKS = {
    "CommunityEdge": "HAS_MEMBER",
    "HasEpisodeEdge": "HAS_EPISODE",
    "NextEpisodeEdge": "NEXT_EPISODE",
}


def _plain(thing: Any) -> Mapping[str, Any]:
    """Graphiti's bulk writer hands dicts to some hooks and objects to others."""
    return thing if isinstance(thing, Mapping) else thing.model_dump()
