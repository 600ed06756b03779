"""What ``ingest`` and ``remove`` do: run the pipeline under a progress bar."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from agentic_rag.cli.progress import bars
from agentic_rag.ingest.pipeline import IngestReport
from agentic_rag.rag import open_rag
from agentic_rag.settings.config import RagConfig

STAGES = {"read": "reading", "store": "storing chunks"}


async def ingest_paths(
    config: RagConfig, paths: Sequence[Path], dataset: str, kind: str, *, quiet: bool
) -> IngestReport:
    """Ingest with a bar for each stage on stderr, unless quiet or not a terminal."""
    with bars(STAGES, quiet=quiet) as progress:
        async with open_rag(config) as rag:
            return await rag.ingest(paths, dataset=dataset, kind=kind, progress=progress)  # type: ignore[arg-type]


async def remove_paths(
    config: RagConfig, paths: Sequence[Path] | None, dataset: str, *, quiet: bool
) -> IngestReport:
    """Take out what came from the paths (None: everything), with a bar on stderr as ``ingest_paths``."""
    with bars(STAGES, quiet=quiet) as progress:
        async with open_rag(config) as rag:
            return await rag.remove(paths, dataset=dataset, progress=progress)
