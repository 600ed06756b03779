"""``ingest.engines.IngestEngine`` on a Ray cluster: workers prepare shares of documents, this process stores them.

Stored documents are marked done, so a killed run resumes after them.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import nullcontext
from functools import partial
from itertools import chain

from agentic_rag.domain.ports import ChunkStore, ChunkWriter, GraphStore, PieceStore
from agentic_rag.domain.progress import Meter
from agentic_rag.ingest.engines import BATCH_DOCUMENTS, Batch, Order, group_documents
from agentic_rag.ingest.facts.names import TitleIndex
from agentic_rag.ingest.files.scanning import SourceItem
from agentic_rag.ingest.planning import Action, FileReport, Work, parse_item
from agentic_rag.ingest.preparing import PreparedBatch, PreparedDocument
from agentic_rag.stores.lancedb.indexes import IndexBuilder
from agentic_rag.stores.lancedb.vector_tables import Reindexable
from agentic_rag.workers import Open
from agentic_rag_backends.distributed.pool import Pool
from agentic_rag_backends.distributed.preparing import (
    Share,
    ShareResult,
    WorkerParts,
    parse,
    preparation,
    prepare,
)

PARSED_TOGETHER = 128
"""Sources that a worker parses per task."""
SHARE_BYTES = 400_000
"""Bytes of text per task of a worker, or a single larger document: some seconds of embedding, lost if a worker
dies."""


class RayEngine:
    """Parses and prepares on a cluster.

    Args:
        pool: the workers.
        open_parts: opens a worker's own stores and model.
        chunks: the store of this process.
        builder: builds large indexes.
    """

    def __init__(
        self, pool: Pool, open_parts: Open[WorkerParts], chunks: ChunkStore, builder: IndexBuilder
    ) -> None:
        self._pool = pool
        self._builder = builder
        self._open_parts = open_parts
        self._chunks = chunks

    def parse_items(self, items: Sequence[tuple[SourceItem, Action]]) -> Iterator[Work | FileReport]:
        if len(items) <= PARSED_TOGETHER:  # faster than the start of a worker
            yield from (parse_item(item, action) for item, action in items)
            return
        parts = [items[start : start + PARSED_TOGETHER] for start in range(0, len(items), PARSED_TOGETHER)]
        for some in self._pool.results(nullcontext, parse, parts, "parsing"):
            yield from some

    async def prepare_batches(
        self,
        dataset: str,
        orders: Sequence[Order],
        titles: TitleIndex | None,
        meter: Meter,
        lap: Callable[[str], None],
    ) -> AsyncGenerator[Batch]:
        if not orders:
            return
        if isinstance(self._chunks, PieceStore):
            await self._chunks.prepare_staging(dataset)
        batches = self._batches(dataset, orders, titles)
        while batch := await asyncio.to_thread(next, batches, None):
            lap("prepare")
            meter.add(sum(work.text_bytes for work in batch.works if work.action != "relinked"))
            yield batch

    async def optimize(self, store: ChunkWriter | GraphStore, dataset: str) -> None:
        if isinstance(store, Reindexable):
            await store.optimize(dataset, builder=self._builder)
        else:
            await store.optimize(dataset)

    def _batches(self, dataset: str, orders: Sequence[Order], titles: TitleIndex | None) -> Iterator[Batch]:
        shares = list(_shares(orders))
        opened = partial(preparation, self._open_parts, dataset, self._pool.share(titles))
        made = self._pool.results(
            opened, prepare, list(map(_pack_orders, shares)), "preparing documents", embeds=True
        )
        documents = (
            (order.work, document, one)
            for one, share in zip(made, shares, strict=True)
            for order, document in zip(share, one.documents, strict=True)
        )
        for some in group_documents(documents, lambda items: len(items[1].graph.chunks), BATCH_DOCUMENTS):
            yield _batch(some)


def _shares(orders: Sequence[Order]) -> Iterator[list[Order]]:
    share: list[Order] = []
    size = 0
    for order in orders:
        more = order.work.text_bytes
        if share and (len(share) == BATCH_DOCUMENTS or size + more > SHARE_BYTES):
            yield share
            share, size = [], 0
        share.append(order)
        size += more
    yield share


def _pack_orders(orders: Sequence[Order]) -> Share:
    return Share(
        tuple((order.work.packed_document, order.stored_state, order.moved_from) for order in orders)
    )


def _batch(some: Sequence[tuple[Work, PreparedDocument, ShareResult]]) -> Batch:
    """A batch for the store; a piece belongs to the batch with the first of its documents."""
    made = list({id(one): one for _, _, one in some}.values())
    first = [one for _, document, one in some if document is one.documents[0]]
    vectors = {text: vector for one in made for text, vector in zip(one.texts, one.vectors, strict=True)}
    pieces = tuple(one.piece for one in first if one.piece is not None)
    return Batch(
        tuple(work for work, _, _ in some),
        PreparedBatch(tuple(document for _, document, _ in some), vectors, pieces),
        tuple(chain.from_iterable(one.seconds for one in first)),
    )
