"""The types of the memory agents: tasks and responses of an agent, requests and responses of the orchestrator.

Names are those of the source document, in Python's spelling. All values are plain, for use in a LangGraph state and in
JSON.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Literal, Protocol, TypeVar, runtime_checkable
from uuid import uuid4

from agentic_rag.errors import InputError

_Name = TypeVar("_Name", "MemoryType", "RetrievalStrategy")
DEFAULT_TIMEOUT_MS = 5000
LATE = "no answer within"
"""How the error of a task begins that its time limit ended."""
DEFAULT_MAX_RESULTS, MAX_RESULTS = 10, 1000


class MemoryType(StrEnum):
    """The kind of a memory; each kind has its agent."""

    CORE = "core"
    """The person: blocks ``persona``, ``human``, ``preferences``, of limited size."""
    EPISODIC = "episodic"
    """Messages and events, verbatim, with their time."""
    SEMANTIC = "semantic"
    """Facts, with the time in which they hold."""
    PROCEDURAL = "procedural"
    """Procedures: steps, standing instructions, and their triggers."""
    WORKING = "working"
    """The current task; expires."""


class RetrievalStrategy(StrEnum):
    """The search strategy of an agent."""

    EMBEDDING = "embedding"
    """By cosine."""
    BM25 = "bm25"
    """By words, weighted by rarity."""
    STRING_MATCH = "string_match"
    """By the share of the query's words that occur in the memory."""
    FUZZY = "fuzzy"
    """By similarity of spelling."""
    HYBRID = "hybrid"
    """By words, cosine and tokens together, as the main graph searches its vector store."""
    SEMANTIC_GRAPH = "semantic_graph"
    """Hybrid, and by the walk over the knowledge graph from the query's names."""
    TEMPORAL = "temporal"
    """Only memories of the time that the query states."""
    CONTEXT_AWARE = "context_aware"
    """Hybrid, reordered by the context of a memory: neighbouring turns, speaker, time."""


def parse_name(names: type[_Name], name: str) -> _Name:
    """The memory type or strategy of that name; ``InputError`` lists the known ones."""
    try:
        return names(name)
    except ValueError as error:
        noun = "memory type" if names is MemoryType else "retrieval strategy"
        raise InputError(f"unknown {noun} {name!r}; use one of: {', '.join(names)}") from error


OPERATIONS = ("search", "insert", "update", "delete", "list")


@dataclass(frozen=True, slots=True)
class TaskRequest:
    """A task for one agent."""

    operation: str
    """One of ``OPERATIONS``."""
    parameters: Mapping[str, Any]
    """JSON values; ``user_id`` is always required. See the agent for the others."""
    task_id: str = field(default_factory=lambda: str(uuid4()))
    priority: int = 1
    """From the source document; the five agents ignore it."""
    timeout_ms: int | None = DEFAULT_TIMEOUT_MS
    """None: no limit."""


@dataclass(frozen=True, slots=True)
class TaskResponse:
    """The response to a task. It reports a failure; nothing is raised."""

    task_id: str
    success: bool
    result: Mapping[str, Any]
    """JSON values; of a search: ``results`` (best first), ``total_count`` and the ``strategy`` used."""
    error: str | None
    execution_time_ms: float


@runtime_checkable
class MemoryAgent(Protocol):
    """Keeps one kind of memory of every user."""

    @property
    def agent_id(self) -> str:
        """Name of the agent in results and logs, for example ``core_agent``."""

    @property
    def memory_type(self) -> MemoryType: ...

    @property
    def strategies(self) -> tuple[RetrievalStrategy, ...]:
        """The implemented strategies, the default first."""

    async def initialize(self) -> None:
        """Prepare the agent; called once before the first task, further calls have no effect."""

    async def execute_task(self, task: TaskRequest) -> TaskResponse:
        """Run a task within its time limit; a failure becomes part of the response. A cancellation propagates."""


