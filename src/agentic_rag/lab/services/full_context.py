"""Service ``full_context``: everything, oldest first; what a reader with endless context would be given."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentic_rag.domain.memory import Memory
from agentic_rag.domain.ports import FloatArray
from agentic_rag.lab.services.entries import Entries, checked_top_k, memory_of
from agentic_rag.lab.services.parts import ServiceParts
from agentic_rag.settings.parameters import Section


class FullContextSettings(Section):
    """There is nothing to set."""


class FullContext:
    """``MemoryService`` that gives back all it holds, whatever ``top_k`` says; nothing is scored."""

    def __init__(self) -> None:
        self._entries = Entries()

    @property
    def returns_all(self) -> bool:
        return True

    async def insert(
        self, text: str, vector: FloatArray | None = None, metadata: Mapping[str, Any] | None = None
    ) -> str:
        """Remember a text; the vector is not used."""
        return self._entries.add(text, metadata).id

    async def retrieve(
        self,
        query: str | None = None,
        vector: FloatArray | None = None,
        metadata: Mapping[str, Any] | None = None,
        *,
        top_k: int | None = None,
    ) -> list[Memory]:
        """Everything with these metadata, whatever is asked."""
        checked_top_k(top_k, 1)
        return [memory_of(entry, None) for entry in self._entries.matching(metadata)]

    async def delete(self, entry_id: str) -> bool:
        return self._entries.remove(entry_id) is not None


def build(settings: FullContextSettings, parts: ServiceParts) -> FullContext:
    return FullContext()
