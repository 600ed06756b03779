"""The orchestrator: a LangGraph graph that routes a question, asks the agents in parallel, and merges their results.

::

    route ─► ask_agent (one run an agent, by Send) ─► merge_memories

    score = base · weight of the strategy used · max(FLOOR, 1 - 0.05 · place)

``base`` is in [0, 1]: the agents' own scores, which are relevance on one scale; divided by the agent's best where that
exceeds 1.

A memory that several agents found counts once, with all its sources: ``relevance_score = 1 - Π (1 - score)``, so that
agreement counts, and no score exceeds 1.
"""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from operator import itemgetter
from typing import Annotated, Any, Literal, Protocol, cast

from langgraph.graph import END, START, StateGraph
from langgraph.types import Send
from pydantic import Field
from typing_extensions import TypedDict

from agentic_rag.domain import Metadata
from agentic_rag.domain.identity import memory_dataset
from agentic_rag.domain.json_values import Json
from agentic_rag.domain.loops import check_loop, running_loop
from agentic_rag.errors import InputError
from agentic_rag.memory.schemas import (
    DEFAULT_MAX_RESULTS,
    DEFAULT_TIMEOUT_MS,
    LATE,
    MAX_RESULTS,
    AgentOutcome,
    MemoryAgent,
    MemoryType,
    RetrievalRequest,
    RetrievalResponse,
    RetrievalStrategy,
    RetrievedMemory,
    RoutingDecision,
    RoutingResult,
    TaskRequest,
    TaskResponse,
    parse_name,
)

PENALTY = 0.05
"""Loss of score for each place further down in the agent's list."""
FLOOR = 0.2
"""Lower bound of the factor that the penalty leaves."""
MIN_STATEMENT_RATING = 0.5
"""Share of the best source's score from which a fact stands for the message that states it: it has its time."""
MORE_PER_AGENT = 3
"""Factor on the memories requested from each agent, because some merge with those of other agents."""
MAX_CONCURRENT = 5
"""Agents asked at a time."""

logger = logging.getLogger(__name__)


class Routes(Protocol):
    """Decides which agents are asked, and with which strategies."""

    async def route(self, request: RetrievalRequest) -> RoutingResult:
        """See ``routing.router.Router``."""


class RetrievalKeys(TypedDict, total=False):
    """What the caller of the graph gives."""

    query: Annotated[str, Field(description="What is asked of the memories.")]
    user_id: Annotated[str, Field(description="Whose memories are asked. Needed.")]
    max_results: Annotated[int, Field(description="Memories to give, 1 to 1000. Unset: 10.", ge=1, le=1000)]
    context: Annotated[
        Json,
        Field(
            description='{"as_of": "2024-06-30", "now": …}: what held then; by which time memories expire.'
        ),
    ]
    memory_types: Annotated[
        list[str] | None, Field(description="Ask only these agents. Unset: as the routing decides.")
    ]
    strategy: Annotated[
        str | None, Field(description="Of every agent that has it. Unset: as the routing decides.")
    ]


class RoutingValues(TypedDict):
    """A ``RoutingResult`` as plain values."""

    target_memory_types: list[str]
    selected_strategies: dict[str, str]
    """By kind of memory, as the weights."""
    strategy_weights: dict[str, float]
    reasons: list[str]
    confidence: float
    method: Literal["rules", "chat", "given"]
    fallback_reason: str | None


class OutcomeValues(TypedDict):
    """An ``AgentOutcome`` as plain values."""

    status: str
    reason: str | None
    count: int
    ms: float


class MemoryScores(TypedDict):
    """One agent's judgement of a memory."""

    id: str
    agent: str
    memory_type: str
    strategy: str
    rank: int
    """From 1 within the agent."""
    base_score: float
    score: float


class AgentMemory(MemoryScores):
    """A memory as one agent found it."""

    content: str
    metadata: Metadata


class MergedMemory(TypedDict):
    """A ``RetrievedMemory`` as plain values: what one or more agents found."""

    id: str
    memory_type: str
    content: str
    relevance_score: float
    source_agent: str
    retrieval_strategy: str
    metadata: Metadata
    sources: list[MemoryScores]


class AgentAnswer(TypedDict):
    """What asking one agent gave."""

    agent: str
    outcome: OutcomeValues
    memories: list[AgentMemory]


