"""The HTTP service compared with the graph called from Python: load, memory, first event, errors.

    python evaluation/bench_service.py [--quick] [--data DIR] [--folder DATA] [--seconds N] [--json FILE]

Starts ``agentic-rag serve`` on a dataset of 10,000 chunks (the first paragraphs of DIR, by default
../shared/data/beir/timeqa_human/train) and asks it with 32 clients for a minute; before and after, as many tasks ask the
same graph in this process for half a minute each, behind the same gate. Then one client measures the first event of
``/ask``, and schemathesis looks for server errors and undocumented answers on the example vault, where the cold start
is measured too. ``--folder`` asks a data folder that is there, such as ``bench_scale --keep`` leaves, with the questions
of DIR. ``--quick`` asks the example vault for fewer seconds. Exits 1 when a floor is missed.
"""

from __future__ import annotations

import asyncio
import gc
import itertools
import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import numpy as np

from agentic_rag import Rag, RagConfig, open_rag
from agentic_rag_service.limits import MAX_RUNNING
from bench_ask import QUESTIONS
from figures import COMMAND, DATA, EXAMPLE, Row, options, percentiles, report, row

JUDGED = DATA / "beir" / "timeqa_human" / "train"
CHUNKS = 10_000
CLIENTS = 32
SECONDS, QUICK_SECONDS = 60.0, 10.0
FIRST_EVENT_FLOOR, COLD_FLOOR, MEMORY_FLOOR = 100.0, 4.0, 5.0
FIRST_EVENTS = 30
ALONE = 100
"""Number of sequential questions by one client."""
BLOCKED, BLOCKED_FLOOR = 0.05, 0.001
ALONE_FLOOR = 120.0
EXAMPLES, QUICK_EXAMPLES = 50, 5
CHECKS = (
    "not_a_server_error,status_code_conformance,content_type_conformance,response_headers_conformance,"
    "response_schema_conformance"
)
Asker = Callable[[str], Awaitable[bool]]
"""Asks a question; whether it was answered."""


@dataclass(slots=True)
class Load:
    """The results of several concurrent clients."""

    seconds: float = 0.0
    ms: list[float] = field(default_factory=list)
    """Milliseconds per answer."""
    failed: int = 0

    def rate(self) -> float:
        """Answers a second."""
        return len(self.ms) / self.seconds

    def p95(self) -> float:
        return percentiles(self.ms)[1]

    def p99(self) -> float:
        return float(np.percentile(self.ms, 99))


@dataclass(frozen=True, slots=True)
class Started:
    """A running service."""

    url: str
    process: subprocess.Popen[str]
    seconds: float
    """From its start to ``/readyz``."""

    def memory(self) -> float:
        """Resident bytes."""
        return self._told("process_resident_memory_bytes")

    def blocked(self) -> float:
        """Share of the measurements that found the event loop at least ``BLOCKED`` seconds late."""
        seen = self._told("agentic_rag_event_loop_lag_seconds_count")
        return 1 - self._told(f'agentic_rag_event_loop_lag_seconds_bucket{{le="{BLOCKED}"}}') / seen

    def _told(self, name: str) -> float:
        told = httpx.get(f"{self.url}/metrics", timeout=60).text
        found = re.search(rf"^{re.escape(name)} (\S+)", told, re.MULTILINE)
        if found is None:
            raise RuntimeError(f"/metrics does not tell {name}")
        return float(found[1])


@contextmanager
def served(data: Path) -> Iterator[Started]:
    """Run ``agentic-rag serve`` on a free port."""
    began = time.perf_counter()
    process = subprocess.Popen(
        [*COMMAND, "serve", "--port", "0", "--data-dir", str(data)], stderr=subprocess.PIPE, text=True
    )
    try:
        said, told = "", None
        for line in process.stderr or ():
            said += line
            if told := re.search(r"http://[\w.:]+", line):
                break
        if told is None:
            raise RuntimeError(f"the service did not start: {said}")
        while not _is_ready(told[0]):
            time.sleep(0.01)
        yield Started(told[0], process, time.perf_counter() - began)
    finally:
        process.terminate()
        process.wait()


