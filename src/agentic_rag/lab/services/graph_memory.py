"""Service ``graph_memory``: turns as episodes of the knowledge graph, retrieved by the graph's own search."""

from __future__ import annotations

import asyncio

from pydantic import Field

from agentic_rag.domain.filters import Comparison
from agentic_rag.domain.memory import DEFAULT_TOP_K
from agentic_rag.domain.odds import log_odds, probability
from agentic_rag.lab.services.parts import ServiceParts, needed
from agentic_rag.lab.services.session_memory import Found, FoundTurn, SessionMemory
from agentic_rag.retrieval.graph_engine import GraphEngine
from agentic_rag.settings.parameters import Section

NAME = "graph_memory"


class GraphMemorySettings(Section):
    topk: int = Field(DEFAULT_TOP_K, ge=1, description="memories given back where a call does not say")


class GraphTurnSearch:
    """Turns by relevance in [0, 1]: the passage's own, and more where the walk comes by."""

    def __init__(self, engine: GraphEngine, namespace: str) -> None:
        self._engine = engine
        self._namespace = namespace

    async def __call__(self, query: str, *, limit: int, among: Comparison | None) -> Found:
        found, nearest = await asyncio.gather(
            self._engine.find(self._namespace, query, limit=limit, filters=among),
            self._engine.nearest(self._namespace, query, limit=limit, filters=among),
        )
        told = {chunk.id: (chunk.metadata.get("dia_id"), score) for chunk, score in nearest}
        for hit in found.hits:
            own = told.get(hit["id"], (None, 0.0))[1]
            walked = max(0.0, log_odds(hit["score"] or 0.0))
            told[hit["id"]] = hit["metadata"].get("dia_id"), probability(log_odds(own) + walked)
        best = sorted(told.items(), key=lambda entry: (-entry[1][1], entry[0]))[:limit]
        return Found([FoundTurn(*turn) for _, turn in best], more=len(told) >= limit)


def build(settings: GraphMemorySettings, parts: ServiceParts) -> SessionMemory:
    search = GraphTurnSearch(needed(parts.graph_engine, NAME, "graph_engine"), parts.namespace)
    return SessionMemory(parts, NAME, search, settings.topk)
