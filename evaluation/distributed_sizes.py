"""Memory per document in the process that runs an ingest, and memory of the graph for a question."""

from __future__ import annotations

import asyncio
import gc
import os
import pickle
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

from agentic_rag import RagConfig, open_rag
from agentic_rag.domain.progress import silent
from agentic_rag.ingest.pipeline import _marks
from agentic_rag.ingest.planning import WRITTEN, parsed, planned
from agentic_rag.ingest.sources import discover
from agentic_rag.retrieval.passage_graph import PassageGraph
from agentic_rag.stores.graphiti.store import GraphitiStore
from agentic_rag.testing import HashingEmbedding
from bench_scale import notes, written
from distributed_runs import apart
from figures import Row, row

NOTES, QUICK_NOTES = 5_000, 500


def _kept(make: Callable[[], Any]) -> tuple[Any, int]:
    """The result of a function, and the bytes it occupies."""
    gc.collect()
    before = tracemalloc.get_traced_memory()[0]
    made = make()
    gc.collect()
    return made, tracemalloc.get_traced_memory()[0] - before


async def _stored(vault: Path, data: Path) -> int:
    """Number of chunks."""
    async with open_rag(RagConfig(data_dir=data), embedding=HashingEmbedding()) as rag:
        return (await rag.ingest(vault)).chunks


async def _links(data: Path) -> float:
    """Growth of this process in bytes by preparing the graph's links for walks."""
    async with open_rag(RagConfig(data_dir=data), embedding=HashingEmbedding()) as rag:
        await rag.chunks.count("default")
        before = _resident()
        links = await cast(GraphitiStore, rag.knowledge).links("default")
        walked = None if links is None else PassageGraph(links)
        gc.collect()
        return _resident() - before if walked is not None else 0.0


def _resident() -> float:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def links(data: Path) -> float:
    return asyncio.run(_links(data))


def run(quick: bool) -> list[Row]:
    """All rows."""
    count = QUICK_NOTES if quick else NOTES
    with TemporaryDirectory() as scratch:
        vault, data = Path(scratch) / "vault", Path(scratch) / "data"
        written(vault, notes(count))
        held = sum(file.stat().st_size for file in vault.rglob("*.md"))
        tracemalloc.start()
        scan, scanned = _kept(lambda: discover([vault], "auto"))
        plan, kept = _kept(
            lambda: planned(scan, {}, WRITTEN, lambda found: (parsed(*one) for one in found), silent)
        )
        _, marked = _kept(lambda: pickle.loads(pickle.dumps(_marks(plan, {}))))
        tracemalloc.stop()
        chunks = asyncio.run(_stored(vault, data))
        of_links = apart(links, data)
    titles = pickle.dumps(plan.titles)
    return [
        row(f"sizes: {count:,} notes, text of one", "bytes", held / count),
        row("sizes: scan, of one", "bytes", scanned / count),
        row("sizes: plan, of one", "bytes", kept / count),
        row(
            "sizes: of that the packed document", "bytes", sum(len(work.packed) for work in plan.work) / count
        ),
        row("sizes: record of the ledger, of one", "bytes", marked / count),
        row("sizes: index of titles as each worker gets it, of one", "bytes", len(titles) / count),
        row(f"sizes: links of the graph of {chunks:,} chunks, of a chunk", "bytes", of_links / chunks),
    ]
