"""PowerPoint files as Markdown: an own walk, as no library gives notes, diagrams, charts and comments alike."""

from __future__ import annotations

from collections.abc import Iterator

from agentic_rag.ingest.files.extracted_text import ExtractedText, of_pages
from agentic_rag_readers.formats.formulas import FORMULA_TAGS, formula
from agentic_rag_readers.formats.markdown_text import (
    TextBlock,
    heading,
    item,
    join_blocks,
    link,
    one_line,
    subscript,
    superscript,
    table,
)
from agentic_rag_readers.formats.office_package import (
    Element,
    Package,
    Relation,
    attribute,
    child,
    chosen_branch,
    inside,
    lines,
    local,
    texts,
)

_TITLES = frozenset({"title", "ctrTitle"})
_UNREAD_PLACEHOLDERS = frozenset({"sldNum", "sldImg"})
"""Placeholders of a slide's number and of its picture on the page of notes."""
_BULLETS = ("buChar", "buAutoNum", "buBlip")


def read_slides(raw: bytes) -> ExtractedText:
    """Text of a PowerPoint file: each slide a page, with title, shapes, comments and notes.

    Raises:
        SourceError: it is locked, of the older format, or has no main part.
    """
    package = Package(raw)
    relations = package.relations(package.main)
    listed = child(package.part(package.main), "sldIdLst")
    references = [_reference(one) for one in (() if listed is None else listed)]
    names = list(dict.fromkeys(relations[one].target for one in references if one in relations))
    slides = [_Slide(package, name) for name in names]
    pages = [(number, slide.text()) for number, slide in enumerate(slides, 1)]
    text = "\n\n".join(content for _, content in pages)
    warnings = package.left_out([part for slide in slides for part in slide.parts], text)
    empty = [str(number) for number, content in pages if not content]
    if empty:
        warnings.insert(0, f"slides without text, perhaps pictures: {', '.join(empty)}")
    if len(names) < len(references):
        warnings.insert(0, f"{len(references) - len(names)} slides are not in the file")
    return of_pages(pages, warnings)


def _reference(slide_id: Element) -> str:
    """Its ``r:id``, which stands beside an ``id`` of its own."""
    return next((str(value) for key, value in slide_id.attrib.items() if key.startswith("{")), "")


class _Slide:
    def __init__(self, package: Package, name: str) -> None:
        self._package = package
        self._relations: dict[str, Relation] = package.relations(name)
        self._name = name
        beside = ("notesSlide", "comments")
        self.parts = [name, *(one.target for one in self._relations.values() if one.kind in beside)]

    def text(self) -> str:
        """The title, the shapes in their order, comments, and the notes under a word of their own."""
        titles: list[TextBlock] = []
        blocks: list[TextBlock] = []
        for shape in _shapes(self._package.part(self._name)):
            if _placeholder(shape) in _TITLES and local(shape) == "sp":
                body = child(shape, "txBody")
                titles.append(heading(" ".join("".join(self._runs(one)) for one in inside(body, "p")), 2))
            else:
                blocks += self._shape(shape)
        for name in self.parts[1:]:
            root = self._package.part(name)
            blocks += _notes(self, root) if root is not None and local(root) == "notes" else _comments(root)
        return join_blocks([*titles, *blocks])

    def _shape(self, shape: Element) -> Iterator[TextBlock]:
        for one in shape.iter():
            name = local(one)
            if name == "cNvPr" and (shown := one_line(attribute(one, "descr") or "")):
                yield f"![{shown}]()"
            elif name == "txBody" and next(one.iterancestors("{*}tbl"), None) is None:
                yield from self.paragraphs(one)
            elif name == "tbl":
                cells = ([self._cell(cell) for cell in inside(row, "tc")] for row in inside(one, "tr"))
                yield table(list(cells))
            elif name in ("chart", "relIds"):
                yield from self._package.drawing_texts(self._relations, one)

    def _cell(self, cell: Element) -> str:
        return " ".join(
            text if isinstance(text, str) else text.text for text in self.paragraphs(child(cell, "txBody"))
        )

    def paragraphs(self, body: Element | None) -> Iterator[TextBlock]:
        """Its paragraphs; items of a list where one of them has a bullet or a level."""
        levels = [
            (attribute(one, "lvl") or "0") if (one := child(p, "pPr")) is not None else "0"
            for p in inside(body, "p")
        ]
        marked = [any(child(p, "pPr", bullet) is not None for bullet in _BULLETS) for p in inside(body, "p")]
        is_list, last = any(marked) or any(level != "0" for level in levels), -1
        for paragraph, level in zip(inside(body, "p"), levels, strict=True):
            text = "".join(self._runs(paragraph)).strip()
            if text and is_list:
                last = min(int(level) if level.isdecimal() else 0, last + 1)
                yield item(text, last)
            elif text:
                yield text

    def _runs(self, paragraph: Element) -> Iterator[str]:
        for run in paragraph:
            if local(run) == "br":
                yield "\n"
            elif local(run) in ("AlternateContent", "m"):
                branch = chosen_branch(run) if local(run) == "AlternateContent" else run
                formulas = (
                    [] if branch is None else [one for one in branch.iter() if local(one) in FORMULA_TAGS]
                )
                yield "".join(map(formula, formulas) if formulas or branch is None else texts(branch))
            else:
                text = "".join(texts(run))
                properties = child(run, "rPr")
                baseline = "0" if properties is None else attribute(properties, "baseline") or "0"
                if baseline not in ("0", "0%"):
                    text = subscript(text) if baseline.startswith("-") else superscript(text)
                click = child(properties, "hlinkClick")
                relation = self._relations.get("" if click is None else attribute(click, "id") or "")
                yield link(text, relation.target if relation is not None and relation.is_outside else None)


def _shapes(parent: Element | None) -> Iterator[Element]:
    """Shapes, frames and pictures, also those in groups."""
    for one in () if parent is None else parent:
        name = local(one)
        if name in ("sp", "graphicFrame", "pic", "cxnSp", "contentPart"):
            yield one
        elif name == "AlternateContent":
            yield from _shapes(chosen_branch(one))
        elif name in ("cSld", "spTree", "grpSp"):
            yield from _shapes(one)


def _placeholder(shape: Element) -> str:
    place = next(shape.iter("{*}ph"), None)
    return "" if place is None else attribute(place, "type") or ""


def _notes(slide: _Slide, root: Element) -> Iterator[TextBlock]:
    bodies = [
        child(shape, "txBody") for shape in _shapes(root) if _placeholder(shape) not in _UNREAD_PLACEHOLDERS
    ]
    written = [block for body in bodies for block in slide.paragraphs(body)]
    if written:
        yield "Notes:"
        yield from written


def _comments(root: Element | None) -> Iterator[TextBlock]:
    for one in () if root is None else root:
        text = " ".join(filter(None, lines(one)))
        if text:
            yield f"> Comment: {text}"
