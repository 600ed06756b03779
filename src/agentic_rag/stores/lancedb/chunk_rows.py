"""Reads values of chunks: where they lie in the table's files, and through LanceDB where that is not known."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from typing import Any

import pyarrow as pa

from agentic_rag.stores.lancedb.connection import LanceConnection
from agentic_rag.stores.lancedb.row_ids import RowIds
from agentic_rag.stores.lancedb.rows import vector_rows

Values = tuple[bytes, ...]
"""Of the columns of a row, as they lie in the file; see ``rows``."""


class ChunkRows:
    """The rows of the tables of a chunk store.

    Args:
        connection: the database.
    """

    def __init__(self, connection: LanceConnection) -> None:
        self._connection = connection
        self._ids = RowIds("chunk_id")

    async def by_id(
        self, table: Any, chunk_ids: Collection[str], columns: Sequence[str]
    ) -> dict[str, Values]:
        """Values of the chunks that exist."""
        places = await self._connection.places(table)
        rows: dict[str, Values] = {}
        if places is not None:
            row_ids = await self._ids.current(table, chunk_ids)
            placed = await asyncio.to_thread(places.read, list(row_ids.values()), columns)
            rows = {i: placed[row_id] for i, row_id in row_ids.items() if row_id in placed}
        if missing := set(chunk_ids) - rows.keys():
            taken = await self._ids.rows(table, missing, columns)
            if taken is not None:
                rows |= zip(taken["chunk_id"].to_pylist(), _values(taken, columns), strict=True)
        return rows

    async def of_query(
        self, table: Any, query: Any, columns: Sequence[str], measure: str
    ) -> list[tuple[Values, float]]:
        """Values of the rows that a query finds, in its order, each with its measure.

        Args:
            query: of LanceDB, on the table.
            measure: the column that the query adds.
        """
        places = await self._connection.places(table)
        query = query.with_row_id()
        if places is None:
            found = await query.select([*columns, measure]).to_arrow()
            return list(zip(_values(found, columns), found[measure].to_pylist(), strict=True))
        found = await query.select([measure]).to_arrow()
        row_ids = found["_rowid"].to_pylist()
        rows = await asyncio.to_thread(places.read, row_ids, columns)
        if unplaced := [row_id for row_id in row_ids if row_id not in rows]:
            taken = await table.take_row_ids(unplaced).with_row_id().select(list(columns)).to_arrow()
            rows |= zip(taken["_rowid"].to_pylist(), _values(taken, columns), strict=True)
        pairs = zip(row_ids, found[measure].to_pylist(), strict=True)
        return [(rows[row_id], value) for row_id, value in pairs if row_id in rows]


def _values(rows: pa.Table, columns: Sequence[str]) -> list[Values]:
    return list(zip(*(_file_bytes(rows[column].combine_chunks()) for column in columns), strict=True))


def _file_bytes(column: Any) -> list[bytes]:
    """A column's values as they lie in a file."""
    if pa.types.is_fixed_size_list(column.type):
        return [row.tobytes() for row in vector_rows(column)]
    return [value or b"" for value in column.cast(pa.binary()).to_pylist()]
