"""PostgreSQL with the extension pgvector."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import psycopg  # noqa: F401 - sqlalchemy imports it later
import sqlalchemy as sql
from pgvector.sqlalchemy import VECTOR
from sqlalchemy.dialects.postgresql import ARRAY, insert
from sqlalchemy.exc import ArgumentError, InterfaceError, OperationalError

from agentic_rag.domain.ports import FloatArray
from agentic_rag.errors import ConfigError, StoreError
from agentic_rag.stores.metadata_items import translate
from agentic_rag_backends.vectorstores.backend import Row, VectorBackend, Where, digests

CONNECT_SECONDS = 10
MAKING_TABLES = 0x61726167
"""Key of the advisory lock under which tables are made."""


class PgVector(VectorBackend):
    """One PostgreSQL database; a table is searched without a vector index: exact, and filtered before it is ranked."""

    name = "PostgreSQL"
    cure = "start it (docker compose --profile postgres up -d), or correct vectors.uri"
    widest = 10_000

    def __init__(self, engine: Any) -> None:
        self.description = f"{self.name} at {_place(engine.url)}"
        self._engine = engine
        self._tables: dict[str, Any] = {}

    @classmethod
    def open(cls, uri: str) -> PgVector:
        """Connect to ``postgresql://user:password@host:port/database``; the server must have pgvector."""
        engine = sql.create_engine(_url(uri), pool_pre_ping=True, hide_parameters=True)
        query = sql.text("SELECT count(*) FROM pg_available_extensions WHERE name = 'vector'")
        try:
            with engine.connect() as connection:
                available = connection.execute(query).scalar()
        except Exception as error:  # noqa: BLE001 - raised anew below, as what it means
            engine.dispose()
            # Not chained: what the driver raised may tell the whole address.
            raise cls.unusable(_place(engine.url), getattr(error, "orig", error)) from None
        if not available:
            engine.dispose()
            raise StoreError(
                f"PostgreSQL at {_place(engine.url)} has no extension 'vector'; install pgvector on the server"
            )
        return cls(engine)

    def close(self) -> None:
        self._engine.dispose()

    @staticmethod
    def is_away(error: Exception) -> bool:
        return isinstance(error, OperationalError | InterfaceError)

    def prepare(self, collection: str, dimension: int, *, create: bool) -> bool:
        table = _table(collection, dimension)
        with self._engine.begin() as connection:
            connection.execute(sql.select(sql.func.pg_advisory_xact_lock(MAKING_TABLES)))
            if not sql.inspect(connection).has_table(collection, schema=table.schema):
                if not create:
                    return False
                connection.execute(sql.text("CREATE EXTENSION IF NOT EXISTS vector"))
                table.create(connection)
                # Beside the row, where every comparison would fetch it, is where it would be kept.
                alter = f"ALTER TABLE {_quote_table(table)} ALTER COLUMN embedding SET STORAGE MAIN"
                connection.execute(sql.text(alter))
        self._tables[collection] = table
        return True

    def replace(self, collection: str, rows: Sequence[Row], owners: Sequence[str]) -> None:
        """In one transaction; writers of a table take turns."""
        table = self._tables[collection]
        own, kept = _any_of(owners), _any_of([row.id for row in rows])
        stored = [{column.key: getattr(row, column.key) for column in table.c} for row in rows]
        adding = insert(table)
        adding = adding.on_conflict_do_update(index_elements=[table.c.id], set_=dict(adding.excluded))
        with self._engine.begin() as connection:
            connection.execute(
                sql.select(sql.func.pg_advisory_xact_lock(sql.func.hashtext(_quote_table(table))))
            )
            connection.execute(sql.delete(table).where(table.c.document == own, ~(table.c.id == kept)))
            if stored:
                connection.execute(adding, stored)

    def rows(self, collection: str, where: Where, *, vectors: bool = False) -> list[Row]:
        c = self._tables[collection].c
        columns = [c.id, c.text, c.name, c.chunk, *([c.vector] if vectors else [])]
        return [Row(*found) for found in self._fetch_rows(_select(columns, c, where))]

    def count(self, collection: str) -> int:
        table = self._tables[collection]
        return int(self._fetch_rows(sql.select(sql.func.count()).select_from(table))[0][0])

    def names(self, collection: str, where: Where) -> list[str]:
        c = self._tables[collection].c
        return [name for (name,) in self._fetch_rows(_select([c.name], c, where))]

    def nearest(
        self, collection: str, vector: FloatArray, limit: int, where: Where
    ) -> list[tuple[Row, float]]:
        c = self._tables[collection].c
        distance = c.vector.cosine_distance(vector)
        columns = [c.id, c.text, c.name, c.chunk, distance]
        found = self._fetch_rows(_select(columns, c, where).order_by(distance).limit(limit))
        return [(Row(*row), 1.0 - far) for *row, far in found]

    def optimize(self, collection: str) -> None:
        """Collect what updates left behind, and renew the planner's statistics."""
        with self._engine.connect() as connection:
            alone = connection.execution_options(isolation_level="AUTOCOMMIT")
            alone.execute(sql.text(f"VACUUM (ANALYZE) {_quote_table(self._tables[collection])}"))

    def _fetch_rows(self, statement: Any) -> list[Any]:
        with self._engine.connect() as connection:
            return list(connection.execute(statement))


