"""``ports.ChunkStore`` over langchain-core's ``VectorStore``: what is the same for Chroma, Milvus and PostgreSQL."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

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
from agentic_rag.stores.metadata_items import condition, range_keys
from agentic_rag.stores.vectorstores.cached_rows import CachedRows, cached_rows
from agentic_rag.stores.vectorstores.catalog import Catalog, CatalogEntry
from agentic_rag.stores.vectorstores.dialect import (
    EVERY_ROW,
    Collection,
    Row,
    VectorDialect,
    Where,
    batches,
    translated,
)
from agentic_rag.stores.vectorstores.documents import (
    digested,
    document_key,
    microseconds,
    names,
    row_id,
    to_chunk,
    to_document,
    width,
)
from agentic_rag.text import tokens

FRESH_SECONDS = 0.5
"""How long a reader may miss what another process wrote."""
IDS_PER_REQUEST = 4000
SAMPLE = 512
"""Chunks whose vectors make a dataset's profile."""
PROFILE_SECONDS = 60.0
_PLAIN = re.compile(r"[A-Za-z0-9]{1,32}")


@dataclass(slots=True)
class _Dataset:
    """A dataset that was opened: its collection, and its chunks in memory once they were needed."""

    name: str
    collection: Collection
    held: CachedRows | None = None
    read_at: float = float("-inf")
    writes: int = 0
    reading: asyncio.Task[None] | None = None
    profile: tuple[float, int, DatasetProfile] | None = None
    """When it was made, after how many writes, and what it was."""


