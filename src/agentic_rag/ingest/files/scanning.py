"""What a scan of the given paths finds, while it grows and when it is done."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agentic_rag.domain import Document
from agentic_rag.ingest.files.extraction import Extractor
from agentic_rag.ingest.files.source_text import SourceError
from agentic_rag.ingest.remembered import SeenFiles, stamp_of_all

PARSER_VERSION = "7"
"""Part of every content hash: raise it when a parser gives another document for the same bytes."""

MAX_CHARACTERS, MAX_LINES = 20_000_000, 500_000
"""Of a file's text: to parse and to chunk it takes up to 1 KB of memory a line, and 30 bytes a character."""


@dataclass(frozen=True, slots=True)
class SourceItem:
    """One document that can be parsed."""

    document_id: str
    path: str
    """Relative to the root, as on disk."""
    root: str
    """Resolved path that was given."""
    content_hash: str
    """Unchanged while the document would be the same."""
    parse: Callable[[], Document]
    """Reads and parses; raises ``SourceError`` where the source changed or broke since it was found."""
    read_text: Callable[[], str] | None = None
    """Reads the text, where the document is that text; raises as ``parse``. None: only parsing tells."""
    is_exported: bool = False
    """A conversation, which the export of it that is ingested last gives, whatever file that is."""
    is_extracted: bool = False
    """A document or picture, which a process of its own takes up to seconds to read."""


@dataclass(frozen=True, slots=True)
class SkippedFile:
    """Something left out that the user may have expected, and why."""

    path: str
    reason: str
    is_unread: bool = False
    """The path exists but could not be read; its stored documents, and those below it, are kept."""


@dataclass(frozen=True, slots=True)
class SourceScan:
    """The documents in the paths, in order of path, exported conversations last; and the files left out."""

    items: tuple[SourceItem, ...]
    skipped_files: tuple[SkippedFile, ...]
    roots: tuple[str, ...]
    exports: tuple[tuple[str, str], ...] = ()
    """Of each export of another program its path, and what was read of it."""


@dataclass(slots=True)
class Scan:
    """A scan while it grows; a document id is given once."""

    holders: Mapping[str, str]
    seen_files: SeenFiles[Any] | None = None
    extractor: Extractor = field(default_factory=Extractor)
    items: dict[str, SourceItem] = field(default_factory=dict)
    skipped_files: list[SkippedFile] = field(default_factory=list)
    recognised_exports: list[tuple[str, str]] = field(default_factory=list)
    """See ``SourceScan.exports``."""
    _display_paths: dict[str, str] = field(default_factory=dict)

    def add(self, item: SourceItem, display_path: str) -> None:
        """Add a document. The first one with an id counts, unless the stored one is of a later root, which then
        counts."""
        identity = item.document_id
        taken = self.items.get(identity)
        left_out = display_path
        if taken is None or (taken.root != item.root and self.holders.get(identity) == item.root):
            self.items[identity] = item
            left_out, self._display_paths[identity] = self._display_paths.get(identity, ""), display_path
        if taken is not None:
            kept = self.items[identity]
            twins = item.root == taken.root and item.path != taken.path
            self.skip(
                left_out,
                f"its name and that of the one that is read, {kept.path!a}, differ only in Unicode normal form; rename it"
                if twins
                else f"its id {identity!r} is already that of {kept.path} in {kept.root}",
            )

    def add_part(self, name: str, paths: Sequence[Path], add: Callable[[Scan], None]) -> bool:
        """Add what files give together: what ``add`` finds in them, or what it found while they were the same. Whether
        that is anything, a document or a line of the report.

        Args:
            name: of the part; what is remembered of the same files under another name is not taken for it.
            paths: the files that ``add`` reads; at least one.
            add: adds to the scan that it is given; of other files that scan knows nothing.
        """
        key = (name, str(paths[0].parent))
        stamp = None if self.seen_files is None else stamp_of_all(paths)
        part: Scan | None = None if self.seen_files is None else self.seen_files.get(key, stamp)
        if part is None:
            part = Scan({}, extractor=self.extractor)
            add(part)
            if self.seen_files is not None and not any(one.is_unread for one in part.skipped_files):
                self.seen_files.keep(key, stamp, part)
        for item in part.items.values():
            self.add(item, part._display_paths[item.document_id])
        self.skipped_files += part.skipped_files
        self.recognised_exports += part.recognised_exports
        return bool(part.items or part.skipped_files)

    def skip(self, path: object, reason: str, *, is_unread: bool = False) -> None:
        """Leave something out, with a line in the report."""
        self.skipped_files.append(skipped_path(path, reason, is_unread=is_unread))

    def skip_folder(self, folder: Path, description: str, number: int) -> None:
        """Leave out a folder of so many files."""
        self.skip(
            folder, f"{description}; its {'1 file is' if number == 1 else f'{number} files are'} left out"
        )


def skipped_path(path: object, reason: str, *, is_unread: bool = False) -> SkippedFile:
    """Something left out, with a path that can be printed."""
    return SkippedFile(printable(str(path)), reason, is_unread)


def no_such_document(path: str, document_id: str) -> SourceError:
    """What to raise of a stored document that its file does not hold any more."""
    return SourceError(f"{path} does not hold {document_id!r} any more; ingest again")


def require_bounds(text: str) -> None:
    """Check the size of a document's text.

    Raises:
        SourceError: it has more than MAX_CHARACTERS or MAX_LINES.
    """
    lines = max(text.count("\n"), text.count("\r"))
    if len(text) > MAX_CHARACTERS or lines > MAX_LINES:
        raise SourceError(
            f"its text has {len(text):,} characters in {lines:,} lines, and the limits are {MAX_CHARACTERS:,} and "
            f"{MAX_LINES:,}; divide the file"
        )


def printable(path: str) -> str:
    """The path with bytes that are not UTF-8 written as escapes."""
    return path.encode("utf-8", "backslashreplace").decode("utf-8")
