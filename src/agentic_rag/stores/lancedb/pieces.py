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


async def write_files(table: Any, rows: pa.Table) -> bytes:
    """Write the rows into files of the table; what ``commit_files`` has to know of them."""
    if not len(rows):
        return b"[]"

    def write(dataset: Any) -> bytes:
        from lance.fragment import write_fragments

        pieces = write_fragments(rows, dataset, mode="append")
        return json.dumps([piece.to_json() for piece in pieces]).encode()

    return await in_lance(table, write)


async def commit_files(table: Any, files: Sequence[bytes], where: str) -> None:
    """Make the rows that match a condition exactly those of the files, as one version; the caller is ``writing``.

    Args:
        table: for which the files were written.
        files: of ``write_files``.
        where: in SQL.
    """
    await table.checkout_latest()
    key = (await table.schema()).names[:1]
    old = await table.query().where(where).select(key).with_row_id().to_arrow()
    await exchange_rows(table, files, old["_rowid"].to_pylist())


async def exchange_rows(table: Any, files: Sequence[bytes], removed_ids: Sequence[int]) -> None:
    """Add the rows of files and delete those with these ids, as one version; the caller is ``writing``.

    LanceDB can do so by a merge alone, which reads the keys of all rows where no index has them.
    """

    def commit(dataset: Any) -> None:
        from lance import LanceDataset, LanceOperation
        from lance.fragment import FragmentMetadata

        new = [FragmentMetadata.from_json(json.dumps(piece)) for some in files for piece in json.loads(some)]
        emptied, changed = [], []
        are_gone = f"_rowid IN ({', '.join(map(str, removed_ids))})"
        for fragment in dataset.get_fragments() if removed_ids else ():
            left = fragment.delete(are_gone)
            if left is None:
                emptied.append(fragment.fragment_id)
            elif left.num_deletions != fragment.num_deletions:
                changed.append(left)
        if new or emptied or changed:
            operation = LanceOperation.Update(
                removed_fragment_ids=emptied, updated_fragments=changed, new_fragments=new
            )
            LanceDataset.commit(dataset, operation, read_version=dataset.version)

    await in_lance(table, commit)
    await table.checkout_latest()
