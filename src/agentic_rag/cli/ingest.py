"""What ``ingest`` does: run the pipeline under a progress bar."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from agentic_rag.composition import open_rag
from agentic_rag.config import RagConfig
from agentic_rag.ingest.report import IngestReport

STAGES = {"read": "reading", "store": "storing"}


async def ingest_paths(
    config: RagConfig, paths: Sequence[Path], dataset: str, kind: str, *, quiet: bool
) -> IngestReport:
    """Ingest with a bar for each stage on stderr, unless quiet or not a terminal."""
    columns = (
        TextColumn("{task.description:>8}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    console = Console(stderr=True)
    shown = console.is_terminal and not quiet
    with Progress(*columns, console=console, transient=True, disable=not shown) as bar:
        tasks = {stage: bar.add_task(words, total=None, visible=False) for stage, words in STAGES.items()}

        def told(stage: str, done: int, total: int) -> None:
            bar.update(tasks[stage], completed=done, total=total, visible=True)

        async with open_rag(config) as rag:
            return await rag.ingest(paths, dataset=dataset, kind=kind, progress=told)  # type: ignore[arg-type]
