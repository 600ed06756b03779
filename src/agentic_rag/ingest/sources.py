"""The first stage of ingest: what the given paths hold, as documents to parse and things left out.

With ``files`` the only module of ingest that reads what files hold. Whatever is wrong with one file is told about that
file. A record of a BEIR corpus, a line of JSON, is parsed here; files and sessions by their own modules.
"""

from __future__ import annotations

import json
import unicodedata
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import date
from functools import partial
from hashlib import blake2b
from pathlib import Path, PurePosixPath
from typing import Any, Literal, get_args

from agentic_rag.domain import Document
from agentic_rag.domain.identity import digest
from agentic_rag.errors import InputError
from agentic_rag.ingest import evernote_files, logseq_files, notion_files
from agentic_rag.ingest.base_files import parse_base, unreadable
from agentic_rag.ingest.beam import (
    batch_id,
    batches,
    looks_like_beam,
    name_of,
    parse_batch,
    read_chat,
    without_control_words,
)
from agentic_rag.ingest.canvas import is_own_board, parse_canvas
from agentic_rag.ingest.chats.exports import CHATS, SUFFIXES, may_be_export, read_exports
from agentic_rag.ingest.chats.merging import FoundExport, merged
from agentic_rag.ingest.chats.messages import parse_day
from agentic_rag.ingest.chats.slack import Names
from agentic_rag.ingest.conversation import RawSession, looks_like_locomo, parse_session, sessions
from agentic_rag.ingest.extracted_text import ExtractedText
from agentic_rag.ingest.extraction import Extractor
from agentic_rag.ingest.files import NO_FILE, SourceError, decode, decoded, reason, walk
from agentic_rag.ingest.office import (
    MIME_TYPES,
    MISSING_OCR,
    PICTURES,
    has_ocr,
    missing,
    parse_extracted,
)
from agentic_rag.ingest.org_files import org_text
from agentic_rag.ingest.remembered import SeenFiles, stamp_of
from agentic_rag.ingest.vaults import Vault
from agentic_rag.notes.bases import SUFFIX as BASE
from agentic_rag.notes.markdown import paragraphs, parse_markdown, parse_text
from agentic_rag.notes.values import jsonable, metadata_date, valid_unicode

__all__ = [
    "PARSER_VERSION",
    "Skipped",
    "SourceError",
    "SourceItem",
    "SourceKind",
    "SourceScan",
    "discover",
    "made_text",
    "resolved",
]

PARSER_VERSION = "5"
"""Part of every content hash: raise it when a parser gives another document for the same bytes."""

SourceKind = Literal[
    "auto", "vault", "files", "chatgpt", "claude", "telegram", "slack", "whatsapp",
    "locomo", "beam", "beam-control", "jsonl",
]  # fmt: skip
"""``beam-control``: a BEAM conversation without the words that mark sources in it, see ``beam``."""
_MARKDOWN = (".md", ".markdown")


def _parse_org(document_id: str, path: str, text: str, *, url: str | None = None) -> Document:
    return parse_markdown(document_id, path, org_text(text), url=url)


_PARSERS: dict[str, Callable[..., Document]] = {
    **dict.fromkeys(_MARKDOWN, parse_markdown),
    ".txt": parse_text,
    ".org": _parse_org,
    ".canvas": parse_canvas,
    BASE: parse_base,
}
OWN_BOARD = "a board that agentic-rag wrote; such boards are not ingested"
CHANGED = "the file changed while it was being read; ingest it again"
_READ_AS_THEY_ARE = (*_MARKDOWN, ".txt")
_RECORDS = (".json", ".jsonl")
_MADE = (".org", evernote_files.SUFFIX, ".zip")
_MAX_BAD_LINES = 20
MAX_CHARACTERS, MAX_LINES = 20_000_000, 500_000
"""Of a file's text: to parse and to chunk it takes up to 1 KB of memory a line, and 30 bytes a character."""
_RECORD_FIELDS = ("_id", "title", "text", "metadata")


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
    read: Callable[[], str] | None = None
    """Reads the text, where the document is that text; raises as ``parse``. None: only parsing tells."""
    is_exported: bool = False
    """A conversation, which the export of it that is ingested last gives, whatever file that is."""


