"""Graphiti's ``GraphDriver`` without a graph database: what Graphiti writes goes to LanceDB, and nothing speaks Cypher."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from contextvars import ContextVar
from typing import Any

from agentic_rag.errors import ConfigError
from agentic_rag.stores.graph.change import Change
from agentic_rag.stores.graph.commit import Committer
from agentic_rag.stores.graphiti.library import (
    GraphDriver,
    GraphDriverSession,
    GraphProvider,
    Transaction,
)
from agentic_rag.stores.uninterrupted import run_uninterrupted

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
                await run_uninterrupted(self.driver.committer.prepare())
                self._turn = taken.pop_all()

    async def run(self, query: str, **parameters: Any) -> Any:
        await self.driver.execute_query(query)

    async def commit(self) -> None:
        """Write the change, even if cancelled meanwhile."""
        if not self.change.is_empty():
            await self.begin()
            await run_uninterrupted(self._write())

    async def _write(self) -> None:
        async with AsyncExitStack() as exits:
            await self.driver.committer.before_commit(self.change, exits)
            await self.driver.committer.after_commit(self.change)

    async def finish(self) -> None:
        self.active = False
        if self._turn is not None:
            await self._turn.aclose()


class EmbeddedDriver(GraphDriver):  # type: ignore[misc]
    """Transactions that LanceDB keeps; belongs to one event loop.

    Args:
        committer: gives turns to write, and writes.
    """

    provider = GraphProvider.KUZU
    """The embedded one among Graphiti's dialects; no statement is ever run."""

    def __init__(self, committer: Committer) -> None:
        super().__init__()
        self._database = ""
        self.committer = committer

    async def reach(self) -> None:
        """Nothing to reach: the graph is LanceDB's."""

    async def execute_query(self, cypher_query_: str, **kwargs: Any) -> tuple[Any, None, None]:
        """Raises ``ConfigError``: LanceDB knows no Cypher."""
        raise ConfigError(
            "Cypher needs a graph server: set graph.backend to neo4j or falkordb, and graph.uri to its address"
        )

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
        """Nothing to close: the connection is the store's."""

    def delete_all_indexes(self) -> Any:
        return self.build_indices_and_constraints()

    async def build_indices_and_constraints(self, delete_existing: bool = False) -> None:
        """Nothing to build: indexes are LanceDB's."""


class EmbeddedSession(GraphDriverSession):  # type: ignore[misc]
    """A session: writes together in ``execute_write``."""

    provider = GraphProvider.KUZU

    def __init__(self, driver: EmbeddedDriver) -> None:
        self._driver = driver

    async def __aexit__(self, *_: object) -> None:
        return None

    async def close(self) -> None:
        return None

    async def run(self, query: str | list[tuple[str, dict[str, Any]]], **kwargs: Any) -> Any:
        await self._driver.execute_query(str(query))

    async def execute_write(self, func: Callable[..., Awaitable[Any]], *args: Any, **kwargs: Any) -> Any:
        async with self._driver.transaction() as transaction:
            return await func(transaction, *args, **kwargs)
