"""The units of a note: the smallest pieces that can answer, each with what gives it meaning.

A unit is a sentence, a list item with the items above it, a step, a task with its state, a table row with its column
names, a property, a field, a callout's text under its title, a definition, a code block. Ingest takes a note's row of
the catalogue from them, answering scores and quotes them. Pure; linear in the text.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, islice, takewhile, zip_longest
from textwrap import dedent
from typing import Any, Literal

from markdown_it.token import Token

from agentic_rag.dates.months import MONTH
from agentic_rag.notes.admonitions import TEXT_DIRECTIVES, as_callouts, directive, directive_options
from agentic_rag.notes.frontmatter import Frontmatter, properties, read_frontmatter
from agentic_rag.notes.inline import InlineField, fields, hide_code, mask_spans
from agentic_rag.notes.markdown import block_tokens, line_starts, plain
from agentic_rag.notes.readable import comments, readable
from agentic_rag.notes.tables import HTML_TABLE, TableRow, csv_rows, html_rows, list_table_rows
from agentic_rag.text.sentences import split_lines, split_sentences

UnitKind = Literal["sentence", "item", "step", "task", "row", "property", "code"]
LIST_KINDS: frozenset[UnitKind] = frozenset({"item", "step", "task"})
"""Kinds that stand in a list."""
MAX_ITEM = 400
"""Code points up to which an item of a list is one unit; a longer one is divided into sentences."""
MAX_TITLE = 60
"""Code points of a line without a full stop that stands as a title over the list below it."""
MAX_SHOWN_FIELDS = 50
"""Fields of one sentence or item that are named in its text; the others are shown as they are written."""
MAX_UNITS = 20_000
"""Units of one note; what comes after them is not read."""
STATES = {" ": "☐", "x": "☑", "X": "☑", "/": "◐", "-": "☒"}
"""What is shown for the mark in a task's box; other marks are shown as they are written."""
COLONS = (":", "：")
"""What a line ends in that introduces the block behind it."""
QUERY_LANGUAGES = frozenset({"dataview", "dataviewjs", "tasks", "base", "query", "button", "mermaid", "compressed-json", "json-compressed", "ad-summary", "tracker", "kanban"})  # fmt: skip
"""Languages of code blocks that a plugin runs: programs of the vault, which state nothing."""


@dataclass(frozen=True, slots=True)
class Unit:
    """A piece of a note that can answer; ``text[start:end]`` of the document is how it is written."""

    kind: UnitKind
    start: int
    end: int
    text: str
    """As it is read, without markup and without its context. Of a property its value."""
    block: int
    """Number of its paragraph, list, table or run of properties in the note: its neighbours have the same."""
    headings: tuple[str, ...] = ()
    """Headings above it, outermost first; lines in bold that stand alone and callout titles count as headings."""
    parents: tuple[str, ...] = ()
    """Items above a list item, outermost first; of a sentence the label in bold that its paragraph begins with."""
    lead: str | None = None
    """The question, or line with a colon, that its block follows; it gives meaning and is not shown."""
    key: str | None = None
    """Of a property or a definition, the name that it gives to its value."""
    value: Any = None
    """Of a property, as JSON."""
    number: int | None = None
    """Of a step."""
    state: str | None = None
    """Of a task, the mark in its box: a space, ``x``, ``/``, ``-`` …"""
    columns: tuple[tuple[str, str], ...] = ()
    """Of a table row, column name and cell, those with a cell."""
    fields: tuple[InlineField, ...] = ()
    """Named values inside it (``[due:: 2024-05-01]``)."""
    depth: int = 0
    """Of a list item, number of items above it."""
    failure: bool = False
    """Whether it stands in a failure callout, which records what is wrong."""
    footnote: str = ""
    """Text of the footnotes that it refers to."""

    def display_text(self) -> str:
        """The unit with what gives it meaning, on one line: ``Waffles: 300 ml of milk``, ``☐ call plumber``."""
        own = self.own()
        path = ": ".join([*(parent.rstrip(":： ") for parent in self.parents), own])
        if self.state is not None:
            path = f"{STATES.get(self.state, f'[{self.state}]')} {path}"
        return f"✗ {path}" if self.failure else path

    def own(self) -> str:
        """The unit without the items above it."""
        if self.columns:
            said = " · ".join(f"{name}: {cell}" if name else cell for name, cell in self.columns)
        else:
            said = f"{self.key}: {self.text}" if self.key else self.text
        return f"{said} ({self.footnote})" if self.footnote else said


