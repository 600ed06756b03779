"""Graphiti's ``GraphDriver`` on LadybugDB: in process, opened at the first query that needs the file."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, asynccontextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any, TypeVar

from agentic_rag.errors import AgenticRagError
from agentic_rag.stores.graphiti.change import Change
from agentic_rag.stores.graphiti.commit import Committer, uninterrupted
from agentic_rag.stores.graphiti.cypher import Run
from agentic_rag.stores.graphiti.ladybug_file import DEFAULT_BUFFER_POOL, LadybugFile
from agentic_rag.stores.graphiti.library import (
    GraphDriver,
    GraphDriverSession,
    GraphProvider,
    Transaction,
)
from agentic_rag.stores.graphiti.operations import kuzu_operations

Result = TypeVar("Result")
_LOGGER = logging.getLogger(__name__)
READERS = 2
"""Threads that read at the same time."""

_WRITES = re.compile(r"\b(CREATE|MERGE|SET|DELETE|DROP|ALTER|COPY)\b", re.IGNORECASE)
_current: ContextVar[LadybugTransaction | None] = ContextVar("ladybug_transaction", default=None)


class LadybugTransaction(Transaction):  # type: ignore[misc]
    """A real transaction; it takes the write lock at its first statement, not before.

    So what Graphiti does first inside ``execute_write`` (embedding, say) blocks nobody.
    """

    def __init__(self, driver: LadybugDriver) -> None:
        self._driver = driver
        self.change = Change()
        self.active = True
        self.begun = False

    async def begin(self) -> None:
        """Take the lock, repair what an earlier write left, begin."""
        if self.begun:
            return
        await self._driver.lock.acquire()
        try:
            await uninterrupted(self._begin())
        finally:
            if not self.begun:  # once begun, ``finish`` releases it
                self._driver.lock.release()

    async def _begin(self) -> None:
        await self._driver.prepare()
        await self._driver.on_writer("BEGIN TRANSACTION")
        self.begun = True

    async def run(self, query: str, **parameters: Any) -> list[dict[str, Any]]:
        await self.begin()
        return await self._driver.on_writer(query, **parameters)

    async def finish(self, *, commit: bool) -> None:
        """Commit, or undo everything, even if cancelled meanwhile; releases the lock in any case."""
        self.active = False
        if self.begun:
            await uninterrupted(self._finish(commit=commit))

    async def _finish(self, *, commit: bool) -> None:
        try:
            await (self._commit() if commit else self._roll_back())
        finally:
            self._driver.lock.release()

    async def _commit(self) -> None:
        committer = self._driver.committer
        if committer is None:
            await self._driver.on_writer("COMMIT")
            return
        async with AsyncExitStack() as held:
            try:
                await committer.before_commit(self.change, held)
            except BaseException:
                await self._roll_back()
                raise
            await self._driver.on_writer("COMMIT")
            await committer.after_commit(self.change)

    async def _roll_back(self) -> None:
        """LadybugDB has done so by itself where a statement failed, whose error is the one to be told."""
        try:
            await self._driver.on_writer("ROLLBACK")
        except RuntimeError as error:
            if "no active transaction" not in str(error).casefold():
                raise

    def belongs_to(self, driver: LadybugDriver) -> bool:
        return self.active and self._driver.file is driver.file


class LadybugDriver(GraphDriver):  # type: ignore[misc]
    """One locked writer, a few readers, all off the event loop; belongs to one event loop.

    Args:
        path: the graph file; made when it is missing, not before the first query.
        buffer_pool_size: bytes of memory LadybugDB may use for pages.
        committer: told around every commit; None keeps the graph on its own.

    Raises (any query): ``StoreLocked`` when another process, or another driver in this one, has the
    file; ``StoreError`` when it cannot be opened; what LadybugDB raises for a wrong statement.
    """

    provider = GraphProvider.KUZU

    def __init__(
        self,
        path: Path,
        *,
        buffer_pool_size: int = DEFAULT_BUFFER_POOL,
        committer: Committer | None = None,
    ) -> None:
        super().__init__()
        self._database = ""
        self.file = LadybugFile(path, buffer_pool_size)
        self.committer = committer
        self.lock = asyncio.Lock()
        self._opening = asyncio.Lock()
        self._writing = ThreadPoolExecutor(1, thread_name_prefix="ladybug-writer")
        self._reading = ThreadPoolExecutor(READERS, thread_name_prefix="ladybug-reader")
        for name, operations in kuzu_operations().items():
            setattr(self, f"_{name}", operations)

    async def execute_query(self, cypher_query_: str, **kwargs: Any) -> tuple[Any, None, None]:
        parameters = {key: value for key, value in kwargs.items() if key not in ("database_", "routing_")}
        current = _current.get()
        if current is not None and current.belongs_to(self) and current.begun:
            return await current.run(cypher_query_, **parameters), None, None
        if _WRITES.search(cypher_query_):
            async with self.transaction() as own:
                return await own.run(cypher_query_, **parameters), None, None
        await self.open()
        loop = asyncio.get_running_loop()
        rows = await loop.run_in_executor(self._reading, self.file.read, cypher_query_, parameters)
        return rows, None, None

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[LadybugTransaction]:
        current = _current.get()
        if current is not None and current.belongs_to(self):
            yield current  # joined: the outer one commits, and a second lock would wait for the first
            return
        transaction = LadybugTransaction(self)
        token = _current.set(transaction)
        try:
            yield transaction
        except BaseException:
            await transaction.finish(commit=False)
            raise
        else:
            await transaction.finish(commit=True)
        finally:
            _current.reset(token)

    def session(self, database: str | None = None) -> LadybugSession:
        return LadybugSession(self)

    async def open(self) -> None:
        """Open the file if it is not, and make it equal to LanceDB."""
        if self.file.is_open:
            return
        async with self.lock:
            await uninterrupted(self.prepare())

    async def prepare(self) -> None:
        """Open and repair; the caller holds the write lock."""
        async with self._opening:
            if not self.file.is_open:
                loop = asyncio.get_running_loop()
                await loop.run_in_executor(self._writing, self.file.open)
        if self.committer is not None:
            await self.committer.prepare(self.on_writer)

    async def exclusively(self, work: Callable[[Run], Coroutine[Any, Any, Result]]) -> Result:
        """Do something to the whole graph, with statements that commit by themselves."""
        async with self.lock:
            await uninterrupted(self.prepare())
            return await uninterrupted(work(self.on_writer))

    async def on_writer(self, query: str, **parameters: Any) -> list[dict[str, Any]]:
        """One statement on the writer connection; the caller holds the write lock."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._writing, self.file.write, query, parameters)

    async def close(self) -> None:
        async with self.lock:
            self._reading.shutdown(wait=True)
            loop = asyncio.get_running_loop()
            if self.committer is not None and self.file.is_open and self.committer.is_settled():
                await uninterrupted(self._shrink(self.committer))
            await loop.run_in_executor(self._writing, self.file.close)
            self._writing.shutdown(wait=True)

    async def _shrink(self, committer: Committer) -> None:
        """Write a file anew that is free pages for the most part; where that fails, the next write repairs it."""
        loop = asyncio.get_running_loop()
        try:
            if await loop.run_in_executor(self._writing, self.file.is_mostly_free):
                await loop.run_in_executor(self._writing, self.file.empty)
                await committer.rewrite(self.on_writer)
        except (AgenticRagError, RuntimeError, OSError) as error:
            _LOGGER.warning("the graph file %s was not written anew: %s", self.file.path.name, error)

    def delete_all_indexes(self) -> Any:
        return _nothing()

    async def build_indices_and_constraints(self, delete_existing: bool = False) -> None:
        """Nothing to build: keys are the file's own, search indexes are LanceDB's."""

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


class LadybugSession(GraphDriverSession):  # type: ignore[misc]
    """A session: statements by themselves, or together in ``execute_write``."""

    provider = GraphProvider.KUZU

    def __init__(self, driver: LadybugDriver) -> None:
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


async def _nothing() -> None:
    return None