@dataclass(frozen=True, slots=True)
class Skipped:
    """Something left out that the user may have expected, and why."""

    path: str
    reason: str
    unread: bool = False
    """The path exists but could not be read; its stored documents, and those below it, are kept."""


@dataclass(frozen=True, slots=True)
class SourceScan:
    """The documents in the paths, in order of path, exported conversations last; and the files left out."""

    items: tuple[SourceItem, ...]
    skipped: tuple[Skipped, ...]
    roots: tuple[str, ...]
    exports: tuple[tuple[str, str], ...] = ()
    """Of each export of another program its path, and what was read of it."""


@dataclass(slots=True)
class _Found:
    """The scan while it grows; a document id is given once."""

    holders: Mapping[str, str]
    seen: SeenFiles[Any] | None = None
    extractor: Extractor = field(default_factory=Extractor)
    items: dict[str, SourceItem] = field(default_factory=dict)
    skipped: list[Skipped] = field(default_factory=list)
    exports: list[FoundExport] = field(default_factory=list)
    names: dict[str, Names] = field(default_factory=dict)
    programs: list[tuple[str, str]] = field(default_factory=list)
    _shown: dict[str, str] = field(default_factory=dict)

    def add(self, item: SourceItem, shown: str) -> None:
        """Add a document. The first one with an id counts, unless the stored one is of a later root, which then
        counts."""
        identity = item.document_id
        taken = self.items.get(identity)
        left_out = shown
        if taken is None or (taken.root != item.root and self.holders.get(identity) == item.root):
            self.items[identity] = item
            left_out, self._shown[identity] = self._shown.get(identity, ""), shown
        if taken is not None:
            kept = self.items[identity]
            twins = item.root == taken.root and item.path != taken.path
            self.skip(
                left_out,
                f"its name and that of the one that is read, {kept.path!a}, differ only in Unicode normal form; rename it"
                if twins
                else f"its id {identity!r} is already that of {kept.path} in {kept.root}",
            )

    def skip(self, path: object, reason: str, *, unread: bool = False) -> None:
        self.skipped.append(_skipped(path, reason, unread=unread))


def discover(
    paths: Sequence[Path],
    kind: SourceKind = "auto",
    *,
    holders: Mapping[str, str] | None = None,
    seen: SeenFiles[Any] | None = None,
    extractor: Extractor | None = None,
) -> SourceScan:
    """Find the documents under the paths.

    ``auto``: a folder with ``corpus.jsonl`` and ``queries.jsonl`` is a BEIR corpus, any other folder a vault;
    ``.jsonl`` is a BEIR corpus, ``.json`` a LoCoMo file or a BEAM conversation, ``.zip`` an export of Notion; ``.md``, ``.txt``, ``.org``, ``.canvas`` and ``.base`` are single files.
    Exports of conversations (``chats.exports``) are recognised before these; they, exports of Notion, Evernote's notebooks and graphs of Logseq in folders too.
    Reads every file once, to hash it. Other files of a folder are counted by suffix in one entry.

    Args:
        paths: files and folders; of two documents of one id the first counts.
        kind: what they are.
        holders: root of each stored document, by document id; if that root is given too, its document counts.
        seen: what earlier scans found: of these files only what changed since is read.
        extractor: reads PDF and office files when they are parsed; None: one with the default limits.

    Raises:
        InputError: a path does not exist, or the kind is unknown.
    """
    if kind not in get_args(SourceKind):
        raise InputError(f"unknown kind {kind!r}; use one of: {', '.join(get_args(SourceKind))}")
    found = _Found(holders or {}, seen, extractor or Extractor())
    roots: dict[str, None] = {}
    for given in paths:
        try:
            root = given.resolve(strict=True)
        except (FileNotFoundError, NotADirectoryError, ValueError) as error:
            raise InputError(f"there is no file or folder {str(given)!r}{_left(given, holders)}") from error
        except (OSError, RuntimeError) as error:
            found.skip(given, reason(error), unread=True)
            continue
        if str(root) not in roots:
            roots[str(root)] = None
            _scan(root, kind, found)
    exports = _add_conversations(found)
    return SourceScan(
        tuple(found.items.values()), tuple(found.skipped), tuple(roots), (*found.programs, *exports)
    )


