"""Service ``graph_memory``: turns as episodes of the knowledge graph, retrieved by the graph's own search."""

from __future__ import annotations

from pydantic import Field

from agentic_rag.filters import Comparison
from agentic_rag.memory.service import DEFAULT_TOP_K
from agentic_rag.memory.services.parts import ServiceParts, needed
from agentic_rag.memory.services.session_memory import Found, FoundTurn, SessionMemory
from agentic_rag.parameters import Section
from agentic_rag.retrieval.graph_engine import GraphEngine

NAME = "graph_memory"


class Settings(Section):
    topk: int = Field(DEFAULT_TOP_K, ge=1, description="memories given back where a call does not say")


class GraphSearch:
    """Turns by the graph's relevance in [0, 1]."""

    def __init__(self, engine: GraphEngine, namespace: str) -> None:
        self._engine = engine
        self._namespace = namespace

    async def __call__(self, query: str, *, limit: int, among: Comparison | None) -> Found:
        hits = await self._engine.search(self._namespace, query, limit=limit, filters=among)
        scored = [(hit["metadata"].get("dia_id"), hit["score"]) for hit in hits]
        turns = [FoundTurn(dia_id, 0.0 if score is None else score) for dia_id, score in scored]
        return Found(turns, more=len(hits) >= limit)


def build(settings: Settings, parts: ServiceParts) -> SessionMemory:
    search = GraphSearch(needed(parts.graph_engine, NAME, "graph_engine"), parts.namespace)
    return SessionMemory(parts, NAME, search, settings.topk)
