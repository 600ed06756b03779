"""Word files as Markdown: an own walk, as no library gives all runs, boxes, notes and comments (``bench_documents``)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import chain

from agentic_rag.ingest.files.extracted_text import ExtractedText, of_text
from agentic_rag_readers.formats.formulas import FORMULA_TAGS, formula
from agentic_rag_readers.formats.markdown_text import (
    Item,
    TextBlock,
    heading,
    item,
    join_blocks,
    link,
    one_line,
    subscript,
    superscript,
    table,
    with_note,
)
from agentic_rag_readers.formats.office_package import (
    DELETION_TAGS,
    Element,
    Package,
    Relation,
    attribute,
    child,
    chosen_branch,
    inside,
    local,
)

_HEADING = re.compile(r"heading ?([1-9])", re.IGNORECASE)
_SILENT = frozenset(
    {
        "pPr",
        "rPr",
        "sdtPr",
        "sdtEndPr",
        "instrText",
        "delText",
        "delInstrText",
        "tblPr",
        "tblGrid",
        "trPr",
        "tcPr",
        "sectPr",
    }
    | DELETION_TAGS
)
_SIGNS = {"tab": " ", "ptab": " ", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}
_LEVELS: dict[str, Callable[[str], str]] = {
    "superscript": superscript, "subscript": subscript,
}  # fmt: skip
"""By the value of ``w:vertAlign``."""
_CODE = re.compile(r"[0-9A-Fa-f]{2,4}")
_SYMBOL_SIGNS = {
    **{code: chr(code) for code in b" !#%&()+,./0123456789:;<=>?[]_{|}"},
    **dict(zip(range(0x41, 0x5B), "ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ", strict=True)),
    **dict(zip(range(0x61, 0x7B), "αβχδεφγηιϕκλμνοπθρστυϖωξψζ", strict=True)),
    **dict(
        zip(b"\x2d\xa3\xa5\xac\xad\xae\xaf\xb0\xb1\xb3\xb4\xb7\xb8\xb9\xbb", "−≤∞←↑→↓°±≥×•÷≠≈", strict=True)
    ),
}
"""By the code in Word's font Symbol, which has the letters of Greek at the places of Latin ones."""
_SENTENCE_ENDS = tuple(".!?…:;")
_WIDEST, _MAX_CHAIN = 60, 20


def read_word(raw: bytes) -> ExtractedText:
    """Text of a Word file: footnotes in their sentence, boxes and comments under their paragraph.

    Raises:
        SourceError: it is locked, of the older format, or has no main part.
    """
    package = Package(raw)
    return _WordFile(package).read()


@dataclass(slots=True)
class _Style:
    level: int | None = None
    """Of a heading, from 1."""
    numbering: Element | None = None
    based_on: str | None = None


@dataclass(slots=True)
class _Line:
    """What a paragraph gathers: its text, and what stands under it."""

    text: str = ""
    under: list[TextBlock] = field(default_factory=list)
    comments: list[str] = field(default_factory=list)


