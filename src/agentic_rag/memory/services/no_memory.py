"""Service ``no_memory``: keeps nothing; what a reader answers that was told nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentic_rag.memory.service import Memory
from agentic_rag.memory.services.entries import checked_top_k
from agentic_rag.memory.services.parts import ServiceParts
from agentic_rag.parameters import Section
from agentic_rag.ports import FloatArray


class Settings(Section):
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


def build(settings: Settings, parts: ServiceParts) -> NoMemory:
    return NoMemory()
