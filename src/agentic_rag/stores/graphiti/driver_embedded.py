"""Graphiti's ``GraphDriver`` without a graph database: what Graphiti writes goes to LanceDB, Cypher reads a copy."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from contextvars import ContextVar
from typing import Any

from agentic_rag.errors import StoreError
from agentic_rag.stores.graphiti.change import Change
from agentic_rag.stores.graphiti.commit import Committer
from agentic_rag.stores.graphiti.cypher_copy import CypherCopy
from agentic_rag.stores.graphiti.library import (
    KUZU_OPERATIONS,
    GraphDriver,
    GraphDriverSession,
    GraphProvider,
    Transaction,
)
from agentic_rag.stores.uninterrupted import uninterrupted

_current: ContextVar[EmbeddedTransaction | None] = ContextVar("embedded_transaction", default=None)


class EmbeddedTransaction(Transaction):  # type: ignore[misc]
    """Gathers a change and writes it to LanceDB at its end; what it wrote is not read before.

    Its turn to write comes with ``begin`` or, without that, at its end: what Graphiti does first inside
    ``execute_write`` (embedding, say) blocks nobody.
    """

    def __init__(self, driver: EmbeddedDriver) -> None:
        self.driver = driver
        self.change = Change()
        self.active = True
        self._turn: AsyncExitStack | None = None

    async def begin(self) -> None:
        """Wait for the turn, and repair what an earlier write left."""
        if self._turn is None:
            async with AsyncExitStack() as taken:
                await taken.enter_async_context(self.driver.committer.turn())
                await uninterrupted(self.driver.committer.prepare())
                self._turn = taken.pop_all()

    async def run(self, query: str, **parameters: Any) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = (await self.driver.execute_query(query, **parameters))[0]
        return rows

    async def commit(self) -> None:
        """Write the change, even if cancelled meanwhile."""
        if not self.change.is_empty():
            await self.begin()
            await uninterrupted(self._write())

    async def _write(self) -> None:
        async with AsyncExitStack() as held:
            await self.driver.committer.before_commit(self.change, held)
            await self.driver.committer.after_commit(self.change)

    async def finish(self) -> None:
        self.active = False
        if self._turn is not None:
            await self._turn.aclose()


class EmbeddedDriver(GraphDriver):  # type: ignore[misc]
    """Transactions that LanceDB keeps; belongs to one event loop.

    Args:
        committer: gives turns to write, and writes.
        copy: answers Cypher.
    """

    provider = GraphProvider.KUZU
    """Graphiti's dialect for Kuzu, which LadybugDB continues."""

    def __init__(self, committer: Committer, copy: CypherCopy) -> None:
        super().__init__()
        self._database = ""
        self.committer = committer
        self._copy = copy
        for name, operations in KUZU_OPERATIONS.items():
            setattr(self, f"_{name}", operations())

    async def reach(self) -> None:
        """Nothing to reach: the graph is LanceDB's."""

    async def execute_query(self, cypher_query_: str, **kwargs: Any) -> tuple[Any, None, None]:
        """Rows of a statement that reads.

        Raises ``StoreError`` for one that writes: LanceDB would not hear of it.
        """
        parameters = {key: value for key, value in kwargs.items() if key not in ("database_", "routing_")}
        try:
            return await self._copy.read(cypher_query_, parameters), None, None
        except RuntimeError as error:
            if "read-only" not in str(error):
                raise
            raise StoreError(
                f"Cypher only reads the embedded graph, and this statement writes: {cypher_query_.strip()[:100]!r}; "
                "write through Graphiti's methods (save, delete, add_episode, …), or use a graph server"
            ) from error

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[EmbeddedTransaction]:
        current = _current.get()
        if current is not None and current.active and current.driver is self:
            yield current  # joined: the outer one commits, and a second turn would wait for the first
            return
        transaction = EmbeddedTransaction(self)
        token = _current.set(transaction)
        try:
            yield transaction
            await transaction.commit()
        finally:
            await transaction.finish()
            _current.reset(token)

    def session(self, database: str | None = None) -> EmbeddedSession:
        return EmbeddedSession(self)

    async def close(self) -> None:
        await self._copy.close()

    def delete_all_indexes(self) -> Any:
        return self.build_indices_and_constraints()

    async def build_indices_and_constraints(self, delete_existing: bool = False) -> None:
        """Nothing to build: indexes are LanceDB's."""

    entity_node_ops = property(lambda self: self._entity_node_ops)
    episode_node_ops = property(lambda self: self._episode_node_ops)
    community_node_ops = property(lambda self: self._community_node_ops)
    saga_node_ops = property(lambda self: self._saga_node_ops)
    entity_edge_ops = property(lambda self: self._entity_edge_ops)
    episodic_edge_ops = property(lambda self: self._episodic_edge_ops)
    community_edge_ops = property(lambda self: self._community_edge_ops)
    has_episode_edge_ops = property(lambda self: self._has_episode_edge_ops)
    next_episode_edge_ops = property(lambda self: self._next_episode_edge_ops)
    search_ops = property(lambda self: self._search_ops)
    graph_ops = property(lambda self: self._graph_ops)


class EmbeddedSession(GraphDriverSession):  # type: ignore[misc]
    """A session: statements by themselves, or writes together in ``execute_write``."""

    provider = GraphProvider.KUZU

    def __init__(self, driver: EmbeddedDriver) -> None:
        self._driver = driver

    async def __aexit__(self, *_: object) -> None:
        return None

    async def close(self) -> None:
        return None

    async def run(self, query: str | list[tuple[str, dict[str, Any]]], **kwargs: Any) -> Any:
        statements = [(query, kwargs)] if isinstance(query, str) else query
        for statement, parameters in statements:
            await self._driver.execute_query(statement, **parameters)

    async def execute_write(self, func: Callable[..., Awaitable[Any]], *args: Any, **kwargs: Any) -> Any:
        async with self._driver.transaction() as transaction:
            return await func(transaction, *args, **kwargs)
