"""HTML pages and EPUB books as Markdown: an own walk, as converters drop levels, form values or order (``bench_documents``)."""

from __future__ import annotations

import posixpath
import re
import unicodedata
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.entities import name2codepoint
from io import BytesIO
from urllib.parse import unquote

from lxml import etree

from agentic_rag.ingest.files.encodings import decode_page
from agentic_rag.ingest.files.extracted_text import ExtractedText, of_text
from agentic_rag.ingest.files.source_text import SourceError
from agentic_rag_readers.formats.formulas import FORMULA_TAGS, formula
from agentic_rag_readers.formats.markdown_text import (
    Item,
    TextBlock,
    heading,
    item,
    item_part,
    join_blocks,
    link,
    one_line,
    subscript,
    superscript,
    table,
    with_note,
)
from agentic_rag_readers.formats.office_package import Element, attribute, local

_SKIPPED_TAGS = frozenset({"script", "style", "template", "head"})
_BLOCKS = frozenset(
    "address article aside body blockquote caption center dd details dialog div dl dt fieldset figcaption figure footer "
    "form h1 h2 h3 h4 h5 h6 header hr html legend li main nav ol optgroup option p pre section summary table tbody td "
    "textarea tfoot th thead tr ul".split()
)
_NESTING = frozenset({"li", "td", "th", "blockquote", "caption"})
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_HOLDERS = frozenset({"p", "li", "aside", "div", "dd", "td", "section"})
_MAX_NOTE, _WIDEST, _DEEPEST_QUOTE = 2_000, 60, 20
_SPACE = re.compile(r"[ \t\r\n\f]+")
_ENTITY = re.compile(r"&([A-Za-z]\w*);")
_FOR_XML = frozenset({"amp", "lt", "gt", "quot", "apos"})
_BACK = re.compile(r"[↩↑⤴\ufe0e\ufe0f\s]+$")
_XHTML = re.compile(r"\s*(?:<\?xml|<!DOCTYPE[^>]*XHTML)", re.IGNORECASE)
_PAGES = frozenset({"application/xhtml+xml", "text/html", "application/x-dtbook+xml"})
_DOCUMENTS = _PAGES | {"image/svg+xml"}


def read_html(raw: bytes) -> ExtractedText:
    """Text of a page, by the encoding that it declares; its title is a heading unless one of level 1 holds it."""
    text, warning = decode_page(raw)
    root, cut = _root(text)
    blocks = _PageWriter(root).blocks()
    title = "" if root is None else one_line(" ".join(root.xpath("//*[local-name()='title'][1]//text()")))
    headings = [block for block in blocks if isinstance(block, str) and block.startswith("# ")]
    if title and title not in "".join(headings):
        blocks.insert(0, heading(title, 1))
    return of_text(join_blocks(blocks), [one for one in (warning, cut) if one])


def read_epub(raw: bytes) -> ExtractedText:
    """Text of a book in the order of its spine, then its documents that are not in it.

    Raises:
        SourceError: it is locked, or has no package.
    """
    with zipfile.ZipFile(BytesIO(raw)) as archive:
        book = _Book(archive)
        blocks = [block for name in book.documents() for block in book.blocks(name)]
    return of_text(join_blocks(blocks), book.warnings)


def _xml(raw: bytes) -> Element:
    parser = etree.XMLParser(resolve_entities=False, no_network=True, remove_comments=True, remove_pis=True)
    return etree.fromstring(raw, parser)


def _root(text: str) -> tuple[Element | None, str | None]:
    """The tree of a page: as XML where it says that it is that and is well-formed, else as a browser reads it; and a
    line where the parser gave up."""
    if _XHTML.match(text):
        known = _ENTITY.sub(_plain_entity, text)
        try:
            return _xml(re.sub(r"\A\s*<\?xml.*?\?>", "", known, flags=re.DOTALL).encode()), None
        except etree.XMLSyntaxError:
            pass
    parser = etree.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True, huge_tree=True)
    root = etree.fromstring(text.replace("\0", "").encode("utf-8", "replace") or b"<p/>", parser)
    is_cut = any("depth" in one.message for one in parser.error_log.filter_from_fatals())
    return root, "its elements nest too deep: what follows is not read" if is_cut else None


