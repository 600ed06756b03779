"""Admonitions and tabs, as MkDocs writes them, as the callouts of Obsidian: what stands in them is text and no code.

``!!! warning "Mind the gap"`` with text below it that is indented by four spaces becomes ``> [!warning] Mind the gap`` with
``>`` before that text; ``=== "Linux"`` likewise.
"""

from __future__ import annotations

import re

_ANY = re.compile(r"^ *(?:!!!|\?\?\?\+?|===) ", re.MULTILINE)
_OPENING = re.compile(
    r"(?:!!!|\?\?\?\+?) +(?P<kind>[\w-]+)(?: +[\w-]+)*(?: +\"(?P<title>[^\"\r\n]*)\")?[ \t]*$"
    r"|=== +\"(?P<tab>[^\"\r\n]+)\"[ \t]*$"
)
_FENCE = re.compile(r"[ >]*(?P<fence>`{3,}|~{3,})(?P<info>[^\r\n]*)")
INDENT = 4
"""Spaces by which the text of an admonition is indented."""


def as_callouts(text: str) -> str:
    """The text with its admonitions and tabs as callouts, every character at its place; those in code are left."""
    if _ANY.search(text) is None:
        return text
    lines: list[str] = []
    places: list[int] = []
    """Where the open admonitions begin in their lines, the outermost first."""
    fence = ""
    for line in text.splitlines(keepends=True):
        begin = len(line) - len(line.lstrip(" "))
        if line.strip() and not fence:
            while places and begin < places[-1] + INDENT:
                places.pop()
        for place in places:
            if line[place : place + 1] == " ":
                line = f"{line[:place]}>{line[place + 1 :]}"
        mark = _FENCE.match(line)
        if mark is not None and not fence:
            fence = mark["fence"]
        elif mark is not None and mark["fence"].startswith(fence) and not mark["info"].strip():
            fence = ""
        opening = None if fence else _OPENING.match(line.rstrip("\r\n"), begin)
        if opening is not None:
            line = f"{line[:begin]}{_callout(opening)}{line[opening.end() :]}"
            places.append(begin)
        lines.append(line)
    return "".join(lines)


def _callout(opening: re.Match[str]) -> str:
    """The first line of a callout, as long as that of the admonition; blank where that has no title."""
    name = "tab" if opening["tab"] else "title"
    if not opening[name]:
        return " " * len(opening[0])

    def place(group: str) -> int:
        return opening.start(group) - opening.start()

    lead = ">[!t]" if name == "tab" else f"{'>':<{place('kind') - 2}}[!{opening['kind']}]"
    return f"{lead:<{place(name)}}{opening[name]}".ljust(len(opening[0]))