class _WordFile:
    def __init__(self, package: Package) -> None:
        self._package = package
        self._relations: dict[str, Relation] = {}
        self._styles = self._read_styles()
        self._lists = self._read_lists()
        self._counts: Counter[tuple[str, int]] = Counter()
        self._last_level = -1
        self._notes: dict[tuple[str, str], str] = {}
        self._comments: dict[str, str] = {}
        self._unread_symbols: Counter[str] = Counter()

    def read(self) -> ExtractedText:
        main = self._package.main
        kinds = {
            kind: self._package.parts_of_kind(main, kind)
            for kind in ("footnotes", "endnotes", "comments", "header", "footer")
        }
        for kind in ("footnotes", "endnotes"):
            for name in kinds[kind]:
                self._notes |= {(kind[:-1], number): text for number, _, text in self._entries(name)}
        for name in kinds["comments"]:
            self._comments |= {number: _comment(one, text) for number, one, text in self._entries(name)}
        above, below = (self._frames(kinds[kind]) for kind in ("header", "footer"))
        self._relations = self._package.relations(main)
        root = self._package.part(main)
        body = list(self._blocks(child(root, "body")))
        text = join_blocks([*above, *body, *self._notes.values(), *self._comments.values(), *below])
        read = [main, *(name for names in kinds.values() for name in names)]
        warnings = [*_deletion_notes(root), *self._package.left_out(read, text)]
        warnings += [
            f"signs of the font {font} were not read: {n}" for font, n in self._unread_symbols.items()
        ]
        return of_text(text, warnings)

    def _entries(self, name: str) -> Iterator[tuple[str, Element, str]]:
        """Notes or comments of a part: id, element, text."""
        root = self._package.part(name)
        self._relations = self._package.relations(name)
        for one in () if root is None else root:
            if attribute(one, "type") not in ("separator", "continuationSeparator"):
                yield attribute(one, "id") or "", one, one_line(join_blocks(self._blocks(one)))

    def _frames(self, names: list[str]) -> list[TextBlock]:
        """Headers or footers, each text once."""
        found: dict[str, None] = {}
        for name in sorted(set(names)):
            self._relations = self._package.relations(name)
            root = self._package.part(name)
            if root is not None:
                found[join_blocks(self._blocks(root))] = None
        return list(found)

    def _blocks(self, container: Element | None) -> Iterator[TextBlock]:
        for one in () if container is None else container:
            name = local(one)
            if name == "p":
                yield from self._paragraph(one)
            elif name == "tbl":
                yield from self._table(one)
            elif name == "AlternateContent":
                yield from self._blocks(chosen_branch(one))
            elif name not in _SILENT:
                yield from self._blocks(one)

    def _paragraph(self, paragraph: Element) -> Iterator[TextBlock]:
        line = _Line()
        self._inline(paragraph, line)
        level, numbering = self._shape(child(paragraph, "pPr"))
        if level is not None and line.text.strip():
            yield heading(line.text, level)
        elif numbering is not None and line.text.strip():
            yield self._item(line.text, numbering)
        else:
            self._last_level = -1
            yield "\n".join(one_line(part) for part in line.text.split("\n"))
        yield from line.under
        for number in line.comments:
            yield self._comments.pop(number, "")

    def _inline(self, parent: Iterable[Element], line: _Line) -> None:
        """Add what the parent's children hold."""
        for one in parent:
            name = local(one)
            if name in _SILENT or not name:
                continue
            if name == "t":
                line.text += one.text or ""
            elif name == "sym":
                line.text += self._symbol(one)
            elif name in FORMULA_TAGS:
                line.text += formula(one)
            elif name in _SIGNS:
                line.text += _SIGNS[name]
            elif name in ("footnoteReference", "endnoteReference"):
                note = self._notes.pop((name[:-9], attribute(one, "id") or ""), "")
                line.text = with_note(line.text, note)
            elif name == "commentReference":
                line.comments.append(attribute(one, "id") or "")
            elif name == "AlternateContent":
                branch = chosen_branch(one)
                self._inline(() if branch is None else branch, line)
            elif name == "txbxContent":
                # An anchor between two sentences parts them, though nothing is written there.
                line.text += " " if line.text.endswith(_SENTENCE_ENDS) else ""
                line.under += self._blocks(one)
            else:
                self._inner(name, one, line)

    def _symbol(self, symbol: Element) -> str:
        """A sign by its code; nothing of a font's own one, which is counted, but for what the font Symbol has."""
        written, font = attribute(symbol, "char") or "", one_line(attribute(symbol, "font") or "")
        code = int(written, 16) if _CODE.fullmatch(written) else 0
        if 0x20 <= code < 0xD800 or code >= 0xF900:
            return chr(code)
        sign = _SYMBOL_SIGNS.get(code - 0xF000, "") if font == "Symbol" else ""
        if not sign:
            self._unread_symbols[font] += 1
        return sign

    def _inner(self, name: str, one: Element, line: _Line) -> None:
        """Add what an element with children, or a reference to another part, holds."""
        start = len(line.text)
        if name == "docPr" and (shown := one_line(attribute(one, "descr") or "")):
            line.under.append(f"![{shown}]()")
        elif name in ("chart", "relIds"):
            line.under += self._package.drawing_texts(self._relations, one)
        elif name == "fldChar":
            line.text += _form_value(child(one, "ffData"))
        elif name == "textpath" and (shown := one_line(attribute(one, "string") or "")):
            line.under.append(shown)
        # A reading stands before what it is of.
        self._inline(sorted(one, key=lambda part: local(part) == "rt") if name == "ruby" else one, line)
        added = line.text[start:]
        if name == "hyperlink":
            relation = self._relations.get(attribute(one, "id") or "")
            added = link(added, relation.target if relation is not None and relation.is_outside else None)
        elif name == "rt" and added.strip():
            added = f"({added.strip()})"
        elif name == "r":
            added = _LEVELS.get(_value(one, "rPr", "vertAlign"), str)(added)
        line.text = line.text[:start] + added

    def _table(self, rows: Element) -> Iterator[TextBlock]:
        """A table; one that holds tables is a layout, and its cells are read one after the other."""
        self._last_level = -1
        cells = [list(inside(row, "tc")) for row in inside(rows, "tr")]
        if any(next(cell.iterdescendants("{*}tbl"), None) is not None for row in cells for cell in row):
            for cell in chain.from_iterable(cells):
                yield from self._blocks(cell)
        else:
            yield table([[part for cell in row for part in self._cell(cell)] for row in cells])

    def _cell(self, cell: Element) -> list[str]:
        """Its text, and an empty one for each further column that it covers."""
        blocks = [
            block.strip().removeprefix("> ") if isinstance(block, str) else block.text
            for block in self._blocks(cell)
        ]
        span = _value(cell, "tcPr", "gridSpan")
        return [" ".join(blocks), *[""] * (min(int(span), _WIDEST) - 1 if span.isdecimal() else 0)]

    def _shape(self, properties: Element | None) -> tuple[int | None, tuple[str, int] | None]:
        """Of a paragraph the heading's level, else the list and the level in it."""
        style = _value(properties, "pStyle")
        outline = _value(properties, "outlineLvl")
        level = int(outline) + 1 if outline.isdecimal() and int(outline) < 9 else None
        numbering = child(properties, "numPr")
        for _ in range(_MAX_CHAIN):
            there = self._styles.get(style) or _Style(_level_of(style))
            level = there.level if level is None else level
            numbering = there.numbering if numbering is None else numbering
            if there.based_on is None:
                break
            style = there.based_on
        number, depth = _value(numbering, "numId"), _value(numbering, "ilvl")
        return level, None if number in ("", "0") else (number, int(depth) if depth.isdecimal() else 0)

    def _item(self, text: str, place: tuple[str, int]) -> Item:
        number, level = place
        for key in [key for key in self._counts if key[0] == number and key[1] > level]:
            del self._counts[key]
        self._counts[place] += 1
        self._last_level = min(level, self._last_level + 1)
        start = self._lists.get(place)
        mark = "-" if start is None else f"{start + self._counts[place] - 1}."
        return item("\n".join(one_line(part) for part in text.split("\n")), self._last_level, mark)

    def _read_styles(self) -> dict[str, _Style]:
        styles = {}
        for name in self._package.parts_of_kind(self._package.main, "styles"):
            for one in inside(self._package.part(name), "style"):
                outline = _value(one, "pPr", "outlineLvl")
                level = int(outline) + 1 if outline.isdecimal() and int(outline) < 9 else None
                based_on = _value(one, "basedOn") or None
                numbering = child(one, "pPr", "numPr")
                level = _level_of(_value(one, "name")) or level
                styles[attribute(one, "styleId") or ""] = _Style(level, numbering, based_on)
        return styles

    def _read_lists(self) -> dict[tuple[str, int], int]:
        """The first numbers of numbered lists, by list and level; those of bullets are not in it."""
        lists = {}
        for name in self._package.parts_of_kind(self._package.main, "numbering"):
            root = self._package.part(name)
            kinds = {attribute(one, "abstractNumId"): one for one in inside(root, "abstractNum")}
            for number in inside(root, "num"):
                for level in inside(kinds.get(_value(number, "abstractNumId")), "lvl"):
                    start, depth = _value(level, "start"), attribute(level, "ilvl") or ""
                    if _value(level, "numFmt") not in ("bullet", "none") and depth.isdecimal():
                        key = (attribute(number, "numId") or "", int(depth))
                        lists[key] = int(start) if start.isdecimal() else 1
        return lists


