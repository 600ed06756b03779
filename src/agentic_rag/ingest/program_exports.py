"""Notes exported from other programs: graphs of Logseq, exports of Notion, notebooks of Evernote."""

from __future__ import annotations

import unicodedata
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from functools import partial
from pathlib import Path, PurePosixPath

from agentic_rag.domain import Document
from agentic_rag.domain.identity import digest
from agentic_rag.ingest import evernote_files, logseq_files, notion_files
from agentic_rag.ingest.extracted_text import ExtractedText
from agentic_rag.ingest.extraction import Extractor
from agentic_rag.ingest.files import SourceError, decode, reason
from agentic_rag.ingest.office import missing
from agentic_rag.ingest.scanning import PARSER_VERSION, Scan, SourceItem, printable, require_bounds
from agentic_rag.notes.markdown import parse_markdown


def _read_texts(files: Sequence[tuple[Path, str]], scan: Scan) -> dict[str, str]:
    """The texts of the files that can be read, by relative path; a line in the report for each other one."""
    texts: dict[str, str] = {}
    for path, relative in files:
        try:
            texts[relative] = decode(path.read_bytes())
        except OSError as error:
            scan.skip(path, reason(error), is_unread=True)
        except SourceError as error:
            scan.skip(path, str(error), is_unread=True)
    return texts


def add_graph(pages: Sequence[tuple[Path, str]], root: Path, graph: Path, scan: Scan) -> None:
    """Add the pages of a Logseq graph, each with the texts of the blocks that it refers to."""
    inside = root.relative_to(graph).as_posix()
    texts = _read_texts(pages, scan)
    blocks = {key: said for text in texts.values() for key, said in logseq_files.blocks_in(text)}
    for relative, text in texts.items():
        place = relative if inside == "." else f"{inside}/{relative}"
        written = logseq_files.page_text(text, place, blocks)
        url = logseq_files.page_address(graph, place)
        _add_written(written, relative, relative, root, scan, url, logseq_files.journal_day(place))
    if texts:
        scan.recognised_encodings.append((str(root), f"Logseq's graph: {len(texts)} pages"))


def add_notion(files: Sequence[tuple[Path, str]], root: Path, scan: Scan) -> None:
    """Add the pages and databases of an export of Notion in a folder."""
    _add_pages(_read_texts(files, scan), root, scan)


def add_zip(root: Path, scan: Scan) -> None:
    """Add those of a zip, or say that it is no export of Notion."""
    try:
        pages = notion_files.pages_in(root)
        texts = {path: decode(raw) for path, raw in pages.items()}
    except SourceError as error:
        scan.skip(root, str(error), is_unread=True)
        return
    if not texts:
        scan.skip(root, "a zip that is no export of Notion; unpack it, and ingest the folder")
    _add_pages(texts, root, scan, holder=root.name)


def _add_pages(texts: Mapping[str, str], root: Path, scan: Scan, holder: str | None = None) -> None:
    """``texts``: by path in the export; ``holder``: the file that holds all of them, None if each is one."""
    names = notion_files.names_of(list(texts))
    for path, name in names.items():
        read = notion_files.database_text if path.endswith(".csv") else notion_files.page_text
        try:
            _add_written(read(texts[path], path, names), name, holder or path, root, scan)
        except SourceError as error:
            scan.skip(root / path, str(error), is_unread=True)
    if names:
        scan.recognised_encodings.append((str(root), f"Notion's export: {len(names)} pages and databases"))


def add_notebook(path: Path, root: Path, relative: str, scan: Scan) -> None:
    """Add the notes of an Evernote file."""
    if (extra := missing(".html")) is not None:
        scan.skip(path, extra)
        return
    number = 0
    try:
        for number, note in enumerate(evernote_files.notes_in(path), 1):
            _add_note(note, number, relative, root, scan)
    except OSError as error:
        scan.skip(path, reason(error), is_unread=True)
    except SourceError as error:
        scan.skip(
            path,
            f"{error}; notes before that, which are read: {number}" if number else str(error),
            is_unread=True,
        )
    if number:
        scan.recognised_encodings.append((str(path), f"Evernote's notebook: {number} notes"))


def _add_note(note: evernote_files.Note, number: int, relative: str, root: Path, scan: Scan) -> None:
    title = evernote_files.file_name(note.title) or "Untitled"
    name = unicodedata.normalize("NFC", f"{PurePosixPath(relative).with_suffix('')}/{title}")
    document_id = f"{name}.md" if f"{name}.md" not in scan.items else f"{name} {number}.md"
    content_hash = digest(PARSER_VERSION, document_id, relative, repr(note))
    parse = partial(_parse_note, document_id, note, scan.extractor)
    scan.add(SourceItem(document_id, relative, str(root), content_hash, parse), f"{relative}: {note.title}")


def _parse_note(document_id: str, note: evernote_files.Note, extractor: Extractor) -> Document:
    body = extractor.extract(note.page(), ".html") if note.has_text else ExtractedText("")
    text = note.markdown(body.text)
    require_bounds(text)
    document = parse_markdown(document_id, document_id, text, url=note.url)
    return replace(document, warnings=(*document.warnings, *body.warnings, *note.left_out))


def _add_written(
    text: str,
    name: str,
    relative: str,
    root: Path,
    scan: Scan,
    url: str | None = None,
    day: date | None = None,
) -> None:
    """Add a document whose text was made of a file; ``name``: its path as it is shown, ``relative``: the file's."""
    if printable(name) != name:
        scan.skip(name, "its name is not valid UTF-8; rename it")
        return
    document_id = unicodedata.normalize("NFC", name)
    packed = zlib.compress(text.encode("utf-8", "surrogatepass"), 1)
    content_hash = digest(PARSER_VERSION, document_id, relative, url or "", str(day or ""), text)
    parse = partial(_parse_written, document_id, packed, url, day)
    scan.add(SourceItem(document_id, relative, str(root), content_hash, parse), str(root / relative))


def _parse_written(document_id: str, packed_text: bytes, url: str | None, day: date | None) -> Document:
    text = zlib.decompress(packed_text).decode("utf-8", "surrogatepass")
    require_bounds(text)
    return parse_markdown(document_id, document_id, text, url=url, day=day)
