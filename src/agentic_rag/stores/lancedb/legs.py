"""The legs of a search on one LanceDB table."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from agentic_rag.domain.ports import FloatArray, ScoredChunk
from agentic_rag.stores.batch import first_by_score
from agentic_rag.stores.lancedb.chunk_rows import ChunkRows, Values
from agentic_rag.stores.lancedb.full_text import query_text
from agentic_rag.stores.lancedb.indexes import probes
from agentic_rag.stores.lancedb.rows import CHUNK, VECTOR, stored_vectors, unpack_chunk

MIN_NEAREST = 30
"""Neighbours looked at by their whole vectors, however few are wanted."""
_COLUMNS = [CHUNK, VECTOR]


@dataclass(frozen=True, slots=True)
class SearchScope:
    """A table, its rows, and the SQL condition on what may be found in it."""

    table: Any
    rows: ChunkRows
    where: str | None

    async def nearest(self, vector: FloatArray, limit: int) -> list[tuple[Values, float]]:
        """The nearest chunks by cosine, each with its distance."""
        query = self.table.query().nearest_to(vector).distance_type("cosine").nprobes(probes(self.where))
        return await self._read(query, limit, "_distance")

    async def matching(self, words: str, limit: int) -> list[tuple[Values, float]]:
        """The best chunks by BM25, each with its score; ``words`` as ``full_text.query_text`` gives them."""
        from lancedb.query import MatchQuery

        query = self.table.query().nearest_to_text(MatchQuery(words, "search_text"))
        return await self._read(query, limit, "_score")

    async def _read(self, query: Any, limit: int, measure: str) -> list[tuple[Values, float]]:
        query = query.limit(limit)
        query = query.where(self.where) if self.where else query
        return await self.rows.of_query(self.table, query, _COLUMNS, measure)


async def dense_leg(of: SearchScope, vector: FloatArray, limit: int) -> list[ScoredChunk]:
    """Nearest chunks by cosine, descending, ties by id."""

    async def nearest(count: int) -> list[ScoredChunk]:
        found = await of.nearest(vector, max(count, MIN_NEAREST))
        return await asyncio.to_thread(_scored_chunks, found, vector)

    return await first_by_score(nearest, limit)


async def sparse_leg(of: SearchScope, text: str, limit: int) -> list[ScoredChunk]:
    """Best chunks by BM25, descending, ties by id; [] for a text without a searchable term."""
    words = query_text(text)
    if not words:
        return []

    async def matching(count: int) -> list[ScoredChunk]:
        found = await of.matching(words, count)
        hits = await asyncio.to_thread(_scored_chunks, found)
        return [hit for hit in hits if hit.score > 0]

    return await first_by_score(matching, limit)


def _scored_chunks(
    rows: Sequence[tuple[Values, float]], query_vector: FloatArray | None = None
) -> list[ScoredChunk]:
    """Args:
    rows: chunk and vector of each row, and its score.
    query_vector: the score is its cosine with the row's whole vector instead; an index compares shortened ones.
    """
    if not rows:
        return []
    vectors = stored_vectors([vector for (_, vector), _ in rows])
    scores = [score for _, score in rows]
    if query_vector is not None:  # each row by itself, so that equal rows have equal cosines
        scores = np.sum(vectors * query_vector, axis=1).tolist()
    chunks = [unpack_chunk(chunk) for (chunk, _), _ in rows]
    return [ScoredChunk(*one) for one in zip(chunks, scores, vectors, strict=True)]
