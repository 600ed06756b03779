"""Where an ingest parses, chunks, derives, embeds and indexes: in this process, or by another engine.

An engine decides how much happens at once and where; what it yields is the same, in the same order and batches, so that
the stores end up the same.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from agentic_rag.domain.ports import ChunkWriter, GraphStore
from agentic_rag.domain.progress import Meter
from agentic_rag.ingest.facts.names import TitleIndex
from agentic_rag.ingest.files.scanning import SourceItem
from agentic_rag.ingest.planning import Action, FileReport, Work, parse_item
from agentic_rag.ingest.preparing import ChunkedDocument, PreparedBatch, Preparer, StoredState

FIRST_DOCUMENTS, BATCH_DOCUMENTS = 4, 64
"""Of the first batch, and at most: each has twice as many as the one before, because what is stored answers questions."""
BATCH_CHUNKS = 512
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Order:
    """A document to be prepared."""

    work: Work
    stored_state: StoredState
    moved_from: str | None
    """See ``ChunkedDocument``."""


@dataclass(frozen=True, slots=True)
class Batch:
    """What is stored, and marked done, together; one of ``content.documents`` for each work."""

    works: tuple[Work, ...]
    content: PreparedBatch
    seconds: tuple[tuple[str, float], ...] = ()
    """That workers took for its stages, each in a process of its own."""


class IngestEngine(Protocol):
    """The part of an ingest that may run in another process; the pipeline decides what is stored."""

    def parse_items(self, items: Sequence[tuple[SourceItem, Action]]) -> Iterator[Work | FileReport]:
        """Each item parsed, in order; for a thread to call."""

    def prepare_batches(
        self,
        dataset: str,
        orders: Sequence[Order],
        titles: TitleIndex | None,
        meter: Meter,
        lap: Callable[[str], None],
    ) -> AsyncGenerator[Batch]:
        """All documents in order, in batches of ``group_documents``; see ``Preparer.prepare``."""

    async def optimize(self, store: ChunkWriter | GraphStore, dataset: str) -> None:
        """Compact and index a store; see ``ports.ChunkWriter.optimize``."""


class InProcess:
    """Everything here, one batch after the other."""

    def __init__(self, preparer: Preparer, most: int) -> None:
        self._preparer = preparer
        self._most = most

    def parse_items(self, items: Sequence[tuple[SourceItem, Action]]) -> Iterator[Work | FileReport]:
        return (parse_item(item, action) for item, action in items)

    async def prepare_batches(
        self,
        dataset: str,
        orders: Sequence[Order],
        titles: TitleIndex | None,
        meter: Meter,
        lap: Callable[[str], None],
    ) -> AsyncGenerator[Batch]:
        batches = group_documents(self._chunk_orders(orders), lambda one: len(one[1].chunks), self._most)
        while batch := await asyncio.to_thread(next, batches, None):
            lap("chunk")
            documents = [one for _, one in batch]
            prepared = await self._preparer.prepare(dataset, documents, titles, meter, lap)
            yield Batch(tuple(order.work for order, _ in batch), prepared)

    async def optimize(self, store: ChunkWriter | GraphStore, dataset: str) -> None:
        await store.optimize(dataset)

    def _chunk_orders(self, orders: Sequence[Order]) -> Iterator[tuple[Order, ChunkedDocument]]:
        """Unpacked and chunked one after the other: all of a vault would take six times the memory."""
        for order in orders:
            yield order, self._preparer.chunk(order.work.document, order.stored_state, order.moved_from)


def group_documents(documents: Iterable[T], chunks_of: Callable[[T], int], most: int) -> Iterator[list[T]]:
    """Consecutive documents: FIRST_DOCUMENTS, then twice as many each time, at most ``most``; at most BATCH_CHUNKS chunks
    or one document."""
    batch: list[T] = []
    size, limit = 0, min(FIRST_DOCUMENTS, most)
    for one in documents:
        chunks = chunks_of(one)
        if batch and (len(batch) == limit or size + chunks > BATCH_CHUNKS):
            yield batch
            batch, size, limit = [], 0, min(2 * limit, most)
        batch.append(one)
        size += chunks
    if batch:
        yield batch
