"""``ports.ChunkStore`` on any vector backend: what is the same for Chroma, Milvus and PostgreSQL."""

from __future__ import annotations

import asyncio
import json
import re
import threading
import time
import uuid
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np

from agentic_rag.domain import Chunk
from agentic_rag.domain.identity import dataset_name, digest, group_id
from agentic_rag.domain.ports import (
    DatasetProfile,
    EmbeddedDocument,
    FloatArray,
    Restriction,
    ScoredChunk,
    StoreStats,
    TableStats,
)
from agentic_rag.errors import ManifestMismatch
from agentic_rag.stores.batch import checked_ids, checked_vectors, first_by_score
from agentic_rag.stores.metadata_items import AllOf, AnyOf, HasAny, condition, range_keys, translate
from agentic_rag.stores.vectorstores.backend import (
    CHUNK,
    DATE,
    DOCUMENT,
    EVERY_ROW,
    IDS_PER_REQUEST,
    ITEMS,
    NAME,
    UNDATED,
    Row,
    VectorBackend,
    Where,
    batches,
    chunk_and_document,
    document_key,
    item_key,
    microseconds,
    row_id,
    to_chunk,
    to_row,
    translated,
)
from agentic_rag.stores.vectorstores.cached_rows import CachedRows, cached_rows
from agentic_rag.text import tokens

CATALOG = "agentic_rag_datasets"
CATALOG_VECTOR = np.array([1.0, 0.0], dtype=np.float32)
"""A collection needs vectors; these are never searched."""
FRESH_SECONDS = 0.5
"""How long a reader may miss what another process wrote."""
SAMPLE = 512
"""Chunks whose vectors make a dataset's profile."""
PROFILE_SECONDS = 60.0
THREADS = 8
"""Requests to a store at one time."""
_OPEN = Restriction()
_PLAIN = re.compile(r"[A-Za-z0-9]{1,32}")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class CatalogEntry:
    """One dataset, as a row of the collection ``CATALOG``."""

    group: str
    name: str
    manifest: dict[str, Any]
    version: str
    """Another one whenever the dataset is written, so that other processes read it again."""


@dataclass(slots=True)
class _Dataset:
    """A dataset that was opened: its collection, and its chunks in memory once they were needed."""

    name: str
    collection: str
    held: CachedRows | None = None
    read_at: float = float("-inf")
    writes: int = 0
    reading: threading.Lock = field(default_factory=threading.Lock)
    profile: tuple[float, int, DatasetProfile | None] = float("-inf"), 0, None
    """When it was made, after how many writes, and what it was."""


