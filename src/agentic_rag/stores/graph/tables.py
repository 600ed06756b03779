"""The graph's LanceDB tables: four a dataset group, searched by leg, and written in batches."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Sequence
from contextlib import asynccontextmanager
from typing import Any

import numpy as np
import pyarrow as pa

from agentic_rag.domain.ports import FloatArray, PassageVectors, StoreStats
from agentic_rag.stores.graph import sql
from agentic_rag.stores.graph.reading import TableReader, rows_of
from agentic_rag.stores.graph.schemas import (
    INDEXED_COLUMNS,
    KINDS,
    SEARCHABLE,
    Kind,
    Row,
    columns,
    schema,
    table_name,
)
from agentic_rag.stores.lancedb.connection import (
    translate_errors,
    upsert,
)
from agentic_rag.stores.lancedb.full_text import full_text_index, index_words, query_text
from agentic_rag.stores.lancedb.indexes import (
    BUILT_HERE,
    VECTOR_INDEX_FROM,
    IndexBuilder,
    IndexPlan,
    PlannedIndex,
    plan_indexes,
    probes,
    refine_factor,
    table_stats,
    tidied_when_due,
    tidy_table,
)
from agentic_rag.stores.lancedb.manifests import generation_name
from agentic_rag.stores.lancedb.process_lock import writing
from agentic_rag.stores.lancedb.replacing import replace_rows
from agentic_rag.stores.lancedb.rows import vector_array
from agentic_rag.stores.lancedb.vector_tables import VectorTable

INDEX_FROM = 2_048
"""Rows from which key indexes pay; below, a scan is as fast as the look-up."""


class GraphTables(TableReader):
    """Searches, writes and tends the tables too."""

    async def nearest(
        self,
        group: str,
        kind: Kind,
        vector: Sequence[float] | FloatArray,
        select: Sequence[str],
        *,
        where: str | None,
        limit: int,
    ) -> list[tuple[Row, float]]:
        """Rows by cosine in [-1, 1], descending, ties by uuid; ``select`` has ``uuid``."""
        table = await self._open_table(group, kind)
        if table is None or where == sql.NOTHING or limit < 1:
            return []
        with translate_errors(f"searching vectors of {kind}"):
            query = table.query().nearest_to(np.asarray(vector, dtype=np.float32)).distance_type("cosine")
            query = query.nprobes(probes(where)).refine_factor(refine_factor(limit))
            query = query.select([*select, "_distance"]).limit(limit)
            query = query.where(where) if where else query
            async with self._scans:
                rows = rows_of(await query.to_arrow())
        scored = [(row, 1.0 - row.pop("_distance")) for row in rows]
        return _sort_rows([(row, score) for row, score in scored if score == score])

    async def matching(
        self,
        group: str,
        kind: Kind,
        text: str,
        select: Sequence[str],
        *,
        where: str | None,
        limit: int,
    ) -> list[tuple[Row, float]]:
        """Rows by BM25 ≥ 0, descending, ties by uuid; the text must be ``searchable`` already, ``select`` has ``uuid``."""
        table = await self._open_table(group, kind)
        words = query_text(text)
        if table is None or where == sql.NOTHING or limit < 1 or not words:
            return []
        from lancedb.query import MatchQuery

        with translate_errors(f"searching words of {kind}"):
            query = table.query().nearest_to_text(MatchQuery(words, "text"))
            query = query.select([*select, "_score"]).limit(limit)
            rows = rows_of(await (query.where(where) if where else query).to_arrow())
        scored = [(row, row.pop("_score")) for row in rows]
        return _sort_rows([(row, score) for row, score in scored if score > 0])

    async def upsert(self, group: str, kind: Kind, rows: Sequence[Row]) -> None:
        """Insert or overwrite by uuid, as one version of the table."""
        if not rows:
            return
        table = await self._create_table(group, kind)
        with translate_errors(f"storing {len(rows)} {kind}"):
            await upsert(table, "uuid", _to_arrow(rows, table_schema=await table.schema()))
        await self._tidied_when_due(table, kind)

    async def replace(self, group: str, kind: Kind, rows: Sequence[Row], where: str) -> None:
        """Make the rows that match a predicate exactly the given ones: see ``replace_rows``."""
        table = (
            await self._create_table(group, kind)
            if rows
            else await self._open_table(group, kind, any_model=True)
        )
        if table is None:
            return
        with translate_errors(f"storing {len(rows)} {kind}"):
            await replace_rows(table, _to_arrow(rows, table_schema=await table.schema()), where)
        await self._tidied_when_due(table, kind)

    async def _tidied_when_due(self, table: Any, kind: Kind) -> None:
        await tidied_when_due(table, lambda: tidy_table(table, _plan(kind), kind), kind)

    async def delete(self, group: str, kind: Kind, where: str) -> None:
        table = await self._open_table(group, kind, any_model=True)
        if table is None or where == sql.NOTHING:
            return
        with translate_errors(f"deleting {kind}"):
            # A delete that matches nothing would still write a version, and versions slow searches.
            if await table.count_rows(where):
                await table.delete(where)

    async def optimize(self, group: str, *, purge: bool = False, builder: IndexBuilder = BUILT_HERE) -> None:
        """Compact, and index what pays to be indexed; the caller is ``writing``. ``purge``: see ``indexes.tidy_table``."""
        for kind in KINDS:
            table = await self._open_table(group, kind, any_model=True)
            if table is not None:
                await tidy_table(table, _plan(kind), kind, purge=purge, builder=builder)
        await self._manifests.drop_superseded(group, [table_name(group, kind) for kind in SEARCHABLE])

    @asynccontextmanager
    async def writing(
        self, groups: Collection[str], *, removing: Collection[str] = ()
    ) -> AsyncIterator[None]:
        """Held around a write to some groups, and removals from others; the tables stay in force meanwhile.

        Raises ``ManifestMismatch`` where the vectors of a group that is written to come from another model.
        """
        async with writing(self._connection.locks, {*groups, *removing}):
            for group in {*groups, *removing}:
                await self._manifests.generation_now(group, any_model=group not in groups)
            yield

    async def stats(self, group: str) -> StoreStats:
        """A table each kind that has one; of any model."""
        manifest = await self._manifests.stored_manifest(group)
        found = []
        for kind in KINDS:
            table = await self._open_table(group, kind, any_model=True)
            if table is not None:
                found.append(await table_stats(table, self._connection.uri, kind))
        if manifest is None:
            return StoreStats(None, None, None, tuple(found))
        return StoreStats(manifest.model, manifest.dimension, manifest.metric, tuple(found))

    def vector_tables(self, group: str) -> tuple[VectorTable, ...]:
        """For ``reindex``: the facts."""
        kind: Kind = "facts"
        made = schema(kind, dimension=self.dimension)

        def rows_of(rows: Sequence[Row], vectors: PassageVectors) -> pa.Table:
            return _to_arrow(
                [{**row, "vector": vector} for row, vector in zip(rows, vectors.vectors, strict=True)], made
            )

        facts = VectorTable(
            name=kind,
            base=table_name(group, kind),
            key="uuid",
            columns=columns(kind),
            measured_column="fact",
            schema=made,
            text=lambda row: str(row["fact"]),
            make_rows=rows_of,
            prepare=index_words,
            plan=_plan(kind),
        )
        return (facts,)

    async def _create_table(self, group: str, kind: Kind) -> Any:
        table = await self._open_table(group, kind)
        if table is not None:
            return table
        generation = await self._manifests.make(group)
        name = generation_name(table_name(group, kind), generation if kind in SEARCHABLE else 0)
        prepare = index_words if kind in SEARCHABLE else None
        return await self._connection.create_table(
            name, schema(kind, dimension=self.dimension), "uuid", prepare
        )


def _plan(kind: Kind) -> IndexPlan:
    from lancedb.index import BTree

    words = (PlannedIndex("text", full_text_index),) if kind in SEARCHABLE else ()
    keys = plan_indexes(INDEXED_COLUMNS[kind], BTree, INDEX_FROM)
    return IndexPlan((*words, *keys), VECTOR_INDEX_FROM if kind in SEARCHABLE else None)


def _sort_rows(scored_rows: list[tuple[Row, float]]) -> list[tuple[Row, float]]:
    return sorted(scored_rows, key=lambda pair: (-pair[1], pair[0]["uuid"]))


def _to_arrow(rows: Sequence[Row], table_schema: pa.Schema) -> pa.Table:
    """Rows as Arrow, one a uuid (the last), vectors without a detour through Python floats."""
    unique = list({row["uuid"]: row for row in rows}.values())
    arrays = []
    for field in table_schema:
        if field.name == "vector":
            vectors = np.array([row["vector"] for row in unique], dtype=np.float32)
            arrays.append(vector_array(vectors, table_schema))
        else:
            arrays.append(pa.array([row.get(field.name) for row in unique], type=field.type))
    return pa.Table.from_arrays(arrays, schema=table_schema)