def _plain_entity(match: re.Match[str]) -> str:
    code = None if match[1] in _FOR_XML else name2codepoint.get(match[1])
    return match[0] if code is None else chr(code)


class _Book:
    def __init__(self, archive: zipfile.ZipFile) -> None:
        self.warnings: list[str] = []
        self._archive = archive
        self._names = {_fold(name): name for name in archive.namelist()}
        container = _xml(self._raw("META-INF/container.xml"))
        path = next((attribute(one, "full-path") for one in container.iter("{*}rootfile")), None) or ""
        self._package = _xml(self._raw(path if _fold(path) in self._names else unquote(path)))
        self._folder = posixpath.dirname(path)
        self._require_unlocked()

    def _raw(self, name: str) -> bytes:
        there = self._names.get(_fold(name))
        if there is None:
            raise SourceError(f"it is damaged ({name or 'the package'} is not in it)")
        return self._archive.read(there)

    def _require_unlocked(self) -> None:
        name = self._names.get(_fold("META-INF/encryption.xml"))
        if name is not None:
            references = _xml(self._archive.read(name)).iter("{*}CipherReference")
            locked = {_fold(unquote(attribute(one, "URI") or "")) for one in references}
            if locked & {_fold(document) for document in self.documents()}:
                raise SourceError("it is locked by its publisher's protection")

    def documents(self) -> list[str]:
        """Names of the documents: those of the spine in its order, then others but the table of contents."""
        items = {attribute(one, "id"): one for one in self._package.iter("{*}item")}
        spine = [
            items[key]
            for one in self._package.iter("{*}itemref")
            if (key := attribute(one, "idref")) in items
        ]
        others = [
            one
            for one in items.values()
            if attribute(one, "media-type") in _PAGES
            and "nav" not in (attribute(one, "properties") or "").split()
        ]
        kinds = {
            self._name(attribute(one, "href") or ""): attribute(one, "media-type")
            for one in [*spine, *others]
        }
        unread = [name for name, kind in kinds.items() if kind not in _DOCUMENTS]
        self.warnings = [f"{name} was not read, as it is {kinds[name]}" for name in unread]
        return [name for name in kinds if name not in unread]

    def _name(self, reference: str) -> str:
        """The name of the member that a reference of the package means, percent signs and all."""
        path = posixpath.normpath(posixpath.join(self._folder, reference.partition("#")[0]))
        return path if _fold(path) in self._names else unquote(path)

    def blocks(self, name: str) -> list[TextBlock]:
        """A document's blocks; none, and a warning, where the book does not hold it."""
        there = self._names.get(_fold(name))
        if there is None:
            self.warnings.append(f"{name} is listed but is not in the file")
            return []
        text, warning = decode_page(self._archive.read(there))
        root, cut = _root(text)
        self.warnings += [f"{name}: {one}" for one in (warning, cut) if one]
        return _PageWriter(root).blocks()


