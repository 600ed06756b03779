"""Semantic memory: facts with the time in which they hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from agentic_rag.errors import InputError
from agentic_rag.memory.agents.base import StoredAgent, moment_given
from agentic_rag.memory.records import MemoryRecord
from agentic_rag.memory.schemas import MemoryType, RetrievalStrategy
from agentic_rag.memory.searching import Search


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