def resolved(given: Path) -> Path | None:
    """The path without links; None for one that leads nowhere: a link to itself, a name that no file can have."""
    try:
        return given.resolve()
    except (OSError, RuntimeError, ValueError):
        return None


def made_text(root: Path, path: str, document_id: str, extractor: Extractor | None = None) -> str | None:
    """The text of a stored document that was made of its file or of a part of it, as citations count in it.

    None where the text is what ``decode``, ``Extractor.extracted`` or ``parse_canvas`` gives of the file.

    Args:
        root: that was ingested.
        path: of the file below the root, or the root's name.
        document_id: of the document.
        extractor: reads notes of Evernote; None: one with the default limits.

    Raises:
        InputError: the root is gone.
        SourceError: the document is not there any more.
    """
    file = root if root.is_file() else root / path
    suffix = file.suffix.lower()
    is_chat = document_id.startswith("whatsapp/")  # a text file like a note
    if is_chat or suffix in (*_RECORDS, ".zip"):
        exported = exported_document(root, path, document_id)
        if exported is not None:
            return exported.text
    is_page = suffix in _MARKDOWN and logseq_files.graph_of(root) is not None
    if not (is_chat or is_page or suffix in (*_RECORDS, *_MADE) or notion_files.is_of_notion(path)):
        return None
    items = discover([file if suffix in _RECORDS else root], extractor=extractor).items
    item = next((one for one in items if one.document_id == document_id), None)
    if item is None:
        raise SourceError(f"{path} does not hold {document_id!r} any more; ingest again")
    return item.parse().text


def _left(given: Path, holders: Mapping[str, str] | None) -> str:
    """Actions for the documents of a missing path; empty if there are none."""
    what = "; its documents are still stored: agentic-rag remove with this path removes them"
    return what if str(resolved(given)) in (holders or {}).values() else ""


def _scan(root: Path, kind: SourceKind, found: _Found) -> None:
    try:
        if root.is_dir():
            _scan_folder(root, kind, found)
        elif root.is_file():
            _scan_file(root, kind, found)
        else:
            found.skip(root, NO_FILE)
    except OSError as error:
        found.skip(root, reason(error), unread=True)


def _scan_folder(root: Path, kind: SourceKind, found: _Found) -> None:
    is_beir = (root / "corpus.jsonl").is_file() and (root / "queries.jsonl").is_file()
    if kind == "jsonl" or (kind == "auto" and is_beir):
        _scan_records(root, root / "corpus.jsonl", found)
    elif kind in _CONVERSATIONS:
        found.skip(root, f"a folder; name the {_CONVERSATIONS[kind]} itself")
    elif kind in CHATS:
        for path, relative in walk(root, found.skip):
            _is_export(path, root, relative, kind, found)
        if all(one.root != root for one in found.exports):
            found.skip(root, f"no export of {CHATS[kind]} is in it")
    else:
        _scan_tree(root, kind, found)


def _scan_file(root: Path, kind: SourceKind, found: _Found) -> None:
    suffix = root.suffix.lower()
    if (kind == "auto" or kind in CHATS) and _is_export(root, root, root.name, kind, found):
        return
    if kind in CHATS:
        found.skip(root, f"no export of {CHATS[kind]}")
    elif kind == "jsonl" or (kind == "auto" and suffix == ".jsonl"):
        _scan_records(root, root, found)
    elif kind in _CONVERSATIONS or (kind == "auto" and suffix == ".json"):
        _scan_conversations(root, kind, found)
    elif suffix in _PARSERS or suffix in MIME_TYPES:
        _add_file(root, root, root.name, found, url=None)
    elif suffix == evernote_files.SUFFIX:
        _add_notebook(root, root, root.name, found)
    elif suffix == ".zip" and kind in ("auto", "vault", "files"):
        _scan_zip(root, found)
    else:
        found.skip(
            root,
            f"{suffix or 'a file without suffix'} is not read; known: {', '.join([*_PARSERS, *MIME_TYPES])}, .json, .jsonl",
        )


