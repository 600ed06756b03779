"""The first stage of ingest: what the given paths hold, as documents to parse and things left out.

With ``files`` the only module of ingest that reads what files hold. Whatever is wrong with one file is told about that
file. A record of a BEIR corpus, a line of JSON, is parsed here; files and sessions by their own modules.
"""

from __future__ import annotations

import json
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import date
from functools import partial
from hashlib import blake2b
from pathlib import Path, PurePosixPath
from typing import Any

from agentic_rag.domain import Document
from agentic_rag.domain.identity import digest
from agentic_rag.domain.json_values import Json
from agentic_rag.errors import InputError
from agentic_rag.extensions import load
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
from agentic_rag.ingest.chat_exports import add_conversations, add_export, exported_document
from agentic_rag.ingest.chats.exports import CHATS
from agentic_rag.ingest.conversation import RawSession, looks_like_locomo, parse_session, sessions
from agentic_rag.ingest.extraction import Extractor
from agentic_rag.ingest.files import NO_FILE, SourceError, decode, decode_with_note, load_json, reason, walk
from agentic_rag.ingest.office import (
    MIME_TYPES,
    MISSING_OCR,
    PICTURES,
    has_ocr,
    missing,
    parse_extracted,
)
from agentic_rag.ingest.org_files import org_text
from agentic_rag.ingest.program_exports import (
    add_graph,
    add_notebook,
    add_notion,
    add_zip,
    graph_page,
    notion_page,
)
from agentic_rag.ingest.remembered import SeenFiles, stamp_of
from agentic_rag.ingest.scanning import (
    KINDS,
    PARSER_VERSION,
    Reader,
    Scan,
    SkippedFile,
    SourceItem,
    SourceScan,
    printable,
    require_bounds,
    skipped_path,
)
from agentic_rag.ingest.vaults import Vault
from agentic_rag.notes.bases import SUFFIX as BASE
from agentic_rag.notes.markdown import paragraphs, parse_markdown, parse_text
from agentic_rag.notes.values import jsonable, metadata_date, valid_unicode

__all__ = [
    "KINDS",
    "PARSER_VERSION",
    "SkippedFile",
    "SourceError",
    "SourceItem",
    "SourceScan",
    "discover",
    "made_text",
    "resolve_path",
]


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
CHANGE_REASON = "the file changed while it was being read; ingest it again"
_READ_AS_THEY_ARE = (*_MARKDOWN, ".txt")
_RECORDS = (".json", ".jsonl")
_MAX_BAD_LINES = 20
_RECORD_FIELDS = ("_id", "title", "text", "metadata")


def discover(
    paths: Sequence[Path],
    kind: str = "auto",
    *,
    holders: Mapping[str, str] | None = None,
    seen_files: SeenFiles[Any] | None = None,
    extractor: Extractor | None = None,
) -> SourceScan:
    """Find the documents under the paths.

    ``auto``: a folder with ``corpus.jsonl`` and ``queries.jsonl`` is a BEIR corpus, any other folder a vault;
    ``.jsonl`` is a BEIR corpus, ``.json`` a LoCoMo file or a BEAM conversation, ``.zip`` an export of Notion; ``.md``, ``.txt``, ``.org``, ``.canvas`` and ``.base`` are single files.
    Exports of conversations (``chats.exports``) are recognised before these; they, exports of Notion, Evernote's notebooks and graphs of Logseq in folders too.
    Reads every file once, to hash it. Other files of a folder are counted by suffix in one entry.

    Args:
        paths: files and folders; of two documents of one id the first counts.
        kind: what they are: one of ``KINDS``, or an entry of ``agentic_rag.readers``.
        holders: root of each stored document, by document id; if that root is given too, its document counts.
        seen_files: what earlier scans found: of these files only what changed since is read.
        extractor: reads PDF and office files when they are parsed; None: one with the default limits.

    Raises:
        InputError: a path does not exist, or the kind is unknown.
    """
    read: Reader = partial(_scan, kind=kind) if kind in KINDS else load("readers", kind, "kind", KINDS)
    scan = Scan(holders or {}, seen_files, extractor or Extractor())
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
                read(root, scan)
            except OSError as error:
                scan.skip(root, reason(error), is_unread=True)
    add_conversations(scan)
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

    None where the text is what ``decode``, ``Extractor.extract`` or ``parse_canvas`` gives of the file.

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
    if suffix == ".org":
        return org_text(decode(file.read_bytes()))
    graph = logseq_files.graph_of(root) if suffix in _MARKDOWN and root.is_dir() else None
    text: str | None
    if suffix == ".zip" or (root.is_dir() and notion_files.is_of_notion(path)):
        text = notion_page(root, path, document_id)
    elif graph is not None:
        text = graph_page(root, graph, path)
    elif is_chat or suffix in (*_RECORDS, evernote_files.SUFFIX):
        text = _text_in(file, root, path, document_id, extractor or Extractor())
    else:
        return None
    if text is None:
        raise SourceError(f"{path} does not hold {document_id!r} any more; ingest again")
    return text


