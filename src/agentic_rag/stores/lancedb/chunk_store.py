"""``ports.ChunkStore`` on LanceDB: one table per dataset, so that word statistics are the dataset's own."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timedelta
from typing import Any

import numpy as np
import pyarrow as pa

from agentic_rag.domain import Chunk
from agentic_rag.errors import ManifestMismatch
from agentic_rag.identity import dataset_name, group_id, is_unicode
from agentic_rag.instants import as_utc
from agentic_rag.ports import EmbeddedDocument, FloatArray, Restriction, ScoredChunk
from agentic_rag.stores.batch import checked_ids
from agentic_rag.stores.lancedb.connection import LanceConnection, quoted, translated
from agentic_rag.stores.lancedb.metadata_sql import metadata_item, range_keys, stored_key, to_sql
from agentic_rag.stores.lancedb.process_lock import RECORDING_VALUES, process_lock
from agentic_rag.stores.lancedb.rows import CHUNK_COLUMNS, chunk_schema, normalised, to_chunk, to_table

VECTOR_INDEX_FROM = 20_000
"""Rows from which an approximate index beats the exact scan."""
KEEP_VERSIONS = timedelta(minutes=10)
"""Old table versions stay readable this long, for readers that are in the middle of a search."""
MAX_QUERY_WORDS = 512
MOST_TIED = 4096
"""Chunks of one score that are put in id order where a search's limit cuts through them."""
VALUES_PER_DELETE = 4_000

_MANIFESTS = "datasets"
_MANIFEST_SCHEMA = pa.schema(
    [
        pa.field("group_id", pa.string(), nullable=False),
        pa.field("name", pa.string(), nullable=False),
        pa.field("manifest", pa.string(), nullable=False),
    ]
)
_VALUES_SCHEMA = pa.schema(
    [pa.field("item", pa.string(), nullable=False), pa.field("key", pa.string(), nullable=False)]
)


