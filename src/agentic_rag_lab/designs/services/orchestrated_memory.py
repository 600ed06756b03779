"""Service ``orchestrated_memory``: the product's memory agents; remembers every turn, asks all agents together."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from agentic_rag.domain.ports import FloatArray
from agentic_rag.errors import ConfigError, StoreError
from agentic_rag.memory.memories import Memories
from agentic_rag.notes.values import valid_unicode
from agentic_rag_lab.designs.memory import Memory
from agentic_rag_lab.designs.post_retrieval.items import turns_of
from agentic_rag_lab.designs.services.entries import Entries, checked_top_k, memory_of
from agentic_rag_lab.designs.services.parts import RankedSettings, ServiceParts
from agentic_rag_lab.sources.locomo import parse_session_date

NAME = "orchestrated_memory"
TURNS_PER_ENTRY = 3
"""Factor on the memories requested, because several of the best may belong to one entry."""
MAX_TOP_K = 1000
_ENTRY = "entry"


class OrchestratedMemory:
    """``MemoryService`` that remembers the turns of its entries as those of a user with the namespace as id.

    An entry is returned whole, ranked by its best turn. Vectors are not used.
    """

    def __init__(self, memories: Memories, namespace: str, topk: int) -> None:
        self._memories = memories
        self._user_id = namespace
        self._topk = topk
        self._entries = Entries()
        self._writing = asyncio.Lock()
        self._is_cleared = False

    async def insert(
        self, text: str, vector: FloatArray | None = None, metadata: Mapping[str, Any] | None = None
    ) -> str:
        """Remember a text, each of its turns with its speaker."""
        async with self._writing:
            if not self._is_cleared:
                await self._memories.forget(self._user_id)
                self._is_cleared = True
            entry = self._entries.add(text, metadata)
            given = metadata or {}
            for turn in turns_of(valid_unicode(text)):
                kept = {_ENTRY: entry.id, "session": str(given.get("session_id", ""))}
                kept |= {"role": given["role"]} if "role" in given else {}
                kept |= {"speaker": turn.speaker} if turn.speaker else {}
                at = parse_session_date(turn.date) or parse_session_date(given.get("timestamp"))
                if turn.text.strip():
                    await self._memories.remember(turn.text, self._user_id, at=at, metadata=kept)
        return entry.id

    async def retrieve(
        self,
        query: str | None = None,
        vector: FloatArray | None = None,
        metadata: Mapping[str, Any] | None = None,
        *,
        top_k: int | None = None,
    ) -> list[Memory]:
        """Entries by their best memory's score, then id; [] without a text query."""
        wanted = checked_top_k(top_k, self._topk)
        matching = {entry.id: entry for entry in self._entries.matching(metadata)}
        if query is None or not query.strip() or not matching:
            return []
        limit = TURNS_PER_ENTRY * wanted
        while True:
            best, more = await self._best(query, min(limit, MAX_TOP_K))
            found = [name for name in best if name in matching]
            if len(found) >= wanted or not more or limit >= MAX_TOP_K:
                return [memory_of(matching[name], best[name]) for name in found[:wanted]]
            limit *= TURNS_PER_ENTRY

    async def delete(self, entry_id: str) -> bool:
        """Forget an entry, and all memories derived from it."""
        async with self._writing:
            if self._entries.pop(entry_id, None) is None:
                return False
            held = await self._memories.list(self._user_id, include_ended=True)
            gone = [record.id for record in held if record.metadata.get(_ENTRY) == entry_id]
            if gone:
                await self._memories.forget(self._user_id, gone)
            return True

    async def _best(self, query: str, limit: int) -> tuple[dict[str, float], bool]:
        """Best score by entry, best first; and whether a larger limit might find more."""
        response = await self._memories.search(query, self._user_id, max_results=limit)
        if response.degraded_agents:
            # A memory service cannot report a partial failure.
            raise StoreError(
                f"{NAME} was searched in part only: {', '.join(response.degraded_agents)} failed; ask again"
            )
        best: dict[str, float] = {}
        for memory in response.memories:
            best.setdefault(str(memory.metadata.get(_ENTRY)), memory.relevance_score)
        return best, len(response.memories) == limit


def build_orchestrated_memory(settings: RankedSettings, parts: ServiceParts) -> OrchestratedMemory:
    """An empty memory of the namespace."""
    if parts.memories is None:
        raise ConfigError(f"{NAME} needs ServiceParts.memories, the memory of an open Rag")
    return OrchestratedMemory(parts.memories, parts.namespace, settings.topk)