def _scan_tree(root: Path, kind: SourceKind, found: _Found) -> None:
    is_vault = kind != "files"
    vault = Vault.of(root) if is_vault else None
    graph = logseq_files.graph_of(root) if is_vault else None
    of_notion: list[tuple[Path, str]] = []
    of_logseq: list[tuple[Path, str]] = []
    attachments: Counter[str] = Counter()
    templates: Counter[str] = Counter()
    for path, relative in walk(root, found.skip, vault):
        suffix = path.suffix.lower()
        folder = None if vault is None else vault.template_folder(relative)
        if graph is not None and relative.startswith(f"{logseq_files.OWN}/"):
            templates[logseq_files.OWN] += 1
            continue
        # A base selects notes wherever it lies: kepano's vault has its own among the templates.
        if folder is not None and suffix != BASE:
            templates[folder] += 1
        elif kind == "auto" and _is_export(path, root, relative, kind, found):
            continue
        elif notion_files.is_of_notion(relative):
            of_notion.append((path, relative))
        elif graph is not None and suffix in _MARKDOWN:
            of_logseq.append((path, relative))
        elif suffix == evernote_files.SUFFIX:
            _add_notebook(path, root, relative, found)
        elif suffix in _PARSERS or (suffix in MIME_TYPES and (has_ocr() or suffix not in PICTURES)):
            day = vault.day(relative) if vault is not None and suffix in _MARKDOWN else None
            url = None if vault is None else vault.address(relative)
            _add_file(path, root, relative, found, url=url, day=day)
        else:
            attachments[suffix or "without suffix"] += 1
    _add_notion({relative: path for path, relative in of_notion}, root, found)
    if graph is not None:
        _add_graph(of_logseq, root, graph, found)
    for folder, number in templates.items():
        files = "1 file is" if number == 1 else f"{number} files are"
        whose = "Logseq's own folder" if folder == logseq_files.OWN else "the vault's folder of templates"
        found.skip(root / folder, f"{whose}; its {files} left out")
    if attachments:
        counts = ", ".join(f"{number} {suffix}" for suffix, number in sorted(attachments.items()))
        pictures = f"; OCR of pictures {MISSING_OCR}" if attachments.keys() & PICTURES.keys() else ""
        found.skip(root, f"files of other kinds: {counts}{pictures}")


def _read_text(path: Path, found: _Found) -> str | None:
    """A file's text; None, and a line in the report, if it cannot be read."""
    try:
        return decode(path.read_bytes())
    except OSError as error:
        found.skip(path, reason(error), unread=True)
    except SourceError as error:
        found.skip(path, str(error), unread=True)
    return None


def _add_graph(pages: Sequence[tuple[Path, str]], root: Path, graph: Path, found: _Found) -> None:
    """The pages of a Logseq graph, each with the texts of the blocks that it refers to."""
    inside = root.relative_to(graph).as_posix()
    texts = {relative: text for path, relative in pages if (text := _read_text(path, found)) is not None}
    blocks = {key: said for text in texts.values() for key, said in logseq_files.blocks_in(text)}
    for relative, text in texts.items():
        place = relative if inside == "." else f"{inside}/{relative}"
        written = logseq_files.page_text(text, place, blocks)
        url = logseq_files.page_address(graph, place)
        _add_written(written, relative, relative, root, found, url, logseq_files.journal_day(place))
    if texts:
        found.programs.append((str(root), f"Logseq's graph: {len(texts)} pages"))


def _add_notion(files: Mapping[str, Path], root: Path, found: _Found) -> None:
    texts = {
        relative: text for relative, path in files.items() if (text := _read_text(path, found)) is not None
    }
    _add_pages(texts, root, found, dict.fromkeys(texts))


