"""Documents that are at hand into both stores: chunked, embedded where they are new, their facts derived.

``pipeline`` embeds with the same function; what makes documents itself (a memory's sessions) writes them here.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

import numpy as np

from agentic_rag.domain import Chunk, Document, DocumentGraph, search_text
from agentic_rag.domain.identity import dataset_name
from agentic_rag.domain.ports import (
    ChunkWriter,
    EmbeddedDocument,
    Embedding,
    FloatArray,
    GraphStore,
    TokenCounter,
)
from agentic_rag.domain.progress import Meter
from agentic_rag.ingest.chunking import chunk_document
from agentic_rag.ingest.embedding import embedded, embedding_work
from agentic_rag.ingest.facts import derive_graph
from agentic_rag.ingest.names import TitleIndex, document_names

MAX_CHUNK_TOKENS = 400
"""Leaves the 512-token model room for prefix, title and heading path."""

Chunked = Sequence[tuple[str, Sequence[Chunk]]]
"""Document ids, each with all of its chunks."""


class DocumentWriter:
    """Replaces and removes documents in the chunk store and, where there is one, the graph store.

    Without a ledger: a write that was cut short is put right by writing the same documents again.

    Args:
        chunks, graph: the stores; no graph store: facts are derived and given back, but not stored.
        embedding: the model for the chunks.
        count_tokens: the model's tokens of a batch of texts.
    """

    def __init__(
        self, chunks: ChunkWriter, graph: GraphStore | None, embedding: Embedding, count_tokens: TokenCounter
    ) -> None:
        self._chunks = chunks
        self._graph = graph
        self._embedding = embedding
        self._count_tokens = count_tokens
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
        chunked = await asyncio.to_thread(self._chunked, documents)
        held = [chunk.id for _, own in chunked for chunk in own]
        made = await embedded_documents(
            self._chunks, self._embedding, dataset, chunked, held, Meter(None, "store", units=0, work=0.0)
        )
        graphs = await asyncio.to_thread(_derived, documents, chunked, with_new)
        # The chunk store knows of every document that the graph may hold: it is written first, cleared last.
        await self._chunks.replace_documents(dataset, made)
        if self._graph is not None:
            await self._graph.replace_documents(dataset, graphs)
        names.update(with_new)
        return graphs

    async def remove(self, dataset: str, document_ids: Sequence[str]) -> None:
        """Remove documents from both stores; unknown ids are ignored.

        Raises:
            StoreError: a store failed; do it again to finish.
        """
        if not document_ids:
            return
        if self._graph is not None:
            await self._graph.remove_documents(dataset, document_ids)
        await self._chunks.remove_documents(dataset, document_ids)
        names = self._names.get(dataset_name(dataset), {})
        for document_id in document_ids:
            names.pop(document_id, None)

    def _chunked(self, documents: Sequence[Document]) -> list[tuple[str, tuple[Chunk, ...]]]:
        return [
            (
                document.id,
                chunk_document(document, max_tokens=MAX_CHUNK_TOKENS, count_tokens=self._count_tokens),
            )
            for document in documents
        ]


async def embedded_documents(
    store: ChunkWriter,
    embedding: Embedding,
    dataset: str,
    chunked: Chunked,
    held: Sequence[str],
    meter: Meter,
) -> list[EmbeddedDocument]:
    """Vectors of the chunks and their tokens; one whose text is stored already keeps them.

    Args:
        store: where the chunks are, or will be.
        embedding: the model.
        dataset: of the store.
        chunked: the documents.
        held: chunk ids that may be stored already; the others are not looked for.
        meter: told of each chunk's ``text_work`` when it is done.

    Raises:
        StoreError, ModelError: the store or the model failed.
    """
    chunks = [chunk for _, own in chunked for chunk in own]
    stored = await store.get_chunks(dataset, held)
    same = [c.id for c in chunks if c.id in stored and search_text(stored[c.id]) == search_text(c)]
    vectors: dict[str, FloatArray] = await store.get_vectors(dataset, same)
    tokens: dict[str, bytes] = await store.get_token_vectors(dataset, same)
    missing = [chunk for chunk in chunks if chunk.id not in vectors]
    meter.add(text_work([chunk for chunk in chunks if chunk.id in vectors]))
    texts = [search_text(chunk) for chunk in missing]
    work = [embedding_work(text) for text in texts]
    made = await embedded(embedding, texts, work, meter, tokens=True)
    vectors.update({chunk.id: vector for chunk, vector in zip(missing, made.vectors, strict=True)})
    tokens.update({chunk.id: packed for chunk, packed in zip(missing, made.tokens, strict=True)})
    empty = np.zeros((0, embedding.dimension), dtype=np.float32)
    return [
        EmbeddedDocument(
            document_id,
            tuple(own),
            np.stack([vectors[c.id] for c in own]) if own else empty,
            tuple(tokens.get(c.id, b"") for c in own),
        )
        for document_id, own in chunked
    ]


def text_work(chunks: Sequence[Chunk]) -> float:
    """How long chunks take to embed, in the units of ``embedding_work``."""
    return sum(embedding_work(search_text(chunk)) for chunk in chunks)


def _derived(
    documents: Sequence[Document], chunked: Chunked, names: Mapping[str, Sequence[str]]
) -> list[DocumentGraph]:
    titles = TitleIndex(sorted(names.items()))
    return [
        derive_graph(document, own, titles) for document, (_, own) in zip(documents, chunked, strict=True)
    ]
