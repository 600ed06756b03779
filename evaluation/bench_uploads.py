"""The service beside uploads, the largest requests and killed extractors: failed requests, lost documents, ``/healthz``.

    python evaluation/bench_uploads.py [--quick] [--json FILE]

``agentic-rag serve`` on the example vault is asked by 32 clients for a minute. Meanwhile documents of all formats of
``bench_documents`` are uploaded into three datasets, each document once; another user sends the largest requests that
are allowed, one after the other; and the processes that read documents are killed 20 times, until the uploads end.
``/healthz`` is asked 20 times a second.
``--quick`` takes 15 seconds and 5 kills. Exits 1 when a floor is missed. Linux only: processes are found in /proc.
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
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from bench_ask import QUESTIONS
from bench_documents import FORMATS
from bench_service import VAULT, Load, ingested, loaded, served
from figures import options, report, row

SECONDS, QUICK_SECONDS = 60.0, 15.0
KILLS, QUICK_KILLS = 20, 5
HEALTH_FLOOR = 0.5
DATASETS = 3
KEYS = [
    {"key": f"the key of {user} in this benchmark", "user": user} for user in ("asker", "other", "uploader")
]
SENTENCES = "我住在上海。我喜欢茶。我的猫叫小白。"
LONG = SENTENCES * (20_000 // len(SENTENCES))
VALUES = 1_000
"""``service.max_conditions``"""
LARGEST: list[tuple[str, str, dict[str, Any] | None]] = [
    ("POST", "/memory", {"text": LONG}),
    ("POST", "/ask", {"query": LONG, "top_k": 100}),
    ("POST", "/ask", {"query": "tea 1 " * 3_333, "top_k": 100}),
    (
        "POST",
        "/ask",
        {"query": "Tea?", "filters": {"$or": [{"year": {"$eq": year}} for year in range(VALUES)]}},
    ),
    ("POST", "/search", {"query": LONG, "top_k": 100, "filters": {"year": {"$in": list(range(VALUES))}}}),
    ("DELETE", "/memory", None),
]


@dataclass(slots=True)
class Seen:
    """What went wrong, and what was done."""

    failed: list[str] = field(default_factory=list)
    health: list[float] = field(default_factory=list)
    """Seconds of each ``/healthz``."""
    uploaded: int = 0
    lost: int = 0
    largest: int = 0
    kills: int = 0

    async def send(
        self, client: httpx.AsyncClient, method: str, path: str, **given: Any
    ) -> httpx.Response | None:
        """The answer; None of a failed request, which is counted."""
        try:
            answer = await client.request(method, path, **given)
        except httpx.TransportError as error:
            self.failed.append(f"{method} {path}: {type(error).__name__}")
            return None
        if answer.is_success:
            return answer
        self.failed.append(f"{method} {path}: {answer.status_code} {answer.text[:200]}")
        return None


async def uploading(seen: Seen, client: httpx.AsyncClient, dataset: int, until: float) -> None:
    """Upload new documents, one of each format at once; one that the report does not name ``added`` is lost."""
    for number in itertools.count():
        made = await asyncio.to_thread(
            lambda: [make(DATASETS * number + dataset) for make in FORMATS.values()]
        )
        for documents in zip(*made, strict=False):
            if time.perf_counter() > until:
                return
            named = zip(documents, FORMATS, strict=True)
            files = [("files", (f"{number}/{one.name}{suffix}", one.raw)) for one, suffix in named]
            seen.uploaded += len(files)
            answer = await seen.send(
                client, "POST", "/ingest/files", files=files, data={"dataset": f"u{dataset}"}
            )
            while answer is not None and answer.json()["status"] == "running":
                await asyncio.sleep(0.2)
                answer = await seen.send(client, "GET", f"/ingest/{answer.json()['id']}")
            done = None if answer is None else answer.json()["report"]
            seen.lost += len(files) - (done["counts"].get("added", 0) if done else 0)


async def sending_the_largest(seen: Seen, client: httpx.AsyncClient, until: float) -> None:
    for method, path, body in itertools.cycle(LARGEST):
        if time.perf_counter() > until:
            return
        await seen.send(client, method, path, json=body)
        seen.largest += 1


async def killing(seen: Seen, service: int, kills: int) -> None:
    """Kill the processes that read documents, at least half a second apart."""
    while seen.kills < kills:
        for process in await asyncio.to_thread(readers, service):
            os.kill(process, signal.SIGKILL)
            seen.kills += 1
            await asyncio.sleep(0.5)
        await asyncio.sleep(0.02)


def readers(service: int) -> Iterable[int]:
    """The service's child processes that read documents."""
    children = [path.read_text().split() for path in Path(f"/proc/{service}/task").glob("*/children")]
    named = ((int(child), Path(f"/proc/{child}/cmdline")) for child in itertools.chain(*children))
    return [child for child, line in named if line.is_file() and b"extraction_worker" in line.read_bytes()]


def watching(seen: Seen, url: str, until: float) -> None:
    """Ask ``/healthz``; in a thread, so that this process's own event loop is not measured."""
    with httpx.Client(base_url=url, timeout=60) as client:
        while time.perf_counter() < until:
            began = time.perf_counter()
            if not client.get("/healthz").is_success:
                seen.failed.append("GET /healthz")
            seen.health.append(time.perf_counter() - began)
            time.sleep(0.05)


async def measured(data: Path, seconds: float, kills: int) -> list[dict[str, Any]]:
    seen, load = Seen(), Load()
    with served(data) as service:
        asker, other, uploader = (
            httpx.AsyncClient(
                base_url=service.url, timeout=120, headers={"Authorization": f"Bearer {one['key']}"}
            )
            for one in KEYS
        )

        async def ask(question: str) -> bool:
            return await seen.send(asker, "POST", "/ask", json={"query": question}) is not None

        await loaded(Load(), ask, QUESTIONS, seconds / 10)
        until = time.perf_counter() + seconds
        killer = asyncio.create_task(killing(seen, service.process.pid, kills))
        await asyncio.gather(
            loaded(load, ask, QUESTIONS, seconds),
            *(uploading(seen, uploader, dataset, until) for dataset in range(DATASETS)),
            sending_the_largest(seen, other, until),
            asyncio.to_thread(watching, seen, service.url, until),
        )
        killer.cancel()
        for client in (asker, other, uploader):
            await client.aclose()
    print(*dict.fromkeys(seen.failed), sep="\n", file=sys.stderr)
    what = f"32 clients, {seconds:g} s"
    return [
        row(f"{what}: questions answered", "requests", len(load.ms)),
        row("largest requests beside them", "requests", seen.largest),
        row("requests that failed", "requests", len(seen.failed), floor=0),
        row("readers of documents killed", "kills", seen.kills, bound="min", floor=kills),
        row("documents uploaded", "documents", seen.uploaded),
        row("documents lost", "documents", seen.lost, floor=0),
        row("worst /healthz", "s", max(seen.health), floor=HEALTH_FLOOR),
    ]


def main() -> int:
    arguments = options(__doc__, "fewer seconds and kills").parse_args()
    os.environ["AGENTIC_RAG_SERVICE__KEYS"] = json.dumps(KEYS)
    seconds, kills = (QUICK_SECONDS, QUICK_KILLS) if arguments.quick else (SECONDS, KILLS)
    with tempfile.TemporaryDirectory() as name:
        data = Path(name) / "data"
        asyncio.run(ingested(VAULT, data))
        return report("uploads", asyncio.run(measured(data, seconds, kills)), arguments.json)


if __name__ == "__main__":
    sys.exit(main())
