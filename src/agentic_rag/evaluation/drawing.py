"""Evaluation, the pictures: colours, fonts, axes and files that all of them share.

Needs the extra ``charts`` (matplotlib). Drawn on figures of their own, without pyplot's global state.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agentic_rag.errors import InputError, MissingExtra

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = (
    "#1b6e5a", "#d8a657", "#5b7db1", "#b5524a", "#7fb8a4", "#8a6bab", "#8c8c3e", "#4f4f4f", "#d98cb3", "#6fb2d2",
    "#a8764a", "#98c05a",
)  # fmt: skip
MARKERS = "os^Dv"
GREY = "#8a8a8a"
CJK_FONTS = (
    "Noto Sans CJK SC", "Noto Sans SC", "Source Han Sans SC", "Source Han Sans CN", "WenQuanYi Micro Hei",
    "WenQuanYi Zen Hei", "Droid Sans Fallback", "PingFang SC", "Hiragino Sans GB", "Heiti SC", "Microsoft YaHei",
    "SimHei", "Arial Unicode MS",
)  # fmt: skip
BASE_FONT = "DejaVu Sans"
"""Comes with matplotlib."""
ROW = 0.27
"""Inches of a row of dots."""
MOST_POWERS, MOST_NAMED = 9, 7
"""Of ten on a logarithmic axis, and of its numbers that have room beside each other."""


def check_charts() -> None:
    """Raises ``MissingExtra`` where matplotlib is not installed: before an evaluation, not after it."""
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError as error:
        raise MissingExtra("drawing charts", "charts") from error


def save(made: Mapping[str, Callable[[], Figure]], folder: Path) -> list[Path]:
    """Draw each picture and write it under its file name.

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
        figures = {file: draw() for file, draw in made.items()}
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
    panel: Axes, found: Mapping[str, float], place: float, style: tuple[str, str], label: str | None = None
) -> None:
    colour, marker = style
    panel.plot([found["low"], found["high"]], [place, place], color=colour, linewidth=1.4, alpha=0.7)
    panel.plot([found["value"]], [place], marker, color=colour, markersize=5, label=label)


def horizontal(panel: Axes, rows: int) -> None:
    """First row on top; a share from 0 to 1 along the bottom."""
    panel.set_ylim(rows - 0.4, -0.6)
    panel.set_xlim(-0.02, 1.02)
    panel.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0", "", ".5", "", "1"])
    panel.grid(axis="x", color="#e4e4e4", linewidth=0.6)
    panel.set_axisbelow(True)
    panel.tick_params(axis="y", length=0)


def logarithmic(panel: Axes, values: Sequence[float]) -> None:
    """Costs from 0 along the bottom, on a logarithmic scale named 0, 1, 2, 5, 10, …, or by powers of ten alone if many.

    It ends at a named number on both sides: costs within one power of ten would stand over an axis without any.
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


def drawable(kinds: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Every name as it is to be drawn.

    One with a letter that no font here has is drawn as its number among the names of its kind, in their
    order; ``$`` would begin a formula.
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
