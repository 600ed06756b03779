"""The plan of an ingest: compares the sources with the stored documents, before anything is written."""

from __future__ import annotations

import pickle
import re
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Literal

from agentic_rag.domain import Document
from agentic_rag.domain.identity import digest
from agentic_rag.domain.ports import DocumentRecord
from agentic_rag.domain.progress import Progress
from agentic_rag.ingest.facts.names import TitleIndex, changed_names, document_names, mentions_any
from agentic_rag.ingest.files.extraction import ExtractionFailure
from agentic_rag.ingest.files.scanning import SourceItem, SourceScan
from agentic_rag.ingest.files.source_text import NothingToRead, SourceError
from agentic_rag.ingest.remembered import DatasetCache
from agentic_rag.notes.bases import SUFFIX
from agentic_rag.notes.catalogue import note_of

FORMAT_VERSION = "written-6"
"""Prefix of every graph hash. Raise it when the same note would give other facts."""
BY_CHAT = "chat-1"
"""Prefix for extraction by a chat model, whose facts do not depend on other notes' names."""


_ESCAPE = re.compile(r"&#?\w+;|\\[uUxN]")
"""Letters that are written as something else: in HTML, or in a property between double quotes."""


Action = Literal["added", "changed", "unchanged", "relinked", "removed", "skipped", "failed", "recognised"]
"""``relinked``: the text is unchanged, but a name that it mentions now means another note. ``recognised``: an export of
conversations; its documents have entries of their own."""


@dataclass(frozen=True, slots=True)
class FileReport:
    """One file, record or session."""

    path: str
    action: Action
    reason: str | None = None
    """Why it was skipped or failed, its irregularity, or what it was recognised as."""
    chunks: int = 0
    facts: int = 0


@dataclass(frozen=True, slots=True)
class UnreadableFile(FileReport):
    """A file that could not be read and is not tried again until it changes."""


@dataclass(frozen=True, slots=True)
class Work:
    """A document to store, parsed and packed; unpacked it takes six times the memory, and a plan holds a whole
    vault."""

    item: SourceItem
    action: Action
    names: tuple[str, ...]
    text_bytes: int
    """Of its text in UTF-8."""
    packed_document: bytes
    """The document, for ``unpack``."""
    note: bytes = b""
    """Its row of the catalogue, packed."""

    @classmethod
    def of(cls, item: SourceItem, document: Document, action: Action) -> Work:
        return cls(
            item,
            action,
            document_names(document),
            len(document.text.encode("utf-8", "replace")),
            zlib.compress(pickle.dumps(document, pickle.HIGHEST_PROTOCOL), 1),
            note_of(document).pack(),
        )

    @property
    def document(self) -> Document:
        """Unpacked anew at each call."""
        return unpack(self.packed_document)


