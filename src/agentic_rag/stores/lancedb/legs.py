"""The legs of a search on one LanceDB table."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from agentic_rag.domain.ports import FloatArray, ScoredChunk
from agentic_rag.stores.batch import first_by_score
from agentic_rag.stores.lancedb.full_text import query_text
from agentic_rag.stores.lancedb.indexes import probes
from agentic_rag.stores.lancedb.rows import CHUNK_COLUMNS, unpack_chunk, vectors_of

MIN_NEAREST = 30
"""Neighbours looked at by their whole vectors, however few are wanted."""


@dataclass(frozen=True, slots=True)
class SearchScope:
    """A table, and the SQL condition on what may be found in it."""

    table: Any
    where: str | None

    async def nearest(self, vector: FloatArray, limit: int) -> pa.Table:
        """The nearest chunks by cosine."""
        query = self.table.query().nearest_to(vector).distance_type("cosine").nprobes(probes(self.where))
        return await self._read(query, limit, "_distance")

    async def matching(self, words: str, limit: int) -> pa.Table:
        """The best chunks by BM25; ``words`` as ``full_text.query_text`` gives them."""
        from lancedb.query import MatchQuery

        query = self.table.query().nearest_to_text(MatchQuery(words, "search_text"))
        return await self._read(query, limit, "_score")

    async def _read(self, query: Any, limit: int, measure_column: str) -> pa.Table:
        query = query.limit(limit).select([*CHUNK_COLUMNS, "vector", measure_column])
        return await (query.where(self.where) if self.where else query).to_arrow()


async def dense_leg(of: SearchScope, vector: FloatArray, limit: int) -> list[ScoredChunk]:
    """Nearest chunks by cosine, descending, ties by id."""

    async def nearest(count: int) -> list[ScoredChunk]:
        found = await of.nearest(vector, max(count, MIN_NEAREST))
        cosines = _cosines(vectors_of(found), vector).tolist()
        return await asyncio.to_thread(_scored_chunks, found, cosines)

    return await first_by_score(nearest, limit)


async def sparse_leg(of: SearchScope, text: str, limit: int) -> list[ScoredChunk]:
    """Best chunks by BM25, descending, ties by id; [] for a text without a searchable term."""
    words = query_text(text)
    if not words:
        return []

    async def matching(count: int) -> list[ScoredChunk]:
        found = await of.matching(words, count)
        hits = await asyncio.to_thread(_scored_chunks, found, found["_score"].to_pylist())
        return [hit for hit in hits if hit.score > 0]

    return await first_by_score(matching, limit)


def _scored_chunks(table: pa.Table, scores: list[float]) -> list[ScoredChunk]:
    rows = zip(table["chunk"].to_pylist(), scores, vectors_of(table), strict=True)
    return [ScoredChunk(unpack_chunk(chunk), score, vector) for chunk, score, vector in rows]


def _cosines(vectors: FloatArray, query_vector: FloatArray) -> FloatArray:
    """An index compares shortened vectors; these are of the whole ones, each row by itself, so that equal
    rows have equal cosines."""
    cosines: FloatArray = np.sum(vectors * query_vector, axis=1)
    return cosines
