"""Markdown notes to documents: blocks with exact offsets, properties, headings, links, tags.

markdown-it finds the blocks; their line numbers are turned into code points of the text as it is.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, date, datetime, time
from functools import cache
from itertools import chain
from pathlib import PurePosixPath
from typing import Any

import regex
from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.token import Token

from agentic_rag.dates.names import date_in_name
from agentic_rag.domain import Block, BlockKind, Document, Link
from agentic_rag.domain.identity import aliases, names_in, unique_names
from agentic_rag.domain.json_values import Json
from agentic_rag.notes.admonitions import TEXT_DIRECTIVES, as_callouts, directive
from agentic_rag.notes.frontmatter import Frontmatter, read_frontmatter
from agentic_rag.notes.inline import InlineField, fields, hide_code, is_tag, tags
from agentic_rag.notes.links import markdown_links, wikilinks
from agentic_rag.notes.values import DATE_KEYS, metadata_date

MAX_FIELD_TEXT = 20_000
"""Code points of a note's Dataview fields that join its properties, which each of its chunks carries."""

_LINE_END = re.compile(r"\r\n?|\n")
_CALLOUT = re.compile(r"[ \t]{0,3}>[ \t>]*\[![^\]\r\n]+\]")
_MARKUP = regex.compile(r"\*\*|__|~~|==|(?<!\w)[*_](?=\S)|(?<=\S)[*_](?!\w)|`")
_HEADING_LINK = re.compile(r"!?\[\[([^\[\]]*)\]\]|!?\[([^\[\]]*)\]\([^()]*\)")
_BLOCK_ID = re.compile(r"[ \t]+\^[\w-]+[ \t]*$")
_SIGN = re.compile(r"[*_~=`\[^]")
"""What these begin with; most texts have none."""
_TASK = re.compile(r"[ \t>]*(?:[-*+]|\d{1,9}[.)])[ \t]+\[.\][ \t]")
_BANNER = re.compile(r"^==⚠.*$", re.MULTILINE)
_DRAWING = re.compile(r"^(?:%%\r?\n)?#{1,6} (?:Embedded Files|Element Links|Drawing)[ \t]*\r?$", re.MULTILINE)
_KINDS: dict[str, BlockKind] = {
    "heading_open": "heading",
    "bullet_list_open": "list",
    "ordered_list_open": "list",
    "fence": "code",
    "code_block": "code",
    "table_open": "table",
    "blockquote_open": "quote",
    "html_block": "html",
}


def parse_markdown(
    document_id: str, path: str, text: str, *, url: str | None = None, day: date | None = None
) -> Document:
    """Parse one note. Any text gives a document; what could not be read is told in ``warnings``.

    Args:
        document_id: Identity of the document.
        path: Path relative to the ingested root; its stem is the title unless a property says otherwise.
        text: Decoded text without BOM, line ends as in the file.
        url: Opens the note where it lives.
        day: Of a daily note, by its name; it counts before the properties, which may say when the file was made.
    """
    front = read_frontmatter(text)
    if "excalidraw-plugin" in front.values:
        text = _without_drawing(text)
    blocks, regions = _parse_body(text, front.end)
    masked = hide_code(text, regions)
    found = fields(text, masked)
    metadata, unread = _metadata(front, found)
    stem = unicodedata.normalize("NFC", PurePosixPath(path).stem)
    return Document(
        id=document_id,
        path=path,
        title=_title(front.values.get("title")) or stem,
        text=text,
        kind="markdown",
        blocks=(*([Block("properties", 0, front.end)] if front.end else []), *blocks),
        metadata=metadata,
        date=(
            datetime.combine(day, time.min, tzinfo=UTC)
            if day is not None
            else metadata_date(front.values)
            or metadata_date(_stated_dates(masked, found))
            or date_in_name(stem)
        ),
        aliases=aliases(front.values),
        tags=unique_names([*_property_tags(front.values), *tags(masked)]),
        links=front.links + _links(text, masked, regions, found),
        url=url,
        warnings=(*front.warnings, *unread),
    )


