"""``ports.ChunkStore`` on any vector backend: the common part for Chroma, Milvus and PostgreSQL."""

from __future__ import annotations

import asyncio
import json
import re
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np

from agentic_rag.domain import Chunk, by_document
from agentic_rag.domain.filters import Comparison
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
from agentic_rag.errors import AgenticRagError, ManifestMismatch, StoreAway, StoreError, first_line
from agentic_rag.stores.batch import batches, first_by_score
from agentic_rag.stores.checks import check_query, checked_ids, checked_vectors
from agentic_rag.stores.metadata_items import condition, range_keys, translate
from agentic_rag.text import tokens
from agentic_rag_backends.vectorstores.backend import (
    EVERY_ROW,
    IDS_PER_REQUEST,
    Row,
    VectorBackend,
    Where,
    chunk_and_document,
    document_key,
    microseconds,
    row_id,
    to_chunk,
    to_row,
)
from agentic_rag_backends.vectorstores.cached_rows import CachedRows, cached_rows

CATALOG = "agentic_rag_datasets"
CATALOG_VECTOR = np.array([1.0, 0.0], dtype=np.float32)
"""A collection needs vectors; these are never searched."""
FRESH_SECONDS = 0.5
"""How long a reader may miss what another process wrote."""
SAMPLE = 512
"""Number of chunks whose vectors give a dataset's profile."""
PROFILE_SECONDS = 60.0
THREADS = 8
"""Requests to a store at one time."""
OPEN = Restriction()
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

    entry: CatalogEntry
    collection: str
    cache: CachedRows | None = None
    read_at: float = float("-inf")
    reading: threading.Lock = field(default_factory=threading.Lock)


