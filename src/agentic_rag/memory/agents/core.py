"""Core memory: who the person is, in named blocks of limited size."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentic_rag.errors import InputError
from agentic_rag.memory.agents.base import StoredAgent
from agentic_rag.memory.records import MemoryRecord
from agentic_rag.memory.schemas import MemoryType, RetrievalStrategy
from agentic_rag.memory.searching import Search

BLOCKS = ("persona", "human", "preferences")


class CoreAgent(StoredAgent):
    """Blocks ``persona`` (how the assistant shall be), ``human`` (who the person is) and ``preferences``.

    Parameters of its own: ``block_type``, one of ``BLOCKS``; an ``insert`` needs it. A block holds
    ``derivation.BLOCK_CHARACTERS``; what no longer fits ends, the oldest first, and stays as what was said.
    """

    memory_type = MemoryType.CORE
    strategies = (RetrievalStrategy.EMBEDDING, RetrievalStrategy.STRING_MATCH, RetrievalStrategy.FUZZY)
    fields = ("block",)

    def asked(self, given: Mapping[str, Any]) -> Search:
        return super().asked(_with_block(given))

    def record_of(self, given: Mapping[str, Any]) -> MemoryRecord:
        if given.get("block_type", given.get("block")) is None:
            raise InputError(f"a core memory needs block_type, one of: {', '.join(BLOCKS)}")
        return super().record_of(_with_block(given))


def _with_block(given: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters with the block under the name it is stored by."""
    block = given.get("block_type", given.get("block"))
    if block is not None and block not in BLOCKS:
        raise InputError(f"unknown block_type {block!r}; use one of: {', '.join(BLOCKS)}")
    return {**given, "block": block}