def _text_in(file: Path, root: Path, path: str, document_id: str, extractor: Extractor) -> str | None:
    """The text of a document that is one of several in a file."""
    scan = Scan({}, extractor=extractor)
    if file.suffix.lower() == evernote_files.SUFFIX:
        add_notebook(file, root, path, scan)
    else:
        _scan(file, scan, kind="auto")
    item = scan.items.get(document_id)
    return None if item is None else item.parse().text


def _missing_actions(path: Path, holders: Mapping[str, str] | None) -> str:
    """Actions for the documents of a missing path; empty if there are none."""
    what = "; its documents are still stored: agentic-rag remove with this path removes them"
    return what if str(resolve_path(path)) in (holders or {}).values() else ""


def _scan(root: Path, scan: Scan, *, kind: str) -> None:
    if root.is_dir():
        _scan_folder(root, kind, scan)
    elif root.is_file():
        _scan_file(root, kind, scan)
    else:
        scan.skip(root, NO_FILE)


def _scan_folder(root: Path, kind: str, scan: Scan) -> None:
    is_beir = (root / "corpus.jsonl").is_file() and (root / "queries.jsonl").is_file()
    if kind == "jsonl" or (kind == "auto" and is_beir):
        _scan_records(root, root / "corpus.jsonl", scan)
    elif kind in _CONVERSATIONS:
        scan.skip(root, f"a folder; name the {_CONVERSATIONS[kind]} itself")
    elif kind in CHATS:
        for path, relative in walk(root, scan.skip):
            add_export(path, root, relative, kind, scan)
        if all(one.root != root for one in scan.exports):
            scan.skip(root, f"no export of {CHATS[kind]} is in it")
    else:
        _scan_tree(root, kind, scan)


def _scan_file(root: Path, kind: str, scan: Scan) -> None:
    suffix = root.suffix.lower()
    if (kind == "auto" or kind in CHATS) and add_export(root, root, root.name, kind, scan):
        return
    if kind in CHATS:
        scan.skip(root, f"no export of {CHATS[kind]}")
    elif kind == "jsonl" or (kind == "auto" and suffix == ".jsonl"):
        _scan_records(root, root, scan)
    elif kind in _CONVERSATIONS or (kind == "auto" and suffix == ".json"):
        _scan_conversations(root, kind, scan)
    elif suffix in _PARSERS or suffix in MIME_TYPES:
        _add_file(root, root, root.name, scan, url=None)
    elif suffix == evernote_files.SUFFIX:
        scan.add_part(root.name, [root], partial(add_notebook, root, root, root.name))
    elif suffix == ".zip" and kind in ("auto", "vault", "files"):
        scan.add_part(root.name, [root], partial(add_zip, root))
    else:
        scan.skip(
            root,
            f"{suffix or 'a file without suffix'} is not read; known: {', '.join([*_PARSERS, *MIME_TYPES])}, .json, .jsonl",
        )


