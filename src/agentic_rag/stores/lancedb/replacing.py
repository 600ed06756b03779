"""Makes the rows of documents exactly the given ones by writing the rows that differ.

A merge reads the keys of all stored rows where no index has them: of 2.4 million .4 s and 350 MB for a batch of which
ten rows differ.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from agentic_rag.stores.lancedb.pieces import exchange_rows, write_files
from agentic_rag.stores.lancedb.rows import vectors_of


async def replace_rows(table: Any, rows: pa.Table, where: str) -> None:
    """Make the rows that match a condition exactly the given ones; the caller is ``writing``.

    A row that is stored as it is given stays. All else changes as one version.

    Args:
        table: its first column is the key. It has no other rows with the keys of the given ones.
        rows: each key once; columns as in the table.
        where: in SQL.
    """
    if not await table.count_rows(where):  # to read whole rows that no index has yet takes longer
        if len(rows):
            await table.add(rows)
        return
    stored = await table.query().where(where).select(rows.column_names).with_row_id().to_arrow()
    differing, gone = await asyncio.to_thread(_differences, stored, rows)
    if any(differing) or gone:
        await exchange_rows(
            table, [await write_files(table, rows.filter(pa.array(differing, pa.bool_())))], gone
        )


def _differences(stored_rows: pa.Table, rows: pa.Table) -> tuple[list[bool], list[int]]:
    """For each row whether it must be written, and the ids of rows to be deleted."""
    keys = rows[0].to_pylist()
    missing = dict(zip(keys, _values(rows), strict=True))
    gone = []
    held = stored_rows.select(rows.column_names)
    for row_id, key, values in zip(
        stored_rows["_rowid"].to_pylist(), held[0].to_pylist(), _values(held), strict=True
    ):
        if missing.get(key) == values:
            del missing[key]  # a second row with this key goes
        else:
            gone.append(row_id)
    return [key in missing for key in keys], gone


def _values(rows: pa.Table) -> Iterator[tuple[Any, ...]]:
    """What can be compared, of each row."""
    return zip(*(_column(rows, name) for name in rows.column_names), strict=True)


def _column(rows: pa.Table, name: str) -> list[Any]:
    column = rows[name]
    if pa.types.is_fixed_size_list(column.type):
        return [vector.tobytes() for vector in vectors_of(rows)]
    if pa.types.is_timestamp(column.type):
        return list(column.cast(pa.int64()).to_pylist())
    return list(column.to_pylist())
