"""What a format gives: text, its pages, what it left out."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

Box = tuple[float, float, float, float]
"""Left, top, right and bottom."""
Region = tuple[int, int, Box]
"""Start and end of a line that was read from a picture, and its place there, in shares of width and height."""


@dataclass(frozen=True, slots=True)
class ExtractedText:
    """A file's text, and where its pages begin in it."""

    text: str
    starts: tuple[int, ...] = ()
    """Code points, ascending; none where the file has no pages."""
    pages: tuple[int, ...] = ()
    """Their numbers."""
    warnings: tuple[str, ...] = ()
    """What of the file is not in the text, for the report."""
    regions: tuple[Region, ...] = ()
    """Of the lines that OCR read, in order."""

    def page_at(self, place: int) -> int | None:
        """The page of a code point."""
        number = bisect_right(self.starts, place) - 1
        return self.pages[number] if number >= 0 else None

    def regions_in(self, start: int, end: int) -> tuple[Region, ...]:
        """The regions of the lines that lie in a span, at least in part."""
        first = bisect_right(self.regions, start, key=lambda region: region[1])
        return self.regions[first : bisect_left(self.regions, end, key=lambda region: region[0])]


def of_pages(
    pages: Iterable[tuple[int, str]],
    warnings: Sequence[str] = (),
    regions: Mapping[int, Sequence[Region]] | None = None,
) -> ExtractedText:
    """The pages that hold text, parted by blank lines; ``regions``: by page, of the lines that OCR read there."""
    text, starts, numbers, placed = "", [], [], []
    for number, content in pages:
        plain = of_text(content.replace("\r\n", "\n").replace("\r", "\n")).text.rstrip("\n")
        if plain:
            text += "\n\n" if text else ""
            starts.append(len(text))
            numbers.append(number)
            placed += [(len(text) + a, len(text) + b, box) for a, b, box in (regions or {}).get(number, ())]
            text += plain
    return ExtractedText(text + "\n", tuple(starts), tuple(numbers), tuple(warnings), tuple(placed))


def of_text(text: str, warnings: Sequence[str] = ()) -> ExtractedText:
    """A text without pages. Soft hyphens, which only say where a word may be divided, are left out of every text."""
    return ExtractedText(text.replace("\xad", "").strip() + "\n", warnings=tuple(warnings))