@dataclass(frozen=True)
class Reading:
    """A note's units in order."""

    units: tuple[Unit, ...]
    title: str | None = None
    """Its first heading of level 1, where it begins with one."""
    empty: frozenset[str] = frozenset()
    """Names of the properties and fields that the note has without a value."""
    headings: Mapping[tuple[str, ...], tuple[int, int]] = field(default_factory=dict, compare=False)
    """The span of each heading, by its path."""

    @cached_property
    def properties(self) -> tuple[Unit, ...]:
        """What the note states of itself as a whole."""
        return tuple(unit for unit in self.units if unit.kind == "property" and not unit.headings)

    @cached_property
    def items(self) -> Mapping[str, tuple[int, int]]:
        """The span of each item of its lists, by its text."""
        return {unit.text: (unit.start, unit.end) for unit in self.units if unit.kind in LIST_KINDS}

    def beside(self, unit: Unit) -> list[Unit]:
        """The units of the paragraph, list or table that a unit stands in, itself among them, in order."""
        return [one for one in self.units if one.block == unit.block]

    def under(self, headings: tuple[str, ...]) -> list[Unit]:
        """The units below these headings, in order."""
        return [unit for unit in self.units if unit.headings[: len(headings)] == headings]


def read_units(text: str, *, start: int = 0, headings: tuple[str, ...] = ()) -> Reading:
    """The units of a Markdown text.

    Comments, templates' placeholders, programs of plugins, pictures, lines of tags and
    bare headings are no units.

    Args:
        text: a note, or a part of one from the beginning of a line on.
        start: offset of the part in the note; added to every offset.
        headings: above the part's beginning.
    """
    front = read_frontmatter(text) if start == 0 else Frontmatter()
    masked = mask_spans(text, _left_out(text, front), " ")
    reader = _Reader(text, masked, front.end, headings)
    found = list(islice(chain(_of_properties(text, front), reader.units()), MAX_UNITS))
    if start:
        found = [_move_unit(unit, start) for unit in found]
    headings_at = {path: (a + start, b + start) for path, (a, b) in reader.places.items()}
    return Reading(tuple(found), reader.title, _without_value(masked, front), headings_at)


_OPENING_HEADING = re.compile(r"\s*#{1,6}[ \t]+(?P<title>[^\r\n]*)")


def headings_above(text: str, path: tuple[str, ...]) -> tuple[str, ...]:
    """The headings above a passage, of the path that it is stored with: without the one that it begins with, and those below
    that."""
    opening = _OPENING_HEADING.match(text)
    title = None if opening is None else plain(opening["title"])
    return path[: path.index(title)] if title in path else path


def _without_value(masked_text: str, front: Frontmatter) -> frozenset[str]:
    names = {key for key, value in front.values.items() if not _value_text(value)}
    return frozenset(names | {match["key"].strip() for match in _EMPTY_LINE.finditer(masked_text, front.end)})


_EMPTY_LINE = re.compile(
    r"^[ \t>]*(?:[-*+][ \t]+)?(?:\*\*)?(?P<key>[^\s:：*][^:：*\r\n]{0,40})(?:\*\*)?::(?:\*\*)?[ \t]*\r?$",
    re.MULTILINE,
)


def read_plain(text: str, *, start: int = 0, headings: tuple[str, ...] = ()) -> Reading:
    """The sentences of a text without markup, and its lines that stand for themselves."""
    found = []
    block = counted = 0
    for a, b in split_lines(text):
        block, counted = block + text.count("\n\n", counted, a), a
        shown = " ".join(text[a:b].split())
        if any(map(str.isalnum, shown)):
            found.append(Unit("sentence", start + a, start + b, shown, block, headings))
    return Reading(tuple(found[:MAX_UNITS]))


def _move_unit(unit: Unit, by: int) -> Unit:
    moved = tuple(replace(one, start=one.start + by, end=one.end + by) for one in unit.fields)
    return replace(unit, start=unit.start + by, end=unit.end + by, fields=moved)


_TEXT_ELEMENTS = re.compile(r"^#{1,6} (?:Excalidraw Data|Text Elements)[ \t]*\r?$", re.MULTILINE)
_PLACEHOLDER = re.compile(r"<%(?:(?!<%).)*?%>|\{\{[^{}\r\n]{1,80}\}\}")


def _left_out(text: str, front: Frontmatter) -> list[tuple[int, int]]:
    """Spans of comments and of headings that the drawing plugin writes, in order, apart."""
    spans = [span for span in comments(text) if span[0] >= front.end]
    if "excalidraw-plugin" in front.values:
        spans += [heading.span() for heading in _TEXT_ELEMENTS.finditer(text)]
    apart: list[tuple[int, int]] = []
    for a, b in sorted(spans):
        a = max(a, apart[-1][1]) if apart else a
        if a < b:
            apart.append((a, b))
    return apart