def _scan_zip(root: Path, found: _Found) -> None:
    try:
        pages = notion_files.pages_in(root)
        texts = {path: decode(raw) for path, raw in pages.items()}
    except SourceError as error:
        found.skip(root, str(error), unread=True)
        return
    if not texts:
        found.skip(root, "a zip that is no export of Notion; unpack it, and ingest the folder")
    _add_pages(texts, root, found, dict.fromkeys(texts, root.name))


def _add_pages(texts: Mapping[str, str], root: Path, found: _Found, files: Mapping[str, str | None]) -> None:
    """The pages and databases of an export of Notion; ``files``: what holds each of them, None for its own."""
    names = notion_files.names_of(list(texts))
    for path, name in names.items():
        read = notion_files.database_text if path.endswith(".csv") else notion_files.page_text
        try:
            _add_written(read(texts[path], path, names), name, files[path] or path, root, found)
        except SourceError as error:
            found.skip(root / path, str(error), unread=True)
    if names:
        found.programs.append((str(root), f"Notion's export: {len(names)} pages and databases"))


def _add_notebook(path: Path, root: Path, relative: str, found: _Found) -> None:
    """The notes of an Evernote file."""
    if (extra := missing(".html")) is not None:
        found.skip(path, extra)
        return
    number = 0
    try:
        for number, note in enumerate(evernote_files.notes_in(path), 1):
            _add_note(note, number, relative, root, found)
    except OSError as error:
        found.skip(path, reason(error), unread=True)
    except SourceError as error:
        found.skip(
            path,
            f"{error}; notes before that, which are read: {number}" if number else str(error),
            unread=True,
        )
    if number:
        found.programs.append((str(path), f"Evernote's notebook: {number} notes"))


def _add_note(note: evernote_files.Note, number: int, relative: str, root: Path, found: _Found) -> None:
    title = evernote_files.file_name(note.title) or "Untitled"
    name = unicodedata.normalize("NFC", f"{PurePosixPath(relative).with_suffix('')}/{title}")
    document_id = f"{name}.md" if f"{name}.md" not in found.items else f"{name} {number}.md"
    content_hash = digest(PARSER_VERSION, document_id, relative, repr(note))
    parse = partial(_parse_note, document_id, note, found.extractor)
    found.add(SourceItem(document_id, relative, str(root), content_hash, parse), f"{relative}: {note.title}")


def _parse_note(document_id: str, note: evernote_files.Note, extractor: Extractor) -> Document:
    body = extractor.extracted(note.page(), ".html") if note.has_text else ExtractedText("")
    text = note.written(body.text)
    _require_bounds(text)
    document = parse_markdown(document_id, document_id, text, url=note.url)
    return replace(document, warnings=(*document.warnings, *body.warnings, *note.left_out))


def _add_written(
    text: str,
    name: str,
    relative: str,
    root: Path,
    found: _Found,
    url: str | None = None,
    day: date | None = None,
) -> None:
    """Add a document whose text was made of a file; ``name``: its path as it is shown, ``relative``: the file's."""
    if _printable(name) != name:
        found.skip(name, "its name is not valid UTF-8; rename it")
        return
    document_id = unicodedata.normalize("NFC", name)
    packed = zlib.compress(text.encode("utf-8", "surrogatepass"), 1)
    content_hash = digest(PARSER_VERSION, document_id, relative, url or "", str(day or ""), text)
    parse = partial(_parse_written, document_id, packed, url, day)
    found.add(SourceItem(document_id, relative, str(root), content_hash, parse), str(root / relative))


def _parse_written(document_id: str, packed: bytes, url: str | None, day: date | None) -> Document:
    text = zlib.decompress(packed).decode("utf-8", "surrogatepass")
    _require_bounds(text)
    return parse_markdown(document_id, document_id, text, url=url, day=day)


def _add_file(
    path: Path, root: Path, relative: str, found: _Found, *, url: str | None, day: date | None = None
) -> None:
    key = (str(path), str(root), url, str(day))
    stamp = None if found.seen is None else stamp_of(path)
    there = None if found.seen is None else found.seen.get(key, stamp)
    if there is None:
        there = _looked_at(path, root, relative, url, day, found.extractor)
        if found.seen is not None and not (isinstance(there, Skipped) and there.unread):
            found.seen.keep(key, stamp, there)
    if isinstance(there, SourceItem):
        found.add(there, str(path))
    else:
        found.skipped.append(there)


