"""Routes ``graphiti.nodes.…`` and ``graphiti.edges.…`` through the mirror.

Graphiti's own operations would write the graph and leave LanceDB behind.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agentic_rag.stores.graphiti.mirror import LanceMirror
from agentic_rag.stores.graphiti.schemas import Kind

_NODES: dict[str, Kind] = {
    "entity_node_ops": "entities",
    "episode_node_ops": "episodes",
    "community_node_ops": "communities",
    "saga_node_ops": "sagas",
}
_EDGES: dict[str, Kind] = {
    "entity_edge_ops": "facts",
    "episodic_edge_ops": "mentions",
    "community_edge_ops": "links",
    "has_episode_edge_ops": "links",
    "next_episode_edge_ops": "links",
}


class MirroredOperations:
    """One kind's operations: writes and vectors by the mirror, everything else by Graphiti's own.

    A transaction that is passed in is the driver's current one, which the mirror joins by itself.
    """

    def __init__(self, inner: Any, mirror: LanceMirror, kind: Kind) -> None:
        self._inner = inner
        self._mirror = mirror
        self._kind = kind

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    async def save(self, executor: Any, thing: Any, tx: Any = None) -> None:
        await thing.save(executor)

    async def save_bulk(
        self, executor: Any, things: Sequence[Any], tx: Any = None, batch_size: int = 100
    ) -> None:
        await self._mirror.save_many(executor, self._kind, things)

    async def delete(self, executor: Any, thing: Any, tx: Any = None) -> None:
        await self.delete_by_uuids(executor, [thing.uuid])

    async def delete_by_uuids(
        self, executor: Any, uuids: list[str], tx: Any = None, batch_size: int = 100
    ) -> None:
        if self._kind in _NODES.values():
            await self._mirror.node_delete_by_uuids(None, executor, uuids)
        else:
            await self._mirror.edge_delete_by_uuids(None, executor, uuids)

    async def delete_by_group_id(
        self, executor: Any, group_id: str, tx: Any = None, batch_size: int = 100
    ) -> None:
        await self.delete_by_uuids(executor, await self._mirror.uuids(group_id, self._kind))

    async def load_embeddings(self, executor: Any, thing: Any) -> None:
        await self.load_embeddings_bulk(executor, [thing])

    async def load_embeddings_bulk(self, executor: Any, things: Sequence[Any], batch_size: int = 100) -> None:
        await self._mirror.load_vectors(self._kind, things)

    async def load_name_embedding(self, executor: Any, thing: Any) -> None:
        await self.load_embeddings_bulk(executor, [thing])


def mirror_operations(driver: Any, mirror: LanceMirror) -> None:
    """Put the mirrored operations in the place of the driver's own."""
    for name, kind in (_NODES | _EDGES).items():
        own = getattr(driver, name)
        if own is not None:
            setattr(driver, f"_{name}", MirroredOperations(own, mirror, kind))
