"""In-memory reference of the chunk store and the ledger: what the contracts mean, in plain Python.

Everything is exact and unindexed; it serves tests and small experiments.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from agentic_rag.domain import Chunk, by_document, filterable, search_text
from agentic_rag.domain.identity import dataset_name
from agentic_rag.domain.ports import (
    DatasetProfile,
    DocumentRecord,
    EmbeddedDocument,
    Failure,
    FloatArray,
    Restriction,
    ScoredChunk,
    StoreStats,
    TableStats,
)
from agentic_rag.retrieval.restrictions import passes
from agentic_rag.stores.checks import check_query, checked_ids, checked_records, checked_vectors, tokens_of
from agentic_rag.stores.metadata_items import value_keys
from agentic_rag.text import tokens

K1, B = 1.2, 0.75


@dataclass(slots=True)
class _Dataset:
    chunks: dict[str, Chunk] = field(default_factory=dict)
    vectors: dict[str, FloatArray] = field(default_factory=dict)
    tokens: dict[str, bytes] = field(default_factory=dict)


class InMemoryChunkStore:
    """``ports.ChunkStore`` in dictionaries."""

    def __init__(self, *, dimension: int) -> None:
        self._dimension = dimension
        self._datasets: dict[str, _Dataset] = {}

    async def replace_documents(self, dataset: str, documents: Sequence[EmbeddedDocument]) -> None:
        ids = checked_ids(documents)
        checked_vectors(documents, self._dimension)
        tokens = [tokens_of(document) for document in documents]
        if not documents:
            return
        await self.remove_documents(dataset, ids)
        held = self._datasets.setdefault(dataset_name(dataset), _Dataset())
        for document, own in zip(documents, tokens, strict=True):
            for chunk, vector, packed in zip(document.chunks, document.vectors, own, strict=True):
                held.chunks[chunk.id] = chunk
                held.vectors[chunk.id] = vector
                if packed:
                    held.tokens[chunk.id] = packed

    async def remove_documents(self, dataset: str, document_ids: Sequence[str]) -> None:
        held, gone = self._dataset(dataset), set(document_ids)
        for chunk_id in [c.id for c in held.chunks.values() if c.document_id in gone]:
            del held.chunks[chunk_id], held.vectors[chunk_id]
            held.tokens.pop(chunk_id, None)

    async def search_dense(
        self, dataset: str, vector: FloatArray, *, limit: int, restriction: Restriction
    ) -> list[ScoredChunk]:
        check_query(vector, self._dimension, "any model")
        held = self._dataset(dataset)
        found = [
            ScoredChunk(chunk, float(np.dot(held.vectors[chunk.id], vector)), held.vectors[chunk.id])
            for chunk in _passing(held, restriction)
        ]
        return _best(found, limit)

    async def search_sparse(
        self, dataset: str, text: str, *, limit: int, restriction: Restriction
    ) -> list[ScoredChunk]:
        held = self._dataset(dataset)
        scores = bm25({chunk.id: tokens(search_text(chunk)) for chunk in held.chunks.values()}, tokens(text))
        found = [
            ScoredChunk(chunk, scores[chunk.id], held.vectors[chunk.id])
            for chunk in _passing(held, restriction)
            if chunk.id in scores
        ]
        return _best(found, limit)

    async def get_chunks(self, dataset: str, chunk_ids: Sequence[str]) -> dict[str, Chunk]:
        held = self._dataset(dataset)
        return {chunk_id: held.chunks[chunk_id] for chunk_id in chunk_ids if chunk_id in held.chunks}

    async def document_chunks(self, dataset: str, document_ids: Sequence[str]) -> dict[str, list[Chunk]]:
        wanted = set(document_ids)
        return by_document(c for c in self._dataset(dataset).chunks.values() if c.document_id in wanted)

    async def get_vectors(self, dataset: str, chunk_ids: Sequence[str]) -> dict[str, FloatArray]:
        held = self._dataset(dataset)
        return {chunk_id: held.vectors[chunk_id] for chunk_id in chunk_ids if chunk_id in held.vectors}

    async def get_token_vectors(self, dataset: str, chunk_ids: Sequence[str]) -> dict[str, bytes]:
        held = self._dataset(dataset)
        return {chunk_id: held.tokens[chunk_id] for chunk_id in chunk_ids if chunk_id in held.tokens}

    async def profile(self, dataset: str) -> DatasetProfile | None:
        vectors = list(self._dataset(dataset).vectors.values())
        return DatasetProfile(len(vectors), np.mean(vectors, axis=0)) if vectors else None

    async def matching_chunk_ids(self, dataset: str, restriction: Restriction, *, limit: int) -> list[str]:
        return sorted(chunk.id for chunk in _passing(self._dataset(dataset), restriction))[: max(limit, 0)]

    async def filter_keys(self, dataset: str) -> set[str]:
        return set().union(
            *(value_keys(filterable(chunk)) for chunk in self._dataset(dataset).chunks.values())
        )

    async def document_ids(self, dataset: str) -> set[str]:
        return {chunk.document_id for chunk in self._dataset(dataset).chunks.values()}

    async def count(self, dataset: str) -> int:
        return len(self._dataset(dataset).chunks)

    async def datasets(self) -> list[str]:
        return sorted(self._datasets)

    async def optimize(self, dataset: str, *, purge: bool = False) -> None:
        return None

    async def stats(self, dataset: str) -> StoreStats:
        held = self._datasets.get(dataset_name(dataset))
        if held is None:
            return StoreStats(None, None, None)
        return StoreStats(None, self._dimension, "cosine", (TableStats("chunks", len(held.chunks)),))

    def _dataset(self, dataset: str) -> _Dataset:
        return self._datasets.get(dataset_name(dataset), _Dataset())


class InMemoryLedger:
    """``ports.Ledger`` in a dictionary."""

    def __init__(self) -> None:
        self._records: dict[str, dict[str, DocumentRecord]] = {}
        self._failures: dict[str, dict[str, Failure]] = {}

    async def records(self, dataset: str) -> dict[str, DocumentRecord]:
        return dict(self._records.get(dataset_name(dataset), {}))

    async def put(self, dataset: str, records: Sequence[DocumentRecord]) -> None:
        if records:
            self._records.setdefault(dataset_name(dataset), {}).update(checked_records(records))

    async def remove(self, dataset: str, document_ids: Sequence[str]) -> None:
        for document_id in document_ids:
            self._records.get(dataset_name(dataset), {}).pop(document_id, None)

    async def failures(self, dataset: str) -> dict[str, Failure]:
        return dict(self._failures.get(dataset_name(dataset), {}))

    async def replace_failures(self, dataset: str, failures: Sequence[Failure]) -> None:
        self._failures[dataset_name(dataset)] = {one.document_id: one for one in failures}

    async def datasets(self) -> list[str]:
        return sorted(name for name, records in self._records.items() if records)


def _passing(dataset: _Dataset, restriction: Restriction) -> list[Chunk]:
    return [chunk for chunk in dataset.chunks.values() if passes(chunk, restriction)]


def _best(scored_chunks: list[ScoredChunk], limit: int) -> list[ScoredChunk]:
    return sorted(scored_chunks, key=lambda scored_chunk: (-scored_chunk.score, scored_chunk.chunk.id))[
        : max(limit, 0)
    ]


def bm25(texts: Mapping[str, Sequence[str]], query: Sequence[str]) -> dict[str, float]:
    """Score by id of every text that shares a term with the query: Robertson's BM25, as the stores compute it.

    Σ idf(t) · tf · (k1 + 1) / (tf + k1 · (1 - b + b · |d| / mean |d|)) over the distinct terms t of the query, with
    Lucene's idf(t) = ln(1 + (N - n + 0.5) / (n + 0.5)), k1 = 1.2, b = 0.75.

    Args:
        texts: terms of each text.
        query: terms of the query.
    """
    counts = {key: Counter(terms) for key, terms in texts.items()}
    having = Counter(term for count in counts.values() for term in count)
    mean = sum(count.total() for count in counts.values()) / max(len(counts), 1) or 1.0
    scores: dict[str, float] = {}
    for key, count in counts.items():
        length = K1 * (1 - B + B * count.total() / mean)
        for term in sorted(set(query) & count.keys()):
            idf = math.log(1 + (len(counts) - having[term] + 0.5) / (having[term] + 0.5))
            scores[key] = scores.get(key, 0.0) + idf * count[term] * (K1 + 1) / (count[term] + length)
    return scores
