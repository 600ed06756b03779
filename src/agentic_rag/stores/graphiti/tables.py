"""The graph's LanceDB tables: seven a dataset group, opened on demand, written in batches, searched by leg."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Collection, Sequence
from datetime import timedelta
from typing import Any

import numpy as np
import pyarrow as pa

from agentic_rag.errors import ManifestMismatch
from agentic_rag.ports import FloatArray
from agentic_rag.stores.graphiti import sql
from agentic_rag.stores.graphiti.schemas import (
    FULL_TEXT,
    INDEXED,
    KINDS,
    WITH_VECTOR,
    Kind,
    Row,
    columns,
    group_of,
    schema,
    table_name,
)
from agentic_rag.stores.lancedb.connection import LanceConnection, translated

VECTOR_INDEX_FROM = 8_192
"""Rows from which an index pays: at 10,000 rows it is three times as fast at the same recall."""
INDEX_FROM = 2_048
"""Rows from which key indexes pay; below, a scan is as fast as the look-up."""
OPTIMIZE_AFTER = 60
"""Writes after which a group is compacted without being asked."""
KEEP_VERSIONS = timedelta(minutes=10)
"""Old table versions stay readable this long, for readers that are in the middle of a search."""
KEYS_PER_QUERY = 4_000

_LOGGER = logging.getLogger(__name__)


class GraphTables:
    """Reads and writes rows by group and kind; a missing table reads as empty.

    Args:
        connection: the database; shared with the other stores.
        model: name of the embedding model, kept in the tables that hold vectors.
        dimension: length of its vectors; the metric is cosine.
    """

    def __init__(self, connection: LanceConnection, *, model: str, dimension: int) -> None:
        self._connection = connection
        self._model = model
        self.dimension = dimension
        self._checked: set[str] = set()
        self._writes: dict[str, int] = {}
        self._scans = asyncio.Semaphore(max(2, os.cpu_count() or 2))

    async def groups(self) -> list[str]:
        """Group ids that have a table, sorted."""
        found = (group_of(name) for name in await self._connection.table_names())
        return sorted({group for group in found if group is not None})

    async def exists(self, group: str, kind: Kind = "episodes") -> bool:
        return await self._opened(group, kind) is not None

    async def count(self, group: str, kind: Kind) -> int:
        table = await self._opened(group, kind)
        if table is None:
            return 0
        with translated(f"counting {kind}"):
            return int(await table.count_rows())

    async def select(
        self,
        group: str,
        kind: Kind,
        where: str | None = None,
        select: Sequence[str] | None = None,
        limit: int | None = None,
    ) -> list[Row]:
        """Rows for a predicate, in no particular order."""
        rows = await self._arrow(group, kind, where, select or columns(kind), limit)
        return list(rows.to_pylist()) if rows is not None else []

    async def select_in(
        self,
        group: str,
        kind: Kind,
        column: str,
        values: Collection[str],
        select: Sequence[str] | None = None,
        also: str | None = None,
    ) -> list[Row]:
        """Rows whose column is one of the values, however many there are."""
        keys = sorted(values)
        found: list[Row] = []
        for start in range(0, len(keys), KEYS_PER_QUERY):
            where = sql.every([sql.is_in(column, keys[start : start + KEYS_PER_QUERY]), also])
            found.extend(await self.select(group, kind, where, select))
        return found

    async def vectors(self, group: str, kind: Kind, uuids: Collection[str]) -> dict[str, FloatArray]:
        """Stored vectors of the rows that exist among the uuids."""
        keys = sorted(uuids)
        found: dict[str, FloatArray] = {}
        for start in range(0, len(keys), KEYS_PER_QUERY):
            where = sql.is_in("uuid", keys[start : start + KEYS_PER_QUERY])
            rows = await self._arrow(group, kind, where, ["uuid", "vector"], None)
            if rows is not None:
                flat = rows["vector"].combine_chunks().flatten().to_numpy(zero_copy_only=False)
                found |= dict(zip(rows["uuid"].to_pylist(), flat.reshape(-1, self.dimension), strict=True))
        return found

    async def nearest(
        self, group: str, kind: Kind, vector: Sequence[float], *, where: str | None, limit: int
    ) -> list[tuple[Row, float]]:
        """Rows by cosine in [-1, 1], descending, ties by uuid."""
        table = await self._opened(group, kind)
        if table is None or where == sql.NOTHING or limit < 1:
            return []
        with translated(f"searching vectors of {kind}"):
            query = table.query().nearest_to(np.asarray(vector, dtype=np.float32)).distance_type("cosine")
            query = query.nprobes(40).refine_factor(5).select([*columns(kind), "_distance"]).limit(limit)
            query = query.where(where) if where else query
            async with self._scans:
                rows = (await query.to_arrow()).to_pylist()
        scored = [(row, 1.0 - row.pop("_distance")) for row in rows]
        return _ordered([(row, score) for row, score in scored if score == score])

    async def matching(
        self, group: str, kind: Kind, text: str, *, where: str | None, limit: int
    ) -> list[tuple[Row, float]]:
        """Rows by BM25 ≥ 0, descending, ties by uuid; the text must be ``searchable`` already."""
        table = await self._opened(group, kind)
        if table is None or where == sql.NOTHING or limit < 1:
            return []
        from lancedb.query import MatchQuery

        with translated(f"searching words of {kind}"):
            query = table.query().nearest_to_text(MatchQuery(text, "text"))
            query = query.select([*columns(kind), "_score"]).limit(limit)
            rows = (await (query.where(where) if where else query).to_arrow()).to_pylist()
        scored = [(row, row.pop("_score")) for row in rows]
        return _ordered([(row, score) for row, score in scored if score > 0])

    async def upsert(self, group: str, kind: Kind, rows: Sequence[Row], replacing: str | None = None) -> None:
        """Insert or overwrite by uuid; with ``replacing``, rows it matches that are not given disappear.

        One atomic version of the table.
        """
        if not rows:
            if replacing is not None:
                await self.delete(group, kind, replacing)
            return
        table = await self._created(group, kind)
        with translated(f"storing {len(rows)} {kind}"):
            merge = table.merge_insert("uuid").when_matched_update_all().when_not_matched_insert_all()
            if replacing is not None:
                merge = merge.when_not_matched_by_source_delete(replacing)
            await merge.execute(_to_arrow(rows, table_schema=await table.schema()))
        self._writes[group] = self._writes.get(group, 0) + 1

    async def delete(self, group: str, kind: Kind, where: str) -> None:
        table = await self._opened(group, kind)
        if table is None or where == sql.NOTHING:
            return
        with translated(f"deleting {kind}"):
            # A delete that matches nothing would still write a version, and versions slow searches.
            if await table.count_rows(where):
                await table.delete(where)
                self._writes[group] = self._writes.get(group, 0) + 1

    async def optimize_when_due(self, group: str) -> None:
        if self._writes.get(group, 0) >= OPTIMIZE_AFTER:
            await self.optimize(group)

    async def optimize(self, group: str) -> None:
        """Compact, and index what pays to be indexed."""
        self._writes[group] = 0
        for kind in KINDS:
            table = await self._opened(group, kind)
            if table is not None:
                with translated(f"indexing {kind}"):
                    await _optimize(table, kind)

    async def _arrow(
        self, group: str, kind: Kind, where: str | None, select: Sequence[str], limit: int | None
    ) -> pa.Table | None:
        table = await self._opened(group, kind)
        if table is None or where == sql.NOTHING:
            return None
        with translated(f"reading {kind}"):
            query = table.query().select(list(select))
            query = query.where(where) if where else query
            return await (query.limit(limit) if limit is not None else query).to_arrow()

    async def _opened(self, group: str, kind: Kind) -> Any | None:
        table = await self._connection.table(table_name(group, kind))
        if table is not None and kind in WITH_VECTOR:
            await self._check(table, table_name(group, kind))
        return table

    async def _created(self, group: str, kind: Kind) -> Any:
        table = await self._opened(group, kind)
        if table is not None:
            return table
        made = schema(kind, model=self._model, dimension=self.dimension)
        table = await self._connection.create_table(table_name(group, kind), made, "uuid")
        if kind in FULL_TEXT:
            from lancedb.index import FTS

            with translated(f"indexing {kind}"):
                if not await table.list_indices():
                    config = FTS(base_tokenizer="icu/split", stem=True, remove_stop_words=False)
                    await table.create_index("text", config=config)
        return table

    async def _check(self, table: Any, name: str) -> None:
        if name in self._checked:
            return
        with translated(f"reading the schema of {name}"):
            stored = await table.schema()
        dimension = stored.field("vector").type.list_size
        model = (stored.metadata or {}).get(b"embedding_model", b"").decode() or self._model
        if (dimension, model) != (self.dimension, self._model):
            raise ManifestMismatch(
                f"table {name} holds {dimension}-dimensional vectors of {model!r}, the configuration says "
                f"{self.dimension} of {self._model!r}; configure that model, or ingest into a new data folder"
            )
        self._checked.add(name)


async def _optimize(table: Any, kind: Kind) -> None:
    from lancedb.index import BTree, IvfSq

    await table.optimize(cleanup_older_than=KEEP_VERSIONS)
    rows = await table.count_rows()
    have = {index.columns[0] for index in await table.list_indices()}
    if rows >= INDEX_FROM:
        for column in INDEXED[kind]:
            if column not in have:
                await table.create_index(column, config=BTree())
    if kind in WITH_VECTOR and rows >= VECTOR_INDEX_FROM and "vector" not in have:
        await table.create_index("vector", config=IvfSq(distance_type="cosine"))


def _ordered(scored: list[tuple[Row, float]]) -> list[tuple[Row, float]]:
    return sorted(scored, key=lambda pair: (-pair[1], pair[0]["uuid"]))


def _to_arrow(rows: Sequence[Row], table_schema: pa.Schema) -> pa.Table:
    """Rows as Arrow, one a uuid (the last), vectors without a detour through Python floats."""
    unique = list({row["uuid"]: row for row in rows}.values())
    arrays = []
    for field in table_schema:
        if field.name == "vector":
            flat = np.concatenate([np.asarray(row["vector"], dtype=np.float32) for row in unique])
            arrays.append(pa.FixedSizeListArray.from_arrays(pa.array(flat), field.type.list_size))
        else:
            arrays.append(pa.array([row.get(field.name) for row in unique], type=field.type))
    return pa.Table.from_arrays(arrays, schema=table_schema)
