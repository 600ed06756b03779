"""The zip of XML parts that Word and PowerPoint files are, and what of it did not reach a text."""

from __future__ import annotations

import posixpath
import unicodedata
import zipfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from typing import Any
from urllib.parse import unquote

from lxml import etree

from agentic_rag.ingest.files.source_text import SourceError
from agentic_rag_readers.formats.markdown_text import one_line

Element = Any
"""An element of lxml, whose types need a package of their own."""
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
DELETION_TAGS = frozenset({"del", "moveFrom"})
_TEXTS = frozenset({"t", "text", "v"})
_WRAPPERS = frozenset({"sdt", "sdtContent", "customXml", "ins", "moveTo", "AlternateContent", "Choice"})
_MAX_NAMES = 3


@dataclass(frozen=True, slots=True)
class Relation:
    """What an id in a part refers to."""

    kind: str
    """Last step of its type: ``hyperlink``, ``comments``, ``notesSlide``."""
    target: str
    """Name of a part, or an address outside the file."""
    is_outside: bool


def local(element: Element) -> str:
    """An element's name without its namespace, which strict files have another of; "" for what is none."""
    return _without_namespace(element.tag) if isinstance(element.tag, str) else ""


def attribute(element: Element, name: str) -> str | None:
    """The first attribute of this local name."""
    return next(
        (str(value) for key, value in element.attrib.items() if _without_namespace(key) == name), None
    )


def _without_namespace(name: str) -> str:
    # Of pages a name may also have a prefix that stands for nothing.
    return name.rpartition("}")[2].rpartition(":")[2]


def child(element: Element | None, *names: str) -> Element | None:
    """The element at a path of local names."""
    for name in names:
        element = None if element is None else next((one for one in element if local(one) == name), None)
    return element


def inside(element: Element | None, name: str) -> Iterator[Element]:
    """The elements of a name in an element, also those in wrappers around them; none inside each other."""
    for one in () if element is None else element:
        if local(one) == name:
            yield one
        elif local(one) in _WRAPPERS:
            yield from inside(one, name)


def chosen_branch(alternates: Element) -> Element | None:
    """Of ``mc:AlternateContent`` the branch that is read: the first that holds text."""
    branches = [one for one in alternates if local(one) in ("Choice", "Fallback")]
    with_text = (
        one for one in branches if any(local(inner) in _TEXTS and inner.text for inner in one.iter())
    )
    return next(with_text, branches[0] if branches else None)


def texts(element: Element) -> Iterator[str]:
    """The texts in an element, in order, without deleted ones, other forms of the same, and numbers of slides."""
    name = local(element)
    if name == "fld" and (attribute(element, "type") or "").startswith("slidenum"):
        return
    if name in _TEXTS:
        yield element.text or ""
    elif name in ("br", "tab"):
        yield " "
    branch = chosen_branch(element) if name == "AlternateContent" else element
    for one in () if branch is None else branch:
        if local(one) not in DELETION_TAGS:
            yield from texts(one)


def lines(element: Element) -> Iterator[str]:
    """The texts in an element, each paragraph whole, however many runs it is written in."""
    if local(element) == "p" or (local(element) in _TEXTS and not len(element)):
        yield one_line("".join(texts(element)))
    else:
        branch = chosen_branch(element) if local(element) == "AlternateContent" else element
        for one in () if branch is None else branch:
            if local(one) not in DELETION_TAGS:
                yield from lines(one)


class Package:
    """The parts of a file; what is damaged raises what ``zipfile`` and ``lxml`` raise.

    Raises:
        SourceError: it is locked, of the older format, or has no main part.
    """

    def __init__(self, raw: bytes) -> None:
        if raw.startswith(_OLE):
            is_locked = "EncryptedPackage".encode("utf-16-le") in raw
            raise SourceError(
                "it is locked by a password"
                if is_locked
                else "it is of the older format; save it as .docx or .pptx"
            )
        self._archive = zipfile.ZipFile(BytesIO(raw))
        self.names = {name.lower(): name for name in self._archive.namelist()}
        main = [one.target for one in self.relations("").values() if one.kind == "officeDocument"]
        if not main or main[0].lower() not in self.names:
            raise SourceError("it is damaged (no main part)")
        self.main = main[0]

    def part(self, name: str) -> Element | None:
        """The root of a part; None where the file has none of this name."""
        there = self.names.get(name.lower())
        if there is None:
            return None
        parser = etree.XMLParser(
            resolve_entities=False, no_network=True, remove_comments=True, remove_pis=True
        )
        return etree.fromstring(self._archive.read(there), parser)

    def drawing_texts(self, relations: dict[str, Relation], reference: Element) -> list[str]:
        """The texts of a chart or a diagram, as one block; none where the file has no such part.

        Its relation is taken out of ``relations``: where it is referred to again, it is not read again.
        """
        relation = relations.pop(attribute(reference, "dm") or attribute(reference, "id") or "", None)
        root = None if relation is None else self.part(relation.target)
        return [] if root is None else ["; ".join(filter(None, lines(root)))]

    def relations(self, name: str) -> dict[str, Relation]:
        """The relations of a part, by id; "" is the whole file."""
        folder, file = posixpath.split(name)
        root = self.part(posixpath.join(folder, "_rels", f"{file}.rels"))
        return {} if root is None else dict(self._relation(one, folder) for one in root)

    def _relation(self, element: Element, folder: str) -> tuple[str, Relation]:
        kind = str(element.get("Type", "")).rpartition("/")[2]
        target, is_outside = str(element.get("Target", "")), element.get("TargetMode") == "External"
        if not is_outside:
            path = unquote(target)
            target = posixpath.normpath(
                path.lstrip("/") if path.startswith("/") else posixpath.join(folder, path)
            )
        return str(element.get("Id", "")), Relation(kind, target, is_outside)

    def parts_of_kind(self, name: str, kind: str) -> list[str]:
        """Names of the parts of a kind that a part refers to."""
        return [
            one.target for one in self.relations(name).values() if one.kind == kind and not one.is_outside
        ]

    def left_out(self, parts: list[str], text: str) -> list[str]:
        """Lines about texts of the parts that are not in ``text``, by letters, and about files in the file."""
        lines = [line for name in parts if (line := self._missing(name, text)) is not None]
        inner = [name for low, name in self.names.items() if "/embeddings/" in low and not low.endswith("/")]
        inner += self.parts_of_kind(self.main, "aFChunk")
        if inner:
            files = "1 file in it was" if len(inner) == 1 else f"{len(inner)} files in it were"
            lines.append(f"{files} not read: {', '.join(map(posixpath.basename, inner[:_MAX_NAMES]))}")
        return lines

    def _missing(self, name: str, text: str) -> str | None:
        root = self.part(name)
        if root is None:
            return f"{name} is not in the file"
        written = [one for one in texts(root) if one.strip()]
        if not Counter(_letters("".join(written))) - Counter(_letters(text)):
            return None
        whole = _letters(text)
        lost = [one.strip() for one in written if _letters(one) not in whole] or written[:1]
        runs = "1 text was" if len(lost) == 1 else f"{len(lost)} texts were"
        return f"{runs} not read of {name}, such as {lost[0][:40]!r}"


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKC", text)))
