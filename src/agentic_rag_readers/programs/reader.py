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
from agentic_rag.ingest.files.extracted_text import ExtractedText
from agentic_rag.ingest.files.extraction import Extractor
from agentic_rag.ingest.files.folders import walk
from agentic_rag.ingest.files.formats import missing
from agentic_rag.ingest.files.readers import Reader, ScannedFile
from agentic_rag.ingest.files.scanning import (
    PARSER_VERSION,
    Scan,
    SourceItem,
    no_such_document,
    printable,
    require_bounds,
)
from agentic_rag.ingest.files.source_text import SourceError, decode, reason
from agentic_rag.ingest.files.vaults import Vault
from agentic_rag.notes.markdown import parse_markdown
from agentic_rag_readers.programs import evernote_files, logseq_files, notion_files

_MARKDOWN = (".md", ".markdown")


class ProgramExports(Reader):
    """Reads pages of Notion and Logseq in a folder, an export of Notion in a zip, and Evernote's files."""

    def __init__(self, scan: Scan) -> None:
        super().__init__(scan)
        self._graphs: dict[Path, Path | None] = {}
        self._begin_root()

    def _begin_root(self) -> None:
        self._of_notion: list[tuple[Path, str]] = []
        self._of_logseq: list[tuple[Path, str]] = []
        self._of_program = 0

    def take(self, file: ScannedFile) -> bool:
        """Take a page for the end of the root, or read a notebook or zip."""
        graph = self._graph(file)
        if graph is not None and file.relative.startswith(f"{logseq_files.OWN}/"):
            self._of_program += 1
        elif not file.is_root and notion_files.is_of_notion(file.relative):
            self._of_notion.append((file.path, file.relative))
        elif graph is not None and file.suffix in _MARKDOWN:
            self._of_logseq.append((file.path, file.relative))
        elif file.suffix == evernote_files.SUFFIX:
            add = partial(_add_notebook, file.path, file.root, file.relative)
            self.scan.add_part(file.relative, [file.path], add)
        else:
            is_zip = file.is_root and file.suffix == ".zip"
            return is_zip and self.scan.add_part(file.relative, [file.path], partial(_add_zip, file.path))
        return True

    def _graph(self, file: ScannedFile) -> Path | None:
        """Logseq's graph that the root is in, where that is read as a vault."""
        if file.is_root or file.kind == "files":
            return None
        if file.root not in self._graphs:
            self._graphs[file.root] = logseq_files.graph_of(file.root)
        return self._graphs[file.root]

    def refusal(self, file: ScannedFile) -> str:
        """What a zip is not."""
        is_zip = file.suffix == ".zip"
        return "a zip that is no export of Notion; unpack it, and ingest the folder" if is_zip else ""

    def end_root(self, root: Path) -> None:
        """Add the pages of Notion, then those of Logseq."""
        of_notion, of_logseq, graph = self._of_notion, self._of_logseq, self._graphs.get(root)
        if of_notion:
            add = partial(_add_notion, of_notion, root)
            self.scan.add_part(f"{root} Notion", [path for path, _ in of_notion], add)
        if graph is not None and of_logseq:
            add = partial(_add_graph, of_logseq, root, graph)
            self.scan.add_part(f"{root} Logseq", [path for path, _ in of_logseq], add)
        if self._of_program:
            self.scan.skip_folder(root / logseq_files.OWN, "Logseq's own folder", self._of_program)
        self._begin_root()

    def made_text(self, root: Path, path: str, document_id: str) -> str | None:
        """The text of a page of Notion or Logseq, which alone is read as far as it can be."""
        is_zip = root.is_file() and root.suffix.lower() == ".zip"
        if is_zip or (root.is_dir() and notion_files.is_of_notion(path)):
            text = _notion_page(root, path, document_id)
            if text is None and not is_zip:
                raise no_such_document(path, document_id)
            return text
        is_page = root.is_dir() and PurePosixPath(path).suffix.lower() in _MARKDOWN
        graph = logseq_files.graph_of(root) if is_page else None
        return None if graph is None else _graph_page(root, graph, path)


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


def _add_graph(pages: Sequence[tuple[Path, str]], root: Path, graph: Path, scan: Scan) -> None:
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


def _graph_page(root: Path, graph: Path, relative: str) -> str:
    """The text that ``_add_graph`` makes of a page; other pages are read only where it shows blocks of theirs.

    Raises:
        SourceError: it is no text.
        OSError: it cannot be read.
    """
    text = decode((root / relative).read_bytes())
    others = _walk_pages(root, _MARKDOWN) if logseq_files.has_references(text) else []
    return logseq_files.page_text(
        text, _place_in(graph, root, relative), _blocks(_read_texts(others, Scan({})))
    )


def _notion_page(root: Path, relative: str, document_id: str) -> str | None:
    """The text that ``_add_notion`` or ``_add_zip`` makes of a page or database, which alone is read; None where the
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


def _add_notion(files: Sequence[tuple[Path, str]], root: Path, scan: Scan) -> None:
    """Add the pages and databases of an export of Notion in a folder."""
    _add_pages(_read_texts(files, scan), root, scan)


def _add_zip(root: Path, scan: Scan) -> None:
    """Add those of a zip; nothing where it is no export of Notion."""
    try:
        pages = notion_files.pages_in(root)
        texts = {path: decode(raw) for path, raw in pages.items()}
    except SourceError as error:
        scan.skip(root, str(error), is_unread=True)
        return
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


def _add_notebook(path: Path, root: Path, relative: str, scan: Scan) -> None:
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
