"""Writes given documents into both stores: chunks them, embeds new chunks, derives facts.

Used by ``pipeline`` for changed documents, and by callers that make documents themselves (a memory's sessions).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from agentic_rag.domain import Document, DocumentGraph
from agentic_rag.domain.identity import dataset_name
from agentic_rag.domain.ports import (
    ChunkWriter,
    Embedding,
    ExtractionOutcome,
    GraphExtractor,
    GraphStore,
    PieceStore,
    TokenCounter,
)
from agentic_rag.domain.progress import Meter
from agentic_rag.ingest.facts.names import TitleIndex, document_names
from agentic_rag.ingest.preparing import PreparedBatch, Preparer


class DocumentWriter:
    """Replaces and removes documents in the chunk store and the graph store.

    Without a ledger: a write that was cut short is put right by writing the same documents again.

    Args:
        chunks, graph: the stores.
        embedding: the model for the chunks.
        count_tokens: the model's tokens of a batch of texts.
        extractor: reads facts with a chat model; None: from what people wrote.
    """

    def __init__(
        self,
        chunks: ChunkWriter,
        graph: GraphStore,
        embedding: Embedding,
        count_tokens: TokenCounter,
        extractor: GraphExtractor | None = None,
    ) -> None:
        self.preparer = Preparer(chunks, embedding, count_tokens)
        self.chunks = chunks
        self.graph = graph
        self.extractor = extractor
        self._names: dict[str, dict[str, tuple[str, ...]]] = {}

    async def replace(self, dataset: str, documents: Sequence[Document]) -> list[DocumentGraph]:
        """Make both stores hold these documents as they are now; what each contributes to the graph, in order.

        A chunk that is stored with the same words keeps its vector. A text is linked to the documents that
        this writer has written by then, these included; what was written before is not linked anew.

        Raises:
            InputError: a document is given twice, or a bad dataset name.
            StoreError, ModelError: something failed; do it again to finish.
        """
        if not documents:
            return []
        names = self._names.setdefault(dataset_name(dataset), {})
        with_new = {**names, **{document.id: document_names(document) for document in documents}}
        titles = None if self.extractor else TitleIndex(sorted(with_new.items()))
        chunked = await asyncio.to_thread(
            lambda: [self.preparer.chunk(document, "some") for document in documents]
        )
        meter = Meter.silent()
        prepared = await self.preparer.prepare(dataset, chunked, titles, meter)
        await self.store(dataset, prepared)
        names.update(with_new)
        return prepared.graphs

    async def store(
        self, dataset: str, batch: PreparedBatch, lap: Callable[[str], None] = lambda stage: None
    ) -> ExtractionOutcome:
        """Make both stores hold these documents, and how extraction went.

        Args:
            dataset: its name.
            batch: each document once.
            lap: told of each stage that is done: vectors, graph.

        Raises:
            InputError: a document is given twice, or a bad dataset name.
            StoreError, ModelError: something failed; do it again to finish.
        """
        # The chunk store knows of every document that the graph may hold: it is written first, cleared last.
        await self.chunks.replace_documents(
            dataset, [one.embedded_document for one in batch.documents if one.embedded_document is not None]
        )
        if batch.pieces and isinstance(self.chunks, PieceStore):
            await self.chunks.commit_staged(dataset, batch.pieces)
        lap("vectors")
        extracted = ExtractionOutcome(0, 0, 0, 0)
        if self.extractor is None:
            await self.graph.replace_documents(dataset, batch.graphs, vectors=batch.vectors)
        else:
            extracted = await self.extractor.extract(dataset, batch.graphs)
        lap("graph")
        return extracted

    async def remove(self, dataset: str, document_ids: Sequence[str]) -> None:
        """Remove documents from both stores; unknown ids are ignored.

        Raises:
            StoreError: a store failed; do it again to finish.
        """
        if not document_ids:
            return
        await self.graph.remove_documents(dataset, document_ids)
        await self.chunks.remove_documents(dataset, document_ids)
        if self.extractor is not None:
            await self.extractor.forget(dataset, document_ids)
        names = self._names.get(dataset_name(dataset), {})
        for document_id in document_ids:
            names.pop(document_id, None)
