"""What a reader of documents gives: text, its pages, what it left out; and the Markdown that readers write."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

_RULE = re.compile(r"[-=_*\s]+")
_NO_ADDRESS = ("#", "javascript:", "data:")
_IN_ADDRESS = str.maketrans({" ": "%20", "(": "%28", ")": "%29", "<": "%3C", ">": "%3E"})
_DEEPEST = 9
_LOW = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
_END = re.compile(r"[.!?…。！？]$")


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


@dataclass(frozen=True, slots=True)
class Item:
    """A paragraph that is an item of a list, its mark and indentation before it."""

    text: str
    is_numbered: bool


TextBlock = str | Item


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


def join_blocks(blocks: Iterable[TextBlock]) -> str:
    """Blocks parted by blank lines, the items of a list by line ends. A line of dashes, which Markdown takes for a
    heading's or for properties, is left out."""
    text = ""
    last: TextBlock = ""
    for block in blocks:
        written = block.text if isinstance(block, Item) else block.strip()
        if not written or _RULE.fullmatch(written):
            continue
        # A list of the other kind needs a blank line before it.
        is_next = isinstance(block, Item) and isinstance(last, Item) and block.is_numbered == last.is_numbered
        text += ("\n" if is_next else "\n\n") if text else ""
        text += written
        last = block
    return text


def item(text: str, level: int, mark: str = "-") -> Item:
    """An item of a list at a level from 0; the deepest ones are one beside the other."""
    first, *more = text.strip().split("\n")
    lines = [f"{mark} {first}", *(f"  {line}" for line in more)]
    return Item(_indent(lines, level), mark != "-")


def item_part(text: str, level: int, mark: str = "-") -> Item:
    """A further paragraph of an item."""
    return Item(_indent([f"  {line}" for line in text.split("\n")], level), mark != "-")


def _indent(lines: Iterable[str], level: int) -> str:
    return "\n".join("    " * min(level, _DEEPEST) + line for line in lines)


def heading(text: str, level: int) -> str:
    """A heading of level 1 to 6; empty where there is no text."""
    flat = one_line(text)
    return f"{'#' * min(level, 6)} {flat}" if flat else ""


def table(rows: Sequence[Sequence[str]]) -> str:
    """A table whose first row is its head; of one column, its cells as paragraphs."""
    rows = [[one_line(cell) for cell in row] for row in rows if any(cell.strip() for cell in row)]
    width = max(map(len, rows), default=0)
    if width < 2:
        return "\n\n".join(row[0] for row in rows)
    lines = [
        "| " + " | ".join([*(cell.replace("|", "\\|") for cell in row), *[""] * (width - len(row))]) + " |"
        for row in rows
    ]
    return "\n".join([lines[0], "|" + " --- |" * width, *lines[1:]])


def link(text: str, url: str | None) -> str:
    """A link to another place; the text alone where the address is none, or the text itself."""
    shown = text.strip()
    if not shown or not url or shown in url or "![" in shown or url.startswith(_NO_ADDRESS):
        return text
    before, after = text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :]
    return f"{before}[{one_line(shown)}]({url.strip().translate(_IN_ADDRESS)}){after}"


def superscript(text: str) -> str:
    """A superscript: ``10^6``, but ``1st``: letters of an ordinal or a title need no sign."""
    flat = text.strip()
    return text if not flat or (flat.isalpha() and (len(flat) > 1 or flat in "aeo")) else f"^{flat}"


def subscript(text: str) -> str:
    """A subscript: digits in their low form, which searches take for digits."""
    return text.translate(_LOW)


def with_note(text: str, note: str) -> str:
    """The text up to a footnote's mark, and the footnote in brackets, within the sentence where that has just ended."""
    flat = one_line(note)
    if not flat:
        return text
    shown = text.rstrip()
    end = _END.search(shown)
    return f"{shown} ({flat})" if end is None else f"{shown[: end.start()]} ({_END.sub('', flat)}){end[0]}"


def one_line(text: str) -> str:
    """The text with single spaces."""
    return " ".join(text.split())
