"""The three steps of the main graph, and the resources of its runs: a conversation, a memory, both pipelines."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any
from uuid import uuid4

from langgraph.graph.state import CompiledStateGraph

from agentic_rag.errors import InputError, RunError
from agentic_rag_lab.designs.config import RuntimeConfig
from agentic_rag_lab.designs.conversation import (
    Conversation,
    DueQuestions,
    Packet,
    Question,
    is_last,
    last_date,
    schedule,
)
from agentic_rag_lab.designs.memory import Closes, MemoryService
from agentic_rag_lab.designs.post_retrieval.tools import answers
from agentic_rag_lab.designs.state import MainState

CompiledGraph = CompiledStateGraph[Any, Any, Any, Any]


@dataclass(frozen=True, slots=True)
class Pipelines:
    """A memory with its insert and test graphs."""

    service: MemoryService
    insert: CompiledGraph
    test: CompiledGraph
    secondary: tuple[MemoryService, ...] = ()

    @property
    def services(self) -> tuple[MemoryService, ...]:
        return (self.service, *self.secondary)

    def unkept(self) -> Pipelines:
        """The same pipelines, with graphs that make no checkpoints.

        Inside a node that is resumed, a graph with the checkpointer of the outer one would ignore its input and
        resume its own interrupted run.
        """
        without = {"checkpointer": False}
        return replace(self, insert=self.insert.copy(without), test=self.test.copy(without))

    async def close(self) -> None:
        """Close the memories."""
        for service in self.services:
            if isinstance(service, Closes):
                await service.close()


@dataclass(slots=True)
class _Run:
    """One conversation that is inserted into one memory."""

    task_id: str
    """As the caller gave it."""
    conversation: Conversation
    pipelines: Pipelines
    packets: list[Packet]
    points: dict[int, DueQuestions]
    remembered_packets: int | None = 0
    """Number of packets in the memory; None during an insert, or after one that failed."""


MAX_OPEN = 32
"""Maximum number of runs with an open memory; a closed one is filled again when its run continues."""
_COUNT_KEYS = ("inserted", "skipped_turns", "malformed_lines", "forgotten")
_NO_INSERTS: Mapping[str, Any] = {"packets": 0, **dict.fromkeys(_COUNT_KEYS, 0), "failed": 0, "reasons": {}}

Load = Callable[[str | None, str], Awaitable[Conversation]]
Open = Callable[[Conversation], Awaitable[Pipelines]]
OnResult = Callable[[str, int, dict[str, Any]], None]


class Runs:
    """The runs of one process: loads a conversation, opens a fresh memory for it, keeps both until the end.

    Args:
        load: loads a conversation from a file (None: the configured one) and task id.
        open_pipelines: makes a new, empty memory for it, with its graphs.
        runtime: when questions are asked, and how many at once.
        known_result: results of an interrupted run by task and question id; these questions are not asked again.
        on_result: called with the task, the packet and each new test result as soon as it exists.
    """

    def __init__(
        self,
        load: Load,
        open_pipelines: Open,
        runtime: RuntimeConfig,
        *,
        known_result: Callable[[str, int, int], dict[str, Any] | None] | None = None,
        on_result: OnResult | None = None,
    ) -> None:
        self.load = load
        self._open = open_pipelines
        self.runtime = runtime
        self.known_result = known_result or (lambda task, question, packet: None)
        self.on_result = on_result or (lambda task, packet, result: None)
        self._runs: dict[str, _Run] = {}

    async def start(self, data: str | None, task_id: str, name: str | None = None) -> str:
        """Load and open; returns the key of the run, a new unique one without ``name``.

        Raises:
            InputError: no such conversation, or one without turns.
        """
        conversation = await self.load(data, task_id)
        packets = conversation.packets()
        if not packets:
            raise InputError(f"{task_id} has no turns to remember; choose another --task-id")
        due = schedule(conversation, self.runtime.test_segments, retest=self.runtime.retest)
        while len(self._runs) >= MAX_OPEN:
            await self._runs.pop(next(iter(self._runs))).pipelines.close()
        pipelines = (await self._open(conversation)).unkept()
        # Not a counter: a thread that outlives the process must not continue in the memory of another run.
        name = name or uuid4().hex
        self._runs[name] = _Run(
            task_id, conversation, pipelines, packets, {point.packet_idx: point for point in due}
        )
        return name

    async def of(self, state: MainState, through: int) -> _Run:
        """The run of a state, with exactly the first ``through`` packets in its memory.

        The state decides: if the memory is gone (a new process, or too many other runs) or has other contents,
        the packets are inserted again, which gives the same memory.

        Raises:
            RunError: the conversation has changed, or a packet cannot be inserted again.
            InputError: as ``start``.
        """
        name = state["run"]
        run = self._runs.pop(name, None)
        if run is None or run.remembered_packets != through:
            if run is not None:
                await run.pipelines.close()
            try:
                run = await self._restore(state, through)
            except BaseException:
                await self.finish(state)
                raise
        self._runs[name] = run  # at the end: the last used run
        return run

    def open_run(self, state: MainState) -> _Run | None:
        """The run of a state, if its memory is open."""
        return self._runs.get(state.get("run", ""))

    async def _restore(self, state: MainState, through: int) -> _Run:
        """A run whose memory is filled again, with retrievals at the same points as before."""
        run = self._runs[await self.start(state.get("data"), state["task_id"], state["run"])]
        latest = state["packet"]
        if latest["packet_idx"] >= len(run.packets) or run.packets[latest["packet_idx"]] != latest:
            raise RunError(
                f"{run.conversation.task_id} is not the conversation that this run was begun on; "
                "start the run again, on a new thread"
            )
        counts = dict(_NO_INSERTS)
        for packet in run.packets[:through]:
            counts = _add_counts(counts, await insert_packet(run, packet))
            if packet["packet_idx"] in run.points:
                await asked_once(run, run.points[packet["packet_idx"]])
        if counts["failed"] > state["inserts"]["failed"]:
            raise RunError(
                f"the memory of this run cannot be made anew: {'; '.join(counts['reasons'])}; "
                "mend that and go on with the run"
            )
        return run

    async def finish(self, state: MainState) -> None:
        """Close a run's memory."""
        run = self._runs.pop(state.get("run", ""), None)
        if run is not None:
            await run.pipelines.close()

    async def close(self) -> None:
        """Close the memories of interrupted runs."""
        runs, self._runs = list(self._runs.values()), {}
        for run in runs:
            await run.pipelines.close()


