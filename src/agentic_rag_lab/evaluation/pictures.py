"""Evaluation, the charts: of an evaluation, of memory benchmarks, and their common parts.

Needs the extra ``charts`` (matplotlib). Drawn on separate figures, without pyplot's global state.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any

from agentic_rag.errors import InputError, needing
from agentic_rag_lab.evaluation.bench.figures import RECALL, Run, short_name
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
ROW = 0.27
"""Height of a row of dots in inches."""
MOST_POWERS, MOST_NAMED = 9, 7
"""Maximum number of powers of ten on a logarithmic axis, and of other labels that fit beside each other."""


def check_charts() -> None:
    """Raises ``MissingExtra`` if matplotlib is not installed; called before an evaluation, not after it."""
    with needing("drawing charts", "charts"):
        import matplotlib.figure  # noqa: F401


def save(charts: Mapping[str, Callable[[], Figure]], folder: Path) -> list[Path]:
    """Draw each chart and write it under its file name.

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
    with mpl.rc_context(style):
        figures = {file: draw() for file, draw in charts.items()}
        try:
            folder.mkdir(parents=True, exist_ok=True)
            for file, figure in figures.items():
                figure.savefig(folder / file)
        except OSError as error:
            raise InputError(f"cannot write charts to {folder}: {error.strerror or error}") from error
    return [folder / file for file in figures]


def new_figure(width: float, height: float) -> Figure:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def dot(
    panel: Axes, figures: Mapping[str, float], place: float, style: tuple[str, str], label: str | None = None
) -> None:
    colour, marker = style
    panel.plot([figures["low"], figures["high"]], [place, place], color=colour, linewidth=1.4, alpha=0.7)
    panel.plot([figures["value"]], [place], marker, color=colour, markersize=5, label=label)


def horizontal(panel: Axes, rows: int) -> None:
    """First row on top; a share from 0 to 1 along the bottom."""
    panel.set_ylim(rows - 0.4, -0.6)
    panel.set_xlim(-0.02, 1.02)
    panel.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0", "", ".5", "", "1"])
    panel.grid(axis="x", color=PALE, linewidth=0.6)
    panel.set_axisbelow(True)
    panel.tick_params(axis="y", length=0)


def _draw_groups(
    panel: Axes,
    members: Sequence[tuple[str, Sequence[Mapping[str, float] | None]]],
    labels: Sequence[str],
    *,
    in_legend: bool = True,
) -> None:
    """A group of rows per label, a row and colour per member; None leaves a row empty."""
    size = len(members) + 1
    for place, ((name, figures), style) in enumerate(zip(members, styles(len(members)), strict=True)):
        for group, found in enumerate(figures):
            if found is not None:
                dot(panel, found, group * size + place, style, name if in_legend and group == 0 else None)
    horizontal(panel, size * len(labels) - 1)
    panel.set_yticks([group * size + (size - 2) / 2 for group in range(len(labels))], labels)
    for group in range(1, len(labels)):
        panel.axhline(group * size - 1, color=PALE, linewidth=0.8)


def _grouped_height(members: int, groups: int, columns: int) -> float:
    """Height in inches of all rows, and of a legend below them with this number of columns."""
    return 0.15 * (members + 1) * groups + 0.2 * math.ceil(members / columns)


def _at_cost(
    panel: Axes, figures: Mapping[str, float], cost: float, style: tuple[str, str], label: str | None = None
) -> None:
    """A value with its vertical interval, at its cost."""
    colour, marker = style
    panel.plot([cost, cost], [figures["low"], figures["high"]], color=colour, linewidth=1, alpha=0.7)
    panel.plot([cost], [figures["value"]], marker, color=colour, label=label)


def _style_scatter(panel: Axes, label: str) -> None:
    panel.set_xlabel(label)
    panel.grid(color=PALE, linewidth=0.6)
    panel.set_axisbelow(True)


def _add_title(figure: Figure, title: str, columns: int) -> None:
    """A title above, the legend below with this number of columns."""
    figure.suptitle(title, x=0.01, ha="left")
    figure.legend(loc="outside lower center", ncols=columns, frameon=False)


def logarithmic(panel: Axes, values: Sequence[float]) -> None:
    """Costs from 0 along the bottom, on a logarithmic scale with labels 0, 1, 2, 5, 10, …, or only powers of ten
    if there are many.

    Both ends are labels: an axis within one power of ten would otherwise have none.
    """
    steps = [0.0, *(digit * 10.0**power for power in range(MOST_POWERS) for digit in (1, 2, 5))]
    low = max((step for step in steps if step < min(values)), default=0.0)
    high = min((step for step in steps if step > max(values)), default=steps[-1])
    named = [step for step in steps if low <= step <= high]
    if len(named) > MOST_NAMED:
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


MEASURE = MEASURES[0]
"""The measure of charts that show only one."""


