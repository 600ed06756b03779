"""The part of an ingest that changes no store: chunking documents, deriving facts, embedding new chunks."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from agentic_rag.domain import Chunk, Document, DocumentGraph, search_text
from agentic_rag.domain.ports import (
    ChunkReader,
    EmbeddedDocument,
    Embedding,
    FloatArray,
    PassageVectors,
    StagedRows,
    TokenCounter,
    TokenEmbedding,
)
from agentic_rag.domain.progress import Meter
from agentic_rag.ingest.chunking import chunk_document
from agentic_rag.ingest.facts.derivation import derive_graph
from agentic_rag.ingest.facts.names import TitleIndex

MAX_CHUNK_TOKENS = 400
"""Leaves the 512-token model room for prefix, title and heading path."""
EMBED_TEXTS = 32
"""Texts a call."""
CALLS = 2
"""Under way at a time: while one ends, the next keeps the model's workers busy."""
TEXT_OVERHEAD = 40
"""Fixed time to embed one text, in bytes of text."""

StoredState = Literal["none", "some", "all"]
"""How many of a document's chunks are stored. ``some``: chunks with the same text keep their vectors; ``all``:
only the graph is written."""


@dataclass(frozen=True, slots=True)
class ChunkedDocument:
    """A document to be written, with all of its chunks."""

    document: Document
    chunks: tuple[Chunk, ...]
    stored_state: StoredState
    moved_from: str | None = None
    """Id of a document that this run removes; chunks with the same words take over its vectors."""


@dataclass(frozen=True, slots=True)
class PreparedDocument:
    """A document as the stores take it."""

    graph: DocumentGraph
    """With its chunks; without facts where a chat model is to read them."""
    embedded_document: EmbeddedDocument | None
    """Its chunks with their vectors; None if they are stored, or in a piece."""
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PreparedBatch:
    """Documents that are written together."""

    documents: tuple[PreparedDocument, ...]
    vectors: Mapping[str, FloatArray] = field(default_factory=dict)
    """Of sentences of the graphs, by text, as far as they were made."""
    pieces: tuple[StagedRows, ...] = ()
    """Of the chunk store, written ahead, perhaps with chunks of documents of the batches after this one."""

    @property
    def graphs(self) -> list[DocumentGraph]:
        """What each contributes to the graph, in order."""
        return [one.graph for one in self.documents]


class Preparer:
    """Chunks, facts and vectors of documents; only reads from the chunk store.

    Args:
        chunks: where a chunk of the same words may have its vector.
        embedding: the model for the chunks.
        count_tokens: the model's tokens of a batch of texts.
    """

    def __init__(self, chunks: ChunkReader, embedding: Embedding, count_tokens: TokenCounter) -> None:
        self._chunks = chunks
        self._embedding = embedding
        self._count_tokens = count_tokens

    def chunk(
        self, document: Document, stored_state: StoredState, moved_from: str | None = None
    ) -> ChunkedDocument:
        """The document with its chunks, for ``prepare``."""
        chunks = chunk_document(document, max_tokens=MAX_CHUNK_TOKENS, count_tokens=self._count_tokens)
        return ChunkedDocument(document, chunks, stored_state, moved_from)

    async def prepare(
        self,
        dataset: str,
        documents: Sequence[ChunkedDocument],
        titles: TitleIndex | None,
        meter: Meter,
        lap: Callable[[str], None] = lambda stage: None,
    ) -> PreparedBatch:
        """What there is to store of the documents, in order.

        Args:
            dataset: its name.
            documents: each once.
            titles: the names of all documents of the dataset, these included; None: facts are not derived.
            meter: told of each chunk's bytes of text when it is embedded.
            lap: told of each stage that is done: embed, facts.

        Raises:
            StoreError, ModelError: something failed; do it again.
        """
        embedded_documents = await self._embed_documents(dataset, documents, meter)
        lap("embed")
        graphs = await asyncio.to_thread(lambda: [_graph(one, titles) for one in documents])
        lap("facts")
        by_id = {one.document_id: one for one in embedded_documents}
        return PreparedBatch(
            tuple(
                PreparedDocument(graph, by_id.get(graph.document_id), tuple(one.document.warnings))
                for one, graph in zip(documents, graphs, strict=True)
            )
        )

    async def _embed_documents(
        self, dataset: str, documents: Sequence[ChunkedDocument], meter: Meter
    ) -> list[EmbeddedDocument]:
        """The documents whose chunks must be stored, embedded; looks up stored chunks only where some may
        exist."""
        new = [one for one in documents if one.stored_state != "all"]
        held = {chunk.id: old for one in new for chunk, old in _stored_pairs(one)}
        found = await self._chunks.get_chunks(dataset, list(held.values()))
        stored = {now: found[old] for now, old in held.items() if old in found}
        chunks = {one.document.id: one.chunks for one in new}
        return await embedded_documents(self._chunks, self._embedding, dataset, chunks, stored, meter)


