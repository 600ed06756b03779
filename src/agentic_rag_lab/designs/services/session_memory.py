"""Services ``graph_memory`` and ``agentic_memory``: sessions in both stores, searched by turn.

``graph_memory`` searches by the knowledge graph's own search, ``agentic_memory`` by the whole retrieval graph, with
both sources fused and reranked.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from pydantic import Field

from agentic_rag.channels import in_full
from agentic_rag.domain.filters import Comparison
from agentic_rag.domain.identity import dataset_name
from agentic_rag.domain.odds import log_odds, probability
from agentic_rag.domain.ports import FloatArray
from agentic_rag.errors import (
    AllSourcesFailed,
    ConfigError,
    ModelError,
    StoreError,
    UnknownDataset,
    UnknownOperation,
)
from agentic_rag.fusion.strategy_selector import parse_operation
from agentic_rag.ingest.documents import DocumentWriter
from agentic_rag.retrieval.ports import SourceQuery
from agentic_rag_lab.designs.memory import Memory
from agentic_rag_lab.designs.services.entries import Entries, WriteBehind, checked_top_k, memory_of
from agentic_rag_lab.designs.services.parts import RankedSettings, ServiceParts
from agentic_rag_lab.designs.services.sessions import SessionDocuments, SharedEntities

NAME = "agentic_memory"
MAX_TOP_K = 1000
"""Maximum results of the retrieval graph."""

SCORE_DIGITS = 9
"""Digits of scores; smaller differences come from the order of floating-point sums."""
TURNS_PER_ENTRY = 4
"""Factor on the turns requested, because several of the best may belong to one memory."""


SearchOutcome = tuple[Sequence[tuple[object, float]], bool]
"""Result of a search: turns, each as the ``dia_id`` in the chunk's metadata (None without a turn) and its score; and
whether a larger limit might find more."""
TurnSearch = Callable[[str, int, Comparison | None], Awaitable[SearchOutcome]]
"""Finds about this number of turns of a namespace for a question, restricted by metadata; raises ``StoreError`` or
``ModelError``."""


class SessionMemory:
    """``MemoryService`` whose entries are turns of documents, one document per session (see ``sessions``).

    A memory is returned whole, ranked by its best turn, with that turn's score. Writes are deferred (see
    ``WriteBehind``): a session that has grown is stored again, and its old turns keep their vectors. A text of
    only white space is kept, but never found. Given vectors are not used: each turn has its own.
    """

    def __init__(self, parts: ServiceParts, search: TurnSearch, topk: int) -> None:
        self._namespace = dataset_name(parts.namespace)
        self._chunks = parts.chunks
        self._writer = DocumentWriter(parts.chunks, parts.knowledge, parts.embedding, parts.count_tokens)
        self._search = search
        self._topk = topk
        self._entries = Entries()
        self._sessions = SessionDocuments(self._namespace)
        self._shared_entities = SharedEntities()
        self._behind = WriteBehind(self._clear, self._write)

    async def insert(
        self, text: str, vector: FloatArray | None = None, metadata: Mapping[str, Any] | None = None
    ) -> str:
        """Remember a text; it is stored before the next search."""
        entry = self._entries.add(text, metadata)
        changed = self._sessions.add(entry)
        if changed is not None:
            self._behind.note(changed)
        return entry.id

    async def retrieve(
        self,
        query: str | None = None,
        vector: FloatArray | None = None,
        metadata: Mapping[str, Any] | None = None,
        *,
        top_k: int | None = None,
    ) -> list[Memory]:
        """Memories by their best turn's score, then entry id; [] without a text query."""
        wanted = checked_top_k(top_k, self._topk)
        await self._behind.flush()
        matching = self._entries.matching(metadata)
        turns = self._sessions.turns_of(entry.id for entry in matching)
        if query is None or not query.strip() or not turns:
            return []
        among = Comparison("dia_id", "$in", tuple(turns)) if len(turns) < len(self._sessions) else None
        best = await self._best(query, among, frozenset(entry.id for entry in matching), wanted)
        ordered = sorted(matching, key=lambda entry: (-best.get(entry.id, -math.inf), entry.id))
        return [memory_of(entry, best[entry.id]) for entry in ordered[:wanted] if entry.id in best]

    async def delete(self, entry_id: str) -> bool:
        """Raises ``StoreError`` or ``ModelError`` if earlier inserts cannot be written."""
        await self._behind.flush()
        if self._entries.pop(entry_id, None) is None:
            return False
        changed = self._sessions.remove(entry_id)
        if changed is not None:
            self._behind.note(changed)
        return True

    async def neighbours(self, entry_id: str, *, top_k: int | None = None) -> list[Memory]:
        """Memories that mention the same things; see ``SharedEntities`` for the strength of a link."""
        wanted = checked_top_k(top_k, self._topk)
        await self._behind.flush()
        linked = await asyncio.to_thread(self._shared_entities.linked_entries, entry_id, len(self._entries))
        held = [(self._entries.get(other), strength) for other, strength in linked]
        return [memory_of(entry, strength) for entry, strength in held if entry is not None][:wanted]

    async def close(self) -> None:
        """Write pending changes."""
        await self._behind.flush()

    async def _best(
        self, query: str, among: Comparison | None, entry_ids: frozenset[str], count: int
    ) -> dict[str, float]:
        """The best turn's score of each memory found; more than ``count``, or all there are."""
        limit = TURNS_PER_ENTRY * count
        while True:
            turns, more = await self._search(query, limit, among)
            best: dict[str, float] = {}
            for dia_id, given in turns:
                entry_id = self._sessions.entry_of(dia_id)
                if entry_id in entry_ids:
                    score = round(given, SCORE_DIGITS)
                    best[entry_id] = max(score, best.get(entry_id, score))
            if len(best) >= count or not more:
                return best
            limit *= TURNS_PER_ENTRY

    async def _clear(self) -> None:
        await self._writer.remove(self._namespace, sorted(await self._chunks.document_ids(self._namespace)))

    async def _write(self, document_ids: Sequence[str]) -> None:
        made = {document_id: self._sessions.document(document_id) for document_id in document_ids}
        gone = [document_id for document_id, document in made.items() if document is None]
        await self._writer.remove(self._namespace, gone)
        held = [document for document in made.values() if document is not None]
        graphs = await self._writer.replace(self._namespace, held)
        for document_id in gone:
            self._shared_entities.remove(document_id)
        for graph in graphs:
            entries = (
                (chunk.id, self._sessions.entry_of(chunk.metadata.get("dia_id"))) for chunk in graph.chunks
            )
            self._shared_entities.replace(
                graph, {chunk: entry for chunk, entry in entries if entry is not None}
            )