def _looked_at(
    path: Path, root: Path, relative: str, url: str | None, day: date | None, extractor: Extractor
) -> SourceItem | Skipped:
    """One file as it is now; ``url``: of a vault's note; ``day``: of a daily note, by its name."""
    if _printable(relative) != relative:
        return _skipped(path, "its name is not valid UTF-8; rename it")
    suffix = path.suffix.lower()
    if suffix in MIME_TYPES and (extra := missing(suffix)) is not None:
        return _skipped(path, extra)
    document_id = unicodedata.normalize("NFC", relative)
    try:
        raw = path.read_bytes()
        text = "" if suffix in MIME_TYPES else decode(raw)
    except OSError as error:
        return _skipped(path, reason(error), unread=True)
    except SourceError as error:
        return _skipped(path, str(error), unread=True)
    if suffix == ".canvas" and is_own_board(text):
        return _skipped(path, OWN_BOARD)
    if suffix == BASE and (why := unreadable(text, relative)) is not None:
        return _skipped(path, why)
    found = _raw_digest(raw)
    ways = (f"ocr {extractor.timeout_seconds:g}",) if suffix == ".pdf" and has_ocr() else ()
    content_hash = digest(PARSER_VERSION, found, document_id, relative, url or "", str(day or ""), *ways)
    parse = partial(_parse_file, path, document_id, relative, url, found, day, extractor)
    read = partial(_read_file, path, relative, found) if suffix in _READ_AS_THEY_ARE else None
    return SourceItem(document_id, relative, str(root), content_hash, parse, read)


def _skipped(path: object, reason: str, *, unread: bool = False) -> Skipped:
    return Skipped(_printable(str(path)), reason, unread)


def _parse_file(
    path: Path,
    document_id: str,
    relative: str,
    url: str | None,
    found: str,
    day: date | None,
    extractor: Extractor,
) -> Document:
    suffix = PurePosixPath(relative).suffix.lower()
    if suffix in MIME_TYPES:
        pages = extractor.extracted(_raw_file(path, relative, found), suffix)
        _require_bounds(pages.text)
        return parse_extracted(document_id, relative, pages, url=url)
    named = {} if day is None else {"day": day}
    text, about = decoded(_raw_file(path, relative, found))
    _require_bounds(text)
    document = _PARSERS[suffix](document_id, relative, text, url=url, **named)
    return document if about is None else replace(document, warnings=(*document.warnings, about))


def _require_bounds(text: str) -> None:
    lines = max(text.count("\n"), text.count("\r"))
    if len(text) > MAX_CHARACTERS or lines > MAX_LINES:
        raise SourceError(
            f"its text has {len(text):,} characters in {lines:,} lines, and the limits are {MAX_CHARACTERS:,} and "
            f"{MAX_LINES:,}; divide the file"
        )


def _read_file(path: Path, relative: str, found: str) -> str:
    return decode(_raw_file(path, relative, found))


def _raw_file(path: Path, relative: str, found: str) -> bytes:
    """The bytes that the digest was computed from."""
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise SourceError(f"{relative}: {reason(error)}") from error
    if _raw_digest(raw) != found:
        raise SourceError(f"{relative}: {CHANGED}")
    return raw


_ANY_CHAT = ", ".join(CHATS.values())


def _is_export(path: Path, root: Path, relative: str, kind: SourceKind, found: _Found) -> bool:
    """Whether a file is an export of conversations, which is kept for the end of the scan, or a broken one, which is
    told; for ``kind`` see ``discover``."""
    if path.suffix.lower() not in SUFFIXES or _printable(relative) != relative:
        return False
    key, stamp = (str(path), str(root), kind, "export"), None if found.seen is None else stamp_of(path)
    exports = None if found.seen is None else found.seen.get(key, stamp)
    try:
        if exports is None:
            # A .json that is named itself may be called anything.
            is_named = path == root and (kind != "auto" or path.suffix.lower() == ".json")
            is_worth = is_named or may_be_export(path)
            exports = (
                read_exports(path, root, None if kind == "auto" else kind, found.names) if is_worth else ()
            )
    except SourceError as error:
        found.skip(path, str(error), unread=True)
        return True
    except OSError:
        return False
    if found.seen is not None:
        found.seen.keep(key, stamp, exports)
    found.exports += [FoundExport(export, path, root, relative) for export in exports]
    return bool(exports)


