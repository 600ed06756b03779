"""The graph's LanceDB tables: opened on demand, counted and read."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Collection, Sequence
from datetime import UTC
from typing import Any

import numpy as np
import pyarrow as pa

from agentic_rag.domain.ports import FloatArray
from agentic_rag.stores.batch import batches
from agentic_rag.stores.graph import sql
from agentic_rag.stores.graph.schemas import (
    SEARCHABLE,
    Kind,
    Row,
    columns,
    group_of,
    table_name,
)
from agentic_rag.stores.lancedb.connection import KEYS_PER_CONDITION, LanceConnection, translate_errors
from agentic_rag.stores.lancedb.manifests import Manifests, generation_name
from agentic_rag.stores.lancedb.native_memory import trim_memory
from agentic_rag.stores.lancedb.row_ids import RowIds
from agentic_rag.stores.lancedb.rows import vectors_of

PART_ROWS = 100_000
"""Rows that are held at a time where all are read: 2.4 million mentions take 400 MB at once."""


class TableReader:
    """Reads rows by group and kind; a missing table reads as empty.

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
        return await self._open_table(group, "episodes") is not None

    async def count(self, group: str, kind: Kind) -> int:
        table = await self._open_table(group, kind, any_model=True)
        if table is None:
            return 0
        with translate_errors(f"counting {kind}"):
            return int(await table.count_rows())

    async def version(self, group: str, kind: Kind) -> tuple[str, int]:
        """The name of the table in force, and a number that goes up with every change to it; nothing and 0 for none."""
        table = await self._open_table(group, kind, any_model=True)
        if table is None:
            return "", 0
        with translate_errors(f"reading {kind}"):
            return table.name, int(await table.version())

    async def select(
        self,
        group: str,
        kind: Kind,
        where: str | None = None,
        select: Sequence[str] | None = None,
    ) -> list[Row]:
        """Rows for a predicate, in no particular order."""
        rows = await self.arrow(group, kind, where, select or columns(kind))
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
        table = await self._open_table(group, kind, any_model="vector" not in select)
        if table is None:
            return []
        with translate_errors(f"reading {kind}"):
            rows = await self._row_ids.rows(table, uuids, select)
        return [] if rows is None else rows_of(rows)

    async def by_row_id(
        self,
        group: str,
        kind: Kind,
        row_ids: Sequence[int],
        select: Sequence[str],
        unit_vector: FloatArray | None = None,
    ) -> dict[str, Row]:
        """The rows with these ids (``_rowid``) that are still there, by uuid; ``select`` has ``uuid``.

        Args:
            unit_vector: each row then has the ``cosine`` of its own vector with it, in [-1, 1], None where
                that is 0.
        """
        table = await self._open_table(group, kind)
        if table is None or not row_ids:
            return {}
        vector = [] if unit_vector is None else ["vector"]
        with translate_errors(f"reading {kind}"):
            rows = await table.take_row_ids(sorted(row_ids)).select([*select, *vector]).to_arrow()
        if unit_vector is not None:
            rows = rows.append_column("cosine", _cosines(vectors_of(rows), unit_vector)).drop_columns(
                ["vector"]
            )
        return {row["uuid"]: row for row in rows_of(rows)}

    async def vectors(self, group: str, kind: Kind, uuids: Collection[str]) -> dict[str, FloatArray]:
        """Stored vectors of the rows that exist among the uuids."""
        found: dict[str, FloatArray] = {}
        for keys in batches(sorted(uuids), KEYS_PER_CONDITION):
            rows = await self.arrow(group, kind, sql.is_in("uuid", keys), ["uuid", "vector"])
            if rows is not None:
                found |= dict(zip(rows["uuid"].to_pylist(), vectors_of(rows), strict=True))
        return found

    async def arrow(
        self,
        group: str,
        kind: Kind,
        where: str | None,
        select: Sequence[str],
    ) -> pa.Table | None:
        """Columns as Arrow, rows in no particular order; None without a table."""
        table = await self._open_table(group, kind, any_model="vector" not in select)
        if table is None or where == sql.NOTHING:
            return None
        with translate_errors(f"reading {kind}"):
            query = table.query().select(list(select))
            return await (query.where(where) if where else query).to_arrow()

    async def parts(
        self, group: str, kind: Kind, select: Sequence[str], at_once: int = PART_ROWS
    ) -> AsyncIterator[pa.Table]:
        """Columns of all rows, in no particular order, in batches of about that many rows; none without a table."""
        table = await self._open_table(group, kind, any_model="vector" not in select)
        if table is None:
            return
        held: list[pa.RecordBatch] = []
        with translate_errors(f"reading {kind}"):
            async for batch in await table.query().select(list(select)).to_batches():
                held.append(batch)
                if sum(map(len, held)) >= at_once:
                    yield pa.Table.from_batches(held)
                    held = []
                    await asyncio.to_thread(trim_memory)
        if held:
            yield pa.Table.from_batches(held)

    async def _open_table(self, group: str, kind: Kind, *, any_model: bool = False) -> Any | None:
        """The table in force; ``any_model`` where no vector is read or written."""
        generation = 0
        if kind in SEARCHABLE:
            generation = await self._manifests.generation(group, any_model=any_model)
        return await self._connection.table(generation_name(table_name(group, kind), generation))


def rows_of(table: pa.Table) -> list[Row]:
    """The result of ``to_pylist``, in half the time for time columns, which it converts one value at a time."""
    names, values = table.column_names, [_values(column) for column in table.columns]
    return [dict(zip(names, row, strict=True)) for row in zip(*values, strict=True)]


def _values(column: pa.ChunkedArray) -> list[Any]:
    if not pa.types.is_timestamp(column.type):
        return list(column.to_pylist())
    moments = column.to_numpy().astype("datetime64[us]").tolist()
    return [None if moment is None else moment.replace(tzinfo=UTC) for moment in moments]


def _cosines(stored_vectors: FloatArray, unit_vector: FloatArray) -> pa.Array:
    lengths = np.linalg.norm(stored_vectors, axis=1)
    products = np.sum(
        stored_vectors * unit_vector, axis=1
    )  # each row by itself, so that equal rows have equal cosines
    return pa.array(products / np.maximum(lengths, 1e-12), pa.float64(), mask=lengths == 0)