def join_answers(
    earlier_answers: list[AgentAnswer], new_answers: list[AgentAnswer] | None
) -> list[AgentAnswer]:
    """Reducer of ``answers``; None clears the answers of an earlier run on the thread."""
    return [] if new_answers is None else [*earlier_answers, *new_answers]


class MemoryState(RetrievalKeys, total=False):
    """The caller's keys, and the keys that each node adds; plain values."""

    routing: Annotated[RoutingValues, Field(description="Targets, strategies, weights, and why.")]
    answers: Annotated[
        list[AgentAnswer], Field(description="Of each agent its outcome and finds."), join_answers
    ]
    memories: Annotated[list[MergedMemory], Field(description="What was found, best first.")]
    outcomes: Annotated[dict[str, OutcomeValues], Field(description="By agent, how asking it went.")]


class AgentTask(TypedDict):
    """Input of ``ask_agent``."""

    memory_type: str
    strategy: str
    weight: float
    parameters: Json


class MemoryOrchestrator:
    """Asks all agents together; ``graph`` is the compiled LangGraph graph, which can be invoked by itself, on the event
    loop in which the orchestrator was made.

    Args:
        agents: the agents to ask, one of each kind.
        router: see ``Routes``.
        timeout_ms: time limit of each agent; a late agent does not delay the others' results.
        at_once: agents asked at a time.
    """

    def __init__(
        self,
        agents: Mapping[MemoryType, MemoryAgent],
        router: Routes,
        *,
        timeout_ms: int = DEFAULT_TIMEOUT_MS,
        at_once: int = MAX_CONCURRENT,
    ) -> None:
        self._agents = dict(agents)
        self._router = router
        self._timeout_ms = timeout_ms
        self._loop = running_loop()
        self._initialization = asyncio.Lock()
        self._is_ready = False
        self.graph = (
            self.build_graph()
            .compile(name="memory_retrieval", checkpointer=False)
            .with_config({"max_concurrency": at_once})
        )

    async def initialize(self) -> None:
        """Initialise all agents; an agent that fails reports its error when it is asked."""
        async with self._initialization:
            if not self._is_ready:
                await asyncio.gather(
                    *(agent.initialize() for agent in self._agents.values()), return_exceptions=True
                )
                self._is_ready = True

    def build_graph(self) -> StateGraph[MemoryState, None, RetrievalKeys, MemoryState]:
        """The uncompiled graph."""
        graph: StateGraph[MemoryState, None, RetrievalKeys, MemoryState] = StateGraph(
            MemoryState, input_schema=RetrievalKeys
        )
        graph.add_node("route", self._route)
        graph.add_node("ask_agent", cast(Any, self._ask_agent))
        graph.add_node("merge_memories", merge_memories)
        graph.add_edge(START, "route")
        graph.add_conditional_edges("route", to_agents, ["ask_agent"])
        graph.add_edge("ask_agent", "merge_memories")
        graph.add_edge("merge_memories", END)
        return graph

    async def execute_retrieval(self, request: RetrievalRequest) -> RetrievalResponse:
        """Ask the agents that the routing chooses.

        Raises:
            InputError: a bad request. A failing agent does not raise; its error is in ``outcomes``.
        """
        started = time.perf_counter()
        state = await self.graph.ainvoke(_keys_of(request))
        return RetrievalResponse(
            memories=tuple(map(_as_memory, state["memories"])),
            routing=_as_routing(state["routing"]),
            outcomes={name: AgentOutcome(**outcome) for name, outcome in state["outcomes"].items()},
            processing_time_ms=round((time.perf_counter() - started) * 1000, 3),
        )

    async def _route(self, state: MemoryState) -> Json:
        check_loop(self._loop)
        request = _check_request(state)
        await self.initialize()
        return {"routing": _plain(await self._router.route(request)), "answers": None}

    async def _ask_agent(self, task: AgentTask) -> MemoryState:
        """One agent's outcome and scored results, never later than its time limit."""
        agent = self._agents[MemoryType(task["memory_type"])]
        started = time.perf_counter()
        request = TaskRequest("search", task["parameters"], timeout_ms=self._timeout_ms)
        asking = asyncio.ensure_future(agent.execute_task(request))
        found: list[AgentMemory] = []
        try:
            # A task that ignores its cancellation is abandoned.
            await asyncio.wait({asking}, timeout=self._timeout_ms / 1000)
            late = not asking.done()
            outcome = _late(self._timeout_ms) if late else _outcome_of(asking.result())
            if outcome.status == "ok":
                found = score_results(agent.agent_id, task, asking.result())
        except Exception as error:  # noqa: BLE001  an agent is a port: what it raises is its failure, and not the call's
            outcome = AgentOutcome("failed", f"{type(error).__name__}: {error}", 0, 0.0)
        finally:
            asking.cancel()
        milliseconds = round((time.perf_counter() - started) * 1000, 3)
        if outcome.reason is not None:
            logger.warning("%s gave nothing: %s", agent.agent_id, outcome.status)
        status = outcome.status if found or outcome.status != "ok" else "empty"
        told = AgentOutcome(status, outcome.reason, len(found), milliseconds)
        values = cast(OutcomeValues, asdict(told))
        return {"answers": [{"agent": agent.agent_id, "outcome": values, "memories": found}]}


