"""Which document a link's path leads to, as Obsidian decides it; knows paths only, no titles."""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePosixPath

_NOTE_SUFFIXES = (".md", ".markdown")
FILE_SUFFIXES = (*_NOTE_SUFFIXES, ".canvas", ".txt")


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
        wanted, suffix = _wanted(link_target, folder)
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


def _wanted(link_target: str, folder: tuple[str, ...]) -> tuple[tuple[str, ...], str]:
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
    place: _Place, wanted: tuple[str, ...], suffix: str, folder: tuple[str, ...]
) -> tuple[bool, bool, int, int, str]:
    own = place.parts[:-1]
    shared = 0
    for left, right in zip(own, folder, strict=False):
        if left != right:
            break
        shared += 1
    named_so = place.suffix == suffix if suffix else place.suffix in _NOTE_SUFFIXES
    distance = len(own) + len(folder) - 2 * shared
    return not named_so, place.parts != wanted, distance, len(place.parts), place.document_id
