"""This build beside another checkout: the same questions and cold starts, in turns, each build with a store of its own.

Run by ``bench_ask.py --beside CHECKOUT``; as a program it is one of the two builds, which answers the numbers of questions.
Both run in this interpreter with its libraries, so that only the sources differ.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from figures import COMMAND, HERE, Row, percentiles, row, seconds_of

WARMED_BY = 2
"""Questions before those that count: they open tables and fill caches."""


class Build:
    """A process of one checkout that asks its own store, which it first fills from the corpus."""

    def __init__(self, checkout: Path, store: Path, corpus: Path, questions: Sequence[str]) -> None:
        self._store = store
        self._environment = {**os.environ, "PYTHONPATH": str(checkout / "src")}
        command = [sys.executable, __file__, str(store), str(corpus), json.dumps(list(questions))]
        self._process = subprocess.Popen(
            command, env=self._environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def ask(self, number: int) -> tuple[float, float]:
        """Milliseconds by the clock and of the processor."""
        print(number, file=self._process.stdin, flush=True)
        line = self._process.stdout.readline() if self._process.stdout else ""
        if not line:
            raise RuntimeError(f"the build in {self._environment['PYTHONPATH']} ended; see its message above")
        clock, processor = json.loads(line)
        return clock, processor

    def cold_ask(self, question: str) -> float:
        """Seconds of ``agentic-rag ask`` as a process of its own."""
        command = [*COMMAND, "ask", question, "--data-dir", str(self._store), "--json"]
        return seconds_of(command, self._environment)

    def close(self) -> None:
        self._process.communicate()


def beside_rows(
    checkout: Path, folder: Path, corpus: Path, questions: Sequence[str], colds: int
) -> list[Row]:
    """Means and percentiles of both, a ratio above 1 where this build is better; ``folder`` takes the stores."""
    builds: list[Build] = []
    for name, root in (("ours", HERE.parent), ("theirs", checkout.resolve())):
        builds.append(Build(root, folder / name, corpus, questions))
        builds[-1].ask(0)  # one ingest after the other
    asked = [_in_turns(builds, number) for number in range(len(questions))][WARMED_BY:]
    for build in builds:
        build.close()
    starts = [[build.cold_ask(questions[0]) for build in builds] for _ in range(colds)]
    clock, processor = ([[one[side][kind] for one in asked] for side in (0, 1)] for kind in (0, 1))
    cold = [statistics.median(one[side] for one in starts) for side in (0, 1)]
    (p50, p95), (their_p50, their_p95) = map(percentiles, clock)
    peer = str(checkout)
    return [
        row("a question: mean processor time", "ms", statistics.mean(processor[0]), peer=peer, theirs=statistics.mean(processor[1])),
        row("a question: p50", "ms", p50, peer=peer, theirs=their_p50),
        row("a question: p95", "ms", p95, peer=peer, theirs=their_p95),
        row(f"cold `agentic-rag ask`, median of {colds}", "s", cold[0], peer=peer, theirs=cold[1]),
    ]  # fmt: skip


def _in_turns(builds: Sequence[Build], number: int) -> list[tuple[float, float]]:
    """Both answers' times, in the order of the builds; the second one begins every other time."""
    times = {side: builds[side].ask(number) for side in ((0, 1) if number % 2 else (1, 0))}
    return [times[0], times[1]]


async def answer(store: Path, corpus: Path, questions: Sequence[str]) -> None:
    """Ask the questions whose numbers are read, and print the milliseconds of each."""
    from agentic_rag import RagConfig, open_rag

    async with open_rag(RagConfig(data_dir=store)) as rag:
        if not await rag.chunks.count("default"):
            await rag.ingest(corpus)
        gc.collect()
        gc.freeze()
        for line in sys.stdin:
            clock, processor = time.perf_counter(), time.process_time()
            await rag.ask(questions[int(line)])
            spent = time.perf_counter() - clock, time.process_time() - processor
            print(json.dumps([seconds * 1e3 for seconds in spent]), flush=True)


if __name__ == "__main__":
    asyncio.run(answer(Path(sys.argv[1]), Path(sys.argv[2]), json.loads(sys.argv[3])))