def _scan_tree(root: Path, kind: str, scan: Scan) -> None:
    is_vault = kind != "files"
    vault = Vault.of(root) if is_vault else None
    graph = logseq_files.graph_of(root) if is_vault else None
    of_notion: list[tuple[Path, str]] = []
    of_logseq: list[tuple[Path, str]] = []
    attachments: Counter[str] = Counter()
    templates: Counter[str] = Counter()
    for path, relative in walk(root, scan.skip, vault):
        suffix = path.suffix.lower()
        folder = None if vault is None else vault.template_folder(relative)
        if graph is not None and relative.startswith(f"{logseq_files.OWN}/"):
            templates[logseq_files.OWN] += 1
            continue
        # A base selects notes wherever it lies: kepano's vault has its own among the templates.
        if folder is not None and suffix != BASE:
            templates[folder] += 1
        elif kind == "auto" and add_export(path, root, relative, kind, scan):
            continue
        elif notion_files.is_of_notion(relative):
            of_notion.append((path, relative))
        elif graph is not None and suffix in _MARKDOWN:
            of_logseq.append((path, relative))
        elif suffix == evernote_files.SUFFIX:
            scan.add_part(relative, [path], partial(add_notebook, path, root, relative))
        elif suffix in _PARSERS or (suffix in MIME_TYPES and (has_ocr() or suffix not in PICTURES)):
            day = vault.day(relative) if vault is not None and suffix in _MARKDOWN else None
            url = None if vault is None else vault.address(relative)
            _add_file(path, root, relative, scan, url=url, day=day)
        else:
            attachments[suffix or "without suffix"] += 1
    if of_notion:
        scan.add_part(f"{root} Notion", [path for path, _ in of_notion], partial(add_notion, of_notion, root))
    if graph is not None and of_logseq:
        scan.add_part(
            f"{root} Logseq", [path for path, _ in of_logseq], partial(add_graph, of_logseq, root, graph)
        )
    for folder, number in templates.items():
        files = "1 file is" if number == 1 else f"{number} files are"
        whose = "Logseq's own folder" if folder == logseq_files.OWN else "the vault's folder of templates"
        scan.skip(root / folder, f"{whose}; its {files} left out")
    if attachments:
        counts = ", ".join(f"{number} {suffix}" for suffix, number in sorted(attachments.items()))
        pictures = f"; OCR of pictures {MISSING_OCR}" if attachments.keys() & PICTURES.keys() else ""
        scan.skip(root, f"files of other kinds: {counts}{pictures}")


def _add_file(
    path: Path, root: Path, relative: str, scan: Scan, *, url: str | None, day: date | None = None
) -> None:
    key = (str(path), str(root), url, str(day))
    stamp = None if scan.seen_files is None else stamp_of(path)
    there = None if scan.seen_files is None else scan.seen_files.get(key, stamp)
    if there is None:
        there = _looked_at(path, root, relative, url, day, scan.extractor)
        if scan.seen_files is not None and not (isinstance(there, SkippedFile) and there.is_unread):
            scan.seen_files.keep(key, stamp, there)
    if isinstance(there, SourceItem):
        scan.add(there, str(path))
    else:
        scan.skipped_files.append(there)


