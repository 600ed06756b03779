"""The main graph's three steps, and what a run of it holds open: a conversation, a memory, both pipelines."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

from langgraph.graph.state import CompiledStateGraph

from agentic_rag.errors import InputError, RunError
from agentic_rag.memory.asking import answers
from agentic_rag.memory.conversation import (
    Conversation,
    DueQuestions,
    Packet,
    Question,
    is_last,
    last_date,
    schedule,
)
from agentic_rag.memory.service import Closes, MemoryService
from agentic_rag.memory.state import MainState

Compiled = CompiledStateGraph[Any, Any, Any, Any]


@dataclass(frozen=True, slots=True)
class Pipelines:
    """A memory with its insert and test graphs."""

    service: MemoryService
    insert: Compiled
    test: Compiled
    secondary: tuple[MemoryService, ...] = ()

    @property
    def services(self) -> tuple[MemoryService, ...]:
        return (self.service, *self.secondary)

    async def close(self) -> None:
        """Close what the memories hold open."""
        for service in self.services:
            if isinstance(service, Closes):
                await service.close()


@dataclass(slots=True)
class _Run:
    """One conversation on its way through one memory."""

    task_id: str
    """As it was asked for."""
    conversation: Conversation
    pipelines: Pipelines
    packets: list[Packet]
    points: dict[int, DueQuestions]
    through: int = 0
    """Packets that were inserted and tested."""
    inserts: dict[str, Any] = field(default_factory=lambda: dict(_NO_INSERTS))
    results: list[dict[str, Any]] = field(default_factory=list)


MOST_OPEN = 32
"""Runs whose memory is kept: one that was broken off may go on later, and many that were would never be closed."""
_COUNTED = ("inserted", "skipped_turns", "malformed_lines", "merged", "forgotten", "refused")
_NO_INSERTS: Mapping[str, Any] = {"packets": 0, **dict.fromkeys(_COUNTED, 0), "failed": 0, "reasons": {}}

Load = Callable[[str | None, str], Awaitable[Conversation]]
Open = Callable[[Conversation], Awaitable[Pipelines]]
Heard = Callable[[str, int, dict[str, Any]], None]


class Runs:
    """The runs of one process: loads a conversation, opens a fresh memory for it, keeps both until the end.

    Args:
        load: file (None: the configured one) and task id to a conversation.
        open_pipelines: a new, empty memory for it, with its graphs.
        segments: see ``conversation.schedule``.
        retest: ask all visible questions at each threshold.
        parallel: questions asked at once; more than 1 helps where a chat model answers.
        known: by task and question id: results of an earlier run that was interrupted; not asked again.
        heard: called with the task, the packet and each new test result as soon as it is there.
    """

    def __init__(
        self,
        load: Load,
        open_pipelines: Open,
        *,
        segments: int = 10,
        retest: bool = False,
        parallel: int = 1,
        known: Callable[[str, int, int], dict[str, Any] | None] | None = None,
        heard: Heard | None = None,
    ) -> None:
        self._load = load
        self._open = open_pipelines
        self._segments = segments
        self._retest = retest
        self.parallel = parallel
        self.known = known or (lambda task, question, packet: None)
        self.heard = heard or (lambda task, packet, result: None)
        self._runs: dict[str, _Run] = {}

    async def start(self, data: str | None, task_id: str) -> str:
        """Load and open; what the run is kept under."""
        conversation = await self._load(data, task_id)
        packets = conversation.packets()
        if not packets:
            raise InputError(f"{task_id} has no turns to remember; choose another --task-id")
        points = {
            point.packet_idx: point for point in schedule(conversation, self._segments, retest=self._retest)
        }
        while len(self._runs) >= MOST_OPEN:
            await self._runs.pop(next(iter(self._runs))).pipelines.close()
        # Not counted: a thread that outlives the process must not go on in the memory of another run.
        name = uuid4().hex
        self._runs[name] = _Run(task_id, conversation, await self._open(conversation), packets, points)
        return name

    def of(self, state: MainState) -> _Run:
        """The run a state belongs to.

        Raises:
            RunError: its memory is gone: the process was started anew since, or many other runs were begun.
        """
        name = state.get("run", "")
        run = self._runs.pop(name, None)
        if run is None:
            raise RunError(
                "the memory of this run is gone with the process it was in; start the run again, on a new thread"
            )
        self._runs[name] = run  # the one used last
        return run

    async def finish(self, state: MainState) -> None:
        """Close a run's memory."""
        run = self._runs.pop(state["run"], None)
        if run is not None:
            await run.pipelines.close()

    async def close(self) -> None:
        """Close what is still open, of runs that were broken off."""
        runs, self._runs = list(self._runs.values()), {}
        for run in runs:
            await run.pipelines.close()


