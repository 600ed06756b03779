"""Notes exported from other programs: graphs of Logseq, exports of Notion, notebooks of Evernote."""

from __future__ import annotations

import unicodedata
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import partial
from pathlib import Path, PurePosixPath

from agentic_rag.domain import Document
from agentic_rag.domain.identity import digest
from agentic_rag.ingest import evernote_files, logseq_files, notion_files
from agentic_rag.ingest.extracted_text import ExtractedText
from agentic_rag.ingest.extraction import Extractor
from agentic_rag.ingest.files import SourceError, decode, reason, walk
from agentic_rag.ingest.office import missing
from agentic_rag.ingest.scanning import PARSER_VERSION, Scan, SourceItem, printable, require_bounds
from agentic_rag.ingest.vaults import Vault
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
    texts = _read_texts(pages, scan)
    blocks = _blocks(texts)
    for relative, text in texts.items():
        place = _place_in(graph, root, relative)
        written = logseq_files.page_text(text, place, blocks)
        url = logseq_files.page_address(graph, place)
        page = _Page(relative, written, url, logseq_files.journal_day(place))
        _add_page(page, relative, root, scan)
    if texts:
        scan.recognised_exports.append((str(root), f"Logseq's graph: {len(texts)} pages"))


def _blocks(texts: Mapping[str, str]) -> dict[str, str]:
    return {key: said for text in texts.values() for key, said in logseq_files.blocks_in(text)}


def _place_in(graph: Path, root: Path, relative: str) -> str:
    return (root / relative).relative_to(graph).as_posix()


def graph_page(root: Path, graph: Path, relative: str) -> str:
    """The text that ``add_graph`` makes of a page; other pages are read only where it shows blocks of theirs.

    Raises:
        SourceError: it is no text.
        OSError: it cannot be read.
    """
    text = decode((root / relative).read_bytes())
    others = _walk_pages(root, (".md", ".markdown")) if logseq_files.has_references(text) else []
    return logseq_files.page_text(
        text, _place_in(graph, root, relative), _blocks(_read_texts(others, Scan({})))
    )


def notion_page(root: Path, relative: str, document_id: str) -> str | None:
    """The text that ``add_notion`` or ``add_zip`` makes of a page or database, which alone is read; None where the
    export does not hold it.

    Raises:
        SourceError: it cannot be read in this form.
        OSError: it cannot be read.
    """
    is_zip = root.is_file()
    paths = (
        list(notion_files.pages_in(root, ""))
        if is_zip
        else [one for _, one in _walk_pages(root, (".md", ".csv"))]
    )
    names = notion_files.names_of([path for path in paths if is_zip or notion_files.is_of_notion(path)])
    path = next((one for one in names if unicodedata.normalize("NFC", names[one]) == document_id), None)
    if path is None or (path != relative and not is_zip):
        return None
    return _notion_text(
        decode(notion_files.pages_in(root, path)[path] if is_zip else (root / path).read_bytes()), path, names
    )


def _walk_pages(root: Path, suffixes: Sequence[str]) -> list[tuple[Path, str]]:
    """The files of these suffixes that a scan of the folder reads."""
    skip = Scan({}).skip
    return [pair for pair in walk(root, skip, Vault.of(root)) if pair[0].suffix.lower() in suffixes]


def _notion_text(text: str, path: str, names: Mapping[str, str]) -> str:
    read = notion_files.database_text if path.endswith(".csv") else notion_files.page_text
    return read(text, path, names)


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
        try:
            page = _Page(name, _notion_text(texts[path], path, names))
            _add_page(page, holder or path, root, scan)
        except SourceError as error:
            scan.skip(root / path, str(error), is_unread=True)
    if names:
        scan.recognised_exports.append((str(root), f"Notion's export: {len(names)} pages and databases"))


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
        scan.recognised_exports.append((str(path), f"Evernote's notebook: {number} notes"))


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


@dataclass(frozen=True, slots=True)
class _Page:
    """A document whose text was made of a file."""

    name: str
    """Its path as it is shown."""
    text: str
    url: str | None = None
    day: date | None = None


def _add_page(page: _Page, relative: str, root: Path, scan: Scan) -> None:
    """``relative``: the file's path."""
    if printable(page.name) != page.name:
        scan.skip(page.name, "its name is not valid UTF-8; rename it")
        return
    document_id = unicodedata.normalize("NFC", page.name)
    packed = zlib.compress(page.text.encode("utf-8", "surrogatepass"), 1)
    content_hash = digest(
        PARSER_VERSION, document_id, relative, page.url or "", str(page.day or ""), page.text
    )
    parse = partial(_parse_written, document_id, packed, page.url, page.day)
    scan.add(SourceItem(document_id, relative, str(root), content_hash, parse), str(root / relative))


def _parse_written(document_id: str, packed_text: bytes, url: str | None, day: date | None) -> Document:
    text = zlib.decompress(packed_text).decode("utf-8", "surrogatepass")
    require_bounds(text)
    return parse_markdown(document_id, document_id, text, url=url, day=day)
