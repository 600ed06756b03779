"""``ports.ChunkStore`` on LanceDB: one table per dataset, so that word statistics are the dataset's own."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from agentic_rag.domain import Chunk, by_document, search_text
from agentic_rag.domain.identity import dataset_name, group_id, is_unicode
from agentic_rag.domain.ports import (
    DatasetProfile,
    EmbeddedDocument,
    FloatArray,
    PassageVectors,
    Restriction,
    ScoredChunk,
    StagedRows,
    StoreStats,
)
from agentic_rag.errors import StoreError
from agentic_rag.stores.checks import check_query, checked_ids, checked_vectors, tokens_of
from agentic_rag.stores.lancedb.chunk_rows import ChunkRows
from agentic_rag.stores.lancedb.connection import LanceConnection, translate_errors
from agentic_rag.stores.lancedb.full_text import full_text_index, index_words
from agentic_rag.stores.lancedb.indexes import (
    BUILT_HERE,
    VECTOR_INDEX_FROM,
    IndexBuilder,
    IndexPlan,
    PlannedIndex,
    table_stats,
    tidied_when_due,
    tidy_table,
)
from agentic_rag.stores.lancedb.legs import SearchScope, dense_leg, sparse_leg
from agentic_rag.stores.lancedb.manifests import Manifests, generation_name
from agentic_rag.stores.lancedb.metadata import MetadataValues, value_items
from agentic_rag.stores.lancedb.pieces import commit_files, write_files
from agentic_rag.stores.lancedb.process_lock import RECORDING_VALUES, process_lock, writing
from agentic_rag.stores.lancedb.replacing import replace_rows
from agentic_rag.stores.lancedb.rows import (
    CHUNK,
    TOKENS,
    VECTOR,
    chunk_schema,
    stored_vectors,
    to_table,
    unpack_chunk,
    vectors_of,
)
from agentic_rag.stores.lancedb.sql import is_one_of, not_after
from agentic_rag.stores.lancedb.vector_tables import VectorTable
from agentic_rag.stores.uninterrupted import run_uninterrupted, without_unretrieved_warning

KEYS_FROM = 4_096
"""Chunks from which it pays to look some up by an index of their ids: all of them are compared otherwise."""
SAMPLE = 256
"""Number of chunks whose mean represents an ordinary chunk."""
PROFILE_SECONDS = 60.0


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
        self._manifests = Manifests(connection, model=model, dimension=dimension)
        self._values = MetadataValues(connection)
        self._rows = ChunkRows(connection)
        self._profiles: dict[str, tuple[float, DatasetProfile]] = {}
        self._searches: dict[tuple[Any, ...], asyncio.Future[list[ScoredChunk]]] = {}
        """Of words, under way."""
        self._writes = 0
        """Of this process."""
        self._schema = chunk_schema(dimension)

    @property
    def connection(self) -> LanceConnection:
        """The database."""
        return self._connection

    async def replace_documents(self, dataset: str, documents: Sequence[EmbeddedDocument]) -> None:
        ids = checked_ids(documents)
        if not documents:
            return
        async with writing(self._connection.locks, [group_id(dataset)]):
            table = await self._create_table(dataset)
            rows = await self._make_rows(documents)
            async with process_lock(self._connection.locks, RECORDING_VALUES):
                await self._values.record(dataset, value_items(rows))
                with translate_errors(f"storing {len(ids)} documents of {dataset!r}"):
                    await table.checkout_latest()  # another process may have written them a moment ago
                    await run_uninterrupted(replace_rows(table, rows, is_one_of("document_id", ids)))
        await self._note_change(dataset, table)

    async def prepare_staging(self, dataset: str) -> None:
        async with writing(self._connection.locks, [group_id(dataset)]):
            await self._create_table(dataset)

    async def stage(self, dataset: str, documents: Sequence[EmbeddedDocument]) -> StagedRows:
        ids = checked_ids(documents)
        table = await self._open_table(dataset)
        if table is None:
            raise StoreError(f"dataset {dataset!r} was dropped meanwhile; run the ingest again")
        rows = await self._make_rows(documents)
        with translate_errors(f"writing {len(ids)} documents of {dataset!r}"):
            files = await write_files(table, rows)
        return StagedRows(table.name, tuple(ids), tuple(value_items(rows)), files)

    async def commit_staged(self, dataset: str, pieces: Sequence[StagedRows]) -> None:
        if not pieces:
            return
        ids = [document_id for piece in pieces for document_id in piece.document_ids]
        async with writing(self._connection.locks, [group_id(dataset)]):
            table = await self._open_table(dataset, now=True)
            if table is None or any(piece.table != table.name for piece in pieces):
                raise StoreError(f"dataset {dataset!r} was reindexed meanwhile; run the ingest again")
            async with process_lock(self._connection.locks, RECORDING_VALUES):
                await self._values.record(dataset, sorted({item for piece in pieces for item in piece.items}))
                with translate_errors(f"storing {len(ids)} documents of {dataset!r}"):
                    files = [piece.files for piece in pieces]
                    await run_uninterrupted(commit_files(table, files, is_one_of("document_id", ids)))
        await self._note_change(dataset, table)

    async def remove_documents(self, dataset: str, document_ids: Sequence[str]) -> None:
        ids = [document_id for document_id in document_ids if is_unicode(document_id)]
        async with writing(self._connection.locks, [group_id(dataset)]):
            table = await self._open_table(dataset, now=True)
            if table is not None and ids:
                await _remove(table, dataset, ids)
                self._forget_reads(table)

    async def search_dense(
        self, dataset: str, vector: FloatArray, *, limit: int, restriction: Restriction
    ) -> list[ScoredChunk]:
        self._check_dimension(vector)
        of = await self._search_scope(dataset, restriction)
        if of is None:
            return []
        with translate_errors(f"searching vectors of {dataset!r}"):
            return await dense_leg(of, vector, limit)

    async def search_sparse(
        self, dataset: str, text: str, *, limit: int, restriction: Restriction
    ) -> list[ScoredChunk]:
        """See ``ports.ChunkSearch``. Both sources of a question look for its words at the same time: one search serves
        both, unless there was a write in between."""
        key = (dataset, text, limit, repr(restriction), self._writes, self._connection.refreshes)
        search = self._searches.get(key)
        if search is None:
            work = self._search_words(dataset, text, limit, restriction)
            search = without_unretrieved_warning(asyncio.ensure_future(work))
            self._searches[key] = search
            search.add_done_callback(lambda _: self._searches.pop(key, None))
        return await asyncio.shield(search)

    async def _search_words(
        self, dataset: str, text: str, limit: int, restriction: Restriction
    ) -> list[ScoredChunk]:
        of = await self._search_scope(dataset, restriction)
        if of is None:
            return []
        with translate_errors(f"searching words of {dataset!r}"):
            return await sparse_leg(of, text, limit)

    async def _search_scope(self, dataset: str, restriction: Restriction) -> SearchScope | None:
        table = await self._open_table(dataset)
        return (
            None if table is None else SearchScope(table, self._rows, await self._where(dataset, restriction))
        )

    async def get_chunks(self, dataset: str, chunk_ids: Sequence[str]) -> dict[str, Chunk]:
        rows = await self._by_ids(dataset, chunk_ids, CHUNK)
        return await asyncio.to_thread(_unpack_chunks, rows)

    async def document_chunks(self, dataset: str, document_ids: Sequence[str]) -> dict[str, list[Chunk]]:
        ids = sorted({document_id for document_id in document_ids if is_unicode(document_id)})
        if not ids:
            return {}
        where = is_one_of("document_id", ids)
        rows = await self._select(f"reading documents of {dataset!r}", dataset, [CHUNK], where)
        return by_document(map(unpack_chunk, rows[CHUNK].to_pylist()))

    async def get_vectors(self, dataset: str, chunk_ids: Sequence[str]) -> dict[str, FloatArray]:
        rows = await self._by_ids(dataset, chunk_ids, VECTOR)
        return dict(zip(rows, stored_vectors(list(rows.values())), strict=True)) if rows else {}

    async def get_token_vectors(self, dataset: str, chunk_ids: Sequence[str]) -> dict[str, bytes]:
        rows = await self._by_ids(dataset, chunk_ids, TOKENS)
        return {chunk_id: tokens for chunk_id, tokens in rows.items() if tokens}

    async def profile(self, dataset: str) -> DatasetProfile | None:
        table = await self._open_table(dataset)
        if table is None:
            return None
        asked, known = self._profiles.get(table.name, (0.0, None))
        if known is not None and time.monotonic() - asked < PROFILE_SECONDS:
            return known
        with translate_errors(f"sampling {dataset!r}"):
            rows = await table.count_rows()
            if not rows:
                return None
            sample = (
                range(rows) if rows <= SAMPLE else sorted(random.Random(rows).sample(range(rows), SAMPLE))
            )
            found = await table.take_offsets(list(sample)).select([VECTOR]).to_arrow()
        profile = DatasetProfile(rows, vectors_of(found).mean(axis=0))
        self._profiles[table.name] = (time.monotonic(), profile)
        return profile

    async def matching_chunk_ids(self, dataset: str, restriction: Restriction, *, limit: int) -> list[str]:
        where = await self._where(dataset, restriction)
        rows = await self._select(f"filtering {dataset!r}", dataset, ["chunk_id"], where)
        return sorted(rows["chunk_id"].to_pylist())[: max(limit, 0)]

    async def filter_keys(self, dataset: str) -> set[str]:
        return await self._values.keys(dataset)

    async def document_ids(self, dataset: str) -> set[str]:
        rows = await self._select(f"listing documents of {dataset!r}", dataset, ["document_id"])
        return set(rows["document_id"].to_pylist())

    async def count(self, dataset: str) -> int:
        table = await self._open_table(dataset)
        if table is None:
            return 0
        with translate_errors(f"counting {dataset!r}"):
            return int(await table.count_rows())

    async def datasets(self) -> list[str]:
        return await self._manifests.names()

    async def optimize(
        self, dataset: str, *, purge: bool = False, builder: IndexBuilder = BUILT_HERE
    ) -> None:
        group = group_id(dataset)
        async with process_lock(self._connection.locks, f"indexing-{group}"):
            async with writing(self._connection.locks, [group]):
                table = await self._open_table(dataset, now=True)
                if table is None:
                    return
                await tidy_table(table, _plan(), repr(dataset), purge=purge, builder=builder)
                await self._values.tidy(dataset, table, purge=purge)
            await self._manifests.drop_superseded(group, [_chunks_name(dataset)])

    async def record_values(self, dataset: str) -> None:
        """Note the metadata values of all chunks, where some are missing."""
        async with writing(self._connection.locks, [group_id(dataset)]):
            rows = await self._select(f"reading the values of {dataset!r}", dataset, ["meta"])
            async with process_lock(self._connection.locks, RECORDING_VALUES):
                await self._values.record(dataset, value_items(rows))

    async def stats(self, dataset: str) -> StoreStats:
        manifest = await self._manifests.stored_manifest(group_id(dataset))
        if manifest is None:
            return StoreStats(None, None, None)
        table = await self._connection.table(_chunks_name(dataset, manifest.generation))
        if table is None:
            return StoreStats(manifest.model, manifest.dimension, manifest.metric)
        tables = (await table_stats(table, self._connection.uri, "chunks"),)
        return StoreStats(manifest.model, manifest.dimension, manifest.metric, tables)

    def vector_tables(self, dataset: str) -> tuple[VectorTable, ...]:
        """For ``reindex``: the chunks."""
        return (
            VectorTable(
                name="chunks",
                base=_chunks_name(dataset),
                key="chunk_id",
                columns=["chunk_id", CHUNK],
                measured_column=CHUNK,
                schema=self._schema,
                text=lambda row: search_text(unpack_chunk(row[CHUNK])),
                make_rows=lambda rows, vectors: to_table(
                    [unpack_chunk(row[CHUNK]) for row in rows], vectors, self._schema
                ),
                tokens=True,
                prepare=index_words,
                plan=_plan(),
            ),
        )

    async def _make_rows(self, documents: Sequence[EmbeddedDocument]) -> pa.Table:
        """All chunks of the documents."""
        chunks = [chunk for document in documents for chunk in document.chunks]
        vectors = checked_vectors(documents, self._manifests.configured_manifest.dimension)
        tokens = tuple(tokens for document in documents for tokens in tokens_of(document))
        return await asyncio.to_thread(to_table, chunks, PassageVectors(vectors, tokens), self._schema)

    async def _note_change(self, dataset: str, table: Any) -> None:
        """After a write."""
        self._forget_reads(table)
        await tidied_when_due(table, lambda: self.optimize(dataset), repr(dataset))

    def _forget_reads(self, table: Any) -> None:
        self._profiles.pop(table.name, None)
        self._writes += 1

    def _check_dimension(self, vector: FloatArray) -> None:
        configured = self._manifests.configured_manifest
        check_query(vector, configured.dimension, configured.model)

    async def _open_table(self, dataset: str, *, now: bool = False) -> Any | None:
        """The table in force, as of a second ago, or now, where a writer asks."""
        group = group_id(dataset)
        resolved = self._manifests.generation_now if now else self._manifests.generation
        return await self._connection.table(_chunks_name(dataset, await resolved(group)))

    async def _create_table(self, dataset: str) -> Any:
        """The table in force, created if missing; the caller holds ``writing``."""
        generation = await self._manifests.make(group_id(dataset), dataset_name(dataset))
        return await self._connection.create_table(
            _chunks_name(dataset, generation), self._schema, "chunk_id", index_words
        )

    async def _where(self, dataset: str, restriction: Restriction) -> str | None:
        parts = []
        if restriction.filters is not None:
            parts.append(await self._values.filter_sql(dataset, restriction.filters))
        if restriction.as_of is not None:
            parts.append(not_after("date", restriction.as_of))
        return " AND ".join(parts) or None

    async def _by_ids(self, dataset: str, chunk_ids: Sequence[str], column: str) -> dict[str, bytes]:
        """A column's value of each row that exists."""
        ids = {chunk_id for chunk_id in chunk_ids if is_unicode(chunk_id)}
        table = await self._open_table(dataset)
        if table is None or not ids:
            return {}
        with translate_errors(f"reading chunks of {dataset!r}"):
            rows = await self._rows.by_id(table, ids, [column])
        return {chunk_id: value for chunk_id, (value,) in rows.items()}

    async def _select(
        self, doing: str, dataset: str, columns: list[str], where: str | None = None
    ) -> pa.Table:
        """Columns of the rows under a condition; none of a dataset that is not there."""
        table = await self._open_table(dataset)
        if table is None:
            return self._schema.empty_table().select(columns)
        with translate_errors(doing):
            query = table.query().select(columns)
            return await (query.where(where) if where else query).to_arrow()


async def _remove(table: Any, dataset: str, document_ids: Sequence[str]) -> None:
    with translate_errors(f"removing {len(document_ids)} documents of {dataset!r}"):
        await run_uninterrupted(table.delete(is_one_of("document_id", document_ids)))


def _plan() -> IndexPlan:
    from lancedb.index import BTree, LabelList

    columns = (
        PlannedIndex("search_text", full_text_index),
        PlannedIndex("meta", LabelList, rows=1),
        PlannedIndex("document_id", BTree, rows=1),
        PlannedIndex("chunk_id", BTree, rows=KEYS_FROM),
    )
    return IndexPlan(columns, vector_from=VECTOR_INDEX_FROM)


def _chunks_name(dataset: str, generation: int = 0) -> str:
    return generation_name(f"chunks_{group_id(dataset)}", generation)


def _unpack_chunks(values: Mapping[str, bytes]) -> dict[str, Chunk]:
    """Chunks of the column's values, by id."""
    return {chunk_id: unpack_chunk(value) for chunk_id, value in values.items()}
