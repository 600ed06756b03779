"""What ``reindex`` does: embed a dataset anew under a progress bar."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentic_rag.cli.progress import bars
from agentic_rag.cli.render import console
from agentic_rag.cli.start import prepare
from agentic_rag.rag import open_rag
from agentic_rag.settings.config import RagConfig

if TYPE_CHECKING:
    from agentic_rag.stores.lancedb.reindex import ReindexReport

STAGES = {"embed": "embedding rows"}


async def reindex_dataset(config: RagConfig, dataset: str, *, quiet: bool) -> ReindexReport:
    """Reindex with a bar on stderr, unless quiet or not a terminal.

    Raises:
        UnknownDataset: nothing was ingested under the name.
    """
    prepare(config, dataset)
    with bars(STAGES, quiet=quiet) as progress:
        async with open_rag(config) as rag:
            return await rag.reindex(dataset, progress=progress)


def print_reindex(report: ReindexReport) -> None:
    """What it was made with and is now, and how much that was."""
    out = console()
    change = report.now if report.before == report.now else f"{report.before} → {report.now}"
    out.print(f"{report.dataset}: {change}", markup=False)
    rows = ", ".join(f"{count} {name}" for name, count in report.rows.items() if count)
    out.print(f"{rows or 'nothing to embed'} · {report.seconds:.1f} s", markup=False, style="dim")
