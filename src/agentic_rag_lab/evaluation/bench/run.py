"""The memory benchmark, the run: conversations through one memory design, resumed where it was interrupted."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import sys
import time
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Protocol

from agentic_rag.domain.identity import digest
from agentic_rag.domain.json_values import Json
from agentic_rag.domain.progress import Progress, silent
from agentic_rag.errors import InputError, RunError, StoreError
from agentic_rag.settings.config import RagConfig
from agentic_rag.settings.parameters import Parameters
from agentic_rag.stores.lancedb.process_lock import only_one
from agentic_rag.workers import Workers, join_workers
from agentic_rag_lab.designs.config import PipelineConfig
from agentic_rag_lab.designs.conversation import Conversation, schedule
from agentic_rag_lab.designs.graph import build_main_graph
from agentic_rag_lab.designs.memory import ReturnsAll
from agentic_rag_lab.designs.open_lab import MemoryLab, open_lab
from agentic_rag_lab.designs.operators import StepCallback
from agentic_rag_lab.designs.runs import Pipelines, Runs
from agentic_rag_lab.evaluation.bench.conversations import data_files, read_tasks
from agentic_rag_lab.evaluation.bench.figures import SUMMARY, progress_curve, read_summary, summary
from agentic_rag_lab.evaluation.bench.records import QuestionRecord, RunRecords, folder_of, record_of
from agentic_rag_lab.evaluation.files import write_text
from agentic_rag_lab.evaluation.records import code_digest, digest_of_file, versions

RUNS = "bench"
"""Subfolder of the data folder with the runs."""
STORES = ".stores-of-the-run"
"""Temporary folder of a run. A leftover of a killed run is deleted, so the name must be unique: ``--out`` may be
any folder."""
_FOLDER = re.compile(r"(?!\.{1,2}\Z)[^/\\\0]+")
"""A single path component other than . and .."""
_SAYS_NOTHING = ("memory_insert_verbose", "memory_test_verbose", "parallel", "data", "task_id", "api_key")
"""Keys of ``runtime`` that do not affect results."""


@dataclass(frozen=True, slots=True)
class BenchOptions:
    """The options of a benchmark run."""

    data: Path | None = None
    """LoCoMo file, or folder of BEAM conversations; None: ``runtime.data``."""
    task_id: str | None = None
    """Conversation, several separated by commas, or ``all``; None: ``runtime.task_id``, or the only one in the
    file."""
    out: Path | None = None
    """Folder of the run; None: in the data folder, named after the design and the fingerprint."""
    fresh: bool = False
    """Run all questions again, including those with saved answers."""
    control: bool = False
    """For BEAM: remove the words "always" and "never" from the messages."""
    engine: str = "local"
    """Engine for the conversations; ``ray``: each one in a worker; see ``Rag.ingest``."""
    address: str | None = None
    """Address of a Ray cluster's head."""


@dataclass(frozen=True, slots=True)
class BenchReport:
    """The result of a run."""

    summary: Mapping[str, Any]
    folder: Path
    reused_answers: int
    """Number of questions with records from an earlier run."""


