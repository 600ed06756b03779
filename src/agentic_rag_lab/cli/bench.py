"""``bench``: run a memory design under a progress bar, print its scores; compare finished runs."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from agentic_rag.cli.render import bars
from agentic_rag.domain.json_values import Json
from agentic_rag.settings.config import RagConfig
from agentic_rag_lab.cli.beam import CAPTION, SIX, abstention, kinds_table, systems_table
from agentic_rag_lab.cli.tables import report_table
from agentic_rag_lab.designs.config import read_pipeline
from agentic_rag_lab.evaluation.beam_scores import LONG
from agentic_rag_lab.evaluation.bench.comparing import comparison, read_runs, short_name
from agentic_rag_lab.evaluation.bench.figures import ANSWERABLE, RECALL
from agentic_rag_lab.evaluation.bench.run import BenchOptions, BenchReport, run_bench
from agentic_rag_lab.evaluation.report import SIGNIFICANT, mark

STAGES = {"ask": "asking"}
ODD = {
    "skipped_turns": "turns without any",
    "malformed_lines": "lines of the chat model unread",
    "forgotten": "forgotten",
    "failed": "packets failed",
}
"""Counts of the insertions that are printed only if not 0."""
MAX_SHOWN = 1_500
"""Maximum characters shown of an operator's input or output, because a history exceeds a screen."""


async def bench_design(
    rag_config: RagConfig, config: Path, options: BenchOptions, *, quiet: bool
) -> BenchReport:
    """Run the memory design of a YAML file."""
    design = await asyncio.to_thread(read_pipeline, config)
    console = Console(stderr=True, highlight=False)
    runtime = design.runtime
    verbose = runtime.memory_insert_verbose or runtime.memory_test_verbose
    with bars(STAGES, quiet=quiet or verbose) as progress:
        return await run_bench(design, rag_config, options, progress, on_step=_operator_printer(console))


def _operator_printer(console: Console) -> Callable[[str, Mapping[str, Any], Mapping[str, Any]], None]:
    """Prints an operator's input and output on stderr."""

    def print_operator(name: str, inputs: Mapping[str, Any], outputs: Mapping[str, Any]) -> None:
        console.print(f"── {name}", style="bold", markup=False)
        for arrow, data in (("in ", inputs), ("out", outputs)):
            text = json.dumps(_short(data), ensure_ascii=False, default=str)
            more = f" … ({len(text)} letters)" if len(text) > MAX_SHOWN else ""
            console.print(f"{arrow} {text[:MAX_SHOWN]}{more}", markup=False, soft_wrap=True)

    return print_operator


