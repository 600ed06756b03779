"""Evaluation, the pictures: quality with intervals, quality against latency, quality by category.

Needs the extra ``charts`` (matplotlib). Drawn on figures of their own, without pyplot's global state.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING

from agentic_rag.evaluation.drawing import (
    COLOURS,
    GREY,
    ROW,
    dot,
    drawable,
    horizontal,
    new_figure,
    save,
    styles,
)
from agentic_rag.evaluation.report import EvalReport
from agentic_rag.evaluation.scores import MEASURES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MEASURE = MEASURES[0]
"""The one measure of the pictures that show one."""


def draw(report: EvalReport, folder: Path) -> list[Path]:
    """Write ``quality.png``, ``latency.png`` and, where queries have categories, ``categories.png``.

    Raises:
        MissingExtra: matplotlib is not installed.
        InputError: the folder cannot be written.
    """
    names = _drawable(report)
    made = {"quality.png": partial(_quality, report, names), "latency.png": partial(_latency, report, names)}
    if any(figures["by_category"] for figures in report.systems.values()):
        made["categories.png"] = partial(_categories, report, names)
    return save(made, folder)


def _quality(report: EvalReport, names: Mapping[str, str]) -> Figure:
    """A panel a measure, a row a system, and below them in grey what does not search."""
    rows = [(names[name], figures, COLOURS[0]) for name, figures in report.systems.items()]
    baselines = report.degenerate.get("ranking", {})
    rows += [(f"{names[name]} (no search)", figures, GREY) for name, figures in baselines.items()]
    figure = new_figure(2.2 * len(MEASURES) + 1.2, ROW * len(rows) + 1.1)
    panels = figure.subplots(1, len(MEASURES), sharey=True)
    for panel, measure in zip(panels, MEASURES, strict=True):
        for place, (_, figures, colour) in enumerate(rows):
            dot(panel, figures[measure], place, (colour, "o"))
        panel.set_title(measure, fontsize=9)
        horizontal(panel, len(rows))
    panels[0].set_yticks(range(len(rows)), [name for name, _, _ in rows])
    figure.suptitle(_title(report, names), x=0.01, ha="left")
    return figure


def _latency(report: EvalReport, names: Mapping[str, str]) -> Figure:
    """Quality with its interval against p50 (dot) and p95 (end of the line).

    Names stand beside, in order of quality, so that none covers another.
    """
    order = sorted(report.systems, key=lambda name: (report.systems[name][MEASURE]["value"], name))
    style_of = dict(zip(report.systems, styles(len(report.systems)), strict=True))
    figure = new_figure(7.4, max(3.4, 0.22 * len(order) + 1.6))
    panel = figure.subplots()
    panel.set_xscale("log")
    for axis_set in (panel.xaxis.set_major_formatter, panel.xaxis.set_minor_formatter):
        axis_set(_round_milliseconds)
    for place, name in enumerate(order):
        colour, marker = style_of[name]
        found, latency = report.systems[name][MEASURE], report.systems[name]["latency_ms"]
        fast, slow = (max(latency[point], 0.01) for point in ("p50", "p95"))
        panel.plot([fast, fast], [found["low"], found["high"]], color=colour, linewidth=1, alpha=0.7)
        panel.plot([fast, slow], [found["value"]] * 2, color=colour, linewidth=1, alpha=0.7)
        panel.plot([fast], [found["value"]], marker, color=colour)
        panel.annotate(
            names[name],
            xy=(fast, found["value"]),
            xytext=(1.04, (place + 0.5) / len(order)),
            textcoords="axes fraction",
            va="center",
            arrowprops={
                "arrowstyle": "-",
                "color": colour,
                "linewidth": 0.6,
                "alpha": 0.6,
                "relpos": (0, 0.5),
            },
        )
    panel.set_xlabel("milliseconds a query: dot p50, end of line p95")
    panel.set_ylabel(f"{MEASURE}, 95 % interval")
    panel.grid(color="#e4e4e4", linewidth=0.6)
    panel.set_axisbelow(True)
    figure.suptitle(_title(report, names), x=0.01, ha="left")
    return figure


def _categories(report: EvalReport, names: Mapping[str, str]) -> Figure:
    """A group of rows a category, a colour a system."""
    by_system = {name: figures["by_category"] for name, figures in report.systems.items()}
    categories = list(next(iter(by_system.values())))
    size = len(by_system) + 1
    figure = new_figure(7.4, 0.15 * size * len(categories) + 1.6 + 0.2 * math.ceil(len(by_system) / 4))
    panel = figure.subplots()
    for place, (name, style) in enumerate(zip(by_system, styles(len(by_system)), strict=True)):
        for group, category in enumerate(categories):
            label = names[name] if group == 0 else None
            dot(panel, by_system[name][category][MEASURE], group * size + place, style, label)
    horizontal(panel, size * len(categories) - 1)
    counts = next(iter(by_system.values()))
    panel.set_yticks(
        [group * size + (size - 2) / 2 for group in range(len(categories))],
        [f"{fill(names[category], 24)}\n{counts[category]['queries']} queries" for category in categories],
    )
    for group in range(1, len(categories)):
        panel.axhline(group * size - 1, color="#e4e4e4", linewidth=0.8)
    panel.set_xlabel(f"{MEASURE}, 95 % interval")
    figure.suptitle(_title(report, names), x=0.01, ha="left")
    figure.legend(loc="outside lower center", ncols=4, frameon=False)
    return figure


def _round_milliseconds(value: float, _: float | None = None) -> str:
    """1, 2, 5, 10, 20, 50, …; the lines between them are not named."""
    return f"{value:g}" if f"{value:.0e}"[0] in "125" else ""


def _title(report: EvalReport, names: Mapping[str, str]) -> str:
    return f"{names[report.dataset]}: {report.queries} queries"


def _drawable(report: EvalReport) -> dict[str, str]:
    return drawable(
        {
            "system": [*report.systems, *report.degenerate.get("ranking", {})],
            "category": list(next(iter(report.systems.values()))["by_category"]),
            "dataset": [report.dataset],
        }
    )