RECORD_KEYS = frozenset({"created", "modified", "updated"})
"""Properties in which programs record when a note was written: they state nothing of what it is about."""
_SILENT_KEYS = re.compile(
    r"alias(?:es)?|cssclass(?:es)?|publish|position|layout|dg-[\w-]+|dg[a-z]*(?:frontmatter|backlinks|link|home|graph)",
    re.IGNORECASE,
)
"""Properties that steer the program, or a site that is made of the notes, and state nothing of their note."""


def _of_properties(text: str, front: Frontmatter) -> Iterator[Unit]:
    if "excalidraw-plugin" in front.values or "kanban-plugin" in front.values:
        return
    for prop in properties(text, front):
        written = _value_text(prop.value)
        if written and not _SILENT_KEYS.fullmatch(prop.key) and not _PLACEHOLDER.search(written):
            yield Unit("property", prop.start, prop.end, written, 0, key=prop.key, value=prop.value)


def _value_text(value: Any) -> str:
    """A property's value as it is read; empty for none."""
    if value is None or value == "" or value == []:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return ", ".join(filter(None, map(_value_text, value)))
    if isinstance(value, dict):
        return ", ".join(
            f"{key}: {_value_text(member)}" for key, member in value.items() if _value_text(member)
        )
    return readable(str(value))


@dataclass(slots=True)
class _Frame:
    """An open list, item or quote around the token that is read."""

    kind: str
    number: int | None = None
    label: str | None = None
    """Text of the item, once it is read."""
    is_callout: bool = False
    failure: bool = False
    title: str | None = None
    block: int = 0


_CALLOUT = re.compile(r"[ \t>]*\[!(?P<kind>[^\]\r\n]+)\][+-]?[ \t]*(?P<title>[^\r\n]*)")
_FAILURES = frozenset({"failure", "fail", "missing"})
_TASK = re.compile(r"\[(?P<state>.)\][ \t]+")
_MARKERS = re.compile(r"[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*")
_AFTER_DAY = re.compile(
    rf"(?:(?:bis|und|[-–])\s+)?(?:\d\d?\.\s*)?{MONTH}",
    re.IGNORECASE,
)
"""What stands behind a number that is a day of the month, ``12. Juli``, and no step."""
_SPACES = re.compile(r"[ \t]*")
_BOLD_LINE = re.compile(r"^(?:\*\*|__)(?P<title>(?:(?!\*\*|__).){1,80})(?:\*\*|__)[:：]?$")
_LABEL = re.compile(
    r"(?P<mark>\*{2,3}|_{2,3})(?P<label>(?!\s)[^*_.\n:：!?]{1,60})(?:\.(?P=mark)|(?P=mark)\.)[ \t]+(?=\S)"
)
"""A label that a paragraph begins with: ``***Keen Smell***. The troll …``, ``**Note.** …``."""
MAX_LABEL_WORDS = 3
"""A longer one is a sentence of its own, which sums up those behind it."""
_BOLD_KEY = re.compile(
    r"^(?:\*\*|__)(?P<key>[^\W\d_][^*_.,;:：!?\n]{0,40})(?:\*\*|__)[ \t]+(?P<value>[^\s*_–—=(][^\n]{0,150})$",
    re.MULTILINE,
)
"""A whole line of a name in bold and its value, ``**Armor Class** 15``, and how many make a note a sheet of values."""
SHEET = 3
_FOOTNOTE = re.compile(r"^[ \t]{0,3}\[\^(?P<label>[^\[\]\s]+)\]:[ \t]*(?P<text>(?s:.*?))(?=^[ \t]{0,3}\[\^[^\[\]\s]+\]:|\Z|\r?\n[ \t]*\r?\n)", re.MULTILINE)  # fmt: skip
_FOOTNOTE_MARK = re.compile(r"\[\^(?P<label>[^\[\]\s]+)\](?!:)")
_INLINE_NOTE = re.compile(r"\^\[(?P<text>[^\[\]]*(?:\[\[[^\[\]]*\]\][^\[\]]*)*)\]")
_CONTAINER = re.compile(
    r"^[ \t>]*:{3,}(?:[ \t]*:{3,})*[ \t]*(?:[a-z][\w-]*)?(?:[ \t]*\{[^{}\r\n]*\})?", re.MULTILINE
)
_TO_HEADING = re.compile(r"(?:\*\*)?(?:\[[^\[\]]*\]\(#[^()\s]*\)|\[\[#[^\[\]]*\]\])(?:\*\*)?")
"""An entry of a table of contents."""
_BEHIND_LIST = re.compile(
    r"\r?\n(?=[^\W\d_][^\s:：|]{0,20}(?: [^\s:：|]{1,20})?[:：](?:[ \t]+\S|[\u4e00-\u9fff\d]))"
)
"""Before a line of a label and its value, ``Budget: 60``, that is not indented."""
_TAG_LINE = re.compile(r"^(?:#[^\s#]+[\s,，]*)+$")
_NOT_SHOWN = re.compile(r"^(?:https?://\S+|[-*_=\s|:]+|\^[\w-]+)$")
_DEFINITION = re.compile(
    r"^(?P<key>[^:：\n]{1,60}?)(?P<sign>::|[:：](?=\s|[^\s\d/\\:：])|(?<=[^\s\d])：(?=\d))\s*(?P<value>\S.*)$",
    re.DOTALL,
)
_EMPTY_FIELD = re.compile(r"^\S[^:\n]{0,60}::$")
_POINTS_BACK = re.compile(
    r"(?:It|They|He|She|This|These|That|Those|Its|Their|His|Her|Es|Sie|Er)\b|[它他她这那其]"
)
"""Beginning of a sentence that speaks of what the one before it names."""
_OF_PERSON = re.compile(r"(?:He|She|His|Her|Er)\b|[他她]")
_OF_WRITER = re.compile(r"(?:I|We|My|Our|Ich|Wir|Mein\w*|Unser\w*)\b[^A-Z]*$|[我咱]")
"""A sentence of the writer that names nobody else."""
FAR_BACK = 6
"""Sentences that are looked through for the one that a pronoun speaks of."""
_CARD = re.compile(r"^[ \t]*\?{1,2}[ \t]*\r?$", re.MULTILINE)
_CELL = re.compile(r"(?<!\\)\|(?![^\[\]]*\]\])")


