"""What of a write goes to a graph server beside LanceDB, which is the truth."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Sequence
from typing import Any

from agentic_rag.stores.graph.schemas import Kind, Row

Run = Callable[..., Awaitable[Any]]
"""Executes one statement and gives its rows as dicts."""


class Mirror:
    """A copy of the graph; this one keeps nothing: the embedded graph is LanceDB alone."""

    async def put(self, transaction: Any, kind: Kind, rows: Sequence[Row]) -> None:
        """``upsert``, and note the rows for LanceDB."""
        await self.upsert(transaction.run, kind, rows)
        transaction.change.put(kind, rows)

    async def upsert(self, run: Run, kind: Kind, rows: Sequence[Row]) -> None:
        """Create or replace the node or edge of each row; edges with missing ends are left out."""

    async def delete_nodes(self, run: Run, uuids: Collection[str]) -> None:
        """Delete entities and episodes with their facts and mentions."""

    async def delete_edges(self, run: Run, uuids: Collection[str], kind: Kind) -> None:
        """Delete facts or mentions."""

    async def remove_label(self, run: Run, label: str, uuids: Collection[str]) -> None:
        """Take a label off entities; ``upsert`` takes none off."""

    async def uuids(self, run: Run, group: str, kind: Kind) -> set[str]:
        """What it has of a kind."""
        return set()
