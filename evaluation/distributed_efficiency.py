"""Speed-up from one worker to two, memory of each worker, and agreement with the simulation.

The same notes, four passages each, are embedded by the bundled model on clusters of one, two and four nodes of one core
beside a head without any. Counted are the seconds from the first embedded text until the last batch is stored: cluster,
workers and model have started, and the tidying at the end is none of it.

One worker is measured twice: with everything on one core, as on one machine of one core, and with a second core that only
the driver and Ray's own processes use. Two workers share both cores with them. So the first comparison is that of twice
the machines, the second that of a worker more on the same ones. How much two busy cores do together is measured before, by
the model alone, and what Ray's own processes take of that in the run of one worker on two cores. Where the machine has too
few cores for that, the same with a model that takes time and no processor tells what the engine adds.
"""

from __future__ import annotations

import asyncio
import math
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory

from agentic_rag.models import bundled
from bench_disk import bytes_of
from bench_scale import notes, written
from distributed_runs import Model, Watched, one_core, short_notes, watched
from distributed_simulation import Ingest, most_workers, seconds
from figures import Row, row

NOTES, QUICK_NOTES = 768, 320
SHARE = 64
"""Number of documents."""
EFFICIENCY_FLOOR, PREDICTED_FLOOR = 0.85, 0.15
MEMORY_FLOOR = 1_200.0
"""MB: machines have at least 2,000 a core, of which Ray keeps 30 % for its object store, and 200 its own processes."""
TEXTS = 256


def _embedded(count: int) -> float:
    """Seconds of embedding."""
    bundled.use_threads(1)
    texts = [text for _, text in short_notes(count)]
    model = bundled.BundledEmbedding()
    asyncio.run(model.embed_passage_tokens(texts[:8]))
    began = time.perf_counter()
    asyncio.run(model.embed_passage_tokens(texts))
    return time.perf_counter() - began


def cores() -> float:
    """Work of two busy cores, in units of one core."""
    with ProcessPoolExecutor(2, get_context("spawn")) as processes:
        alone = processes.submit(_embedded, TEXTS).result()
        both = list(processes.map(_embedded, [TEXTS] * 2))
        again = processes.submit(_embedded, TEXTS).result()
    return (alone + again) / max(both)


def _worker_seconds(run: Watched) -> float:
    """Seconds of all workers, without the opening of stores and model."""
    stages = run.told.stages
    return sum(taken for stage, taken in stages.items() if stage.startswith("workers: ")) - stages.get(
        "workers: open", 0.0
    )


def run(quick: bool) -> list[Row]:
    """All rows."""
    count = QUICK_NOTES if quick else NOTES
    with TemporaryDirectory() as scratch:
        folder = Path(scratch)
        vault = folder / "vault"
        written(vault, short_notes(count) if quick else islice(notes(count), count))
        together = cores()
        print(f"two cores do {together:.2f} of the work of one", file=sys.stderr, flush=True)
        elsewhere = _runs(vault, folder, "waiting", (1, 2) if quick else (1, 2, 4))
        runs = _runs(vault, folder, "bundled", (1, 2) if quick else (1, 2, 4))
        with one_core():
            pinned = watched(vault, folder / "one_core", "bundled", 1)
        held = bytes_of(folder / "bundled1" / "data")
    ingest, one = _ingest(runs[1], count), runs[1]
    beside = max(0.0, one.processor - ingest.shares * (ingest.share_seconds + ingest.batch_seconds))
    left = together - beside / one.stored_after
    return [
        row("efficiency: two cores do together", "cores", together),
        row("efficiency: what Ray takes of them", "cores", together - left),
        *_rows(runs, ingest),
        row("efficiency: one worker and everything else on one core", "s", pinned.stored_after),
        row("efficiency: from one core to two", "share", pinned.stored_after / (2 * runs[2].stored_after), bound="min",
            floor=None if quick else EFFICIENCY_FLOOR),
        *_scaled("the model on these cores", runs),
        *_simulated("the model on these cores", runs, ingest, left, quick),
        *_scaled("a model elsewhere", elsewhere, None if quick else EFFICIENCY_FLOOR),
        *_simulated("a model elsewhere", elsewhere, _ingest(elsewhere[1], count), math.inf, quick),
        *_disk(held, one.told.chunks),
    ]  # fmt: skip


def _runs(vault: Path, folder: Path, model: Model, nodes: Sequence[int]) -> dict[int, Watched]:
    """Runs by number of workers."""
    runs = {}
    for many in nodes:
        runs[many] = one = watched(vault, folder / f"{model}{many}", model, many)
        print(f"{model}, {many} workers: {one.stored_after:.1f} s, {one.processor:.1f} s of processors; {one.told.stages}",
              file=sys.stderr, flush=True)  # fmt: skip
    return runs


def _ingest(one: Watched, count: int) -> Ingest:
    """Parameters of the simulation, from the run of one worker."""
    shares, stages = math.ceil(count / SHARE), one.told.stages
    return Ingest(shares, _worker_seconds(one) / shares, (stages["vectors"] + stages["graph"]) / shares)


def _scaled(called: str, runs: dict[int, Watched], floor: float | None = None) -> list[Row]:
    return [
        row(f"efficiency: {called}, from one worker to {many}", "share",
            runs[1].stored_after / (many * run.stored_after), bound="min", floor=floor if many == 2 else None)
        for many, run in runs.items() if many > 1
    ]  # fmt: skip


def _simulated(called: str, runs: dict[int, Watched], ingest: Ingest, cores: float, quick: bool) -> list[Row]:
    rows = []
    for many, run in runs.items():
        predicted = seconds(ingest, many, cores)
        off = abs(predicted / run.stored_after - 1)
        rows += [
            row(f"simulation: {called}, {many} workers", "s", predicted, peer="measured", theirs=run.stored_after),
            row("simulation: off by", "share", off, floor=PREDICTED_FLOOR if many == 2 and not quick else None),
        ]  # fmt: skip
    return rows


def _disk(held: dict[str, int], chunks: int) -> list[Row]:
    graph = sum(size for part, size in held.items() if part.startswith("graph_"))
    return [
        row("efficiency: disk of a chunk", "bytes", held["all"] / chunks),
        row(
            "efficiency: of that chunks, their vectors and indexes", "bytes", held["chunks_default"] / chunks
        ),
        row("efficiency: of that the graph's", "bytes", graph / chunks),
    ]


def _rows(runs: dict[int, Watched], ingest: Ingest) -> list[Row]:
    one = runs[1]
    called = f"efficiency: {one.told.chunks:,} chunks of {one.told.documents:,} notes"
    return [
        row(f"{called}, one worker", "s", one.stored_after),
        row("efficiency: chunks a second of one worker", "1/s", one.told.chunks / one.stored_after),
        row("efficiency: a worker's seconds for a share", "s", ingest.share_seconds),
        row("efficiency: the driver's for a batch", "s", ingest.batch_seconds),
        row("efficiency: workers that keep one driver busy", "workers", most_workers(ingest)),
        row("efficiency: most memory of a worker", "MB",
            max(memory for run in runs.values() for memory in run.worker_memory), floor=MEMORY_FLOOR),
        row("efficiency: most memory of the driver", "MB", max(run.driver_memory for run in runs.values())),
    ]  # fmt: skip