def _add_conversations(found: _Found) -> tuple[tuple[str, str], ...]:
    """Add the days of all exports; what the report says of each export."""
    chosen, lines = merged(found.exports)
    for day in chosen:
        root, relative = str(day.found.root), day.found.relative
        parse = partial(_parse_day, day.document_id, relative, day.thread.title, day.messages, day.thread.url)
        content_hash = digest(PARSER_VERSION, day.digest)
        item = SourceItem(day.document_id, relative, root, content_hash, parse, is_exported=True)
        found.add(item, f"{day.found.path}: {day.document_id}")
    return tuple((str(place), line) for place, line in lines)


def exported_document(root: Path, relative: str, document_id: str) -> Document | None:
    """A document of an export of conversations below a root, read anew; None where the file does not hold it.

    Raises:
        SourceError: its text is beyond the limits.
    """
    found = _Found({})
    _is_export(root if root.is_file() else root / relative, root, relative, "auto", found)
    _add_conversations(found)
    item = found.items.get(document_id)
    return None if item is None else item.parse()


def _parse_day(document_id: str, *given: Any) -> Document:
    document = parse_day(document_id, *given)
    _require_bounds(document.text)
    return document


_CONVERSATIONS = {"locomo": "LoCoMo file", "beam": "chat.json", "beam-control": "chat.json"}
"""Kinds that are one JSON file, and what that is called."""


def _scan_conversations(root: Path, kind: SourceKind, found: _Found) -> None:
    try:
        loaded = json.loads(decode(root.read_bytes()))
    except SourceError as error:
        found.skip(root, str(error), unread=True)
        return
    except (ValueError, RecursionError) as error:
        found.skip(root, f"no valid JSON ({error})", unread=True)
        return
    is_beam = looks_like_beam(loaded)
    if kind in ("beam", "beam-control") and not is_beam:
        found.skip(root, "not a BEAM conversation: a list of objects with 'turns' was expected")
    elif kind != "locomo" and is_beam:
        _add_batches(root, loaded, found, control=kind == "beam-control")
    elif looks_like_locomo(loaded):
        _add_sessions(root, loaded, found)
    else:
        others = f"; nor an export of {_ANY_CHAT}" if kind == "auto" else ""
        found.skip(
            root, f"not a LoCoMo file: a list of objects with 'conversation' and 'qa' was expected{others}"
        )


def _add_batches(root: Path, loaded: list[Any], found: _Found, *, control: bool) -> None:
    name, messages = name_of(root), read_chat(loaded).messages
    for number, batch in batches(without_control_words(messages) if control else messages):
        said = json.dumps([asdict(message) for message in batch], sort_keys=True, default=str)
        document_id = batch_id(name, number)
        content_hash = digest(PARSER_VERSION, document_id, root.name, said)
        parse = partial(parse_batch, name, batch, path=root.name)
        item = SourceItem(document_id, root.name, str(root), content_hash, parse)
        found.add(item, f"{root}: {document_id}")


def _add_sessions(root: Path, loaded: Any, found: _Found) -> None:
    for session in sessions(loaded, name=unicodedata.normalize("NFC", root.stem)):
        parse = partial(parse_session, session, path=root.name)
        item = SourceItem(session.document_id, root.name, str(root), _session_hash(session, root.name), parse)
        found.add(item, f"{root}: {session.document_id}")


def _session_hash(session: RawSession, path: str) -> str:
    """Of the session alone, so that a new session in the file leaves the others unchanged."""
    parts = [list(session.speakers), session.date_text, list(session.turns)]
    return digest(PARSER_VERSION, session.document_id, path, json.dumps(parts, sort_keys=True))