class MemorySource:
    """Gives the next packet of the conversation."""

    def __init__(self, runs: Runs) -> None:
        self._runs = runs

    async def execute(self, state: MainState) -> dict[str, Any]:
        """The next ``packet``, and the ``run`` it is of: a new one where its thread is begun, or begun anew.

        Raises:
            InputError: no ``task_id``, or none that can be loaded.
        """
        task_id = state.get("task_id")
        if not isinstance(task_id, str):
            raise InputError(f"a run is given a 'task_id', the name of a conversation, not {task_id!r:.80}")
        if await self._goes_on(state, task_id):
            name = state["run"]
        else:
            name = await self._runs.start(state.get("data"), task_id)
        run = self._runs.of({"run": name})
        return {"run": name, "packet": run.packets[run.through]}

    async def _goes_on(self, state: MainState, task_id: str) -> bool:
        """Whether the packet before this one is of the same run; a thread may be begun anew at any point of one."""
        packet = state.get("packet")
        if packet is None or is_last(packet):
            return False
        run = self._runs.of(state)
        if run.task_id == task_id and run.through == packet["packet_idx"] + 1:
            return True
        await self._runs.finish(state)
        return False


class PipelineCaller:
    """Inserts the packet, then asks the questions that are due.

    What fails costs its own packet or question and is recorded with the reason; the run goes on. Only wrong
    input (a setting, a vector of another length) ends it: the next packet would fail the same way.
    """

    def __init__(self, runs: Runs) -> None:
        self._runs = runs

    async def execute(self, state: MainState) -> dict[str, Any]:
        run, packet = self._runs.of(state), state["packet"]
        inserted = await _inserted(run.pipelines, packet)
        point = run.points.get(packet["packet_idx"])
        results: list[dict[str, Any]] = []
        if point is not None:
            results = await self._tested(run, packet, point)
        return {"insert_result": inserted, "test_results": results}

    async def _tested(self, run: _Run, packet: Packet, point: DueQuestions) -> list[dict[str, Any]]:
        now = _now(run, packet)
        task = run.conversation.task_id
        known = {q: self._runs.known(task, q.question_id, packet["packet_idx"]) for q in point.questions}
        if any(result is not None for result in known.values()):
            # A memory may store what it was given when it is asked: asked as often as in the run that was
            # interrupted, each is the same to the last bit. What fails here fails again where it counts.
            for service in run.pipelines.services:
                with suppress(Exception):
                    await service.retrieve(point.questions[0].text, top_k=1)

        async def one(question: Question) -> dict[str, Any]:
            kept = known[question]
            if kept is not None:
                return kept
            result = await _answered(run, question, packet, now)
            self._runs.heard(task, packet["packet_idx"], result)
            return result

        return await answers(one, point.questions, parallel=self._runs.parallel)


class MemorySink:
    """Collects the results; closes the memory after the last packet."""

    def __init__(self, runs: Runs) -> None:
        self._runs = runs

    async def execute(self, state: MainState) -> dict[str, Any]:
        run, packet = self._runs.of(state), state["packet"]
        run.inserts = _added(run.inserts, state["insert_result"])
        run.results = [*run.results, *state["test_results"]]
        run.through = packet["packet_idx"] + 1
        if is_last(packet):
            await self._runs.finish(state)
        return {"results": run.results, "inserts": run.inserts}


async def _inserted(pipelines: Pipelines, packet: Packet) -> dict[str, Any]:
    started = time.perf_counter()
    try:
        written = await pipelines.insert.ainvoke(packet)
    except InputError:
        raise
    except Exception as error:  # noqa: BLE001 - an adapter or service may be anybody's: its packet failed
        return {"status": "failed", "reason": _told(error), "seconds": time.perf_counter() - started}
    tidied = written.get("post_insert") or {}
    return {
        "status": "ok",
        "reason": None,
        "inserted": sum(entry_id is not None for entry_id in written.get("inserted") or ()),
        "skipped_turns": written.get("skipped_turns", 0),
        "malformed_lines": written.get("malformed_lines", 0),
        "merged": len(tidied.get("merged") or ()),
        "forgotten": len(tidied.get("forgotten") or ()),
        "refused": tidied.get("refused", 0),
        "seconds": time.perf_counter() - started,
    }


def _added(counts: Mapping[str, Any], result: Mapping[str, Any]) -> dict[str, Any]:
    summed = {name: counts[name] + result.get(name, 0) for name in _COUNTED}
    reasons = dict(counts["reasons"])
    if result["status"] == "failed":
        reasons[result["reason"]] = reasons.get(result["reason"], 0) + 1
    failed = counts["failed"] + (result["status"] == "failed")
    return {"packets": counts["packets"] + 1, **summed, "failed": failed, "reasons": reasons}


async def _answered(run: _Run, question: Question, packet: Packet, now: str | None) -> dict[str, Any]:
    """What the test graph wrote of one question, with status, reason and milliseconds by operator."""
    asked = {
        "question": question.text,
        "answer": question.answer if question.answerable else None,
        "category": question.category,
        "task_id": run.conversation.task_id,
        "session_id": packet["session_id"],
        "question_id": question.question_id,
        "reference_time": now,
    }
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
        status, reason = "failed", _told(error)
    return {**data, "status": status, "reason": reason, "milliseconds": milliseconds}


def _told(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def _now(run: _Run, packet: Packet) -> str | None:
    """Date of the latest turn that is in, of this packet or one before."""
    for earlier in reversed(run.packets[: packet["packet_idx"] + 1]):
        found = last_date(earlier["dialogs"])
        if found is not None:
            return found
    return None