def build_graph_memory(settings: RankedSettings, parts: ServiceParts) -> SessionMemory:
    """Searches turns by relevance in [0, 1]: that of the passage, raised if the walk visits it."""

    async def search(query: str, limit: int, among: Comparison | None) -> SearchOutcome:
        found, nearest = await asyncio.gather(
            parts.graph_engine.find(SourceQuery(parts.namespace, query, filters=among), limit),
            parts.graph_engine.nearest(parts.namespace, query, limit=limit, filters=among),
        )
        told = {chunk.id: (chunk.metadata.get("dia_id"), score) for chunk, score in nearest}
        for hit in found.hits:
            own = told.get(hit["id"], (None, 0.0))[1]
            walked = max(0.0, log_odds(hit["score"] or 0.0))
            told[hit["id"]] = hit["metadata"].get("dia_id"), probability(log_odds(own) + walked)
        best = sorted(told.items(), key=lambda entry: (-entry[1][1], entry[0]))[:limit]
        return [turn for _, turn in best], len(told) >= limit

    return SessionMemory(parts, search, settings.topk)


class AgenticMemorySettings(RankedSettings):
    operation: str = Field("document_retrieval", description="canvas operation, which selects the fusion")


def build_agentic_memory(settings: AgenticMemorySettings, parts: ServiceParts) -> SessionMemory:
    """Returns turns in the order of the graph's rerank, with its score; with the fused score without a rerank.

    A memory service cannot report a partial failure, so a failed source is an error here.
    """
    try:
        operation = parse_operation(settings.operation).value
    except UnknownOperation as error:
        raise ConfigError(f"services.{NAME}.operation: {error}") from error

    async def search(query: str, limit: int, among: Comparison | None) -> SearchOutcome:
        asked: dict[str, Any] = {
            "query": query,
            "operation": operation,
            "dataset": parts.namespace,
            "top_k": min(limit, MAX_TOP_K),
        }
        if among is not None:
            asked["filters"] = {among.key: {among.operator: among.value}}
        try:
            state = await parts.ask.ainvoke(asked)
        except AllSourcesFailed as error:
            raise StoreError(f"{NAME}: {error}") from error
        except UnknownDataset as error:
            raise StoreError(
                f"{NAME} has written {parts.namespace!r}, but the ask graph does not know it; "
                "build the graph on ServiceParts.chunks and ServiceParts.knowledge"
            ) from error
        _check(state)
        return _turns(in_full(state["reranked_results"])), False

    return SessionMemory(parts, search, settings.topk)


def _check(state: Mapping[str, Any]) -> None:
    outcomes = {**state.get("outcomes", {}), "rerank": state.get("rerank_outcome")}
    failed = {
        name: outcome["reason"]
        for name, outcome in sorted(outcomes.items())
        if isinstance(outcome, Mapping) and outcome.get("status") == "degraded"
    }
    if failed:
        told = "; ".join(f"{name}: {reason}" for name, reason in failed.items())
        kind = ModelError if failed.keys() == {"rerank"} else StoreError
        raise kind(f"{NAME} was searched in part only ({told}); mend what failed and ask again")


def _turns(results: list[dict[str, Any]]) -> list[tuple[object, float]]:
    reranked = [result for result in results if result.get("rerank_score") is not None]
    key = "rerank_score" if reranked else "fused_score"
    # Results beyond the rerank's depth have only fused scores, which are on another scale.
    return [(result["metadata"].get("dia_id"), result[key]) for result in reranked or results]
