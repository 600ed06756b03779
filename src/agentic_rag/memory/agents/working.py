"""Working memory: the current task; its items expire."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from agentic_rag.memory.agents.base import StoredAgent, moment_given
from agentic_rag.memory.records import MemoryRecord
from agentic_rag.memory.schemas import MemoryType, RetrievalStrategy


class WorkingAgent(StoredAgent):
    """The items of the current task.

    Parameters of its own: ``expires_at`` (ISO 8601) of an ``insert``; default: a day after the message.
    """

    memory_type = MemoryType.WORKING
    strategies = (RetrievalStrategy.EMBEDDING, RetrievalStrategy.STRING_MATCH, RetrievalStrategy.FUZZY)

    def record_of(self, parameters: Mapping[str, Any]) -> MemoryRecord:
        return replace(super().record_of(parameters), expires_at=moment_given(parameters, "expires_at"))
