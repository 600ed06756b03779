"""The orchestrator over fake agents: fan-out, scores, merging, and every kind of failure."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langgraph.checkpoint.memory import InMemorySaver

from agentic_rag.errors import InputError
from agentic_rag.memory.orchestrator import FLOOR, MemoryOrchestrator
from agentic_rag.memory.routing.router import Router
from agentic_rag.memory.schemas import (
    MemoryType,
    RetrievalRequest,
    RetrievalStrategy,
    TaskRequest,
    TaskResponse,
)

CORE, EPISODIC, SEMANTIC, PROCEDURAL, WORKING = MemoryType
EMBEDDING = RetrievalStrategy.EMBEDDING


class Told:
    """An agent that finds what it is told to, or does what it is told instead."""

    def __init__(self, kind: MemoryType, found: Any = (), *, instead: str | None = None) -> None:
        self.memory_type = kind
        self.agent_id = f"{kind.value}_agent"
        self.strategies = (EMBEDDING,)
        self.found = found
        self.instead = instead
        self.asked: list[TaskRequest] = []

    async def initialize(self) -> None:
        if self.instead == "never ready":
            raise RuntimeError("never ready")

    async def execute_task(self, task: TaskRequest) -> TaskResponse:
        self.asked.append(task)
        if self.instead == "raise":
            raise RuntimeError("the disk is full")
        if self.instead == "hang":
            await asyncio.sleep(60)
        if self.instead == "deny":
            return TaskResponse(task.task_id, False, {}, "no", 0.0)
        if self.instead == "mumble":
            return TaskResponse(task.task_id, True, {"results": [{"no": "id"}, {"id": 7}]}, None, 0.0)
        if self.instead == "nothing":
            return TaskResponse(task.task_id, True, {}, None, 0.0)
        results = [
            {"id": name, "content": name, "score": score, "evidence": list(said)}
            for name, score, said in self.found
        ]
        return TaskResponse(task.task_id, True, {"results": results, "strategy": "embedding"}, None, 0.0)


def orchestrator(agents: Sequence[Told], **given: Any) -> MemoryOrchestrator:
    by_kind = {agent.memory_type: agent for agent in agents}
    router = Router({kind: agent.strategies for kind, agent in by_kind.items()})
    return MemoryOrchestrator(by_kind, router, timeout_ms=100, **given)


def request(**given: Any) -> RetrievalRequest:
    return RetrievalRequest("salt", "ada", **given)


async def test_a_score_is_base_times_weight_times_place():
    agent = Told(WORKING, [("a", 0.8, ["a"]), ("b", 0.5, ["b"])])
    found = await orchestrator([agent]).execute_retrieval(request())
    weight = found.routing.decision.strategy_weights[WORKING]
    assert [(one.id, one.relevance_score) for one in found.memories] == [
        ("a", pytest.approx(0.8 * weight)),
        ("b", pytest.approx(0.5 * weight * 0.95)),
    ]


async def test_the_penalty_has_a_floor():
    agent = Told(WORKING, [(f"{place:02}", 0.9, [f"{place:02}"]) for place in range(25)])
    found = await orchestrator([agent]).execute_retrieval(request(max_results=25))
    weight = found.routing.decision.strategy_weights[WORKING]
    assert found.memories[-1].relevance_score == pytest.approx(0.9 * weight * FLOOR)


async def test_scores_above_one_are_divided_by_the_best():
    agent = Told(WORKING, [("a", 8.0, ["a"]), ("b", 4.0, ["b"])])
    found = await orchestrator([agent]).execute_retrieval(request())
    assert found.memories[0].sources[0]["base_score"] == 1.0
    assert found.memories[1].sources[0]["base_score"] == 0.5


async def test_what_several_agents_found_counts_once_with_all_its_sources():
    core, semantic = (
        Told(CORE, [("line", 0.9, ["said-1"])]),
        Told(SEMANTIC, [("fact", 0.6, ["said-0", "said-1"])]),
    )
    found = await orchestrator([core, semantic]).execute_retrieval(request())
    (memory,) = found.memories
    scores = [source["score"] for source in memory.sources]
    assert memory.relevance_score == pytest.approx(1 - math.prod(1 - score for score in scores))
    assert {source["agent"] for source in memory.sources} == {"core_agent", "semantic_agent"}
    assert memory.source_agent == memory.sources[0]["agent"]
    assert scores == sorted(scores, reverse=True)


async def test_equal_scores_are_in_order_of_ids_and_only_so_many_are_given():
    kinds = (CORE, PROCEDURAL, WORKING)
    agents = [Told(kind, [(name, 0.5, [name])]) for kind, name in zip(kinds, "cab", strict=True)]
    found = await orchestrator(agents).execute_retrieval(request(max_results=2))
    assert [one.id for one in found.memories] == ["a", "b"]


async def test_only_the_types_that_are_named_are_asked_by_the_strategy_that_is_named():
    agents = [Told(kind) for kind in MemoryType]
    await orchestrator(agents).execute_retrieval(
        request(target_memory_types=(CORE,), preferred_strategy=EMBEDDING)
    )
    assert [len(agent.asked) for agent in agents] == [1, 0, 0, 0, 0]
    assert agents[0].asked[0].parameters["strategy"] == "embedding"


async def test_what_held_then_is_passed_on():
    agent = Told(CORE)
    await orchestrator([agent]).execute_retrieval(request(context={"as_of": "2024-01-01", "other": 1}))
    asked = agent.asked[0].parameters
    assert (asked["user_id"], asked["query"], asked["as_of"]) == ("ada", "salt", "2024-01-01")
    assert "other" not in asked


FAILURES = ("raise", "hang", "deny", "mumble", "nothing", "never ready")


@settings(max_examples=40)
@given(st.dictionaries(st.sampled_from(MemoryType), st.sampled_from(FAILURES)))
def test_any_failing_agents_leave_exactly_the_results_of_the_others(failing: Mapping[MemoryType, str]):
    def agents(chosen: Mapping[MemoryType, str]) -> list[Told]:
        return [
            Told(kind, [(kind.value, 0.9, [kind.value])], instead=chosen.get(kind)) for kind in MemoryType
        ]

    async def run() -> None:
        late = {kind for kind, how in failing.items() if how != "never ready"}
        found = await orchestrator(agents(failing)).execute_retrieval(request())
        whole = await orchestrator(agents({})).execute_retrieval(request())
        assert found.memories == tuple(one for one in whole.memories if one.memory_type not in late)
        for kind, how in failing.items():
            outcome = found.outcomes[f"{kind.value}_agent"]
            expected = {"hang": "timeout", "raise": "failed", "deny": "failed", "never ready": "ok"}.get(
                how, "empty"
            )
            assert outcome.status == expected
            assert bool(outcome.reason) == (expected in ("failed", "timeout"))

    asyncio.run(run())


@pytest.mark.parametrize("score", [None, "0.5", math.nan, -1.0, True])
async def test_a_score_that_is_none_costs_the_agent_its_result_alone(score: Any):
    bad, good = Told(CORE, [("bad", score, ["bad"])]), Told(WORKING, [("good", 0.5, ["good"])])
    found = await orchestrator([bad, good]).execute_retrieval(request())
    assert "good" in [one.id for one in found.memories]
    assert all(0 <= one.relevance_score <= 1 for one in found.memories)


async def test_only_so_many_are_asked_at_once():
    under_way, most = 0, 0

    class Counting(Told):
        async def execute_task(self, task: TaskRequest) -> TaskResponse:
            nonlocal under_way, most
            under_way += 1
            most = max(most, under_way)
            await asyncio.sleep(0.01)
            under_way -= 1
            return await super().execute_task(task)

    await orchestrator([Counting(kind) for kind in MemoryType], at_once=2).execute_retrieval(request())
    assert most == 2


async def test_the_graph_is_used_by_itself_and_keeps_nothing_of_an_earlier_run():
    agent = Told(CORE, [("a", 0.9, ["a"])])
    graph = orchestrator([agent]).build_graph().compile(checkpointer=InMemorySaver())
    config: Any = {"configurable": {"thread_id": "t"}}
    asked: Any = {"query": "salt", "user_id": "ada"}
    first = await graph.ainvoke(asked, config)
    agent.found = [("b", 0.9, ["b"])]
    second = await graph.ainvoke(asked, config)
    assert [one["id"] for one in first["memories"]] == ["a"]
    assert [one["id"] for one in second["memories"]] == ["b"]


@pytest.mark.parametrize(
    ("keys", "told"),
    [
        ({}, "a memory needs the id of its user"),
        ({"user_id": "ada"}, "a question is needed"),
        ({"user_id": "ada", "query": " "}, "a question is needed"),
        ({"user_id": "ada", "query": "salt", "max_results": 0}, "max_results must be"),
        ({"user_id": "ada", "query": "salt", "memory_types": ["dreams"]}, "core, episodic, semantic"),
        ({"user_id": "ada", "query": "salt", "strategy": "guess"}, "embedding, bm25"),
    ],
)
async def test_bad_input_is_the_callers(keys: Any, told: str):
    with pytest.raises(InputError, match=told):
        await orchestrator([Told(CORE)]).graph.ainvoke(keys)


async def test_a_log_tells_nothing_personal(caplog: pytest.LogCaptureFixture):
    caplog.set_level("DEBUG")
    await orchestrator([Told(CORE, instead="raise")]).execute_retrieval(request())
    assert "salt" not in caplog.text
    assert "ada" not in caplog.text