def _value(element: Element | None, *path: str) -> str:
    """``w:val`` of the element at a path; empty where there is none."""
    there = child(element, *path)
    return "" if there is None else attribute(there, "val") or ""


def _level_of(name: str) -> int | None:
    """The level of a heading's style, whose name is English in every language of Word."""
    match = _HEADING.fullmatch(name)
    return int(match[1]) if match is not None else 1 if name.lower() == "title" else None


def _comment(comment: Element, text: str) -> str:
    author = one_line(attribute(comment, "author") or "")
    return f"> Comment by {author}: {text}" if author else f"> Comment: {text}"


def _form_value(field_data: Element | None) -> str:
    """What is chosen in a form field of the older kind; that of a text field stands in the text."""
    options, box = child(field_data, "ddList"), child(field_data, "checkBox")
    if options is not None:
        entries, chosen_number = list(inside(options, "listEntry")), _value(options, "result") or "0"
        number = int(chosen_number) if chosen_number.isdecimal() else 0
        return (attribute(entries[number], "val") or "") if number < len(entries) else ""
    if box is None:
        return ""
    state = child(box, "checked")
    state = child(box, "default") if state is None else state
    return "☐ " if state is None or attribute(state, "val") in ("0", "false") else "☒ "


def _deletion_notes(root: Element) -> list[str]:
    number = sum(1 for one in root.iter("{*}del") if next(one.iter("{*}delText"), None) is not None)
    passages = "1 deleted passage was" if number == 1 else f"{number} deleted passages were"
    return [f"{passages} left out (tracked changes)"] if number else []
