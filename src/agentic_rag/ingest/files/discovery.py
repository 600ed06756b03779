"""The first stage of ingest: what the given paths hold, as documents to parse and things left out.

Whatever is wrong with one file is told about that file. Markdown, canvases and bases are parsed here, BEIR corpora by
``records``, files of other programs by the installed formats and readers.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any

from agentic_rag.domain import Document
from agentic_rag.domain.identity import digest
from agentic_rag.errors import InputError
from agentic_rag.ingest.files.base_files import parse_base, unreadable
from agentic_rag.ingest.files.canvas import is_own_board, parse_canvas
from agentic_rag.ingest.files.extraction import Extractor
from agentic_rag.ingest.files.folders import NO_FILE, walk
from agentic_rag.ingest.files.formats import formats, missing, parse_extracted, suffixes, text_formats
from agentic_rag.ingest.files.readers import Reader, ScannedFile, kinds, open_readers
from agentic_rag.ingest.files.records import scan_records
from agentic_rag.ingest.files.scanning import (
    PARSER_VERSION,
    Scan,
    SkippedFile,
    SourceItem,
    SourceScan,
    no_such_document,
    printable,
    require_bounds,
    skipped_path,
)
from agentic_rag.ingest.files.source_text import (
    CHANGE_REASON,
    SourceError,
    decode,
    decode_with_note,
    raw_digest,
    reason,
)
from agentic_rag.ingest.files.vaults import Vault
from agentic_rag.ingest.remembered import SeenFiles, stamp_of
from agentic_rag.notes.bases import SUFFIX as BASE
from agentic_rag.notes.markdown import parse_markdown, parse_text

_MARKDOWN = (".md", ".markdown")


_PARSERS: dict[str, Callable[..., Document]] = {
    **dict.fromkeys(_MARKDOWN, parse_markdown),
    ".txt": parse_text,
    ".canvas": parse_canvas,
    BASE: parse_base,
}
OWN_BOARD = "a board that agentic-rag wrote; such boards are not ingested"
_READ_AS_THEY_ARE = (*_MARKDOWN, ".txt")
_RECORDS = ".jsonl"


def discover(
    paths: Sequence[Path],
    kind: str = "auto",
    *,
    holders: Mapping[str, str] | None = None,
    seen_files: SeenFiles[Any] | None = None,
    extractor: Extractor | None = None,
) -> SourceScan:
    """Find the documents under the paths.

    ``auto``: a folder with ``corpus.jsonl`` and ``queries.jsonl`` is a BEIR corpus, any other folder a vault; ``.jsonl``
    is a BEIR corpus; ``.md``, ``.txt``, ``.canvas``, ``.base`` and those of the installed formats are single files. What
    the installed readers recognise, they read before these.
    Reads every file once, to hash it. Other files of a folder are counted by suffix in one entry.

    Args:
        paths: files and folders; of two documents of one id the first counts.
        kind: what they are: one of ``readers.kinds``.
        holders: root of each stored document, by document id; if that root is given too, its document counts.
        seen_files: what earlier scans found: of these files only what changed since is read.
        extractor: reads PDF and office files when they are parsed; None: one with the default limits.

    Raises:
        InputError: a path does not exist, or the kind is unknown.
    """
    scan = Scan(holders or {}, seen_files, extractor or Extractor())
    readers = open_readers(scan)
    if kind not in kinds():
        raise InputError(f"unknown kind {kind!r}; use one of: {', '.join(kinds())}")
    roots: dict[str, None] = {}
    for given in paths:
        try:
            root = given.resolve(strict=True)
        except (FileNotFoundError, NotADirectoryError, ValueError) as error:
            raise InputError(
                f"there is no file or folder {str(given)!r}{_missing_actions(given, holders)}"
            ) from error
        except (OSError, RuntimeError) as error:
            scan.skip(given, reason(error), is_unread=True)
            continue
        if str(root) not in roots:
            roots[str(root)] = None
            try:
                _scan(root, kind, scan, readers)
            except OSError as error:
                scan.skip(root, reason(error), is_unread=True)
    for reader in readers:
        reader.end()
    return SourceScan(
        tuple(scan.items.values()), tuple(scan.skipped_files), tuple(roots), tuple(scan.recognised_exports)
    )


def resolve_path(path: Path) -> Path | None:
    """The path without links; None for one that leads nowhere: a link to itself, a name that no file can have."""
    try:
        return path.resolve()
    except (OSError, RuntimeError, ValueError):
        return None


def made_text(root: Path, path: str, document_id: str, extractor: Extractor | None = None) -> str | None:
    """The text of a stored document that was made of its file or of a part of it, as citations count in it.

    None where the text is what ``decode`` or ``parse_canvas`` gives of the file.

    Args:
        root: that was ingested.
        path: of the file below the root, or the root's name.
        document_id: of the document.
        extractor: reads files of the installed formats; None: one with the default limits.

    Raises:
        InputError: the root is gone.
        SourceError: the document is not there any more.
    """
    extractor = extractor or Extractor()
    for reader in open_readers(Scan({}, extractor=extractor)):
        text = reader.made_text(root, path, document_id)
        if text is not None:
            return text
    file = root if root.is_file() else root / path
    suffix = file.suffix.lower()
    if document_id != unicodedata.normalize("NFC", path):
        return _text_in(ScannedFile(file, root, path), document_id, extractor)
    if suffix in formats():
        return extractor.extract(file.read_bytes(), suffix).text
    text_format = text_formats().get(suffix)
    return None if text_format is None else text_format.convert(decode(file.read_bytes()))


def _text_in(file: ScannedFile, document_id: str, extractor: Extractor) -> str:
    """The text of a document that is one of several in a file."""
    scan = Scan({}, extractor=extractor)
    readers = open_readers(scan)
    _scan_file(file, scan, readers)
    for reader in readers:
        reader.end_root(file.root)
        reader.end()
    if document_id not in scan.items:
        raise no_such_document(file.relative, document_id)
    return scan.items[document_id].parse().text


def _missing_actions(path: Path, holders: Mapping[str, str] | None) -> str:
    """Actions for the documents of a missing path; empty if there are none."""
    what = "; its documents are still stored: agentic-rag remove with this path removes them"
    return what if str(resolve_path(path)) in (holders or {}).values() else ""


def _scan(root: Path, kind: str, scan: Scan, readers: Sequence[Reader]) -> None:
    named = next((reader for reader in readers if kind in reader.kinds), None)
    if not root.is_dir() and not root.is_file():
        scan.skip(root, NO_FILE)
    elif named is not None:
        named.read(root, kind)
    elif kind == "jsonl" or (kind == "auto" and _is_beir(root)):
        scan_records(root, root / "corpus.jsonl" if root.is_dir() else root, scan)
    elif root.is_dir():
        _scan_tree(root, kind, scan, readers)
        return  # the root is ended before what it leaves out is reported
    else:
        _scan_file(ScannedFile(root, root, root.name, kind), scan, readers)
    for reader in readers:
        reader.end_root(root)


def _is_beir(root: Path) -> bool:
    return (root / "corpus.jsonl").is_file() and (root / "queries.jsonl").is_file()


def _is_taken(file: ScannedFile, readers: Sequence[Reader]) -> bool:
    return any(reader.take(file) for reader in readers)


def _scan_file(file: ScannedFile, scan: Scan, readers: Sequence[Reader]) -> None:
    """A file that is named itself."""
    if _is_taken(file, readers):
        return
    if file.kind == "auto" and file.suffix == _RECORDS:
        scan_records(file.root, file.path, scan)
    elif file.suffix in _PARSERS or file.suffix in suffixes():
        _add_file(file, scan, url=None)
    else:
        refusals = filter(None, (reader.refusal(file) for reader in reversed(readers)))
        known = ", ".join([*_PARSERS, *suffixes(), ".json", _RECORDS])
        scan.skip(
            file.path,
            "; ".join(refusals) or f"{file.suffix or 'a file without suffix'} is not read; known: {known}",
        )


def _scan_tree(root: Path, kind: str, scan: Scan, readers: Sequence[Reader]) -> None:
    vault = Vault.of(root) if kind != "files" else None
    attachments: Counter[str] = Counter()
    templates: Counter[str] = Counter()
    for path, relative in walk(root, scan.skip, vault):
        file = ScannedFile(path, root, relative, kind)
        folder = None if vault is None else vault.template_folder(relative)
        # A base selects notes wherever it lies: kepano's vault has its own among the templates.
        if folder is not None and file.suffix != BASE:
            templates[folder] += 1
        elif _is_taken(file, readers):
            continue
        elif _is_read(file.suffix):
            day = vault.day(relative) if vault is not None and file.suffix in _MARKDOWN else None
            url = None if vault is None else vault.address(relative)
            _add_file(file, scan, url=url, day=day)
        else:
            attachments[file.suffix or "without suffix"] += 1
    for reader in readers:
        reader.end_root(root)
    for folder, number in templates.items():
        scan.skip_folder(root / folder, "the vault's folder of templates", number)
    if attachments:
        counts = ", ".join(f"{number} {suffix}" for suffix, number in sorted(attachments.items()))
        tasks = {one.task: one for suffix in attachments if (one := formats().get(suffix)) is not None}
        hints = "".join(f"; {task} {one.missing()}" for task, one in tasks.items())
        scan.skip(root, f"files of other kinds: {counts}{hints}")


def _is_read(suffix: str) -> bool:
    """Whether a folder's files of a suffix are read, or at least named."""
    found = formats().get(suffix)
    is_counted = found is not None and found.task != "" and found.missing() is not None
    return suffix in _PARSERS or (suffix in suffixes() and not is_counted)


