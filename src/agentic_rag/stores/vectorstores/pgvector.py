"""PostgreSQL with pgvector, through ``langchain_postgres``'s ``AsyncPGVectorStore``."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Coroutine, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar

from agentic_rag.domain.ports import FloatArray
from agentic_rag.errors import ConfigError, MissingExtra, StoreError
from agentic_rag.stores.metadata_items import AllOf, AnyOf, Condition, HasAny
from agentic_rag.stores.vectorstores.dialect import Collection, Row, Where, as_vector, first_line
from agentic_rag.stores.vectorstores.documents import CHUNK, DATE, DOCUMENT, ITEMS, NAME
from agentic_rag.stores.vectorstores.prepared import PreparedEmbeddings

if TYPE_CHECKING:
    from langchain_core.documents import Document

ID, TEXT, VECTOR = "langchain_id", "content", "embedding"
COLUMNS = {NAME: "TEXT", CHUNK: "TEXT", DOCUMENT: "TEXT", DATE: "BIGINT", ITEMS: "TEXT[]"}
CONNECT_SECONDS = 10
MAKING_TABLES = 0x61726167
"""Key of the advisory lock under which tables are made."""
T = TypeVar("T")


class PgVector:
    """One PostgreSQL database.

    Its connections belong to an event loop of their own, in a thread, so that callers of any loop can use it.
    """

    name = "PostgreSQL"
    widest = 10_000
    text_bytes: int | None = None

    def __init__(self, engine: Any, loop: _LoopThread) -> None:
        self._engine = engine
        self._loop = loop

    @classmethod
    async def open(cls, uri: str) -> PgVector:
        """Connect to ``postgresql://user:password@host:port/database``.

        Raises:
            ConfigError: not the URI of a PostgreSQL database.
            MissingExtra: langchain-postgres is not installed.
            StoreError: the database cannot be reached, refuses the login, or has no pgvector.
        """
        opened = cls(_engine(uri), _LoopThread())
        try:
            await opened._loop.run(opened._check())
        except BaseException:
            await opened.close()
            raise
        return opened

    async def collection(self, name: str, dimension: int, *, create: bool) -> Collection | None:
        return await self._loop.run(self._collection(name, dimension, create))

    async def close(self) -> None:
        await self._loop.run(self._engine.dispose())
        await self._loop.stop()

    async def _check(self) -> None:
        from sqlalchemy import text

        where = self._engine.url.render_as_string(hide_password=True)
        try:
            async with self._engine.connect() as connection:
                known = await connection.execute(
                    text("SELECT 1 FROM pg_available_extensions WHERE name = 'vector'")
                )
                available = known.first() is not None
        except Exception as error:  # noqa: BLE001 - raised anew below, as what it means
            # Not chained: what the driver raised may tell the whole address.
            raise StoreError(f"cannot reach PostgreSQL at {where}: {_reason(error)}") from None
        if not available:
            raise StoreError(
                f"PostgreSQL at {where} has no extension 'vector'; install pgvector on the server"
            )

    async def _collection(self, name: str, dimension: int, create: bool) -> PgCollection | None:
        from langchain_postgres.v2.engine import Column, PGEngine
        from sqlalchemy import text

        engine = PGEngine.from_engine(self._engine)
        async with self._engine.begin() as connection:
            await connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": MAKING_TABLES})
            known = await connection.execute(text("SELECT to_regclass(:name)"), {"name": f'public."{name}"'})
            if known.scalar() is None:
                if not create:
                    return None
                await engine.ainit_vectorstore_table(
                    name,
                    dimension,
                    content_column=TEXT,
                    embedding_column=VECTOR,
                    id_column=Column(ID, "TEXT", nullable=False),
                    metadata_columns=[Column(c, kind, nullable=False) for c, kind in COLUMNS.items()],
                    store_metadata=False,
                )
                for statement in (
                    # Beside the row, where every comparison would fetch it, is where it would be kept.
                    f'ALTER TABLE "{name}" ALTER COLUMN {VECTOR} SET STORAGE MAIN',
                    f'CREATE INDEX "{name}_items" ON "{name}" USING gin ({ITEMS})',
                    f'CREATE INDEX "{name}_owner" ON "{name}" ({DOCUMENT})',
                ):
                    await connection.execute(text(statement))
        store = await _store_class().create(
            engine,
            PreparedEmbeddings(),
            name,
            content_column=TEXT,
            embedding_column=VECTOR,
            id_column=ID,
            metadata_columns=list(COLUMNS),
            metadata_json_column=None,
        )
        return PgCollection(store, name, self._engine, self._loop)


class PgCollection:
    """One table, searched without a vector index: exact, and filtered before it is ranked."""

    ranks = True

    def __init__(self, store: Any, name: str, engine: Any, loop: _LoopThread) -> None:
        self._store = store
        self._table = f'public."{name}"'
        self._engine = engine
        self._loop = loop

    async def replace(
        self, documents: Sequence[Document], vectors: FloatArray, owners: Sequence[str]
    ) -> None:
        await self._loop.run(self._replace(documents, vectors, owners))

    async def nearest(self, vector: FloatArray, limit: int, where: Where) -> list[tuple[Document, float]]:
        found = await self._loop.run(
            self._store.asimilarity_search_with_score_by_vector(
                vector.tolist(), k=limit, filter=to_postgres(where)
            )
        )
        return [(document, 1.0 - float(distance)) for document, distance in found]

    async def rows(self, where: Where, *, vectors: bool = False) -> list[Row]:
        columns = [ID, TEXT, NAME, CHUNK, *([VECTOR] if vectors else [])]
        return [_row(found) for found in await self._loop.run(self._select(columns, where))]

    async def ids(self, where: Where) -> list[str]:
        return [row[ID] for row in await self._loop.run(self._select([ID], where))]

    async def names(self, where: Where) -> dict[str, str]:
        found = await self._loop.run(self._select([ID, NAME], where))
        return {row[ID]: row[NAME] for row in found}

    async def count(self) -> int:
        found = await self._loop.run(self._select(["count(*) AS count"], Where()))
        return int(found[0]["count"])

    async def optimize(self) -> None:
        """Collect what updates left behind, and renew the planner's statistics."""
        await self._loop.run(self._vacuum())

    async def _replace(
        self, documents: Sequence[Document], vectors: FloatArray, owners: Sequence[str]
    ) -> None:
        """In one transaction (LangChain's own add commits row by row); writers of a table take turns."""
        from sqlalchemy import text

        rows = [_stored(document, vector) for document, vector in zip(documents, vectors, strict=True)]
        columns = [ID, TEXT, VECTOR, *COLUMNS]
        insert = (
            f"INSERT INTO {self._table} ({', '.join(columns)}) "
            f"VALUES (:{ID}, :{TEXT}, CAST(:{VECTOR} AS vector), {', '.join(f':{c}' for c in COLUMNS)}) "
            f"ON CONFLICT ({ID}) DO UPDATE SET {', '.join(f'{c} = EXCLUDED.{c}' for c in columns[1:])}"
        )
        delete = f"DELETE FROM {self._table} WHERE {DOCUMENT} = ANY(:owners) AND {ID} <> ALL(:kept)"
        async with self._engine.begin() as connection:
            await connection.execute(
                text("SELECT pg_advisory_xact_lock(hashtext(:table))"), {"table": self._table}
            )
            await connection.execute(
                text(delete), {"owners": list(owners), "kept": [row[ID] for row in rows]}
            )
            if rows:
                await connection.execute(text(insert), rows)

    async def _select(self, columns: Sequence[str], where: Where) -> Sequence[Any]:
        from sqlalchemy import text

        asked = to_postgres(where)
        restricted = f" WHERE {asked.sql}" if asked else ""
        statement = text(f"SELECT {', '.join(columns)} FROM {self._table}{restricted}")
        async with self._engine.connect() as connection:
            found = await connection.execute(statement, dict(asked))
            return found.mappings().fetchall()  # type: ignore[no-any-return]

    async def _vacuum(self) -> None:
        from sqlalchemy import text

        async with self._engine.connect() as connection:
            alone = await connection.execution_options(isolation_level="AUTOCOMMIT")
            await alone.execute(text(f"VACUUM (ANALYZE) {self._table}"))


