"""Evaluation, the pictures: quality with intervals, quality against latency, quality by category.

Needs the extra ``charts`` (matplotlib). Drawn on figures of their own, without pyplot's global state.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any

from agentic_rag.errors import InputError, MissingExtra
from agentic_rag.evaluation.report import EvalReport
from agentic_rag.evaluation.scores import MEASURES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = (
    "#1b6e5a", "#d8a657", "#5b7db1", "#b5524a", "#7fb8a4", "#8a6bab", "#8c8c3e", "#4f4f4f", "#d98cb3", "#6fb2d2",
    "#a8764a", "#98c05a",
)  # fmt: skip
MARKERS = "os^Dv"
GREY = "#8a8a8a"
MEASURE = MEASURES[0]
"""The one measure of the pictures that show one."""
CJK_FONTS = (
    "Noto Sans CJK SC", "Noto Sans SC", "Source Han Sans SC", "Source Han Sans CN", "WenQuanYi Micro Hei",
    "WenQuanYi Zen Hei", "Droid Sans Fallback", "PingFang SC", "Hiragino Sans GB", "Heiti SC", "Microsoft YaHei",
    "SimHei", "Arial Unicode MS",
)  # fmt: skip
BASE_FONT = "DejaVu Sans"
"""Comes with matplotlib."""
ROW = 0.27
"""Inches of a row of dots."""


def check_charts() -> None:
    """Raises ``MissingExtra`` where matplotlib is not installed: before an evaluation, not after it."""
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError as error:
        raise MissingExtra("drawing charts", "charts") from error


def draw(report: EvalReport, folder: Path) -> list[Path]:
    """Write ``quality.png``, ``latency.png`` and, where queries have categories, ``categories.png``.

    Raises:
        MissingExtra: matplotlib is not installed.
        InputError: the folder cannot be written.
    """
    check_charts()
    import matplotlib as mpl

    names = _drawable(report)
    style: dict[Any, Any] = {
        "font.family": _families(),
        "font.size": 9,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "savefig.dpi": 130,
    }
    with mpl.rc_context(style):
        figures = {"quality.png": _quality(report, names), "latency.png": _latency(report, names)}
        if any(figures["by_category"] for figures in report.systems.values()):
            figures["categories.png"] = _categories(report, names)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            for file, figure in figures.items():
                figure.savefig(folder / file)
        except OSError as error:
            raise InputError(f"cannot write charts to {folder}: {error.strerror or error}") from error
    return [folder / file for file in figures]


def _quality(report: EvalReport, names: Mapping[str, str]) -> Figure:
    """A panel a measure, a row a system, and below them in grey what does not search."""
    rows = [(names[name], figures, COLOURS[0]) for name, figures in report.systems.items()]
    baselines = report.degenerate.get("ranking", {})
    rows += [(f"{names[name]} (no search)", figures, GREY) for name, figures in baselines.items()]
    figure = _figure(2.2 * len(MEASURES) + 1.2, ROW * len(rows) + 1.1)
    panels = figure.subplots(1, len(MEASURES), sharey=True)
    for panel, measure in zip(panels, MEASURES, strict=True):
        for place, (_, figures, colour) in enumerate(rows):
            _dot(panel, figures[measure], place, (colour, "o"))
        panel.set_title(measure, fontsize=9)
        _horizontal(panel, len(rows))
    panels[0].set_yticks(range(len(rows)), [name for name, _, _ in rows])
    figure.suptitle(_title(report, names), x=0.01, ha="left")
    return figure


def _latency(report: EvalReport, names: Mapping[str, str]) -> Figure:
    """Quality with its interval against p50 (dot) and p95 (end of the line).

    Names stand beside, in order of quality, so that none covers another.
    """
    order = sorted(report.systems, key=lambda name: (report.systems[name][MEASURE]["value"], name))
    styles = dict(zip(report.systems, _styles(len(report.systems)), strict=True))
    figure = _figure(7.4, max(3.4, 0.22 * len(order) + 1.6))
    panel = figure.subplots()
    panel.set_xscale("log")
    for axis_set in (panel.xaxis.set_major_formatter, panel.xaxis.set_minor_formatter):
        axis_set(_round_milliseconds)
    for place, name in enumerate(order):
        colour, marker = styles[name]
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
    figure = _figure(7.4, 0.15 * size * len(categories) + 1.6 + 0.2 * math.ceil(len(by_system) / 4))
    panel = figure.subplots()
    for place, (name, style) in enumerate(zip(by_system, _styles(len(by_system)), strict=True)):
        for group, category in enumerate(categories):
            label = names[name] if group == 0 else None
            _dot(panel, by_system[name][category][MEASURE], group * size + place, style, label)
    _horizontal(panel, size * len(categories) - 1)
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


def _figure(width: float, height: float) -> Figure:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def _dot(
    panel: Axes, found: Mapping[str, float], place: float, style: tuple[str, str], label: str | None = None
) -> None:
    colour, marker = style
    panel.plot([found["low"], found["high"]], [place, place], color=colour, linewidth=1.4, alpha=0.7)
    panel.plot([found["value"]], [place], marker, color=colour, markersize=5, label=label)


def _round_milliseconds(value: float, _: float | None = None) -> str:
    """1, 2, 5, 10, 20, 50, …; the lines between them are not named."""
    return f"{value:g}" if f"{value:.0e}"[0] in "125" else ""


def _horizontal(panel: Axes, rows: int) -> None:
    """First row on top; a share from 0 to 1 along the bottom."""
    panel.set_ylim(rows - 0.4, -0.6)
    panel.set_xlim(-0.02, 1.02)
    panel.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0", "", ".5", "", "1"])
    panel.grid(axis="x", color="#e4e4e4", linewidth=0.6)
    panel.set_axisbelow(True)
    panel.tick_params(axis="y", length=0)


def _title(report: EvalReport, names: Mapping[str, str]) -> str:
    return f"{names[report.dataset]}: {report.queries} queries"


def _styles(count: int) -> list[tuple[str, str]]:
    """Colour and marker of each system; the marker changes where the colours begin anew."""
    return [
        (COLOURS[place % len(COLOURS)], MARKERS[place // len(COLOURS) % len(MARKERS)])
        for place in range(count)
    ]


def _families() -> list[str]:
    """Fonts to draw with: matplotlib takes each letter from the first that has it."""
    from matplotlib.font_manager import fontManager

    installed = {font.name for font in fontManager.ttflist}
    return [BASE_FONT, *(name for name in CJK_FONTS if name in installed)]


def _drawable(report: EvalReport) -> dict[str, str]:
    """Every name as it is to be drawn.

    One with a letter that no font here has is drawn as its number among the names of its kind, in the
    order of the report; ``$`` would begin a formula.
    """
    letters = _letters(_families())
    categories = list(next(iter(report.systems.values()))["by_category"])
    kinds: dict[str, Sequence[str]] = {
        "system": [*report.systems, *report.degenerate.get("ranking", {})],
        "category": categories,
        "dataset": [report.dataset],
    }
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
