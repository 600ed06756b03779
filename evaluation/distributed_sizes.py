"""What an ingest keeps in the memory of the process that asked for it, for each document."""

from __future__ import annotations

import gc
import pickle
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from agentic_rag.domain.progress import silent
from agentic_rag.ingest.pipeline import _marks
from agentic_rag.ingest.planning import WRITTEN, parsed, planned
from agentic_rag.ingest.sources import discover
from bench_scale import notes, written
from figures import Row, row

NOTES, QUICK_NOTES = 5_000, 500


def _kept(make: Callable[[], Any]) -> tuple[Any, int]:
    """What it makes, and the bytes that this keeps."""
    gc.collect()
    before = tracemalloc.get_traced_memory()[0]
    made = make()
    gc.collect()
    return made, tracemalloc.get_traced_memory()[0] - before


def run(quick: bool) -> list[Row]:
    """All rows."""
    count = QUICK_NOTES if quick else NOTES
    with TemporaryDirectory() as scratch:
        vault = Path(scratch)
        written(vault, notes(count))
        held = sum(file.stat().st_size for file in vault.rglob("*.md"))
        tracemalloc.start()
        scan, scanned = _kept(lambda: discover([vault], "auto"))
        plan, kept = _kept(
            lambda: planned(scan, {}, WRITTEN, lambda found: (parsed(*one) for one in found), silent)
        )
        _, marked = _kept(lambda: pickle.loads(pickle.dumps(_marks(plan, {}))))
        tracemalloc.stop()
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
    ]
