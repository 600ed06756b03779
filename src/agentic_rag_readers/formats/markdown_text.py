"""The Markdown that formats write: headings, lists, tables, links, raised and lowered letters, notes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

_RULE = re.compile(r"[-=_*\s]+")
_NO_ADDRESS = ("#", "javascript:", "data:")
_IN_ADDRESS = str.maketrans({" ": "%20", "(": "%28", ")": "%29", "<": "%3C", ">": "%3E"})
_DEEPEST = 9
_LOW = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
_END = re.compile(r"[.!?…。！？]$")


@dataclass(frozen=True, slots=True)
class Item:
    """A paragraph that is an item of a list, its mark and indentation before it."""

    text: str
    is_numbered: bool


TextBlock = str | Item


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
