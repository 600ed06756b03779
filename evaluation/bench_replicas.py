"""Failed requests and lost turns of two replicas behind a proxy while one is killed and both are restarted.

    python evaluation/bench_replicas.py [--quick] [--json FILE]

Two services answer the example vault over FalkorDB, PostgreSQL and a bucket of S3's protocol, behind nginx with
the shipped configuration (``configs/replicas.conf``). 32 clients ask for a minute, each in its own conversation.
After a quarter of the time the replica that writes is killed with SIGKILL and started again; after half of it the
other one, and then the first, is restarted by SIGTERM. A request counts as refused if it has status 503 or 429, a
``Retry-After`` and the reason; the client then asks again. At the end each conversation must contain exactly its
answered questions, in order. Exits 1 when a floor is missed.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import cycle
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx
import numpy as np

from bench_ask import QUESTIONS
from figures import options, report, row

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
os.environ["SERVERS_FOR_TESTS"] = "required"
from replicas import NGINX, Replica, Replicas, replicas

VAULT = Path(__file__).parents[1] / "examples" / "vault"
CLIENTS, QUICK_CLIENTS = 32, 4
SECONDS, QUICK_SECONDS = 60.0, 10.0
TIMEOUT = 120.0
REFUSALS = (429, 503)


@dataclass
class Client:
    """A client and its results."""

    thread: str
    said: list[str] = field(default_factory=list)
    """Its answered questions."""
    seconds: list[float] = field(default_factory=list)
    """Seconds per answer."""
    refused: list[float] = field(default_factory=list)
    """Times of refusals."""
    failed: list[tuple[float, str]] = field(default_factory=list)
    """Times and reasons of failures."""
    kept: bool = False
    """Whether its conversation contains exactly the answered questions, in order."""

    async def ask(self, proxy: httpx.AsyncClient, question: str) -> None:
        began = time.perf_counter()
        try:
            answer = await proxy.post("/ask", json={"query": question, "thread_id": self.thread})
        except httpx.TransportError as error:
            self.failed.append((time.time(), type(error).__name__))
            return
        if answer.status_code == 200 and answer.json()["answer"]:
            self.said.append(question)
            self.seconds.append(time.perf_counter() - began)
        elif _is_honest(answer):
            self.refused.append(time.time())
            await asyncio.sleep(float(answer.headers["Retry-After"]))
        else:
            self.failed.append((time.time(), f"{answer.status_code} {answer.text[:200]}"))

    async def look(self, proxy: httpx.AsyncClient) -> None:
        messages = (await proxy.get(f"/threads/{self.thread}")).json()["messages"]
        told = [one["text"] for one in messages if one["role"] == "user"]
        turns = [one["role"] for one in messages] == ["user", "assistant"] * len(self.said)
        self.kept = turns and told == self.said
        if not self.kept:
            print(
                "MISMATCH", self.said, [(one["role"], one["text"][:40]) for one in messages], file=sys.stderr
            )


def _is_honest(answer: httpx.Response) -> bool:
    if answer.status_code not in REFUSALS or not answer.headers.get("Retry-After", "").isdigit():
        return False
    try:
        return bool(answer.json()["error"]["message"])
    except (ValueError, KeyError, TypeError):
        return False


async def asked(url: str, clients: Sequence[Client], over: asyncio.Event) -> None:
    """Every client asks until the time is over, and then reads its conversation."""
    limits = httpx.Limits(max_connections=len(clients))
    async with httpx.AsyncClient(base_url=url, timeout=TIMEOUT, limits=limits) as proxy:

        async def one(client: Client) -> None:
            for number, question in enumerate(cycle(QUESTIONS)):
                if over.is_set():
                    break
                await client.ask(proxy, f"{question} ({number})")
            await client.look(proxy)

        await asyncio.gather(*map(one, clients))


async def restarted(replica: Replica, how: signal.Signals) -> None:
    await asyncio.to_thread(replica.end, how)
    replica.start()
    await asyncio.to_thread(replica.wait)


async def disturbed(both: Replicas, clients: Sequence[Client], seconds: float) -> tuple[float, float]:
    """The load with the kill and the restarts; returns start and end of the rolling restart."""
    over = asyncio.Event()
    asking = asyncio.create_task(asked(both.url, clients, over))
    began = time.time()
    await asyncio.sleep(seconds / 4)
    await restarted(both.writer, signal.SIGKILL)
    await asyncio.sleep(max(0.0, began + seconds / 2 - time.time()))
    rolling = time.time()
    for one in (both.reader, both.writer):
        await restarted(one, signal.SIGTERM)
    rolled = time.time()
    await asyncio.sleep(max(0.0, began + seconds - rolled))
    over.set()
    await asking
    return rolling, rolled


async def ingested(both: Replicas) -> None:
    """Ingest the vault with the writing replica."""
    async with httpx.AsyncClient(base_url=both.url, timeout=TIMEOUT) as client:
        job = (await client.post("/ingest", json={"paths": [str(VAULT)]})).json()
        while job["status"] == "running":
            await asyncio.sleep(0.2)
            job = (await client.get(f"/ingest/{job['id']}")).json()
        if job["status"] != "done":
            raise RuntimeError(job["error"])


def main(arguments: Sequence[str] | None = None) -> int:
    parser = options(__doc__, f"{QUICK_CLIENTS} clients for {QUICK_SECONDS:g} s")
    given = parser.parse_args(arguments)
    if NGINX is None:
        parser.error("nginx is not installed, so there is no proxy to measure with (apt install nginx-light)")
    seconds, number = (QUICK_SECONDS, QUICK_CLIENTS) if given.quick else (SECONDS, CLIENTS)
    clients = [Client(f"client-{one}") for one in range(number)]
    with TemporaryDirectory() as folder, replicas(Path(folder), VAULT) as both:
        asyncio.run(ingested(both))
        began = time.time()
        rolling, rolled = asyncio.run(disturbed(both, clients, seconds))
        took = time.time() - began
    failed = [one for client in clients for one in client.failed]
    for when, why in failed[:20]:
        print(f"{when - began:.1f} s: {why}", file=sys.stderr)
    answers = [taken for client in clients for taken in client.seconds]
    during = sum(rolling <= when <= rolled for when, _ in failed)
    kept = sum(client.kept for client in clients)
    called = f"{number} clients for {took:.0f} s"
    return report(
        "replicas",
        [
            row(f"{called}: requests answered", "requests", len(answers), bound="min", floor=number),
            row(
                "refused with Retry-After and a reason", "requests", sum(len(one.refused) for one in clients)
            ),
            row("failed", "requests", len(failed), floor=0),
            row(f"failed in the rolling restart of {rolled - rolling:.0f} s", "requests", during, floor=0),
            row(
                "conversations with all their turns, in order",
                "conversations",
                kept,
                bound="min",
                floor=number,
            ),
            row("an answer, p50", "s", float(np.median(answers)) if answers else None),
            row("an answer, longest", "s", max(answers, default=None)),
        ],
        given.json,
    )


if __name__ == "__main__":
    sys.exit(main())
