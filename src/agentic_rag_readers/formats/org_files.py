"""Org files as Markdown: headings, tasks with their dates, properties, tags, links, blocks and tables."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import PurePosixPath

from agentic_rag.ingest.files.formats import TextFormat
from agentic_rag.notes.frontmatter import frontmatter_of
from agentic_rag_readers.formats.markdown_text import subscript, superscript, with_note

_KEYWORD = re.compile(r"#\+(?P<key>[A-Za-z_]+):\s*(?P<value>.*)")
_OF_FILE = ("title", "date", "author")
_HEADING = re.compile(r"(?P<stars>\*+)\s+(?P<title>.*?)(?:\s+:(?P<tags>[\w@#%:]+):)?\s*")
_PRIORITY = re.compile(r"\[#[A-Za-z0-9]\]\s*")
_DRAWER = re.compile(r"\s*:(?P<name>[\w-]+):\s*")
_PROPERTY = re.compile(r"\s*:(?P<key>[\w+-]+):\s+(?P<value>\S.*?)\s*")
_PLANNING = re.compile(r"(SCHEDULED|DEADLINE|CLOSED):\s*[<\[]([^>\]]+)[>\]]")
_BLOCK = re.compile(r"(?P<indent>\s*)#\+BEGIN_(?P<kind>\w+)\s*(?P<language>[\w+-]*).*", re.IGNORECASE)
_END = re.compile(r"\s*#\+END_(?P<kind>\w+)\s*", re.IGNORECASE)
_ESCAPED_LINE = re.compile(r"^(\s*),(?=[*#,])")
_TABLE, _RULE = re.compile(r"\s*\|"), re.compile(r"\s*\|[-+|]+\s*")
_MOMENT = re.compile(
    r"[<\[](\d{4}-\d\d-\d\d)(?: [^\W\d]+\.?)?(?: (\d{1,2}:\d\d)(?:-\d{1,2}:\d\d)?)?(?: [.+-]+\d+[hdwmy]\S*)*[>\]]"
)
_LINK = re.compile(r"\[\[(?P<target>[^\[\]]+)\](?:\[(?P<text>[^\[\]]+)\])?\]")
_VERBATIM = re.compile(
    r"(?<![\w*=~/])(?P<mark>[*=~])(?=\S)(?P<text>(?:(?!(?P=mark)).)*)(?<=\S)(?P=mark)(?![\w*=~/])"
)
_INLINE_NOTE = re.compile(r"\[fn:[\w-]*:(?P<note>(?:[^\[\]]|\[\[[^\[\]]*\]\]|\[[^\[\]]*\])*+)\]")
_NOTE = re.compile(r"\[fn:(?P<label>[\w-]+)\]")
_NOTE_TEXT = re.compile(r"\[\^[\w-]+\](?=\s)")
_CAPTION = re.compile(r"\s*#\+CAPTION(?:\[[^\]]*\])?:\s*(?P<text>\S.*)", re.IGNORECASE)
_LEVEL = re.compile(
    r"(?P<whole>\\[(\[].{1,300}?\\[)\]]|\$[^$]{1,300}\$|`[^`]{1,300}`)|(?<=\S)(?P<sign>[\^_])\{(?P<text>[^{}\\]{1,100})\}"
)
"""A power or an index, outside formulas and code."""
_LINE_BREAK = re.compile(r"\\\\\s*$")
_ITEM = re.compile(
    r"(?P<lead>\s*(?:[-+]|\d+[.)])\s+)(?:\[(?P<box>[ Xx-])\]\s+)?(?:(?P<term>\S.*?)\s+::\s+)?(?P<rest>.*)"
)
_FIELDS = {"SCHEDULED": "scheduled", "DEADLINE": "due", "CLOSED": "closed"}
_HIDDEN_PROPERTIES = frozenset({"id", "custom_id", "visibility", "roam_aliases"})
_OPEN, _CLOSED_STATES = (
    ("TODO", "NEXT", "STARTED", "WAITING", "WAIT", "HOLD"),
    ("DONE", "CANCELED", "CANCELLED"),
)
_BOXES = {None: "", " ": "[ ] ", "X": "[x] ", "x": "[x] ", "-": "[/] "}
_QUOTE_BLOCKS = frozenset({"quote", "verse"})
_CODE = frozenset({"src", "example", "export"})


def org_text(text: str) -> str:
    """An Org file as a note is written."""
    lines = text.splitlines()
    cuts = [n for n, line in enumerate(lines) if _HEADING.fullmatch(line)] + [len(lines)]
    values, states = _settings(lines)
    above = _properties(lines[: cuts[0]])
    values |= {key: value for key, value in above if key.lower() not in _HIDDEN_PROPERTIES}
    for key, value in above:
        if key.lower() == "roam_aliases":
            values["aliases"] = [quoted or word for quoted, word in re.findall(r'"([^"]+)"|(\S+)', value)]
    parts = [*_body(lines[: cuts[0]], "")]
    for start, end in pairwise(cuts):
        parts += _section(lines[start:end], lines[end] if end < len(lines) else "", states)
    return frontmatter_of(values) + "\n".join(parts) + "\n"


def _settings(lines: list[str]) -> tuple[dict[str, object], dict[str, str]]:
    """Properties of the file, and the words that are states of tasks, each with its mark."""
    states = (
        dict.fromkeys(_OPEN, " ") | dict.fromkeys(_CLOSED_STATES, "x") | {"CANCELED": "-", "CANCELLED": "-"}
    )
    values: dict[str, object] = {}
    for line in lines:
        if (keyword := _KEYWORD.fullmatch(line.strip())) is None:
            continue
        key, value = keyword["key"].lower(), keyword["value"].strip()
        if key in ("todo", "seq_todo", "typ_todo"):
            before, _, after = re.sub(r"\([^)]*\)", "", value).partition("|")
            states |= dict.fromkeys(before.split(), " ") | dict.fromkeys(after.split(), "x")
        elif key == "filetags":
            values["tags"] = [tag for tag in re.split(r"[:\s]+", value) if tag]
        elif key in _OF_FILE and value:
            values[key] = _inline(value)
    return values, states


def _section(lines: list[str], following: str, states: dict[str, str]) -> Iterator[str]:
    """A heading and what is under it; with a state of a task, it is an item, below a heading where others are under it."""
    heading = _HEADING.fullmatch(lines[0])
    if heading is None:
        return
    level, (word, _, rest) = len(heading["stars"]), heading["title"].partition(" ")
    state = states.get(word)
    title = _inline(_PRIORITY.sub("", rest if state is not None else heading["title"], count=1))
    tags = " ".join(f"#{tag}" for tag in (heading["tags"] or "").split(":") if tag)
    fields = [
        f"{_FIELDS[kind]}:: {when[:10]}" for line in lines[1:3] for kind, when in _PLANNING.findall(line)
    ]
    fields += [
        f"{key.lower()}:: {value}"
        for key, value in _properties(lines[1:])
        if key.lower() not in _HIDDEN_PROPERTIES
    ]
    is_leaf = len(following) - len(following.lstrip("*")) <= level
    if state is None or not is_leaf:
        yield from ("", f"{'#' * min(level, 6)} {title}", "")
    if state is not None:
        yield " ".join(filter(None, [f"- [{state}] {title}", tags, *(f"[{field}]" for field in fields)]))
    else:
        yield from [tags] * bool(tags)
        yield from fields
    body = [*_body([line for line in lines[1:] if not _PLANNING.search(line)], "" if state is None else "  ")]
    # A line right below an item would be a part of it.
    yield from [""] * (state is not None and any(map(str.strip, body)))
    yield from body


def _properties(lines: list[str]) -> list[tuple[str, str]]:
    """Keys and values of the first drawer of properties."""
    inside = False
    found = []
    for line in lines:
        drawer = _DRAWER.fullmatch(line)
        if drawer is not None and drawer["name"].upper() in ("PROPERTIES", "END"):
            if inside:
                break
            inside = True
        elif inside and (prop := _PROPERTY.fullmatch(line)) is not None:
            found.append((prop["key"], _inline(prop["value"])))
    return found


def _body(lines: list[str], indent: str) -> Iterator[str]:
    """Lines of text in Markdown, behind an indentation; without drawers, comments and settings."""
    kind, is_drawer, is_table = "", False, False
    last = max((n for n, line in enumerate(lines) if line.strip().upper() == ":END:"), default=-1)
    for number, line in enumerate(lines):
        block, end, drawer = _BLOCK.fullmatch(line), _END.fullmatch(line), _DRAWER.fullmatch(line)
        if kind and end is not None:
            yield f"{indent}```" if kind in _CODE else ""
            kind = ""
        elif kind in _CODE:
            yield indent + _ESCAPED_LINE.sub(r"\1", line)
        elif block is not None and not kind:
            kind = block["kind"].lower()
            language = block["language"] if kind == "src" else ""
            yield from [f"{indent}```{language}"] * (kind in _CODE)
        elif drawer is not None and number <= last:
            is_drawer = drawer["name"].upper() != "END"
        elif (caption := _CAPTION.fullmatch(line)) is not None and not is_drawer and kind != "comment":
            yield from ("", f"{indent}{_inline(caption['text'])}", "")
        elif is_drawer or kind == "comment" or re.match(r"\s*#(?:\+|\s|$)", line):
            continue
        elif _TABLE.match(line):
            rows = [] if _RULE.fullmatch(line) else [_inline(line.strip())]
            if rows and not is_table:
                is_table = True
                rows = ["", *rows, "|" + " --- |" * (line.strip().strip("|").count("|") + 1)]
            yield from (f"{indent}{row}" for row in rows)
            continue
        else:
            yield from [""] * is_table
            yield f"{indent}{'> ' if kind in _QUOTE_BLOCKS else ''}{_line(line)}".rstrip()
        is_table = False


def _line(line: str) -> str:
    item = _ITEM.fullmatch(line)
    if item is None:
        written = _inline(line)
        note = _NOTE_TEXT.match(written)
        return written if note is None else f"{note[0]}:{written[note.end() :]}"
    term = f"**{_inline(item['term'])}**: " if item["term"] else ""
    return f"{item['lead']}{_BOXES[item['box']]}{term}{_inline(item['rest'])}"


def _inline(text: str) -> str:
    """Emphasis, levels, notes, days and links as in Markdown."""
    text = _LINE_BREAK.sub("", text)
    text = _VERBATIM.sub(lambda one: f"**{one['text']}**" if one["mark"] == "*" else f"`{one['text']}`", text)
    text = _LEVEL.sub(_level_text, text)
    text = _MOMENT.sub(lambda when: " ".join(filter(None, when.groups())), text)
    text = _LINK.sub(_link_text, text)
    before, *more = _INLINE_NOTE.split(text)
    for note, after in zip(more[::2], more[1::2], strict=True):
        before = with_note(before, note) + after
    return _NOTE.sub(r"[^\g<label>]", before)


def _level_text(level: re.Match[str]) -> str:
    if level["whole"] is not None:
        return level["whole"]
    return superscript(level["text"]) if level["sign"] == "^" else subscript(level["text"])


def _link_text(link: re.Match[str]) -> str:
    target, text = link["target"], link["text"]
    if target.startswith("id:"):
        return f"[[{text}]]" if text else target
    if "://" in target or target.startswith("mailto:"):
        return f"[{text}]({target})" if text else f"<{target}>"
    path = target.removeprefix("file:").partition("::")[0]
    if path.endswith(".org"):
        stem = PurePosixPath(path).stem
        return f"[[{stem}|{text}]]" if text else f"[[{stem}]]"
    if path != target:
        return f"[{text or PurePosixPath(path).name}]({path.replace(' ', '%20')})"
    return text or target.lstrip("*#")


ORG = TextFormat((".org",), org_text)
