"""Other readers as they are by default, those that are installed: bytes and suffix to text."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from io import BytesIO
from typing import Any

Reader = Callable[[bytes, str], str]


def kreuzberg(raw: bytes, suffix: str) -> str:
    """As this project read by it: Markdown, of a PDF the pages."""
    from kreuzberg import ExtractionConfig, PageConfig, extract_bytes_sync

    kinds = {
        ".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        ".pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
        ".html": "text/html", ".epub": "application/epub+zip", ".pdf": "application/pdf", ".txt": "text/plain",
    }  # fmt: skip
    pages = PageConfig(extract_pages=suffix == ".pdf")
    config = ExtractionConfig(use_cache=False, disable_ocr=True, output_format="markdown", pages=pages)
    result: Any = extract_bytes_sync(raw, kinds[suffix], config)
    if suffix == ".pdf":
        return "\n".join(str(page["content"]) for page in result.pages)
    return str(result.content)


def markitdown(raw: bytes, suffix: str) -> str:
    """Every format."""
    from markitdown import MarkItDown

    return str(MarkItDown().convert_stream(BytesIO(raw), file_extension=suffix).text_content)


def python_docx(raw: bytes, suffix: str) -> str:
    """Paragraphs and cells of the body."""
    from docx import Document

    document: Any = Document(BytesIO(raw))
    cells = [cell.text for table in document.tables for row in table.rows for cell in row.cells]
    return "\n".join([*(one.text for one in document.paragraphs), *cells])


def docx2python(raw: bytes, suffix: str) -> str:
    """Its whole text."""
    from docx2python import docx2python as read

    return str(read(BytesIO(raw)).text)


def mammoth(raw: bytes, suffix: str) -> str:
    """Its raw text."""
    from mammoth import extract_raw_text

    return str(extract_raw_text(BytesIO(raw)).value)


def python_pptx(raw: bytes, suffix: str) -> str:
    """Text frames, tables and notes."""
    from pptx import Presentation

    texts: list[str] = []
    for slide in Presentation(BytesIO(raw)).slides:
        for shape in slide.shapes:
            if shape.has_text_frame:
                texts.append(shape.text_frame.text)
            elif shape.has_table:
                texts += [cell.text for row in shape.table.rows for cell in row.cells]
        if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
            texts.append(slide.notes_slide.notes_text_frame.text)
    return "\n".join(texts)


def markdownify(raw: bytes, suffix: str) -> str:
    """A page, decoded by BeautifulSoup."""
    from bs4 import BeautifulSoup
    from markdownify import MarkdownConverter

    return str(MarkdownConverter().convert_soup(BeautifulSoup(raw, "html.parser")))


def ebooklib(raw: bytes, suffix: str) -> str:
    """Its documents, each through ``markdownify``."""
    import tempfile

    from ebooklib import ITEM_DOCUMENT, epub

    with tempfile.NamedTemporaryFile(suffix=suffix) as file:
        file.write(raw)
        file.flush()
        book = epub.read_epub(file.name)
    return "\n".join(
        markdownify(item.get_content(), ".html") for item in book.get_items_of_type(ITEM_DOCUMENT)
    )


def pdfminer(raw: bytes, suffix: str) -> str:
    """With its analysis of layout."""
    from pdfminer.high_level import extract_text

    return str(extract_text(BytesIO(raw)))


def pypdf(raw: bytes, suffix: str) -> str:
    """Page by page."""
    from pypdf import PdfReader

    return "\n".join(page.extract_text() for page in PdfReader(BytesIO(raw)).pages)


def pypdfium2(raw: bytes, suffix: str) -> str:
    """Page by page, as PDFium gives it."""
    import pypdfium2

    return "\n".join(page.get_textpage().get_text_range() for page in pypdfium2.PdfDocument(raw))


def charset_normalizer(raw: bytes, suffix: str) -> str:
    """Its best guess."""
    from charset_normalizer import from_bytes

    return str(from_bytes(raw).best() or "")


def chardet(raw: bytes, suffix: str) -> str:
    """Its best guess."""
    from chardet import detect

    return raw.decode(str(detect(raw)["encoding"]))


_READERS: dict[str, tuple[Reader, ...]] = {
    ".docx": (kreuzberg, markitdown, python_docx, docx2python, mammoth),
    ".pptx": (kreuzberg, markitdown, python_pptx),
    ".html": (kreuzberg, markitdown, markdownify),
    ".epub": (kreuzberg, markitdown, ebooklib),
    ".pdf": (kreuzberg, markitdown, pypdfium2, pdfminer, pypdf),
    ".txt": (kreuzberg, markitdown, charset_normalizer, chardet),
}
_MODULES = {"python_docx": "docx", "python_pptx": "pptx"}
PEERS = {
    suffix: {
        read.__name__: read
        for read in readers
        if importlib.util.find_spec(_MODULES.get(read.__name__, read.__name__)) is not None
    }
    for suffix, readers in _READERS.items()
}
