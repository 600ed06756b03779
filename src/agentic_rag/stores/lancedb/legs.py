"""The legs of a search on one LanceDB table, each alone or both at once."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from agentic_rag.domain import Chunk
from agentic_rag.domain.ports import FloatArray, ScoredChunk
from agentic_rag.stores.batch import first_by_score
from agentic_rag.stores.lancedb.full_text import searched
from agentic_rag.stores.lancedb.indexes import probes
from agentic_rag.stores.lancedb.rows import CHUNK_COLUMNS, unpacked, vectors_of

MIN_NEAREST = 30
"""Neighbours looked at by their whole vectors, however few are wanted."""
MIN_READ = 12
"""Rows of each leg that are read when both are asked at once, however few are wanted; a fifth more than are
wanted, where that is more. With all rows read nDCG@10 on hotpot, musique and 2wiki is not higher by more than .002."""

Ranked = Sequence[tuple[int, float]]
"""Row ids with a score, higher is better, best first."""


@dataclass(frozen=True, slots=True)
class Searched:
    """A table, and the SQL condition on what may be found in it."""

    table: Any
    where: str | None

    def nearest(self, vector: FloatArray, limit: int, columns: Sequence[str]) -> Any:
        """A LanceDB query for the nearest rows by cosine."""
        query = self.table.query().nearest_to(vector).distance_type("cosine").nprobes(probes(self.where))
        return self._limited(query, limit, [*columns, "_distance"])

    def matching(self, words: str, limit: int, columns: Sequence[str]) -> Any:
        """A LanceDB query for the best rows by BM25; ``words`` as ``full_text.searched`` gives them."""
        from lancedb.query import MatchQuery

        query = self.table.query().nearest_to_text(MatchQuery(words, "search_text"))
        return self._limited(query, limit, [*columns, "_score"])

    def _limited(self, query: Any, limit: int, columns: list[str]) -> Any:
        query = query.limit(limit).select(columns)
        return query.where(self.where) if self.where else query


async def dense_leg(of: Searched, vector: FloatArray, limit: int) -> list[ScoredChunk]:
    """Nearest chunks by cosine, descending, ties by id."""

    async def nearest(count: int) -> list[ScoredChunk]:
        found = await of.nearest(vector, max(count, MIN_NEAREST), [*CHUNK_COLUMNS, "vector"]).to_arrow()
        return _scored(found, _cosines(vectors_of(found), vector).tolist())

    return await first_by_score(nearest, limit)


async def sparse_leg(of: Searched, text: str, limit: int) -> list[ScoredChunk]:
    """Best chunks by BM25, descending, ties by id; [] for a text without a searchable term."""
    words = searched(text)
    if not words:
        return []

    async def matching(count: int) -> list[ScoredChunk]:
        found = await of.matching(words, count, [*CHUNK_COLUMNS, "vector"]).to_arrow()
        return [hit for hit in _scored(found, found["_score"].to_pylist()) if hit.score > 0]

    return await first_by_score(matching, limit)


async def both_legs(
    of: Searched, text: str, vector: FloatArray, limit: int, wanted: int
) -> tuple[list[ScoredChunk], list[ScoredChunk]]:
    """The two legs at once, of which only the promising rows are read: the first of each (see MIN_READ).

    Reading rows costs more than finding them. One that is read is known in both legs, with its rank in each.
    Row ids stay what they are when a table is compacted (see ``connection``), so what was found is what is read.
    """
    read_of_each = max(wanted + wanted // 5, MIN_READ)
    if read_of_each >= limit:
        return await _wholly(of, text, vector, limit)
    words = searched(text)
    nearest = of.nearest(vector, limit + 1, ["_rowid"]).to_arrow()
    matching = of.matching(words, limit + 1, ["_rowid"]).to_arrow() if words else _nothing()
    by_vector, by_words = await asyncio.gather(nearest, matching)
    dense = _pairs(by_vector, [1.0 - distance for distance in by_vector["_distance"].to_pylist()])
    sparse = [pair for pair in _pairs(by_words, by_words["_score"].to_pylist()) if pair[1] > 0]
    # Which rows of one score belong before the limit only their ids tell: where it cuts through some, they are
    # left out, or, where that leaves too few, each leg is searched to the end of them.
    shortened = [_before_ties(leg, limit) for leg in (dense, sparse)]
    if any(
        len(kept) < min(len(leg), read_of_each) for kept, leg in zip(shortened, (dense, sparse), strict=True)
    ):
        return await _wholly(of, text, vector, limit)
    dense, sparse = shortened
    front = _front(dense, read_of_each) | _front(sparse, read_of_each)
    rows = await _read(of.table, sorted(front), vector)
    exact = [(row, rows[row].cosine if row in rows else score) for row, score in dense]
    return _known(exact, rows), _known(sparse, rows)


async def _wholly(
    of: Searched, text: str, vector: FloatArray, limit: int
) -> tuple[list[ScoredChunk], list[ScoredChunk]]:
    """Both legs with every row they find."""
    return await asyncio.gather(dense_leg(of, vector, limit), sparse_leg(of, text, limit))


async def _read(table: Any, row_ids: list[int], asked: FloatArray) -> dict[int, _Row]:
    """The rows that are still there, each with its vector's cosine to the one that is asked for."""
    if not row_ids:
        return {}
    found = await table.take_row_ids(row_ids).select([*CHUNK_COLUMNS, "vector"]).with_row_id().to_arrow()
    vectors = vectors_of(found)
    chunks = map(unpacked, found["chunk"].to_pylist())
    rows = map(_Row, chunks, vectors, _cosines(vectors, asked).tolist())
    return dict(zip(found["_rowid"].to_pylist(), rows, strict=True))


