"""Pages of a Logseq graph as Markdown: properties, tasks, and references to blocks, in the form that notes have."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import date
from pathlib import Path, PurePosixPath
from urllib.parse import quote, unquote

from agentic_rag.dates.months import MONTHS
from agentic_rag.notes.frontmatter import frontmatter_of

OWN = "logseq"
"""Folder of the program itself: settings, backups, what was deleted."""
_JOURNAL = re.compile(r"journals/(\d{4})[_-](\d\d)[_-](\d\d)\.\w+")
_PROPERTY = re.compile(r"\s*(?P<key>[^\s:()\[\]`#][^:\s()\[\]`]*):: *(?P<value>.*)")
_BULLET = re.compile(r"(?P<indent>\s*)(?P<mark>[-*]) (?:#{1,6} )?(?P<text>.*)")
_HIDDEN_PROPERTY = re.compile(
    r"id|collapsed|heading|background-color|created-at|updated-at|ls-type|hl-\S+|logseq\..+|card-\S+"
)
"""Properties by which the program steers a block."""
_FENCE = re.compile(r"\s*(?:[-*] )?(?:```|~~~)")
_STATES = {
    **dict.fromkeys(("TODO", "LATER", "WAITING", "WAIT"), " "),
    **dict.fromkeys(("NOW", "DOING", "IN-PROGRESS"), "/"),
    **dict.fromkeys(("CANCELED", "CANCELLED"), "-"),
    "DONE": "x",
}
_TASK = re.compile(rf"(?P<state>{'|'.join(_STATES)}) +(?:\[#[A-C]\] +)?")
_PLANNED_DATE = re.compile(r"\s*(SCHEDULED|DEADLINE): <(\d{4}-\d\d-\d\d)[^>]*>\s*")
_ID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_REFERENCE = re.compile(
    rf"\[(?P<label>[^\[\]]+)\]\(\(\((?:{_ID})\)\)\)|\{{\{{embed \(\((?P<embed>{_ID})\)\)\}}\}}|\(\((?P<id>{_ID})\)\)"
)
_EMBED = re.compile(r"\{\{embed (\[\[[^\[\]]+\]\])\}\}")
_PROGRAM = re.compile(r"\{\{(?:query|renderer|cloze)\b[^{}]*\}\}")
_SPACED_TAG = re.compile(r"#(\[\[[^\[\]]+\]\])")
_NAMES = ("tags", "alias")


def graph_of(folder: Path) -> Path | None:
    """The graph that a folder is, or lies in as ``pages`` and ``journals`` do; None if it is none."""
    return next((one for one in (folder, folder.parent) if (one / OWN / "config.edn").is_file()), None)


def journal_day(path: str) -> date | None:
    """The day of a journal, by its path in the graph; None for a page."""
    match = _JOURNAL.fullmatch(path)
    try:
        return date(*map(int, match.groups())) if match is not None else None
    except ValueError:
        return None


def page_name(path: str) -> str:
    """What the program calls a page, by its file: ``a___b`` and ``a%2Fb`` are a/b, a journal ``Mar 5th, 2024``."""
    day = journal_day(path)
    if day is None:
        return unquote(PurePosixPath(path).stem.replace("___", "/"))
    ordinal = "th" if day.day in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(day.day % 10, "th")
    return f"{MONTHS[day.month - 1][:3].capitalize()} {day.day}{ordinal}, {day.year}"


def page_address(graph: Path, path: str) -> str:
    """Opens a page in the program."""
    return f"logseq://graph/{quote(graph.name, safe='')}?page={quote(page_name(path), safe='')}"


def blocks_in(text: str) -> Iterator[tuple[str, str]]:
    """Id and text of each block of a page that others may refer to."""
    said = ""
    for line in text.splitlines():
        bullet, prop = _BULLET.match(line), _PROPERTY.fullmatch(line)
        if bullet is not None:
            said = _TASK.sub("", bullet["text"], count=1) if _TASK.match(bullet["text"]) else bullet["text"]
        elif prop is not None and prop["key"] == "id":
            yield prop["value"].strip(), said
        elif line.strip() and prop is None:
            said = f"{said} {line.strip()}"


def has_references(text: str) -> bool:
    """Whether a page shows blocks of other pages."""
    return _REFERENCE.search(text) is not None


def page_text(text: str, path: str, blocks: Mapping[str, str]) -> str:
    """A page as a note is written.

    Args:
        text: of the file.
        path: in the graph.
        blocks: texts that ``((…))`` refers to, by id.
    """
    lines = text.splitlines()
    values: dict[str, object] = {}
    while lines and (prop := _PROPERTY.fullmatch(lines[0])) is not None:
        lines.pop(0)
        if not _HIDDEN_PROPERTY.fullmatch(prop["key"]):
            values[prop["key"]] = _names(prop["value"]) if prop["key"] in _NAMES else prop["value"]
    name = page_name(path)
    if (day := journal_day(path)) is not None:
        values = {"title": day.isoformat(), "aliases": [name]} | values
    elif name != PurePosixPath(path).stem:
        values.setdefault("title", name)
    body = "\n".join(_lines(lines))
    # A block may refer to one that refers to a third; deeper ones are left as they are.
    for _ in range(2):
        body = _REFERENCE.sub(lambda match: _resolve_reference(match, blocks), body)
    body = _PROGRAM.sub("", _EMBED.sub(r"!\1", _SPACED_TAG.sub(r"\1", body)))
    return f"{frontmatter_of(values)}{body}\n"


def _lines(lines: list[str]) -> Iterator[str]:
    """Lines of blocks, their properties and dates behind their first line, where they are fields of the item."""
    block: list[str] = []
    is_code = is_drawer = False
    for line in lines:
        bullet, prop = None if is_code else _BULLET.match(line), _PROPERTY.fullmatch(line)
        is_code ^= _FENCE.match(line) is not None
        if bullet is not None:
            yield from block
            is_drawer = False
            task = _TASK.match(bullet["text"])
            said = f"[{_STATES[task['state']]}] {bullet['text'][task.end() :]}" if task else bullet["text"]
            block = [f"{bullet['indent']}- {said}"]
        elif not is_code and (is_drawer or line.strip() == ":LOGBOOK:"):
            is_drawer = line.strip() != ":END:"
        elif not is_code and block and (planned := _PLANNED_DATE.fullmatch(line)) is not None:
            block[0] += f" [{'due' if planned[1] == 'DEADLINE' else 'scheduled'}:: {planned[2]}]"
        elif is_code or prop is None:
            block.append(line)
        elif not _HIDDEN_PROPERTY.fullmatch(prop["key"]) and prop["value"]:
            own = f"{prop['key']}:: {prop['value']}"
            block = [f"{block[0]} [{own}]", *block[1:]] if block else [own]
    yield from block


def _resolve_reference(match: re.Match[str], blocks: Mapping[str, str]) -> str:
    return match["label"] or blocks.get(match["embed"] or match["id"], match[0])


def _names(value: str) -> list[str]:
    """Names of a property of names: ``[[a]], #b``."""
    return [
        name
        for one in value.split(",")
        if (name := one.strip().lstrip("#").removeprefix("[[").removesuffix("]]"))
    ]
