"""The service beside uploads, the largest requests and killed readers: what failed, what was lost, ``/healthz``.

    python evaluation/bench_uploads.py [--quick] [--json FILE]

32 clients ask ``agentic-rag serve`` about the example vault for a minute. Meanwhile the documents of ``bench_documents``
are uploaded into three datasets, another user sends the largest allowed requests one after the other, ``/healthz`` is
asked 20 times a second, and the processes that read documents are killed 20 times. ``--quick`` takes 15 seconds and
5 kills. Exits 1 when a floor is missed. Linux only: the processes are found in /proc.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import signal
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from bench_ask import QUESTIONS
from bench_documents import FORMATS
from bench_service import Load, ingested, loaded, served
from figures import EXAMPLE, Row, options, report, row

DATASETS = 3
USERS = ("asker", "other", "uploader")
LONG = "我住在上海。我喜欢茶。" * 1_818
LISTED = "".join(f"I like tea{number}. " for number in range(1_200))
YEARS = list(range(500))
"""As many values as the filters of a request may have."""
MAX_BYTES: list[tuple[str, str, dict[str, Any] | None]] = [
    ("POST", "/memory", {"text": LONG}),
    ("POST", "/ask", {"query": LONG, "top_k": 100}),
    ("POST", "/memory", {"text": LISTED}),
    ("POST", "/ask", {"query": LISTED, "top_k": 100}),
    ("POST", "/ask", {"query": "tea 1 " * 3_333, "top_k": 100}),
    ("POST", "/ask", {"query": "Tea?", "filters": {"$or": [{"year": {"$eq": year}} for year in YEARS]}}),
    ("POST", "/search", {"query": LONG, "top_k": 100, "filters": {"year": {"$in": YEARS}}}),
    ("DELETE", "/memory", None),
]


@dataclass(slots=True)
class Seen:
    """What was done, and what went wrong."""

    failed: list[str] = field(default_factory=list)
    health: list[float] = field(default_factory=list)
    """Seconds of each ``/healthz``."""
    uploaded: int = 0
    lost: int = 0
    largest: int = 0
    kills: int = 0

    async def send(self, client: httpx.AsyncClient, method: str, path: str, **given: Any) -> Any:
        """The answer's JSON; None of a failed request, which is counted."""
        try:
            answer = await client.request(method, path, **given)
        except httpx.TransportError as error:
            return self.failed.append(f"{method} {path}: {type(error).__name__}")
        if answer.is_success:
            return answer.json()
        return self.failed.append(f"{method} {path}: {answer.status_code} {answer.text[:200]}")

    async def upload(self, client: httpx.AsyncClient, dataset: int, until: float) -> None:
        """Upload new documents, one of each format together; one that the report does not name added is lost."""
        for number in itertools.count(dataset, DATASETS):
            made = [await asyncio.to_thread(make, number) for make in FORMATS.values()]
            for documents in zip(*made, strict=False):
                if time.perf_counter() > until:
                    return
                named = zip(documents, FORMATS, strict=True)
                files = [("files", (f"{number}/{one.name}{suffix}", one.raw)) for one, suffix in named]
                into = {"dataset": f"uploads-{dataset}"}
                job = await self.send(client, "POST", "/ingest/files", files=files, data=into)
                while job is not None and job["status"] == "running":
                    await asyncio.sleep(0.2)
                    job = await self.send(client, "GET", f"/ingest/{job['id']}")
                done = (job or {}).get("report") or {"counts": {}}
                self.uploaded += len(files)
                self.lost += len(files) - done["counts"].get("added", 0)

    async def send_largest(self, client: httpx.AsyncClient, until: float) -> None:
        """Send the largest requests in turn."""
        for method, path, body in itertools.cycle(MAX_BYTES):
            if time.perf_counter() > until:
                return
            await self.send(client, method, path, json=body)
            self.largest += 1

    async def kill(self, service: int, kills: int) -> None:
        """Kill the service's processes that read documents, a fifth of a second apart."""
        while self.kills < kills:
            for process in await asyncio.to_thread(readers, service):
                os.kill(process, signal.SIGKILL)
                self.kills += 1
                await asyncio.sleep(0.2)
            await asyncio.sleep(0.02)

    def watch(self, url: str, until: float) -> None:
        """Ask ``/healthz``; in a thread, because this process's own event loop is not measured."""
        with httpx.Client(base_url=url, timeout=60) as client:
            while (began := time.perf_counter()) < until:
                client.get("/healthz").raise_for_status()
                self.health.append(time.perf_counter() - began)
                time.sleep(0.05)


def readers(service: int) -> list[int]:
    """The service's child processes that read documents."""
    children = [path.read_text().split() for path in Path(f"/proc/{service}/task").glob("*/children")]
    lines = {int(child): Path(f"/proc/{child}/cmdline") for child in itertools.chain(*children)}
    return [child for child, line in lines.items() if line.is_file() and b"extraction" in line.read_bytes()]


async def measured(data: Path, seconds: float, kills: int) -> list[Row]:
    """Runs everything at once; see the module."""
    seen, load = Seen(), Load()
    with served(data) as service:
        asker, other, uploader = (
            httpx.AsyncClient(base_url=service.url, timeout=120, headers={"Authorization": f"Bearer {user}"})
            for user in USERS
        )

        async def ask(question: str) -> bool:
            return await seen.send(asker, "POST", "/ask", json={"query": question}) is not None

        until = time.perf_counter() + seconds
        killer = asyncio.create_task(seen.kill(service.process.pid, kills))
        await asyncio.gather(
            loaded(load, ask, QUESTIONS, seconds), seen.send_largest(other, until),
            *(seen.upload(uploader, dataset, until) for dataset in range(DATASETS)),
            asyncio.to_thread(seen.watch, service.url, until),
        )  # fmt: skip
        killer.cancel()
    print(*dict.fromkeys(seen.failed), sep="\n", file=sys.stderr)
    return [
        row(f"32 clients, {seconds:g} s: questions answered", "requests", len(load.ms)),
        row("largest requests beside them", "requests", seen.largest),
        row("requests that failed", "requests", len(seen.failed), floor=0),
        row("processes that read documents, killed", "kills", seen.kills, bound="min", floor=kills),
        row("documents uploaded", "documents", seen.uploaded),
        row("documents lost", "documents", seen.lost, floor=0),
        row("/healthz, p99", "s", sorted(seen.health)[int(len(seen.health) * 0.99)]),
        row("/healthz, worst", "s", max(seen.health), floor=0.5),
    ]  # fmt: skip


def main() -> int:
    arguments = options(__doc__, "fewer seconds and kills").parse_args()
    os.environ["AGENTIC_RAG_SERVICE__KEYS"] = json.dumps([{"key": user, "user": user} for user in USERS])
    with tempfile.TemporaryDirectory() as name:
        asyncio.run(ingested(EXAMPLE, Path(name)))
        rows = asyncio.run(measured(Path(name), *((15.0, 5) if arguments.quick else (60.0, 20))))
    return report("uploads", rows, arguments.json)


if __name__ == "__main__":
    sys.exit(main())
