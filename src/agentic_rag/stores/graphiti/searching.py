"""One search through Graphiti's own ``search_``, and its results as hits with raw scores and chunks."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from agentic_rag.domain import FactHit
from agentic_rag.domain.identity import episode_uuid
from agentic_rag.domain.ports import FloatArray
from agentic_rag.errors import ManifestMismatch
from agentic_rag.stores.graph.link_index import LinkIndex
from agentic_rag.stores.graph.links import LinkReader
from agentic_rag.stores.graph.schemas import Row, Scope
from agentic_rag.stores.graph.tables import GraphTables
from agentic_rag.stores.graphiti.library import EDGE_HYBRID_SEARCH_RRF, EdgeSearchMethod
from agentic_rag.stores.graphiti.restriction import Recorder, as_of_filters
from agentic_rag.stores.graphiti.search_interface import searchable

_OF_HITS = ("uuid", "name", "fact", "episodes", "source_uuid", "target_uuid", "valid_at", "invalid_at")
"""Columns that hits are made from."""


class Searcher:
    """Facts for a query: full text and cosine by Graphiti's RRF."""

    def __init__(self, graphiti: Any, tables: GraphTables, links: LinkReader) -> None:
        self._graphiti = graphiti
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
        episodes = None
        if scope.within is not None:
            episodes = sorted(episode_uuid(scope.dataset, chunk) for chunk in scope.within)
        filters = as_of_filters(scope.as_of, episodes)
        dense = self._usable(vector)
        found = await self._graphiti.search_(
            text,
            config=_config(limit, dense=dense is not None),
            group_ids=[scope.group],
            search_filter=filters,
            query_vector=dense.tolist() if dense is not None else [0.0] * self._tables.dimension,
        )
        return await self._hits(scope, found.edges, filters.recorder, dense)

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
        self, scope: Scope, edges: Sequence[Any], recorder: Recorder, query_vector: FloatArray | None
    ) -> list[FactHit]:
        ids = [recorder.rows[one.uuid] for one in edges]
        rows = await self._tables.by_row_id(scope.group, "facts", ids, _OF_HITS, query_vector)
        facts = [rows[one.uuid] for one in edges if one.uuid in rows]
        ends = {row[end] for row in facts for end in ("source_uuid", "target_uuid")}
        episodes = {uuid for row in facts for uuid in row["episodes"]}
        index = await self._links.latest(scope.group)
        names, chunks = await asyncio.gather(
            self._names(scope, index, ends), self._chunks_of_episodes(scope, index, episodes)
        )
        return [_hit(rank, row, recorder.bm25, names, chunks) for rank, row in enumerate(facts, 1)]

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


def _config(limit: int, *, dense: bool) -> Any:
    """Graphiti's recipe for facts as a copy, for the shared one must not change."""
    config = EDGE_HYBRID_SEARCH_RRF.model_copy(deep=True)
    config.limit = limit
    config.edge_config.sim_min_score = 0.0
    if not dense:
        config.edge_config.search_methods = [EdgeSearchMethod.bm25]
    return config


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