def unpack(packed_document: bytes) -> Document:
    """The document of a ``Work``."""
    document: Document = pickle.loads(zlib.decompress(packed_document))
    return document


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be done, and what there is to tell already."""

    work: tuple[Work, ...]
    removed_records: tuple[DocumentRecord, ...]
    """Stored, and no longer there."""
    untouched_records: tuple[DocumentRecord, ...]
    """Documents with unchanged text and facts whose record changes: the new ``graph_hash``, or a moved folder."""
    files: tuple[FileReport, ...]
    """Reports on everything that is not in ``work``."""
    titles: TitleIndex
    """The names of all documents as they will be."""
    graph_hash: str
    """Hash of the way facts are made and of all names."""
    failures: tuple[tuple[SourceItem, str], ...] = ()
    """Sources that are not tried again until they change, and why; those of this plan too."""


Parse = Callable[[Sequence[tuple[SourceItem, Action]]], Iterable[Work | FileReport]]
"""See ``engines.IngestEngine``."""


@dataclass(frozen=True, slots=True)
class StoredDataset:
    """What earlier runs left of a dataset."""

    records: Mapping[str, DocumentRecord]
    """What is stored, by document id."""
    reasons: Mapping[str, str] = field(default_factory=dict)
    """Why a source is not tried again, by document id."""
    cache: DatasetCache = field(default_factory=DatasetCache)
    """From earlier plans of the dataset; a plan adds to it."""


def make_plan(scan: SourceScan, state: StoredDataset, way: str, parse: Parse, progress: Progress) -> Plan:
    """The plan; parses the changed documents, and unchanged ones that may mention a changed name.

    Args:
        scan: what is there.
        state: what the dataset has.
        way: FORMAT_VERSION, or BY_CHAT where a chat model extracts.
        parse: parses items, in order.
        progress: told of each item that was looked at.
    """
    records, reasons, cache = state.records, state.reasons, state.cache
    files = [FileReport(skipped.path, "skipped", skipped.reason) for skipped in scan.skipped_files]
    files += [FileReport(path, "recognised", what) for path, what in scan.exports]
    files += _left_alone(scan, records)
    taken_over = _taken_over(scan, records)
    wanted: list[tuple[SourceItem, Action]] = []
    unchanged: list[tuple[SourceItem, DocumentRecord]] = []
    failures = [(item, reasons[item.document_id]) for item in scan.items if item.document_id in reasons]
    for item in scan.items:
        record = records.get(item.document_id)
        if item.document_id in reasons:
            files.append(FileReport(item.path, "skipped", reasons[item.document_id]))
        elif record is not None and _holds_another(record, item, taken_over):
            files.append(_refusal(item, record))
        elif record is not None and is_stored_as(record, item):
            unchanged.append((item, record))
        else:
            is_stored = record is not None and not (record.pending and record.chunks == 0)
            wanted.append((item, "changed" if is_stored else "added"))
    work: list[Work] = []
    parsing = zip(parse(wanted), wanted, strict=True)
    for number, (found, (item, _)) in enumerate(parsing, start=len(scan.items) - len(wanted) + 1):
        work.append(found) if isinstance(found, Work) else files.append(found)
        if isinstance(found, UnreadableFile):
            failures.append((item, str(found.reason)))
        progress("read", number, len(scan.items))
    removed = _removed_records(scan, records, taken_over)
    files += [FileReport(record.path, "removed", taken_over.get(record.document_id)) for record in removed]
    relinking = _Relinking.of(work, [record for _, record in unchanged], removed, records, way, cache)
    untouched = []
    for item, record in unchanged:
        found = relinking.outcome(item, record)
        work.append(found) if isinstance(found, Work) else files.append(found)
        if isinstance(found, UnreadableFile):
            failures.append((item, str(found.reason)))
        is_unchanged = isinstance(found, FileReport) and found.action == "unchanged"
        # The folder may have been moved: what is unchanged goes with it.
        if is_unchanged and (record.graph_hash, record.root) != (relinking.graph_hash, item.root):
            untouched.append(replace(record, root=item.root))
    return Plan(
        tuple(work),
        removed,
        tuple(untouched),
        tuple(files),
        relinking.titles,
        relinking.graph_hash,
        tuple(failures),
    )


def _taken_over(scan: SourceScan, records: Mapping[str, DocumentRecord]) -> dict[str, str | None]:
    """Stored documents of roots within a scanned folder, mapped to the same document of the scan, or to None if it is
    gone. Keeping them would store a note twice, under two ids."""
    others = {record.root for record in records.values()} - set(scan.roots)
    within = {root: over for root in others for over in scan.roots if Path(over) in Path(root).parents}
    if not within:
        return {}
    scanned = {file_place(item.root, item.path): item.document_id for item in scan.items}
    found: dict[str, str | None] = {}
    for record in records.values():
        if record.root in within:
            place = file_place(record.root, record.path)
            if place in scanned:
                found[record.document_id] = f"it now belongs to {within[record.root]}, as {scanned[place]}"
            elif _is_gone(str(place)):
                found[record.document_id] = None
    return found


def is_stored_as(record: DocumentRecord, item: SourceItem) -> bool:
    """Whether the stored document is whole and of the same content."""
    return not record.pending and record.content_hash == item.content_hash


def file_place(root: str, path: str) -> Path:
    """Path of a document's file; the root if the file itself was given."""
    return Path(root) if Path(root).name == path and Path(root).is_file() else Path(root) / path


def _holds_another(record: DocumentRecord, item: SourceItem, taken_over: Mapping[str, str | None]) -> bool:
    """Whether the id belongs to a document of another root that stays, and is no older export of the same."""
    stays = record.document_id not in taken_over and not _is_gone(record.root)
    return record.root != item.root and stays and not item.is_exported


def _refusal(item: SourceItem, record: DocumentRecord) -> FileReport:
    path = item.root if Path(item.root).is_file() else item.path
    return FileReport(path, "skipped", f"{record.root} holds a note of that id; choose another --dataset")


def parse_item(item: SourceItem, action: Action) -> Work | FileReport:
    """The parsed document, or why it cannot be."""
    try:
        return Work.of(item, item.parse(), action)
    except NothingToRead as error:
        return UnreadableFile(item.path, "skipped", str(error))
    except ExtractionFailure as error:
        return UnreadableFile(item.path, "failed", str(error))
    except SourceError as error:
        return FileReport(item.path, "failed", str(error))


def _is_gone(root: str) -> bool:
    """Whether the path is missing; False if that cannot be checked: no permission, or a drive that does not
    answer."""
    try:
        return not Path(root).exists()
    except OSError:
        return False


def _left_alone(scan: SourceScan, records: Mapping[str, DocumentRecord]) -> list[FileReport]:
    """Reports on roots outside this run that need care: missing ones (a drive not mounted, a moved folder), and
    ones with an interrupted write or removal."""
    moved = {item.document_id for item in scan.items}
    left: dict[str, list[DocumentRecord]] = {}
    for record in records.values():
        if record.root not in scan.roots and record.document_id not in moved:
            left.setdefault(record.root, []).append(record)
    files = []
    for root, held in sorted(left.items()):
        pending = sum(record.pending for record in held)
        if _is_gone(root):
            why = f"missing, but {len(held)} of its documents are stored; agentic-rag remove with this path removes them"
        elif pending:
            why = f"interrupted while {pending} of its documents were written or removed; ingest or remove it again"
        else:
            continue
        files.append(FileReport(root, "skipped", why))
    return files


