"""The reading order of a page's pieces of line: columns one after the other, where a page stores them row by row."""

from __future__ import annotations

import operator
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from statistics import median

_FEWEST_ROWS = 3
"""Rows with text on both sides that make two columns."""
_FEWEST_WORDS, _FEWEST_LETTERS = 3, 12
"""Words of a column's median line, or letters where a script has no case; a table's cells are shorter."""
_MIN_FILL = 0.6
"""Share of the longest line's width that the median line has."""
_MIN_CONTINUATION = 0.3
"""Share of a column's lines that begin in the middle of a sentence; a table's cells hardly ever do."""
_MAX_PIECES = 3_000
"""Of a page whose columns are looked for: more are a drawing's."""
_OVERLAP = 0.3
"""Share of its height that a piece has in common with others of its line."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a line between wide gaps; ``y`` grows upwards, as in PDF."""

    text: str
    left: float
    bottom: float
    right: float
    top: float

    @property
    def height(self) -> float:
        """Height of the piece's letters, in points."""
        return self.top - self.bottom


Row = list[Piece]


def in_reading_order(pieces: Sequence[Piece]) -> list[Row]:
    """Lines of pieces, in the given order, or where that goes from column to column at every line, column by column.

    A gutter is an interval at least one line's height wide that no piece crosses, in neighbouring lines of which at
    least three have text on both sides. Both sides must be running text, so that tables stay rows. A recursive cut as
    in Nagy and Seth, "Hierarchical representation of optically scanned documents" (1984), with such bands for its
    horizontal cuts.
    """
    rows = rows_of(pieces) if len(pieces) <= _MAX_PIECES else []
    parts: list[Sequence[Piece]] = []
    is_mixed = False
    while (band := _first_band(rows)) is not None:
        first, last, gutter = band
        inside = {id(piece) for row in rows[first:last] for piece in row}
        stored = [piece for piece in pieces if id(piece) in inside]
        sides = [piece.left >= gutter for piece in stored]
        # Lines with text on both sides change it at least once each where they are stored line by line.
        is_mixed |= sum(map(operator.ne, sides, sides[1:])) >= sum(len(row) > 1 for row in rows[first:last])
        left, right = (
            [piece for piece in stored if (piece.left >= gutter) is side] for side in (False, True)
        )
        parts += [list(chain.from_iterable(rows[:first])), left, right]
        rows = rows[last:]
    if not is_mixed:
        return _as_stored(pieces)
    parts.append(list(chain.from_iterable(rows)))
    return [row for part in parts for row in in_reading_order(part)]


def _as_stored(pieces: Sequence[Piece]) -> list[Row]:
    rows: list[Row] = []
    for piece in pieces:
        if rows and rows[-1][-1].left < piece.left and _overlap(rows[-1][-1], piece) >= _OVERLAP:
            rows[-1].append(piece)
        else:
            rows.append([piece])
    return rows


def rows_of(pieces: Sequence[Piece]) -> list[Row]:
    """The pieces by line, top to bottom and left to right; those of one line share some of its height."""
    rows: list[Row] = []
    for piece in sorted(pieces, key=lambda one: (-one.top, one.left)):
        if rows and _overlap(rows[-1][0], piece) >= _OVERLAP:
            rows[-1].append(piece)
        else:
            rows.append([piece])
    return [sorted(row, key=lambda one: one.left) for row in rows]


def _overlap(first: Piece, second: Piece) -> float:
    shared = min(first.top, second.top) - max(first.bottom, second.bottom)
    return shared / max(min(first.height, second.height), 1e-6)


def _first_band(rows: Sequence[Row]) -> tuple[int, int, float] | None:
    """The first rows that are columns: where they begin and end, and a place in the gutter."""
    for first, row in enumerate(rows):
        bands = [_band(rows, first, gap) for gap in _gaps(row)]
        found = [band for band in bands if band is not None]
        if found:
            return max(found, key=lambda band: (band[1], -band[2]))
    return None


def _band(rows: Sequence[Row], first: int, gap: tuple[float, float]) -> tuple[int, int, float] | None:
    """The rows from the first on that leave a gutter in this gap free."""
    low, high = gap
    last, both = first, 0
    for number in range(first, len(rows)):
        row = rows[number]
        free = max(
            ((max(low, left), min(high, right)) for left, right in _gaps(row)),
            key=lambda gap: gap[1] - gap[0],
            default=(0.0, 0.0),
        )
        if free[1] - free[0] >= _em(row):
            (low, high), both, last = free, both + 1, number + 1
        elif _is_apart(rows, number) or any(piece.left < high and piece.right > low for piece in row):
            break
        else:
            last = number + 1
    inside = [piece for row in rows[first:last] for piece in row]
    sides = (
        [piece for piece in inside if piece.left < high],
        [piece for piece in inside if piece.left >= high],
    )
    return (first, last, high) if both >= _FEWEST_ROWS and all(map(_is_running, sides)) else None


def _is_apart(rows: Sequence[Row], number: int) -> bool:
    """Whether a blank line is above a row, after which another paragraph of the whole page may begin."""
    return rows[number - 1][0].bottom - rows[number][0].top > _em(rows[number])


def _gaps(row: Row) -> Iterator[tuple[float, float]]:
    for before, after in pairwise(row):
        if after.left - before.right >= _em(row):
            yield before.right, after.left


def _em(row: Row) -> float:
    return median(piece.height for piece in row)


def _is_running(side: Sequence[Piece]) -> bool:
    """Whether pieces are lines of running text from left to right; in scripts without case, by their length alone."""
    widths = [piece.right - piece.left for piece in side]
    if len(side) < _FEWEST_ROWS or median(widths) < _MIN_FILL * max(widths):
        return False
    first = [next(filter(str.isalpha, piece.text), "1") for piece in side]
    cased = [letter for letter in first if letter.islower() or letter.isupper()]
    if len(cased) * 2 >= len(side):
        words = median(len(piece.text.split()) for piece in side)
        return words >= _FEWEST_WORDS and sum(map(str.islower, cased)) >= _MIN_CONTINUATION * len(side)
    is_leftwards = any(unicodedata.bidirectional(letter) in ("R", "AL") for letter in first)
    return not is_leftwards and median(len(piece.text) for piece in side) >= _FEWEST_LETTERS
