"""PostgreSQL with the extension pgvector."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import psycopg  # noqa: F401 - sqlalchemy imports it later
import sqlalchemy as sql
from pgvector.sqlalchemy import VECTOR as VECTOR_TYPE
from sqlalchemy.dialects.postgresql import ARRAY, insert
from sqlalchemy.exc import ArgumentError

from agentic_rag.domain.ports import FloatArray
from agentic_rag.errors import ConfigError, StoreError
from agentic_rag.stores.metadata_items import translate
from agentic_rag.stores.vectorstores.backend import (
    CHUNK,
    DATE,
    DOCUMENT,
    ITEMS,
    NAME,
    Row,
    VectorBackend,
    Where,
    first_line,
)

ID, TEXT, VECTOR = "langchain_id", "content", "embedding"
"""As LangChain's PGVectorStore calls them by default."""
CONNECT_SECONDS = 10
MAKING_TABLES = 0x61726167
"""Key of the advisory lock under which tables are made."""


class PgVector(VectorBackend):
    """One PostgreSQL database; a table is searched without a vector index: exact, and filtered before it is ranked."""

    name = "PostgreSQL"
    widest = 10_000

    def __init__(self, engine: Any) -> None:
        self._engine = engine
        self._tables: dict[str, Any] = {}

    @classmethod
    def open(cls, uri: str) -> PgVector:
        """Connect to ``postgresql://user:password@host:port/database``."""
        engine = _engine(uri)
        try:
            _check(engine)
        except StoreError:
            engine.dispose()
            raise
        return cls(engine)

    def close(self) -> None:
        self._engine.dispose()

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
                connection.execute(
                    sql.text(f"ALTER TABLE {_quoted(table)} ALTER COLUMN {VECTOR} SET STORAGE MAIN")
                )
        self._tables[collection] = table
        return True

    def replace(self, collection: str, rows: Sequence[Row], owners: Sequence[str]) -> None:
        """In one transaction; writers of a table take turns."""
        table = self._tables[collection]
        own, kept = _any_of(owners), _any_of([row.id for row in rows])
        stored = [{ID: row.id, TEXT: row.text, VECTOR: row.vector, **row.fields} for row in rows]
        adding = insert(table)
        adding = adding.on_conflict_do_update(
            index_elements=[ID], set_={c.name: adding.excluded[c.name] for c in table.c if c.name != ID}
        )
        with self._engine.begin() as connection:
            connection.execute(sql.select(sql.func.pg_advisory_xact_lock(sql.func.hashtext(_quoted(table)))))
            connection.execute(sql.delete(table).where(table.c[DOCUMENT] == own, ~(table.c[ID] == kept)))
            if stored:
                connection.execute(adding, stored)

    def rows(self, collection: str, where: Where, *, vectors: bool = False) -> list[Row]:
        columns = [ID, TEXT, NAME, CHUNK, *([VECTOR] if vectors else [])]
        return [_row(found) for found in self._fetched(self._select(collection, columns, where))]

    def names(self, collection: str, where: Where) -> dict[str, str]:
        return {
            found[ID]: found[NAME] for found in self._fetched(self._select(collection, [ID, NAME], where))
        }

    def nearest(
        self, collection: str, vector: FloatArray, limit: int, where: Where
    ) -> list[tuple[Row, float]]:
        distance = self._tables[collection].c[VECTOR].cosine_distance(vector)
        asked = self._select(collection, [ID, TEXT, NAME, CHUNK], where)
        found = self._fetched(asked.add_columns(distance.label("distance")).order_by(distance).limit(limit))
        return [(_row(one), 1.0 - float(one["distance"])) for one in found]

    def optimize(self, collection: str) -> None:
        """Collect what updates left behind, and renew the planner's statistics."""
        with self._engine.connect() as connection:
            alone = connection.execution_options(isolation_level="AUTOCOMMIT")
            alone.execute(sql.text(f"VACUUM (ANALYZE) {_quoted(self._tables[collection])}"))

    def _select(self, collection: str, columns: Sequence[str], where: Where) -> Any:
        table = self._tables[collection]
        return sql.select(*(table.c[name] for name in columns)).where(*to_postgres(table, where))

    def _fetched(self, asked: Any) -> list[Any]:
        with self._engine.connect() as connection:
            return list(connection.execute(asked).mappings())