async def run_bench(
    config: PipelineConfig,
    rag_config: RagConfig,
    options: BenchOptions,
    progress: Progress | None = None,
    *,
    on_step: StepCallback | None = None,
) -> BenchReport:
    """Run a memory design on conversations; each record is stored at once.

    After an interruption the same call resumes: inserted packets are inserted again, which gives the same memory,
    and only questions without a record are asked. Every question counts in the scores, as answered or as failed
    with the reason.

    Args:
        config: the design.
        rag_config: the data folder, and the settings of the retrieval graph for ``agentic_memory``.
        options: what to run.
        progress: called with stage, done, total.
        on_step: called at each operator of the graphs that the design declares verbose.

    Raises:
        InputError: no such file, task or setting; the folder has records of another run; the summary cannot be
            written.
        ModelError: a configured endpoint does not answer.
        StoreError: data cannot be stored, or another process has the same run open.
    """
    progress = progress or silent
    started = time.perf_counter()
    path = options.data or config.runtime.data
    if path is None:
        raise InputError(
            "no data: give a LoCoMo file or a folder of BEAM conversations with --data, or set runtime.data"
        )
    task_id = options.task_id or config.runtime.task_id
    tasks = await asyncio.to_thread(read_tasks, path, task_id, control=options.control)
    task_id = task_id or tasks[0].task_id
    _check(tasks, path)
    if not any(task.questions for task in tasks):
        raise InputError(f"{path} has no question about {task_id}; a design is tested by asking")
    files = data_files(path, tasks)
    mark = await asyncio.to_thread(fingerprint, config, rag_config, files, control=options.control)
    folder = options.out or rag_config.data_dir / RUNS / f"{config.name}-{mark}"
    refusal = f"another process is at the run in {folder}; wait for it, or name another folder with --out"
    async with only_one(str(folder), "running", refusal):
        run = _Run(config, folder, {task.task_id: task for task in tasks}, mark, options.fresh, progress)
        async with join_workers(options.engine, options.address) as workers:
            inserts = await _run_all(run, rag_config, on_step, workers)
        run.complete()
        found = _summary(run, task_id, inserts, time.perf_counter() - started, options.control)
        text = json.dumps(found, ensure_ascii=False, indent=2) + "\n"
        await asyncio.to_thread(write_text, folder / SUMMARY, text)
    return BenchReport(found, folder, run.kept_count)


def _check(tasks: Sequence[Conversation], path: Path) -> None:
    """Raise errors of any conversation before the first one starts."""
    for task in tasks:
        if not task.packets():
            raise InputError(f"{path}: {task.task_id} has no turns to remember; choose others with --task-id")
        if not _FOLDER.fullmatch(folder_of(task.task_id) if task.benchmark == "beam" else task.task_id):
            raise InputError(
                f"{path}: {task.task_id!r} cannot be the folder of its records; give it another sample_id"
            )


def _kept_answer(question: int) -> Json:
    return {"question_id": question, "status": "kept"}


class _Run:
    """The records of all tasks of a run, and its progress."""

    def __init__(
        self,
        config: PipelineConfig,
        folder: Path,
        tasks: Mapping[str, Conversation],
        mark: str,
        fresh: bool,
        progress: Progress,
    ) -> None:
        self.config, self.folder, self.tasks = config, folder, tasks
        self.earlier: Mapping[str, Any] = read_summary(folder / SUMMARY) or {}
        """The summary of an earlier run; {} without one."""
        for name in tasks if fresh else ():
            self._changing(name)
        self.records = {name: RunRecords(folder / folder_of(name), mark, fresh=fresh) for name in tasks}
        self._progress = progress
        runtime = config.runtime
        self._due = {
            (name, question.question_id, due.packet_idx)
            for name, task in tasks.items()
            for due in schedule(task, runtime.test_segments, retest=runtime.retest)
            for question in due.questions
        }
        self._finished_count = self.kept_count = sum(self.is_settled(*key) for key in self._due)
        self.service = config.services.register_memory_service
        self.reader = ""
        self.returns_all = False

    def of(self, task: str, question: int, packet: int) -> QuestionRecord | None:
        return self.records[task].get(question, packet)

    def is_settled(self, task: str, question: int, packet: int) -> bool:
        """Whether the question has a record without a failure; failed questions are asked again, because a model may be back."""
        record = self.of(task, question, packet)
        return record is not None and record.status != "failed"

    def known_result(self, task: str, question: int, packet: int) -> Json | None:
        """The result given to the main graph for a settled question: only that it is done."""
        return _kept_answer(question) if self.is_settled(task, question, packet) else None

    def settled_questions(self, task: str) -> frozenset[tuple[str, int, int]]:
        """Task, question and packet of all settled questions."""
        return frozenset(key for key in self._due if key[0] == task and self.is_settled(*key))

    def is_complete(self, task: str) -> bool:
        return all(self.is_settled(*key) for key in self._due if key[0] == task)

    def record(self, task: str, packet: int, result: dict[str, Any]) -> None:
        """Store a new result."""
        conversation = self.tasks[task]
        question = next(q for q in conversation.questions if q.question_id == result["question_id"])
        record = record_of(
            conversation,
            question,
            packet,
            result,
            returns_all=self.returns_all,
            tokens=_tokens(result.get("history_text") or ""),
        )
        self._changing(task)
        self.records[task].add(record, result["milliseconds"])
        self._finished_count += 1
        self._progress("ask", self._finished_count, len(self._due))

    def _changing(self, task: str) -> None:
        """Delete the summary before a task's records change: if this run is killed, it must count as unfinished."""
        if task in self.earlier.get("inserts", {}):
            try:
                (self.folder / SUMMARY).unlink(missing_ok=True)
            except OSError as error:
                raise StoreError(
                    f"cannot remove {self.folder / SUMMARY}: {error.strerror or error}"
                ) from error

    def complete(self) -> None:
        """Raises ``RunError`` if a question has no record: no question may be dropped."""
        missing = [key for key in self._due if self.of(*key) is None]
        if missing:
            raise RunError(
                f"{len(missing)} questions were not asked, the first {missing[0]}; run the same command again"
            )

    def all_records(self) -> list[QuestionRecord]:
        found = [(key, self.of(*key)) for key in sorted(self._due)]
        return [record for _, record in found if record is not None]


