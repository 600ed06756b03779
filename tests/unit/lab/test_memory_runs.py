"""The three graphs with operators of the test's own: order, results, failures, resuming."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

from agentic_rag.errors import ConfigError, InputError, ModelError, RunError
from agentic_rag_lab.designs.config import RuntimeConfig
from agentic_rag_lab.designs.conversation import Conversation, Dialog, Question, Session
from agentic_rag_lab.designs.graph import build_insert_graph, build_main_graph, build_test_graph
from agentic_rag_lab.designs.memory import Memory
from agentic_rag_lab.designs.runs import Pipelines, Runs
from agentic_rag_lab.designs.state import MainState


class Lists:
    """A memory that keeps texts, and is closed once."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.asked: list[str] = []
        self.closed = 0

    async def insert(self, text: str, vector: Any = None, metadata: Any = None) -> str:
        self.texts.append(text)
        return str(len(self.texts))

    async def retrieve(
        self, query: Any = None, vector: Any = None, metadata: Any = None, *, top_k: Any = None
    ):
        self.asked.append(str(query))
        return [Memory(text=text, metadata=None, entry_id=text, score=None) for text in self.texts]

    async def close(self) -> None:
        self.closed += 1


class Step:
    """An operator that writes down its name, and does what it is told."""

    def __init__(self, name: str, log: list[str], does: Any = None) -> None:
        self.name, self.log, self.does = name, log, does

    async def execute(self, data: Mapping[str, Any]) -> dict[str, Any]:
        self.log.append(self.name)
        found = self.does(data) if self.does is not None else {}
        return await found if hasattr(found, "__await__") else found


def conversation(questions: int = 2) -> Conversation:
    def said(*texts: str) -> tuple[Dialog, ...]:
        return tuple(Dialog(speaker="Alice", text=text, date_time="2023-08-01") for text in texts)

    sessions = (Session(1, said("a", "b", "c"), ("D1:1", "D1:2", "D1:3")), Session(2, said("d"), ("D2:1",)))
    asked = [
        Question(1, "first?", "a", "single-hop", ("D1:1",)),
        Question(2, "last?", "d", "single-hop", ("D2:1",)),
    ]
    return Conversation("c", sessions, tuple(asked[:questions]))


def failing(error: Exception, key: str = "packet_idx", value: int = 1, does: Any = None) -> Any:
    """What a step does that raises the error where the data hold the value."""

    def fails(data: Mapping[str, Any]) -> dict[str, Any]:
        if data[key] == value:
            raise error
        return does or {}

    return fails


class Design:
    """Pipelines over ``Lists``, with what each step is to do."""

    def __init__(self, **does: Any) -> None:
        self.log: list[str] = []
        self.does = does
        self.services: list[Lists] = []
        self.told: list[str] = []
        self.secondary = Lists()

    async def open(self, _: Conversation) -> Pipelines:
        service = Lists()
        self.services.append(service)

        async def inserted(data: Mapping[str, Any]) -> dict[str, Any]:
            return {"inserted": [await service.insert(d["text"]) for d in data["dialogs"]]}

        async def retrieved(data: Mapping[str, Any]) -> dict[str, Any]:
            return {"memory_data": await service.retrieve(data["question"])}

        does = {
            "MemoryInsert": inserted,
            "MemoryRetrieval": retrieved,
            "MemoryTest": lambda data: {
                "predicted_answer": data["memory_data"][-1]["text"],
                "is_correct": True,
            },
            **self.does,
        }
        steps = {
            name: Step(name, self.log, does.get(name))
            for name in (
                "PreInsert", "MemoryInsert", "PostInsert",
                "PreRetrieval", "MemoryRetrieval", "PostRetrieval", "MemoryTest",
            )
        }  # fmt: skip
        told = lambda name, given, written: self.told.append(name)  # noqa: E731
        insert = (steps[n] for n in ("PreInsert", "MemoryInsert", "PostInsert"))
        test = (steps[n] for n in ("PreRetrieval", "MemoryRetrieval", "PostRetrieval", "MemoryTest"))
        return Pipelines(
            service,
            build_insert_graph(*insert, on_step=told),
            build_test_graph(*test, on_step=told),
            (self.secondary,),
        )

    def runs(self, *, questions: int = 2, parallel: int = 1, **records: Any) -> Runs:
        async def load(data: str | None, task_id: str) -> Conversation:
            return conversation(questions)

        return Runs(load, self.open, RuntimeConfig(test_segments=2, parallel=parallel), **records)