@dataclass(frozen=True, slots=True)
class RetrievalRequest:
    """A search over all memories of one user.

    ``context`` may contain ``as_of`` (ISO 8601: search the knowledge of then), ``now`` (ISO 8601: the time that
    decides which memories have expired; default: the clock) and keys for a custom router.
    """

    query: str
    user_id: str
    max_results: int = DEFAULT_MAX_RESULTS
    context: Mapping[str, Any] = field(default_factory=dict)
    target_memory_types: tuple[MemoryType, ...] | None = None
    """Ask only these; None: the routing decides."""
    preferred_strategy: RetrievalStrategy | None = None
    """Used by every agent that implements it; None: the routing decides."""


@dataclass(frozen=True, slots=True)
class RoutingDecision:
    """The chosen agents, their strategies, and the reasons."""

    target_memory_types: tuple[MemoryType, ...]
    """Best first; at least one."""
    selected_strategies: Mapping[MemoryType, RetrievalStrategy]
    """One strategy per target, implemented by its agent."""
    strategy_weights: Mapping[MemoryType, float]
    """Weight of each target, in (0, 1]."""
    reasons: tuple[str, ...]
    """One sentence per reason."""
    confidence: float
    """In [0, 1]: the top type's share of all the evidence."""


@dataclass(frozen=True, slots=True)
class RoutingResult:
    """A decision, and the method that made it."""

    decision: RoutingDecision
    method: Literal["rules", "chat", "given"]
    fallback_reason: str | None = None
    """Why the rules decided although a chat model is configured."""


@dataclass(frozen=True, slots=True)
class RetrievedMemory:
    """A memory in the orchestrator's result, with all its sources."""

    id: str
    memory_type: MemoryType
    """From the source with the highest score, as ``content``, ``source_agent`` and ``retrieval_strategy``."""
    content: str
    relevance_score: float
    """In [0, 1], higher is better; see ``orchestrator``."""
    source_agent: str
    retrieval_strategy: RetrievalStrategy
    metadata: Mapping[str, Any]
    """``evidence`` (ids of messages), ``at``, ``valid_at``, ``invalid_at``, and the metadata given with it."""
    sources: tuple[Mapping[str, Any], ...] = ()
    """One entry per agent that found it, best first: ``agent``, ``memory_type``, ``strategy``, ``rank``,
    ``base_score``, ``score`` and its ``id`` at that agent."""


@dataclass(frozen=True, slots=True)
class AgentOutcome:
    """The outcome of asking one agent."""

    status: Literal["ok", "empty", "failed", "timeout"]
    reason: str | None
    count: int
    ms: float


@dataclass(frozen=True, slots=True)
class RetrievalResponse:
    """The memories found, with the routing and the agents' outcomes."""

    memories: tuple[RetrievedMemory, ...]
    """By score descending, then id; at most ``max_results``."""
    routing: RoutingResult
    outcomes: Mapping[str, AgentOutcome]
    """Outcome by agent id, for every agent that was asked."""
    processing_time_ms: float

    @property
    def degraded_agents(self) -> tuple[str, ...]:
        """Agents that failed or ran out of time."""
        return tuple(
            name for name, outcome in self.outcomes.items() if outcome.status in ("failed", "timeout")
        )


@dataclass(frozen=True, slots=True)
class RememberReport:
    """The result of remembering a message."""

    evidence_id: str
    """Id of the message itself."""
    memories: tuple[Mapping[str, Any], ...]
    """The memories derived from it or confirmed by it: ``id``, ``memory_type``, ``content``, ``change`` (``new``,
    ``repeated``, ``superseded``, ``ended``) and ``reason``."""


@dataclass(frozen=True, slots=True)
class ForgetReport:
    """What was deleted, and the result of the check."""

    memories: int
    """Number of deleted memories, derived ones included."""
    searches: int
    """Number of searches for deleted memories."""
    remaining: int
    """Number of times a deleted memory was still found; 0, or the deletion failed."""


def moment_text(moment: datetime | None) -> str | None:
    """ISO 8601, as stored and shown."""
    return None if moment is None else moment.isoformat()
