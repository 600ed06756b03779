"""Readers of what other programs export: conversations, notebooks, collections. Each is an entry of ``agentic_rag.readers``."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import ClassVar

from agentic_rag.extensions import entries
from agentic_rag.ingest.files.scanning import Scan


@dataclass(frozen=True, slots=True)
class ScannedFile:
    """A file that a reader may take."""

    path: Path
    root: Path
    """Resolved path that was given: a folder, or the file itself."""
    relative: str
    """Path below the root, or the root's name."""
    kind: str = "auto"
    """What the root is read as: ``auto``, ``vault`` or ``files``."""

    @property
    def is_root(self) -> bool:
        """Whether the file was named itself."""
        return self.path == self.root

    @property
    def suffix(self) -> str:
        """In lower case."""
        return self.path.suffix.lower()


class Reader:
    """A class that is an entry of ``agentic_rag.readers``. An object of it serves one scan, and adds what it finds by
    ``self.scan.add`` and ``self.scan.skip``; a subclass overrides what it needs.

    Readers are asked in the order of their entries' names.
    """

    kinds: ClassVar[tuple[str, ...]] = ()
    """Values of ``--kind`` that name it."""

    def __init__(self, scan: Scan) -> None:
        self.scan = scan

    def read(self, root: Path, kind: str) -> None:
        """Read a file or folder that was given with one of ``kinds``.

        Raises:
            OSError: it cannot be read.
        """

    def take(self, file: ScannedFile) -> bool:
        """Whether a file that was given without such a kind, or lies in a folder, is one of this reader's, which then
        adds its documents or tells what is wrong with it; no other reader is asked then, and it is not read as a note.

        Raises:
            OSError: it cannot be read.
        """
        return False

    def refusal(self, file: ScannedFile) -> str:
        """Part of the line on a file named itself that is read as nothing: what it is not; "" to say nothing. The last
        reader speaks first."""
        return ""

    def end_root(self, root: Path) -> None:
        """Add what files of a root give together, after its last one."""

    def end(self) -> None:
        """Add what files of all roots give together, after the last root."""

    def made_text(self, root: Path, path: str, document_id: str) -> str | None:
        """The text of a stored document, as citations count in it; None where it is not known to be of this reader.
        A document whose id is not its path is looked for in what ``take`` adds of its file, if no reader gives it here.

        Args:
            root: that was ingested.
            path: of the file below the root, or the root's name.
            document_id: of the document.

        Raises:
            SourceError: it is of this reader, and cannot be read any more.
            OSError: its file cannot be read.
        """
        return None


@cache
def _all_readers() -> tuple[type[Reader], ...]:
    return tuple(point.load() for _, point in sorted(entries("readers").items()))


def open_readers(scan: Scan) -> tuple[Reader, ...]:
    """The installed readers, for a scan."""
    return tuple(reader(scan) for reader in _all_readers())


def kinds() -> tuple[str, ...]:
    """All values of ``--kind``."""
    return ("auto", "vault", "files", *(kind for reader in _all_readers() for kind in reader.kinds), "jsonl")
