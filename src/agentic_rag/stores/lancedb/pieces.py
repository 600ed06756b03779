"""Rows that many processes write into a table's files, and that one commits: by Lance itself, as LanceDB cannot.

Written, they are files that no version of the table names. One that is never committed is removed with old versions, a
week later.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from agentic_rag.stores.lancedb.compaction import in_lance


async def written(table: Any, rows: pa.Table) -> bytes:
    """Write the rows into files of the table; what ``committed`` has to know of them."""
    if not len(rows):
        return b"[]"

    def write(dataset: Any) -> bytes:
        from lance.fragment import write_fragments

        pieces = write_fragments(rows, dataset, mode="append")
        return json.dumps([piece.to_json() for piece in pieces]).encode()

    return await in_lance(table, write)


async def committed(table: Any, files: Sequence[bytes], where: str) -> None:
    """Make the rows that match a condition exactly those of the files; the caller is ``writing``.

    What is new is there before what is old is deleted, as in ``replace_rows``: who reads in between finds both, and so
    does the next call after a crash, which deletes them. Row ids part the old from the new, which may have their keys.

    Args:
        table: for which the files were written.
        files: of ``written``.
        where: in SQL.
    """
    await table.checkout_latest()
    key = (await table.schema()).names[:1]
    old = await table.query().where(where).select(key).with_row_id().to_arrow()
    version = await table.version()

    def commit(dataset: Any) -> None:
        from lance import LanceDataset, LanceOperation
        from lance.fragment import FragmentMetadata

        pieces = [
            FragmentMetadata.from_json(json.dumps(piece)) for some in files for piece in json.loads(some)
        ]
        if pieces:  # documents may have no chunks any more
            LanceDataset.commit(dataset, LanceOperation.Append(pieces), read_version=version)

    await in_lance(table, commit)
    await table.checkout_latest()
    ids = old["_rowid"].to_pylist()
    if ids:
        await table.delete(f"_rowid IN ({', '.join(map(str, ids))})")