async def _run_all(
    run: _Run, rag_config: RagConfig, on_step: StepCallback | None, workers: Workers | None
) -> Json:
    """Run every incomplete task; the insert counts by task."""
    earlier = run.earlier.get("inserts", {})
    waiting = [name for name in run.tasks if not (run.is_complete(name) and name in earlier)]
    inserts = {name: earlier[name] for name in run.tasks if name not in waiting}
    if not waiting:
        run.reader = str(run.earlier["reader"])
        return inserts
    runs = (
        _here(run, waiting, rag_config, on_step)
        if workers is None
        else _apart(run, waiting, rag_config, workers)
    )
    async with aclosing(runs) as ended:
        inserts |= {name: inserted async for name, inserted in ended}
    return {name: inserts[name] for name in run.tasks}


async def _here(
    run: _Run, waiting: Sequence[str], rag_config: RagConfig, on_step: StepCallback | None
) -> AsyncGenerator[tuple[str, Json]]:
    """Run one task after the other, storing each record at once; yields name and insert counts."""
    runtime = run.config.runtime
    async with (
        _stores(run.folder / STORES) as stores,
        open_lab(
            run.config,
            rag_config.model_copy(update={"data_dir": stores}),
            on_insert_step=on_step if runtime.memory_insert_verbose else None,
            on_test_step=on_step if runtime.memory_test_verbose else None,
        ) as lab,
    ):
        run.reader = lab.reader
        for name in waiting:
            yield name, await _run_one(run, run.tasks[name], run.config, lab)


@asynccontextmanager
async def _stores(folder: Path) -> AsyncIterator[Path]:
    """An empty temporary folder for a run's stores."""
    await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)
    try:
        yield folder
    finally:
        await asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True)


class ResultSink(Protocol):
    """Receives the results of a task."""

    returns_all: bool

    def known_result(self, task: str, question: int, packet: int) -> Json | None: ...

    def record(self, task: str, packet: int, result: Json) -> None: ...


async def _run_one(sink: ResultSink, task: Conversation, config: PipelineConfig, lab: MemoryLab) -> Json:
    async def load(data: str | None, task_id: str) -> Conversation:
        return task

    async def open_pipelines(conversation: Conversation) -> Pipelines:
        pipelines = lab.build(conversation.task_id)
        service = pipelines.service
        sink.returns_all = isinstance(service, ReturnsAll) and service.returns_all
        return pipelines

    runs = Runs(
        load,
        open_pipelines,
        config.runtime,
        known_result=sink.known_result,
        on_result=sink.record,
    )
    try:
        state = await build_main_graph(runs).ainvoke({"task_id": task.task_id})
    finally:
        await runs.close()
    return dict(state["inserts"])