class Restricted(dict[str, Any]):
    """The parameters of a condition in SQL; every value of it is one of them. False where it has no SQL."""

    sql: str = ""

    def __bool__(self) -> bool:
        return bool(self.sql)


def to_postgres(where: Where) -> Restricted:
    """PostgreSQL's condition, with a parameter for each value; empty: no condition.

    Not in LangChain's filter language: that has no operator for arrays, and names its parameters by 32
    random bits, so that in a wide filter one may silently take another's place.
    """
    asked = Restricted()
    parts = []
    if where.condition is not None:
        parts.append(_filter(where.condition, asked))
    if where.until is not None:
        parts.append(f"{DATE} <= {_bound(asked, where.until)}")
    if where.documents is not None:
        parts.append(f"{DOCUMENT} = ANY({_bound(asked, list(where.documents))})")
    if where.ids is not None:
        parts.append(f"{ID} = ANY({_bound(asked, list(where.ids))})")
    asked.sql = " AND ".join(parts)
    return asked


def _filter(condition: Condition, asked: Restricted) -> str:
    match condition:
        case AllOf(parts):
            return "(" + " AND ".join(_filter(part, asked) for part in parts) + ")"
        case AnyOf(parts):
            return "(" + " OR ".join(_filter(part, asked) for part in parts) + ")"
        case HasAny(items, negated):
            if not items:
                return "TRUE" if negated else "FALSE"
            found = f"{ITEMS} && {_bound(asked, list(items))}"
            return f"NOT ({found})" if negated else f"({found})"


