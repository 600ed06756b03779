"""Graphiti's writes: every entity, fact, episode and mention goes to LanceDB, after a graph server's commit where there
is one.

Communities and sagas are left to Graphiti, which writes and reads them in Cypher: on a graph server alone.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import Any

from pydantic import PrivateAttr

from agentic_rag.stores.graph.schemas import Kind, Row
from agentic_rag.stores.graph.server_graph import NoGraph
from agentic_rag.stores.graph.tables import GraphTables
from agentic_rag.stores.graphiti import objects
from agentic_rag.stores.graphiti.library import (
    CommunityEdge,
    CommunityNode,
    EmbedderClient,
    EntityNode,
    HasEpisodeEdge,
    NextEpisodeEdge,
    SagaNode,
)
from agentic_rag.stores.graphiti.read_operations import ReadOperations

_LEFT_TO_GRAPHITI = (CommunityNode, SagaNode, CommunityEdge, HasEpisodeEdge, NextEpisodeEdge)


class DeleteOperations(ReadOperations):
    """Deletes entities, facts, episodes and mentions; belongs to ``GraphOperations``."""

    _graph: NoGraph = PrivateAttr()

    async def node_delete(self, node: Any, driver: Any) -> None:
        await self.node_delete_by_uuids(type(node), driver, [node.uuid])

    async def node_delete_by_uuids(
        self, _cls: Any, driver: Any, uuids: list[str], group_id: str | None = None, batch_size: int = 100
    ) -> None:
        async def work(transaction: Any) -> None:
            await self._graph.delete_nodes(transaction.run, uuids)
            transaction.change.delete_nodes(uuids)

        await _delete(_cls, driver, uuids, work)

    async def node_delete_by_group_id(
        self, _cls: Any, driver: Any, group_id: str, batch_size: int = 100
    ) -> None:
        rows = [
            *await self._tables.select(group_id, "entities", select=["uuid"]),
            *await self._tables.select(group_id, "episodes", select=["uuid"]),
        ]
        await self.node_delete_by_uuids(_cls, driver, [row["uuid"] for row in rows])

    async def edge_delete(self, edge: Any, driver: Any) -> None:
        await self.edge_delete_by_uuids(type(edge), driver, [edge.uuid])

    async def edge_delete_by_uuids(
        self, _cls: Any, driver: Any, uuids: list[str], group_id: str | None = None
    ) -> None:
        async def work(transaction: Any) -> None:
            await self._graph.delete_edges(transaction.run, uuids)
            transaction.change.delete_edges(uuids)

        await _delete(_cls, driver, uuids, work)

    async def clear_data(self, driver: Any, group_ids: list[str] | None = None) -> None:
        """Communities and sagas stay, which only a server can have."""
        for group in await self._tables.groups() if group_ids is None else group_ids:
            await self.node_delete_by_group_id(EntityNode, driver, group)


class GraphOperations(DeleteOperations):
    """Keeps LanceDB in step with what is written through Graphiti.

    Args:
        tables: where rows go after the commit.
        graph: how rows are written to a server.
        embedder: for facts that are saved without a vector, and for names when Graphiti asks for their vectors.
    """

    _embedder: EmbedderClient = PrivateAttr()

    def __init__(self, tables: GraphTables, graph: NoGraph, embedder: EmbedderClient) -> None:
        super().__init__(tables)
        self._graph = graph
        self._embedder = embedder

    async def node_load_embeddings(self, node: Any, driver: Any) -> None:
        node.name_embedding = await self._embedder.create(node.name)

    async def node_load_embeddings_bulk(
        self, driver: Any, nodes: list[Any], batch_size: int = 100
    ) -> dict[str, list[float]]:
        """No entity's vector is stored: its name is embedded again."""
        vectors = await self._embedder.create_batch([node.name for node in nodes]) if nodes else []
        return {node.uuid: list(vector) for node, vector in zip(nodes, vectors, strict=True)}

    # One object at a time

    async def node_save(self, node: Any, driver: Any) -> None:
        await self.save_many(driver, "entities", [node])

    async def episodic_node_save(self, node: Any, driver: Any) -> None:
        await self.save_many(driver, "episodes", [node])

    async def edge_save(self, edge: Any, driver: Any) -> None:
        await self.save_many(driver, "facts", [edge])

    async def episodic_edge_save(self, edge: Any, driver: Any) -> None:
        await self.save_many(driver, "mentions", [edge])

    async def save_many(self, driver: Any, kind: Kind, things: Sequence[Any]) -> None:
        """Many objects of one kind in one transaction."""
        if things:
            rows = [_ROWS[kind](thing.model_dump()) for thing in things]
            await self._embed(rows)  # before the turn to write
            await _in_transaction(driver, lambda transaction: self._put(transaction, kind, rows))

    # Many in one transaction; Graphiti's bulk writer calls these four

    async def episodic_node_save_bulk(
        self, _cls: Any, driver: Any, transaction: Any, nodes: list[Any], batch_size: int = 100
    ) -> None:
        await self._put(transaction, "episodes", [objects.episode_row(node) for node in nodes])

    async def node_save_bulk(
        self, _cls: Any, driver: Any, transaction: Any, nodes: list[Any], batch_size: int = 100
    ) -> None:
        await self._put(transaction, "entities", [objects.entity_row(node) for node in nodes])

    async def episodic_edge_save_bulk(
        self, _cls: Any, driver: Any, transaction: Any, episodic_edges: list[Any], batch_size: int = 100
    ) -> None:
        await self._put(transaction, "mentions", [objects.mention_row(edge) for edge in episodic_edges])

    async def edge_save_bulk(
        self, _cls: Any, driver: Any, transaction: Any, edges: list[Any], batch_size: int = 100
    ) -> None:
        await self._put(transaction, "facts", [objects.fact_row(edge) for edge in edges])

    async def _put(self, transaction: Any, kind: Kind, rows: list[Row]) -> None:
        await self._embed(rows)
        await self._graph.put(transaction, kind, rows)

    async def _embed(self, rows: Sequence[Row]) -> None:
        missing = [row for row in rows if "vector" in row and row["vector"] is None]
        if missing:
            vectors = await self._embedder.create_batch([row["fact"] for row in missing])
            for row, vector in zip(missing, vectors, strict=True):
                row["vector"] = vector


_ROWS: dict[Kind, Callable[[Mapping[str, Any]], Row]] = {
    "entities": objects.entity_row,
    "episodes": objects.episode_row,
    "facts": objects.fact_row,
    "mentions": objects.mention_row,
}


async def _delete(
    cls: type, driver: Any, uuids: Collection[str], work: Callable[[Any], Awaitable[None]]
) -> None:
    """Raises ``NotImplementedError`` where Graphiti itself has to delete things of this class."""
    if issubclass(cls, _LEFT_TO_GRAPHITI):
        raise NotImplementedError
    if uuids:
        await _in_transaction(driver, work)


async def _in_transaction(driver: Any, work: Callable[[Any], Awaitable[None]]) -> None:
    session = driver.session()
    try:
        await session.execute_write(work)
    finally:
        await session.close()
