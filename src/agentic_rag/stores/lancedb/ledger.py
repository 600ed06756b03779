"""``ports.Ledger`` on LanceDB: which documents each dataset holds, and whether they were stored whole."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import asdict, fields

import pyarrow as pa

from agentic_rag.domain.identity import dataset_name, digest
from agentic_rag.domain.ports import DocumentRecord, Failure
from agentic_rag.stores.checks import checked_records
from agentic_rag.stores.lancedb.connection import LanceConnection, delete_keys, translate_errors, upsert
from agentic_rag.stores.lancedb.indexes import IndexPlan, tidied_when_due, tidy_table
from agentic_rag.stores.lancedb.sql import quote
from agentic_rag.stores.uninterrupted import run_uninterrupted

_NAME = "ledger"
_SCHEMA = pa.schema(
    [
        pa.field("key", pa.string(), nullable=False),
        pa.field("dataset", pa.string(), nullable=False),
        pa.field("document_id", pa.string(), nullable=False),
        pa.field("root", pa.string(), nullable=False),
        pa.field("path", pa.string(), nullable=False),
        pa.field("content_hash", pa.string(), nullable=False),
        pa.field("graph_hash", pa.string(), nullable=False),
        pa.field("names", pa.list_(pa.string()), nullable=False),
        pa.field("pending", pa.bool_(), nullable=False),
        pa.field("chunks", pa.int64(), nullable=False),
        pa.field("note", pa.binary(), nullable=False),
    ]
)

_RECORD = [field.name for field in fields(DocumentRecord)]
_FAILURES = "failures"
"""Table with the files that could not be read; there once there is one."""
_FAILURE_SCHEMA = pa.schema(
    [
        pa.field(name, pa.string(), nullable=False)
        for name in ("key", "dataset", *(field.name for field in fields(Failure)))
    ]
)


class LanceLedger:
    """Records of all datasets in one table, keyed by a digest of dataset and document id; failures in another."""

    def __init__(self, connection: LanceConnection) -> None:
        self._connection = connection
        self._records_by_dataset: dict[str, tuple[int, dict[str, DocumentRecord]]] = {}
        """By dataset its records and the table's version that they were read of: 50,000 take half a second to read."""
        self._names: tuple[int, list[str]] | None = None
        """Of all datasets, and the table's version: every question looks whether its own is there."""

    async def records(self, dataset: str) -> dict[str, DocumentRecord]:
        name = dataset_name(dataset)
        table = await self._connection.table(_NAME)
        if table is None:
            return {}
        with translate_errors("reading the ledger"):
            await table.checkout_latest()
            version = await table.version()
            held = self._records_by_dataset.get(name)
            if held is None or held[0] != version:
                rows = await table.query().where(f"dataset = {quote(name)}").select(_RECORD).to_arrow()
                held = version, await asyncio.to_thread(_records, rows)
                # Another process may have written between the two; then the next reading reads again.
                if await table.version() == version:
                    self._records_by_dataset[name] = held
        return dict(held[1])

    async def put(self, dataset: str, records: Sequence[DocumentRecord]) -> None:
        if not records:
            return
        name = dataset_name(dataset)
        checked = checked_records(records)
        rows = [
            {**asdict(record), "dataset": name, "key": digest(name, record.document_id)}
            for record in checked.values()
        ]
        table = await self._connection.create_table(_NAME, _SCHEMA, "key")
        with translate_errors("writing the ledger"):
            await run_uninterrupted(upsert(table, "key", pa.Table.from_pylist(rows, schema=_SCHEMA)))
            version = await table.version()
        held = self._records_by_dataset.pop(name, None)
        if held is not None and version == held[0] + 1:  # else another process has written too
            self._records_by_dataset[name] = version, {**held[1], **checked}
        await tidied_when_due(table, lambda: tidy_table(table, IndexPlan(), "the ledger"), "the ledger")

    async def remove(self, dataset: str, document_ids: Sequence[str]) -> None:
        table = await self._connection.table(_NAME)
        if table is None or not document_ids:
            return
        name = dataset_name(dataset)
        with translate_errors("writing the ledger"):
            keys = {digest(name, document_id) for document_id in document_ids}
            await run_uninterrupted(delete_keys(table, "key", keys))

    async def failures(self, dataset: str) -> dict[str, Failure]:
        table = await self._connection.table(_FAILURES)
        if table is None:
            return {}
        with translate_errors("reading the failures"):
            await table.checkout_latest()
            rows = await table.query().where(f"dataset = {quote(dataset_name(dataset))}").to_list()
        names = [field.name for field in fields(Failure)]
        return {row["document_id"]: Failure(*(row[name] for name in names)) for row in rows}

    async def replace_failures(self, dataset: str, failures: Sequence[Failure]) -> None:
        before = await self.failures(dataset)
        now = {one.document_id: one for one in failures}
        if now == before:
            return
        name = dataset_name(dataset)
        rows = [
            {**asdict(one), "dataset": name, "key": digest(name, one.document_id)} for one in now.values()
        ]
        table = await self._connection.create_table(_FAILURES, _FAILURE_SCHEMA, "key")
        with translate_errors("writing the failures"):
            gone = {digest(name, document_id) for document_id in before.keys() - now.keys()}
            await run_uninterrupted(delete_keys(table, "key", gone))
            if rows:
                await run_uninterrupted(
                    upsert(table, "key", pa.Table.from_pylist(rows, schema=_FAILURE_SCHEMA))
                )
        await tidied_when_due(table, lambda: tidy_table(table, IndexPlan(), "the failures"), "the failures")

    async def datasets(self) -> list[str]:
        table = await self._connection.table(_NAME)
        if table is None:
            return []
        with translate_errors("reading the ledger"):
            version = await table.version()
            if self._names is None or self._names[0] != version:
                rows = await table.query().select(["dataset"]).to_arrow()
                self._names = version, sorted(rows["dataset"].unique().to_pylist())
        return list(self._names[1])


def _records(rows: pa.Table) -> dict[str, DocumentRecord]:
    """By document id; ``rows`` has the columns of ``_RECORD``."""
    columns = {name: rows[name].to_pylist() for name in _RECORD}
    columns["names"] = map(tuple, columns["names"])
    records = (DocumentRecord(*values) for values in zip(*columns.values(), strict=True))
    return {record.document_id: record for record in records}