async def test_packets_and_questions_go_their_ways():
    design = Design()
    state = await build_main_graph(design.runs()).ainvoke({"task_id": "c"})
    insert, test = ["PreInsert", "MemoryInsert", "PostInsert"], ["PreRetrieval", "MemoryRetrieval", "PostRetrieval", "MemoryTest"]  # fmt: skip
    assert design.log == [*insert, *test, *insert, *insert, *test]
    assert design.told == design.log
    assert [r["question_id"] for r in state["results"]] == [1, 2]
    assert [r["predicted_answer"] for r in state["results"]] == ["b", "d"]
    assert [r["status"] for r in state["results"]] == ["ok", "ok"]
    assert state["results"][0].keys() >= {"question", "answer", "task_id", "session_id", "reference_time"}
    assert set(state["results"][0]["milliseconds"]) == set(test)
    assert state["inserts"] == {
        "packets": 3, "inserted": 4, "skipped_turns": 0, "malformed_lines": 0, "forgotten": 0,
        "failed": 0, "reasons": {},
    }  # fmt: skip
    assert [service.closed for service in design.services] == [1]


@pytest.mark.parametrize("operator", ["PreRetrieval", "MemoryRetrieval", "PostRetrieval", "MemoryTest"])
async def test_a_failing_operator_fails_its_question_with_the_reason(operator: str):
    answered = {"memory_data": [], "predicted_answer": "d", "is_correct": True}
    fails = failing(ZeroDivisionError("nothing to divide by"), "question_id", does=answered)
    state = await build_main_graph(Design(**{operator: fails}).runs()).ainvoke({"task_id": "c"})
    first, second = state["results"]
    assert (first["status"], first["reason"]) == ("failed", "ZeroDivisionError: nothing to divide by")
    assert second["question_id"] == 2


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (ModelError("the embedding model is busy"), "ModelError: the embedding model is busy"),
        (KeyError("speaker"), "KeyError: 'speaker'"),
    ],
)
async def test_a_failing_insert_is_counted_and_the_run_goes_on(error: Exception, reason: str):
    state = await build_main_graph(Design(PreInsert=failing(error)).runs()).ainvoke({"task_id": "c"})
    assert state["inserts"]["failed"] == 1
    assert state["inserts"]["reasons"] == {reason: 1}
    assert state["inserts"]["inserted"] == 3
    assert len(state["results"]) == 2


async def test_wrong_input_ends_the_run_and_closes_the_memory():
    design = Design(PreInsert=failing(ConfigError("vectors have 384 numbers, not 1024"), value=0))
    runs = design.runs()
    with pytest.raises(ConfigError, match="384"):
        await build_main_graph(runs).ainvoke({"task_id": "c"})
    await runs.close()
    assert [service.closed for service in design.services] == [1]


async def test_known_results_are_not_asked_again():
    design = Design()
    heard: list[int] = []
    runs = design.runs(
        known_result=lambda task, question, packet: (
            {"question_id": question, "status": "kept"} if question == 1 else None
        ),
        on_result=lambda task, packet, result: heard.append(result["question_id"]),
    )
    state = await build_main_graph(runs).ainvoke({"task_id": "c"})
    assert [r["status"] for r in state["results"]] == ["kept", "ok"]
    assert heard == [2]
    assert design.log.count("MemoryTest") == 1
    assert design.services[0].texts == ["a", "b", "c", "d"]
    assert design.services[0].asked == ["first?", "last?"], (
        "it is asked at the same points as without records"
    )
    assert design.secondary.asked == ["first?"]


async def test_a_service_that_fails_a_known_question_does_not_end_the_run(monkeypatch: pytest.MonkeyPatch):
    async def fails(*arguments: Any, **options: Any) -> list[Memory]:
        raise KeyError("first?")

    design = Design()
    monkeypatch.setattr(design.secondary, "retrieve", fails)
    runs = design.runs(
        known_result=lambda task, question, packet: {"question_id": question, "status": "kept"}
    )
    state = await build_main_graph(runs).ainvoke({"task_id": "c"})
    assert [r["status"] for r in state["results"]] == ["kept", "kept"]