class LanceChunkStore:
    """Chunks in LanceDB tables ``chunks_<group id>``, beside them the distinct metadata values.

    Args:
        connection: the database; shared with the other stores.
        model: name of the embedding model, kept in the manifest.
        dimension: length of its vectors; the metric is cosine.

    Raises (any method): ``StoreError`` when LanceDB fails, ``ManifestMismatch`` when a dataset was
    embedded by another model.
    """

    def __init__(self, connection: LanceConnection, *, model: str, dimension: int) -> None:
        self._connection = connection
        self._manifest = {"model": model, "dimension": dimension, "metric": "cosine"}
        self._schema = chunk_schema(dimension)
        self._checked: set[str] = set()

    async def replace_documents(self, dataset: str, documents: Sequence[EmbeddedDocument]) -> None:
        ids = checked_ids(documents)
        chunks = [chunk for document in documents for chunk in document.chunks]
        if not documents:
            return
        vectors = self._vectors(documents)
        table = await self._created(dataset)
        if not chunks:
            await self.remove_documents(dataset, ids)
            return
        rows = to_table(chunks, vectors, self._schema)
        async with process_lock(self._connection.uri, RECORDING_VALUES):
            await self._add_values(dataset, rows)
            with translated(f"storing {len(ids)} documents of {dataset!r}"):
                await (
                    table.merge_insert("chunk_id")
                    .when_matched_update_all()
                    .when_not_matched_insert_all()
                    .when_not_matched_by_source_delete(_documents_sql(ids))
                    .execute(rows)
                )

    async def remove_documents(self, dataset: str, document_ids: Sequence[str]) -> None:
        table = await self._opened(dataset)
        ids = [document_id for document_id in document_ids if is_unicode(document_id)]
        if table is None or not ids:
            return
        with translated(f"removing {len(ids)} documents of {dataset!r}"):
            await table.delete(_documents_sql(ids))

    async def search_dense(
        self, dataset: str, vector: FloatArray, *, limit: int, restriction: Restriction
    ) -> list[ScoredChunk]:
        self._check_dimension(vector)
        table = await self._opened(dataset)
        if table is None:
            return []
        where = await self._where(dataset, restriction)

        async def nearest(count: int) -> list[ScoredChunk]:
            query = table.query().nearest_to(vector).distance_type("cosine").limit(count)
            query = query.nprobes(40).refine_factor(5).select([*CHUNK_COLUMNS, "_distance"])
            rows = await (query.where(where) if where else query).to_list()
            return [ScoredChunk(to_chunk(row), 1.0 - row["_distance"]) for row in rows]

        with translated(f"searching vectors of {dataset!r}"):
            return await _first(nearest, limit)

    async def search_sparse(
        self, dataset: str, text: str, *, limit: int, restriction: Restriction
    ) -> list[ScoredChunk]:
        words = _searchable(text)
        table = await self._opened(dataset)
        if table is None or not words:
            return []
        from lancedb.query import MatchQuery

        where = await self._where(dataset, restriction)

        async def matching(count: int) -> list[ScoredChunk]:
            query = table.query().nearest_to_text(MatchQuery(words, "search_text")).limit(count)
            query = query.select([*CHUNK_COLUMNS, "_score"])
            rows = await (query.where(where) if where else query).to_list()
            return [ScoredChunk(to_chunk(row), row["_score"]) for row in rows if row["_score"] > 0]

        with translated(f"searching words of {dataset!r}"):
            return await _first(matching, limit)

    async def get_chunks(self, dataset: str, chunk_ids: Sequence[str]) -> dict[str, Chunk]:
        rows = await self._by_ids(dataset, chunk_ids, CHUNK_COLUMNS)
        return {row["chunk_id"]: to_chunk(row) for row in rows}

    async def get_vectors(self, dataset: str, chunk_ids: Sequence[str]) -> dict[str, FloatArray]:
        rows = await self._by_ids(dataset, chunk_ids, ["chunk_id", "vector"])
        return {row["chunk_id"]: np.asarray(row["vector"], dtype=np.float32) for row in rows}

    async def matching_chunk_ids(self, dataset: str, restriction: Restriction, *, limit: int) -> list[str]:
        table = await self._opened(dataset)
        if table is None:
            return []
        where = await self._where(dataset, restriction)
        with translated(f"filtering {dataset!r}"):
            query = table.query().select(["chunk_id"])
            rows = await (query.where(where) if where else query).to_arrow()
        return sorted(rows["chunk_id"].to_pylist())[: max(limit, 0)]

    async def document_ids(self, dataset: str) -> set[str]:
        table = await self._opened(dataset)
        if table is None:
            return set()
        with translated(f"listing documents of {dataset!r}"):
            rows = await table.query().select(["document_id"]).to_arrow()
        return set(rows["document_id"].to_pylist())

    async def count(self, dataset: str) -> int:
        table = await self._opened(dataset)
        if table is None:
            return 0
        with translated(f"counting {dataset!r}"):
            return int(await table.count_rows())

    async def datasets(self) -> list[str]:
        table = await self._connection.table(_MANIFESTS)
        if table is None:
            return []
        with translated("listing datasets"):
            rows = await table.query().select(["name"]).to_list()
        return sorted(row["name"] for row in rows)

    async def optimize(self, dataset: str) -> None:
        from lancedb.index import FTS, BTree, IvfSq, LabelList

        table = await self._opened(dataset)
        if table is None:
            return
        with translated(f"indexing {dataset!r}"):
            await table.optimize(cleanup_older_than=KEEP_VERSIONS)
            rows = await table.count_rows()
            have = {index.columns[0] for index in await table.list_indices()}
            if "search_text" not in have:
                await table.create_index("search_text", config=_full_text(FTS))
            if rows and "meta" not in have:
                await table.create_index("meta", config=LabelList())
            if rows and "document_id" not in have:
                await table.create_index("document_id", config=BTree())
            if rows >= VECTOR_INDEX_FROM and "vector" not in have:
                await table.create_index("vector", config=IvfSq(distance_type="cosine"))
            values = await self._connection.table(_values_name(dataset))
            if values is not None:
                async with process_lock(self._connection.uri, RECORDING_VALUES):
                    await _drop_unused(values, table)
                await values.optimize(cleanup_older_than=KEEP_VERSIONS)

    def _vectors(self, documents: Sequence[EmbeddedDocument]) -> FloatArray:
        for document in documents:
            expected = (len(document.chunks), self._manifest["dimension"])
            if document.chunks and document.vectors.shape != expected:
                raise ManifestMismatch(
                    f"vectors of {document.document_id!r} have shape {document.vectors.shape}, "
                    f"the store holds {expected}; open it with the model it was made with"
                )
        parts = [document.vectors for document in documents if document.chunks]
        return np.concatenate(parts) if parts else np.zeros((0, 0), dtype=np.float32)

    def _check_dimension(self, vector: FloatArray) -> None:
        if vector.shape != (self._manifest["dimension"],):
            raise ManifestMismatch(
                f"the query vector has shape {vector.shape}, the store holds "
                f"{self._manifest['dimension']} dimensions of {self._manifest['model']}"
            )

    async def _opened(self, dataset: str) -> Any | None:
        table = await self._connection.table(_chunks_name(dataset))
        if table is not None and dataset not in self._checked:
            await self._check_manifest(dataset)
        return table

    async def _check_manifest(self, dataset: str) -> None:
        manifests = await self._connection.table(_MANIFESTS)
        if manifests is None:
            return
        with translated("reading the manifest"):
            query = manifests.query().where(f"group_id = {quoted(group_id(dataset))}")
            rows = await query.to_list()
        stored = json.loads(rows[0]["manifest"]) if rows else self._manifest
        if stored != self._manifest:
            raise ManifestMismatch(
                f"dataset {dataset!r} was embedded with {_told(stored)}, the configuration says "
                f"{_told(self._manifest)}; configure that model, or ingest into a new data folder"
            )
        self._checked.add(dataset)

    async def _created(self, dataset: str) -> Any:
        existing = await self._opened(dataset)
        if existing is not None:
            return existing
        manifests = await self._connection.create_table(_MANIFESTS, _MANIFEST_SCHEMA, "group_id")
        name = dataset_name(dataset)
        row = {"group_id": group_id(dataset), "name": name, "manifest": json.dumps(self._manifest)}
        with translated(f"creating dataset {dataset!r}"):
            await (
                manifests.merge_insert("group_id")
                .when_not_matched_insert_all()
                .execute(pa.Table.from_pylist([row], schema=_MANIFEST_SCHEMA))
            )
            table = await self._connection.create_table(
                _chunks_name(dataset), self._schema, "chunk_id", _index_words
            )
        await self._check_manifest(dataset)
        return table

    async def _add_values(self, dataset: str, rows: pa.Table) -> None:
        """Record distinct metadata values before the rows that hold them; one too many does no harm."""
        items = sorted({item for meta in rows["meta"].to_pylist() for item in meta})
        items = [item for item in items if len(json.loads(item)) == 2]
        if not items:
            return
        values = await self._connection.create_table(_values_name(dataset), _VALUES_SCHEMA, "item")
        data = pa.Table.from_pylist(
            [{"item": item, "key": stored_key(item)} for item in items], schema=_VALUES_SCHEMA
        )
        with translated(f"recording metadata values of {dataset!r}"):
            await values.merge_insert("item").when_not_matched_insert_all().execute(data)

    async def _where(self, dataset: str, restriction: Restriction) -> str | None:
        parts = []
        if restriction.filters is not None:
            values = {
                key: await self._values(dataset, key) for key in sorted(range_keys(restriction.filters))
            }
            parts.append(to_sql(restriction.filters, values))
        if restriction.as_of is not None:
            parts.append(f"(date IS NULL OR date <= {timestamp_sql(restriction.as_of)})")
        return " AND ".join(parts) or None

    async def _values(self, dataset: str, key: str) -> list[str]:
        table = await self._connection.table(_values_name(dataset))
        if table is None:
            return []
        with translated(f"reading the values of {key!r}"):
            query = table.query().where(f"key = {quoted(stored_key(metadata_item(key)))}")
            rows = await query.select(["item"]).to_arrow()
        items: list[str] = rows["item"].to_pylist()
        return items

    async def _by_ids(self, dataset: str, chunk_ids: Sequence[str], columns: list[str]) -> list[Any]:
        table = await self._opened(dataset)
        if table is None or not chunk_ids:
            return []
        listed = ", ".join(quoted(chunk_id) for chunk_id in sorted(set(chunk_ids)) if is_unicode(chunk_id))
        with translated(f"reading chunks of {dataset!r}"):
            rows: list[Any] = (
                await table.query().where(f"chunk_id IN ({listed})").select(columns).to_list()
                if listed
                else []
            )
        return rows


