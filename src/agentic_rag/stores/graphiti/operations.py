"""Graphiti's reads and writes while it extracts an episode, answered by LanceDB: after a graph server's commit where
there is one.

For what is left out here, Graphiti asks in Cypher, which the embedded graph does not have.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from pydantic import ConfigDict, PrivateAttr

from agentic_rag.stores.graph.mirror import Mirror
from agentic_rag.stores.graph.schemas import Kind, Row
from agentic_rag.stores.graph.tables import GraphTables
from agentic_rag.stores.graphiti import objects
from agentic_rag.stores.graphiti.library import EmbedderClient, GraphOperationsInterface, NodeNotFoundError


class GraphOperations(GraphOperationsInterface):  # type: ignore[misc]
    """Entities and episodes as they are stored, and writes that keep LanceDB in step.

    Args:
        tables: what is read, and where rows go after the commit.
        mirror: how rows are written to a server.
        embedder: for facts that are saved without a vector.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)
    _tables: GraphTables = PrivateAttr()
    _mirror: Mirror = PrivateAttr()
    _embedder: EmbedderClient = PrivateAttr()

    def __init__(self, tables: GraphTables, mirror: Mirror, embedder: EmbedderClient) -> None:
        super().__init__()
        self._tables = tables
        self._mirror = mirror
        self._embedder = embedder

    async def node_get_by_uuids(
        self, _cls: Any, driver: Any, uuids: list[str], group_id: str | None = None
    ) -> list[Any]:
        return [objects.to_entity(row) for row in await self._rows("entities", uuids)]

    async def node_get_by_names(
        self, _cls: Any, driver: Any, names: list[str], group_ids: list[str]
    ) -> list[Any]:
        found: list[Row] = []
        for group in sorted(set(group_ids)):
            found.extend(await self._tables.select_in(group, "entities", "name", set(names)))
        return [objects.to_entity(row) for row in found]

    async def episodic_node_get_by_uuid(self, _cls: Any, driver: Any, uuid: str) -> Any:
        found = await self.episodic_node_get_by_uuids(_cls, driver, [uuid])
        if not found:
            raise NodeNotFoundError(uuid)
        return found[0]

    async def episodic_node_get_by_uuids(self, _cls: Any, driver: Any, uuids: list[str]) -> list[Any]:
        return [objects.to_episode(row) for row in await self._rows("episodes", uuids)]

    async def _rows(self, kind: Kind, uuids: Collection[str]) -> list[Row]:
        """In the order of the uuids, from whichever group has them."""
        found: dict[str, Row] = {}
        for group in await self._tables.groups() if uuids else []:
            found |= {row["uuid"]: row for row in await self._tables.select_in(group, kind, "uuid", uuids)}
        return [found[uuid] for uuid in dict.fromkeys(uuids) if uuid in found]

    async def episodic_node_save(self, node: Any, driver: Any) -> None:
        await self._save(driver, "episodes", [objects.episode_row(node.model_dump())])

    async def save_facts(self, driver: Any, facts: Sequence[Any]) -> None:
        """Facts in one transaction; Graphiti itself saves them with their episode."""
        if facts:
            await self._save(driver, "facts", [objects.fact_row(fact.model_dump()) for fact in facts])

    async def _save(self, driver: Any, kind: Kind, rows: list[Row]) -> None:
        await self._embed(rows)  # before the turn to write
        session = driver.session()
        try:
            await session.execute_write(lambda transaction: self._put(transaction, kind, rows))
        finally:
            await session.close()

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
        await self._mirror.put(transaction, kind, rows)

    async def _embed(self, rows: Sequence[Row]) -> None:
        missing = [row for row in rows if "vector" in row and row["vector"] is None]
        if missing:
            vectors = await self._embedder.create_batch([row["fact"] for row in missing])
            for row, vector in zip(missing, vectors, strict=True):
                row["vector"] = vector