def _removed_records(
    scan: SourceScan, records: Mapping[str, DocumentRecord], taken_over: Mapping[str, str | None]
) -> tuple[DocumentRecord, ...]:
    """Stored documents of the scanned roots, or taken over by them, that are gone; not those that only could not
    be read."""
    present = {item.document_id for item in scan.items}
    unread = {skipped.path for skipped in scan.skipped_files if skipped.is_unread}
    return tuple(
        record
        for record in records.values()
        if (record.root in scan.roots or record.document_id in taken_over)
        and record.document_id not in present
        and not _is_under(record, unread)
    )


def _is_under(record: DocumentRecord, unread_paths: Set[str]) -> bool:
    """Whether a document is missing only because its file, or a folder over it, could not be read."""
    place = file_place(record.root, record.path)
    return bool(unread_paths) and any(
        str(path) in unread_paths for path in (place, *place.parents, Path(record.root))
    )


@dataclass(frozen=True, slots=True)
class _Relinking:
    """Decides which unchanged documents need new facts because other documents were renamed, added or removed."""

    titles: TitleIndex
    graph_hash: str
    names: frozenset[str]
    """Names with a changed meaning, or without a meaning now."""
    is_one_index: bool
    """Whether the facts of all unchanged documents were made with the previous names; then only ``names``
    matter."""

    @classmethod
    def of(
        cls,
        work: Sequence[Work],
        unchanged_records: Sequence[DocumentRecord],
        removed_records: Sequence[DocumentRecord],
        records: Mapping[str, DocumentRecord],
        way: str,
        cache: DatasetCache,
    ) -> _Relinking:
        gone = {record.document_id for record in removed_records}
        now = {done.item.document_id: done.names for done in work}
        held = {r.document_id: r.names for r in records.values() if r.document_id not in gone} | now
        # A pending document's record has its new names already; what it was called before is not known.
        before = {r.document_id: r.names for r in records.values() if not r.pending}
        after = {identity: names for identity, names in before.items() if identity not in gone} | now
        hashes = {record.graph_hash for record in unchanged_records if record.graph_hash}
        # A document that only waits to be read has no name yet that another note's facts could rest on.
        whole = not any(r.pending and (r.names or r.chunks) for r in records.values())
        graph_hash = _graph_hash(way, held)
        if cache.titles is None or cache.titles[0] != graph_hash:
            cache.titles = graph_hash, TitleIndex(sorted(held.items()))
        hash_before = graph_hash if before == held else _graph_hash(way, before)
        return cls(
            titles=cache.titles[1],
            graph_hash=graph_hash,
            names=frozenset() if before == after else changed_names(before, after),
            # False if another path of the dataset was ingested or removed since these facts were made.
            is_one_index=whole and hashes == {hash_before},
        )

    def outcome(self, item: SourceItem, record: DocumentRecord) -> Work | FileReport:
        """Work where an unchanged document's facts may differ now; a base has none."""
        unchanged = FileReport(item.path, "unchanged", chunks=record.chunks)
        if record.graph_hash == self.graph_hash or PurePosixPath(record.path).suffix.lower() == SUFFIX:
            return unchanged
        # One known earlier index: only what mentions a changed name can differ. Otherwise derive again.
        known = self.is_one_index and record.graph_hash != ""
        if known and not _may_mention(item, self.names):
            return unchanged
        found = parse_item(item, "relinked")
        if isinstance(found, FileReport):
            return found
        return unchanged if known and not mentions_any(_document_text(found.document), self.names) else found


def _may_mention(item: SourceItem, names: frozenset[str]) -> bool:
    """Whether the raw text may mention one of the names; True if it does not decide. Parsing a whole vault takes
    a hundred times as long."""
    if item.read_text is None:
        return True
    try:
        text = item.read_text()
    except SourceError:
        return True
    title = PurePosixPath(item.document_id).stem
    return _ESCAPE.search(text) is not None or mentions_any(f"{title}\n{text}", names)


def _graph_hash(way: str, names: Mapping[str, Sequence[str]]) -> str:
    """Hash of facts made in this way with these names (by document id)."""
    if way == BY_CHAT:
        return f"{way}:"
    named = (document_id for document_id in sorted(names) if names[document_id])
    flat = [part for document_id in named for part in (document_id, *names[document_id])]
    return f"{way}:{digest(*flat)}"


def _document_text(document: Document) -> str:
    """The text, link targets as they read once percent signs are decoded, and the title, whose spelling is
    that of the first note so called."""
    return "\n".join([document.title, document.text, *(link.target for link in document.links)])