def _scan_records(root: Path, path: Path, found: _Found) -> None:
    bad = 0
    for number, offset, line in _lines(path):
        try:
            document_id = record_id(load_record(line))
        except SourceError as error:
            bad += 1
            if bad <= _MAX_BAD_LINES:
                found.skip(f"{path}:{number}", str(error))
            continue
        content_hash = digest(PARSER_VERSION, _raw_digest(line), path.name)
        parse = partial(_parse_line, path, number, offset, len(line), content_hash)
        found.add(SourceItem(document_id, path.name, str(root), content_hash, parse), f"{path}:{number}")
    if bad > _MAX_BAD_LINES:
        found.skip(path, f"{bad - _MAX_BAD_LINES} more lines that are no records")


def _lines(path: Path) -> Iterator[tuple[int, int, bytes]]:
    """Number, offset and bytes of each line that is not blank, one at a time."""
    offset = 0
    with path.open("rb") as stream:
        for number, line in enumerate(stream, 1):
            if line.strip():
                yield number, offset, line
            offset += len(line)


def _parse_line(path: Path, number: int, offset: int, length: int, content_hash: str) -> Document:
    try:
        with path.open("rb") as stream:
            stream.seek(offset)
            line = stream.read(length)
    except OSError as error:
        raise SourceError(f"{path.name}:{number}: {reason(error)}") from error
    if digest(PARSER_VERSION, _raw_digest(line), path.name) != content_hash:
        raise SourceError(f"{path.name}:{number}: {CHANGED}")
    return parse_record(load_record(line), path=path.name)


def _raw_digest(raw: bytes) -> str:
    return blake2b(raw, digest_size=16).hexdigest()


def load_record(line: bytes) -> dict[str, Any]:
    """One line of a BEIR corpus.

    Raises:
        SourceError: it is no record.
    """
    try:
        loaded = json.loads(line.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise SourceError("not UTF-8; save the file as UTF-8") from error
    except (ValueError, RecursionError) as error:
        raise SourceError(f"no valid JSON ({error})") from error
    if not isinstance(loaded, dict):
        raise SourceError("not a JSON object")
    written = loaded.get("_id")
    if isinstance(written, bool) or not isinstance(written, str | int) or not str(written).strip():
        raise SourceError("no _id")
    texts = [loaded.get("text"), loaded.get("title")]
    if any(text is not None and not isinstance(text, str) for text in texts):
        raise SourceError("title and text must be strings")
    if not any(text and text.strip() for text in texts):
        raise SourceError("neither text nor title")
    return loaded


def record_id(record: dict[str, Any]) -> str:
    """The document id of a record that ``load_record`` accepted."""
    return valid_unicode(str(record["_id"]))


def parse_record(record: dict[str, Any], *, path: str) -> Document:
    """The document of a record that ``load_record`` accepted; the title stands in for an empty text.

    Fields besides ``_id``, ``title`` and ``text`` become metadata, those of a ``metadata`` object too.
    """
    title = valid_unicode(record.get("title") or "").strip()
    text = valid_unicode(record.get("text") or "")
    text = text if text.strip() else title
    inner = record.get("metadata")
    fields = dict(inner) if isinstance(inner, dict) else {} if inner is None else {"metadata": inner}
    fields.update({key: value for key, value in record.items() if key not in _RECORD_FIELDS})
    metadata: dict[str, Any] = {}
    warnings: tuple[str, ...] = ()
    try:
        metadata = jsonable(fields)
    except ValueError as error:
        warnings = (f"the record's other fields were left out: {error}",)
    url = metadata.get("url")
    return Document(
        id=record_id(record),
        path=path,
        title=title,
        text=text,
        kind="record",
        blocks=paragraphs(text),
        metadata=metadata,
        date=metadata_date(metadata),
        url=url if isinstance(url, str) and url.startswith(("http://", "https://")) else None,
        warnings=warnings,
    )


def _printable(path: str) -> str:
    """The path with bytes that are not UTF-8 written as escapes."""
    return path.encode("utf-8", "backslashreplace").decode("utf-8")