@dataclass(slots=True)
class TaskResults:
    """The results of one task in a worker of a cluster."""

    task: Conversation
    settled_questions: frozenset[tuple[str, int, int]]
    """Task, question and packet of all settled questions."""
    returns_all: bool = False
    results: list[tuple[int, Json]] = field(default_factory=list)
    """Packet and result, in order."""
    inserts: Json = field(default_factory=dict)
    reader: str = ""

    def known_result(self, task: str, question: int, packet: int) -> Json | None:
        return _kept_answer(question) if (task, question, packet) in self.settled_questions else None

    def record(self, task: str, packet: int, result: Json) -> None:
        self.results.append((packet, result))


@asynccontextmanager
async def _lab(
    config: PipelineConfig, rag_config: RagConfig
) -> AsyncIterator[tuple[MemoryLab, PipelineConfig]]:
    """The lab of a worker, with stores in a temporary folder."""
    with TemporaryDirectory() as folder:
        async with open_lab(config, rag_config.model_copy(update={"data_dir": Path(folder)})) as lab:
            yield lab, config


async def _results(open_lab: tuple[MemoryLab, PipelineConfig], task_results: TaskResults) -> TaskResults:
    lab, config = open_lab
    task_results.inserts = await _run_one(task_results, task_results.task, config, lab)
    task_results.reader = lab.reader
    return task_results


async def _apart(
    run: _Run, waiting: Sequence[str], rag_config: RagConfig, workers: Workers
) -> AsyncGenerator[tuple[str, Json]]:
    """Run each task in a worker, storing its records when it has ended."""
    tasks = [TaskResults(run.tasks[name], run.settled_questions(name)) for name in waiting]
    ended = workers.stream(
        partial(_lab, run.config, rag_config), _results, tasks, "running the tasks", embeds=True
    )
    async with aclosing(ended) as found:
        async for one in found:
            run.reader, run.returns_all = one.reader, one.returns_all
            for packet, result in one.results:
                run.record(one.task.task_id, packet, result)
            yield one.task.task_id, one.inserts


def fingerprint(
    config: PipelineConfig, rag_config: RagConfig, files: Sequence[Path], *, control: bool = False
) -> str:
    """Digest of everything that a record depends on: design, data, settings of the retrieval graph, code (including
    ``services.imports``)."""
    written = {section: dict(values) for section, values in config.source_values.items()}
    for key in _SAYS_NOTHING:
        written["runtime"].pop(key, None)
    settings = {name: getattr(rag_config, name).model_dump(mode="json") for name in Parameters.model_fields}
    said = json.dumps([written, settings, versions(), control], sort_keys=True, default=str)
    data = map(digest_of_file, files)
    brought = [digest_of_file(file) for file in _module_files(written["services"].get("imports", ()))]
    return digest(said, *data, code_digest(), *brought, size=8)


def _module_files(modules: Sequence[str]) -> list[Path]:
    """The files of the imported modules: one per module, all of a package."""
    files = [Path(file) for name in modules if (file := sys.modules[name].__file__) is not None]
    return [
        found
        for file in files
        for found in (sorted(file.parent.rglob("*.py")) if file.name == "__init__.py" else [file])
    ]


def _summary(run: _Run, task_id: str, inserts: Mapping[str, Any], seconds: float, control: bool) -> Json:
    records = run.all_records()
    times = [row for name in run.tasks for row in run.records[name].times()]
    found = {
        "task": task_id,
        "config": run.config.name,
        "service": run.service,
        "reader": run.reader,
        **summary(records, times),
    }
    if len(run.tasks) > 1:
        found["by_task"] = {
            name: summary([r for r in records if r.task == name], run.records[name].times())["overall"]
            for name in run.tasks
        }
    if "beam" in found:
        found["control"] = control
    repairs = [line for task in run.tasks.values() for line in task.repairs]
    return {
        **found,
        "curve": progress_curve(records),
        "inserts": dict(inserts),
        "repairs": repairs,
        "seconds": round(seconds, 3),
    }


def _tokens(text: str) -> int:
    from agentic_rag.models.bundled import count_tokens

    return count_tokens(text) if text else 0
