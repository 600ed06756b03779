"""Texts before documents and pictures: the notes of a folder are answered from while its scans are still being read."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from agentic_rag.domain.ports import DocumentRecord
from agentic_rag.ingest.files.scanning import SkippedFile, SourceItem, SourceScan
from agentic_rag.ingest.planning import Action, FileReport, file_place, is_stored_as

STORING_ACTIONS: frozenset[Action] = frozenset({"added", "changed", "relinked"})


@dataclass(frozen=True, slots=True)
class Layers:
    """A scan in two parts: ``texts`` is stored before ``waiting`` is read."""

    texts: SourceScan
    waiting: tuple[SourceItem, ...]

    def marks(self, records: Mapping[str, DocumentRecord]) -> list[DocumentRecord]:
        """Pending records of what waits and is not stored yet, so that it counts as not ingested meanwhile."""
        return [
            DocumentRecord(item.document_id, item.root, item.path, "", "", (), pending=True)
            for item in self.waiting
            if item.document_id not in records
        ]


def layers(
    scan: SourceScan, records: Mapping[str, DocumentRecord], not_tried: Collection[str]
) -> Layers | None:
    """The layers of a scan; None where it is stored as one: nothing new takes long to read, nothing else is new, or a
    document is gone, whose vectors its new place may take over.

    Args:
        scan: what is there.
        records: what is stored, by document id.
        not_tried: ids of documents that could not be read and are as they were.
    """
    there = {item.document_id for item in scan.items}
    if any(record.root in scan.roots and name not in there for name, record in records.items()):
        return None
    new = [
        item
        for item in scan.items
        if item.document_id not in not_tried
        and not ((record := records.get(item.document_id)) and is_stored_as(record, item))
    ]
    waiting = tuple(item for item in new if item.is_extracted)
    if not waiting or len(waiting) == len(new):
        return None
    ids = {item.document_id for item in waiting}
    unread = tuple(SkippedFile(str(file_place(item.root, item.path)), "", is_unread=True) for item in waiting)
    items = tuple(item for item in scan.items if item.document_id not in ids)
    return Layers(replace(scan, items=items, skipped_files=(*scan.skipped_files, *unread)), waiting)


def joined_reports(first: Sequence[FileReport], last: Sequence[FileReport]) -> list[FileReport]:
    """What became of each file in both layers; what the first one wrote is unchanged for the last."""
    written: dict[str, list[FileReport]] = defaultdict(list)
    for file in first:
        if file.action in STORING_ACTIONS:
            written[file.path].append(file)
    return [
        written[file.path].pop(0) if file.action in ("unchanged", "relinked") and written[file.path] else file
        for file in last
    ]


def never_read(
    records: Mapping[str, DocumentRecord], roots: Collection[str], work_ids: Collection[str]
) -> list[str]:
    """Ids of documents of the roots that only ``Layers.marks`` marked and that are not written now: they cannot be read."""
    return [
        name
        for name, record in records.items()
        if record.root in roots and record.pending and not (record.chunks or record.names or name in work_ids)
    ]
