"""The graph's LanceDB tables: four a dataset group, opened on demand, written in batches, searched by leg."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager
from datetime import UTC
from typing import Any

import numpy as np
import pyarrow as pa

from agentic_rag.domain.ports import FloatArray, PassageVectors, StoreStats
from agentic_rag.stores.batch import batches
from agentic_rag.stores.graph import sql
from agentic_rag.stores.graph.schemas import (
    FULL_TEXT,
    INDEXED,
    KINDS,
    WITH_VECTOR,
    Kind,
    Row,
    columns,
    embedded_column,
    group_of,
    schema,
    table_name,
)
from agentic_rag.stores.lancedb.connection import (
    KEYS_PER_CONDITION,
    LanceConnection,
    translated,
    trim_memory,
    upsert,
)
from agentic_rag.stores.lancedb.full_text import full_text_index, index_words, searched
from agentic_rag.stores.lancedb.indexes import (
    BUILT_HERE,
    VECTOR_INDEX_FROM,
    IndexBuilder,
    IndexPlan,
    PlannedIndex,
    planned,
    probes,
    refine_factor,
    table_stats,
    tidied,
    tidied_when_due,
)
from agentic_rag.stores.lancedb.manifests import Manifests, generation_name
from agentic_rag.stores.lancedb.process_lock import writing
from agentic_rag.stores.lancedb.reindex import VectorTable
from agentic_rag.stores.lancedb.replacing import replace_rows
from agentic_rag.stores.lancedb.row_ids import RowIds
from agentic_rag.stores.lancedb.rows import vector_array, vectors_of

INDEX_FROM = 2_048
"""Rows from which key indexes pay; below, a scan is as fast as the look-up."""

PART_ROWS = 100_000
"""Rows that are held at a time where all are read: 2.4 million mentions take 400 MB at once."""

_LOGGER = logging.getLogger(__name__)


class GraphTables:
    """Reads and writes rows by group and kind; a missing table reads as empty.

    Args:
        connection: the database; shared with the other stores.
        model: name of the embedding model, kept in the manifest.
        dimension: length of its vectors; the metric is cosine.
    """

    def __init__(self, connection: LanceConnection, *, model: str, dimension: int) -> None:
        self._connection = connection
        self._manifests = Manifests(connection, model=model, dimension=dimension)
        self.dimension = dimension
        self._row_ids = RowIds("uuid")
        self._scans = asyncio.Semaphore(max(2, os.cpu_count() or 2))

    def refresh(self) -> None:
        """Read what other processes have written until now."""
        self._connection.refresh()

    async def groups(self) -> list[str]:
        """Group ids that have a table, sorted."""
        found = (group_of(name) for name in await self._connection.table_names())
        return sorted({group for group in found if group is not None})

    async def exists(self, group: str) -> bool:
        return await self._opened(group, "episodes") is not None

    async def count(self, group: str, kind: Kind) -> int:
        table = await self._opened(group, kind, any_model=True)
        if table is None:
            return 0
        with translated(f"counting {kind}"):
            return int(await table.count_rows())

    async def select(
        self,
        group: str,
        kind: Kind,
        where: str | None = None,
        select: Sequence[str] | None = None,
        limit: int | None = None,
    ) -> list[Row]:
        """Rows for a predicate, in no particular order."""
        rows = await self.arrow(group, kind, where, select or columns(kind), limit)
        return rows_of(rows) if rows is not None else []

    async def select_in(
        self,
        group: str,
        kind: Kind,
        column: str,
        values: Collection[str],
        select: Sequence[str] | None = None,
        also: str | None = None,
    ) -> list[Row]:
        """Rows whose column has one of the values, for any number of values."""
        found: list[Row] = []
        for keys in batches(sorted(values), KEYS_PER_CONDITION):
            where = sql.every([sql.is_in(column, keys), also])
            found.extend(await self.select(group, kind, where, select))
        return found

    async def by_uuid(
        self, group: str, kind: Kind, uuids: Collection[str], select: Sequence[str]
    ) -> list[Row]:
        """Rows that exist among the uuids, in no particular order; quicker than ``select_in`` in a large table."""
        table = await self._opened(group, kind, any_model="vector" not in select)
        if table is None:
            return []
        with translated(f"reading {kind}"):
            rows = await self._row_ids.rows(table, uuids, select)
        return [] if rows is None else rows_of(rows)

    async def vectors(self, group: str, kind: Kind, uuids: Collection[str]) -> dict[str, FloatArray]:
        """Stored vectors of the rows that exist among the uuids."""
        found: dict[str, FloatArray] = {}
        for keys in batches(sorted(uuids), KEYS_PER_CONDITION):
            rows = await self.arrow(group, kind, sql.is_in("uuid", keys), ["uuid", "vector"])
            if rows is not None:
                found |= dict(zip(rows["uuid"].to_pylist(), vectors_of(rows), strict=True))
        return found

    async def nearest(
        self,
        group: str,
        kind: Kind,
        vector: Sequence[float],
        select: Sequence[str],
        *,
        where: str | None,
        limit: int,
    ) -> list[tuple[Row, float]]:
        """Rows by cosine in [-1, 1], descending, ties by uuid; ``select`` has ``uuid``."""
        table = await self._opened(group, kind)
        if table is None or where == sql.NOTHING or limit < 1:
            return []
        with translated(f"searching vectors of {kind}"):
            query = table.query().nearest_to(np.asarray(vector, dtype=np.float32)).distance_type("cosine")
            query = query.nprobes(probes(where)).refine_factor(refine_factor(limit))
            query = query.select([*select, "_distance"]).limit(limit)
            query = query.where(where) if where else query
            async with self._scans:
                rows = rows_of(await query.to_arrow())
        scored = [(row, 1.0 - row.pop("_distance")) for row in rows]
        return _ordered([(row, score) for row, score in scored if score == score])

    async def matching(
        self,
        group: str,
        kind: Kind,
        text: str,
        select: Sequence[str],
        *,
        where: str | None,
        limit: int,
    ) -> list[tuple[Row, float]]:
        """Rows by BM25 ≥ 0, descending, ties by uuid; the text must be ``searchable`` already, ``select`` has ``uuid``."""
        table = await self._opened(group, kind)
        words = searched(text)
        if table is None or where == sql.NOTHING or limit < 1 or not words:
            return []
        from lancedb.query import MatchQuery

        with translated(f"searching words of {kind}"):
            query = table.query().nearest_to_text(MatchQuery(words, "text"))
            query = query.select([*select, "_score"]).limit(limit)
            rows = rows_of(await (query.where(where) if where else query).to_arrow())
        scored = [(row, row.pop("_score")) for row in rows]
        return _ordered([(row, score) for row, score in scored if score > 0])

    async def found(
        self,
        group: str,
        kind: Kind,
        row_ids: Sequence[int],
        select: Sequence[str],
        asked: FloatArray | None = None,
    ) -> dict[str, Row]:
        """The rows with these ids (``_rowid``) that are still there, by uuid; ``select`` has ``uuid``.

        Args:
            asked: a unit vector; each row then has the ``cosine`` of its own vector with it, in [-1, 1], None where
                that is 0.
        """
        table = await self._opened(group, kind)
        if table is None or not row_ids:
            return {}
        vector = [] if asked is None else ["vector"]
        with translated(f"reading {kind}"):
            rows = await table.take_row_ids(sorted(row_ids)).select([*select, *vector]).to_arrow()
        if asked is not None:
            rows = rows.append_column("cosine", _cosines(vectors_of(rows), asked)).drop_columns(["vector"])
        return {row["uuid"]: row for row in rows_of(rows)}

    async def upsert(self, group: str, kind: Kind, rows: Sequence[Row]) -> None:
        """Insert or overwrite by uuid, as one version of the table."""
        if not rows:
            return
        table = await self._created(group, kind)
        with translated(f"storing {len(rows)} {kind}"):
            await upsert(table, "uuid", _to_arrow(rows, table_schema=await table.schema()))
        await self._tidied_when_due(table, kind)

    async def replace(self, group: str, kind: Kind, rows: Sequence[Row], where: str) -> None:
        """Make the rows that match a predicate exactly the given ones: see ``replace_rows``."""
        table = await self._created(group, kind) if rows else await self._opened(group, kind, any_model=True)
        if table is None:
            return
        with translated(f"storing {len(rows)} {kind}"):
            await replace_rows(table, _to_arrow(rows, table_schema=await table.schema()), where)
        await self._tidied_when_due(table, kind)

    async def _tidied_when_due(self, table: Any, kind: Kind) -> None:
        await tidied_when_due(table, lambda: tidied(table, _plan(kind), kind), kind)

    async def delete(self, group: str, kind: Kind, where: str) -> None:
        table = await self._opened(group, kind, any_model=True)
        if table is None or where == sql.NOTHING:
            return
        with translated(f"deleting {kind}"):
            # A delete that matches nothing would still write a version, and versions slow searches.
            if await table.count_rows(where):
                await table.delete(where)

    async def optimize(self, group: str, *, purge: bool = False, builder: IndexBuilder = BUILT_HERE) -> None:
        """Compact, and index what pays to be indexed; the caller is ``writing``. ``purge``: see ``indexes.tidied``."""
        for kind in KINDS:
            table = await self._opened(group, kind, any_model=True)
            if table is not None:
                await tidied(table, _plan(kind), kind, purge=purge, builder=builder)
        await self._manifests.drop_superseded(group, [table_name(group, kind) for kind in WITH_VECTOR])

    @asynccontextmanager
    async def writing(
        self, groups: Collection[str], *, removing: Collection[str] = ()
    ) -> AsyncIterator[None]:
        """Held around a write to some groups, and removals from others; the tables stay in force meanwhile.

        Raises ``ManifestMismatch`` where the vectors of a group that is written to come from another model.
        """
        async with writing(self._connection.locks, {*groups, *removing}):
            for group in {*groups, *removing}:
                await self._manifests.generation_now(group, any_model=group not in groups)
            yield

    async def stats(self, group: str) -> StoreStats:
        """A table each kind that has one; of any model."""
        manifest = await self._manifests.stored(group)
        found = []
        for kind in KINDS:
            table = await self._opened(group, kind, any_model=True)
            if table is not None:
                found.append(await table_stats(table, self._connection.uri, kind))
        if manifest is None:
            return StoreStats(None, None, None, tuple(found))
        return StoreStats(manifest.model, manifest.dimension, manifest.metric, tuple(found))

    def vector_tables(self, group: str) -> tuple[VectorTable, ...]:
        """For ``reindex``: entities and facts."""
        return tuple(self._vector_table(group, kind) for kind in KINDS if kind in WITH_VECTOR)

    def _vector_table(self, group: str, kind: Kind) -> VectorTable:
        made, column = schema(kind, dimension=self.dimension), embedded_column(kind)

        def rows_of(rows: Sequence[Row], found: PassageVectors) -> pa.Table:
            return _to_arrow(
                [{**row, "vector": vector} for row, vector in zip(rows, found.vectors, strict=True)], made
            )

        return VectorTable(
            name=kind,
            base=table_name(group, kind),
            key="uuid",
            columns=columns(kind),
            measured=column,
            schema=made,
            text=lambda row: str(row[column]),
            made=rows_of,
            prepare=index_words,
            plan=_plan(kind),
        )

    async def version(self, group: str, kind: Kind) -> tuple[str, int]:
        """The name of the table in force, and a number that goes up with every change to it; nothing and 0 for none."""
        table = await self._opened(group, kind, any_model=True)
        if table is None:
            return "", 0
        with translated(f"reading {kind}"):
            return table.name, int(await table.version())

    async def arrow(
        self,
        group: str,
        kind: Kind,
        where: str | None,
        select: Sequence[str],
        limit: int | None = None,
    ) -> pa.Table | None:
        """Columns as Arrow, rows in no particular order; None without a table."""
        table = await self._opened(group, kind, any_model="vector" not in select)
        if table is None or where == sql.NOTHING:
            return None
        with translated(f"reading {kind}"):
            query = table.query().select(list(select))
            query = query.where(where) if where else query
            return await (query.limit(limit) if limit is not None else query).to_arrow()

    async def parts(
        self, group: str, kind: Kind, select: Sequence[str], at_once: int = PART_ROWS
    ) -> AsyncIterator[pa.Table]:
        """Columns of all rows, in no particular order, in batches of about that many rows; none without a table."""
        table = await self._opened(group, kind, any_model="vector" not in select)
        if table is None:
            return
        held: list[pa.RecordBatch] = []
        with translated(f"reading {kind}"):
            async for batch in await table.query().select(list(select)).to_batches():
                held.append(batch)
                if sum(map(len, held)) >= at_once:
                    yield pa.Table.from_batches(held)
                    held = []
                    await asyncio.to_thread(trim_memory)
        if held:
            yield pa.Table.from_batches(held)

    async def _opened(self, group: str, kind: Kind, *, any_model: bool = False) -> Any | None:
        """The table in force; ``any_model`` where no vector is read or written."""
        generation = 0
        if kind in WITH_VECTOR:
            generation = await self._manifests.generation(group, any_model=any_model)
        return await self._connection.table(generation_name(table_name(group, kind), generation))

    async def _created(self, group: str, kind: Kind) -> Any:
        table = await self._opened(group, kind)
        if table is not None:
            return table
        generation = await self._manifests.make(group) if kind in WITH_VECTOR else 0
        name = generation_name(table_name(group, kind), generation)
        prepare = index_words if kind in FULL_TEXT else None
        return await self._connection.create_table(
            name, schema(kind, dimension=self.dimension), "uuid", prepare
        )


def _plan(kind: Kind) -> IndexPlan:
    from lancedb.index import BTree

    words = (PlannedIndex("text", full_text_index),) if kind in FULL_TEXT else ()
    keys = planned(INDEXED[kind], BTree, INDEX_FROM)
    return IndexPlan((*words, *keys), VECTOR_INDEX_FROM if kind in WITH_VECTOR else None)


def rows_of(found: pa.Table) -> list[Row]:
    """The result of ``to_pylist``, in half the time for time columns, which it converts one value at a time."""
    names, values = found.column_names, [_values(column) for column in found.columns]
    return [dict(zip(names, row, strict=True)) for row in zip(*values, strict=True)]


def _values(column: pa.ChunkedArray) -> list[Any]:
    if not pa.types.is_timestamp(column.type):
        return list(column.to_pylist())
    moments = column.to_numpy().astype("datetime64[us]").tolist()
    return [None if moment is None else moment.replace(tzinfo=UTC) for moment in moments]


def _cosines(stored: FloatArray, asked: FloatArray) -> pa.Array:
    lengths = np.linalg.norm(stored, axis=1)
    products = np.sum(stored * asked, axis=1)  # each row by itself, so that equal rows have equal cosines
    return pa.array(products / np.maximum(lengths, 1e-12), pa.float64(), mask=lengths == 0)


def _ordered(scored: list[tuple[Row, float]]) -> list[tuple[Row, float]]:
    return sorted(scored, key=lambda pair: (-pair[1], pair[0]["uuid"]))


def _to_arrow(rows: Sequence[Row], table_schema: pa.Schema) -> pa.Table:
    """Rows as Arrow, one a uuid (the last), vectors without a detour through Python floats."""
    unique = list({row["uuid"]: row for row in rows}.values())
    arrays = []
    for field in table_schema:
        if field.name == "vector":
            vectors = np.array([row["vector"] for row in unique], dtype=np.float32)
            arrays.append(vector_array(vectors, table_schema))
        else:
            arrays.append(pa.array([row.get(field.name) for row in unique], type=field.type))
    return pa.Table.from_arrays(arrays, schema=table_schema)