def _short(value: Any) -> Any:
    """The value with vectors shortened to their length and first numbers."""
    if isinstance(value, Mapping):
        return {str(key): _short(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        if len(value) > 8 and all(isinstance(inner, float) for inner in value):
            return f"[{', '.join(f'{inner:.3f}' for inner in value[:3])}, … {len(value)} numbers]"
        return [_short(inner) for inner in value]
    return value


def print_bench(report: BenchReport) -> None:
    """The table of one run, its cost, and irregularities."""
    console = Console(highlight=False)
    found = report.summary
    shown = _locomo_table(found) if "beam" not in found else kinds_table(_headline(found), found["beam"])
    shown.caption = "\n".join(_captions(report))
    console.print(shown)
    # Without wrapping, so that the path can be copied.
    console.print(escape(f"{found['seconds']:.1f} s; records in {report.folder}"), soft_wrap=True)


def _locomo_table(report: Mapping[str, Any]) -> Table:
    """One row per category, then the total and the baselines."""
    numbers = ("questions", "F1", "exact", "correct", "recall@10")
    shown = report_table(_headline(report), ["category"], numbers)
    for name, figures in report["by_category"].items():
        shown.add_row(escape(name), *_cells(figures))
    shown.add_section()
    shown.add_row("overall", *_cells(report["overall"]), style="bold")
    answerable = report["overall"][ANSWERABLE]
    if answerable is not None:
        shown.add_row("answerable", "", f"{answerable:.3f}")
    for name, figures in report["baselines"].items():
        shown.add_row(
            f"[dim]always {escape(name)}[/dim]", *(f"[dim]{cell}[/dim]" for cell in _cells(figures)[:4]), ""
        )
    return shown


def _headline(report: Mapping[str, Any]) -> str:
    control = " without always and never" if report.get("control") else ""
    return f"{report['config']}: {report['service']} on {report['task']}{control}, {report['reader']} reader"


def _captions(report: BenchReport) -> list[str]:
    found = report.summary
    cost, recalled = found["cost"], found["overall"]["evidence_questions"]
    low, high = found["intervals"]["f1"]
    asked = f"{found['questions']} questions: {found['tested']} tested, {found['failed']} failed"
    lines = (
        [SIX, CAPTION, *_too_few(cost), f"{asked}; {abstention(found['beam'])}"]
        if "beam" in found
        else [f"{asked}; evidence recall over {recalled}; 95 % interval of F1 {low:.3f} to {high:.3f}"]
    )
    lines += [
        f"a question: {cost['memories']:.1f} memories, {cost['history_tokens']:.0f} tokens, "
        f"{cost['milliseconds']['p50']:.0f} ms (p95 {cost['milliseconds']['p95']:.0f})",
    ]
    for task, counts in found["inserts"].items():
        told = {"packets": "packets", "inserted": "memories inserted", **ODD}
        shown = [f"{counts[key]} {words}" for key, words in told.items() if counts[key] or key not in ODD]
        lines.append(f"{task}: {', '.join(shown)}")
        lines += [f"  {number} × {reason}" for reason, number in counts["reasons"].items()]
    lines += [f"{number} × {reason}" for reason, number in list(found["reasons"].items())[:5]]
    if found["repairs"]:
        lines.append(f"repairs of the data: {len(found['repairs'])}, listed in summary.json")
    if report.reused_answers:
        lines.append(f"{report.reused_answers} records were kept from an earlier run (--fresh asks anew)")
    return [escape(line) for line in lines]


def _too_few(cost: Mapping[str, Any]) -> list[str]:
    """A note if fewer memories are retrieved than the measures look at."""
    return (
        ["recall@20, tau: fewer than 20 memories a question; set runtime.top_k"]
        if cost["memories"] < LONG
        else []
    )


def _cells(figures: Mapping[str, Any]) -> list[str]:
    recall = figures[RECALL]
    return [
        str(figures["questions"]),
        *(f"{figures[name]:.3f}" for name in ("f1", "exact_match", "correct")),
        "–" if recall is None else f"{recall:.3f}",
    ]


def compare_runs(folders: Sequence[Path], charts: Path | None) -> Json:
    """Read the runs, draw charts if requested, return all scores."""
    if charts is not None:
        from agentic_rag_lab.evaluation.pictures import check_charts

        check_charts()
    runs = read_runs(folders)
    if charts is not None:
        from agentic_rag_lab.evaluation.pictures import draw, of_runs

        draw(of_runs(runs), charts)
    return comparison(runs)


def print_comparison(report: Mapping[str, Any]) -> None:
    """One row per run: scores, recall and cost; then F1 by category."""
    runs, console = report["runs"], Console(highlight=False)
    numbers = ("F1", "answer-\nable", "cor-\nrect", "recall\n@10", "failed\n/ asked", "tokens", "ms")
    shown = report_table("memory designs compared", ["run"], numbers)
    for run in runs:
        overall, tests = run["overall"], run["against_first"]
        shown.add_row(
            escape(short_name(run["name"])),
            *(_with_mark(overall[name], tests.get(name)) for name in ("f1", ANSWERABLE, "correct", RECALL)),
            f"{run['failed']} / {run['questions']}",
            f"{run['cost']['history_tokens']:.0f}",
            f"{run['cost']['milliseconds']['p50']:.0f}",
        )
    baseline = report["baselines"][runs[0]["name"]]["not_mentioned"]
    shown.add_section()
    dim = (f"[dim]{value:.3f}[/dim]" for value in (baseline["f1"], 0.0, baseline["correct"]))
    shown.add_row("[dim]always not mentioned[/dim]", *dim)
    caption = [
        "answerable: F1 without the adversarial questions, which a memory that finds little gets right by that",
        "correct: F1 of at least .5, most of the words, the same yes or no, dates and numbers",
        "tokens, ms: of a question; every question counts, a failed one 0",
    ]
    if len({run["task"] for run in runs}) > 1:
        caption.append(f"of different conversations: {escape(', '.join(run['task'] for run in runs))}")
    if len(runs) > 1:
        caption.append(
            f"▲ ▼ against {escape(short_name(runs[0]['name']))}: p < {SIGNIFICANT}, paired randomisation, Holm"
        )
    shown.caption = "\n".join(caption)
    beam = {escape(short_name(run["name"])): run["beam"] for run in runs if "beam" in run}
    if beam:
        console.print(systems_table(beam, "design"))
    console.print(shown)
    if len(beam) == len(runs):
        return
    categories = list(dict.fromkeys(name for run in runs for name in run["by_category"]))
    table = report_table("F1 by category", ["run"], categories)
    for run in runs:
        own = run["by_category"]
        table.add_row(
            escape(short_name(run["name"])),
            *(f"{own[name]['f1']:.3f}" if name in own else "–" for name in categories),
        )
    console.print(table)


def _with_mark(value: float | None, test: Mapping[str, float] | None) -> str:
    return "–" if value is None else f"{value:.3f}{mark(test)}"
