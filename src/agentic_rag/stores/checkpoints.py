"""Where conversations are kept: a SQLite file in the data folder, or a PostgreSQL server that many services share."""

from __future__ import annotations

import asyncio
import re
import sqlite3
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import (
    AbstractAsyncContextManager,
    AsyncExitStack,
    asynccontextmanager,
    closing,
    contextmanager,
)
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol
from weakref import WeakValueDictionary

from agentic_rag.errors import ConfigError, StoreAway, StoreError, first_line, needing
from agentic_rag.stores.data_folder import REPAIR

if TYPE_CHECKING:
    from langgraph.checkpoint.base import BaseCheckpointSaver
    from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
    from psycopg_pool import AsyncConnectionPool

    from agentic_rag.settings.config import RagConfig

FILE = "conversations.sqlite"
MAX_THREADS = 2**31 - 1
MAX_CONNECTIONS = 16
"""Of a service: twice the number of questions that run at the same time, each of which has one for its turn."""
CONNECTING_SECONDS = 10
LOST_SECONDS = 5
"""A turn that lasts so much longer than a question may is of a machine that is gone."""
SETTING_UP, FIRST_WAIT, MAX_WAIT = "agentic-rag: making the tables", 0.01, 0.5
_THREADS = """SELECT thread_id, MAX(checkpoint_id) AS newest FROM checkpoints WHERE thread_id LIKE {0}
GROUP BY thread_id HAVING MAX(checkpoint_id) < {0} ORDER BY newest DESC LIMIT {0}"""
"""The savers themselves list every checkpoint whole; their table says enough."""
_AFTER_ALL = "g"
"""Sorts after the id of every checkpoint: these are UUIDs, which begin with their time."""
_DAMAGE_CODES = {sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}
"""What SQLite says of a file that lacks a table, has a page that makes no sense, or is none of its own."""
_TURN = """SELECT set_config('idle_in_transaction_session_timeout', %s, true),
pg_advisory_xact_lock(hashtextextended(%s, 0))"""


class Checkpoints(Protocol):
    """A LangGraph checkpointer, and what it does not offer itself."""

    @property
    def saver(self) -> BaseCheckpointSaver[str]:
        """What the graph keeps its threads with."""

    async def threads(
        self, prefix: str, limit: int = MAX_THREADS, before: str | None = None
    ) -> dict[str, str]:
        """Ids of the threads that begin so, newest first, each with the id of its newest checkpoint.

        Args:
            prefix: how the ids begin.
            limit: maximum number of threads.
            before: only threads whose newest checkpoint is older than this one.
        """

    async def purge(self) -> None:
        """Leave as little as can be of what was deleted."""

    def turn(self, thread: str) -> AbstractAsyncContextManager[None]:
        """Held by one at a time, in every service that keeps its conversations here."""

    async def reach(self) -> None:
        """Raises ``StoreError`` where nothing can be read."""


def kept_conversations(config: RagConfig) -> AbstractAsyncContextManager[Checkpoints]:
    """As ``service.conversations`` says.

    Raises:
        ConfigError: it is no URI of PostgreSQL, or a part of it is not percent-encoded.
        StoreError: the server cannot be reached, or the file cannot be read or written.
        MissingExtra: PostgreSQL's checkpointer is not installed.
    """
    uri = config.service.conversations
    if uri is not None:
        return _in_postgres(uri.get_secret_value(), config.service.timeout_seconds)
    return _in_sqlite(config.data_dir / FILE)


def is_database(file: Path) -> bool:
    """Whether all of a SQLite file can be read."""
    try:
        with closing(sqlite3.connect(file)) as connection:
            return bool(connection.execute("PRAGMA quick_check").fetchone() == ("ok",))
    except sqlite3.DatabaseError:
        return False