@dataclass(slots=True)
class _Row:
    chunk: Chunk
    vector: FloatArray
    cosine: float


def _pairs(found: pa.Table, scores: list[float]) -> list[tuple[int, float]]:
    pairs = zip(found["_rowid"].to_pylist(), scores, strict=True)
    return sorted(pairs, key=lambda pair: (-pair[1], pair[0]))


def _before_ties(ranked: Ranked, limit: int) -> list[tuple[int, float]]:
    """The first ``limit`` rows without those that share a score with what lies beyond it."""
    if len(ranked) <= limit:
        return list(ranked)
    return [pair for pair in ranked[:limit] if pair[1] > ranked[limit][1]]


async def _nothing() -> pa.Table:
    return pa.table({"_rowid": pa.array([], pa.uint64()), "_score": pa.array([], pa.float32())})


def _front(ranked: Ranked, count: int) -> set[int]:
    """The first rows, and those that share the last one's score."""
    if len(ranked) <= count:
        return {row for row, _ in ranked}
    return {row for row, score in ranked if score >= ranked[count - 1][1]}


def _known(ranked: Ranked, rows: Mapping[int, _Row]) -> list[ScoredChunk]:
    """The rows that were read, in order, each with its rank among all that were found."""
    places = [(place, rows[row], score) for place, (row, score) in enumerate(ranked, start=1) if row in rows]
    ordered = sorted(places, key=lambda found: (-found[2], found[1].chunk.id))
    ranks = sorted(place for place, _, _ in places)
    return [
        ScoredChunk(row.chunk, score, row.vector, rank)
        for rank, (_, row, score) in zip(ranks, ordered, strict=True)
    ]


def _scored(found: pa.Table, scores: list[float]) -> list[ScoredChunk]:
    rows = zip(found["chunk"].to_pylist(), scores, vectors_of(found), strict=True)
    return [ScoredChunk(unpacked(chunk), score, vector) for chunk, score, vector in rows]


def _cosines(vectors: FloatArray, asked: FloatArray) -> FloatArray:
    """An index compares shortened vectors; these are of the whole ones, each row by itself, so that equal
    rows have equal cosines."""
    cosines: FloatArray = np.sum(vectors * asked, axis=1)
    return cosines
