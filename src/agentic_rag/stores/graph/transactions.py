"""Changes of the graph that are gathered and written to LanceDB together: what a graph server's driver is to a server."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from contextvars import ContextVar
from typing import Any, NoReturn

from agentic_rag.errors import ConfigError
from agentic_rag.stores.graph.change import Change
from agentic_rag.stores.graph.commit import Committer
from agentic_rag.stores.uninterrupted import run_uninterrupted

_current: ContextVar[TableTransaction | None] = ContextVar("table_transaction", default=None)


class TableTransaction:
    """Gathers a change and writes it to LanceDB at its end; what it wrote is not read before.

    Its turn to write comes with ``begin`` or, without that, at its end: what a caller does first inside
    ``execute_write`` (embedding, say) blocks nobody.
    """

    def __init__(self, committer: Committer) -> None:
        self.committer = committer
        self.change = Change()
        self.active = True
        self._turn: AsyncExitStack | None = None

    async def begin(self) -> None:
        """Wait for the turn, and repair what an earlier write left."""
        if self._turn is None:
            async with AsyncExitStack() as taken:
                await taken.enter_async_context(self.committer.turn())
                await run_uninterrupted(self.committer.prepare())
                self._turn = taken.pop_all()

    async def run(self, query: str, **parameters: Any) -> Any:
        refuse_cypher()

    async def commit(self) -> None:
        """Write the change, even if cancelled meanwhile."""
        if not self.change.is_empty():
            await self.begin()
            await run_uninterrupted(self._write())

    async def _write(self) -> None:
        async with AsyncExitStack() as exits:
            await self.committer.before_commit(self.change, exits)
            await self.committer.after_commit(self.change)

    async def finish(self) -> None:
        self.active = False
        if self._turn is not None:
            await self._turn.aclose()


class TableTransactions:
    """Transactions that LanceDB keeps; belongs to one event loop.

    Args:
        committer: gives turns to write, and writes.
    """

    def __init__(self, committer: Committer) -> None:
        self._committer = committer

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[TableTransaction]:
        """A new one, which is committed at the end of the block; within another, that one."""
        current = _current.get()
        if current is not None and current.active and current.committer is self._committer:
            yield current  # joined: the outer one commits, and a second turn would wait for the first
            return
        transaction = TableTransaction(self._committer)
        token = _current.set(transaction)
        try:
            yield transaction
            await transaction.commit()
        finally:
            await transaction.finish()
            _current.reset(token)

    async def execute_write(self, work: Callable[..., Awaitable[Any]], *args: Any, **kwargs: Any) -> Any:
        """What the work gives, whose first argument is the transaction."""
        async with self.transaction() as transaction:
            return await work(transaction, *args, **kwargs)


def refuse_cypher() -> NoReturn:
    """Raises ``ConfigError``: LanceDB knows no Cypher."""
    raise ConfigError(
        "Cypher needs a graph server: set graph.backend to neo4j or falkordb, and graph.uri to its address"
    )
