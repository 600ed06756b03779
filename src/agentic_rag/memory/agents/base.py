"""The common part of the five agents: validate a task, run it within its time limit, respond; errors become
responses."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, ClassVar

from agentic_rag.dates.instants import moment_of, parse_as_of
from agentic_rag.domain.identity import memory_dataset
from agentic_rag.domain.json_values import Json
from agentic_rag.errors import AgenticRagError, InputError
from agentic_rag.memory.past import asked_past
from agentic_rag.memory.records import MemoryRecord, plain
from agentic_rag.memory.schemas import (
    DEFAULT_MAX_RESULTS,
    LATE,
    MAX_RESULTS,
    OPERATIONS,
    MemoryType,
    RetrievalStrategy,
    TaskRequest,
    TaskResponse,
)
from agentic_rag.memory.searching import STRATEGIES, FoundMemory, Search, SearchParts
from agentic_rag.memory.writing import MemoryWriter, checked_metadata

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class AgentParts:
    """The stores, searches and writer that an agent uses."""

    search: SearchParts
    writer: MemoryWriter


class StoredAgent:
    """``MemoryAgent`` on the stores of the main graph; a subclass defines what is specific to its kind of memory.

    Parameters of all operations: ``user_id`` (required).
    ``search``: ``query``; ``limit`` (1 to 1000, default 10); ``strategy``; ``as_of``; ``now``; ``include_ended``.
    ``insert``: ``content``; ``at``; ``metadata``; the fields of the kind.
    ``update``: ``id``; ``content``, ``metadata`` and fields of the kind that change.
    ``delete``: ``id``; memories that depend on it alone are deleted too.
    ``list``: ``limit``; ``include_ended``.
    """

    memory_type: ClassVar[MemoryType]
    strategies: ClassVar[tuple[RetrievalStrategy, ...]]
    """The implemented strategies, the default first."""
    fields: ClassVar[tuple[str, ...]] = ()
    """Parameters of the kind, stored in ``details``; they can also restrict ``search`` and ``list``."""

    def __init__(self, parts: AgentParts) -> None:
        self._parts = parts
        self._operations: Mapping[str, Callable[[Mapping[str, Any]], Awaitable[Json]]] = {
            "search": self._search,
            "insert": self._insert,
            "update": self._update,
            "delete": self._delete,
            "list": self._list,
        }

    @property
    def agent_id(self) -> str:
        """``core_agent``, ``episodic_agent`` and so on."""
        return f"{self.memory_type.value}_agent"

    async def initialize(self) -> None:
        """Calibrate the embedding's cosines, once for all agents."""
        await self._parts.search.vectors.ready()

    async def execute_task(self, task: TaskRequest) -> TaskResponse:
        """Run a task within its time limit; see ``MemoryAgent``."""
        started = time.perf_counter()
        result: Json = {}
        error: str | None = None
        try:
            seconds = None if task.timeout_ms is None else task.timeout_ms / 1000
            async with asyncio.timeout(seconds):
                result = await self._run_operation(task)
        except TimeoutError:
            error = f"{LATE} {task.timeout_ms} ms"
        except (AgenticRagError, OSError, RuntimeError) as failure:
            error = f"{type(failure).__name__}: {failure}"
        if error is not None:
            # The query and the memory are private: neither is logged.
            logger.warning("%s failed to %s: %s", self.agent_id, task.operation, error.partition(":")[0])
        milliseconds = round((time.perf_counter() - started) * 1000, 3)
        return TaskResponse(task.task_id, error is None, result, error, milliseconds)

    async def _run_operation(self, task: TaskRequest) -> Json:
        if task.operation not in self._operations:
            raise InputError(f"unknown operation {task.operation!r}; use one of: {', '.join(OPERATIONS)}")
        memory_dataset(task.parameters.get("user_id"))  # type: ignore[arg-type]
        return await self._operations[task.operation](task.parameters)

    async def _search(self, parameters: Mapping[str, Any]) -> Json:
        strategy = self._strategy(parameters.get("strategy"))
        search = self.parse_search(parameters)
        found = await STRATEGIES[strategy](self._parts.search, search) if search.query.strip() else []
        shown = await self.as_json(search, found)
        return {"results": shown, "total_count": len(shown), "strategy": strategy.value}

    async def as_json(self, search: Search, found_memories: list[FoundMemory]) -> list[Json]:
        """The found memories as JSON values, best first."""
        return [shown_memory(one.record, one.score) for one in found_memories]

    def parse_search(self, parameters: Mapping[str, Any]) -> Search:
        """The ``Search`` of a search's or list's parameters; ``InputError`` if one is wrong."""
        query = parameters.get("query")
        if not isinstance(query, str):
            raise InputError(f"a search needs query, a text, not {query!r}")
        as_of = parameters.get("as_of")
        as_of = as_of if isinstance(as_of, datetime) else parse_as_of(as_of)
        now, ended = (
            moment_given(parameters, "now") or self._parts.writer.now(),
            bool(parameters.get("include_ended", False)),
        )
        return Search(
            user_id=parameters["user_id"],
            memory_type=self.memory_type,
            query=query,
            limit=limit_of(parameters),
            now=now,
            as_of=as_of,
            include_ended=ended,
            past=None if ended else asked_past(query, as_of or now),
            after=moment_given(parameters, "after"),
            before=moment_given(parameters, "before"),
            only={name: parameters[name] for name in self.fields if parameters.get(name) is not None},
        )

    def _strategy(self, name: Any) -> RetrievalStrategy:
        if name is None:
            return self.strategies[0]
        if name not in self.strategies:
            has = ", ".join(strategy.value for strategy in self.strategies)
            raise InputError(f"{self.agent_id} has no strategy {name!r}; it has: {has}")
        return RetrievalStrategy(name)

    async def _insert(self, parameters: Mapping[str, Any]) -> Json:
        record = self.record_of(parameters)
        stored = await self._parts.writer.insert(parameters["user_id"], record)
        return {"id": stored.id, "memory": shown_memory(stored)}

    def record_of(self, parameters: Mapping[str, Any]) -> MemoryRecord:
        """The record to store, still without an id.

        Raises:
            InputError: a parameter is missing or wrong.
        """
        content = parameters.get("content")
        if not isinstance(content, str) or not content.strip():
            raise InputError(f"an insert needs content, a text that is not blank, not {content!r}")
        return MemoryRecord(
            id="",
            memory_type=self.memory_type,
            content=content,
            at=moment_given(parameters, "at") or self._parts.writer.now(),
            details={name: parameters[name] for name in self.fields if parameters.get(name) is not None},
            metadata=checked_metadata(parameters.get("metadata")),
        )

    async def _update(self, parameters: Mapping[str, Any]) -> Json:
        name = id_given(parameters)

        def updated_record(record: MemoryRecord) -> MemoryRecord:
            fresh = self.record_of({**record.details, "content": record.content, **parameters})
            return replace(
                record,
                content=fresh.content,
                details={**record.details, **fresh.details},
                metadata=fresh.metadata if "metadata" in parameters else record.metadata,
            )

        stored = await self._parts.writer.update(
            parameters["user_id"], name, self.memory_type, updated_record
        )
        return {"id": stored.id, "memory": shown_memory(stored)}

    async def _delete(self, parameters: Mapping[str, Any]) -> Json:
        deleted = await self._parts.writer.forget(parameters["user_id"], [id_given(parameters)])
        return {"deleted": [record.id for record in deleted]}

    async def _list(self, parameters: Mapping[str, Any]) -> Json:
        search = self.parse_search({**parameters, "query": ""})
        records = await self._parts.search.store.of_types(parameters["user_id"], {self.memory_type})
        shown = [shown_memory(record) for record in self.listing_order(records) if search.passes(record)]
        return {"results": shown[: search.limit], "total_count": len(shown)}

    def listing_order(self, records: list[MemoryRecord]) -> list[MemoryRecord]:
        """The records in listing order, the latest first."""
        return records[::-1]


