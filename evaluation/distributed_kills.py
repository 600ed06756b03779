"""Compares the stores after an ingest on a Ray cluster with kills of workers or the driver with those of a plain one.

Notes of one passage are ingested by two nodes of one core, with a model that takes its time. In each of the first rounds
a drawn worker is killed (SIGKILL), in each of the others the process that asked for the ingest, which is run again. The
moments are spread over the run by its own progress, the first while workers parse, each put off by up to a second that
is drawn with a fixed seed. At the end both stores are compared with those of a plain ingest.
"""

from __future__ import annotations

import asyncio
import os
import random
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Timer

from agentic_rag import RagConfig, open_rag
from agentic_rag.domain.ports import FloatArray
from agentic_rag.domain.progress import Progress
from agentic_rag.testing import HashingEmbedding
from bench_scale import written
from distributed_runs import by, short_notes
from figures import Row, row
from ray_nodes import HERE as TESTS
from ray_nodes import kill, ray_nodes, workers
from stored import HALF_STEP, Stored, differences, everything, loose

WORKERS_KILLED, QUICK_WORKERS_KILLED = 10, 2
DRIVERS_KILLED, QUICK_DRIVERS_KILLED = 5, 1
NOTES, QUICK_NOTES = 400, 200
LATEST = 1.0
"""Seconds."""
SLEPT = 0.2
"""Seconds per call of the model."""
DRIVER = "import sys; sys.path[:0] = {paths!r}; from distributed_kills import drive; drive(*{given!r})"


class SlowEmbedding(HashingEmbedding):
    """A slow embedding, so that the ingest can be interrupted."""

    async def embed_passages(self, texts: Sequence[str]) -> FloatArray:
        await asyncio.sleep(SLEPT)
        return await super().embed_passages(texts)


class Reached:
    """A progress callback that triggers once, at a share of the work; at 0 on the first call."""

    def __init__(self, share: float, then: Callable[[], None]) -> None:
        self._share, self._then = share, then
        self._is_done = False

    def __call__(self, stage: str, done: int, total: int) -> None:
        if not self._is_done and (self._share == 0 or (stage == "store" and done >= self._share * total)):
            self._is_done = True
            self._then()


async def _ingest(data: Path, vault: Path, address: str | None, progress: Progress | None = None) -> None:
    async with open_rag(RagConfig(data_dir=data), embedding=SlowEmbedding()) as rag:
        await rag.ingest(vault, progress=progress, **by(address))


async def _stored(data: Path) -> Stored:
    async with open_rag(RagConfig(data_dir=data), embedding=HashingEmbedding()) as rag:
        return await everything(rag)


async def _ingested(data: Path, vault: Path, address: str | None) -> Stored:
    await _ingest(data, vault, address)
    return await _stored(data)


def drive(data: str, vault: str, address: str, share: float, later: float) -> None:
    """An ingest on the cluster by a process that is killed some seconds after a share of the work is done."""
    timer = Timer(later, kill, [os.getpid()])
    asyncio.run(_ingest(Path(data), Path(vault), address, Reached(share, timer.start)))
    timer.cancel()


async def _worker_killed(
    data: Path, vault: Path, address: str, share: float, later: float, chance: random.Random
) -> tuple[Stored, bool]:
    """The stores at the end, and whether a worker was killed."""
    reached = asyncio.Event()
    ingest = asyncio.ensure_future(_ingest(data, vault, address, Reached(share, reached.set)))
    await reached.wait()
    await asyncio.sleep(later)
    killed = False
    while not killed and not ingest.done():
        if found := workers():
            kill(chance.choice(sorted(found)))
            killed = True
        await asyncio.sleep(0.02)
    await ingest
    return await _stored(data), killed


def _driver_killed(data: Path, vault: Path, address: str, share: float, later: float) -> bool:
    """Whether the driver was killed before its end."""
    given = (str(data), str(vault), address, share, later)
    code = DRIVER.format(paths=[str(Path(__file__).parent), str(TESTS)], given=given)
    return subprocess.run([sys.executable, "-W", "ignore", "-c", code]).returncode < 0


async def _pending(data: Path) -> int:
    async with open_rag(RagConfig(data_dir=data), embedding=HashingEmbedding()) as rag:
        return sum(record.pending for record in (await rag.ledger.records("default")).values())


class _Rounds:
    """Outcomes of the rounds."""

    def __init__(self, expected: Stored) -> None:
        self._expected = expected
        self.killed = 0
        self.unlike: list[object] = []

    def add(self, called: str, stored: Stored, killed: bool) -> None:
        unlike = differences(self._expected, stored, labels=True, rounded=HALF_STEP)
        found = [*unlike, *loose(stored)]
        print(f"{called}: killed {killed}, {len(found)} differences {found[:2]}", file=sys.stderr, flush=True)
        self.killed += killed
        self.unlike += found


def run(quick: bool) -> list[Row]:
    """All rows."""
    of_workers = QUICK_WORKERS_KILLED if quick else WORKERS_KILLED
    of_drivers = QUICK_DRIVERS_KILLED if quick else DRIVERS_KILLED
    chance = random.Random(31)
    unfinished = 0
    with ray_nodes(2) as address, TemporaryDirectory() as scratch:
        folder = Path(scratch)
        vault = folder / "vault"
        written(vault, short_notes(QUICK_NOTES if quick else NOTES))
        expected = asyncio.run(_ingested(folder / "plain", vault, None))
        workers_die, drivers_die = _Rounds(expected), _Rounds(expected)
        for number in range(of_workers):
            share, later = number / of_workers, chance.uniform(0, LATEST)
            data = folder / f"worker{number}"
            ended = asyncio.run(_worker_killed(data, vault, address, share, later, chance))
            workers_die.add(f"worker at {share:.2f} and {later:.1f} s", *ended)
        for number in range(of_drivers):
            share, later = (number + 0.5) / of_drivers, chance.uniform(0, LATEST)
            data = folder / f"driver{number}"
            killed = _driver_killed(data, vault, address, share, later)
            pending = asyncio.run(_pending(data))
            unfinished += pending > 0
            stored = asyncio.run(_ingested(data, vault, address))
            drivers_die.add(f"driver at {share:.2f} and {later:.1f} s, {pending} pending", stored, killed)
    return [
        row(f"kills: workers killed, of {of_workers}", "rounds", workers_die.killed, bound="min"),
        row("kills: rows that differ after them", "rows", len(workers_die.unlike), floor=0),
        row(f"kills: drivers killed, of {of_drivers}", "rounds", drivers_die.killed, bound="min"),
        row("kills: of these left documents unfinished", "rounds", unfinished, bound="min"),
        row("kills: rows that differ once they are resumed", "rows", len(drivers_die.unlike), floor=0),
    ]