@dataclass(frozen=True, slots=True)
class _Sqlite:
    """Of one service: two on one data folder would each answer a question of the same conversation.

    Its one connection is the saver's, whose lock parts the calls: SQLite empties no log while something is read.
    """

    saver: AsyncSqliteSaver
    _turns: WeakValueDictionary[str, asyncio.Lock] = field(default_factory=WeakValueDictionary)

    async def threads(
        self, prefix: str, limit: int = MAX_THREADS, before: str | None = None
    ) -> dict[str, str]:
        values = (f"{prefix}%", before or _AFTER_ALL, limit)
        async with (
            _told_by_sqlite(self.saver),
            self.saver.lock,
            self.saver.conn.execute(_THREADS.format("?"), values) as rows,
        ):
            return {str(row[0]): str(row[1]) async for row in rows}

    async def purge(self) -> None:
        # The write-ahead log still holds what was deleted.
        async with _told_by_sqlite(self.saver), self.saver.lock:
            await self.saver.conn.commit()
            await self.saver.conn.execute_fetchall("PRAGMA wal_checkpoint(TRUNCATE)")

    @asynccontextmanager
    async def turn(self, thread: str) -> AsyncIterator[None]:
        lock = self._turns.setdefault(thread, asyncio.Lock())
        async with lock:
            yield

    async def reach(self) -> None:
        async with _told_by_sqlite(self.saver), self.saver.lock:
            await self.saver.conn.execute_fetchall("SELECT 1 FROM checkpoints LIMIT 1")


@asynccontextmanager
async def _in_sqlite(file: Path) -> AsyncIterator[_Sqlite]:
    import aiosqlite
    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

    async with AsyncExitStack() as stack:
        with _translate_errors(file):
            await asyncio.to_thread(_check_openable, file)
            connection = await stack.enter_async_context(aiosqlite.connect(file))
            # What was deleted is overwritten, not only unlinked.
            await connection.execute("PRAGMA secure_delete = ON")
            saver = _telling(AsyncSqliteSaver, _told_by_sqlite)(connection)
            await saver.setup()
        yield _Sqlite(saver)


@contextmanager
def _translate_errors(file: Path | str) -> Iterator[None]:
    """What SQLite, or the disk, refuses, as our own error."""
    try:
        yield
    except (OSError, sqlite3.Error) as error:
        if getattr(error, "sqlite_errorcode", 0) & 0xFF in _DAMAGE_CODES:
            raise StoreError(f"{file} cannot be read: {error}; run: {REPAIR}") from error
        raise StoreError(
            f"{file} cannot be written: {error}; it must lie on a disk that is not full, in a folder that can be "
            "written, and be used by no other service"
        ) from error


@asynccontextmanager
async def _told_by_sqlite(saver: AsyncSqliteSaver) -> AsyncIterator[None]:
    """The same while it is used; the file without its folder, which the callers of a service may not know."""
    with _translate_errors(FILE):
        try:
            yield
        except sqlite3.Error:
            # What was half done would be seen, and kept with the next write.
            async with saver.lock:
                await saver.conn.rollback()
            raise


def _check_openable(file: Path) -> None:
    """Raises where it cannot be; aiosqlite would leave its thread behind, which fails once the event loop is closed."""
    file.parent.mkdir(parents=True, exist_ok=True)
    sqlite3.connect(file).close()


@dataclass(frozen=True, slots=True)
class _Postgres:
    saver: AsyncPostgresSaver
    pool: AsyncConnectionPool[Any]
    longest_turn: float
    """Seconds."""

    async def threads(
        self, prefix: str, limit: int = MAX_THREADS, before: str | None = None
    ) -> dict[str, str]:
        values = (f"{prefix}%", before or _AFTER_ALL, limit)
        async with _told_by_postgres(), self.pool.connection() as connection:
            rows = await connection.execute(_THREADS.format("%s"), values)
            return {str(row["thread_id"]): str(row["newest"]) for row in await rows.fetchall()}

    async def purge(self) -> None:
        async with _told_by_postgres(), self.pool.connection() as connection:
            await connection.execute("VACUUM checkpoints, checkpoint_blobs, checkpoint_writes")

    @asynccontextmanager
    async def turn(self, thread: str) -> AsyncIterator[None]:
        # The server frees it when the transaction ends, as it does with the process, and ends one whose machine is gone.
        longest = round(1000 * (self.longest_turn + LOST_SECONDS))
        async with (
            _told_by_postgres(),
            self.pool.connection() as connection,
            connection.transaction(),
        ):
            await connection.execute(_TURN, (str(longest), thread))
            yield

    async def reach(self) -> None:
        async with _told_by_postgres(), self.pool.connection() as connection:
            await connection.execute("SELECT 1")


