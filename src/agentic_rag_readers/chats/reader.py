"""Exports of conversations in a scan: which files are some, and the documents that they give together."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from agentic_rag.domain import Document
from agentic_rag.domain.identity import digest
from agentic_rag.ingest.files.folders import walk
from agentic_rag.ingest.files.readers import Reader, ScannedFile
from agentic_rag.ingest.files.scanning import (
    PARSER_VERSION,
    Scan,
    SourceItem,
    printable,
    require_bounds,
)
from agentic_rag.ingest.files.source_text import SourceError
from agentic_rag.ingest.remembered import stamp_of
from agentic_rag_readers.chats.exports import CHATS, SUFFIXES, Export, may_be_export, read_exports
from agentic_rag_readers.chats.merging import FoundExport, merge_exports
from agentic_rag_readers.chats.messages import parse_day
from agentic_rag_readers.chats.slack import Names


class ChatExports(Reader):
    """Reads the exports of a scan, and merges them at its end."""

    kinds = tuple(CHATS)

    def __init__(self, scan: Scan) -> None:
        super().__init__(scan)
        self._exports: list[FoundExport] = []
        self._names: dict[str, Names] = {}
        """Of the people in Slack's exports, by their place."""

    def read(self, root: Path, kind: str) -> None:
        """Read all exports of a kind in a folder, or a file that is one."""
        if not root.is_dir():
            if not self.take(ScannedFile(root, root, root.name, kind)):
                self.scan.skip(root, f"no export of {CHATS[kind]}")
            return
        for path, relative in walk(root, self.scan.skip):
            self.take(ScannedFile(path, root, relative, kind))
        if all(one.root != root for one in self._exports):
            self.scan.skip(root, f"no export of {CHATS[kind]} is in it")

    def take(self, file: ScannedFile) -> bool:
        """Remember a file that is an export of conversations, and tell a broken one."""
        if file.kind not in ("auto", *CHATS) or file.suffix not in SUFFIXES:
            return False
        if printable(file.relative) != file.relative:
            return False
        seen = self.scan.seen_files
        key, stamp = (
            (str(file.path), str(file.root), file.kind, "export"),
            None if seen is None else stamp_of(file.path),
        )
        exports = None if seen is None else seen.get(key, stamp)
        try:
            if exports is None:
                exports = self._read(file)
        except SourceError as error:
            self.scan.skip(file.path, str(error), is_unread=True)
            return True
        except OSError:
            return False
        if seen is not None:
            seen.keep(key, stamp, exports)
        self._exports += [FoundExport(export, file.path, file.root, file.relative) for export in exports]
        return bool(exports)

    def _read(self, file: ScannedFile) -> tuple[Export, ...]:
        # A .json that is named itself may be called anything.
        is_named = file.is_root and (file.kind != "auto" or file.suffix == ".json")
        if not is_named and not may_be_export(file.path):
            return ()
        kind = None if file.kind == "auto" else file.kind
        return read_exports(file.path, file.root, kind, self._names)

    def refusal(self, file: ScannedFile) -> str:
        """Whose exports a JSON file is not."""
        is_other = file.kind == "auto" and file.suffix == ".json"
        return f"nor an export of {', '.join(CHATS.values())}" if is_other else ""

    def end(self) -> None:
        """Add the days of all exports."""
        chosen, lines = merge_exports(self._exports)
        for day in chosen:
            root, relative = str(day.export_file.root), day.export_file.relative
            parse = partial(
                _parse_day, day.document_id, relative, day.thread.title, day.messages, day.thread.url
            )
            content_hash = digest(PARSER_VERSION, day.digest)
            item = SourceItem(day.document_id, relative, root, content_hash, parse, is_exported=True)
            self.scan.add(item, f"{day.export_file.path}: {day.document_id}")
        self.scan.recognised_exports += [(str(place), line) for place, line in lines]

    def made_text(self, root: Path, path: str, document_id: str) -> str | None:
        """The text of a day, from its export alone."""
        if document_id.partition("/")[0] not in CHATS:
            return None
        self.take(ScannedFile(root if root.is_file() else root / path, root, path))
        self.end()
        item = self.scan.items.get(document_id)
        return None if item is None else item.parse().text


def _parse_day(document_id: str, *day_value: Any) -> Document:
    document = parse_day(document_id, *day_value)
    require_bounds(document.text)
    return document