def _add_file(file: ScannedFile, scan: Scan, *, url: str | None, day: date | None = None) -> None:
    key = (str(file.path), str(file.root), url, str(day))
    stamp = None if scan.seen_files is None else stamp_of(file.path)
    there = None if scan.seen_files is None else scan.seen_files.get(key, stamp)
    if there is None:
        there = _looked_at(file, url, day, scan.extractor)
        if scan.seen_files is not None and not (isinstance(there, SkippedFile) and there.is_unread):
            scan.seen_files.keep(key, stamp, there)
    if isinstance(there, SourceItem):
        scan.add(there, str(file.path))
    else:
        scan.skipped_files.append(there)


def _looked_at(
    file: ScannedFile, url: str | None, day: date | None, extractor: Extractor
) -> SourceItem | SkippedFile:
    """One file as it is now; ``url``: of a vault's note; ``day``: of a daily note, by its name."""
    path, relative, suffix = file.path, file.relative, file.suffix
    if printable(relative) != relative:
        return skipped_path(path, "its name is not valid UTF-8; rename it")
    if (extra := missing(suffix)) is not None:
        return skipped_path(path, extra)
    document_id = unicodedata.normalize("NFC", relative)
    extracted = formats().get(suffix)
    try:
        raw = path.read_bytes()
        text = decode(raw) if extracted is None else ""
    except OSError as error:
        return skipped_path(path, reason(error), is_unread=True)
    except SourceError as error:
        return skipped_path(path, str(error), is_unread=True)
    if suffix == ".canvas" and is_own_board(text):
        return skipped_path(path, OWN_BOARD)
    if suffix == BASE and (why := unreadable(text, relative)) is not None:
        return skipped_path(path, why)
    found = raw_digest(raw)
    conditions = () if extracted is None else extracted.conditions(extractor.timeout_seconds)
    content_hash = digest(
        PARSER_VERSION, found, document_id, relative, url or "", str(day or ""), *conditions
    )
    version = _FileVersion(path, relative, found)
    parse = partial(_parse_file, version, document_id, url, day, extractor)
    read = partial(_read_file, version) if suffix in _READ_AS_THEY_ARE else None
    return SourceItem(
        document_id, relative, str(file.root), content_hash, parse, read, is_extracted=extracted is not None
    )


