"""``eval``: run the evaluation under a progress bar, print its tables, write the requested files."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from agentic_rag.cli.render import bars
from agentic_rag.domain.usage import usage_text
from agentic_rag.rag import open_rag
from agentic_rag.settings.config import RagConfig
from agentic_rag_lab.cli.beam import systems_table
from agentic_rag_lab.cli.tables import interval, report_table
from agentic_rag_lab.evaluation.files import check_writable
from agentic_rag_lab.evaluation.report import LATENCY, SIGNIFICANT, EvalReport, mark
from agentic_rag_lab.evaluation.run import EvalOptions, evaluate
from agentic_rag_lab.evaluation.scores import MEASURES
from agentic_rag_lab.evaluation.systems import RERANK_SUFFIX

STAGES = {"read": "reading", "store": "storing", "ask": "asking", "score": "scoring"}
SHOWN_MEASURES = ("mrr@10", "all_gold@10")
"""Measures of the table by category: the rank of the first relevant result, and whether all were found."""
SHOWN_BEAM_MEASURES = ("recall@10", "all_gold@10")
"""The same for a BEAM conversation, whose questions have up to twenty sources."""


@dataclass(frozen=True, slots=True)
class ReportFiles:
    """Files to write; None leaves one out."""

    json: Path | None = None
    markdown: Path | None = None
    charts: Path | None = None
    """A folder."""


async def evaluate_source(
    config: RagConfig, source: Path, options: EvalOptions, outputs: ReportFiles
) -> None:
    """Evaluate, print, and write the scores if requested."""
    for file in (outputs.json, outputs.markdown):
        if file is not None:
            check_writable(file, source=source)
    if outputs.charts is not None:
        from agentic_rag_lab.evaluation.pictures import check_charts

        check_charts()
        check_writable(outputs.charts, folder=True)
    with bars(STAGES, quiet=False) as progress:
        async with open_rag(config) as rag:
            report = await evaluate(rag, source, options, progress)
    console = Console(highlight=False)
    for table in tables(report):
        console.print(table)
    if report.reused_answers:
        told_kept = f"{report.reused_answers} answers were kept from an earlier run (--fresh asks anew): {report.records}"
        console.print(told_kept, style="dim", markup=False, soft_wrap=True)
    await asyncio.to_thread(_write, report, outputs)


def _write(report: EvalReport, outputs: ReportFiles) -> None:
    if outputs.json is not None:
        report.write_json(outputs.json)
    if outputs.markdown is not None:
        report.write_markdown(outputs.markdown)
    if outputs.charts is not None:
        from agentic_rag_lab.evaluation.pictures import draw, of_report

        draw(of_report(report), outputs.charts)


def tables(report: EvalReport) -> list[Table]:
    """Quality and latency; by category, and abstention, if the data have them."""
    found = [_quality(report)]
    if any(figures["by_category"] for figures in report.systems.values()):
        found.append(_categories(report))
    if report.beam:
        found.append(systems_table(report.beam))
    if report.abstention:
        found.append(_abstention(report))
    return found


def _quality(report: EvalReport) -> Table:
    """One row per system, then the baselines without a search; value and 95 % interval, p50 and p95."""
    calls = any(figures["model_calls"]["total"] for figures in report.systems.values())
    numbers = [*MEASURES, "ms", *(("calls",) if calls else ())]
    shown = report_table(f"{report.dataset}: {report.queries} queries", ["system"], numbers)
    for name, figures in report.systems.items():
        against = figures["against_baseline"]
        values = [
            interval(figures[measure], mark(against.get(measure)), between="\n") for measure in MEASURES
        ]
        p50, p95 = (f"{figures['latency_ms'][point]:.0f}" for point in LATENCY)
        called = [f"{figures['model_calls']['mean']:g}"] if calls else []
        shown.add_row(_two_lines(name), *values, f"{p50}\n[dim]{p95}[/dim]", *called)
    shown.add_section()
    for name, figures in report.degenerate.get("ranking", {}).items():
        values = [interval(figures[measure], between="\n") for measure in MEASURES]
        shown.add_row(f"[dim]{name}\nno search[/dim]", *values)
    shown.caption = "\n".join(_captions(report))
    return shown


def _captions(report: EvalReport) -> list[str]:
    told = ["below each mean its 95 % interval; ms: p50, below it p95"]
    if len(report.systems) > 1:
        told.append(f"▲ ▼ against {report.baseline}: p < {SIGNIFICANT}, paired, Holm over systems × measures")
    degraded = {name: figures["degraded"] for name, figures in report.systems.items() if figures["degraded"]}
    if degraded:
        told.append(
            f"a source or model failed on: {', '.join(f'{n} of {name}' for name, n in degraded.items())}"
        )
    if report.usage:
        told.append(f"models behind endpoints used: {usage_text(report.usage)}")
    if report.repairs:
        told.append(f"repairs of the data: {len(report.repairs)}; --markdown FILE and --json FILE list them")
    return told


def _categories(report: EvalReport) -> Table:
    """One row per category and system."""
    measures = SHOWN_BEAM_MEASURES if report.beam else SHOWN_MEASURES
    shown = report_table("by category", ["category", "system"], ["queries", *measures])
    categories: Mapping[str, Any] = next(iter(report.systems.values()))["by_category"]
    for category in categories:
        for number, (name, figures) in enumerate(report.systems.items()):
            own = figures["by_category"][category]
            values = [interval(own[measure]) for measure in measures]
            first = (escape(category), str(own["queries"])) if number == 0 else ("", "")
            shown.add_row(first[0], _two_lines(name), first[1], *values)
        shown.add_section()
    return shown


def _abstention(report: EvalReport) -> Table:
    told = report.abstention
    title = f"abstention: {told['unanswerable']} unanswerable, {told['answerable']} answerable queries"
    numbers = ("abstained", "refused", "abstained at\n≤ 10 % refused", "area under ROC")
    shown = report_table(title, ["system"], numbers)
    for name, figures in told["systems"].items():
        run, chosen = figures["as_run"], figures["at_refused_10"]
        shares = (run["unanswerable_abstained"], run["answerable_refused"], chosen["unanswerable_abstained"])
        cells = (interval(figure, between="\n") for figure in (*shares, figures["roc_area"]))
        shown.add_row(name, *cells)
    for name, found in report.degenerate["abstention"].items():
        always = [f"{found[key]:.3f}" for key in ("unanswerable_abstained", "answerable_refused")]
        shown.add_row(f"[dim]always {name}\nright on {found['right']:.3f} of all[/dim]", *always)
    return shown


def _two_lines(name: str) -> str:
    """A system's name, in two lines if it has two parts, because tables are narrow."""
    return name.replace(RERANK_SUFFIX, f"\n{RERANK_SUFFIX}")
