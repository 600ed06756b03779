"""Services that store texts without ranking: ``short_term_memory``, and the controls ``full_context`` and
``no_memory``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from agentic_rag.domain.ports import FloatArray
from agentic_rag.settings.parameters import Section
from agentic_rag_lab.designs.memory import Memory
from agentic_rag_lab.designs.services.entries import Entries, checked_top_k, memory_of


class ShortTermMemorySettings(Section):
    max_dialog: int = Field(3, ge=1, description="entries that are remembered")


class TextMemory:
    """``MemoryService`` of the last entries, oldest first; without scores or vectors.

    A dropped entry is gone, also for searches by metadata.

    Args:
        max_dialog: number of entries kept, first in, first out; None: all are kept, and ``top_k`` is ignored.
    """

    def __init__(self, max_dialog: int | None) -> None:
        self._max_dialog = max_dialog
        self._entries = Entries()

    async def insert(
        self, text: str, vector: FloatArray | None = None, metadata: Mapping[str, Any] | None = None
    ) -> str:
        """Remember a text and forget the oldest beyond ``max_dialog``."""
        entry = self._entries.add(text, metadata)
        if self._max_dialog is not None and len(self._entries) > self._max_dialog:
            del self._entries[next(iter(self._entries))]
        return entry.id

    async def retrieve(
        self,
        query: str | None = None,
        vector: FloatArray | None = None,
        metadata: Mapping[str, Any] | None = None,
        *,
        top_k: int | None = None,
    ) -> list[Memory]:
        """All stored memories, independent of the query; ``top_k`` keeps the newest."""
        wanted = checked_top_k(top_k, self._max_dialog or 1)
        first = 0 if self._max_dialog is None else -wanted
        return [memory_of(entry, None) for entry in self._entries.matching(metadata)[first:]]

    async def delete(self, entry_id: str) -> bool:
        """Forget one entry; entries dropped before do not return."""
        return self._entries.pop(entry_id, None) is not None


class FullContext(TextMemory):
    """Everything, independent of the query: the input of a reader with unlimited context."""

    def __init__(self) -> None:
        super().__init__(max_dialog=None)

    @property
    def returns_all(self) -> bool:
        return True


class NoMemory:
    """``MemoryService`` that stores and finds nothing: the control for a reader without a memory."""

    async def insert(
        self, text: str, vector: FloatArray | None = None, metadata: Mapping[str, Any] | None = None
    ) -> None:
        """Store nothing."""

    async def retrieve(
        self,
        query: str | None = None,
        vector: FloatArray | None = None,
        metadata: Mapping[str, Any] | None = None,
        *,
        top_k: int | None = None,
    ) -> list[Memory]:
        """Nothing: []."""
        checked_top_k(top_k, 1)
        return []
