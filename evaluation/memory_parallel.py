"""Time of five agents asked together compared with the slowest alone, and with an agent that hangs."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from agentic_rag import Rag, RagConfig, open_rag
from agentic_rag.memory.exchange import written_export
from agentic_rag.memory.orchestrator import MemoryOrchestrator
from agentic_rag.memory.routing.router import Router
from agentic_rag.memory.schemas import (
    MemoryAgent,
    MemoryType,
    RetrievalRequest,
    RetrievalStrategy,
    TaskRequest,
    TaskResponse,
)
from figures import Row, row
from memory_people import data_folder, memories, question, user_id

SLOW_SECONDS = 0.2
HANGING_TIMEOUT_MS = 500
MOST_TOGETHER = 1.3
"""Maximum ratio to the slowest agent alone."""
MEMORIES = 300
QUESTIONS = 20


@dataclass(frozen=True, slots=True)
class SleepingAgent:
    """Returns one memory after a delay."""

    memory_type: MemoryType
    seconds: float
    strategies: tuple[RetrievalStrategy, ...] = (RetrievalStrategy.STRING_MATCH,)

    @property
    def agent_id(self) -> str:
        return f"{self.memory_type.value}_agent"

    async def initialize(self) -> None:
        return None

    async def execute_task(self, task: TaskRequest) -> TaskResponse:
        await asyncio.sleep(self.seconds)
        found = {"id": self.agent_id, "content": self.agent_id, "score": 0.5}
        return TaskResponse(task.task_id, True, {"results": [found]}, None, 1000 * self.seconds)


def _orchestrator(seconds: Mapping[MemoryType, float], timeout_ms: int) -> MemoryOrchestrator:
    agents: dict[MemoryType, MemoryAgent] = {kind: SleepingAgent(kind, seconds[kind]) for kind in MemoryType}
    router = Router({kind: agent.strategies for kind, agent in agents.items()}, None)
    return MemoryOrchestrator(agents, router, timeout_ms=timeout_ms)


async def _seconds(work: Awaitable[object]) -> float:
    started = time.perf_counter()
    await work
    return time.perf_counter() - started


async def sleeping_rows() -> list[Row]:
    """Agents with a delay; then with one that exceeds its time limit."""
    request = RetrievalRequest("what is there?", "somebody", target_memory_types=tuple(MemoryType))
    slow = dict.fromkeys(MemoryType, SLOW_SECONDS)
    alone = await _seconds(SleepingAgent(MemoryType.CORE, SLOW_SECONDS).execute_task(_task("somebody", "?")))
    waiting = _orchestrator(slow, 5000)
    together = median([await _seconds(waiting.execute_retrieval(request)) for _ in range(3)])
    hanging = _orchestrator({**slow, MemoryType.SEMANTIC: 3600.0}, HANGING_TIMEOUT_MS)
    started = time.perf_counter()
    response = await hanging.execute_retrieval(request)
    late = time.perf_counter() - started
    others = {memory.source_agent for memory in response.memories}
    return [
        row("five sleeping agents together / the slowest alone", "times", together / alone, floor=MOST_TOGETHER),
        row("one agent hanging: answer / its time-out", "times", 1000 * late / HANGING_TIMEOUT_MS,
            floor=MOST_TOGETHER),
        row("one agent hanging: agents that answered", "of 4", len(others), bound="min", floor=4),
        row("one agent hanging: agents told as late", "of 1", len(response.degraded), bound="min", floor=1),
    ]  # fmt: skip


def _task(user: str, query: str, strategy: RetrievalStrategy | None = None) -> TaskRequest:
    given = {"user_id": user, "query": query, "limit": 30}
    return TaskRequest("search", given if strategy is None else {**given, "strategy": strategy.value})


async def real_rows(rag: Rag, user: str, questions: list[str]) -> list[Row]:
    """The product's five agents, each asked as by the routing."""
    types = list(MemoryType)
    together: list[float] = []
    alone: dict[MemoryType, list[float]] = {kind: [] for kind in types}
    for text in questions:
        response = await rag.memory.search(text, user, memory_types=types)
        strategies = response.routing.decision.selected_strategies
        together.append(await _seconds(rag.memory.search(text, user, memory_types=types)))
        for kind, agent in rag.memory.agents.items():
            task = _task(user, text, strategies[kind])
            alone[kind].append(await _seconds(agent.execute_task(task)))
    each = {kind: median(found) for kind, found in alone.items()}
    slowest = max(each, key=lambda kind: each[kind])
    return [
        row(f"real agents together, median of {len(questions)}; the slowest alone: {slowest}", "ms",
            1000 * median(together), theirs=1000 * each[slowest], peer="slowest alone"),
        row("real agents together / the slowest alone", "times", median(together) / each[slowest]),
        row("real agents one after the other / the slowest alone", "times", sum(each.values()) / each[slowest]),
    ]  # fmt: skip


async def run(keep: Path | None) -> list[Row]:
    """All rows; the real agents with the bundled model, on a user with ``MEMORIES`` memories."""
    rows = await sleeping_rows()
    with data_folder(keep, "parallel") as folder:
        async with open_rag(RagConfig(data_dir=folder)) as rag:
            user = user_id(0)
            file = folder / "people.jsonl"
            written_export(file, user, memories(0, MEMORIES))
            await rag.memory.import_(user, file)
            chance = random.Random(0)
            asked = [question(0, MEMORIES, chance) for _ in range(QUESTIONS)]
            return rows + await real_rows(rag, user, asked)