def _is_ready(url: str) -> bool:
    try:
        return httpx.get(f"{url}/readyz").status_code == 200
    except httpx.TransportError:
        return False


async def loaded(load: Load, ask: Asker, questions: Sequence[str], seconds: float) -> None:
    """Ask with ``CLIENTS`` at once until the time is over; adds to ``load``."""
    began = time.perf_counter()
    turn = itertools.cycle(questions)

    async def client() -> None:
        while time.perf_counter() - began < seconds:
            asked = time.perf_counter()
            answered = await ask(next(turn))
            if answered:
                load.ms.append((time.perf_counter() - asked) * 1e3)
            else:
                load.failed += 1

    await asyncio.gather(*(client() for _ in range(CLIENTS)))
    load.seconds += time.perf_counter() - began


async def beside_python(data: Path, questions: Sequence[str], seconds: float) -> list[Row]:
    """The load through the service, and from Python before and after it."""
    config = RagConfig(data_dir=data)
    by_http, by_call = Load(), Load()
    memory: list[float] = []
    with served(data) as service:
        limits = httpx.Limits(max_connections=CLIENTS)
        async with (
            open_rag(config) as rag,
            httpx.AsyncClient(base_url=service.url, timeout=60, limits=limits) as client,
        ):
            gc.collect()
            gc.freeze()
            calling, requesting = _by_call(rag, MAX_RUNNING), _by_http(client)
            for ask in (calling, requesting):  # opens tables and fills caches
                await loaded(Load(), ask, questions, seconds / 10)
            await loaded(by_call, calling, questions, seconds / 2)
            watching = asyncio.create_task(_watched(service, memory))
            await loaded(by_http, requesting, questions, seconds)
            watching.cancel()
            await loaded(by_call, calling, questions, seconds / 2)
            blocked = await asyncio.to_thread(service.blocked)
            alone = await _alone(requesting, questions)
            first = [await _first_event(client, question) for question in questions[:FIRST_EVENTS]]
    late = memory[len(memory) // 2 :]
    middle = sum(late) / len(late)
    what = f"{CLIENTS} clients, {seconds:g} s"
    return [
        row(f"{what}: requests without an answer", "requests", by_http.failed, floor=0),
        row(
            f"{what}: answers a second",
            "1/s",
            by_http.rate(),
            bound="min",
            peer="from Python",
            theirs=by_call.rate(),
        ),
        row(f"{what}: p95", "ms", by_http.p95(), peer="from Python", theirs=by_call.p95()),
        row(f"{what}: p99", "ms", by_http.p99(), peer="from Python", theirs=by_call.p99()),
        row(
            f"looks at the event loop that found it {BLOCKED:g} s late", "share", blocked, floor=BLOCKED_FLOOR
        ),
        row(f"one client, p95 of {len(alone)}", "ms", percentiles(alone)[1], floor=ALONE_FLOOR),
        row("memory in the end", "MB", memory[-1] / 1e6),
        row(
            "memory, last half: furthest from its mean",
            "%",
            100 * max(abs(one - middle) for one in late) / middle,
            floor=MEMORY_FLOOR,
        ),
        row(
            "first event of /ask, one client: p95",
            "ms",
            percentiles(first)[1],
            floor=FIRST_EVENT_FLOOR,
        ),
    ]


def _by_http(client: httpx.AsyncClient) -> Asker:
    async def ask(question: str) -> bool:
        return (await client.post("/ask", json={"query": question})).status_code == 200

    return ask


def _by_call(rag: Rag, concurrency: int) -> Asker:
    gate = asyncio.Semaphore(concurrency)

    async def ask(question: str) -> bool:
        async with gate:
            return bool((await rag.ask(question)).text)

    return ask


async def _alone(ask: Asker, questions: Sequence[str]) -> list[float]:
    """Milliseconds of each question, sequentially."""
    taken = []
    for question in questions[:ALONE]:
        began = time.perf_counter()
        await ask(question)
        taken.append((time.perf_counter() - began) * 1e3)
    return taken


async def _watched(service: Started, memory: list[float]) -> None:
    while True:
        memory.append(await asyncio.to_thread(service.memory))
        await asyncio.sleep(0.5)


async def _first_event(client: httpx.AsyncClient, question: str) -> float:
    """Milliseconds to the first event."""
    began = time.perf_counter()
    headers = {"Accept": "text/event-stream"}
    async with client.stream("POST", "/ask", json={"query": question}, headers=headers) as answer:
        chunks = answer.aiter_bytes()
        await anext(chunks)
        taken = (time.perf_counter() - began) * 1e3
        async for _ in chunks:
            pass
    return taken


def contract_rows(data: Path, examples: int, folder: Path) -> list[Row]:
    """Cold starts, the best of three; then schemathesis."""
    starts = []
    for _ in range(3):
        with served(data) as service:
            starts.append(service.seconds)
    program = str(Path(sys.executable).with_name("schemathesis"))
    asked = ["--max-examples", str(examples), "--seed", "1", "--checks", CHECKS, "--max-failures", "1000"]
    with served(data) as service:
        run = subprocess.run(
            [
                program,
                "run",
                f"{service.url}/openapi.json",
                *asked,
                "--suppress-health-check",
                "all",
                "--no-color",
            ],
            capture_output=True,
            text=True,
            cwd=folder,
        )
    cases = re.search(r"(\d+) generated", run.stdout)
    failures = re.search(r"found (\d+)", run.stdout)
    if run.returncode and failures is None:
        print(run.stdout[-4000:], file=sys.stderr)
    wrong = int(failures[1]) if failures else run.returncode
    return [
        row("cold start to /readyz, example vault", "s", min(starts), floor=COLD_FLOOR),
        row("schemathesis: requests", "requests", int(cases[1]) if cases else None),
        row("schemathesis: server errors and undocumented answers", "requests", wrong, floor=0),
    ]


async def ingested(source: Path, data: Path) -> int:
    """Number of chunks after the ingest."""
    async with open_rag(RagConfig(data_dir=data)) as rag:
        return (await rag.ingest(source)).chunks


async def held(data: Path) -> int:
    """Number of chunks in an existing data folder."""
    async with open_rag(RagConfig(data_dir=data)) as rag:
        return await rag.chunks.count("default")


def questions_of(data: Path) -> list[str]:
    """The questions of a judged set."""
    lines = (data / "queries.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line)["text"] for line in lines]


def corpus_of(data: Path, folder: Path) -> tuple[Path, list[str]]:
    """The first ``CHUNKS`` paragraphs of a judged set as a new set, and its questions."""
    folder.mkdir()
    with (data / "corpus.jsonl").open(encoding="utf-8") as lines:
        (folder / "corpus.jsonl").write_text("".join(itertools.islice(lines, CHUNKS)), encoding="utf-8")
    shutil.copy(data / "queries.jsonl", folder)
    return folder, questions_of(data)


def main() -> int:
    parser = options(__doc__, "the example vault, fewer seconds and requests", JUDGED)
    parser.add_argument("--seconds", type=float, metavar="N", help="time under load")
    parser.add_argument("--folder", type=Path, metavar="DATA", help="a data folder that is there")
    arguments = parser.parse_args()
    seconds = arguments.seconds or (QUICK_SECONDS if arguments.quick else SECONDS)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        example = folder / "example"
        asyncio.run(ingested(EXAMPLE, example))
        source, questions, data = EXAMPLE, list(QUESTIONS), example
        if arguments.folder is not None:
            questions, data = questions_of(arguments.data), arguments.folder
        elif not arguments.quick and (arguments.data / "corpus.jsonl").is_file():
            source, questions = corpus_of(arguments.data, folder / "corpus")
            data = folder / "data"
        elif not arguments.quick:
            print(f"{arguments.data} has no corpus.jsonl; the example vault is asked", file=sys.stderr)
        chunks = asyncio.run(held(data) if arguments.folder is not None else ingested(source, data))
        rows = [
            row("chunks", "chunks", chunks),
            *asyncio.run(beside_python(data, questions, seconds)),
            *contract_rows(example, QUICK_EXAMPLES if arguments.quick else EXAMPLES, folder),
        ]
    return report("service", rows, arguments.json)


if __name__ == "__main__":
    sys.exit(main())