@asynccontextmanager
async def _in_postgres(uri: str, longest_turn: float) -> AsyncIterator[_Postgres]:
    with needing("keeping conversations in PostgreSQL", "postgres"):
        import psycopg
        from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
        from psycopg.rows import dict_row
        from psycopg_pool import AsyncConnectionPool
    if not _is_whole(uri):
        # Nothing of it is repeated: which part is the password's, nobody knows.
        raise ConfigError(
            "service.conversations must be a URI like postgresql://user:password@host:5432/database, "
            "with %25 for %, %40 for @ and %2F for / in user and password"
        )
    try:
        # A pool would try again and again, and not say why.
        await (await psycopg.AsyncConnection.connect(uri, connect_timeout=CONNECTING_SECONDS)).close()
    except psycopg.Error as error:
        raise StoreAway(
            f"the PostgreSQL server of service.conversations cannot be used: {first_line(error)}; "
            "start it (docker compose --profile postgres up -d), or correct the URI"
        ) from error
    options = {"autocommit": True, "prepare_threshold": 0, "row_factory": dict_row}
    async with AsyncConnectionPool(
        uri,
        min_size=1,
        max_size=MAX_CONNECTIONS,
        timeout=CONNECTING_SECONDS,
        kwargs=options,
        check=AsyncConnectionPool.check_connection,
        open=False,
    ) as pool:
        saver = _telling(AsyncPostgresSaver, _told_by_postgres)(pool)
        await _set_up(pool, saver)
        yield _Postgres(saver, pool, longest_turn)


def _is_whole(uri: str) -> bool:
    """Whether a URI can be read, and host, port and database are not what follows a bare character of a password."""
    from psycopg import ProgrammingError
    from psycopg.conninfo import conninfo_to_dict

    try:
        parts = conninfo_to_dict(uri)
    except ProgrammingError:
        return False
    host, port, database = (str(parts.get(name, "")) for name in ("host", "port", "dbname"))
    is_uri = uri.startswith(("postgresql://", "postgres://"))
    return is_uri and "@" not in host + database and re.fullmatch(r"[\d,]*", port) is not None


async def _set_up(pool: AsyncConnectionPool[Any], saver: AsyncPostgresSaver) -> None:
    """Make the tables; services that start at once take turns.

    They ask again and again: building an index waits for every statement that waits, and so for ever.
    """
    wait = FIRST_WAIT
    async with pool.connection() as connection:
        while True:
            found = await connection.execute(
                "SELECT pg_try_advisory_lock(hashtextextended(%s, 0)) AS mine", (SETTING_UP,)
            )
            if (row := await found.fetchone()) and row["mine"]:
                break
            await asyncio.sleep(wait)
            wait = min(2 * wait, MAX_WAIT)
        try:
            await saver.setup()
        finally:
            await connection.execute("SELECT pg_advisory_unlock(hashtextextended(%s, 0))", (SETTING_UP,))


@asynccontextmanager
async def _told_by_postgres(_: object = None) -> AsyncIterator[None]:
    """A server that goes away meanwhile, as our own error."""
    import psycopg

    try:
        yield
    except psycopg.Error as error:
        raise StoreAway(
            f"the PostgreSQL server of service.conversations failed: {first_line(error)}; "
            "ask without thread_id, or start it"
        ) from error


def _telling(saver: type[Any], translate: Callable[[Any], AbstractAsyncContextManager[None]]) -> type[Any]:
    """The saver, which tells its failures so."""

    class Telling(saver):  # type: ignore[misc]
        async def aget_tuple(self, *args: Any, **options: Any) -> Any:
            async with translate(self):
                return await super().aget_tuple(*args, **options)

        async def aput(self, *args: Any, **options: Any) -> Any:
            async with translate(self):
                return await super().aput(*args, **options)

        async def aput_writes(self, *args: Any, **options: Any) -> None:
            async with translate(self):
                await super().aput_writes(*args, **options)

        async def adelete_thread(self, *args: Any, **options: Any) -> None:
            async with translate(self):
                await super().adelete_thread(*args, **options)

    return Telling