def timestamp_sql(moment: datetime) -> str:
    """A UTC timestamp literal, to the microsecond."""
    return f"CAST('{as_utc(moment).isoformat()}' AS TIMESTAMP)"


async def _drop_unused(values: Any, chunks: Any) -> None:
    """Forget metadata values that no chunk has any more: they tell what removed notes said."""
    await chunks.checkout_latest()
    held = (await chunks.query().select(["meta"]).to_arrow())["meta"].combine_chunks().flatten().unique()
    known = (await values.query().select(["item"]).to_arrow())["item"]
    unused = sorted(set(known.to_pylist()) - set(held.to_pylist()))
    for start in range(0, len(unused), VALUES_PER_DELETE):
        listed = ", ".join(quoted(item) for item in unused[start : start + VALUES_PER_DELETE])
        await values.delete(f"item IN ({listed})")


async def _index_words(table: Any) -> None:
    """Full text answers from the first row on; rows that are not indexed yet are searched as well."""
    from lancedb.index import FTS

    if not await table.list_indices():
        await table.create_index("search_text", config=_full_text(FTS))


def _full_text(fts: Any) -> Any:
    """Offline segmentation of Chinese, Japanese and English. Stop words stay: with them gone, digits,
    single letters and some Han characters would vanish too."""
    return fts(base_tokenizer="icu/split", stem=True, remove_stop_words=False)