def to_postgres(table: Any, where: Where) -> list[Any]:
    """PostgreSQL's conditions, with a bound parameter for each value."""

    def has_any(items: Sequence[str], negated: bool) -> Any:
        found = table.c[ITEMS].overlap(list(items))
        return sql.not_(found) if negated else found

    parts = []
    if where.condition is not None:
        parts.append(
            translate(where.condition, has_any, lambda all_: sql.and_(*all_), lambda any_: sql.or_(*any_))
        )
    if where.until is not None:
        parts.append(table.c[DATE] <= where.until)
    if where.documents is not None:
        parts.append(table.c[DOCUMENT] == _any_of(where.documents))
    if where.ids is not None:
        parts.append(table.c[ID] == _any_of(where.ids))
    return parts


def _any_of(texts: Sequence[str]) -> Any:
    """Of one parameter; ``IN`` would have one for each text, and PostgreSQL takes 65,535."""
    return sql.any_(sql.literal(list(texts), ARRAY(sql.TEXT)))


def _table(name: str, dimension: int) -> Any:
    return sql.Table(
        name,
        sql.MetaData(schema="public"),
        sql.Column(ID, sql.TEXT, primary_key=True),
        sql.Column(TEXT, sql.TEXT, nullable=False),
        sql.Column(VECTOR, VECTOR_TYPE(dimension), nullable=False),
        sql.Column(NAME, sql.TEXT, nullable=False),
        sql.Column(CHUNK, sql.TEXT, nullable=False),
        sql.Column(DOCUMENT, sql.TEXT, nullable=False),
        sql.Column(DATE, sql.BIGINT, nullable=False),
        sql.Column(ITEMS, ARRAY(sql.TEXT), nullable=False),
        sql.Index(f"{name}_items", ITEMS, postgresql_using="gin"),
        sql.Index(f"{name}_owner", DOCUMENT),
    )


def _quoted(table: Any) -> str:
    return f'{table.schema}."{table.name}"'


def _row(found: Any) -> Row:
    return Row(found[ID], found[TEXT], {NAME: found[NAME], CHUNK: found[CHUNK]}, found.get(VECTOR))


def _engine(uri: str) -> Any:
    try:
        url = sql.make_url(uri)
    except (ArgumentError, ValueError):
        raise ConfigError(
            "vectors.uri cannot be read; write postgresql://user:password@host:port/database"
        ) from None
    if url.get_backend_name() not in ("postgresql", "postgres"):
        raise ConfigError(f"vectors.uri is of {url.drivername!r}, but vectors.backend is 'pgvector'")
    url = url.set(drivername="postgresql+psycopg")
    if "connect_timeout" not in url.query:
        url = url.update_query_dict({"connect_timeout": str(CONNECT_SECONDS)})
    return sql.create_engine(url, pool_pre_ping=True, hide_parameters=True)


def _check(engine: Any) -> None:
    """Raises ``StoreError`` where the database cannot be reached, refuses the login, or has no pgvector."""
    where = engine.url.render_as_string(hide_password=True)
    try:
        with engine.connect() as connection:
            known = connection.execute(
                sql.text("SELECT 1 FROM pg_available_extensions WHERE name = 'vector'")
            )
            available = known.first() is not None
    except Exception as error:  # noqa: BLE001 - raised anew below, as what it means
        # Not chained: what the driver raised may tell the whole address.
        reason = first_line(error).removeprefix("(psycopg.OperationalError) ")
        raise StoreError(f"cannot reach PostgreSQL at {where}: {reason}") from None
    if not available:
        raise StoreError(f"PostgreSQL at {where} has no extension 'vector'; install pgvector on the server")
