"""The search for facts: full text and cosine over the tables, merged by reciprocal ranks."""

from __future__ import annotations

import asyncio
import unicodedata
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from agentic_rag.domain import FactHit
from agentic_rag.domain.identity import episode_uuid
from agentic_rag.domain.ports import FloatArray
from agentic_rag.errors import ManifestMismatch
from agentic_rag.stores.graph import sql
from agentic_rag.stores.graph.link_index import LinkIndex
from agentic_rag.stores.graph.links import LinkReader
from agentic_rag.stores.graph.schemas import Row, Scope
from agentic_rag.stores.graph.tables import GraphTables
from agentic_rag.stores.lancedb.sql import not_after, timestamp

MAX_WORDS = 60
"""Graphiti drops the full-text leg beyond 63 words on one backend and 128 on another."""
MAX_CHARACTERS = 600
"""Bounds scripts that put no space between words."""
_OF_LEGS = ("uuid", "_rowid")
"""Columns that a leg reads of the facts it finds; reading costs more than searching, so the best rows are read afterwards."""
_OF_HITS = ("uuid", "name", "fact", "episodes", "source_uuid", "target_uuid", "valid_at", "invalid_at")
"""Columns that hits are made from."""

ScoredRows = list[tuple[Row, float]]


class Searcher:
    """Facts for a query, in the order of Graphiti's recipe ``EDGE_HYBRID_SEARCH_RRF`` on the same tables."""

    def __init__(self, tables: GraphTables, links: LinkReader) -> None:
        self._tables = tables
        self._links = links

    async def search(
        self,
        scope: Scope,
        query: str,
        vector: FloatArray,
        *,
        limit: int,
    ) -> list[FactHit]:
        """See ``ports.GraphStore.search``."""
        text = searchable(query)
        if not text or limit < 1 or not await self._tables.exists(scope.group):
            return []
        dense, where = self._usable(vector), _visible(scope)
        words, near = await asyncio.gather(
            self._tables.matching(scope.group, "facts", text, _OF_LEGS, where=where, limit=2 * limit),
            self._nearest(scope.group, dense, where, 2 * limit),
        )
        rows = {row["uuid"]: row["_rowid"] for row, _ in (*words, *near)}
        best = _by_reciprocal_ranks([row["uuid"] for row, _ in leg] for leg in (words, near))[:limit]
        bm25 = {row["uuid"]: score for row, score in words}
        return await self._hits(scope, {uuid: rows[uuid] for uuid in best}, bm25, dense)

    async def _nearest(
        self, group: str, vector: FloatArray | None, where: str | None, limit: int
    ) -> ScoredRows:
        if vector is None:
            return []
        found = await self._tables.nearest(group, "facts", vector, _OF_LEGS, where=where, limit=limit)
        return [(row, cosine) for row, cosine in found if cosine > 0]

    def _usable(self, vector: FloatArray) -> FloatArray | None:
        """The query's unit vector; None for a zero vector."""
        flat = np.asarray(vector, dtype=np.float32).reshape(-1)
        if flat.shape != (self._tables.dimension,):
            raise ManifestMismatch(
                f"the query vector has {flat.shape[0]} dimensions, the graph holds {self._tables.dimension}; "
                "search with the model it was made with"
            )
        if not np.isfinite(flat).all() or not flat.any():
            return None
        unit: FloatArray = flat / np.linalg.norm(flat)
        return unit

    async def _hits(
        self, scope: Scope, row_ids: Mapping[str, int], bm25: Mapping[str, float], vector: FloatArray | None
    ) -> list[FactHit]:
        """``row_ids``: of the facts by uuid, the best first."""
        rows = await self._tables.by_row_id(scope.group, "facts", list(row_ids.values()), _OF_HITS, vector)
        facts = [rows[uuid] for uuid in row_ids if uuid in rows]
        ends = {row[end] for row in facts for end in ("source_uuid", "target_uuid")}
        episodes = {uuid for row in facts for uuid in row["episodes"]}
        index = await self._links.latest(scope.group)
        names, chunks = await asyncio.gather(
            self._names(scope, index, ends), self._chunks_of_episodes(scope, index, episodes)
        )
        return [_hit(rank, row, bm25, names, chunks) for rank, row in enumerate(facts, 1)]

    # What the links in memory do not know, as episodes that are no chunks, is looked up.

    async def _names(self, scope: Scope, index: LinkIndex, entities: set[str]) -> dict[str, str]:
        names = await asyncio.to_thread(index.names, entities)
        rows = await self._tables.select_in(
            scope.group, "entities", "uuid", entities - names.keys(), ["uuid", "name"]
        )
        return names | {row["uuid"]: row["name"] for row in rows}

    async def _chunks_of_episodes(self, scope: Scope, index: LinkIndex, episodes: set[str]) -> dict[str, str]:
        chunks = await asyncio.to_thread(index.chunks_of_episodes, episodes)
        rows = await self._tables.select_in(
            scope.group, "episodes", "uuid", episodes - chunks.keys(), ["uuid", "chunk_id", "chunk_date"]
        )
        chunks |= {row["uuid"]: (row["chunk_id"], row["chunk_date"]) for row in rows}
        return {uuid: chunk for uuid, (chunk, date) in chunks.items() if scope.allows(chunk, date)}


def searchable(query: str) -> str:
    """The query without control characters and surrogates, at most 60 words; may be empty."""
    printable = "".join(" " if unicodedata.category(c)[0] == "C" else c for c in query[: 20 * MAX_CHARACTERS])
    words = unicodedata.normalize("NFKC", printable).split()[:MAX_WORDS]
    return " ".join(words)[:MAX_CHARACTERS].strip()


def _visible(scope: Scope) -> str | None:
    """The predicate on the facts that a search may return; None allows all. A missing date or bound is open."""
    conditions = []
    if scope.as_of is not None:
        conditions += [not_after("valid_at", scope.as_of), not_after("chunk_date", scope.as_of)]
        conditions.append(f"(invalid_at IS NULL OR invalid_at > {timestamp(scope.as_of)})")
    if scope.within is not None:
        episodes = sorted(episode_uuid(scope.dataset, chunk) for chunk in scope.within)
        conditions.append(sql.has_any("episodes", episodes))
    return sql.every(conditions)


def _by_reciprocal_ranks(rankings: Iterable[Sequence[str]]) -> list[str]:
    """All members by the sum of 1 / rank, descending; those of equal sums in the order in which they first come."""
    sums: dict[str, float] = {}
    for ranking in rankings:
        for rank, one in enumerate(ranking, 1):
            sums[one] = sums.get(one, 0.0) + 1 / rank
    return sorted(sums, key=lambda one: -sums[one])


def _hit(
    rank: int, row: Row, bm25: Mapping[str, float], names: Mapping[str, str], chunks: Mapping[str, str]
) -> FactHit:
    return FactHit(
        id=row["uuid"],
        name=row["name"],
        text=row["fact"],
        rank=rank,
        cosine=row.get("cosine"),
        bm25=bm25.get(row["uuid"]),
        chunk_ids=tuple(sorted({chunks[uuid] for uuid in row["episodes"] if uuid in chunks})),
        source_name=names.get(row["source_uuid"]),
        target_name=names.get(row["target_uuid"]),
        valid_at=row["valid_at"],
        invalid_at=row["invalid_at"],
    )
