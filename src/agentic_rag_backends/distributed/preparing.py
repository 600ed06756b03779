"""The task of a worker in an ingest: chunk documents, derive facts, embed texts, write rows."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from agentic_rag.domain.ports import (
    ChunkStore,
    Embedding,
    FloatArray,
    GraphStore,
    PieceStore,
    StagedRows,
    TokenCounter,
)
from agentic_rag.domain.progress import Meter, StageClock
from agentic_rag.ingest.facts.names import TitleIndex
from agentic_rag.ingest.files.scanning import SourceItem
from agentic_rag.ingest.planning import Action, FileReport, Work, parse_item, unpack
from agentic_rag.ingest.preparing import PreparedBatch, PreparedDocument, Preparer, StoredState, embed_texts
from agentic_rag.text.cache import TextCache
from agentic_rag.workers import Open
from agentic_rag_backends.distributed.pool import get_shared

TEXTS = 50_000
"""Names and sentences whose vectors a worker caches (80 MB), because names recur."""


@dataclass(frozen=True, slots=True)
class WorkerParts:
    """The stores and models of a worker."""

    chunks: ChunkStore
    graph: GraphStore
    embedding: Embedding
    count_tokens: TokenCounter


@dataclass(frozen=True, slots=True)
class Preparation:
    """The state of a worker for one ingest."""

    worker_parts: WorkerParts
    dataset: str
    titles: TitleIndex | None
    vectors: TextCache[FloatArray] = field(default_factory=lambda: TextCache(TEXTS))


@dataclass(frozen=True, slots=True)
class Share:
    """The documents of one task, packed by ``Work``."""

    documents: tuple[tuple[bytes, StoredState, str | None], ...]


@dataclass(frozen=True, slots=True)
class ShareResult:
    """The results of a share, in order."""

    documents: tuple[PreparedDocument, ...]
    texts: tuple[str, ...]
    vectors: FloatArray
    """Vectors of the texts, which are sentences of the graphs."""
    piece: StagedRows | None
    """Rows of the chunks if the store accepts pieces; otherwise the documents hold them."""
    seconds: tuple[tuple[str, float], ...]
    """Seconds per stage in this worker."""


@asynccontextmanager
async def preparation(
    open_parts: Open[WorkerParts], dataset: str, titles: Sequence[Any]
) -> AsyncIterator[Preparation]:
    """``titles``: the title index or None, as ``Pool.share`` gives it."""
    async with open_parts() as parts:
        yield Preparation(parts, dataset, await asyncio.to_thread(get_shared, titles))


async def prepare(worker: Preparation, share: Share) -> ShareResult:
    """Prepare a share completely, without changing a store."""
    clock = StageClock()
    parts = worker.worker_parts
    preparer = Preparer(parts.chunks, parts.embedding, parts.count_tokens)
    documents = [preparer.chunk(unpack(packed), stored, moved) for packed, stored, moved in share.documents]
    clock.lap("chunk")
    prepared = await preparer.prepare(worker.dataset, documents, worker.titles, Meter.silent(), clock.lap)
    is_new = all(one.stored_state == "none" and one.moved_from is None for one in documents)
    texts = await _texts(worker, prepared, is_new=is_new)
    clock.lap("look up")
    vectors = await worker.vectors.of(texts, lambda new: _vectors(parts.embedding, new))
    clock.lap("embed")
    piece = await _piece(worker, prepared)
    clock.lap("write")
    found = prepared.documents
    if piece is not None:
        found = tuple(replace(one, embedded_document=None) for one in found)
    matrix = np.array(vectors, np.float32).reshape(len(texts), parts.embedding.dimension)
    return ShareResult(found, tuple(texts), matrix, piece, tuple(clock.stages.items()))


async def _texts(worker: Preparation, batch: PreparedBatch, *, is_new: bool) -> list[str]:
    """Names and sentences to embed; stored ones are looked up only if the documents are not new."""
    if worker.titles is None:
        return []
    if not is_new:
        return await worker.worker_parts.graph.new_texts(worker.dataset, batch.graphs)
    names = {entity.name for graph in batch.graphs for entity in graph.entities}
    return sorted(names | {fact.text for graph in batch.graphs for fact in graph.facts})


async def _vectors(embedding: Embedding, texts: list[str]) -> FloatArray:
    return (await embed_texts(embedding, texts, [0.0] * len(texts), Meter.silent())).vectors


async def _piece(worker: Preparation, batch: PreparedBatch) -> StagedRows | None:
    documents = [one.embedded_document for one in batch.documents if one.embedded_document is not None]
    chunks = worker.worker_parts.chunks
    if not documents or not isinstance(chunks, PieceStore):
        return None
    return await chunks.stage(worker.dataset, documents)


async def parse(_: None, sources: Sequence[tuple[SourceItem, Action]]) -> list[Work | FileReport]:
    """Parse each source, in order."""
    return [parse_item(item, action) for item, action in sources]