async def test_several_questions_at_once_keep_their_order():
    state = await build_main_graph(Design().runs(parallel=4)).ainvoke({"task_id": "c"})
    assert [r["question_id"] for r in state["results"]] == [1, 2]


async def test_a_conversation_without_turns_is_refused():
    async def load(data: str | None, task_id: str) -> Conversation:
        return Conversation("c", (), ())

    with pytest.raises(InputError, match="no turns"):
        await build_main_graph(Runs(load, Design().open, RuntimeConfig())).ainvoke({"task_id": "c"})


def checkpointed(tmp_path: Path) -> Any:
    return AsyncSqliteSaver.from_conn_string(str(tmp_path / "checkpoints.sqlite"))


THREAD: Any = {"configurable": {"thread_id": "t"}}
NODES = ["MemorySource", "PipelineCaller", "MemorySink"]


@pytest.mark.parametrize("node", NODES)
@pytest.mark.parametrize("times", [1, 2])
async def test_a_run_goes_on_from_its_checkpoint_in_a_process_that_knows_nothing(
    tmp_path: Path, node: str, times: int
):
    async with checkpointed(tmp_path) as saver:
        graph = build_main_graph(Design().runs(), saver)
        given: Any = {"task_id": "c"}
        for _ in range(times):
            await graph.ainvoke(given, THREAD, interrupt_after=[node])
            given = None
    async with checkpointed(tmp_path) as saver:
        design = Design()
        state = await build_main_graph(design.runs(), saver).ainvoke(None, THREAD)
    whole = await build_main_graph(Design().runs()).ainvoke({"task_id": "c"})
    assert [r["predicted_answer"] for r in state["results"]] == ["b", "d"]
    assert state["inserts"] == whole["inserts"]
    assert [(service.texts, service.closed) for service in design.services] == [(["a", "b", "c", "d"], 1)]


async def test_questions_that_were_answered_before_the_restart_are_not_answered_again(tmp_path: Path):
    async with checkpointed(tmp_path) as saver:
        graph = build_main_graph(Design().runs(), saver)
        await graph.ainvoke({"task_id": "c"}, THREAD, interrupt_after=["MemorySink"])
        (first,) = (await graph.aget_state(THREAD)).values["results"]
        design = Design()
        state = await build_main_graph(design.runs(), saver).ainvoke(None, THREAD)
    assert state["results"][0] == first
    assert design.log.count("MemoryTest") == 1
    assert design.services[0].asked == ["first?", "last?"], "the memory is asked at the same points"


async def test_a_thread_may_be_begun_anew_after_a_restart(tmp_path: Path):
    async with checkpointed(tmp_path) as saver:
        await build_main_graph(Design().runs(), saver).ainvoke(
            {"task_id": "c"}, THREAD, interrupt_after=["PipelineCaller"]
        )
        design = Design()
        state = await build_main_graph(design.runs(), saver).ainvoke({"task_id": "c"}, THREAD)
    assert [r["question_id"] for r in state["results"]] == [1, 2]
    assert state["inserts"]["packets"] == 3
    assert [service.texts for service in design.services] == [["a", "b", "c", "d"]]


async def test_a_conversation_that_has_changed_since_is_refused(tmp_path: Path):
    design = Design()
    runs = design.runs()
    changed = conversation()
    changed = replace(changed, sessions=(replace(changed.sessions[0], number=7), changed.sessions[1]))

    async def load(data: str | None, task_id: str) -> Conversation:
        return changed

    async with checkpointed(tmp_path) as saver:
        await build_main_graph(Design().runs(), saver).ainvoke(
            {"task_id": "c"}, THREAD, interrupt_after=["MemorySink"]
        )
        runs.load = load
        with pytest.raises(RunError, match=r"c is not the conversation .* on a new thread"):
            await build_main_graph(runs, saver).ainvoke(None, THREAD)
    assert [service.closed for service in design.services] == [1]


