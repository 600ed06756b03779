"""Where conversations are kept: a SQLite file in the data folder, or a PostgreSQL server that many services share."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from agentic_rag.errors import ConfigError, MissingExtra, StoreError
from agentic_rag.stores.batch import first_line

if TYPE_CHECKING:
    from langgraph.checkpoint.base import BaseCheckpointSaver
    from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
    from psycopg_pool import AsyncConnectionPool

    from agentic_rag.settings.config import RagConfig

FILE = "conversations.sqlite"
MOST_CONNECTIONS = 8
CONNECTING_SECONDS = 10
_THREADS = "SELECT thread_id FROM checkpoints WHERE thread_id LIKE {} GROUP BY thread_id ORDER BY MAX(checkpoint_id) DESC"
"""The savers themselves list every checkpoint whole; their table says enough."""


class Kept(Protocol):
    """A LangGraph checkpointer, and what it does not offer itself."""

    @property
    def saver(self) -> BaseCheckpointSaver[str]:
        """What the graph keeps its threads with."""

    async def threads(self, prefix: str) -> list[str]:
        """Ids of the threads that begin so, newest first."""

    async def purge(self) -> None:
        """Leave as little as can be of what was deleted."""


def kept_conversations(config: RagConfig) -> AbstractAsyncContextManager[Kept]:
    """As ``service.conversations`` says.

    Raises:
        ConfigError: it is no URI of PostgreSQL.
        StoreError: the server cannot be reached, or the file cannot be read.
        MissingExtra: PostgreSQL's checkpointer is not installed.
    """
    uri = config.service.conversations
    if uri is not None:
        return _in_postgres(uri.get_secret_value())
    config.data_dir.mkdir(parents=True, exist_ok=True)
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
    saver: AsyncSqliteSaver

    async def threads(self, prefix: str) -> list[str]:
        async with self.saver.conn.execute(_THREADS.format("?"), (f"{prefix}%",)) as rows:
            return [str(row[0]) async for row in rows]

    async def purge(self) -> None:
        # The write-ahead log still holds what was deleted.
        await self.saver.conn.commit()
        await self.saver.conn.execute("PRAGMA wal_checkpoint(TRUNCATE)")


@asynccontextmanager
async def _in_sqlite(file: Path) -> AsyncIterator[_Sqlite]:
    import aiosqlite
    from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

    async with aiosqlite.connect(file) as connection:
        try:
            # What was deleted is overwritten, not only unlinked.
            await connection.execute("PRAGMA secure_delete = ON")
            saver = AsyncSqliteSaver(connection)
            await saver.setup()
        except aiosqlite.DatabaseError as error:
            if isinstance(error, aiosqlite.OperationalError):  # it is locked, or the disk is full
                raise
            raise StoreError(f"{file} cannot be read: {error}; run: agentic-rag repair") from error
        yield _Sqlite(saver)


@dataclass(frozen=True, slots=True)
class _Postgres:
    saver: AsyncPostgresSaver
    pool: AsyncConnectionPool[Any]

    async def threads(self, prefix: str) -> list[str]:
        async with self.pool.connection() as connection:
            rows = await connection.execute(_THREADS.format("%s"), (f"{prefix}%",))
            return [str(row["thread_id"]) for row in await rows.fetchall()]

    async def purge(self) -> None:
        async with self.pool.connection() as connection:
            await connection.execute("VACUUM checkpoints, checkpoint_blobs, checkpoint_writes")


@asynccontextmanager
async def _in_postgres(uri: str) -> AsyncIterator[_Postgres]:
    if not uri.startswith(("postgresql://", "postgres://")):
        raise ConfigError(
            "service.conversations must be a URI like postgresql://user:password@host:5432/database"
        )
    try:
        import psycopg
        from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
        from psycopg.rows import dict_row
        from psycopg_pool import AsyncConnectionPool
    except ImportError as error:
        raise MissingExtra("keeping conversations in PostgreSQL", "postgres") from error

    try:
        # A pool would try again and again, and not say why.
        await (await psycopg.AsyncConnection.connect(uri, connect_timeout=CONNECTING_SECONDS)).close()
    except psycopg.Error as error:
        raise StoreError(
            f"the PostgreSQL server of service.conversations cannot be used: {first_line(error)}; "
            "start it (docker compose --profile postgres up -d), or correct the URI"
        ) from error
    options = {"autocommit": True, "prepare_threshold": 0, "row_factory": dict_row}
    async with AsyncConnectionPool(
        uri,
        min_size=1,
        max_size=MOST_CONNECTIONS,
        kwargs=options,
        check=AsyncConnectionPool.check_connection,
        open=False,
    ) as pool:
        saver = _telling(AsyncPostgresSaver)(pool)
        await saver.setup()
        yield _Postgres(saver, pool)


def _telling(saver: type[AsyncPostgresSaver]) -> type[AsyncPostgresSaver]:
    """The saver, with a server that goes away meanwhile told as our own error."""
    import psycopg

    @contextmanager
    def told() -> Iterator[None]:
        try:
            yield
        except psycopg.Error as error:
            raise StoreError(
                f"the PostgreSQL server of service.conversations failed: {first_line(error)}; "
                "ask without thread_id, or start it"
            ) from error

    class Telling(saver):  # type: ignore[misc,valid-type]
        async def aget_tuple(self, *args: Any, **options: Any) -> Any:
            with told():
                return await super().aget_tuple(*args, **options)

        async def aput(self, *args: Any, **options: Any) -> Any:
            with told():
                return await super().aput(*args, **options)

        async def aput_writes(self, *args: Any, **options: Any) -> None:
            with told():
                await super().aput_writes(*args, **options)

        async def adelete_thread(self, *args: Any, **options: Any) -> None:
            with told():
                await super().adelete_thread(*args, **options)

    return Telling
