"""Core memory: who the person is, in named blocks of limited size."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentic_rag.domain.json_values import Json
from agentic_rag.errors import InputError
from agentic_rag.memory.agents.base import StoredAgent
from agentic_rag.memory.records import MemoryRecord
from agentic_rag.memory.schemas import MemoryType, RetrievalStrategy
from agentic_rag.memory.searching import Search

BLOCKS = ("persona", "human", "preferences")


class CoreAgent(StoredAgent):
    """Blocks ``persona`` (the assistant's behaviour), ``human`` (the person) and ``preferences``.

    Parameters of its own: ``block_type``, one of ``BLOCKS``; required by ``insert``. A block holds up to
    ``derivation.BLOCK_CHARACTERS``; beyond that its oldest lines end, but their messages stay stored.
    """

    memory_type = MemoryType.CORE
    strategies = (RetrievalStrategy.EMBEDDING, RetrievalStrategy.STRING_MATCH, RetrievalStrategy.FUZZY)
    fields = ("block",)

    def parse_search(self, parameters: Mapping[str, Any]) -> Search:
        return super().parse_search(_with_block(parameters))

    def record_of(self, parameters: Mapping[str, Any]) -> MemoryRecord:
        if parameters.get("block_type", parameters.get("block")) is None:
            raise InputError(f"a core memory needs block_type, one of: {', '.join(BLOCKS)}")
        return super().record_of(_with_block(parameters))


def _with_block(parameters: Mapping[str, Any]) -> Json:
    """The parameters with ``block_type`` renamed to the stored key."""
    block = parameters.get("block_type", parameters.get("block"))
    if block is not None and block not in BLOCKS:
        raise InputError(f"unknown block_type {block!r}; use one of: {', '.join(BLOCKS)}")
    return {**parameters, "block": block}
