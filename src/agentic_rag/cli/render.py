"""Terminal output: answers, citations, tables, progress bars, and graphs as Mermaid text. Colour on terminals only."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from agentic_rag.answering.passages import arrow
from agentic_rag.domain.progress import Progress
from agentic_rag.domain.usage import usage_text

if TYPE_CHECKING:
    from agentic_rag.answer import AnswerValues
    from agentic_rag.cli.ask import AskedValues, BaseValues, BoardValues, FoundValues
    from agentic_rag.domain.results import Citation, FusionReport, GraphFact, Result, SourceScores
    from agentic_rag.retrieval.schemas import ResultValues

NEAREST = 5
"""Passages shown if nothing is relevant enough: of the twenty answerable questions that the two vaults in
``evaluation/datasets`` refuse, thirteen have a judged note among the first five."""


def console() -> Console:
    """Stdout; rich omits colour if it is no terminal or NO_COLOR is set.

    Output to a file or another program is not wrapped, unless COLUMNS sets a width.
    """
    return Console(highlight=False, soft_wrap=not sys.stdout.isatty() and "COLUMNS" not in os.environ)


def _region(citation: Citation) -> str:
    """Where on its page a line stands that OCR read."""
    if citation["region"] is None:
        return ""
    left, top, right, bottom = (f"{share:.0%}".rstrip("%") for share in citation["region"])
    return f", {top}–{bottom} % down, {left}–{right} % across"


def print_answer(result: AskedValues, *, explain: bool) -> None:
    """Answer, citations, and a line on the search; the table with ``explain``."""
    out = console()
    out.print(result["answer"], markup=False, style="yellow" if result["abstained"] else None)
    if result["citations"]:
        out.print()
    elif result["abstained"] and result["results"]:
        _print_nearest(out, result["results"][:NEAREST])
    for cited in result["citations"]:
        place = " › ".join([_file(cited, cited["chunk_id"]), *cited["heading_path"]])
        page = "" if cited["page"] is None else f", page {cited['page']}"
        span = (
            page + _region(cited) + ("" if cited["start"] is None else f" ({cited['start']}–{cited['end']})")
        )
        out.print(f"\\[{cited['n']}] [cyan]{escape(place)}[/cyan][dim]{span}[/dim]", soft_wrap=True)
        if cited["url"]:
            out.print(f"    [dim]{escape(cited['url'])}[/dim]", soft_wrap=True)
    out.print()
    out.print(_summary(result), style="dim", markup=False)
    for name, outcome in result["outcomes"].items():
        if not isinstance(outcome, dict) or not outcome["reason"]:
            continue
        # Where there is an answer, a source without hits is nothing to worry about.
        if outcome["status"] in ("degraded", "partial") or result["abstained"] or explain:
            style = "red" if outcome["status"] == "degraded" else "yellow"
            out.print(f"{outcome['status']}: {name}: {outcome['reason']}", style=style, markup=False)
    if "board" in result:
        out.print(_board_line(result["board"]), markup=False, soft_wrap=True)
    if "base" in result:
        _print_base(out, result["base"])
    if explain:
        for line in reading_lines(result):
            out.print(line, markup=False, soft_wrap=True)
        out.print(explain_table(result))
        for line in fusion_lines(result["fusion"]):
            out.print(line, style="dim", markup=False)


def _board_line(report: BoardValues | None) -> str:
    if report is None:
        return "no board was written: the answer cites no note"
    return (
        f"board: {report['path']} · {report['added']} new, {report['kept']} kept, {report['removed']} removed"
    )


def _print_base(out: Console, report: BaseValues) -> None:
    count = f"{report['notes']} note{'' if report['notes'] == 1 else 's'}"
    out.print(
        f"base: {report['path']} · {count}: {', '.join(report['columns'])}", markup=False, soft_wrap=True
    )
    for paths, what in ((report["missing"], "does not show"), (report["extra"], "also shows")):
        if paths:
            more = f" and {len(paths) - NEAREST} more" if len(paths) > NEAREST else ""
            told = f"Obsidian, which reads properties alone, {what}: {', '.join(paths[:NEAREST])}{more}"
            out.print(told, markup=False, style="yellow", soft_wrap=True)


def reading_lines(result: AnswerValues) -> list[str]:
    """How the question was read as a query to the notes, and the same as options; none where it was not."""
    selection = result["selection"]
    if selection is None:
        return []
    lines = [f"read as: {selection['reading']} · {selection['count']}"]
    if selection["nearest"]:
        lines.append(f"nearest: {selection['nearest']}")
    if selection["terms"] is None:
        lines.append("as filters: it has alternatives, which --filter cannot express")
    elif selection["terms"]:
        options = " ".join(f"--filter {shlex.quote(term)}" for term in selection["terms"])
        lines.append(f"as filters, to be corrected and given again: {options}")
    return lines


def _print_nearest(out: Console, results: Sequence[Result]) -> None:
    """The nearest passages, for the reader to check."""
    out.print("\nnearest, but perhaps about something else:", style="dim")
    for found in results:
        relevance = _number(found["rerank_score"], 2)
        out.print(f"  {relevance} [cyan]{escape(_place(found))}[/cyan]", soft_wrap=True)


def _summary(result: AskedValues) -> str:
    fusion, quality = result["fusion"], result["quality"]
    sources = ", ".join(f"{name} {_went(outcome)}" for name, outcome in result["outcomes"].items())
    tier = "" if fusion.get("tier") is None else f", tier {fusion['tier']} ({fusion['reason']})"
    rewrites = f"; rewritten {len(result['rewrites'])}×" if result["rewrites"] else ""
    used = f" · {usage_text(result['usage'])}" if result.get("usage") else ""
    return (
        f"{result['operation']}{' (auto)' if fusion['operation_reason'] else ''} · {fusion['strategy']}{tier} · {sources} · "
        f"{'; '.join(quality['reasons'])}{rewrites}{used} · {result['seconds']:.2f} s"
    )


def _went(outcome: Any) -> str:
    if isinstance(outcome, str):
        return outcome
    counted = f" ({outcome['count']} in {outcome['ms']:.0f} ms)" if "count" in outcome else ""
    return f"{outcome['status']}{counted}"


def explain_table(result: AnswerValues) -> Table:
    """One row per result: its rank, its rank and relevance in each source, and its facts."""
    table = Table(title="why these results", title_justify="left", box=SIMPLE_HEAD, show_lines=False)
    table.add_column("#", justify="right")
    table.add_column("result, and what the graph says of it", overflow="fold", ratio=1)
    remembered = "memory" in result["outcomes"]
    for name in ("scores", "graphiti", "lancedb", *(["memory"] if remembered else [])):
        table.add_column(name, no_wrap=True)
    for number, found in enumerate(result["results"], start=1):
        facts = "".join(f"\n[dim]{escape(arrow(fact))}[/dim]" for fact in _telling(found["facts"]))
        tier = "" if found["tier"] is None else f"\ntier {found['tier']}"
        table.add_row(
            str(number),
            f"[cyan]{escape(_place(found, short=True))}[/cyan]{facts}",
            f"rerank {_number(found['rerank_score'])}\nfused {_number(found['fused_score'], 4)}{tier}",
            _score_text(found["sources"].get("graphiti")),
            _score_text(found["sources"].get("lancedb")),
            *([_score_text(found["sources"].get("memory"))] if remembered else []),
        )
    return table


def fusion_lines(fusion: FusionReport) -> list[str]:
    """The weights, and the effect of another strategy."""
    weights = fusion["weights"]
    given, used = (
        " : ".join(f"{weights[key][name]:.2f}" for name in weights[key]) for key in ("given", "used")
    )
    why = "as given"
    if weights["specificity"] is not None:
        why = f"{given} by the operation; specificity of the names: {weights['specificity']:.2f}"
    reason = fusion["operation_reason"]
    lines = [f"operation: {fusion['operation']}. {reason}"] if reason else []
    lines += [f"weights, graph : vectors = {used} ({why})"]
    if fusion.get("moved"):
        told = ", ".join(f"{name} {count}" for name, count in fusion["moved"].items())
        lines.append(f"results that another strategy would not return: {told}")
    return lines


def _telling(facts: Sequence[GraphFact]) -> list[GraphFact]:
    """The two most informative facts: labelled relations before plain links and mentions."""
    bare = ("LINKS_TO", "MENTIONS", "CONTAINS")
    named = [fact for fact in facts if fact["name"] != "HAS_TAG"]
    return sorted(named, key=lambda fact: fact["name"] in bare)[:2]


def print_search(result: FoundValues) -> None:
    """Results with score and legs."""
    out = console()
    if not result["results"]:
        reason = f": {result['reason']}" if result["reason"] else ""
        out.print(f"nothing found{reason}", style="yellow", markup=False, soft_wrap=True)
    for number, found in enumerate(result["results"], start=1):
        legs = ", ".join(f"{n} #{leg['rank']} {leg['score']:.3f}" for n, leg in found["legs"].items())
        out.print(f"{number}. [cyan]{escape(_place(found))}[/cyan] [dim]{found['score']:.3f} ({legs})[/dim]")
        out.print("   " + " ".join(found["content"].split())[:200], markup=False)
    out.print(f"{result['strategy']} · {result['seconds']:.2f} s", style="dim")


def _place(passage: Result | ResultValues, *, short: bool = False) -> str:
    """Path and headings; the short form has only the last heading."""
    metadata = passage["metadata"]
    headings = list(metadata.get("heading_path") or [])
    return " › ".join([_file(metadata, passage["id"]), *(headings[-1:] if short else headings)])


def _file(metadata: Mapping[str, Any], chunk_id: str | None) -> str:
    """The path, and the document within a file that holds several without names."""
    path, document = metadata.get("path"), metadata.get("document_id")
    if not path:
        return chunk_id or ""
    return str(path) if not document or str(document) in str(path) else f"{path} › {document}"


def _number(value: float | None, digits: int = 3) -> str:
    return "–" if value is None else f"{value:.{digits}f}"


def _score_text(score: SourceScores | None) -> str:
    if score is None:
        return "–"
    weighed = f"{_number(score['normalised'])} × {score['weight']:.2f}"
    return f"#{score['rank']} raw {_number(score['raw'])}\n{weighed}"


SPEED_PERIOD = 600.0
"""Seconds of the moving average of speed: embedding and storing alternate, so that a short average would jump."""


@contextmanager
def bars(stages: Mapping[str, str], *, quiet: bool) -> Iterator[Progress]:
    """A labelled bar for each stage, from its first progress on; none if quiet."""
    from rich import progress

    columns = (
        progress.TextColumn("{task.description}"),
        progress.BarColumn(),
        progress.MofNCompleteColumn(),
        progress.TimeElapsedColumn(),
        progress.TimeRemainingColumn(),
    )
    out = Console(stderr=True)
    shape = progress.Progress(
        *columns,
        console=out,
        transient=True,
        disable=quiet or not out.is_terminal,
        speed_estimate_period=SPEED_PERIOD,
    )
    with shape as bar:
        tasks = {
            stage: bar.add_task(words, start=False, total=None, visible=False)
            for stage, words in stages.items()
        }

        def show_progress(stage: str, finished_work: int, total: int) -> None:
            bar.start_task(tasks[stage])
            bar.update(tasks[stage], completed=finished_work, total=total, visible=True)

        yield show_progress
