"""What ``eval`` does: run the evaluation under a progress bar and print its table."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from agentic_rag.composition import open_rag
from agentic_rag.environment import load_config
from agentic_rag.evaluation.run import MEASURES, EvalReport, evaluate


async def evaluate_source(
    source: Path,
    names: Sequence[str],
    operation: str | None,
    limit: int | None,
    output: Path | None,
    data_dir: Path | None,
    settings: Path | None,
) -> None:
    """Evaluate, print, and write the figures where asked to."""
    config = load_config(data_dir, settings)
    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
        tasks = {stage: bar.add_task(stage, total=None, visible=False) for stage in ("read", "store", "ask")}

        def told(stage: str, done: int, total: int) -> None:
            bar.update(tasks[stage], completed=done, total=total, visible=True)

        async with open_rag(config) as rag:
            report = await evaluate(rag, source, names, operation=operation, limit=limit, told=told)
    if output is not None:
        report.write(output)
    Console(highlight=False).print(table(report))


def table(report: EvalReport) -> Table:
    """A row a system; value and 95 % interval."""
    shown = Table(title=f"{report.dataset}: {report.queries} queries", title_justify="left")
    shown.add_column("system")
    for name in (*MEASURES, "p50 ms", "p95 ms"):
        shown.add_column(name, justify="right")
    for name, figures in report.systems.items():
        values = [
            f"{f['value']:.3f}\n[dim]{f['low']:.3f}–{f['high']:.3f}[/dim]"
            for f in (figures[m] for m in MEASURES)
        ]
        latency = figures["latency_ms"]
        shown.add_row(name, *values, f"{latency['p50']:.0f}", f"{latency['p95']:.0f}")
    if report.repairs:
        shown.caption = f"{report.repairs} labels were repaired or left out; see evaluation.datasets"
    return shown