@dataclass(frozen=True, slots=True)
class MemorySource:
    """Gives the next packet of the conversation."""

    runs: Runs

    async def execute(self, state: MainState) -> dict[str, Any]:
        """The next ``packet``, and its ``run`` with the results so far; a new run at the start or restart of a thread.

        Raises:
            InputError: no ``task_id``, or an unknown one.
        """
        task_id = state.get("task_id")
        if not isinstance(task_id, str):
            raise InputError(f"a run is given a 'task_id', the name of a conversation, not {task_id!r:.80}")
        if not await self._goes_on(state, task_id):
            await self.runs.finish(state)
            run_name = await self.runs.start(state.get("data"), task_id)
            state = {**state, "run": run_name, "results": [], "inserts": dict(_NO_INSERTS)}
        through = state["inserts"]["packets"]
        run = await self.runs.of(state, through)
        return {
            "run": state["run"],
            "packet": run.packets[through],
            "results": state["results"],
            "inserts": state["inserts"],
        }

    async def _goes_on(self, state: MainState, task_id: str) -> bool:
        """Whether the state's packet belongs to the same run; a thread may be restarted at any point of a run."""
        packet = state.get("packet")
        if packet is None or is_last(packet) or state["inserts"]["packets"] != packet["packet_idx"] + 1:
            return False
        run = self.runs.open_run(state)
        if run is not None:
            return run.task_id == task_id
        return (await self.runs.load(state.get("data"), task_id)).task_id == packet["task_id"]


@dataclass(frozen=True, slots=True)
class PipelineCaller:
    """Inserts the packet, then asks the questions that are due.

    A failure affects only its own packet or question and is recorded with the reason; the run continues. Only wrong
    input (a setting, a vector of another length) ends it, because the next packet would fail the same way.
    """

    runs: Runs

    async def execute(self, state: MainState) -> dict[str, Any]:
        packet = state["packet"]
        run = await self.runs.of(state, packet["packet_idx"])
        result = await insert_packet(run, packet)
        point = run.points.get(packet["packet_idx"])
        results = [] if point is None else await self._test(run, packet, point)
        return {"insert_result": result, "test_results": results}

    async def _test(self, run: _Run, packet: Packet, point: DueQuestions) -> list[dict[str, Any]]:
        now = _now(run, packet)
        task = run.conversation.task_id
        known = {
            q: self.runs.known_result(task, q.question_id, packet["packet_idx"]) for q in point.questions
        }
        if any(result is not None for result in known.values()):
            await asked_once(run, point)

        async def one(question: Question) -> dict[str, Any]:
            kept = known[question]
            if kept is not None:
                return kept
            result = await _answer(run, question, packet, now)
            self.runs.on_result(task, packet["packet_idx"], result)
            return result

        return await answers(one, point.questions, parallel=self.runs.runtime.parallel)