def _looked_at(
    path: Path, root: Path, relative: str, url: str | None, day: date | None, extractor: Extractor
) -> SourceItem | SkippedFile:
    """One file as it is now; ``url``: of a vault's note; ``day``: of a daily note, by its name."""
    if printable(relative) != relative:
        return skipped_path(path, "its name is not valid UTF-8; rename it")
    suffix = path.suffix.lower()
    if suffix in MIME_TYPES and (extra := missing(suffix)) is not None:
        return skipped_path(path, extra)
    document_id = unicodedata.normalize("NFC", relative)
    try:
        raw = path.read_bytes()
        text = "" if suffix in MIME_TYPES else decode(raw)
    except OSError as error:
        return skipped_path(path, reason(error), is_unread=True)
    except SourceError as error:
        return skipped_path(path, str(error), is_unread=True)
    if suffix == ".canvas" and is_own_board(text):
        return skipped_path(path, OWN_BOARD)
    if suffix == BASE and (why := unreadable(text, relative)) is not None:
        return skipped_path(path, why)
    found = _raw_digest(raw)
    ways = (f"ocr {extractor.timeout_seconds:g}",) if suffix == ".pdf" and has_ocr() else ()
    content_hash = digest(PARSER_VERSION, found, document_id, relative, url or "", str(day or ""), *ways)
    file = _FileVersion(path, relative, found)
    parse = partial(_parse_file, file, document_id, url, day, extractor)
    read = partial(_read_file, file) if suffix in _READ_AS_THEY_ARE else None
    return SourceItem(
        document_id, relative, str(root), content_hash, parse, read, is_extracted=suffix in MIME_TYPES
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
    if suffix in MIME_TYPES:
        pages = extractor.extract(_raw_file(file), suffix)
        require_bounds(pages.text)
        return parse_extracted(document_id, relative, pages, url=url)
    named = {} if day is None else {"day": day}
    text, about = decode_with_note(_raw_file(file))
    require_bounds(text)
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
    if _raw_digest(raw) != file.digest:
        raise SourceError(f"{file.relative}: {CHANGE_REASON}")
    return raw


_ANY_CHAT = ", ".join(CHATS.values())


_CONVERSATIONS = {"locomo": "LoCoMo file", "beam": "chat.json", "beam-control": "chat.json"}
"""Kinds that are one JSON file, and what that is called."""


def _scan_conversations(root: Path, kind: str, scan: Scan) -> None:
    try:
        loaded = load_json(decode(root.read_bytes()))
    except SourceError as error:
        scan.skip(root, str(error), is_unread=True)
        return
    is_beam = looks_like_beam(loaded)
    if kind in ("beam", "beam-control") and not is_beam:
        scan.skip(root, "not a BEAM conversation: a list of objects with 'turns' was expected")
    elif kind != "locomo" and is_beam:
        _add_batches(root, loaded, scan, control=kind == "beam-control")
    elif looks_like_locomo(loaded):
        _add_sessions(root, loaded, scan)
    else:
        others = f"; nor an export of {_ANY_CHAT}" if kind == "auto" else ""
        scan.skip(
            root, f"not a LoCoMo file: a list of objects with 'conversation' and 'qa' was expected{others}"
        )


def _add_batches(root: Path, json_value: list[Any], scan: Scan, *, control: bool) -> None:
    name, messages = name_of(root), read_chat(json_value).messages
    for number, batch in batches(without_control_words(messages) if control else messages):
        said = json.dumps([asdict(message) for message in batch], sort_keys=True, default=str)
        document_id = batch_id(name, number)
        content_hash = digest(PARSER_VERSION, document_id, root.name, said)
        parse = partial(parse_batch, name, batch, path=root.name)
        item = SourceItem(document_id, root.name, str(root), content_hash, parse)
        scan.add(item, f"{root}: {document_id}")


def _add_sessions(root: Path, json_value: Any, scan: Scan) -> None:
    for session in sessions(json_value, name=unicodedata.normalize("NFC", root.stem)):
        parse = partial(parse_session, session, path=root.name)
        item = SourceItem(session.document_id, root.name, str(root), _session_hash(session, root.name), parse)
        scan.add(item, f"{root}: {session.document_id}")


def _session_hash(session: RawSession, path: str) -> str:
    """Of the session alone, so that a new session in the file leaves the others unchanged."""
    parts = [list(session.speakers), session.date_text, list(session.turns)]
    return digest(PARSER_VERSION, session.document_id, path, json.dumps(parts, sort_keys=True))


def _scan_records(root: Path, path: Path, scan: Scan) -> None:
    bad = 0
    for number, offset, line in _lines(path):
        try:
            document_id = record_id(load_record(line))
        except SourceError as error:
            bad += 1
            if bad <= _MAX_BAD_LINES:
                scan.skip(f"{path}:{number}", str(error))
            continue
        content_hash = digest(PARSER_VERSION, _raw_digest(line), path.name)
        parse = partial(_parse_line, path, number, offset, len(line), content_hash)
        scan.add(SourceItem(document_id, path.name, str(root), content_hash, parse), f"{path}:{number}")
    if bad > _MAX_BAD_LINES:
        scan.skip(path, f"{bad - _MAX_BAD_LINES} more lines that are no records")


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
        raise SourceError(f"{path.name}:{number}: {CHANGE_REASON}")
    return parse_record(load_record(line), path=path.name)


def _raw_digest(raw: bytes) -> str:
    return blake2b(raw, digest_size=16).hexdigest()


def load_record(line: bytes) -> Json:
    """One line of a BEIR corpus.

    Raises:
        SourceError: it is no record.
    """
    try:
        loaded = load_json(line.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise SourceError("not UTF-8; save the file as UTF-8") from error
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


def record_id(record: Json) -> str:
    """The document id of a record that ``load_record`` accepted."""
    return valid_unicode(str(record["_id"]))


def parse_record(record: Json, *, path: str) -> Document:
    """The document of a record that ``load_record`` accepted; the title stands in for an empty text.

    Fields besides ``_id``, ``title`` and ``text`` become metadata, those of a ``metadata`` object too.
    """
    title = valid_unicode(str(record.get("title") or "")).strip()
    text = valid_unicode(str(record.get("text") or ""))
    text = text if text.strip() else title
    inner = record.get("metadata")
    fields = dict(inner) if isinstance(inner, dict) else {} if inner is None else {"metadata": inner}
    fields.update({key: value for key, value in record.items() if key not in _RECORD_FIELDS})
    metadata: Json = {}
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
