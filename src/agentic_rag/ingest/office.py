"""PDF, Word, PowerPoint, HTML and EPUB as text, by readers that are an extra, on this machine and without OCR.

A PDF's text has its pages and no headings; the others are read as Markdown, with headings, and slides are pages.
"""

from __future__ import annotations

import importlib
import importlib.util
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import replace
from io import BytesIO
from pathlib import PurePosixPath

from agentic_rag.domain import Block, Document
from agentic_rag.errors import install
from agentic_rag.ingest.extracted_text import ExtractedText
from agentic_rag.ingest.files import NothingToRead, SourceError
from agentic_rag.notes.markdown import parse_markdown, parse_text

MIME_TYPES = {
    ".pdf": "application/pdf",
    ".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    ".pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    ".html": "text/html",
    ".htm": "text/html",
    ".epub": "application/epub+zip",
}
"""By suffix: what is read."""
_READERS = {
    ".pdf": ("pdf_files", "read_pdf"),
    ".docx": ("word_files", "read_word"),
    ".pptx": ("slide_files", "read_slides"),
    ".html": ("web_files", "read_html"),
    ".htm": ("web_files", "read_html"),
    ".epub": ("web_files", "read_epub"),
}
"""By suffix: module and function."""
_DAMAGES = (zipfile.BadZipFile, zlib.error, SyntaxError, ValueError, OSError, EOFError, RuntimeError)
"""What the readers raise about damaged files; lxml's are of ``SyntaxError``, PDFium's of ``RuntimeError``."""
MISSING = f"needs an extra: {install('documents')}"
LARGEST, LARGEST_UNPACKED = 100_000_000, 500_000_000
"""Bytes of a file, and of all that a zipped one unpacks to."""
_MODULES = ("lxml", "pypdfium2")


def is_installed() -> bool:
    """Whether the extra is there."""
    return all(importlib.util.find_spec(module) is not None for module in _MODULES)


def extracted(raw: bytes, suffix: str) -> ExtractedText:
    """The text of a file's bytes.

    Raises:
        SourceError: it is damaged, locked, too large, or has only pictures; or the extra is missing.
    """
    if not is_installed():
        raise SourceError(MISSING)
    try:
        _require_size(raw)
        found = _reader(suffix)(raw)
    except SourceError:
        raise
    except _DAMAGES as error:
        told = (str(error).splitlines() or [type(error).__name__])[0]
        raise SourceError(f"it is damaged ({told[:120]})") from error
    if not any(letter.isalnum() for letter in found.text):
        raise NothingToRead("it holds no text, perhaps only pictures; run OCR on it first")
    return found


def _reader(suffix: str) -> Callable[[bytes], ExtractedText]:
    """The reader of a kind of file, whose module needs the extra."""
    module, name = _READERS[suffix]
    reader: Callable[[bytes], ExtractedText] = getattr(
        importlib.import_module(f"agentic_rag.ingest.{module}"), name
    )
    return reader


def _require_size(raw: bytes) -> None:
    if len(raw) > LARGEST:
        raise SourceError(f"it has more than {LARGEST / 1e6:g} MB")
    if zipfile.is_zipfile(BytesIO(raw)):
        with zipfile.ZipFile(BytesIO(raw)) as packed:
            unpacked = sum(member.file_size for member in packed.infolist())
        if unpacked > LARGEST_UNPACKED:
            raise SourceError(f"it unpacks to more than {LARGEST_UNPACKED / 1e6:g} MB")


def parse_extracted(document_id: str, path: str, found: ExtractedText, *, url: str | None = None) -> Document:
    """The document; each block knows its page."""
    parse = parse_text if PurePosixPath(path).suffix.lower() == ".pdf" else parse_markdown
    document = parse(document_id, path, found.text, url=url)
    return replace(
        document,
        blocks=tuple(_paged(block, found) for block in document.blocks),
        warnings=(*document.warnings, *found.warnings),
    )


def _paged(block: Block, found: ExtractedText) -> Block:
    page = found.page_at(block.start)
    return block if page is None else replace(block, metadata={**block.metadata, "page": page})
