"""Procedural memory: how tasks are done, and how the person wants them done."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from agentic_rag.errors import InputError
from agentic_rag.memory.agents.base import StoredAgent
from agentic_rag.memory.records import MemoryRecord
from agentic_rag.memory.schemas import MemoryType, RetrievalStrategy


class ProceduralAgent(StoredAgent):
    """Standing instructions with their trigger, and how-to's with their steps.

    Parameters of its own, of an ``insert``: ``trigger`` (when it applies, a text) and ``steps`` (a list of texts).
    """

    memory_type = MemoryType.PROCEDURAL
    strategies = (
        RetrievalStrategy.HYBRID,
        RetrievalStrategy.EMBEDDING,
        RetrievalStrategy.BM25,
        RetrievalStrategy.STRING_MATCH,
    )

    def record_of(self, parameters: Mapping[str, Any]) -> MemoryRecord:
        trigger, steps = parameters.get("trigger", ""), parameters.get("steps", [])
        if not isinstance(trigger, str):
            raise InputError(f"trigger must be a text, not {trigger!r}")
        if not isinstance(steps, list | tuple) or not all(isinstance(step, str) for step in steps):
            raise InputError(f"steps must be a list of texts, not {steps!r}")
        record = super().record_of(parameters)
        return replace(record, details={**record.details, "trigger": trigger, "steps": list(steps)})