def _select(columns: Sequence[Any], c: Any, where: Where) -> Any:
    """A query for some of the columns ``c``, with a bound parameter for each value."""

    def has_any(items: Sequence[str], is_negated: bool) -> Any:
        found = c["items"].overlap(digests(items))
        return sql.not_(found) if is_negated else found

    asked = sql.select(*columns)
    if where.condition is not None:
        asked = asked.where(
            translate(where.condition, has_any, lambda parts: sql.and_(*parts), lambda parts: sql.or_(*parts))
        )
    if where.until is not None:
        asked = asked.where(c.date <= where.until)
    if where.ids is not None:
        asked = asked.where(c.id == _any_of(where.ids))
    return asked


def _any_of(texts: Sequence[str]) -> Any:
    """Of one parameter; ``IN`` would have one for each text, and PostgreSQL takes 65,535."""
    return sql.any_(sql.literal(list(texts), ARRAY(sql.TEXT)))


def _table(name: str, dimension: int) -> Any:
    """Its first columns are called as LangChain's PGVectorStore calls them by default."""
    return sql.Table(
        name,
        sql.MetaData(schema="public"),
        sql.Column("langchain_id", sql.TEXT, key="id", primary_key=True),
        sql.Column("content", sql.TEXT, key="text", nullable=False),
        sql.Column("embedding", VECTOR(dimension), key="vector", nullable=False),
        sql.Column("name", sql.TEXT, nullable=False),
        sql.Column("chunk", sql.TEXT, nullable=False),
        sql.Column("document", sql.TEXT, nullable=False),
        sql.Column("date", sql.BIGINT, nullable=False),
        sql.Column("items", ARRAY(sql.TEXT), nullable=False),
        sql.Index(f"{name}_items", "items", postgresql_using="gin"),
        sql.Index(f"{name}_owner", "document"),
    )


def _quote_table(table: Any) -> str:
    return f'{table.schema}."{table.name}"'


def _place(url: Any) -> str:
    """Host, port and database; other parts of the URL, and its options, may contain a password."""
    shown = sql.URL.create("postgresql", host=url.host, port=url.port, database=url.database)
    return str(shown.render_as_string())


def _url(uri: str) -> Any:
    try:
        url = sql.make_url(uri)
        if "@" in f"{url.host}{url.database}":  # and before it the rest of a password
            raise ValueError("a bare @")
    except (ArgumentError, ValueError):
        raise ConfigError(
            "vectors.uri cannot be read; write postgresql://user:password@host:port/database, with %40 for @"
        ) from None
    if url.get_backend_name() not in ("postgresql", "postgres"):
        raise ConfigError(
            f"vectors.uri begins with {url.drivername!r}, but vectors.backend 'pgvector' needs postgresql://…"
        )
    timeout = {"connect_timeout": str(CONNECT_SECONDS), **url.query}
    return url.set(drivername="postgresql+psycopg", query=timeout)