def _fold(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()


@dataclass(slots=True)
class _Table:
    is_layout: bool
    rows: list[list[str]] = field(default_factory=list)
    row: list[str] = field(default_factory=list)
    spans: dict[int, int] = field(default_factory=dict)
    """Rows that a cell above still covers, by column."""


class _PageWriter:
    """Writes a tree's blocks, without recursion: pages nest as deep as they like."""

    def __init__(self, root: Element | None) -> None:
        self._root = root
        self._notes, self._elsewhere = ({}, set()) if root is None else _notes(root)
        self._elsewhere |= set() if root is None else _drawn_formulas(root)
        self._sinks: list[list[TextBlock]] = [[]]
        """Where blocks go: the page, and the items, cells and quotes that are open."""
        self._parts: list[str] = []
        """The text of the paragraph that is open."""
        self._marks: list[int] = []
        """The first part of each open element; -1 of one that is not read."""
        self._lists: list[int | None] = []
        """Open lists: the number of the next item, or None."""
        self._tables: list[_Table] = []
        self._pre = 0

    def blocks(self) -> list[TextBlock]:
        """The page's blocks, in order."""
        if self._root is None:
            return []
        walk = etree.iterwalk(self._root, events=("start", "end"))
        for event, element in walk:
            name = local(element).lower()
            if event == "start":
                is_formula = name in FORMULA_TAGS
                if is_formula:
                    self._parts.append(formula(element) or attribute(element, "alttext") or "")
                if is_formula or name in _SKIPPED_TAGS or not name or element in self._elsewhere:
                    walk.skip_subtree()
                    self._marks.append(-1)
                else:
                    self._start(name, element)
            else:
                mark = self._marks.pop()
                if mark >= 0:
                    self._end(name, element, mark)
                self._add(element.tail if element is not self._root else None)
        self._flush()
        return self._sinks[0]

    def _add(self, text: str | None) -> None:
        """Add running text, its white space as a browser shows it."""
        if not self._pre and text:
            text = _SPACE.sub(" ", text)
            if not self._parts or self._parts[-1].endswith((" ", "\n")):
                text = text.lstrip(" ")
        if text:
            self._parts.append(text)

    def _since(self, mark: int) -> str:
        return "".join(self._parts[mark:])

    def _replace(self, mark: int, text: str) -> None:
        self._parts[mark:] = [text] if text else []

    def _take_paragraph(self) -> str:
        """The open paragraph's text, which ends with this."""
        text = self._since(0)
        self._parts = []
        self._marks = [min(mark, 0) for mark in self._marks]
        return text

    def _flush(self) -> None:
        """End the paragraph that is open."""
        text = self._take_paragraph()
        if text.strip():
            lines = text.split("\n") if self._pre else [line.strip() for line in text.strip().split("\n")]
            self._sinks[-1].append("\n".join(lines))

    def _start(self, name: str, element: Element) -> None:
        if name in _BLOCKS:
            self._flush()
        if name in _NESTING:
            self._sinks.append([])
        if name in ("ul", "ol"):
            start = attribute(element, "start") or "1"
            self._lists.append((int(start) if start.isdecimal() else 1) if name == "ol" else None)
        elif name == "table":
            self._tables.append(_Table(next(element.iterdescendants("{*}table"), None) is not None))
        elif name == "tr" and self._tables:
            self._tables[-1].row = []
        elif name == "pre":
            self._pre += 1
        self._marks.append(len(self._parts))
        if name == "br":
            self._parts.append("\n")
        elif name == "img":
            self._add(_image(element))
        elif name == "input":
            self._add(_input(element))
        elif name == "q":
            self._parts.append("“")
        self._add(element.text)

    def _end(self, name: str, element: Element, mark: int) -> None:
        if element in self._notes:
            self._replace(0, with_note("".join(self._parts[:mark]), self._notes[element]))
        elif name == "a":
            self._replace(mark, link(self._since(mark), attribute(element, "href")))
        elif name in ("sup", "sub"):
            if not any(one in self._notes for one in element.iterdescendants()):
                self._replace(mark, {"sup": superscript, "sub": subscript}[name](self._since(mark)))
        elif name == "q":
            self._parts.append("”")
        elif name == "rt" and self._since(mark).strip():
            self._replace(mark, f"({self._since(mark).strip()})")
        elif name == "code" and not self._pre and self._since(mark).strip():
            self._replace(mark, f"`{self._since(mark)}`")
        elif name in _BLOCKS:
            self._end_block(name, element)

    def _end_block(self, name: str, element: Element) -> None:
        if name in _HEADINGS:
            self._sinks[-1].append(heading(self._take_paragraph(), _HEADINGS[name]))
        elif name == "pre" and (text := self._take_paragraph()).strip():
            fence = "~~~" if "```" in text else "```"
            self._sinks[-1].append(f"{fence}\n{text.strip(chr(10)).rstrip()}\n{fence}")
        self._flush()
        if name in _NESTING:
            self._end_nested(name, element, self._sinks.pop())
        if name == "pre":
            self._pre -= 1
        elif name in ("ul", "ol"):
            self._lists.pop()
        elif name == "tr" and self._tables and self._tables[-1].row:
            self._tables[-1].rows.append(self._tables[-1].row)
        elif name == "table":
            ended = self._tables.pop()
            self._sinks[-1].append(table(ended.rows))

    def _end_nested(self, name: str, element: Element, blocks: list[TextBlock]) -> None:
        """Put what an item, a cell or a quote holds into what it stands in."""
        outer = self._sinks[-1]
        if name == "blockquote" and len(self._sinks) <= _DEEPEST_QUOTE:
            quoted = join_blocks(blocks)
            outer.append("\n".join(f"> {line}".rstrip() for line in quoted.split("\n")) if quoted else "")
        elif name == "li":
            outer += self._items(blocks)
        elif name in ("td", "th") and self._tables and not self._tables[-1].is_layout:
            self._add_cell(element, " ".join(_flat(block) for block in blocks))
        else:
            outer += blocks

    def _items(self, blocks: list[TextBlock]) -> Iterator[TextBlock]:
        """The item, its further paragraphs, and the items in it."""
        number = self._lists[-1] if self._lists else None
        if number is not None:
            self._lists[-1] = number + 1
        level = max(len(self._lists) - 1, 0)
        mark = "-" if number is None else f"{number}."
        for place, block in enumerate(blocks):
            if isinstance(block, Item):
                yield block
            else:
                yield (item_part if place else item)(block, level, mark)

    def _add_cell(self, element: Element, text: str) -> None:
        """A cell, with empty ones where it or one above it covers further columns or rows."""
        there = self._tables[-1]
        while there.spans.get(len(there.row), 0) > 0:
            there.spans[len(there.row)] -= 1
            there.row.append("")
        wide, high = (_span(element, name) for name in ("colspan", "rowspan"))
        for column in range(len(there.row), len(there.row) + wide):
            there.spans[column] = high - 1
        there.row += [text, *[""] * (wide - 1)]


def _image(element: Element) -> str:
    shown, source = one_line(attribute(element, "alt") or ""), attribute(element, "src") or ""
    return f"![{shown}]({'' if source.startswith('data:') else source.replace(' ', '%20')})" if shown else ""


def _span(element: Element, name: str) -> int:
    written = attribute(element, name) or "1"
    return min(max(int(written), 1), _WIDEST) if written.isdecimal() else 1


def _flat(block: TextBlock) -> str:
    """A block in a cell, without the marks of its own."""
    return one_line(block.text if isinstance(block, Item) else block.lstrip("#> "))


def _input(element: Element) -> str:
    """What a field of a form shows."""
    kind, value = (attribute(element, "type") or "text").lower(), attribute(element, "value") or ""
    if kind in ("checkbox", "radio"):
        return "☒ " if attribute(element, "checked") is not None else "☐ "
    return "" if kind in ("hidden", "password", "image", "file") else f" {value} "


def _notes(root: Element) -> tuple[dict[Element, str], set[Element]]:
    """Footnotes of a page: their texts by the first links that refer to them, and the elements that hold them."""
    by_id = {f"#{attribute(one, 'id')}": one for one in root.iter("*") if attribute(one, "id")}
    notes: dict[Element, str] = {}
    moved: set[Element] = set()
    for anchor in root.iter("{*}a"):
        target = by_id.get(attribute(anchor, "href") or "")
        if target is None or not _refers_to_note(anchor):
            continue
        while local(target) not in _HOLDERS and target.getparent() is not None:
            target = target.getparent()
        if target in moved:
            notes[anchor] = ""
            continue
        text = one_line("".join(target.itertext()))
        if len(text) <= _MAX_NOTE and not _has_reference(target):
            label = one_line("".join(anchor.itertext())).strip("[]()")
            notes[anchor] = _BACK.sub("", re.sub(rf"^\[?{re.escape(label)}[\].):]*\s+", "", text))
            moved.add(target)
    return notes, moved


def _drawn_formulas(root: Element) -> set[Element]:
    """What shows a formula once more, hidden from screen readers, beside what only wraps its MathML."""
    wrappers = (one.getparent() for one in root.iter("{*}math"))
    holders = {
        one.getparent() for one in wrappers if one is not None and local(one) not in _BLOCKS and len(one) == 1
    }
    return {
        one
        for holder in holders
        if holder is not None
        for one in holder
        if attribute(one, "aria-hidden") == "true"
    }


def _has_reference(holder: Element) -> bool:
    """Whether what would be a footnote holds references of its own, as the text does that they lead back to."""
    return any(_refers_to_note(one) for one in holder.iter("{*}a"))


def _refers_to_note(anchor: Element) -> bool:
    kinds = f"{attribute(anchor, 'role') or ''} {attribute(anchor, 'type') or ''}"
    parent = anchor.getparent()
    raised_number = (parent is not None and local(parent) == "sup") or next(
        anchor.iter("{*}sup"), None
    ) is not None
    return "noteref" in kinds or raised_number
