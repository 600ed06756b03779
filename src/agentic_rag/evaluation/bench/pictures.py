"""The memory benchmark, the pictures: score by category, and score against what the memory costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agentic_rag.evaluation.bench.compare import Run, short_name
from agentic_rag.evaluation.bench.summary import RECALL
from agentic_rag.evaluation.drawing import (
    GREY,
    dot,
    drawable,
    horizontal,
    logarithmic,
    new_figure,
    save,
    styles,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TITLES = {"f1": "F1", RECALL: "evidence recall@10"}
"""Of the measures that are drawn."""


def draw(runs: Sequence[Run], folder: Path) -> list[Path]:
    """Write ``categories.png`` and ``cost.png``.

    Raises:
        MissingExtra: matplotlib is not installed.
        InputError: the folder cannot be written.
    """
    return save({"categories.png": partial(_categories, runs), "cost.png": partial(_cost, runs)}, folder)


def _categories(runs: Sequence[Run]) -> Figure:
    """A panel a measure, a group of rows a category, a colour a run."""
    categories = list(dict.fromkeys(name for run in runs for name in run.summary["by_category"]))
    groups = ["overall", *categories]
    names = drawable({"run": [short_name(run.name) for run in runs], "category": groups})
    size = len(runs) + 1
    figure = new_figure(9.0, 0.15 * size * len(groups) + 1.4 + 0.2 * ((len(runs) + 2) // 3))
    panels = figure.subplots(1, len(TITLES), sharey=True)
    for panel, (measure, title) in zip(panels, TITLES.items(), strict=True):
        for place, (run, style) in enumerate(zip(runs, styles(len(runs)), strict=True)):
            for group, category in enumerate(groups):
                found = _figure_of(run.summary, category, measure)
                if found is not None:
                    label = names[short_name(run.name)] if group == 0 and panel is panels[0] else None
                    dot(panel, found, group * size + place, style, label)
        horizontal(panel, size * len(groups) - 1)
        for group in range(1, len(groups)):
            panel.axhline(group * size - 1, color="#e4e4e4", linewidth=0.8)
        panel.set_title(title, fontsize=9)
    first = runs[0].summary
    counts = {"overall": first["questions"], **{n: c["questions"] for n, c in first["by_category"].items()}}
    panels[0].set_yticks(
        [group * size + (size - 2) / 2 for group in range(len(groups))],
        [f"{names[name]}\n{counts.get(name, 0)} questions" for name in groups],
    )
    figure.suptitle(_title(runs), x=0.01, ha="left")
    figure.legend(loc="outside lower center", ncols=3, frameon=False)
    return figure


def _cost(runs: Sequence[Run]) -> Figure:
    """F1 and evidence recall against the tokens a reader is given and the time a question takes."""
    names = drawable({"run": [short_name(run.name) for run in runs]})
    figure = new_figure(9.0, 6.2)
    panels = figure.subplots(len(TITLES), 2, sharey="row", squeeze=False)
    costs = (("history tokens a question", _tokens), ("milliseconds a question (p50)", _milliseconds))
    for row, (measure, title) in zip(panels, TITLES.items(), strict=True):
        for panel, (label, cost) in zip(row, costs, strict=True):
            logarithmic(panel, [cost(run.summary) for run in runs])
            for run, (colour, marker) in zip(runs, styles(len(runs)), strict=True):
                found = _figure_of(run.summary, "overall", measure)
                if found is None:
                    continue
                x = cost(run.summary)
                panel.plot([x, x], [found["low"], found["high"]], color=colour, linewidth=1, alpha=0.7)
                first_panel = panel is panels[0][0]
                panel.plot(
                    [x],
                    [found["value"]],
                    marker,
                    color=colour,
                    label=names[short_name(run.name)] if first_panel else None,
                )
            baseline = runs[0].summary["baselines"]["not_mentioned"]
            if measure == "f1":
                panel.axhline(baseline["f1"], color=GREY, linewidth=0.8, linestyle="--")
            panel.set_xlabel(label)
            panel.grid(color="#e4e4e4", linewidth=0.6)
            panel.set_axisbelow(True)
        row[0].set_ylabel(f"{title}, 95 % interval")
    figure.suptitle(f"{_title(runs)}; dashed: always 'not mentioned'", x=0.01, ha="left")
    figure.legend(loc="outside lower center", ncols=3, frameon=False)
    return figure


def _figure_of(summary: Mapping[str, Any], group: str, measure: str) -> dict[str, float] | None:
    """Value with its interval; a category has none, its interval is the value."""
    figures = summary["overall"] if group == "overall" else summary["by_category"].get(group)
    if figures is None or figures[measure] is None:
        return None
    value = float(figures[measure])
    interval = summary["intervals"][measure] if group == "overall" else [value, value]
    return {"value": value, "low": interval[0], "high": interval[1]}


def _tokens(summary: Mapping[str, Any]) -> float:
    return float(summary["cost"]["history_tokens"])


def _milliseconds(summary: Mapping[str, Any]) -> float:
    return float(summary["cost"]["milliseconds"]["p50"])


def _title(runs: Sequence[Run]) -> str:
    tasks = ", ".join(dict.fromkeys(str(run.summary["task"]) for run in runs))
    readers = ", ".join(dict.fromkeys(str(run.summary["reader"]) for run in runs))
    return f"{tasks}: {runs[0].summary['questions']} questions, {readers} reader"