def _searchable(text: str) -> str:
    cleaned = "".join(c if c.isalnum() or c in "'-_." else " " for c in normalised(text))
    words = [word for word in cleaned.split() if any(c.isalnum() for c in word)]
    return " ".join(words[:MAX_QUERY_WORDS])


def _documents_sql(document_ids: Sequence[str]) -> str:
    return f"document_id IN ({', '.join(quoted(document_id) for document_id in document_ids)})"


async def _first(search: Callable[[int], Awaitable[list[ScoredChunk]]], limit: int) -> list[ScoredChunk]:
    """The first ``limit`` by score, then id: LanceDB cuts through equal scores wherever it likes, so
    more is asked for until the last one kept stands clear of the rest."""
    if limit < 1:
        return []
    asked_for = limit + 1
    while True:
        found = sorted(await search(asked_for), key=lambda scored: (-scored.score, scored.chunk.id))
        tied = len(found) == asked_for and found[limit - 1].score == found[-1].score
        if not tied or asked_for >= limit + MOST_TIED:
            return found[:limit]
        asked_for = min(asked_for * 4, limit + MOST_TIED)


def _chunks_name(dataset: str) -> str:
    return f"chunks_{group_id(dataset)}"


def _values_name(dataset: str) -> str:
    return f"values_{group_id(dataset)}"


def _told(manifest: dict[str, Any]) -> str:
    return f"{manifest['model']} ({manifest['dimension']} dimensions, {manifest['metric']})"
