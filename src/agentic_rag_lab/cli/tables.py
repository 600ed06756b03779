"""Tables of figures in a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.box import SIMPLE_HEAD
from rich.markup import escape
from rich.table import Table

UNBROKEN = ("system", "run")
"""Columns of names that are never wrapped."""


def report_table(title: str, names: Sequence[str], numbers: Sequence[str] = ()) -> Table:
    """Names on the left, numbers on the right; the title unchanged, the caption below on the left."""
    shown = Table(
        title=escape(title),
        title_justify="left",
        caption_justify="left",
        box=SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
    )
    for name in names:
        shown.add_column(name, no_wrap=name in UNBROKEN, overflow="fold")
    for name in numbers:
        shown.add_column(name, justify="right", overflow="fold")
    return shown


def interval(figure: Mapping[str, float], mark: str = "", *, sign: str = "", between: str = " ") -> str:
    """A mean with its mark and 95 % interval; ``sign``: sign option of the format, such as ``+``."""
    bounds = f"{figure['low']:{sign}.2f}–{figure['high']:{sign}.2f}"
    return f"{figure['value']:{sign}.3f}{mark}{between}[dim]{bounds}[/dim]"
