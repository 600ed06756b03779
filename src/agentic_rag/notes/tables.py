"""Tables that are not written with pipes: HTML, as Dataview leaves it in published notes, and MyST's ``list-table`` and
``csv-table``."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from agentic_rag.notes.admonitions import directive_options
from agentic_rag.notes.readable import readable

MAX_SPAN = 1_000
"""Rows or columns that one cell of HTML may reach over, as browsers have it."""
MAX_COLUMNS = 200
"""Columns of a table; the cells of a row beyond are left out."""


@dataclass(frozen=True, slots=True)
class TableRow:
    """A row, as it stands in ``text[start:end]`` of the note."""

    start: int
    end: int
    cells: tuple[tuple[str, str], ...]
    """Column name and readable cell, in order, those with a cell; a name is empty where the table has none."""


_Cells = tuple[int, int, Sequence[str]]
"""Where a row stands, and its readable cells of all columns."""


def _with_names(rows: Sequence[_Cells], names: Sequence[str]) -> Iterator[TableRow]:
    for start, end, cells in rows:
        pairs = zip_longest(names, cells[: len(names) or None], fillvalue="")
        if named := tuple((name, cell) for name, cell in pairs if cell):
            yield TableRow(start, end, named)


HTML_TABLE = re.compile(r"<table\b(?s:.*?)(?:</table\s*>|\Z)", re.IGNORECASE)
_PART = re.compile(r"<(?P<tag>tr|td|th)\b(?P<attributes>[^<>]*)>|</(?:tr|table)\s*>", re.IGNORECASE)
_SPAN = re.compile(r"\b(?P<side>col|row)span\s*=\s*[\"']?(?P<number>\d{1,4})", re.IGNORECASE)
_COUNT = re.compile(r"<span class=\"dataview small-text\">[^<>]*</span>")
"""The number of rows, or sum of a column, that Dataview writes into its head."""


def html_rows(text: str, start: int, end: int) -> Iterator[TableRow]:
    """The rows of the table ``text[start:end]``; a first row of ``<th>`` alone names the columns.

    A cell that reaches over several rows or columns stands in each of them.
    """
    rows: list[_Cells] = []
    names: Sequence[str] = ()
    above: dict[int, tuple[int, str]] = {}
    """By column the rows that a cell of an earlier row still reaches over, and the cell."""
    parts = list(_PART.finditer(text, start, end))
    row_start: int | None = None
    cells: list[str] = []
    is_head = True
    for part, following in zip_longest(parts, parts[1:]):
        tag = (part["tag"] or "").lower()
        if tag in ("td", "th") and row_start is not None:
            stop = end if following is None else following.start()
            is_head = is_head and tag == "th"
            shown = readable(_COUNT.sub("", text[part.end() : stop]))
            spans = {one["side"].lower(): int(one["number"]) for one in _SPAN.finditer(part["attributes"])}
            _fill(cells, above)
            for _ in range(min(max(spans.get("col", 1), 1), MAX_COLUMNS - len(cells))):
                reach = min(spans.get("row", 1), MAX_SPAN) - 1
                if reach > 0:
                    above[len(cells)] = (reach, shown)
                cells.append(shown)
            continue
        if row_start is not None and cells:
            _fill(cells, above)
            if is_head and not rows and not names:
                names = cells
            else:
                rows.append((row_start, part.start(), cells))
        row_start, cells, is_head = (part.start() if tag == "tr" else None), [], True
    if row_start is not None and cells:
        rows.append((row_start, end, cells))
    yield from _with_names(rows, names)


def _fill(cells: list[str], above: dict[int, tuple[int, str]]) -> None:
    """Add the cells of earlier rows that reach into this one at its next places."""
    while len(cells) in above and len(cells) < MAX_COLUMNS:
        reach, shown = above.pop(len(cells))
        if reach > 1:
            above[len(cells)] = (reach - 1, shown)
        cells.append(shown)


_ROW_MARK = re.compile(r"[ \t]*[*+-][ \t]+(?=[*+-](?:[ \t]|\r?$))", re.MULTILINE)
_CELL_MARK = re.compile(r"(?P<indent>[ \t]*)[*+-](?:[ \t]+|(?=\r?$))", re.MULTILINE)


def list_table_rows(text: str, start: int, end: int) -> Iterator[TableRow]:
    """The rows of a ``list-table`` with the body ``text[start:end]``: a list of lists, each inner one a row."""
    options, start = directive_options(text, start, end)
    rows: list[tuple[int, int, list[str]]] = []
    column = 0
    """Where the marks of a row's cells stand in their lines."""
    for line in re.finditer(r"[^\n]+\n?", text[start:end]):
        at, stop = start + line.start(), start + line.end()
        mark = _ROW_MARK.match(text, at, stop)
        cell = _CELL_MARK.match(text, at if mark is None else mark.end(), stop)
        if mark is not None:
            column = mark.end() - at
            rows.append((at, stop, []))
        is_cell = cell is not None and (mark is not None or len(cell["indent"]) == column)
        if not rows:
            continue
        first, last, cells = rows[-1]
        if is_cell and cell is not None:
            cells.append(text[cell.end() : stop])
        elif cells and text[at:stop].strip():
            cells[-1] += text[at:stop]
        rows[-1] = (first, stop if text[at:stop].strip() else last, cells)
    yield from _with_head([(a, b, list(map(readable, cells[:MAX_COLUMNS]))) for a, b, cells in rows], options)


def csv_rows(text: str, start: int, end: int) -> Iterator[TableRow]:
    """The rows of a ``csv-table`` with the body ``text[start:end]``."""
    options, start = directive_options(text, start, end)
    delimiter = {"tab": "\t", "space": " "}.get(options.get("delim", ","), options.get("delim", ","))[
        :1
    ] or ","
    lines = text[start:end].splitlines(keepends=True)
    reader = csv.reader(lines, delimiter=delimiter, skipinitialspace=True)
    rows: list[_Cells] = []
    at, taken = start, 0
    while (cells := _next_record(reader)) is not None:
        stop = at + sum(map(len, lines[taken : reader.line_num]))
        taken = reader.line_num
        if any(map(str.strip, cells)):
            rows.append((at, stop, list(map(readable, cells[:MAX_COLUMNS]))))
        at = stop
    if options.get("header"):
        names = next(csv.reader([options["header"]], delimiter=delimiter, skipinitialspace=True))
        yield from _with_names(rows, list(map(readable, names)))
    else:
        yield from _with_head(rows, options)


def _next_record(reader: Iterator[list[str]]) -> list[str] | None:
    """The next record; None at the end, and where a field is too long to be one."""
    try:
        return next(reader, None)
    except csv.Error:
        return None


def _with_head(rows: Sequence[_Cells], options: Mapping[str, str]) -> Iterator[TableRow]:
    """The rows below as many head rows as the options say; the last of these names the columns."""
    number = options.get("header-rows", "0")
    count = min(int(number), len(rows)) if number.isdigit() else 0
    yield from _with_names(rows[count:], rows[count - 1][2] if count else ())
