"""Exports of conversations in a scan: which files are some, and the documents that they give together."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from agentic_rag.domain import Document
from agentic_rag.domain.identity import digest
from agentic_rag.ingest.chats.exports import SUFFIXES, may_be_export, read_exports
from agentic_rag.ingest.chats.merging import FoundExport, merge_exports
from agentic_rag.ingest.chats.messages import parse_day
from agentic_rag.ingest.files import SourceError
from agentic_rag.ingest.remembered import stamp_of
from agentic_rag.ingest.scanning import (
    PARSER_VERSION,
    Scan,
    SourceItem,
    printable,
    require_bounds,
)


def add_export(path: Path, root: Path, relative: str, kind: str, scan: Scan) -> bool:
    """Keep a file that is an export of conversations for the end of the scan, and tell a broken one; False for any
    other file. ``kind``: see ``discover``."""
    if path.suffix.lower() not in SUFFIXES or printable(relative) != relative:
        return False
    key, stamp = (str(path), str(root), kind, "export"), None if scan.seen_files is None else stamp_of(path)
    exports = None if scan.seen_files is None else scan.seen_files.get(key, stamp)
    try:
        if exports is None:
            # A .json that is named itself may be called anything.
            is_named = path == root and (kind != "auto" or path.suffix.lower() == ".json")
            is_worth = is_named or may_be_export(path)
            exports = (
                read_exports(path, root, None if kind == "auto" else kind, scan.names) if is_worth else ()
            )
    except SourceError as error:
        scan.skip(path, str(error), is_unread=True)
        return True
    except OSError:
        return False
    if scan.seen_files is not None:
        scan.seen_files.keep(key, stamp, exports)
    scan.exports += [FoundExport(export, path, root, relative) for export in exports]
    return bool(exports)


def add_conversations(scan: Scan) -> None:
    """Add the days of all exports that were kept."""
    chosen, lines = merge_exports(scan.exports)
    for day in chosen:
        root, relative = str(day.export_file.root), day.export_file.relative
        parse = partial(_parse_day, day.document_id, relative, day.thread.title, day.messages, day.thread.url)
        content_hash = digest(PARSER_VERSION, day.digest)
        item = SourceItem(day.document_id, relative, root, content_hash, parse, is_exported=True)
        scan.add(item, f"{day.export_file.path}: {day.document_id}")
    scan.recognised_exports += [(str(place), line) for place, line in lines]


def exported_document(root: Path, relative: str, document_id: str) -> Document | None:
    """A document of an export of conversations below a root, read anew; None where the file does not hold it.

    Raises:
        SourceError: its text is beyond the limits.
    """
    scan = Scan({})
    add_export(root if root.is_file() else root / relative, root, relative, "auto", scan)
    add_conversations(scan)
    item = scan.items.get(document_id)
    return None if item is None else item.parse()


def _parse_day(document_id: str, *day_value: Any) -> Document:
    document = parse_day(document_id, *day_value)
    require_bounds(document.text)
    return document