def draw(report: EvalReport, folder: Path) -> list[Path]:
    """Write ``quality.png``, ``latency.png`` and, if queries have categories, ``categories.png``.

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
    """One panel per measure, one row per system, and below them in grey the baselines without a search."""
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
        colour, _ = style_of[name]
        found, latency = report.systems[name][MEASURE], report.systems[name]["latency_ms"]
        fast, slow = (max(latency[point], 0.01) for point in ("p50", "p95"))
        panel.plot([fast, slow], [found["value"]] * 2, color=colour, linewidth=1, alpha=0.7)
        _at_cost(panel, found, fast, style_of[name])
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
    _style_scatter(panel, "milliseconds a query: dot p50, end of line p95")
    panel.set_ylabel(f"{MEASURE}, 95 % interval")
    figure.suptitle(_title(report, names), x=0.01, ha="left")
    return figure


def _categories(report: EvalReport, names: Mapping[str, str]) -> Figure:
    """One group of rows per category, one colour per system."""
    by_system = {name: figures["by_category"] for name, figures in report.systems.items()}
    counts = next(iter(by_system.values()))
    columns = 4
    figure = new_figure(7.4, _grouped_height(len(by_system), len(counts), columns) + 1.6)
    panel = figure.subplots()
    _draw_groups(
        panel,
        [(names[name], [of[category][MEASURE] for category in counts]) for name, of in by_system.items()],
        [f"{fill(names[category], 24)}\n{counts[category]['queries']} queries" for category in counts],
    )
    panel.set_xlabel(f"{MEASURE}, 95 % interval")
    _add_title(figure, _title(report, names), columns)
    return figure


def _round_milliseconds(value: float, _: float | None = None) -> str:
    """1, 2, 5, 10, 20, 50, …; other grid lines have no label."""
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


TITLES = {"f1": "F1", RECALL: "evidence recall@10"}
"""Titles of the measures in a memory benchmark's charts."""
COSTS: Mapping[str, Callable[[Mapping[str, Any]], float]] = {
    "history tokens a question": lambda cost: float(cost["history_tokens"]),
    "milliseconds a question (p50)": lambda cost: float(cost["milliseconds"]["p50"]),
}


def draw_runs(runs: Sequence[Run], folder: Path) -> list[Path]:
    """Write ``categories.png`` and ``cost.png`` of memory benchmarks.

    Raises:
        MissingExtra: matplotlib is not installed.
        InputError: the folder cannot be written.
    """
    return save(
        {"categories.png": partial(_run_categories, runs), "cost.png": partial(_run_costs, runs)}, folder
    )


def _run_categories(runs: Sequence[Run]) -> Figure:
    """One panel per measure, one group of rows per category, one colour per run."""
    groups = ["overall", *dict.fromkeys(name for run in runs for name in run.summary["by_category"])]
    names = drawable({"run": [short_name(run.name) for run in runs], "category": groups})
    first = runs[0].summary
    counts = {"overall": first["questions"], **{n: c["questions"] for n, c in first["by_category"].items()}}
    columns = 3
    figure = new_figure(9.0, _grouped_height(len(runs), len(groups), columns) + 1.4)
    panels = figure.subplots(1, len(TITLES), sharey=True)
    for panel, (measure, title) in zip(panels, TITLES.items(), strict=True):
        _draw_groups(
            panel,
            [
                (names[short_name(run.name)], [_figure_of(run.summary, group, measure) for group in groups])
                for run in runs
            ],
            [f"{names[name]}\n{counts.get(name, 0)} questions" for name in groups],
            in_legend=panel is panels[0],
        )
        panel.set_title(title, fontsize=9)
    _add_title(figure, _runs_title(runs), columns)
    return figure


def _run_costs(runs: Sequence[Run]) -> Figure:
    """F1 and evidence recall against the tokens given to a reader, and the time of a question."""
    names = drawable({"run": [short_name(run.name) for run in runs]})
    figure = new_figure(9.0, 6.2)
    panels = figure.subplots(len(TITLES), len(COSTS), sharey="row", squeeze=False)
    for row, (measure, title) in zip(panels, TITLES.items(), strict=True):
        for panel, (label, cost) in zip(row, COSTS.items(), strict=True):
            logarithmic(panel, [cost(run.summary["cost"]) for run in runs])
            for run, style in zip(runs, styles(len(runs)), strict=True):
                if (found := _figure_of(run.summary, "overall", measure)) is not None:
                    name = names[short_name(run.name)] if panel is panels[0][0] else None
                    _at_cost(panel, found, cost(run.summary["cost"]), style, name)
            if measure == "f1":
                never = runs[0].summary["baselines"]["not_mentioned"]["f1"]
                panel.axhline(never, color=GREY, linewidth=0.8, linestyle="--")
            _style_scatter(panel, label)
        row[0].set_ylabel(f"{title}, 95 % interval")
    _add_title(figure, f"{_runs_title(runs)}; dashed: always 'not mentioned'", 3)
    return figure


def _figure_of(summary: Mapping[str, Any], group: str, measure: str) -> dict[str, float] | None:
    """Value with its interval; for a category, which has none, the interval is the value."""
    figures = summary["overall"] if group == "overall" else summary["by_category"].get(group)
    if figures is None or figures[measure] is None:
        return None
    value = float(figures[measure])
    interval = summary["intervals"][measure] if group == "overall" else [value, value]
    return {"value": value, "low": interval[0], "high": interval[1]}


def _runs_title(runs: Sequence[Run]) -> str:
    tasks = ", ".join(dict.fromkeys(str(run.summary["task"]) for run in runs))
    readers = ", ".join(dict.fromkeys(str(run.summary["reader"]) for run in runs))
    return f"{tasks}: {runs[0].summary['questions']} questions, {readers} reader"
