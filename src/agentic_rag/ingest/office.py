"""PDF, Word, PowerPoint, HTML, EPUB and pictures as text, by readers that are extras, on this machine.

A PDF's text and a picture's have no headings; the others are read as Markdown, with headings, and slides are pages.
"""

from __future__ import annotations

import importlib
import importlib.util
import zipfile
from collections.abc import Callable
from dataclasses import replace
from io import BytesIO
from pathlib import PurePosixPath

from agentic_rag.domain import REGIONS, Block, Document
from agentic_rag.errors import install
from agentic_rag.ingest.extracted_text import ExtractedText
from agentic_rag.ingest.files import ZIP_DAMAGES, NothingToRead, SourceError
from agentic_rag.notes.markdown import parse_markdown, parse_text

PICTURES = {
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".webp": "image/webp",
    ".gif": "image/gif",
    ".bmp": "image/bmp",
    ".tif": "image/tiff",
    ".tiff": "image/tiff",
}
MIME_TYPES = {
    ".pdf": "application/pdf",
    ".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    ".pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    ".html": "text/html",
    ".htm": "text/html",
    ".epub": "application/epub+zip",
    **PICTURES,
}
"""By suffix: what is read."""
_READERS = {
    ".pdf": ("pdf_files", "read_pdf"),
    ".docx": ("word_files", "read_word"),
    ".pptx": ("slide_files", "read_slides"),
    ".html": ("web_files", "read_html"),
    ".htm": ("web_files", "read_html"),
    ".epub": ("web_files", "read_epub"),
    **dict.fromkeys(PICTURES, ("picture_files", "read_picture")),
}
"""By suffix: module and function."""
_DAMAGES = (*ZIP_DAMAGES, SyntaxError, OSError)
"""What the readers raise about damaged files; lxml's are of ``SyntaxError``, PDFium's of ``RuntimeError``."""
MISSING, MISSING_OCR = (f"needs an extra: {install(extra)}" for extra in ("documents", "ocr"))
LARGEST, LARGEST_UNPACKED = 100_000_000, 500_000_000
"""Bytes of a file, and of all that a zipped one unpacks to."""
_MODULES, _OCR = ("lxml", "pypdfium2"), "rapidocr"


def missing(suffix: str) -> str | None:
    """What to install before a kind of file is read; None if it is there."""
    if suffix in PICTURES:
        return None if has_ocr() else MISSING_OCR
    return None if all(importlib.util.find_spec(module) is not None for module in _MODULES) else MISSING


def has_ocr() -> bool:
    """Whether pictures of text can be read."""
    return importlib.util.find_spec(_OCR) is not None


def extract(raw: bytes, suffix: str) -> ExtractedText:
    """The text of a file's bytes.

    Raises:
        SourceError: it is damaged, locked, too large, or has only pictures; or the extra is missing.
    """
    if (extra := missing(suffix)) is not None:
        raise SourceError(extra)
    try:
        _require_size(raw)
        found = _reader(suffix)(raw)
    except SourceError:
        raise
    except _DAMAGES as error:
        told = (str(error).splitlines() or [type(error).__name__])[0]
        raise SourceError(f"it is damaged ({told[:120]})") from error
    if not any(letter.isalnum() for letter in found.text):
        raise NothingToRead("; ".join(["it holds no text", *found.warnings]))
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


def parse_extracted(
    document_id: str, path: str, extracted_text: ExtractedText, *, url: str | None = None
) -> Document:
    """The document; each block knows its page, and the regions of the lines that OCR read."""
    is_plain = PurePosixPath(path).suffix.lower() in (".pdf", *PICTURES)
    parse = parse_text if is_plain else parse_markdown
    document = parse(document_id, path, extracted_text.text, url=url)
    return replace(
        document,
        blocks=tuple(_with_pages(block, extracted_text) for block in document.blocks),
        warnings=(*document.warnings, *extracted_text.warnings),
    )


def _with_pages(block: Block, extracted_text: ExtractedText) -> Block:
    page = extracted_text.page_at(block.start)
    metadata = dict(block.metadata) if page is None else {**block.metadata, "page": page}
    if regions := extracted_text.regions_in(block.start, block.end):
        metadata[REGIONS] = [[start, end, *box] for start, end, box in regions]
    return replace(block, metadata=metadata)