@dataclass(frozen=True, slots=True)
class _FileVersion:
    """A file as it was when it was looked at."""

    path: Path
    relative: str
    digest: str
    """Of its bytes."""


def _parse_file(
    file: _FileVersion, document_id: str, url: str | None, day: date | None, extractor: Extractor
) -> Document:
    relative = file.relative
    suffix = PurePosixPath(relative).suffix.lower()
    if suffix in formats():
        pages = extractor.extract(_raw_file(file), suffix)
        require_bounds(pages.text)
        return parse_extracted(document_id, relative, pages, url=url)
    named = {} if day is None else {"day": day}
    text, about = decode_with_note(_raw_file(file))
    require_bounds(text)
    if (text_format := text_formats().get(suffix)) is not None:
        document = parse_markdown(document_id, relative, text_format.convert(text), url=url)
    else:
        document = _PARSERS[suffix](document_id, relative, text, url=url, **named)
    return document if about is None else replace(document, warnings=(*document.warnings, about))


def _read_file(file: _FileVersion) -> str:
    return decode(_raw_file(file))


def _raw_file(file: _FileVersion) -> bytes:
    """The bytes that the digest was computed from."""
    try:
        raw = file.path.read_bytes()
    except OSError as error:
        raise SourceError(f"{file.relative}: {reason(error)}") from error
    if raw_digest(raw) != file.digest:
        raise SourceError(f"{file.relative}: {CHANGE_REASON}")
    return raw