TABLE_DIRECTIVES = {"list-table": list_table_rows, "csv-table": csv_rows}
READ_DIRECTIVES = TEXT_DIRECTIVES | TABLE_DIRECTIVES.keys()
"""Those that are read as text or as a table; others are code."""


class _Reader:
    """Walks the block tokens of a note once; ``units`` yields what it meets."""

    def __init__(self, text: str, masked_text: str, begin: int, headings: tuple[str, ...]) -> None:
        self._text = text
        body = as_callouts(masked_text[begin:])
        self._masked_text = masked_text[:begin] + body
        self._begin = begin
        self._lines = [begin + start for start in line_starts(body)] + [len(text)]
        self._tokens: list[Token] = block_tokens(body) if body.strip() else []
        if ":::" in body:
            self._masked_text = mask_spans(self._masked_text, self._containers(), " ")
        self._base = headings
        self._trail: list[tuple[int, str]] = []
        self._bold: str | None = None
        """The line in bold that stands as a heading above what follows."""
        self._lead: str | None = None
        """The question or line with a colon that the next block belongs to."""
        self._last_sentence = (-1, "")
        """The block of the paragraph that was read last, and its last sentence."""
        self._frames: list[_Frame] = []
        self._block = 0
        self.title: str | None = None
        self.places: dict[tuple[str, ...], tuple[int, int]] = {}

    def units(self) -> Iterator[Unit]:
        """All units in order."""
        rows: list[list[str]] = []
        for number, token in enumerate(self._tokens):
            if token.type == "heading_open":
                self._open_heading(int(token.tag[1]), plain(self._tokens[number + 1].content))
                self.places.setdefault(self._headings(), self._span(token))
            elif token.type in ("bullet_list_open", "ordered_list_open"):
                if not self._frames or self._frames[-1].kind not in ("item",):
                    self._block += 1
                self._frames.append(_Frame(token.type.removesuffix("_list_open"), block=self._block))
            elif token.type == "list_item_open":
                count = int(token.info) if token.info.isdigit() else None
                self._frames.append(_Frame("item", count if self._frames[-1].kind == "ordered" else None))
            elif token.type == "blockquote_open":
                self._block += 1
                self._frames.append(_Frame("quote"))
            elif token.type in (
                "bullet_list_close",
                "ordered_list_close",
                "list_item_close",
                "blockquote_close",
            ):
                closed = self._frames.pop()
                if closed.kind in ("bullet", "ordered") and not self._in_item():
                    self._lead = None
                if closed.kind == "quote":
                    self._lead = None
            elif token.type in ("fence", "code_block"):
                yield from self._code(token)
            elif token.type == "html_block":
                yield from self._html(*self._span(token))
            elif token.type == "table_open":
                self._block, rows = self._block + 1, []
            elif token.type == "tr_open":
                yield from self._row(token, rows)
            elif token.type == "table_close":
                self._lead = None
            elif token.type == "inline" and self._tokens[number - 1].type == "paragraph_open":
                yield from self._paragraph(*self._span(token))

    def _span(self, token: Token) -> tuple[int, int]:
        first, last = token.map or (0, 0)
        return tuple(self._lines[min(line, len(self._lines) - 1)] for line in (first, last))  # type: ignore[return-value]

    def _containers(self) -> list[tuple[int, int]]:
        """Spans of the lines that open and close a container (``::: warning``), without the title behind its kind."""
        regions = self._text_regions()
        return [line.span() for span in regions for line in _CONTAINER.finditer(self._masked_text, *span)]

    def _text_regions(self) -> list[tuple[int, int]]:
        """Spans of the note that are text and no code, in order, apart."""
        regions: list[tuple[int, int]] = []
        for token in self._tokens:
            if token.type in ("inline", "tr_open") and token.map is not None:
                first, last = self._span(token)
                if not regions or first >= regions[-1][1]:
                    regions.append((first, last))
        return regions

    def _open_heading(self, level: int, title: str) -> None:
        if not self._trail and level == 1 and self.title is None and not self._base:
            self.title = title
        self._trail = [part for part in self._trail if part[0] < level]
        self._trail.append((level, title))
        self._bold = self._lead = None
        self._block += 1

    def _headings(self) -> tuple[str, ...]:
        titles = [frame.title for frame in self._frames if frame.title]
        trail = [title for _, title in self._trail if title]
        return (*self._base, *trail, *([self._bold] if self._bold else []), *titles)

    def _in_item(self) -> bool:
        return any(frame.kind == "item" for frame in self._frames)

    def _parents(self) -> tuple[str, ...]:
        return tuple(frame.label for frame in self._frames if frame.kind == "item" and frame.label)

    def _failure(self) -> bool:
        return any(frame.failure for frame in self._frames)

    def _code(self, token: Token) -> Iterator[Unit]:
        if token.info.split(" ")[0].casefold() in QUERY_LANGUAGES:
            return
        start, end = self._span(token)
        if token.type == "fence":
            start = self._text.find("\n", start, end) + 1 or end
            last = start + self._masked_text[start:end].rstrip().rfind("\n") + 1
            if self._masked_text[last:end].lstrip(" \t>").startswith(token.markup):
                end = last
            if (opening := directive(token.info)) is not None and opening[0] in READ_DIRECTIVES:
                yield from self._directive(*opening, start, end)
                return
        body = self._text[start:end].rstrip()
        if body.strip():
            self._block += 1
            lead = len(body) - len(body.lstrip("\r\n"))
            shown = dedent("\n".join(line.rstrip() for line in body[lead:].splitlines()))
            yield Unit(
                "code",
                start + lead,
                start + len(body),
                shown,
                self._block,
                self._headings(),
                self._parents(),
                self._lead,
            )
            if not self._in_item():
                self._lead = None

    def _directive(self, name: str, title: str, start: int, end: int) -> Iterator[Unit]:
        """Units of the body ``text[start:end]`` of a directive, below its title."""
        if name in TABLE_DIRECTIVES:
            self._block += 1
            yield from self._table_rows(TABLE_DIRECTIVES[name](self._masked_text, start, end))
        else:
            options, start = directive_options(self._masked_text, start, end)
            title = readable(title or options.get("title", ""))
            inner = _Reader(
                self._text[:end],
                self._masked_text[:end],
                start,
                (*self._headings(), title) if title else self._headings(),
            )
            inner._block, inner._lead = self._block + 1, self._lead
            yield from inner.units()
            self.places = inner.places | self.places
            self._block = inner._block
        self._lead = None

    def _html(self, start: int, end: int) -> Iterator[Unit]:
        """Rows of the tables in HTML, and units of the text around them."""
        for table in HTML_TABLE.finditer(self._masked_text, start, end):
            if start < table.start():
                yield from self._paragraph(start, table.start())
            self._block += 1
            yield from self._table_rows(html_rows(self._masked_text, *table.span()))
            start = table.end()
        if start < end:
            yield from self._paragraph(start, end)

    def _table_rows(self, rows: Iterable[TableRow]) -> Iterator[Unit]:
        for row in rows:
            written = self._text[row.start : row.end]
            if not _PLACEHOLDER.search(written):
                lead = len(written) - len(written.lstrip())
                yield self._row_unit(row.start + lead, row.start + len(written.rstrip()), row.cells)

    def _row(self, token: Token, rows: list[list[str]]) -> Iterator[Unit]:
        start, end = self._span(token)
        line = self._masked_text[start:end]
        lead = len(line) - len(line.lstrip(" \t>"))
        written = line[lead:].rstrip()
        cells = [readable(cell) for cell in _cells(written)]
        rows.append(cells)
        if len(rows) == 1:
            return
        named = zip_longest(rows[0], cells[: max(len(rows[0]), 1)], fillvalue="")
        columns = tuple((name, cell) for name, cell in named if cell)
        if not columns or _PLACEHOLDER.search(written) or _NOT_SHOWN.match(written):
            return
        yield self._row_unit(start + lead, start + lead + len(written), columns)

    def _sentence_before(self) -> str | None:
        """The last sentence of the paragraph right before a table, which says what it shows."""
        block, sentence = self._last_sentence
        return sentence or None if block == self._block - 1 else None

    def _row_unit(self, start: int, end: int, columns: tuple[tuple[str, str], ...]) -> Unit:
        return Unit(
            "row",
            start,
            end,
            columns[0][1],
            self._block,
            self._headings(),
            self._parents(),
            self._lead or self._sentence_before(),
            columns=columns,
            failure=self._failure(),
        )

    def _paragraph(self, start: int, end: int) -> Iterator[Unit]:
        """Units of a paragraph: an item's text, a callout's title and text, fields, or sentences."""
        quote = next((frame for frame in reversed(self._frames) if frame.kind in ("quote", "item")), None)
        if quote is not None and quote.kind == "quote" and not quote.is_callout:
            opening = _CALLOUT.match(self._masked_text, start, end)
            if opening is not None:
                quote.is_callout = True
                quote.failure = opening["kind"].split("|")[0].strip().casefold() in _FAILURES
                quote.title = readable(opening["title"]) or None
                self.places.setdefault(self._headings(), opening.span("title"))
                body = min(opening.end(), end)
                if not self._masked_text[body:end].strip(" \t>\r\n"):
                    yield from self._title_alone(opening, quote)
                    return
                start = body
        if quote is not None and quote.kind == "item":
            behind = _BEHIND_LIST.search(self._masked_text, start, end)
            yield from self._item(quote, start, end if behind is None else behind.start())
            if behind is not None:
                yield from self._behind_list(behind.end(), end)
            return
        if not self._frames:
            self._block += 1
            stripped = self._masked_text[start:end].strip()
            if bold := _BOLD_LINE.match(stripped):
                self._bold = readable(bold["title"]).rstrip(":： ")
                self._lead = None
                self.places.setdefault(self._headings(), (start, end))
                return
        lead = end - len(self._masked_text[start:end].lstrip(" \t>"))
        label = _LABEL.match(self._masked_text, lead, end)
        if label is not None and len(label["label"].split()) > MAX_LABEL_WORDS:
            yield from self._running(lead, label.end())
            self._lead = readable(self._masked_text[lead : label.end()])
            yield from self._running(label.end(), end)
            return
        if label is not None:
            parents = (readable(label["label"]),)
            for unit in self._running(label.end(), end):
                yield replace(unit, parents=parents) if unit.kind == "sentence" else unit
            return
        first = self._masked_text[lead:end].partition("\n")[0].strip()
        bold = _BOLD_LINE.match(first)
        if bold is None:
            yield from self._running(start, end)
            return
        # A line in bold above the other lines of its paragraph stands over them alone.
        outer, self._bold = self._bold, readable(bold["title"]).rstrip(":： ")
        yield from self._running(self._masked_text.index("\n", start, end) + 1, end)
        self._bold = outer

    def _title_alone(self, opening: re.Match[str], quote: _Frame) -> Iterator[Unit]:
        """The title of a callout is a unit where nothing stands below it, which is known by the next token only; it
        is given as a unit in every case and loses to what stands below."""
        if quote.title:
            at = opening.start("title")
            yield Unit(
                "sentence",
                at,
                at + len(opening["title"].rstrip()),
                quote.title,
                self._block,
                self._headings()[:-1],
                failure=quote.failure,
            )

    def _item(self, frame: _Frame, start: int, end: int) -> Iterator[Unit]:
        at = end - len(self._masked_text[start:end].lstrip(" \t>"))
        if frame.label is None:
            at = _MARKERS.match(self._masked_text, start, end).end()  # type: ignore[union-attr]
        state = None
        box = _TASK.match(self._masked_text, at, end) if frame.label is None else None
        if box is not None:
            state, at = box["state"], box.end()
        day = frame.number if _AFTER_DAY.match(self._masked_text, at) else None
        if day is not None:
            frame.number = None
        stop = at + len(self._masked_text[at:end].rstrip())
        written = self._masked_text[at:stop]
        named = self._fields(at, stop)
        line = self._property(named[0], at, stop) if named and self._is_all(named[0], at, stop) else None
        shown = f"{line.key}: {line.text}" if line is not None else self._read_text(written, at, named)
        if day is not None:
            shown = f"{day}. {shown}"
        lists = [one for one in self._frames if one.kind in ("bullet", "ordered")]
        parents = self._parents()
        if frame.label is None:
            frame.label = shown
        else:
            parents = (*parents[:-1], frame.label) if parents else (frame.label,)
        if not shown or self._is_nothing(written, shown):
            return
        if line is not None and line.text and state is None and not parents:
            yield line
            return
        kind: UnitKind = "task" if state is not None else "step" if frame.number is not None else "item"
        unit = Unit(
            kind, at, stop, shown, lists[0].block if lists else self._block, self._headings(), parents,
            self._lead, number=frame.number, state=state, fields=named, depth=max(0, len(lists) - 1), failure=self._failure(),
            footnote=self._footnotes(at, stop),
        )  # fmt: skip
        if len(written) > MAX_ITEM and state is None:
            yield from self._sentences(at, stop, unit)
        else:
            yield self._define_unit(unit, written)

    def _behind_list(self, start: int, end: int) -> Iterator[Unit]:
        """Units of lines that Markdown takes for the last item's, and a person for the line below the list."""
        frames, lead = self._frames, self._lead
        self._frames, self._lead, self._block = [], None, self._block + 1
        yield from self._running(start, end)
        self._frames, self._lead = frames, lead

    def _running(self, start: int, end: int) -> Iterator[Unit]:
        lines = [field for field in self._fields(start, end) if self._is_line(field, start)]
        position = start
        for one in lines:
            begin = self._masked_text.rfind("\n", start, one.start) + 1 or start
            begin = max(begin, position)
            begin += len(self._masked_text[begin : one.start]) - len(
                self._masked_text[begin : one.start].lstrip(" \t>")
            )
            yield from self._prose(position, begin)
            position = _SPACES.match(self._masked_text, one.end, end).end()  # type: ignore[union-attr]
            stop = begin + len(self._masked_text[begin : one.end].rstrip())
            unit = self._property(one, begin, stop)
            if unit.text and not _PLACEHOLDER.search(unit.text):
                yield unit
        yield from self._prose(position, end)
        if lines:
            self._lead = None

    def _property(self, one: InlineField, start: int, end: int) -> Unit:
        """What a line states of the note: ``mood:: great``, alone or as an item of a list."""
        return Unit(
            "property",
            start,
            end,
            readable(self._masked_text[one.start : one.end]),
            self._block,
            self._headings(),
            self._parents(),
            self._lead,
            key=one.key,
            value=one.value,
            failure=self._failure(),
        )

    def _is_all(self, one: InlineField, start: int, end: int) -> bool:
        """Whether a field is all that a span of the note has, but for brackets and marks of emphasis."""
        before, after = self._masked_text[start : one.start].rstrip(), self._masked_text[one.end : end]
        return before.endswith("::") and before[:-2].strip("*_ [(") == one.key and not after.strip(" ])")

    def _is_line(self, one: InlineField, start: int) -> bool:
        """Whether a field takes its whole line, and is not one inside a sentence."""
        begin = self._masked_text.rfind("\n", start, one.start) + 1 or start
        before = self._masked_text[begin : one.start]
        return not re.search(r"[\[(]", before) and before.count("::") == 1

    def _prose(self, start: int, end: int) -> Iterator[Unit]:
        written = self._masked_text[start:end]
        if not written.strip():
            return
        frame = Unit("sentence", start, end, "", self._block, self._headings(), failure=self._failure())
        parts = [start]
        for mark in _CARD.finditer(written):
            parts += [start + mark.start(), start + mark.end()]
        parts.append(end)
        for number, (a, b) in enumerate(zip(parts[::2], parts[1::2], strict=True)):
            if number:
                self._lead = readable(self._masked_text[parts[0] : parts[1]]) or None
            if self._masked_text[a:b].strip():
                yield from self._sentences(a, b, frame)

    def _sentences(self, start: int, end: int, frame: Unit) -> Iterator[Unit]:
        """Sentences of running text; a last one that asks, or ends in a colon, leads the next block."""
        lead, shown, a, is_remark = self._lead, "", 0, False
        before: list[str] = []
        for a, b in split_sentences(self._masked_text[start:end]):
            written = self._masked_text[start + a : start + b]
            begin = start + b - len(written.lstrip(" \t>"))
            written = self._masked_text[begin : start + b]
            named = self._fields(begin, start + b)
            shown = self._read_text(written, begin, named)
            if not shown or self._is_nothing(written, shown):
                shown = ""
                continue
            notes = self._footnotes(begin, start + b)
            above = _spoken_of(shown, before) or lead
            unit = replace(
                frame, start=begin, end=start + b, text=shown, lead=above, fields=named, footnote=notes
            )
            before.append(shown)
            unit = unit if leads(shown) else self._define_unit(unit, written)
            is_remark = unit.key is not None or written.startswith(("*", "_"))
            yield unit
        if frame.kind == "sentence":
            is_title = len(shown) <= MAX_TITLE and shown[-1:].isalnum() and a == 0 and not is_remark
            self._lead = shown if leads(shown) or (shown and is_title) else None
            self._last_sentence = (self._block, shown)

    def _fields(self, start: int, end: int) -> tuple[InlineField, ...]:
        """Named values in a span of the note."""
        if not self._all_fields:
            return ()
        first = bisect_left(self._all_fields, start, key=lambda one: one.start)
        inside = takewhile(lambda one: one.start <= end, islice(self._all_fields, first, None))
        return tuple(one for one in inside if one.end <= end)

    @cached_property
    def _all_fields(self) -> list[InlineField]:
        if "::" not in self._masked_text:
            return []
        return fields(self._text, hide_code(self._masked_text, self._text_regions()))

    def _read_text(self, unit_text: str, at: int, named_fields: Sequence[InlineField]) -> str:
        """The text as it is read; fields in brackets at its end are named after it."""
        for one in reversed(named_fields[:MAX_SHOWN_FIELDS]):
            a, b = one.start - at, one.end - at
            opening = max(unit_text.rfind("[", 0, a), unit_text.rfind("(", 0, a))
            if opening < 0 or not unit_text[opening + 1 : a].rstrip(" \t").endswith("::"):
                continue
            shown, tail = unit_text[a:b].strip(), unit_text[b + 1 :]
            if unit_text[opening] == "[":  # round brackets hide the name where Dataview shows it
                is_tail = not re.sub(r"[\[(][^\[\]()]*[\])]", "", tail).strip()
                shown = f"({one.key}: {shown})" if is_tail else f"{one.key}: {shown}"
            unit_text = f"{unit_text[:opening]}{shown}{tail}"
        return readable(_INLINE_NOTE.sub("", unit_text))

    def _define_unit(self, unit: Unit, unit_text: str) -> Unit:
        """The unit with the name that it gives to its value: ``Phone: 555``, ``**Term**: …``, ``question::answer``, and
        ``**Speed** 30 ft.`` among other such lines."""
        in_bold = _BOLD_KEY.match(unit_text.strip()) if unit_text.startswith(("**", "__")) else None
        if in_bold is not None and self._is_sheet:
            return replace(unit, key=readable(in_bold["key"]), text=readable(in_bold["value"]))
        found = _DEFINITION.match(unit.text)
        if found is None or unit.fields or "://" in unit.text[: found.end("key") + 4]:
            return unit
        if found["sign"] == "::" and " " not in found["key"] and "`" in unit_text:
            return unit
        return replace(unit, key=found["key"].strip(), text=found["value"])

    @cached_property
    def _is_sheet(self) -> bool:
        """Whether the note states values in lines of their own, each after its name in bold."""
        return len(list(islice(_BOLD_KEY.finditer(self._masked_text), SHEET))) == SHEET

    def _is_nothing(self, unit_text: str, display_text: str) -> bool:
        """Whether a text states nothing: tags, a rule, an address, a placeholder of a template."""
        stripped = unit_text.strip()
        return bool(
            _TAG_LINE.match(stripped)
            or _NOT_SHOWN.match(display_text)
            or _PLACEHOLDER.search(stripped)
            or _EMPTY_FIELD.match(stripped)
            or not any(map(str.isalnum, display_text))
            or _FOOTNOTE.match(stripped)
            or _TO_HEADING.fullmatch(stripped)
        )

    @cached_property
    def _notes(self) -> dict[str, str]:
        return {match["label"]: readable(match["text"]) for match in _FOOTNOTE.finditer(self._masked_text)}

    def _footnotes(self, start: int, end: int) -> str:
        """Text of the footnotes that a span refers to."""
        written = self._masked_text[start:end]
        if "^" not in written:
            return ""
        told = [self._notes.get(mark["label"], "") for mark in _FOOTNOTE_MARK.finditer(written)]
        told += [readable(mark["text"]) for mark in _INLINE_NOTE.finditer(written)]
        return " ".join(filter(None, told))


def _spoken_of(sentence: str, before: Sequence[str]) -> str | None:
    """The sentence that one speaks of, by a pronoun or as an answer; of several with the same pronoun what the first speaks of."""
    if not before or before[-1].endswith(("?", "？")):
        return before[-1] if before else None
    if not _POINTS_BACK.match(sentence):
        return None
    pointing = _OF_PERSON if _OF_PERSON.match(sentence) else _POINTS_BACK
    named = (
        one
        for one in reversed(before[-FAR_BACK:])
        if not (pointing.match(one) or (pointing is _OF_PERSON and _OF_WRITER.match(one)))
    )
    return next(named, before[-1])


def leads(display_text: str) -> bool:
    """Whether a sentence asks or introduces what stands behind it."""
    return display_text.endswith((*COLONS, "?", "？"))


def _cells(row: str) -> list[str]:
    return [
        cell.strip().replace("\\|", "|")
        for cell in _CELL.split(row.strip().removeprefix("|").removesuffix("|"))
    ]