class VectorStoreChunks:
    """Chunks in one collection per dataset, and one collection that lists the datasets.

    Vectors are compared by the store where it is exact at that; BM25 is computed here, over chunks held
    in memory. New rows are written before old ones are deleted, except where the store has transactions.

    Args:
        dialect: an open store; closed by ``close``.
        model: name of the embedding model, kept in the manifest.
        dimension: length of its unit vectors; the metric is cosine.

    Raises (any method): ``StoreError`` when the store fails, ``ManifestMismatch`` when a dataset was
    embedded by another model.
    """

    def __init__(self, dialect: VectorDialect, *, model: str, dimension: int) -> None:
        self._dialect = dialect
        self._model, self._dimension = model, dimension
        self._manifest: dict[str, Any] = {"model": model, "dimension": dimension, "metric": "cosine"}
        self._catalog = Catalog(dialect)
        self._datasets: dict[str, _Dataset] = {}

    async def close(self) -> None:
        """Close the store's connections."""
        reading = [opened.reading for opened in self._datasets.values() if opened.reading is not None]
        for task in reading:
            task.cancel()
        await asyncio.gather(*reading, return_exceptions=True)
        self._datasets.clear()
        await self._dialect.close()

    async def replace_documents(self, dataset: str, documents: Sequence[EmbeddedDocument]) -> None:
        ids = checked_ids(documents)
        if not documents:
            return
        vectors = checked_vectors(documents, self._dimension)
        with self._translated(f"storing {len(ids)} documents of {dataset!r}"):
            entry = await self._catalog.create(dataset, self._manifest)
            opened = await self._of_entry(dataset, entry)
            chunks = [chunk for document in documents for chunk in document.chunks]
            rows = [to_document(chunk, self._dialect.text_bytes) for chunk in chunks]
            await self._write(opened, entry, rows, vectors, ids)

    async def remove_documents(self, dataset: str, document_ids: Sequence[str]) -> None:
        with self._translated(f"removing {len(document_ids)} documents of {dataset!r}"):
            opened = await self._opened(dataset)
            entry = await self._catalog.entry(dataset) if opened is not None else None
            if opened is None or entry is None or not document_ids:
                return
            none = np.zeros((0, self._dimension), dtype=np.float32)
            await self._write(opened, entry, [], none, document_ids)

    async def search_dense(
        self, dataset: str, vector: FloatArray, *, limit: int, restriction: Restriction
    ) -> list[ScoredChunk]:
        if vector.shape != (self._dimension,):
            raise ManifestMismatch(
                f"the query vector has shape {vector.shape}, the store holds "
                f"{self._dimension} dimensions of {self._model}"
            )
        with self._translated(f"searching vectors of {dataset!r}"):
            opened = await self._opened(dataset)
            where = None if opened is None else await self._where(opened, restriction)
            if opened is None or where is None or limit < 1:
                return []
            if not opened.collection.ranks:
                current = await self._current(opened)
                ids = None if where == EVERY_ROW else await self._ids(opened, where)
                return await asyncio.to_thread(current.nearest, vector, limit, ids)

            async def nearest(count: int) -> list[ScoredChunk]:
                return await _nearest(opened.collection, vector, count, where)

            return await first_by_score(nearest, limit)

    async def search_sparse(
        self, dataset: str, text: str, *, limit: int, restriction: Restriction
    ) -> list[ScoredChunk]:
        with self._translated(f"searching words of {dataset!r}"):
            opened = await self._opened(dataset)
            if opened is None or limit < 1 or not tokens(text):
                return []
            current = await self._current(opened)
            return await asyncio.to_thread(current.sparse, text, limit, restriction)

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
        rows = await self._rows(dataset, chunk_ids, vectors=False)
        chunks = [to_chunk(row.document) for row in rows]
        return {chunk.id: chunk for chunk in chunks}

    async def get_token_vectors(self, dataset: str, chunk_ids: Sequence[str]) -> dict[str, bytes]:
        """None: these stores have no place for them, and the rerank does without."""
        return {}

    async def get_vectors(self, dataset: str, chunk_ids: Sequence[str]) -> dict[str, FloatArray]:
        rows = await self._rows(dataset, chunk_ids, vectors=True)
        return {names(row.document.metadata["name"])[0]: row.vector for row in rows if row.vector is not None}

    async def profile(self, dataset: str) -> DatasetProfile | None:
        with self._translated(f"sampling {dataset!r}"):
            opened = await self._opened(dataset)
            if opened is None:
                return None
            if opened.profile is not None:
                made, writes, known = opened.profile
                if writes == opened.writes and time.monotonic() - made < PROFILE_SECONDS:
                    return known
            writes = opened.writes
            if opened.held is None:
                ids: Sequence[str] = await opened.collection.ids(EVERY_ROW)
            else:
                ids = (await self._current(opened)).ids(Restriction())
            sample = sorted(ids)[:SAMPLE]  # they are digests: the first ones are as good as random ones
            rows = await opened.collection.rows(Where(ids=tuple(sample)), vectors=True) if sample else []
            vectors = [row.vector for row in rows if row.vector is not None]
            if not vectors:
                return None
            profile = DatasetProfile(len(ids), np.mean(vectors, axis=0, dtype=np.float32))
            opened.profile = time.monotonic(), writes, profile
            return profile

    async def matching_chunk_ids(self, dataset: str, restriction: Restriction, *, limit: int) -> list[str]:
        with self._translated(f"filtering {dataset!r}"):
            opened = await self._opened(dataset)
            where = None if opened is None else await self._where(opened, restriction)
            if opened is None or where is None:
                return []
            found = await self._names(opened, where)
            return sorted(names(name)[0] for name in found.values())[: max(limit, 0)]

    async def filter_keys(self, dataset: str) -> set[str]:
        with self._translated(f"reading what {dataset!r} can be filtered by"):
            opened = await self._opened(dataset)
            return set() if opened is None else (await self._current(opened)).keys()

    async def document_ids(self, dataset: str) -> set[str]:
        with self._translated(f"listing documents of {dataset!r}"):
            opened = await self._opened(dataset)
            if opened is None:
                return set()
            return {names(name)[1] for name in (await opened.collection.names(EVERY_ROW)).values()}

    async def count(self, dataset: str) -> int:
        with self._translated(f"counting {dataset!r}"):
            opened = await self._opened(dataset)
            return 0 if opened is None else await opened.collection.count()

    async def datasets(self) -> list[str]:
        with self._translated("listing datasets"):
            return sorted(entry.name for entry in await self._catalog.entries())

    async def optimize(self, dataset: str) -> None:
        with self._translated(f"indexing {dataset!r}"):
            opened = await self._opened(dataset)
            if opened is not None:
                await opened.collection.optimize()

    async def stats(self, dataset: str) -> StoreStats:
        with self._translated(f"counting {dataset!r}"):
            opened = await self._opened(dataset)
            if opened is None:
                return StoreStats(None, None, None)
            rows = TableStats("chunks", await opened.collection.count())
            return StoreStats(self._model, self._dimension, self._manifest["metric"], (rows,))

    def _translated(self, doing: str) -> Any:
        return translated(self._dialect.name, doing)

    async def _opened(self, dataset: str) -> _Dataset | None:
        group = group_id(dataset)
        if group in self._datasets:
            return self._datasets[group]
        entry = await self._catalog.entry(dataset)
        return None if entry is None else await self._of_entry(dataset, entry)

    async def _of_entry(self, dataset: str, entry: CatalogEntry) -> _Dataset:
        if entry.manifest != self._manifest:
            raise ManifestMismatch(
                f"dataset {dataset!r} was embedded with {_told(entry.manifest)}, the configuration says "
                f"{_told(self._manifest)}; configure that model, or ingest into a new store"
            )
        if entry.group not in self._datasets:
            name = collection_name(entry.group)
            collection = await self._dialect.collection(name, self._dimension, create=True)
            if collection is None:
                raise LookupError(f"collection {name} was not made")
            self._datasets.setdefault(entry.group, _Dataset(dataset_name(dataset), collection))
        return self._datasets[entry.group]

    async def _write(
        self,
        opened: _Dataset,
        entry: CatalogEntry,
        rows: Sequence[Any],
        vectors: FloatArray,
        ids: Sequence[str],
    ) -> None:
        # Before and after: whoever reads in between must read again.
        await self._catalog.touch(entry)
        try:
            owners = sorted({document_key(document_id) for document_id in ids})
            await opened.collection.replace(rows, vectors, owners)
        finally:
            await self._catalog.touch(entry)
            opened.writes += 1
            opened.read_at = float("-inf")

    async def _current(self, opened: _Dataset) -> CachedRows:
        """The dataset's chunks in memory, read again where it was written since.

        Reading goes on when the caller has no more time: the next one finds it done.
        """
        for _ in range(2):  # the first reading may have begun before a write that the caller knows of
            if opened.held is not None and time.monotonic() - opened.read_at < FRESH_SECONDS:
                break
            if opened.reading is None or opened.reading.done():
                opened.reading = asyncio.create_task(self._read(opened))
                opened.reading.add_done_callback(_seen)
            await asyncio.shield(opened.reading)
        if opened.held is None:
            raise LookupError(f"{opened.name} was not read")
        return opened.held

    async def _read(self, opened: _Dataset) -> None:
        started, writes = time.monotonic(), opened.writes
        entry = await self._catalog.entry(opened.name)
        version = "" if entry is None else entry.version
        if opened.held is None or opened.held.version != version:
            rows = await opened.collection.rows(EVERY_ROW, vectors=not opened.collection.ranks)
            opened.held = await asyncio.to_thread(cached_rows, version, rows, opened.held)
        if opened.writes == writes:
            opened.read_at = started

    async def _where(self, opened: _Dataset, restriction: Restriction) -> Where | None:
        """What the restriction asks of rows; None where no row can pass."""
        until = None if restriction.as_of is None else microseconds(restriction.as_of)
        expression = restriction.filters
        if expression is None:
            return Where(until=until)
        keys = range_keys(expression)
        values = {}
        if keys:
            current = await self._current(opened)
            values = await asyncio.to_thread(lambda: {key: current.values(key) for key in sorted(keys)})
        wanted = condition(expression, values)
        if width(wanted) <= self._dialect.widest:
            return Where(digested(wanted), until)
        current = await self._current(opened)
        ids = await asyncio.to_thread(current.ids, restriction)
        return Where(ids=ids) if ids else None

    async def _ids(self, opened: _Dataset, where: Where) -> Sequence[str]:
        return where.ids if where.ids is not None else await opened.collection.ids(where)

    async def _names(self, opened: _Dataset, where: Where) -> dict[str, str]:
        if where.ids is None:
            return await opened.collection.names(where)
        found: dict[str, str] = {}
        for batch in batches(where.ids, IDS_PER_REQUEST):
            found |= await opened.collection.names(Where(ids=batch))
        return found

    async def _rows(self, dataset: str, chunk_ids: Sequence[str], *, vectors: bool) -> list[Row]:
        with self._translated(f"reading chunks of {dataset!r}"):
            opened = await self._opened(dataset)
            if opened is None:
                return []
            found: list[Row] = []
            for batch in batches(sorted({row_id(chunk_id) for chunk_id in chunk_ids}), IDS_PER_REQUEST):
                found += await opened.collection.rows(Where(ids=batch), vectors=vectors)
            return found


def collection_name(group: str) -> str:
    """Collection of a dataset by its group id; a name that every store takes, at most 53 characters."""
    return f"agentic_rag_chunks_{group if _PLAIN.fullmatch(group) else 'x_' + digest(group)}"


async def _nearest(collection: Collection, vector: FloatArray, count: int, where: Where) -> list[ScoredChunk]:
    parts = [where] if where.ids is None else [Where(ids=ids) for ids in batches(where.ids, IDS_PER_REQUEST)]
    found = [one for part in parts for one in await collection.nearest(vector, count, part)]
    return [ScoredChunk(to_chunk(document), cosine) for document, cosine in found]


def _seen(task: asyncio.Task[None]) -> None:
    """An error is the callers'; if they all have gone, nobody's."""
    if not task.cancelled():
        task.exception()


def _told(manifest: dict[str, Any]) -> str:
    return f"{manifest['model']} ({manifest['dimension']} dimensions, {manifest['metric']})"