def _without_drawing(text: str) -> str:
    """A drawing's note up to the drawing's data, its banner blank: what remains keeps its offsets."""
    drawing = _DRAWING.search(text)
    return _BANNER.sub(
        lambda banner: " " * len(banner[0]), text if drawing is None else text[: drawing.start()]
    )


def parse_text(document_id: str, path: str, text: str, *, url: str | None = None) -> Document:
    """Parse a plain text file: paragraphs between blank lines, no markup."""
    stem = unicodedata.normalize("NFC", PurePosixPath(path).stem)
    return Document(
        id=document_id,
        path=path,
        title=stem,
        text=text,
        kind="text",
        blocks=paragraphs(text),
        date=date_in_name(stem),
        url=url,
    )


def paragraphs(text: str) -> tuple[Block, ...]:
    """Paragraph blocks of plain text, parted by blank lines."""
    starts = line_starts(text)
    blocks: list[Block] = []
    first: int | None = None
    for start, end in zip(starts, [*starts[1:], len(text)], strict=True):
        if text[start:end].strip():
            first = start if first is None else first
        elif first is not None:
            blocks += _block("paragraph", text, first, start, ())
            first = None
    if first is not None:
        blocks += _block("paragraph", text, first, len(text), ())
    return tuple(blocks)


def line_starts(text: str) -> list[int]:
    """Code-point offset of each line, ended by CRLF, CR or LF as markdown-it counts them."""
    starts = [0, *(match.end() for match in _LINE_END.finditer(text))]
    return starts[:-1] if len(starts) > 1 and starts[-1] == len(text) else starts


def plain(markup: str) -> str:
    """A heading or a card's first line as readable text: links by their display text, no emphasis, no block id."""
    if _SIGN.search(markup) is None:
        return " ".join(markup.split())
    shown = _HEADING_LINK.sub(_link_text, _BLOCK_ID.sub("", markup))
    return " ".join(_MARKUP.sub("", shown).split())


def _link_text(match: re.Match[str]) -> str:
    if match.group(1) is None:
        return match.group(2)
    address, pipe, alias = match.group(1).partition("|")
    return alias if pipe else address


def block_tokens(body: str) -> list[Token]:
    """Block tokens of a note's body; their ``map`` counts lines as ``line_starts`` does. A table has its rows alone."""
    state = StateCore(body, _parser(), {})
    state.tokens = _Tokens()
    _parser().core.process(state)
    return state.tokens


class _Tokens(list[Token]):
    """Keeps of each token what is read: a row of two cells takes a twelfth of the memory of markdown-it's nine tokens."""

    def __init__(self) -> None:
        super().__init__()
        self._is_in_table = False

    def append(self, token: Token) -> None:
        if token.type in ("table_open", "table_close"):
            self._is_in_table = token.type == "table_open"
        elif (self._is_in_table and token.type != "tr_open") or (
            token.type in _CLOSINGS and token.level == 0
        ):
            return
        token.attrs = token.meta = _NOTHING
        super().append(token)


_CLOSINGS = ("paragraph_close", "heading_close")
_NOTHING: dict[str, Any] = {}


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"maxNesting": 60}).enable("table").disable("reference")
    # Only blocks: inline tokens carry no offsets, so links and tags are read from the text itself.
    parser.core.ruler.enableOnly(["normalize", "block"])
    return parser


def _parse_body(text: str, begin: int) -> tuple[list[Block], list[tuple[int, int]]]:
    """Blocks, and the spans that hold running text."""
    body = as_callouts(text[begin:])
    text = text[:begin] + body
    offsets = [begin + start for start in line_starts(body)]
    offsets.append(len(text))
    blocks: list[Block] = []
    regions: list[tuple[int, int]] = []
    trail: list[tuple[int, str]] = []
    tokens = block_tokens(body)
    end = begin
    for index, token in enumerate(tokens):
        if token.map is None or token.nesting < 0:
            continue
        first, last = (offsets[min(line, len(offsets) - 1)] for line in token.map)
        if token.type in ("inline", "tr_open") or _is_text_directive(token):
            _add_region(regions, first, last)
        if token.level == 0:
            if token.type == "heading_open":
                trail = [part for part in trail if part[0] < int(token.tag[1])]
                trail.append((int(token.tag[1]), plain(tokens[index + 1].content)))
            path = tuple(title for _, title in trail if title)
            blocks += _block("paragraph", text, end, first, path)
            blocks += _block(_kind(token, text, first), text, first, last, path)
            end = max(end, last)
    blocks += _block("paragraph", text, end, len(text), tuple(title for _, title in trail if title))
    return blocks, regions


