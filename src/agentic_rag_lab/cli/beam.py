"""The tables of BEAM's model-free scores for ``eval`` and ``bench``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.table import Table

from agentic_rag_lab.cli.tables import report_table
from agentic_rag_lab.evaluation.beam_scores import MEASURES
from agentic_rag_lab.sources.beam import EVENT_ORDERING, SUMMARIZATION

CAPTION = (
    "both, newer: each of the two named sets of sources, the newer one, has a message among the ten; "
    "tau: order found against order said, -1 to 1 (of how many questions)"
)
SIX = "six kinds: contradiction, update, temporal, information, multi-session, preference"


def systems_table(by_system: Mapping[str, Mapping[str, Any]], heading: str = "system") -> Table:
    """One row per system or memory design.

    Args:
        by_system: see ``beam_scores.score``.
        heading: heading of the rows.
    """
    numbers = (
        "six kinds\nrecall@10",
        "both\n@10",
        "newer\n@10",
        "events\nrecall@20",
        "tau",
        "summary\nrecall@20",
    )
    shown = report_table("BEAM: messages found", [heading], numbers)
    for name, found in by_system.items():
        six, kinds = found["six_kinds"], found["by_kind"]
        events, summary = kinds.get(EVENT_ORDERING, {}), kinds.get(SUMMARIZATION, {})
        headline = (figure(six[measure]) for measure in ("recall@10", "both@10", "newer@10"))
        shown.add_row(
            name, *headline, figure(events.get("recall@20")), tau(events), figure(summary.get("recall@20"))
        )
    shown.caption = f"{SIX}; {CAPTION}"
    return shown


def kinds_table(title: str, kind_figures: Mapping[str, Any]) -> Table:
    """One row per kind, then the six kinds together.

    Args:
        title: title of the table.
        kind_figures: see ``bench.figures.beam_figures``.
    """
    rubric = kind_figures["rubric"]
    judged = ("rubric\nmet",) if rubric else ()
    shown = report_table(
        title, ["kind"], ("asked", *(name.replace("@", "\n@") for name in MEASURES), *judged)
    )
    for kind, figures in kind_figures["by_kind"].items():
        met = [figure(rubric.get(kind))] if rubric else []
        values = (tau(figures) if measure == "tau" else figure(figures[measure]) for measure in MEASURES)
        shown.add_row(kind, str(figures["questions"]), *values, *met)
    shown.add_section()
    six = [
        figure(kind_figures["six_kinds"][name]) if name in kind_figures["six_kinds"] else ""
        for name in MEASURES
    ]
    shown.add_row("six kinds", "", *six, *([figure(rubric["overall"])] if rubric else []), style="bold")
    return shown


def abstention(figures: Mapping[str, Any]) -> str:
    """The abstention scores as a sentence."""
    told = figures["abstention"]
    return (
        f"not answered: {figure(told['abstained'])} of {told['unanswerable']} unanswerable questions, "
        f"{figure(told['refused'])} of {told['answerable']} answerable ones"
    )


def figure(value: float | None) -> str:
    """A share with three decimals; a dash if no question has it."""
    return "–" if value is None else f"{value:.3f}"


def tau(figures: Mapping[str, Any]) -> str:
    """Kendall's tau with its number of questions."""
    value = figures.get("tau")
    return figure(value) if value is None else f"{value:.2f} ({figures['ordered']})"
