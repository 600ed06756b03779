"""Links an author wrote (wikilinks, embeds, Markdown links and images to local files), and where they lead.

Where a link's path leads is decided as Obsidian decides it; paths alone are known here, no titles.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import takewhile
from pathlib import PurePosixPath
from urllib.parse import unquote

from agentic_rag.domain import Link

_NOTE_SUFFIXES = (".md", ".markdown")
FILE_SUFFIXES = (*_NOTE_SUFFIXES, ".canvas", ".txt")
_WIKILINK = re.compile(r"(!?)\[\[([^\[\]\r\n]+(?:\[[^\[\]\r\n]*\][^\[\]\r\n]*)*+)\]\]")
_TEXT = r"\[((?:[^\[\]\\]|\\.|\[(?:[^\[\]\\]|\\.)*+\])*+)\]"
_DESTINATION = (
    r"(<[^<>\r\n]*>|(?:[^\s()<\\]|\\.|\((?:[^\s()\\]|\\.)*+\))(?:[^\s()\\]|\\.|\((?:[^\s()\\]|\\.)*+\))*+)"
)
_TITLE = r"""(?:\s+(?:"[^"]*+"|'[^']*+'|\([^()]*+\)))?"""
_INLINE = re.compile(rf"(!?){_TEXT}\(\s*+{_DESTINATION}{_TITLE}\s*+\)", re.DOTALL)
_DEFINITION = re.compile(rf"^[ ]{{0,3}}\[(?!\^)([^\[\]\r\n]+)\]:[ \t]*+{_DESTINATION}", re.MULTILINE)
_EXTERNAL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//|\\\\")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")


def wikilinks(
    text: str, start: int, end: int, *, masked_text: str | None = None, relation: str | None = None
) -> Iterator[Link]:
    """``[[Note#Heading|alias]]``, ``[[Note#^block]]``, ``[[#Heading]]``, ``![[embed]]`` in text[start:end].

    ``masked_text`` is the text with code hidden (same length); links are found there and read from ``text``.
    """
    for match in _WIKILINK.finditer(text if masked_text is None else masked_text, start, end):
        opening = _opening(text, match)
        inner = text[match.start(2) : match.end(2)]
        # In a table the pipe before an alias is written \|, else it would end the cell.
        address, pipe, alias = inner.replace("\\|", "|", 1).partition("|")
        target, _, fragment = address.partition("#")
        named = _address(target, fragment)
        if opening is None or named is None:
            continue
        target, heading, block = named
        first, embed = opening
        shown = alias.strip() or None if pipe else None
        yield Link(target, first, match.end(), heading, block, shown, embed, relation)


def markdown_links(text: str, start: int, end: int, *, masked_text: str) -> Iterator[Link]:
    """``[text](file.md#Heading)``, ``![alt](picture%20one.png)`` and ``[ref]: file.md`` that name local files."""
    for match in _INLINE.finditer(masked_text, start, end):
        opening = _opening(text, match)
        if opening is not None:
            yield from _local(text, match, opening, alias=2, destination=3)
            # An image inside a link's text is a link of its own.
            yield from markdown_links(text, match.start(2), match.end(2), masked_text=masked_text)
    for match in _DEFINITION.finditer(masked_text, start, end):
        yield from _local(text, match, (match.start(), False), alias=1, destination=2)


def _opening(text: str, match: re.Match[str]) -> tuple[int, bool] | None:
    """Where a link opens and whether it embeds; a backslash takes the ``!`` or the bracket out of it."""
    escaped = is_escaped(text, match.start())
    if match.group(1):
        return match.start() + escaped, not escaped
    return None if escaped else (match.start(), False)


def _local(
    text: str, match: re.Match[str], opening: tuple[int, bool], *, alias: int, destination: int
) -> Iterator[Link]:
    written = text[match.start(destination) : match.end(destination)]
    if written.startswith("<"):
        written = written[1:-1]
    written = _ESCAPE.sub(r"\1", written)
    if _EXTERNAL.match(written):
        return
    path, _, fragment = written.partition("#")
    named = _address(unquote(path), unquote(fragment))
    if named is None:
        return
    target, heading, block = named
    first, embed = opening
    label = text[match.start(alias) : match.end(alias)].strip()
    yield Link(target, first, match.end(), heading, block, label or None, embed)


def _address(target: str, fragment: str) -> tuple[str, str | None, str | None] | None:
    """Target, heading and block of ``Note#Heading`` or ``Note#^block``; None where nothing is named."""
    target, fragment = target.strip(), fragment.strip()
    if not target and not fragment:
        return None
    before, caret, block = fragment.rpartition("^")
    if caret and (not before or before.endswith("#")):
        return target, before.rstrip("#").strip() or None, block.strip() or None
    return target, fragment or None, None


def is_escaped(text: str, position: int) -> bool:
    """Whether an odd number of backslashes precedes ``position``."""
    first = position
    while first > 0 and text[first - 1] == "\\":
        first -= 1
    return (position - first) % 2 == 1


@dataclass(frozen=True, slots=True)
class _Place:
    """A document by its path: folded parts without the suffix, which is kept apart."""

    document_id: str
    parts: tuple[str, ...]
    suffix: str


class NotePaths:
    """The paths (document ids) of a dataset.

    >>> NotePaths(["tea/Oolong.md", "old/Oolong.md"]).find("oolong", "old/Index.md")
    'old/Oolong.md'
    """

    def __init__(self, document_ids: Iterable[str]) -> None:
        self._places: dict[str, list[_Place]] = defaultdict(list)
        for document_id in document_ids:
            stem, suffix = _split_suffix(_fold(document_id))
            parts = tuple(part for part in stem.split("/") if part) or (stem,)
            self._places[parts[-1]].append(_Place(document_id, parts, suffix))

    def find(self, link_target: str, source_id: str = "") -> str | None:
        """The document a link means: exact path, then the end of a path or the file name; None for none.

        Case does not matter, ``.md`` is optional, ``./`` and ``../`` count from the source's folder. Of several,
        the one whose folder is nearest to the source's, then the shortest path, then the first in order.
        """
        folder = PurePosixPath(_fold(source_id)).parts[:-1]
        wanted, suffix = _wanted_path(link_target, folder)
        if not wanted:
            return None
        places = [p for p in self._places.get(wanted[-1], ()) if p.parts[-len(wanted) :] == wanted]
        best = min(places, key=lambda place: _rank(place, wanted, suffix, folder), default=None)
        return None if best is None else best.document_id


def _fold(path: str) -> str:
    return unicodedata.normalize("NFC", path.replace("\\", "/")).casefold()


def _split_suffix(path: str) -> tuple[str, str]:
    suffix = next((suffix for suffix in FILE_SUFFIXES if path.endswith(suffix)), "")
    return path.removesuffix(suffix), suffix


def _wanted_path(link_target: str, folder: tuple[str, ...]) -> tuple[tuple[str, ...], str]:
    """Path parts and suffix a link asks for."""
    stem, suffix = _split_suffix(_fold(link_target).strip())
    raw = stem.split("/")
    parts: list[str] = list(folder) if raw[0] in (".", "..") else []
    for part in raw:
        if part == "..":
            parts = parts[:-1]
        elif part not in ("", "."):
            parts.append(part)
    return tuple(parts), suffix


def _rank(
    place: _Place, wanted_parts: tuple[str, ...], suffix: str, folder: tuple[str, ...]
) -> tuple[bool, bool, int, int, str]:
    own = place.parts[:-1]
    shared = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(own, folder, strict=False)))
    named_so = place.suffix == suffix if suffix else place.suffix in _NOTE_SUFFIXES
    distance = len(own) + len(folder) - 2 * shared
    return not named_so, place.parts != wanted_parts, distance, len(place.parts), place.document_id
