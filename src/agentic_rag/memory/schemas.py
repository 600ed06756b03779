"""The words of the memory agents: what is asked of one, what it gives back, what the orchestrator makes of it.

Names are those of the source document, in Python's spelling. Shapes are plain values, so that they can stand in a
LangGraph state and in JSON.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Literal, Protocol, runtime_checkable
from uuid import uuid4

DEFAULT_TIMEOUT_MS = 5000
DEFAULT_MAX_RESULTS = 10


class MemoryType(StrEnum):
    """The kind of a memory; each kind has its agent."""

    CORE = "core"
    """Who the person is: blocks ``persona``, ``human``, ``preferences``, of limited size."""
    EPISODIC = "episodic"
    """What was said and happened, verbatim, and when."""
    SEMANTIC = "semantic"
    """What is true: facts with the time in which they hold."""
    PROCEDURAL = "procedural"
    """How things are done: steps, standing instructions, and what triggers them."""
    WORKING = "working"
    """What is going on now; it expires."""


class RetrievalStrategy(StrEnum):
    """How an agent searches."""

    EMBEDDING = "embedding"
    """By cosine."""
    BM25 = "bm25"
    """By the words, rare ones first."""
    STRING_MATCH = "string_match"
    """By the share of the query's words that stand in the memory."""
    FUZZY = "fuzzy"
    """By likeness of the spelling."""
    HYBRID = "hybrid"
    """By words, cosine and tokens together, as the main graph searches its vector store."""
    SEMANTIC_GRAPH = "semantic_graph"
    """Hybrid, and by the walk over the knowledge graph from what the query names."""
    TEMPORAL = "temporal"
    """Only what is of the time that the query states."""
    CONTEXT_AWARE = "context_aware"
    """Hybrid, reordered by what stands beside a memory: the turns around it, who spoke, when."""


Operation = Literal["search", "insert", "update", "delete", "list"]
OPERATIONS: tuple[Operation, ...] = ("search", "insert", "update", "delete", "list")


@dataclass(frozen=True, slots=True)
class TaskRequest:
    """What one agent is to do."""

    operation: str
    """One of ``OPERATIONS``."""
    parameters: Mapping[str, Any]
    """JSON values; ``user_id`` is always needed. See the agent for the others."""
    task_id: str = field(default_factory=lambda: str(uuid4()))
    priority: int = 1
    """The source document's; the five agents treat all tasks alike."""
    timeout_ms: int | None = DEFAULT_TIMEOUT_MS
    """None waits as long as it takes."""


@dataclass(frozen=True, slots=True)
class TaskResponse:
    """What came of a task. A failure is told here, never raised."""

    task_id: str
    success: bool
    result: Mapping[str, Any]
    """JSON values; of a search ``results`` (best first), ``total_count`` and the ``strategy`` that was used."""
    error: str | None
    execution_time_ms: float


@runtime_checkable
class MemoryAgent(Protocol):
    """Keeps one kind of memory of every user."""

    @property
    def agent_id(self) -> str:
        """Names the agent in results and logs, ``core_agent`` for one."""

    @property
    def memory_type(self) -> MemoryType: ...

    @property
    def strategies(self) -> tuple[RetrievalStrategy, ...]:
        """Those it implements, its default first."""

    async def initialize(self) -> None:
        """Get ready; called once before the first task, harmless when called again."""

    async def execute_task(self, task: TaskRequest) -> TaskResponse:
        """Do a task within its time; whatever fails is told in the response. A cancellation passes."""


@dataclass(frozen=True, slots=True)
class RetrievalRequest:
    """What is asked of all memories of one user.

    ``context`` may hold ``as_of`` (ISO 8601: what was known then), ``now`` (ISO 8601: by which memories expire; else the
    clock) and anything a router of one's own reads.
    """

    query: str
    user_id: str
    max_results: int = DEFAULT_MAX_RESULTS
    context: Mapping[str, Any] = field(default_factory=dict)
    target_memory_types: tuple[MemoryType, ...] | None = None
    """Ask only these; None leaves it to the routing."""
    preferred_strategy: RetrievalStrategy | None = None
    """Used by every agent that implements it; None leaves it to the routing."""


@dataclass(frozen=True, slots=True)
class RoutingDecision:
    """Which agents are asked, how, and why."""

    target_memory_types: tuple[MemoryType, ...]
    """Most fitting first; at least one."""
    selected_strategies: Mapping[MemoryType, RetrievalStrategy]
    """One for each target, which its agent implements."""
    strategy_weights: Mapping[MemoryType, float]
    """In (0, 1], of each target under its strategy."""
    reasons: tuple[str, ...]
    """A sentence for each thing that decided."""
    confidence: float
    """In [0, 1]: the top type's share of all the evidence."""


@dataclass(frozen=True, slots=True)
class RoutingResult:
    """A decision, and who made it."""

    decision: RoutingDecision
    method: Literal["rules", "chat", "given"]
    fallback_reason: str | None = None
    """Why the rules decided though a chat model is configured."""


@dataclass(frozen=True, slots=True)
class RetrievedMemory:
    """One memory that the orchestrator found, with everything that found it."""

    id: str
    memory_type: MemoryType
    """Of the source that scored highest; so are ``content``, ``source_agent`` and ``retrieval_strategy``."""
    content: str
    relevance_score: float
    """In [0, 1], higher is better; see ``orchestrator``."""
    source_agent: str
    retrieval_strategy: RetrievalStrategy
    metadata: Mapping[str, Any]
    """``evidence`` (ids of what was said), ``at``, ``valid_at``, ``invalid_at``, and what was given with it."""
    sources: tuple[Mapping[str, Any], ...] = ()
    """Of each agent that found it, best first: ``agent``, ``memory_type``, ``strategy``, ``rank``, ``base_score``,
    ``score`` and the ``id`` it has there."""


@dataclass(frozen=True, slots=True)
class AgentOutcome:
    """How asking one agent went."""

    status: Literal["ok", "empty", "failed", "timeout"]
    reason: str | None
    count: int
    ms: float


@dataclass(frozen=True, slots=True)
class RetrievalResponse:
    """What was found, and how it came about."""

    memories: tuple[RetrievedMemory, ...]
    """By score descending, then id; at most ``max_results``."""
    routing: RoutingResult
    outcomes: Mapping[str, AgentOutcome]
    """By agent id, of every agent that was asked."""
    processing_time_ms: float

    @property
    def degraded(self) -> tuple[str, ...]:
        """Agents that failed or ran out of time."""
        return tuple(
            name for name, outcome in self.outcomes.items() if outcome.status in ("failed", "timeout")
        )


@dataclass(frozen=True, slots=True)
class Remembered:
    """What became of a text that was to be remembered."""

    evidence_id: str
    """Of the text itself, verbatim."""
    memories: tuple[Mapping[str, Any], ...]
    """What was derived from it or confirmed by it: ``id``, ``memory_type``, ``content``, ``change`` (``new``,
    ``repeated``, ``superseded``, ``ended``) and ``reason``."""


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What was deleted, and the proof."""

    memories: int
    """Deleted, with what was derived from them."""
    searched: int
    """Searches made afterwards for what was deleted."""
    found: int
    """Of these, those that still found it; 0, or the deletion failed."""


def moment_text(moment: datetime | None) -> str | None:
    """As stored and shown: ISO 8601."""
    return None if moment is None else moment.isoformat()
