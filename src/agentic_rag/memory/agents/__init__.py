"""The five agents: core, episodic, semantic, procedural, working; each keeps one kind of memory of every user."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from agentic_rag.domain.json_values import Json
from agentic_rag.errors import InputError
from agentic_rag.memory.agents.base import AgentParts, StoredAgent, moment_given
from agentic_rag.memory.agents.episodic import EpisodicAgent
from agentic_rag.memory.records import MemoryRecord
from agentic_rag.memory.schemas import MemoryType, RetrievalStrategy
from agentic_rag.memory.searching import Search

BLOCKS = ("persona", "human", "preferences")


class CoreAgent(StoredAgent):
    """Who the person is, in blocks: ``persona`` (the assistant's behaviour), ``human`` (the person) and ``preferences``.

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


class SemanticAgent(StoredAgent):
    """Facts of slots with their validity interval, and other statements of the person.

    Parameters of its own: ``name_query`` is an alias of ``query``; ``subject`` and ``slot`` restrict a search. An
    ``insert`` with a ``slot`` needs ``subject`` and ``value`` (``ends``: true: the value no longer holds) and
    accepts ``valid_at``; it supersedes the earlier value of that subject's slot.
    """

    memory_type = MemoryType.SEMANTIC
    strategies = (
        RetrievalStrategy.EMBEDDING,
        RetrievalStrategy.HYBRID,
        RetrievalStrategy.BM25,
        RetrievalStrategy.SEMANTIC_GRAPH,
        RetrievalStrategy.TEMPORAL,
        RetrievalStrategy.STRING_MATCH,
        RetrievalStrategy.FUZZY,
    )
    fields = ("subject", "slot")

    def parse_search(self, parameters: Mapping[str, Any]) -> Search:
        return super().parse_search(
            {**parameters, "query": parameters.get("query", parameters.get("name_query"))}
        )

    def record_of(self, parameters: Mapping[str, Any]) -> MemoryRecord:
        record = super().record_of(parameters)
        slot, value, ends = (
            parameters.get("slot"),
            parameters.get("value"),
            bool(parameters.get("ends", False)),
        )
        if slot is None:
            return record
        if not all(isinstance(one, str) and one.strip() for one in (slot, parameters.get("subject"))):
            raise InputError("a fact with a slot needs subject and slot, texts that are not blank")
        if not isinstance(value, str) or not (value.strip() or ends):
            raise InputError(f"a fact with a slot needs value, a text that is not blank, not {value!r}")
        details = {**record.details, "value": value, "ends": ends}
        return replace(record, details=details, valid_at=moment_given(parameters, "valid_at"))


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


class WorkingAgent(StoredAgent):
    """The items of the current task, which expire.

    Parameters of its own: ``expires_at`` (ISO 8601) of an ``insert``; default: a day after the message.
    """

    memory_type = MemoryType.WORKING
    strategies = (RetrievalStrategy.EMBEDDING, RetrievalStrategy.STRING_MATCH, RetrievalStrategy.FUZZY)

    def record_of(self, parameters: Mapping[str, Any]) -> MemoryRecord:
        return replace(super().record_of(parameters), expires_at=moment_given(parameters, "expires_at"))


AGENTS: tuple[type[StoredAgent], ...] = (
    CoreAgent,
    EpisodicAgent,
    SemanticAgent,
    ProceduralAgent,
    WorkingAgent,
)


def all_agents(parts: AgentParts) -> tuple[StoredAgent, ...]:
    """One agent of each memory type."""
    return tuple(kind(parts) for kind in AGENTS)