def shown_memory(record: MemoryRecord, score: float | None = None) -> Json:
    """A memory as JSON values; ``score`` in [0, 1] if it was searched for."""
    values = plain(record)
    return values if score is None else {**values, "score": score}


def id_given(parameters: Mapping[str, Any]) -> str:
    """The ``id`` parameter; ``InputError`` if it is missing."""
    name = parameters.get("id")
    if not isinstance(name, str) or not name:
        raise InputError(f"this needs id, the id of a memory, not {name!r}")
    return name


def limit_of(parameters: Mapping[str, Any]) -> int:
    """The ``limit`` parameter; ``InputError`` unless it is a number from 1 to 1000."""
    limit = parameters.get("limit", DEFAULT_MAX_RESULTS)
    if isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= MAX_RESULTS:
        raise InputError(f"limit must be a whole number from 1 to {MAX_RESULTS}, not {limit!r}")
    return limit


def moment_given(parameters: Mapping[str, Any], name: str) -> datetime | None:
    """An instant, given as ISO 8601 or as a datetime; ``InputError`` for anything else."""
    value = parameters.get(name)
    if value is None or isinstance(value, datetime):
        return value
    moment = moment_of(value)
    if moment is None:
        raise InputError(f"{name} must be an ISO date or time such as 2024-06-30, not {value!r}")
    return moment