def _graph(one: ChunkedDocument, titles: TitleIndex | None) -> DocumentGraph:
    if titles is None:
        return DocumentGraph(one.document.id, one.chunks)
    return replace(derive_graph(one.document, one.chunks, titles), moved_from=one.moved_from)


def _stored_pairs(one: ChunkedDocument) -> Iterator[tuple[Chunk, str]]:
    """Chunks that may be stored already, each with the id of the stored chunk."""
    if one.stored_state == "some":
        yield from ((chunk, chunk.id) for chunk in one.chunks)
    elif one.moved_from is not None:
        # The local key after the document's id does not depend on the document.
        length = len(one.document.id)
        yield from ((chunk, one.moved_from + chunk.id[length:]) for chunk in one.chunks)


def _bytes(chunk: Chunk) -> float:
    """Of its text; those of a document's chunks add up to the document's."""
    return float(len(chunk.text.encode("utf-8", "replace")))


def embedding_work(text: str) -> float:
    """How long a text takes to embed, in UTF-8 bytes: a Chinese character has three, and is about a token."""
    return float(len(text.encode("utf-8", "replace")) + TEXT_OVERHEAD)


async def embedded_documents(
    reader: ChunkReader,
    embedding: Embedding,
    dataset: str,
    documents: Mapping[str, Sequence[Chunk]],
    stored_chunks: Mapping[str, Chunk],
    meter: Meter | None = None,
) -> list[EmbeddedDocument]:
    """Documents with the vectors of their chunks and of their tokens; what is stored with the same text keeps them.

    Args:
        reader: where the stored ones are.
        embedding: makes the others.
        dataset: its name.
        documents: all chunks of each, by the document's id.
        stored_chunks: by the id of a chunk, the one that may have its text.
        meter: told of each chunk's bytes of text.

    Raises:
        StoreError, ModelError: something failed.
    """
    meter = meter or Meter.silent()
    chunks = [chunk for its in documents.values() for chunk in its]
    same = {
        chunk.id: stored_chunks[chunk.id].id
        for chunk in chunks
        if chunk.id in stored_chunks and search_text(stored_chunks[chunk.id]) == search_text(chunk)
    }
    old_vectors = await reader.get_vectors(dataset, list(same.values()))
    old_tokens = await reader.get_token_vectors(dataset, list(same.values()))
    vectors = {now: old_vectors[old] for now, old in same.items() if old in old_vectors}
    tokens = {now: old_tokens[old] for now, old in same.items() if old in old_tokens}
    meter.add(sum(_bytes(chunk) for chunk in chunks if chunk.id in vectors))
    missing = [chunk for chunk in chunks if chunk.id not in vectors]
    texts = [search_text(chunk) for chunk in missing]
    made = await embed_texts(embedding, texts, list(map(_bytes, missing)), meter, tokens=True)
    vectors |= {chunk.id: vector for chunk, vector in zip(missing, made.vectors, strict=True)}
    tokens |= {chunk.id: packed for chunk, packed in zip(missing, made.tokens, strict=True)}
    return [
        EmbeddedDocument(
            document_id,
            tuple(its),
            np.array([vectors[chunk.id] for chunk in its], np.float32).reshape(-1, embedding.dimension),
            tuple(tokens.get(chunk.id, b"") for chunk in its),
        )
        for document_id, its in documents.items()
    ]


async def passages(embedding: Embedding, texts: Sequence[str], *, tokens: bool) -> PassageVectors:
    """One call of the model, with tokens if requested and supported. Raises ``ModelError``."""
    if tokens and isinstance(embedding, TokenEmbedding):
        return await embedding.embed_passage_tokens(texts)
    return PassageVectors(await embedding.embed_passages(texts), (b"",) * len(texts))


async def embed_texts(
    embedding: Embedding,
    texts: Sequence[str],
    work: Sequence[float],
    meter: Meter,
    *,
    tokens: bool = False,
    at_once: int = CALLS,
) -> PassageVectors:
    """Vectors of passages; the progress of each text is reported when it is embedded.

    ``tokens``: also the vectors of their tokens, if the model supports them. ``at_once``: concurrent calls.

    Raises ``ModelError``.
    """
    parts = [PassageVectors(np.zeros((0, embedding.dimension), dtype=np.float32), ())]
    under_way: deque[tuple[asyncio.Future[PassageVectors], float]] = deque()

    async def finish_first() -> None:
        part, done = under_way.popleft()
        parts.append(await part)
        meter.add(done)

    try:
        for start in range(0, len(texts), EMBED_TEXTS):
            part = slice(start, start + EMBED_TEXTS)
            under_way.append(
                (asyncio.ensure_future(passages(embedding, texts[part], tokens=tokens)), sum(work[part]))
            )
            if len(under_way) == at_once:
                await finish_first()
        while under_way:
            await finish_first()
    finally:
        for unfinished, _ in under_way:
            unfinished.cancel()
    return PassageVectors(
        np.concatenate([part.vectors for part in parts]),
        tuple(packed for part in parts for packed in part.tokens),
    )
