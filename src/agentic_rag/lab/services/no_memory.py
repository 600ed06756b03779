"""Service ``no_memory``: keeps nothing; what a reader answers that was told nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentic_rag.domain.memory import Memory
from agentic_rag.domain.ports import FloatArray
from agentic_rag.lab.services.entries import checked_top_k
from agentic_rag.lab.services.parts import ServiceParts
from agentic_rag.settings.parameters import Section


class NoMemorySettings(Section):
    """There is nothing to set."""


class NoMemory:
    """``MemoryService`` that keeps nothing and finds nothing."""

    async def insert(
        self, text: str, vector: FloatArray | None = None, metadata: Mapping[str, Any] | None = None
    ) -> None:
        """Keep nothing."""

    async def retrieve(
        self,
        query: str | None = None,
        vector: FloatArray | None = None,
        metadata: Mapping[str, Any] | None = None,
        *,
        top_k: int | None = None,
    ) -> list[Memory]:
        """[]."""
        checked_top_k(top_k, 1)
        return []


def build(settings: NoMemorySettings, parts: ServiceParts) -> NoMemory:
    return NoMemory()