def _bound(asked: Restricted, value: Any) -> str:
    name = f"where_{len(asked)}"
    asked[name] = value
    return f":{name}"


@lru_cache(maxsize=1)
def _store_class() -> Any:
    from langchain_postgres.v2.async_vectorstore import AsyncPGVectorStore

    class ItemsVectorStore(AsyncPGVectorStore):  # type: ignore[misc]
        """LangChain's store, whose filter may also be what ``to_postgres`` gives."""

        def _create_filter_clause(self, filters: Any) -> tuple[str, dict[str, Any]]:
            if isinstance(filters, Restricted):
                return filters.sql, dict(filters)
            return super()._create_filter_clause(filters)  # type: ignore[no-any-return]

    return ItemsVectorStore


def _stored(document: Document, vector: FloatArray) -> dict[str, Any]:
    return {
        ID: document.id,
        TEXT: document.page_content,
        VECTOR: str(vector.tolist()),
        **{column: document.metadata[column] for column in COLUMNS},
    }


def _row(found: Any) -> Row:
    from langchain_core.documents import Document

    vector = as_vector(json.loads(found[VECTOR])) if VECTOR in found else None
    metadata = {NAME: found[NAME], CHUNK: found[CHUNK]}
    return Row(Document(id=found[ID], page_content=found[TEXT], metadata=metadata), vector)


def _engine(uri: str) -> Any:
    try:
        import langchain_postgres  # noqa: F401
        import psycopg  # noqa: F401
        from sqlalchemy import make_url
        from sqlalchemy.exc import ArgumentError
        from sqlalchemy.ext.asyncio import create_async_engine
    except ImportError as error:
        raise MissingExtra("the PostgreSQL backend", "pgvector") from error
    try:
        url = make_url(uri)
    except (ArgumentError, ValueError):
        raise ConfigError(
            "vectors.uri cannot be read; write postgresql://user:password@host:port/database"
        ) from None
    if url.get_backend_name() not in ("postgresql", "postgres"):
        raise ConfigError(f"vectors.uri is of {url.drivername!r}, but vectors.backend is 'pgvector'")
    url = url.set(drivername="postgresql+psycopg")
    if "connect_timeout" not in url.query:
        url = url.update_query_dict({"connect_timeout": str(CONNECT_SECONDS)})
    return create_async_engine(url, pool_pre_ping=True, hide_parameters=True)


def _reason(error: Exception) -> str:
    """What went wrong, without SQLAlchemy's prefix."""
    return first_line(error).removeprefix("(psycopg.OperationalError) ")


class _LoopThread:
    """An event loop in a thread of its own."""

    def __init__(self) -> None:
        self._loop = asyncio.SelectorEventLoop()  # the kind that psycopg needs, on Windows too
        self._thread = threading.Thread(
            target=self._loop.run_forever, name="agentic-rag-postgres", daemon=True
        )
        self._thread.start()

    async def run(self, work: Coroutine[Any, Any, T]) -> T:
        """The result of ``work``, done there; cancelled with the caller."""
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self._loop))

    async def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        await asyncio.to_thread(self._thread.join)
        self._loop.close()
