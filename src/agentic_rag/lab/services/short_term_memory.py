"""Service ``short_term_memory``: the last few entries, first in, first out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from agentic_rag.domain.memory import Memory
from agentic_rag.domain.ports import FloatArray
from agentic_rag.lab.services.entries import Entries, checked_top_k, memory_of
from agentic_rag.lab.services.parts import ServiceParts
from agentic_rag.settings.parameters import Section


class ShortTermMemorySettings(Section):
    max_dialog: int = Field(3, ge=1, description="entries that are remembered")


class ShortTermMemory:
    """``MemoryService`` of the last ``max_dialog`` entries, oldest first; nothing is scored.

    ``top_k`` cuts to the newest. An entry that has fallen out is gone, by metadata too.
    """

    def __init__(self, max_dialog: int) -> None:
        self._max_dialog = max_dialog
        self._entries = Entries()

    async def insert(
        self, text: str, vector: FloatArray | None = None, metadata: Mapping[str, Any] | None = None
    ) -> str:
        """Remember a text and forget the oldest beyond ``max_dialog``; the vector is not used."""
        entry = self._entries.add(text, metadata)
        if len(self._entries) > self._max_dialog:
            self._entries.remove_oldest()
        return entry.id

    async def retrieve(
        self,
        query: str | None = None,
        vector: FloatArray | None = None,
        metadata: Mapping[str, Any] | None = None,
        *,
        top_k: int | None = None,
    ) -> list[Memory]:
        """What is still remembered, whatever is asked."""
        wanted = checked_top_k(top_k, self._max_dialog)
        return [memory_of(entry, None) for entry in self._entries.matching(metadata)[-wanted:]]

    async def delete(self, entry_id: str) -> bool:
        """Forget one; what fell out before does not come back."""
        return self._entries.remove(entry_id) is not None


def build(settings: ShortTermMemorySettings, parts: ServiceParts) -> ShortTermMemory:
    return ShortTermMemory(settings.max_dialog)
