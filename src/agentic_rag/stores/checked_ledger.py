"""The ledger beside a store that does not lie in the data folder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from agentic_rag.domain.ports import ChunkStore, DocumentRecord, Failure, Ledger


class CheckedLedger:
    """``ports.Ledger`` whose records are pending where the store has nothing of the document.

    The ledger lies in the data folder, the chunks do not: another store may be configured, or the same
    one emptied, and the next ingest must fill it.

    Args:
        ledger: the ledger itself.
        chunks: the store.
    """

    def __init__(self, ledger: Ledger, chunks: ChunkStore) -> None:
        self._ledger = ledger
        self._chunks = chunks

    async def records(self, dataset: str) -> dict[str, DocumentRecord]:
        records = await self._ledger.records(dataset)
        held = await self._chunks.document_ids(dataset) if records else set()
        return {
            name: record if name in held or not record.chunks else replace(record, pending=True)
            for name, record in records.items()
        }

    async def put(self, dataset: str, records: Sequence[DocumentRecord]) -> None:
        await self._ledger.put(dataset, records)

    async def remove(self, dataset: str, document_ids: Sequence[str]) -> None:
        await self._ledger.remove(dataset, document_ids)

    async def failures(self, dataset: str) -> dict[str, Failure]:
        return await self._ledger.failures(dataset)

    async def replace_failures(self, dataset: str, failures: Sequence[Failure]) -> None:
        await self._ledger.replace_failures(dataset, failures)

    async def datasets(self) -> list[str]:
        return await self._ledger.datasets()
