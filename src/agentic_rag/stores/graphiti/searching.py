"""One search through Graphiti's own ``search_``, and its results as hits with raw scores and chunks."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from itertools import islice
from typing import Any

import numpy as np

from agentic_rag.domain import GraphHit, GraphKind
from agentic_rag.domain.identity import episode_uuid
from agentic_rag.domain.ports import FloatArray
from agentic_rag.errors import ManifestMismatch
from agentic_rag.stores.graph.link_index import LinkIndex
from agentic_rag.stores.graph.links import LinkReader
from agentic_rag.stores.graph.schemas import Kind, Row, Scope
from agentic_rag.stores.graph.tables import GraphTables
from agentic_rag.stores.graphiti.library import (
    COMBINED_HYBRID_SEARCH_RRF,
    EdgeSearchMethod,
    NodeSearchMethod,
)
from agentic_rag.stores.graphiti.restriction import Recorder, as_of_filters
from agentic_rag.stores.graphiti.search_interface import searchable

_OF_HITS: Mapping[Kind, tuple[str, ...]] = {
    "facts": (
        "uuid", "name", "fact", "episodes", "source_uuid", "target_uuid", "valid_at", "invalid_at",
    ),
    "entities": ("uuid", "name", "summary"),
    "episodes": ("uuid", "name", "content", "metadata"),
}  # fmt: skip
"""Columns that hits are made from."""
MAX_ENTITY_CHUNKS = 50
"""Chunks an entity's hit names, the first in id order; a tag on every note would name them all."""


class Searcher:
    """Facts, entities and episodes for a query: full text and cosine by Graphiti's RRF, episodes by full text."""

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
        kinds: Collection[GraphKind],
    ) -> list[GraphHit]:
        """Hits by kind (facts, entities, episodes), each ranked from 1; see ``ports.GraphStore.search``."""
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
            config=_config(limit, kinds, dense=dense is not None),
            group_ids=[scope.group],
            search_filter=filters,
            query_vector=dense.tolist() if dense is not None else [0.0] * self._tables.dimension,
        )
        return await self._hits(scope, found, filters.recorder, dense)

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
        self, scope: Scope, search_results: Any, recorder: Recorder, query_vector: FloatArray | None
    ) -> list[GraphHit]:
        async def read(kind: Kind, objects: Sequence[Any], vector: FloatArray | None) -> list[Row]:
            """The rows of the found objects, in order."""
            ids = [recorder.rows[one.uuid] for one in objects]
            rows = await self._tables.by_row_id(scope.group, kind, ids, _OF_HITS[kind], vector)
            return [rows[one.uuid] for one in objects if one.uuid in rows]

        facts, entities, of_search = await asyncio.gather(
            read("facts", search_results.edges, query_vector),
            read("entities", search_results.nodes, query_vector),
            read("episodes", search_results.episodes, None),
        )
        ends = {row[end] for row in facts for end in ("source_uuid", "target_uuid")}
        episodes = {uuid for row in facts for uuid in row["episodes"]}
        index = await self._links.latest(scope.group)
        names, of_episodes, of_entities = await asyncio.gather(
            self._names(scope, index, ends),
            self._chunks_of_episodes(scope, index, episodes),
            self._chunks_of_entities(scope, index, {row["uuid"] for row in entities}),
        )
        bm25 = recorder.bm25
        return [
            *(_fact(rank, row, bm25, names, of_episodes) for rank, row in enumerate(facts, 1)),
            *(_entity(rank, row, bm25, of_entities) for rank, row in enumerate(entities, 1)),
            *(_episode(rank, row, bm25) for rank, row in enumerate(of_search, 1)),
        ]

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

    async def _chunks_of_entities(
        self, scope: Scope, index: LinkIndex, entities: set[str]
    ) -> dict[str, list[str]]:
        """The first MAX_ENTITY_CHUNKS chunks, by id, with mentions or facts of the entity."""
        found = await asyncio.to_thread(_known_chunks, scope, index, entities)
        unknown = entities - found.keys()
        sources: list[tuple[Kind, str, str]] = [
            ("mentions", "target_uuid", "chunk_id"),
            ("facts", "source_uuid", "chunk_ids"),
            ("facts", "target_uuid", "chunk_ids"),
        ]
        parts = await asyncio.gather(
            *(
                self._tables.select_in(scope.group, kind, end, unknown, [end, named, "chunk_date"])
                for kind, end, named in sources
            )
        )
        read: dict[str, set[str]] = {}
        for (_, end, named), rows in zip(sources, parts, strict=True):
            for row in rows:
                held = row[named] if isinstance(row[named], list) else [row[named]]
                allowed = (chunk for chunk in held if scope.allows(chunk, row["chunk_date"]))
                read.setdefault(row[end], set()).update(allowed)
        return found | {uuid: sorted(chunks)[:MAX_ENTITY_CHUNKS] for uuid, chunks in read.items()}


def _known_chunks(scope: Scope, index: LinkIndex, entities: set[str]) -> dict[str, list[str]]:
    """The first MAX_ENTITY_CHUNKS allowed chunks of each entity that the links know, by id."""
    return {
        uuid: list(islice((chunk for chunk, date in dated if scope.allows(chunk, date)), MAX_ENTITY_CHUNKS))
        for uuid, dated in index.chunks_of_entities(entities).items()
    }


def _config(limit: int, kinds: Collection[GraphKind], *, dense: bool) -> Any:
    """Graphiti's combined recipe as a copy, for the shared one must not change; no communities."""
    config = COMBINED_HYBRID_SEARCH_RRF.model_copy(deep=True)
    config.limit = limit
    config.community_config = None
    config.edge_config = config.edge_config if "edge" in kinds else None
    config.node_config = config.node_config if "node" in kinds else None
    config.episode_config = config.episode_config if "episode" in kinds else None
    if config.edge_config is not None:
        config.edge_config.sim_min_score = 0.0
        if not dense:
            config.edge_config.search_methods = [EdgeSearchMethod.bm25]
    if config.node_config is not None:
        config.node_config.sim_min_score = 0.0
        if not dense:
            config.node_config.search_methods = [NodeSearchMethod.bm25]
    return config


def _fact(
    rank: int, row: Row, bm25: Mapping[str, float], names: Mapping[str, str], chunks: Mapping[str, str]
) -> GraphHit:
    return GraphHit(
        kind="edge",
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


def _entity(rank: int, row: Row, bm25: Mapping[str, float], chunks: Mapping[str, list[str]]) -> GraphHit:
    return GraphHit(
        kind="node",
        id=row["uuid"],
        name=row["name"],
        text=row["summary"] or row["name"],
        rank=rank,
        cosine=row.get("cosine"),
        bm25=bm25.get(row["uuid"]),
        chunk_ids=tuple(chunks.get(row["uuid"], ())),
    )


def _episode(rank: int, row: Row, bm25: Mapping[str, float]) -> GraphHit:
    metadata = json.loads(row["metadata"]) if row["metadata"] else {}
    date = metadata.get("date")
    return GraphHit(
        kind="episode",
        id=row["uuid"],
        name=row["name"],
        text=row["content"],
        rank=rank,
        cosine=None,
        bm25=bm25.get(row["uuid"]),
        chunk_ids=(row["name"],) if "document_id" in metadata else (),
        valid_at=datetime.fromisoformat(date) if date else None,
    )
