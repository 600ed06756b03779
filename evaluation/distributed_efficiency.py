"""How much faster two workers are than one, what memory each takes, and whether the simulation says so beforehand.

The same notes, four passages each, are embedded by the bundled model on clusters of one, two and four nodes of one core
beside a head without any. Counted are the seconds from the first embedded text until the last batch is stored: cluster,
workers and model have started, and the tidying at the end is none of it. The machine's cores are shared by workers and
driver; how much two busy cores do together is measured before, by the model alone.
"""

from __future__ import annotations

import asyncio
import math
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory

from agentic_rag.models import bundled
from bench_disk import bytes_of
from bench_scale import notes, written
from distributed_runs import Watched, short_notes, watched
from distributed_simulation import Ingest, most_workers, seconds
from figures import Row, row

NOTES, QUICK_NOTES = 768, 320
SHARE = 64
"""Documents."""
EFFICIENCY_FLOOR, PREDICTED_FLOOR = 0.85, 0.15
MEMORY_FLOOR = 1_000.0
"""MB: nodes are sold with two a core and more, of which Ray keeps a third for its object store."""
TEXTS = 256


def _embedded(count: int) -> float:
    """Seconds."""
    bundled.use_threads(1)
    texts = [text for _, text in short_notes(count)]
    model = bundled.BundledEmbedding()
    asyncio.run(model.embed_passage_tokens(texts[:8]))
    began = time.perf_counter()
    asyncio.run(model.embed_passage_tokens(texts))
    return time.perf_counter() - began


def cores() -> float:
    """How much of the work of one core two do together."""
    with ProcessPoolExecutor(2, get_context("spawn")) as processes:
        alone = processes.submit(_embedded, TEXTS).result()
        both = list(processes.map(_embedded, [TEXTS] * 2))
        again = processes.submit(_embedded, TEXTS).result()
    return (alone + again) / max(both)


def _worker_seconds(run: Watched) -> float:
    """Of all workers, without the opening of stores and model."""
    stages = run.told.stages
    return sum(taken for stage, taken in stages.items() if stage.startswith("workers: ")) - stages.get(
        "workers: open", 0.0
    )


def run(quick: bool) -> list[Row]:
    """All rows."""
    count = QUICK_NOTES if quick else NOTES
    runs: dict[int, Watched] = {}
    with TemporaryDirectory() as scratch:
        folder = Path(scratch)
        written(folder / "vault", short_notes(count) if quick else islice(notes(count), count))
        together = cores()
        print(f"two cores do {together:.2f} of the work of one", file=sys.stderr, flush=True)
        for nodes in (1, 2) if quick else (1, 2, 4):
            runs[nodes] = watched(folder / "vault", folder / f"by{nodes}", "bundled", nodes)
            print(f"{nodes} workers: {runs[nodes].stored_after:.1f} s; {runs[nodes].told.stages}",
                  file=sys.stderr, flush=True)  # fmt: skip
        held = bytes_of(folder / "by1" / "data")
    return [
        row("efficiency: two cores do together", "cores", together),
        *_rows(runs, count, together, quick),
        *_disk(held, runs[1].told.chunks),
    ]


def _disk(held: dict[str, int], chunks: int) -> list[Row]:
    graph = sum(size for part, size in held.items() if part.startswith("graph_"))
    return [
        row("efficiency: disk of a chunk", "bytes", held["all"] / chunks),
        row(
            "efficiency: of that chunks, their vectors and indexes", "bytes", held["chunks_default"] / chunks
        ),
        row("efficiency: of that the graph's", "bytes", graph / chunks),
    ]


def _rows(runs: dict[int, Watched], count: int, together: float, quick: bool) -> list[Row]:
    one, stages = runs[1], runs[1].told.stages
    shares = math.ceil(count / SHARE)
    ingest = Ingest(shares, _worker_seconds(one) / shares, (stages["vectors"] + stages["graph"]) / shares)
    called = f"efficiency: {one.told.chunks:,} chunks of {count:,} notes"
    rows = [
        row(f"{called}: one worker", "s", one.stored_after),
        row("efficiency: chunks a second of one worker", "1/s", one.told.chunks / one.stored_after),
        row("efficiency: a worker's seconds for a share", "s", ingest.share_seconds),
        row("efficiency: the driver's for a batch", "s", ingest.batch_seconds),
        row("efficiency: workers that keep one driver busy", "workers", most_workers(ingest)),
        row("efficiency: from one worker to two", "share", one.stored_after / (2 * runs[2].stored_after),
            bound="min", floor=None if quick else EFFICIENCY_FLOOR),
        row("efficiency: most memory of a worker", "MB",
            max(memory for watched in runs.values() for memory in watched.worker_memory), floor=MEMORY_FLOOR),
        row("efficiency: most memory of the driver", "MB", max(one.driver_memory for one in runs.values())),
    ]  # fmt: skip
    for nodes, measured in runs.items():
        predicted = seconds(ingest, nodes, together)
        off = abs(predicted / measured.stored_after - 1)
        rows += [
            row(f"simulation: {nodes} workers, predicted", "s", predicted, peer="measured",
                theirs=measured.stored_after),
            row(f"simulation: {nodes} workers, off by", "share", off,
                floor=None if quick or nodes == 1 else PREDICTED_FLOOR),
        ]  # fmt: skip
    return rows
