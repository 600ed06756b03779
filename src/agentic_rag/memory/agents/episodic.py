"""Episodic memory: messages and events, verbatim, with their time."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from agentic_rag.domain.identity import entity_key
from agentic_rag.memory.agents.base import StoredAgent, shown_memory
from agentic_rag.memory.records import SAYS, MemoryRecord, slot_key
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
        facts = await self._parts.search.store.of_slots(search.user_id, slots)
        # A long message has thousands of statements.
        return await asyncio.to_thread(shown_messages, found_memories, facts, search)


def shown_messages(
    memories: Sequence[FoundMemory], facts: Sequence[MemoryRecord], search: Search
) -> list[dict[str, Any]]:
    """Messages as JSON, by score descending, each with what has ended since of what it states.

    Args:
        memories: the messages.
        facts: of the slots that they state.
        search: which found them.
    """
    by_value: dict[tuple[str, str], list[MemoryRecord]] = {}
    for one in facts:
        if one.memory_type is MemoryType.SEMANTIC and one.slot is not None:
            by_value.setdefault((one.slot, entity_key(str(one.details["value"]))), []).append(one)
    shown = [_with_ended(one, by_value, search) for one in memories]
    return sorted(shown, key=lambda one: (-one["score"], one["id"]))


def _with_ended(
    memory: FoundMemory, facts: Mapping[tuple[str, str], Sequence[MemoryRecord]], search: Search
) -> dict[str, Any]:
    """The memory with those of its statements that no longer hold; facts by the keys of slot and value."""
    statements = [one for one in memory.record.details.get(SAYS, ()) if not one["ends"]]
    ended = []
    for one in statements:
        key = slot_key(one["subject"], one["slot"]), entity_key(one["value"])
        if (until := _until(facts.get(key, ()), search)) is not None:
            ended.append({**{name: one[name] for name in ("subject", "slot", "value")}, "until": until})
    # Of the past the facts tell, with their times.
    outdated = (
        bool(statements)
        and (len(ended) == len(statements) or search.past is not None)
        and not search.include_ended
    )
    shown = shown_memory(memory.record, memory.score * (OUTDATED_FACTOR if outdated else 1.0))
    return {**shown, "ended": ended} if ended else shown


def _until(facts: Sequence[MemoryRecord], search: Search) -> str | None:
    """When the value of these facts ended; None if it still holds, or is not known to have held."""
    if not facts or any(fact.holds(search.as_of, search.now) for fact in facts):
        return None
    return max(filter(None, (moment_text(fact.invalid_at) for fact in facts)), default=None)