def to_agents(state: MemoryState) -> list[Send]:
    """A run of ``ask_agent`` for each target, the best target first."""
    routing, context = state["routing"], state.get("context") or {}
    wanted = state.get("max_results", DEFAULT_MAX_RESULTS)
    parameters = {
        "query": state["query"],
        "user_id": state["user_id"],
        "limit": min(MORE_PER_AGENT * wanted, MAX_RESULTS),
        **{name: context[name] for name in ("as_of", "now") if context.get(name) is not None},
    }
    return [
        Send(
            "ask_agent",
            AgentTask(
                memory_type=kind,
                strategy=routing["selected_strategies"][kind],
                weight=routing["strategy_weights"][kind],
                parameters={**parameters, "strategy": routing["selected_strategies"][kind]},
            ),
        )
        for kind in routing["target_memory_types"]
    ]


def score_results(agent_id: str, task: AgentTask, response: TaskResponse) -> list[AgentMemory]:
    """An agent's results with their scores, in the form of ``RetrievedMemory``; results without an id are left out."""
    results = [one for one in response.result.get("results", ()) if isinstance(one.get("id"), str)]
    # The strategy that the agent reports; the weight stays the one of the routing.
    strategy = response.result.get("strategy", task["strategy"])
    given = [float(one.get("score", 1.0)) for one in results]
    best = max([1.0, *given])
    bases = [max(0.0, score) / best for score in given]
    return [
        {
            "id": one["id"],
            "memory_type": task["memory_type"],
            "content": one.get("content", ""),
            "agent": agent_id,
            "strategy": strategy,
            "rank": place + 1,
            "base_score": base,
            "score": base * task["weight"] * max(FLOOR, 1 - PENALTY * place),
            "metadata": _metadata(one),
        }
        for place, (one, base) in enumerate(zip(results, bases, strict=True))
    ]


def merge_memories(state: MemoryState) -> MemoryState:
    """Writes ``memories`` and ``outcomes``."""
    answers = state["answers"]
    by_origin: dict[str, list[AgentMemory]] = {}
    for found in (one for answer in answers for one in answer["memories"]):
        by_origin.setdefault(_origin(found), []).append(found)
    merged = sorted(
        map(_merge_results, by_origin.values()), key=lambda one: (-one["relevance_score"], one["id"])
    )
    return {
        "memories": merged[: state.get("max_results", DEFAULT_MAX_RESULTS)],
        "outcomes": {
            answer["agent"]: answer["outcome"] for answer in sorted(answers, key=itemgetter("agent"))
        },
    }


def _origin(result: AgentMemory) -> str:
    """The id by which results of several agents merge: the latest message that a memory depends on."""
    evidence = result["metadata"].get("evidence") or [result["id"]]
    return str(evidence[-1])


def _merge_results(results: Sequence[AgentMemory]) -> MergedMemory:
    ordered = sorted(results, key=lambda one: (-one["score"], one["agent"], one["id"]))
    best = next(
        (
            one
            for one in ordered
            if "slot" in one["metadata"] and one["score"] >= MIN_STATEMENT_RATING * ordered[0]["score"]
        ),
        ordered[0],
    )
    return {
        "id": best["id"],
        "memory_type": best["memory_type"],
        "content": best["content"],
        "relevance_score": 1.0 - math.prod(1.0 - one["score"] for one in ordered),
        "source_agent": best["agent"],
        "retrieval_strategy": best["strategy"],
        "metadata": best["metadata"],
        "sources": [_scores(one) for one in ordered],
    }


