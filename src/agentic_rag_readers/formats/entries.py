"""The formats of documents and pictures: PDF, Word, PowerPoint, HTML, EPUB, and pictures of text.

A PDF's text and a picture's have no headings; the others are read as Markdown, with headings, and slides are pages.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable

from agentic_rag.errors import install
from agentic_rag.ingest.files.extracted_text import ExtractedText
from agentic_rag.ingest.files.formats import Format

MISSING, MISSING_OCR = (f"needs an extra: {install(extra)}" for extra in ("documents", "ocr"))
_MODULES, _OCR = ("lxml", "pypdfium2"), "rapidocr"


def missing_documents() -> str | None:
    """What to install before documents are read; None if it is there."""
    return None if all(importlib.util.find_spec(module) is not None for module in _MODULES) else MISSING


def missing_ocr() -> str | None:
    """What to install before pictures of text are read; None if it is there."""
    return None if importlib.util.find_spec(_OCR) is not None else MISSING_OCR


def _reader(module: str, name: str) -> Callable[[bytes], ExtractedText]:
    """A function of a module that needs an extra, which is imported when it is called."""

    def read(raw: bytes) -> ExtractedText:
        found: ExtractedText = getattr(
            importlib.import_module(f"agentic_rag_readers.formats.{module}"), name
        )(raw)
        return found

    return read


def _pages_by_ocr(seconds: float) -> tuple[str, ...]:
    """How many pages of a PDF are read by OCR depends on the time."""
    return (f"ocr {seconds:g}",) if missing_ocr() is None else ()


PDF = Format((".pdf",), _reader("pdf_files", "read_pdf"), True, missing_documents, conditions=_pages_by_ocr)
WORD = Format((".docx",), _reader("word_files", "read_word"), missing=missing_documents)
SLIDES = Format((".pptx",), _reader("slide_files", "read_slides"), missing=missing_documents)
HTML = Format((".html", ".htm"), _reader("web_files", "read_html"), missing=missing_documents)
EPUB = Format((".epub",), _reader("web_files", "read_epub"), missing=missing_documents)
PICTURES = Format(
    (".png", ".jpg", ".jpeg", ".webp", ".gif", ".bmp", ".tif", ".tiff"),
    _reader("picture_files", "read_picture"),
    True,
    missing_ocr,
    task="OCR of pictures",
)
