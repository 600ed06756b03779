"""What documentation sites write as admonitions, tabs and directives: what stands in them is text and no code.

Of MkDocs ``!!! warning "Mind the gap"`` with text below it that is indented by four spaces becomes the callout of Obsidian,
``> [!warning] Mind the gap`` with ``>`` before that text; ``=== "Linux"`` likewise. A directive of MyST is a fence,
```` ```{note} ````, or the same of colons, which becomes one of backticks.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

_ANY = re.compile(r"^[ >]*(?:(?:!!!|\?\?\?\+?|===) |:{3,}\{|`{3,}\{[^`\n]*`)", re.MULTILINE)
_OPENING = re.compile(
    r"(?:!!!|\?\?\?\+?) +(?P<kind>[\w-]+)(?: +[\w-]+)*(?: +\"(?P<title>[^\"\r\n]*)\")?[ \t]*$"
    r"|=== +\"(?P<tab>[^\"\r\n]+)\"[ \t]*$"
)
_FENCE = re.compile(r"[ >]*(?P<fence>`{3,}|~{3,})(?P<info>[^\r\n]*)")
_COLONS = re.compile(r"[ >]*(?P<colons>:{3,})(?P<kind>\{[a-z])?(?=(?P<rest>[^\r\n]*))")
INDENT = 4
"""Spaces by which the text of an admonition is indented."""


@dataclass(frozen=True, slots=True)
class _Fence:
    """An open fence."""

    mark: str
    is_text: bool
    """Whether it is a directive whose body is Markdown."""
    is_colons: bool
    """Whether it is written with colons."""

    def is_closed_by(self, mark: re.Match[str]) -> bool:
        """Whether a line's mark closes it."""
        return mark["fence"].startswith(self.mark) and not mark["info"].strip()


def as_callouts(text: str) -> str:
    """The text with its admonitions and tabs as callouts, every character at its place; those in code are left."""
    if _ANY.search(text) is None:
        return text
    lines: list[str] = []
    places: list[int] = []
    """Where the open admonitions begin in their lines, the outermost first."""
    fences: list[_Fence] = []
    """Those that are open, the outermost first."""
    is_code = False
    for line in text.splitlines(keepends=True):
        begin = len(line) - len(line.lstrip(" "))
        if line.strip() and not is_code:
            while places and begin < places[-1] + INDENT:
                places.pop()
        for place in places:
            if line[place : place + 1] == " ":
                line = f"{line[:place]}>{line[place + 1 :]}"
        is_colons = False
        if not is_code or fences[-1].is_colons:
            written, line = line, _in_backticks(line, fences, may_open=not is_code)
            is_colons = written != line
        mark = _FENCE.match(line)
        if mark is not None and fences and fences[-1].is_closed_by(mark):
            fences.pop()
        elif mark is not None and not is_code:
            opened = directive(mark["info"])
            if opened is not None:  # no mark of code may stand behind that of a fence
                start, end = mark.span("info")
                line = f"{line[:start]}{mark['info'].replace('`', ' ')}{line[end:]}"
            is_text = opened is not None and opened[0] in TEXT_DIRECTIVES
            fences.append(_Fence(mark["fence"], is_text, is_colons))
        is_code = bool(fences) and not fences[-1].is_text
        opening = None if is_code else _OPENING.match(line.rstrip("\r\n"), begin)
        if opening is not None:
            line = f"{line[:begin]}{_callout(opening)}{line[opening.end() :]}"
            places.append(begin)
        lines.append(line)
    return "".join(lines)


def _in_backticks(line: str, open_fences: Sequence[_Fence], *, may_open: bool) -> str:
    """The line that opens or closes a directive of colons as that of a fence; others as they are."""
    mark = _COLONS.match(line)
    if mark is None:
        return line
    colons = mark["colons"]
    closes = any(one.is_colons and len(one.mark) == len(colons) for one in open_fences)
    if not (may_open if mark["kind"] else closes and not mark["rest"].strip()):
        return line
    start, end = mark.span("colons")
    return f"{line[:start]}{'`' * len(colons)}{line[end:]}"


TEXT_DIRECTIVES = frozenset(
    "ad admonition aside attention card caution danger dropdown epigraph error exercise figure glossary grid grid-item"
    " grid-item-card hint important list margin note proof seealso sidebar solution tab-item tab-set table tip topic"
    " warning".split()
)
"""Directives of MyST whose body is Markdown; that of others is code, or names files."""
NO_TITLE = frozenset({"figure", "ad"})
"""Those whose first line holds no title: a picture's address, nothing."""
_DIRECTIVE = re.compile(
    r"\{(?P<name>[a-z][\w:-]*)\}[ \t]*(?P<title>[^\r\n]*)|(?P<plugin>ad)-(?!summary)[a-z]+\b"
)


def directive(info: str) -> tuple[str, str] | None:
    """The name and title of the directive that a fence opens, ``{note} Mind the gap``, or None.

    Those of Obsidian's Admonition plugin, ``ad-tip``, are called ``ad``.
    """
    mark = _DIRECTIVE.match(info)
    if mark is None:
        return None
    name = mark["name"] or mark["plugin"]
    return name, "" if name in NO_TITLE else mark["title"].strip()


_OPTION = re.compile(
    r"[ \t>]*(?::(?P<name>[\w-]+):|(?P<setting>title|collapse|icon|color):)[ \t]*(?P<value>[^\r\n]*)\r?\n?"
)
_BLANK = re.compile(r"[ \t>]*\r?\n")
_YAML_OPTIONS = re.compile(r"[ \t]*---[ \t]*\r?\n(?s:.*?)^[ \t]*---[ \t]*\r?$\n?", re.MULTILINE)


def directive_options(text: str, start: int, end: int) -> tuple[dict[str, str], int]:
    """The options that a directive's body ``text[start:end]`` begins with, ``:header-rows: 1``, and where its content
    begins."""
    block = _YAML_OPTIONS.match(text, start, end)
    if block is not None:
        pairs = (line.partition(":") for line in block[0].splitlines() if ":" in line)
        return {name.strip(): value.strip() for name, _, value in pairs}, block.end()
    options: dict[str, str] = {}
    while (option := _OPTION.match(text, start, end)) is not None:
        options[option["name"] or option["setting"]] = option["value"].strip()
        start = option.end()
    while (blank := _BLANK.match(text, start, end)) is not None:
        start = blank.end()
    return options, start


def _callout(opening: re.Match[str]) -> str:
    """The first line of a callout, as long as that of the admonition; blank where that has no title."""
    name = "tab" if opening["tab"] else "title"
    if not opening[name]:
        return " " * len(opening[0])

    def place(group: str) -> int:
        return opening.start(group) - opening.start()

    lead = ">[!t]" if name == "tab" else f"{'>':<{place('kind') - 2}}[!{opening['kind']}]"
    return f"{lead:<{place(name)}}{opening[name]}".ljust(len(opening[0]))