async def test_a_memory_that_cannot_be_made_anew_is_refused_and_then_goes_on(tmp_path: Path):
    busy = [True]

    def fails(data: Mapping[str, Any]) -> dict[str, Any]:
        if busy:
            raise ModelError("the embedding model is busy")
        return {}

    design = Design(PreInsert=fails)
    async with checkpointed(tmp_path) as saver:
        await build_main_graph(Design().runs(), saver).ainvoke(
            {"task_id": "c"}, THREAD, interrupt_after=["MemorySink"]
        )
        graph = build_main_graph(design.runs(), saver)
        with pytest.raises(RunError, match="cannot be made anew: ModelError: the embedding model is busy"):
            await graph.ainvoke(None, THREAD)
        busy.clear()
        assert len((await graph.ainvoke(None, THREAD))["results"]) == 2
    assert [(service.texts, service.closed) for service in design.services] == [
        ([], 1),
        (["a", "b", "c", "d"], 1),
    ]


async def test_a_packet_that_was_inserted_in_part_is_not_inserted_twice():
    once = [True]

    def fails(data: Mapping[str, Any]) -> dict[str, Any]:
        if data["packet_idx"] == 1 and once:
            once.clear()
            raise ConfigError("after the packet was remembered")
        return {}

    design = Design(PostInsert=fails)
    graph = build_main_graph(design.runs(), InMemorySaver())
    with pytest.raises(ConfigError, match="after the packet"):
        await graph.ainvoke({"task_id": "c"}, THREAD)
    await graph.ainvoke(None, THREAD)
    assert [service.texts for service in design.services] == [["a", "b", "c"], ["a", "b", "c", "d"]]


def failing_design(failing: list[str]) -> Design:
    """One that fails at the second packet, once for each of the reasons."""

    def fails(data: Mapping[str, Any]) -> dict[str, Any]:
        if data["packet_idx"] == 1 and failing:
            raise ConfigError(failing.pop())
        return {}

    return Design(PreInsert=fails)


async def test_a_thread_may_be_begun_anew_after_its_run_and_in_the_middle_of_one():
    failing: list[str] = []
    design = failing_design(failing)
    graph = build_main_graph(design.runs())
    graph.checkpointer = InMemorySaver()
    thread: Any = {"configurable": {"thread_id": "t"}}
    states = [await graph.ainvoke({"task_id": "c"}, thread) for _ in range(2)]
    failing.append("broken off")
    with pytest.raises(ConfigError, match="broken off"):
        await graph.ainvoke({"task_id": "c"}, thread)
    states.append(await graph.ainvoke({"task_id": "c"}, thread))
    assert [[r["question_id"] for r in state["results"]] for state in states] == [[1, 2]] * 3
    assert [state["inserts"]["packets"] for state in states] == [3] * 3
    assert [service.texts for service in design.services] == [["a", "b", "c", "d"]] * 2 + [
        ["a", "b"],
        ["a", "b", "c", "d"],
    ]
    assert [service.closed for service in design.services] == [1] * 4


@pytest.mark.parametrize("given", [{}, {"task_id": 26}])
async def test_a_run_without_a_task_is_told_what_it_lacks(given: dict[str, Any]):
    with pytest.raises(InputError, match="'task_id', the name of a conversation"):
        await build_main_graph(Design().runs()).ainvoke({"data": "x", **given})


async def test_runs_that_were_broken_off_are_closed_when_many_others_have_begun_and_made_anew(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr("agentic_rag_lab.designs.runs.MAX_OPEN", 2)
    design = Design()
    runs = design.runs()
    packet = conversation().packets()[0]
    begun: list[MainState] = [
        {"run": await runs.start(None, "c"), "task_id": "c", "packet": packet, "inserts": {"failed": 0}}
        for _ in range(2)
    ]
    kept = await runs.of(begun[0], 0)  # goes on, so the other one is the oldest
    await runs.start(None, "c")
    assert [service.closed for service in design.services] == [0, 1, 0]
    assert await runs.of(begun[0], 0) is kept
    again = await runs.of(begun[1], 1)
    assert again.pipelines.service is design.services[3]
    assert design.services[3].texts == ["a", "b"]