class VectorStoreChunks:
    """Chunks in one collection per dataset, and one collection that lists the datasets.

    Vectors are compared by the store where it is exact at that; BM25 is computed here, over chunks held
    in memory. What a store is asked for is done in threads, and goes on there when the caller has no more time.

    Args:
        backend: an open store; closed by ``close``.
        model: name of the embedding model, kept in the manifest.
        dimension: length of its unit vectors; the metric is cosine.

    Raises (any method): ``StoreAway`` when its server cannot be reached, ``StoreError`` when the store fails
    otherwise, ``ManifestMismatch`` when a dataset was embedded by another model.
    """

    def __init__(self, backend: VectorBackend, *, model: str, dimension: int) -> None:
        self._backend = backend
        self.description = backend.description
        self._model, self._dimension = model, dimension
        self._manifest: dict[str, Any] = {"model": model, "dimension": dimension, "metric": "cosine"}
        self._datasets: dict[str, _Dataset] = {}
        self._profiles: dict[str, tuple[float, DatasetProfile]] = {}
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
        await self._in_dataset(
            f"storing {len(ids)} documents of {dataset!r}",
            dataset,
            lambda open_dataset: self._write(open_dataset, chunks, vectors, ids),
            None,
            create=True,
        )

    async def remove_documents(self, dataset: str, document_ids: Sequence[str]) -> None:
        if document_ids:
            await self._in_dataset(
                f"removing {len(document_ids)} documents of {dataset!r}",
                dataset,
                lambda open_dataset: self._write(open_dataset, (), (), document_ids),
                None,
            )

    async def search_dense(
        self, dataset: str, vector: FloatArray, *, limit: int, restriction: Restriction
    ) -> list[ScoredChunk]:
        check_query(vector, self._dimension, self._model)

        async def nearest(count: int) -> list[ScoredChunk]:
            return await self._in_dataset(
                f"searching vectors of {dataset!r}",
                dataset,
                lambda open_dataset: self._nearest(open_dataset, vector, count, restriction),
                [],
            )

        return await first_by_score(nearest, limit)

    async def search_sparse(
        self, dataset: str, text: str, *, limit: int, restriction: Restriction
    ) -> list[ScoredChunk]:
        if limit < 1 or not tokens(text):
            return []
        return await self._in_dataset(
            f"searching words of {dataset!r}",
            dataset,
            lambda open_dataset: self._current(open_dataset).sparse(text, limit, restriction),
            [],
        )

    async def get_chunks(self, dataset: str, chunk_ids: Sequence[str]) -> dict[str, Chunk]:
        chunks = [to_chunk(row) for row in await self._rows(dataset, chunk_ids)]
        return {chunk.id: chunk for chunk in chunks}

    async def document_chunks(self, dataset: str, document_ids: Sequence[str]) -> dict[str, list[Chunk]]:
        if not document_ids:
            return {}
        of_documents = Restriction(Comparison("document_id", "$in", tuple(document_ids)))
        names = await self._names(f"reading documents of {dataset!r}", dataset, of_documents)
        chunks = await self.get_chunks(dataset, [chunk_id for chunk_id, _ in names])
        return by_document(chunks.values())

    async def get_token_vectors(self, dataset: str, chunk_ids: Sequence[str]) -> dict[str, bytes]:
        """None: these stores have no place for them, and the rerank does without."""
        return {}

    async def get_vectors(self, dataset: str, chunk_ids: Sequence[str]) -> dict[str, FloatArray]:
        rows = await self._rows(dataset, chunk_ids)
        return {row.chunk_id: row.vector for row in rows if row.vector is not None}

    async def profile(self, dataset: str) -> DatasetProfile | None:
        made, known = self._profiles.get(group_id(dataset), (0.0, None))
        if known is not None and time.monotonic() - made < PROFILE_SECONDS:
            return known
        names = await self._names(f"sampling {dataset!r}", dataset)
        # Row ids are digests: the first ones are as good as random ones.
        sample = sorted((chunk_id for chunk_id, _ in names), key=row_id)[:SAMPLE]
        vectors = await self.get_vectors(dataset, sample)
        if not vectors:
            return None
        profile = DatasetProfile(len(names), np.mean(list(vectors.values()), axis=0, dtype=np.float32))
        self._profiles[group_id(dataset)] = time.monotonic(), profile
        return profile

    async def matching_chunk_ids(self, dataset: str, restriction: Restriction, *, limit: int) -> list[str]:
        found = await self._names(f"filtering {dataset!r}", dataset, restriction)
        return sorted(chunk_id for chunk_id, _ in found)[: max(limit, 0)]

    async def filter_keys(self, dataset: str) -> set[str]:
        doing = f"reading what {dataset!r} can be filtered by"
        return await self._in_dataset(
            doing, dataset, lambda open_dataset: self._current(open_dataset).keys(), set()
        )

    async def document_ids(self, dataset: str) -> set[str]:
        found = await self._names(f"listing documents of {dataset!r}", dataset)
        return {document_id for _, document_id in found}

    async def count(self, dataset: str) -> int:
        def count_rows(open_dataset: _Dataset) -> int:
            return self._backend.count(open_dataset.collection)

        return await self._in_dataset(f"counting {dataset!r}", dataset, count_rows, 0)

    async def datasets(self) -> list[str]:
        entries = await self._in_thread("listing datasets", lambda: self._entries(EVERY_ROW))
        return sorted(entry.name for entry in entries)

    async def optimize(self, dataset: str, *, purge: bool = False) -> None:
        doing = f"indexing {dataset!r}"
        await self._in_dataset(
            doing, dataset, lambda open_dataset: self._backend.optimize(open_dataset.collection), None
        )

    async def stats(self, dataset: str) -> StoreStats:
        def dataset_stats() -> StoreStats:
            entry = self._entry(group_id(dataset))
            if entry is None:
                return StoreStats(None, None, None)
            collection, made = collection_name(entry.group), entry.manifest
            is_there = self._backend.prepare(collection, made["dimension"], create=False)
            rows = self._backend.count(collection) if is_there else 0
            return StoreStats(made["model"], made["dimension"], made["metric"], (TableStats("chunks", rows),))

        return await self._in_thread(f"looking at {dataset!r}", dataset_stats)

    async def _rows(self, dataset: str, chunk_ids: Sequence[str]) -> list[Row]:
        wheres = _of_ids(sorted({row_id(chunk_id) for chunk_id in chunk_ids}))

        def find(open_dataset: _Dataset) -> list[Row]:
            return [
                row
                for where in wheres
                for row in self._backend.rows(open_dataset.collection, where, vectors=True)
            ]

        return await self._in_dataset(f"reading chunks of {dataset!r}", dataset, find, [])

    async def _names(
        self, doing: str, dataset: str, restriction: Restriction = OPEN
    ) -> list[tuple[str, str]]:
        """Chunk id and document id of each chunk that passes."""

        def find(open_dataset: _Dataset) -> list[tuple[str, str]]:
            return [
                chunk_and_document(name)
                for where in self._wheres(open_dataset, restriction)
                for name in self._backend.names(open_dataset.collection, where)
            ]

        return await self._in_dataset(doing, dataset, find, [])

    async def _in_dataset(
        self, doing: str, dataset: str, work: Callable[[_Dataset], T], absent: T, *, create: bool = False
    ) -> T:
        """The result of ``work`` in the dataset; ``absent`` if it does not exist and is not to be created."""

        def find() -> T:
            opened = self._open_dataset(dataset, create=create)
            return absent if opened is None else work(opened)

        return await self._in_thread(doing, find)

    async def _in_thread(self, doing: str, work: Callable[[], T]) -> T:
        """What the backend's blocking client is asked for, in a thread; whatever it raises becomes ``StoreError``."""
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, work)
        except AgenticRagError:
            raise
        except Exception as error:
            told = f"{self._backend.name} failed while {doing}: {first_line(error)}"
            if self._backend.is_away(error):
                raise StoreAway(f"{told}; {self._backend.cure}") from error
            raise StoreError(told) from error

    # What follows runs in threads.

    def _entries(self, where: Where) -> list[CatalogEntry]:
        if not self._catalog_is_there(create=False):
            return []
        return [_entry(row) for row in self._backend.rows(CATALOG, where)]

    def _entry(self, group: str) -> CatalogEntry | None:
        found = self._entries(Where(ids=(row_id(group),)))
        return found[0] if found else None

    def _record(self, entry: CatalogEntry) -> None:
        """Write down a dataset under another version."""
        self._catalog_is_there(create=True)
        row = _catalog_row(replace(entry, version=uuid.uuid4().hex))
        self._backend.replace(CATALOG, [row], [row.document])

    def _catalog_is_there(self, *, create: bool) -> bool:
        if not self._has_catalog:
            self._has_catalog = self._backend.prepare(CATALOG, len(CATALOG_VECTOR), create=create)
        return self._has_catalog

    def _open_dataset(self, dataset: str, *, create: bool) -> _Dataset | None:
        group = group_id(dataset)
        if group in self._datasets:
            return self._datasets[group]
        entry = self._entry(group)
        if entry is None and not create:
            return None
        entry = entry or CatalogEntry(group, dataset_name(dataset), self._manifest, "")
        if entry.manifest != self._manifest:
            raise ManifestMismatch(
                f"dataset {dataset!r} was embedded with {_manifest_text(entry.manifest)}, the configuration says "
                f"{_manifest_text(self._manifest)}; configure that model, or ingest into a new store"
            )
        collection = collection_name(group)
        self._backend.prepare(collection, self._dimension, create=True)
        return self._datasets.setdefault(group, _Dataset(entry, collection))

    def _write(
        self,
        open_dataset: _Dataset,
        chunks: Sequence[Chunk],
        vectors: Iterable[FloatArray],
        ids: Sequence[str],
    ) -> None:
        most = self._backend.text_bytes
        rows = [to_row(chunk, vector, most) for chunk, vector in zip(chunks, vectors, strict=True)]
        owners = sorted({document_key(document_id) for document_id in ids})
        # Before and after: whoever reads in between must read again.
        self._record(open_dataset.entry)
        try:
            self._backend.replace(open_dataset.collection, rows, owners)
        finally:
            self._record(open_dataset.entry)
            self._profiles.pop(open_dataset.entry.group, None)
            with open_dataset.reading:
                open_dataset.read_at = float("-inf")

    def _nearest(
        self, open_dataset: _Dataset, vector: FloatArray, count: int, restriction: Restriction
    ) -> list[ScoredChunk]:
        if not self._backend.ranks:
            return self._current(open_dataset).nearest(vector, count, restriction)
        return [
            ScoredChunk(to_chunk(row), cosine)
            for where in self._wheres(open_dataset, restriction)
            for row, cosine in self._backend.nearest(open_dataset.collection, vector, count, where)
        ]

    def _current(self, open_dataset: _Dataset) -> CachedRows:
        """The dataset's chunks in memory, read again after a write; concurrent callers share a read."""
        with open_dataset.reading:
            if open_dataset.cache is None or time.monotonic() - open_dataset.read_at >= FRESH_SECONDS:
                started = time.monotonic()
                entry = self._entry(open_dataset.entry.group)
                version = "" if entry is None else entry.version
                if open_dataset.cache is None or open_dataset.cache.version != version:
                    vectors = not self._backend.ranks
                    rows = self._backend.rows(open_dataset.collection, EVERY_ROW, vectors=vectors)
                    open_dataset.cache = cached_rows(version, rows, open_dataset.cache)
                open_dataset.read_at = started
            return open_dataset.cache

    def _wheres(self, open_dataset: _Dataset, restriction: Restriction) -> list[Where]:
        """What the restriction asks of rows, in one or more requests, no row in two."""
        until = None if restriction.as_of is None else microseconds(restriction.as_of)
        expression = restriction.filters
        if expression is None:
            return [Where(until=until)]
        keys = sorted(range_keys(expression))
        values = {key: self._current(open_dataset).values(key) for key in keys}
        wanted = condition(expression, values)
        total: Callable[[list[int]], int] = sum
        if translate(wanted, lambda items, _: len(items), total, total) > self._backend.widest:
            return _of_ids(self._current(open_dataset).ids(restriction))
        return [Where(wanted, until)]


def collection_name(group: str) -> str:
    """Collection of a dataset by its group id; a name that every store takes, at most 53 characters."""
    return f"agentic_rag_chunks_{group if _PLAIN.fullmatch(group) else 'x_' + digest(group)}"


def _of_ids(ids: Sequence[str]) -> list[Where]:
    return [Where(ids=part) for part in batches(ids, IDS_PER_REQUEST)]


def _catalog_row(entry: CatalogEntry) -> Row:
    return Row(
        id=row_id(entry.group),
        text=entry.name,
        name=json.dumps([entry.group, entry.name]),
        chunk=json.dumps({"manifest": entry.manifest, "version": entry.version}),
        document=document_key(entry.group),
        vector=CATALOG_VECTOR,
    )


def _entry(row: Row) -> CatalogEntry:
    group, name = json.loads(row.name)
    return CatalogEntry(group, name, **json.loads(row.chunk))


def _manifest_text(manifest: dict[str, Any]) -> str:
    return f"{manifest['model']} ({manifest['dimension']} dimensions, {manifest['metric']})"