def _add_region(regions: list[tuple[int, int]], start: int, end: int) -> None:
    """Keep the spans apart and in order."""
    if regions and start < regions[-1][1]:
        start, end = regions[-1][0], max(end, regions.pop()[1])
    regions.append((start, end))


def _kind(token: Token, text: str, start: int) -> BlockKind:
    if token.type == "blockquote_open" and _CALLOUT.match(text, start):
        return "callout"
    if _is_text_directive(token):
        return "paragraph"
    return _KINDS.get(token.type, "paragraph")


def _is_text_directive(token: Token) -> bool:
    return token.type == "fence" and (directive(token.info) or ("",))[0] in TEXT_DIRECTIVES


def _block(kind: BlockKind, text: str, start: int, end: int, path: tuple[str, ...]) -> list[Block]:
    """The block of text[start:end] without the white space behind it; none where nothing is left."""
    end = start + len(text[start:end].rstrip())
    return [Block(kind, start, end, path)] if end > start else []


def _metadata(front: Frontmatter, inline_fields: Iterable[InlineField]) -> tuple[Json, tuple[str, ...]]:
    """Properties, then Dataview fields; a name given several times holds the list of its values; and a warning."""
    metadata = dict(front.values)
    length = 0
    for field in inline_fields:
        length += len(field.key) + field.end - field.start
        if length > MAX_FIELD_TEXT:
            told = f"its Dataview fields hold more than {MAX_FIELD_TEXT:,} characters: from {field.key!r} at character {field.start:,} on they are text, not properties"
            return metadata, (told,)
        if field.key not in metadata or metadata[field.key] is None:
            metadata[field.key] = field.value
            continue
        present = metadata[field.key]
        values = list(present) if isinstance(present, list) else [present]
        if field.value not in values:
            metadata[field.key] = [*values, field.value]
    return metadata, ()


def _stated_dates(masked_text: str, inline_fields: Iterable[InlineField]) -> dict[str, list[Any]]:
    """Fields that date the note; not those of its tasks, as ``- [ ] Water it [start:: 2024-05-01]`` dates the task."""
    dates: dict[str, list[Any]] = {}
    for field in inline_fields:
        key = field.key.casefold()
        if key in DATE_KEYS and not _TASK.match(masked_text, masked_text.rfind("\n", 0, field.start) + 1):
            dates.setdefault(key, []).append(field.value)
    return dates


def _links(
    text: str, masked_text: str, regions: list[tuple[int, int]], inline_fields: list[InlineField]
) -> tuple[Link, ...]:
    links: list[Link] = []
    starts = [field.start for field in inline_fields]
    for start, end in regions:
        if "[" not in masked_text[start:end]:
            continue
        written = chain(
            wikilinks(text, start, end, masked_text=masked_text),
            markdown_links(text, start, end, masked_text=masked_text),
        )
        links += [_under_field(link, inline_fields, starts) for link in written]
    return tuple(sorted(links, key=lambda link: (link.start, link.end)))


def _under_field(link: Link, inline_fields: list[InlineField], starts: list[int]) -> Link:
    index = bisect_right(starts, link.start) - 1
    if index < 0 or link.end > inline_fields[index].end:
        return link
    return replace(link, relation=inline_fields[index].key)


def _title(value: Any) -> str | None:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    return " ".join(str(value).split()) or None


def _property_tags(values: Mapping[str, Any]) -> list[str]:
    names = (name.lstrip("#").strip("/") for name in names_in(values, ("tags", "tag"), r"[,\s]+"))
    return [name for name in names if is_tag(name)]