def _scores(one: AgentMemory) -> MemoryScores:
    return cast(MemoryScores, {name: one[name] for name in MemoryScores.__annotations__})  # type: ignore[literal-required]


def _metadata(one: Mapping[str, Any]) -> Metadata:
    """The metadata given with a memory, its details, its evidence and its dates."""
    known = ("evidence", "at", "valid_at", "invalid_at", "expires_at", "ended")
    shown = ("subject", "slot", "value", "block", "trigger", "steps", "speaker", "person", "order")
    details = one.get("details") or {}
    return {
        **(one.get("metadata") or {}),
        **{name: details[name] for name in shown if details.get(name) is not None},
        **{name: one[name] for name in known if one.get(name) is not None},
    }


def _late(timeout_ms: int) -> AgentOutcome:
    return AgentOutcome("timeout", f"{LATE} {timeout_ms} ms", 0, float(timeout_ms))


def _outcome_of(response: TaskResponse) -> AgentOutcome:
    """The outcome of a task from the agent's response."""
    if response.success:
        return AgentOutcome("ok", None, 0, response.execution_time_ms)
    late = (response.error or "").startswith(LATE)
    return AgentOutcome(
        "timeout" if late else "failed", response.error or "it gave no reason", 0, response.execution_time_ms
    )


def _keys_of(request: RetrievalRequest) -> RetrievalKeys:
    types = request.target_memory_types
    strategy = request.preferred_strategy
    return {
        "query": request.query,
        "user_id": request.user_id,
        "max_results": request.max_results,
        "context": dict(request.context),
        "memory_types": None if types is None else [str(kind) for kind in types],
        "strategy": None if strategy is None else str(strategy),
    }


def _check_request(state: MemoryState) -> RetrievalRequest:
    """The request of the caller's keys; ``InputError`` where they are wrong."""
    memory_dataset(state.get("user_id"))  # type: ignore[arg-type]
    query, wanted = state.get("query"), state.get("max_results", DEFAULT_MAX_RESULTS)
    if not isinstance(query, str) or not query.strip():
        raise InputError(f"a question is needed: query must be a text that is not blank, not {query!r}")
    if isinstance(wanted, bool) or not isinstance(wanted, int) or not 1 <= wanted <= MAX_RESULTS:
        raise InputError(f"max_results must be a whole number from 1 to {MAX_RESULTS}, not {wanted!r}")
    types, strategy = state.get("memory_types"), state.get("strategy")
    return RetrievalRequest(
        query,
        state["user_id"],
        wanted,
        state.get("context") or {},
        None if types is None else tuple(parse_name(MemoryType, kind) for kind in types),
        None if strategy is None else parse_name(RetrievalStrategy, strategy),
    )


def _plain(routing: RoutingResult) -> RoutingValues:
    decision = routing.decision
    return {
        "target_memory_types": [kind.value for kind in decision.target_memory_types],
        "selected_strategies": {k.value: s.value for k, s in decision.selected_strategies.items()},
        "strategy_weights": {kind.value: weight for kind, weight in decision.strategy_weights.items()},
        "reasons": list(decision.reasons),
        "confidence": decision.confidence,
        "method": routing.method,
        "fallback_reason": routing.fallback_reason,
    }


def _as_routing(plain: RoutingValues) -> RoutingResult:
    decision = RoutingDecision(
        tuple(map(MemoryType, plain["target_memory_types"])),
        {MemoryType(k): RetrievalStrategy(s) for k, s in plain["selected_strategies"].items()},
        {MemoryType(kind): weight for kind, weight in plain["strategy_weights"].items()},
        tuple(plain["reasons"]),
        plain["confidence"],
    )
    return RoutingResult(decision, plain["method"], plain["fallback_reason"])


def _as_memory(plain: MergedMemory) -> RetrievedMemory:
    return RetrievedMemory(
        plain["id"],
        MemoryType(plain["memory_type"]),
        plain["content"],
        plain["relevance_score"],
        plain["source_agent"],
        RetrievalStrategy(plain["retrieval_strategy"]),
        plain["metadata"],
        tuple(plain["sources"]),
    )
