"""Episodic memory: messages and events, verbatim, with their time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agentic_rag.domain.identity import entity_key
from agentic_rag.memory.agents.base import StoredAgent, shown_memory
from agentic_rag.memory.records import MemoryRecord, slot_key
from agentic_rag.memory.schemas import MemoryType, RetrievalStrategy, moment_text
from agentic_rag.memory.searching import FoundMemory, Search

OUTDATED_FACTOR = 0.5
"""Weight of a message whose facts have all ended, or of any with facts if the past is asked about, so that what is
current, or a fact with its time, ranks before it."""


class EpisodicAgent(StoredAgent):
    """The messages, which are also the episodes of the temporal knowledge graph.

    Parameters of its own: ``after`` and ``before`` (ISO 8601) restrict a search to a half-open interval; ``speaker``
    restricts it to a speaker. Only the metadata of a message can be changed. A result with ended facts lists them in
    ``ended``: ``subject``, ``slot``, ``value``, ``until``.
    """

    memory_type = MemoryType.EPISODIC
    strategies = (
        RetrievalStrategy.CONTEXT_AWARE,
        RetrievalStrategy.HYBRID,
        RetrievalStrategy.EMBEDDING,
        RetrievalStrategy.BM25,
        RetrievalStrategy.TEMPORAL,
        RetrievalStrategy.SEMANTIC_GRAPH,
        RetrievalStrategy.STRING_MATCH,
    )
    fields = ("speaker",)

    async def as_json(self, search: Search, found_memories: list[FoundMemory]) -> list[dict[str, Any]]:
        slots = {slot for one in found_memories for slot in one.record.slots}
        stored = await self._parts.search.store.of_slots(search.user_id, slots)
        facts = [one for one in stored if one.memory_type is MemoryType.SEMANTIC]
        shown = [_with_ended(one, facts, search) for one in found_memories]
        return sorted(shown, key=lambda one: (-one["score"], one["id"]))


def _with_ended(memory: FoundMemory, facts: Sequence[MemoryRecord], search: Search) -> dict[str, Any]:
    said = [one for one in memory.record.details.get("says", ()) if not one["ends"]]
    ended = [
        {"subject": one["subject"], "slot": one["slot"], "value": one["value"], "until": until}
        for one in said
        if (until := _until(one, facts, search)) is not None
    ]
    # Of the past the facts tell, with their times.
    outdated = (
        bool(said) and (len(ended) == len(said) or search.past is not None) and not search.include_ended
    )
    shown = shown_memory(memory.record, memory.score * (OUTDATED_FACTOR if outdated else 1.0))
    return {**shown, "ended": ended} if ended else shown


def _until(statement: dict[str, Any], facts: Sequence[MemoryRecord], search: Search) -> str | None:
    """When the stated value ended; None if it still holds."""
    key = slot_key(statement["subject"], statement["slot"])
    of_value = [
        fact
        for fact in facts
        if fact.slot == key and entity_key(str(fact.details["value"])) == entity_key(statement["value"])
    ]
    if not of_value or any(fact.holds(search.as_of, search.now) for fact in of_value):
        return None
    return max(filter(None, (moment_text(fact.invalid_at) for fact in of_value)), default=None)