class VectorStoreChunks:
    """Chunks in one collection per dataset, and one collection that lists the datasets.

    Vectors are compared by the store where it is exact at that; BM25 is computed here, over chunks held
    in memory. What a store is asked for is done in threads, and goes on there when the caller has no more time.

    Args:
        backend: an open store; closed by ``close``.
        model: name of the embedding model, kept in the manifest.
        dimension: length of its unit vectors; the metric is cosine.

    Raises (any method): ``StoreError`` when the store fails, ``ManifestMismatch`` when a dataset was
    embedded by another model.
    """

    def __init__(self, backend: VectorBackend, *, model: str, dimension: int) -> None:
        self._backend = backend
        self._model, self._dimension = model, dimension
        self._manifest: dict[str, Any] = {"model": model, "dimension": dimension, "metric": "cosine"}
        self._datasets: dict[str, _Dataset] = {}
        self._has_catalog = False
        self._threads = ThreadPoolExecutor(THREADS, "agentic-rag-vectors")

    async def close(self) -> None:
        """Close the store's connections, when its threads are done."""
        await asyncio.to_thread(self._threads.shutdown, cancel_futures=True)
        await asyncio.to_thread(self._backend.close)

    async def replace_documents(self, dataset: str, documents: Sequence[EmbeddedDocument]) -> None:
        ids = checked_ids(documents)
        if not documents:
            return
        vectors = checked_vectors(documents, self._dimension)
        chunks = [chunk for document in documents for chunk in document.chunks]
        doing = f"storing {len(ids)} documents of {dataset!r}"
        await self._threaded(doing, self._replace, dataset, chunks, vectors, ids)

    async def remove_documents(self, dataset: str, document_ids: Sequence[str]) -> None:
        doing = f"removing {len(document_ids)} documents of {dataset!r}"
        await self._threaded(doing, self._remove, dataset, document_ids)

    async def search_dense(
        self, dataset: str, vector: FloatArray, *, limit: int, restriction: Restriction
    ) -> list[ScoredChunk]:
        if vector.shape != (self._dimension,):
            raise ManifestMismatch(
                f"the query vector has shape {vector.shape}, the store holds "
                f"{self._dimension} dimensions of {self._model}"
            )

        async def nearest(count: int) -> list[ScoredChunk]:
            doing = f"searching vectors of {dataset!r}"
            return await self._threaded(doing, self._nearest, dataset, vector, count, restriction)

        return await first_by_score(nearest, limit)

    async def search_sparse(
        self, dataset: str, text: str, *, limit: int, restriction: Restriction
    ) -> list[ScoredChunk]:
        if limit < 1 or not tokens(text):
            return []
        doing = f"searching words of {dataset!r}"
        return await self._threaded(doing, self._sparse, dataset, text, limit, restriction)

    async def search_both(
        self,
        dataset: str,
        text: str,
        vector: FloatArray,
        *,
        limit: int,
        wanted: int,
        restriction: Restriction,
    ) -> tuple[list[ScoredChunk], list[ScoredChunk]]:
        return await asyncio.gather(
            self.search_dense(dataset, vector, limit=limit, restriction=restriction),
            self.search_sparse(dataset, text, limit=limit, restriction=restriction),
        )

    async def get_chunks(self, dataset: str, chunk_ids: Sequence[str]) -> dict[str, Chunk]:
        doing = f"reading chunks of {dataset!r}"
        rows = await self._threaded(doing, self._rows, dataset, chunk_ids)
        return {chunk.id: chunk for chunk in map(to_chunk, rows)}

    async def get_token_vectors(self, dataset: str, chunk_ids: Sequence[str]) -> dict[str, bytes]:
        """None: these stores have no place for them, and the rerank does without."""
        return {}

    async def get_vectors(self, dataset: str, chunk_ids: Sequence[str]) -> dict[str, FloatArray]:
        doing = f"reading vectors of {dataset!r}"
        rows = await self._threaded(doing, self._rows, dataset, chunk_ids)
        return {chunk_and_document(row.fields[NAME])[0]: row.vector for row in rows if row.vector is not None}

    async def profile(self, dataset: str) -> DatasetProfile | None:
        return await self._threaded(f"sampling {dataset!r}", self._profile, dataset)

    async def matching_chunk_ids(self, dataset: str, restriction: Restriction, *, limit: int) -> list[str]:
        found = await self._threaded(f"filtering {dataset!r}", self._names, dataset, restriction)
        return sorted(chunk_id for chunk_id, _ in found)[: max(limit, 0)]

    async def filter_keys(self, dataset: str) -> set[str]:
        doing = f"reading what {dataset!r} can be filtered by"
        return await self._threaded(doing, self._keys, dataset)

    async def document_ids(self, dataset: str) -> set[str]:
        found = await self._threaded(f"listing documents of {dataset!r}", self._names, dataset, _OPEN)
        return {document_id for _, document_id in found}

    async def count(self, dataset: str) -> int:
        return len(await self._threaded(f"counting {dataset!r}", self._names, dataset, _OPEN))

    async def datasets(self) -> list[str]:
        entries = await self._threaded("listing datasets", self._entries, EVERY_ROW)
        return sorted(entry.name for entry in entries)

    async def optimize(self, dataset: str) -> None:
        await self._threaded(f"indexing {dataset!r}", self._optimize, dataset)

    async def stats(self, dataset: str) -> StoreStats:
        if await self._threaded(f"opening {dataset!r}", self._opened, dataset) is None:
            return StoreStats(None, None, None)
        rows = TableStats("chunks", await self.count(dataset))
        return StoreStats(self._model, self._dimension, self._manifest["metric"], (rows,))

    async def _threaded(self, doing: str, work: Callable[..., T], *given: Any) -> T:
        """What a store's blocking client is asked for, in a thread; the only place where its errors are translated."""
        with translated(self._backend.name, doing):
            return await asyncio.get_running_loop().run_in_executor(self._threads, work, *given)

    # What follows runs in threads.

    def _entries(self, where: Where) -> list[CatalogEntry]:
        if not self._catalog_is_there(create=False):
            return []
        return [_entry(row) for row in self._backend.rows(CATALOG, where)]

    def _entry(self, dataset: str) -> CatalogEntry | None:
        found = self._entries(Where(ids=(row_id(group_id(dataset)),)))
        return found[0] if found else None

    def _record(self, entry: CatalogEntry) -> None:
        """Write down a dataset under another version."""
        self._catalog_is_there(create=True)
        row = _catalog_row(replace(entry, version=uuid.uuid4().hex))
        self._backend.replace(CATALOG, [row], [row.fields[DOCUMENT]])

    def _catalog_is_there(self, *, create: bool) -> bool:
        if not self._has_catalog:
            self._has_catalog = self._backend.prepare(CATALOG, len(CATALOG_VECTOR), create=create)
        return self._has_catalog

    def _opened(self, dataset: str) -> _Dataset | None:
        known = self._datasets.get(group_id(dataset))
        if known is not None:
            return known
        entry = self._entry(dataset)
        return None if entry is None else self._of_entry(dataset, entry)

    def _of_entry(self, dataset: str, entry: CatalogEntry) -> _Dataset:
        if entry.manifest != self._manifest:
            raise ManifestMismatch(
                f"dataset {dataset!r} was embedded with {_told(entry.manifest)}, the configuration says "
                f"{_told(self._manifest)}; configure that model, or ingest into a new store"
            )
        if entry.group not in self._datasets:
            collection = collection_name(entry.group)
            self._backend.prepare(collection, self._dimension, create=True)
            self._datasets.setdefault(entry.group, _Dataset(dataset_name(dataset), collection))
        return self._datasets[entry.group]

    def _replace(
        self, dataset: str, chunks: Sequence[Chunk], vectors: FloatArray, ids: Sequence[str]
    ) -> None:
        entry = self._entry(dataset)
        if entry is None:
            entry = CatalogEntry(group_id(dataset), dataset_name(dataset), self._manifest, "")
        most = self._backend.text_bytes
        rows = [to_row(chunk, vector, most) for chunk, vector in zip(chunks, vectors, strict=True)]
        self._write(self._of_entry(dataset, entry), entry, rows, ids)

    def _remove(self, dataset: str, ids: Sequence[str]) -> None:
        entry = self._entry(dataset)
        if entry is not None and ids:
            self._write(self._of_entry(dataset, entry), entry, [], ids)

    def _write(self, opened: _Dataset, entry: CatalogEntry, rows: Sequence[Row], ids: Sequence[str]) -> None:
        # Before and after: whoever reads in between must read again.
        self._record(entry)
        try:
            owners = sorted({document_key(document_id) for document_id in ids})
            self._backend.replace(opened.collection, rows, owners)
        finally:
            self._record(entry)
            opened.writes += 1
            opened.read_at = float("-inf")

    def _nearest(
        self, dataset: str, vector: FloatArray, count: int, restriction: Restriction
    ) -> list[ScoredChunk]:
        opened = self._opened(dataset)
        if opened is None:
            return []
        if not self._backend.ranks:
            return self._current(opened).nearest(vector, count, restriction)
        return [
            ScoredChunk(to_chunk(row), cosine)
            for where in self._wheres(opened, restriction)
            for row, cosine in self._backend.nearest(opened.collection, vector, count, where)
        ]

    def _sparse(self, dataset: str, text: str, limit: int, restriction: Restriction) -> list[ScoredChunk]:
        opened = self._opened(dataset)
        return [] if opened is None else self._current(opened).sparse(text, limit, restriction)

    def _keys(self, dataset: str) -> set[str]:
        opened = self._opened(dataset)
        return set() if opened is None else self._current(opened).keys()

    def _optimize(self, dataset: str) -> None:
        opened = self._opened(dataset)
        if opened is not None:
            self._backend.optimize(opened.collection)

    def _rows(self, dataset: str, chunk_ids: Sequence[str]) -> list[Row]:
        opened = self._opened(dataset)
        if opened is None:
            return []
        ids = sorted({row_id(chunk_id) for chunk_id in chunk_ids})
        return [
            row
            for where in _of_ids(ids)
            for row in self._backend.rows(opened.collection, where, vectors=True)
        ]

    def _names(self, dataset: str, restriction: Restriction) -> list[tuple[str, str]]:
        """Chunk id and document id of each chunk that passes."""
        opened = self._opened(dataset)
        if opened is None:
            return []
        return [
            chunk_and_document(name)
            for where in self._wheres(opened, restriction)
            for name in self._backend.names(opened.collection, where).values()
        ]

    def _profile(self, dataset: str) -> DatasetProfile | None:
        opened = self._opened(dataset)
        if opened is None:
            return None
        made, writes, known = opened.profile
        if writes == opened.writes and time.monotonic() - made < PROFILE_SECONDS:
            return known
        writes = opened.writes
        chunk_ids = sorted((chunk_id for chunk_id, _ in self._names(dataset, _OPEN)), key=row_id)
        # Row ids are digests: the first ones are as good as random ones.
        vectors = [row.vector for row in self._rows(dataset, chunk_ids[:SAMPLE]) if row.vector is not None]
        if not vectors:
            return None
        profile = DatasetProfile(len(chunk_ids), np.mean(vectors, axis=0, dtype=np.float32))
        opened.profile = time.monotonic(), writes, profile
        return profile

    def _current(self, opened: _Dataset) -> CachedRows:
        """The dataset's chunks in memory, read again where it was written since; those who wait share a reading."""
        with opened.reading:
            if opened.held is None or time.monotonic() - opened.read_at >= FRESH_SECONDS:
                started, writes = time.monotonic(), opened.writes
                entry = self._entry(opened.name)
                version = "" if entry is None else entry.version
                if opened.held is None or opened.held.version != version:
                    vectors = not self._backend.ranks
                    rows = self._backend.rows(opened.collection, EVERY_ROW, vectors=vectors)
                    opened.held = cached_rows(version, rows, opened.held)
                if opened.writes == writes:
                    opened.read_at = started
            return opened.held

    def _wheres(self, opened: _Dataset, restriction: Restriction) -> list[Where]:
        """What the restriction asks of rows, in one or more requests, no row in two."""
        until = None if restriction.as_of is None else microseconds(restriction.as_of)
        expression = restriction.filters
        if expression is None:
            return [Where(until=until)]
        keys = sorted(range_keys(expression))
        values = {key: self._current(opened).values(key) for key in keys}
        wanted = condition(expression, values)
        if translate(wanted, lambda items, _: len(items), sum, sum) > self._backend.widest:
            return _of_ids(self._current(opened).ids(restriction))
        digested = translate(
            wanted,
            lambda items, negated: HasAny(tuple(map(item_key, items)), negated),
            lambda parts: AllOf(tuple(parts)),
            lambda parts: AnyOf(tuple(parts)),
        )
        return [Where(digested, until)]


def collection_name(group: str) -> str:
    """Collection of a dataset by its group id; a name that every store takes, at most 53 characters."""
    return f"agentic_rag_chunks_{group if _PLAIN.fullmatch(group) else 'x_' + digest(group)}"


def _of_ids(ids: Sequence[str]) -> list[Where]:
    return [Where(ids=part) for part in batches(ids, IDS_PER_REQUEST)]


def _catalog_row(entry: CatalogEntry) -> Row:
    fields = {
        NAME: json.dumps([entry.group, entry.name]),
        CHUNK: json.dumps({"manifest": entry.manifest, "version": entry.version}),
        DOCUMENT: document_key(entry.group),
        DATE: UNDATED,
        ITEMS: [],
    }
    return Row(row_id(entry.group), entry.name, fields, CATALOG_VECTOR)


def _entry(row: Row) -> CatalogEntry:
    group, name = json.loads(row.fields[NAME])
    return CatalogEntry(group, name, **json.loads(row.fields[CHUNK]))


def _told(manifest: dict[str, Any]) -> str:
    return f"{manifest['model']} ({manifest['dimension']} dimensions, {manifest['metric']})"