@dataclass(frozen=True, slots=True)
class MemorySink:
    """Collects the results; closes the memory after the last packet."""

    runs: Runs

    async def execute(self, state: MainState) -> dict[str, Any]:
        """``results`` and ``inserts`` of the run so far."""
        if is_last(state["packet"]):
            await self.runs.finish(state)
        return {
            "results": [*state["results"], *state["test_results"]],
            "inserts": _add_counts(state["inserts"], state["insert_result"]),
        }


async def asked_once(run: _Run, point: DueQuestions) -> None:
    """Search each service once. A service may write its pending inserts when it is searched, so the same number of
    searches as in the interrupted run gives an identical memory. An error here occurs again where it counts."""
    for service in run.pipelines.services:
        with suppress(Exception):
            await service.retrieve(point.questions[0].text, top_k=1)


async def insert_packet(run: _Run, packet: Packet) -> dict[str, Any]:
    """Insert a packet; returns its status, reason and counts.

    Raises:
        InputError: wrong input, or a wrong setting.
    """
    run.remembered_packets = None
    written: dict[str, Any] = {}
    reason = None
    try:
        written = await run.pipelines.insert.ainvoke(packet)
    except InputError:
        raise
    except Exception as error:  # noqa: BLE001 - an adapter or service may be anybody's: its packet failed
        reason = _error_text(error)
    run.remembered_packets = packet["packet_idx"] + 1
    tidied = written.get("post_insert") or {}
    return {
        "status": "ok" if reason is None else "failed",
        "reason": reason,
        "inserted": sum(entry_id is not None for entry_id in written.get("inserted") or ()),
        "skipped_turns": written.get("skipped_turns", 0),
        "malformed_lines": written.get("malformed_lines", 0),
        "forgotten": len(tidied.get("forgotten") or ()),
    }


def _add_counts(counts: Mapping[str, Any], result: Mapping[str, Any]) -> dict[str, Any]:
    summed = {name: counts[name] + result[name] for name in _COUNT_KEYS}
    reasons = dict(counts["reasons"])
    if result["status"] == "failed":
        reasons[result["reason"]] = reasons.get(result["reason"], 0) + 1
    failed = counts["failed"] + (result["status"] == "failed")
    return {"packets": counts["packets"] + 1, **summed, "failed": failed, "reasons": reasons}


async def _answer(run: _Run, question: Question, packet: Packet, now: str | None) -> dict[str, Any]:
    """The test graph's output for one question, with status, reason and milliseconds by operator."""
    asked: dict[str, Any] = {
        "question": question.text,
        "answer": question.answer if question.answerable else None,
        "category": question.category,
        "task_id": run.conversation.task_id,
        "session_id": packet["session_id"],
        "question_id": question.question_id,
        "reference_time": now,
    }
    if question.rubric:
        asked["rubric"] = list(question.rubric)
    data, milliseconds = dict(asked), dict[str, float]()
    status, reason = "ok", None
    last = time.perf_counter()
    try:
        async for step in run.pipelines.test.astream(asked, stream_mode="updates"):
            moment = time.perf_counter()
            for name, written in step.items():
                milliseconds[name] = round((moment - last) * 1000, 3)
                data.update(written or {})
            last = moment
    except Exception as error:  # noqa: BLE001 - an operator or service may be anybody's: its question failed
        status, reason = "failed", _error_text(error)
    return {**data, "status": status, "reason": reason, "milliseconds": milliseconds}


def _error_text(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def _now(run: _Run, packet: Packet) -> str | None:
    """Date of the latest turn inserted so far."""
    return last_date(
        [dialog for earlier in run.packets[: packet["packet_idx"] + 1] for dialog in earlier["dialogs"]]
    )
