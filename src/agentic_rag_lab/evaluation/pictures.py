"""Evaluation, the charts: two pictures for an evaluation and for a comparison of memory benchmarks alike.

Needs the extra ``charts`` (matplotlib). Drawn on separate figures, without pyplot's global state.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any

from agentic_rag.errors import InputError, needing
from agentic_rag_lab.evaluation.bench.comparing import Run, short_name
from agentic_rag_lab.evaluation.bench.figures import RECALL
from agentic_rag_lab.evaluation.report import EvalReport
from agentic_rag_lab.evaluation.scores import MEASURES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


COLOURS = (
    "#1b6e5a", "#d8a657", "#5b7db1", "#b5524a", "#7fb8a4", "#8a6bab", "#8c8c3e", "#4f4f4f", "#d98cb3", "#6fb2d2",
    "#a8764a", "#98c05a",
)  # fmt: skip
MARKERS = "os^Dv"
GREY, PALE = "#8a8a8a", "#e4e4e4"
CJK_FONTS = (
    "Noto Sans CJK SC", "Noto Sans SC", "Source Han Sans SC", "Source Han Sans CN", "WenQuanYi Micro Hei",
    "WenQuanYi Zen Hei", "Droid Sans Fallback", "PingFang SC", "Hiragino Sans GB", "Heiti SC", "Microsoft YaHei",
    "SimHei", "Arial Unicode MS",
)  # fmt: skip
BASE_FONT = "DejaVu Sans"
"""Included in matplotlib."""
LEGEND_COLUMNS = 3
MAX_POWERS, MAX_NAMED = 9, 7
"""Maximum number of powers of ten on a logarithmic axis, and of other labels that fit beside each other."""
OVERALL = "overall"
TITLES = {"f1": "F1", RECALL: "evidence recall@10"}
"""Titles of the measures of a memory benchmark."""

Figures = Mapping[str, float]
"""``value``, ``low`` and ``high``, from 0 to 1."""


@dataclass(frozen=True, slots=True)
class Pictures:
    """What both pictures show."""

    title: str
    measures: Mapping[str, str]
    """Titles by measure."""
    groups: Mapping[str, int]
    """Number of questions by group, the first one all of them."""
    members: Mapping[str, Mapping[str, Mapping[str, Figures | None]]]
    """By system, measure and group."""
    references: Mapping[str, Mapping[str, Mapping[str, Figures | None]]] = field(default_factory=dict)
    """The same for what needs no search, drawn in grey."""
    costs: Mapping[str, Mapping[str, tuple[float, float]]] = field(default_factory=dict)
    """By kind of cost and system: a common one, where the marker is, and a high one, where its line ends."""


def check_charts() -> None:
    """Raises ``MissingExtra`` if matplotlib is not installed; called before an evaluation, not after it."""
    with needing("drawing charts", "charts"):
        import matplotlib.figure  # noqa: F401


def draw(pictures: Pictures, folder: Path) -> list[Path]:
    """Write ``quality.png``, scores by group, and ``cost.png``, scores against cost.

    Raises:
        MissingExtra: matplotlib is not installed.
        InputError: the folder cannot be written.
    """
    check_charts()
    import matplotlib as mpl

    style: dict[Any, Any] = {
        "font.family": _families(),
        "font.size": 9,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "savefig.dpi": 130,
    }
    names = drawable(
        {
            "system": [*pictures.members, *pictures.references],
            "category": list(pictures.groups),
            "dataset": [pictures.title],
        }
    )
    with mpl.rc_context(style):
        figures = {"quality.png": _quality(pictures, names), "cost.png": _cost(pictures, names)}
        try:
            folder.mkdir(parents=True, exist_ok=True)
            for file, figure in figures.items():
                figure.savefig(folder / file)
        except OSError as error:
            raise InputError(f"cannot write charts to {folder}: {error.strerror or error}") from error
    return [folder / file for file in figures]


def of_report(report: EvalReport) -> Pictures:
    """The pictures of an evaluation."""
    by_system = report.systems
    categories = next(iter(by_system.values()))["by_category"]
    groups = {OVERALL: report.queries, **{name: found["queries"] for name, found in categories.items()}}
    return Pictures(
        f"{report.dataset}: {report.queries} queries",
        dict(zip(MEASURES, MEASURES, strict=True)),
        groups,
        {name: _by_measure(found, found["by_category"]) for name, found in by_system.items()},
        {
            f"{name} (no search)": _by_measure(found, {})
            for name, found in report.degenerate.get("ranking", {}).items()
        },
        {
            "milliseconds a query: p50, line to p95": {
                name: (found["latency_ms"]["p50"], found["latency_ms"]["p95"])
                for name, found in by_system.items()
            }
        },
    )


def _by_measure(
    overall: Mapping[str, Any], by_category: Mapping[str, Any]
) -> dict[str, dict[str, Figures | None]]:
    return {
        measure: {OVERALL: overall[measure], **{name: of[measure] for name, of in by_category.items()}}
        for measure in MEASURES
    }


def of_runs(runs: Sequence[Run]) -> Pictures:
    """The pictures of memory benchmarks, and in grey the F1 of always answering "not mentioned"."""
    first = runs[0].summary
    groups = {OVERALL: first["questions"]}
    for run in runs:
        groups |= {
            name: of["questions"] for name, of in run.summary["by_category"].items() if name not in groups
        }
    tasks = ", ".join(dict.fromkeys(str(run.summary["task"]) for run in runs))
    readers = ", ".join(dict.fromkeys(str(run.summary["reader"]) for run in runs))
    never = float(first["baselines"]["not_mentioned"]["f1"])
    costs = {short_name(run.name): run.summary["cost"] for run in runs}
    return Pictures(
        f"{tasks}: {first['questions']} questions, {readers} reader",
        TITLES,
        groups,
        {
            short_name(run.name): {
                measure: {group: _figure_of(run.summary, group, measure) for group in groups}
                for measure in TITLES
            }
            for run in runs
        },
        {"always 'not mentioned'": {"f1": {OVERALL: {"value": never, "low": never, "high": never}}}},
        {
            "history tokens a question": {
                name: (float(cost["history_tokens"]), float(cost["history_tokens"]))
                for name, cost in costs.items()
            },
            "milliseconds a question: p50, line to p95": {
                name: (float(cost["milliseconds"]["p50"]), float(cost["milliseconds"]["p95"]))
                for name, cost in costs.items()
            },
        },
    )


def _figure_of(summary: Mapping[str, Any], group: str, measure: str) -> Figures | None:
    """Value with its interval; for a category, which has none, the interval is the value."""
    figures = summary["overall"] if group == OVERALL else summary["by_category"].get(group)
    if figures is None or figures[measure] is None:
        return None
    value = float(figures[measure])
    interval = summary["intervals"][measure] if group == OVERALL else [value, value]
    return {"value": value, "low": interval[0], "high": interval[1]}


def _quality(pictures: Pictures, names: Mapping[str, str]) -> Figure:
    """One panel per measure, one group of rows per category, one row and colour per system."""
    members = {**pictures.members, **pictures.references}
    shown_styles = [*styles(len(pictures.members)), *[(GREY, "o")] * len(pictures.references)]
    size = len(members) + 1
    height = 0.15 * size * len(pictures.groups) + 0.2 * math.ceil(len(members) / LEGEND_COLUMNS) + 1.4
    figure = new_figure(2.4 * len(pictures.measures) + 2.4, height)
    panels = figure.subplots(1, len(pictures.measures), sharey=True, squeeze=False)[0]
    for panel, (measure, title) in zip(panels, pictures.measures.items(), strict=True):
        for place, ((name, found), style) in enumerate(zip(members.items(), shown_styles, strict=True)):
            panel.plot([], [], style[1], color=style[0], label=names[name] if panel is panels[0] else None)
            for group, category in enumerate(pictures.groups):
                value = found.get(measure, {}).get(category)
                if value is not None:
                    _dot(panel, value, group * size + place, style)
        _horizontal(panel, size * len(pictures.groups) - 1)
        for group in range(1, len(pictures.groups)):
            panel.axhline(group * size - 1, color=PALE, linewidth=0.8)
        panel.set_title(title, fontsize=9)
    panels[0].set_yticks(
        [group * size + (size - 2) / 2 for group in range(len(pictures.groups))],
        [f"{fill(names[name], 24)}\n{count} questions" for name, count in pictures.groups.items()],
    )
    _add_title(figure, names[pictures.title])
    return figure


def _cost(pictures: Pictures, names: Mapping[str, str]) -> Figure:
    """The measures with their intervals against each cost."""
    rows, columns = len(pictures.measures), len(pictures.costs)
    figure = new_figure(4.2 * columns + 1.6, 2.4 * rows + 1.4)
    panels = figure.subplots(rows, columns, sharey="row", squeeze=False)
    for row, (measure, title) in zip(panels, pictures.measures.items(), strict=True):
        for panel, (label, costs) in zip(row, pictures.costs.items(), strict=True):
            logarithmic(panel, [end for both in costs.values() for end in both])
            for (name, found), style in zip(
                pictures.members.items(), styles(len(pictures.members)), strict=True
            ):
                value = found[measure][OVERALL]
                if value is not None:
                    in_legend = names[name] if panel is panels[0][0] else None
                    _at_cost(panel, value, costs[name], style, in_legend)
            panel.set_xlabel(label)
            panel.grid(color=PALE, linewidth=0.6)
            panel.set_axisbelow(True)
        row[0].set_ylabel(f"{title}, 95 % interval")
    _add_title(figure, names[pictures.title])
    return figure


def new_figure(width: float, height: float) -> Figure:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def _dot(panel: Axes, figures: Figures, place: float, style: tuple[str, str]) -> None:
    """A value with its horizontal interval, in a row."""
    colour, marker = style
    panel.plot([figures["low"], figures["high"]], [place, place], color=colour, linewidth=1.4, alpha=0.7)
    panel.plot([figures["value"]], [place], marker, color=colour, markersize=5)


def _at_cost(
    panel: Axes, figures: Figures, cost: tuple[float, float], style: tuple[str, str], label: str | None
) -> None:
    """A value with its vertical interval, at its common cost, with a line to the high one."""
    colour, marker = style
    panel.plot([cost[0], cost[0]], [figures["low"], figures["high"]], color=colour, linewidth=1, alpha=0.7)
    panel.plot(cost, [figures["value"]] * 2, color=colour, linewidth=1, alpha=0.7)
    panel.plot([cost[0]], [figures["value"]], marker, color=colour, label=label)


def _horizontal(panel: Axes, rows: int) -> None:
    """First row on top; a share from 0 to 1 along the bottom."""
    panel.set_ylim(rows - 0.4, -0.6)
    panel.set_xlim(-0.02, 1.02)
    panel.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0", "", ".5", "", "1"])
    panel.grid(axis="x", color=PALE, linewidth=0.6)
    panel.set_axisbelow(True)
    panel.tick_params(axis="y", length=0)


def _add_title(figure: Figure, title: str) -> None:
    """A title above, the legend below."""
    figure.suptitle(title, x=0.01, ha="left")
    figure.legend(loc="outside lower center", ncols=LEGEND_COLUMNS, frameon=False)


def logarithmic(panel: Axes, values: Sequence[float]) -> None:
    """Costs from 0 along the bottom, on a logarithmic scale with labels 0, 1, 2, 5, 10, …, or only powers of ten
    if there are many.

    Both ends are labels: an axis within one power of ten would otherwise have none.
    """
    steps = [0.0, *(digit * 10.0**power for power in range(MAX_POWERS) for digit in (1, 2, 5))]
    low = max((step for step in steps if step < min(values)), default=0.0)
    high = min((step for step in steps if step > max(values)), default=steps[-1])
    named = [step for step in steps if low <= step <= high]
    if len(named) > MAX_NAMED:
        named = [step for step in named if f"{step:g}"[0] in "01"]
    panel.set_xscale("symlog", linthresh=1)
    panel.set_xticks(named, [f"{step:,.0f}" for step in named])
    panel.set_xticks([], minor=True)
    panel.set_xlim(low if min(values) > 0 else -0.3, high)


def styles(count: int) -> list[tuple[str, str]]:
    """Colour and marker of each system; the marker changes when the colours repeat."""
    return [
        (COLOURS[place % len(COLOURS)], MARKERS[place // len(COLOURS) % len(MARKERS)])
        for place in range(count)
    ]


def _families() -> list[str]:
    """Fonts in order; matplotlib takes each letter from the first font that has it."""
    from matplotlib.font_manager import fontManager

    installed = {font.name for font in fontManager.ttflist}
    return [BASE_FONT, *(name for name in CJK_FONTS if name in installed)]


def drawable(kinds: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """The drawable form of every name.

    A name with a letter that no font has is replaced by its number among the names of its kind; ``$`` is escaped,
    because it would begin a formula.
    """
    letters = _letters(_families())
    drawn: dict[str, str] = {}
    for kind, named in kinds.items():
        for number, name in enumerate(named, start=1):
            known = all(ord(letter) in letters or letter.isspace() for letter in name)
            drawn[name] = name.replace("$", r"\$") if known else f"{kind} {number}"
    return drawn


def _letters(families: Sequence[str]) -> set[int]:
    from matplotlib.font_manager import FontProperties, findfont, get_font

    letters: set[int] = set()
    for family in families:
        font: Any = get_font(findfont(FontProperties(family=[family])))
        letters |= font.get_charmap().keys()
    return letters
