"""PDF, Word, PowerPoint, HTML and EPUB as text: by Kreuzberg, an extra, on this machine and without OCR.

A PDF's text has its pages and no headings; the others are read as Markdown, with headings, and slides are pages.
"""

from __future__ import annotations

import importlib.util
import re
import zipfile
from bisect import bisect_right
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import PurePosixPath

from agentic_rag.domain import Block, Document
from agentic_rag.errors import install
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
MISSING = f"needs an extra: {install('documents')}"
LARGEST, LARGEST_UNPACKED = 100_000_000, 500_000_000
"""Bytes of a file, and of all that a zipped one unpacks to."""
_MARK = "\ue000"
"""Encloses page numbers in extracted text; a private-use character, which texts do not contain."""
_PAGE = re.compile(rf"{_MARK}(\d+){_MARK}")
_HTML_HEAD = re.compile(r"\A---\n.*?(?=\n# |\n\n(?!## title))", re.DOTALL)
"""The properties that Kreuzberg writes before a page's text."""


@dataclass(frozen=True, slots=True)
class ExtractedText:
    """A file's text, and where its pages begin in it."""

    text: str
    starts: tuple[int, ...] = ()
    """Code points, ascending; none where the file has no pages."""
    pages: tuple[int, ...] = ()
    """Their numbers."""

    def page_at(self, place: int) -> int | None:
        """The page of a code point."""
        number = bisect_right(self.starts, place) - 1
        return self.pages[number] if number >= 0 else None


def is_installed() -> bool:
    """Whether the extra is there."""
    return importlib.util.find_spec("kreuzberg") is not None


def extracted(raw: bytes, suffix: str) -> ExtractedText:
    """The text of a file's bytes.

    Raises:
        SourceError: it is damaged, locked, too large, or has only pictures; or the extra is missing.
    """
    if not is_installed():
        raise SourceError(MISSING)
    _require_size(raw)
    from kreuzberg import ExtractionConfig, KreuzbergError, PageConfig, extract_bytes_sync

    pages = PageConfig(
        extract_pages=True, insert_page_markers=True, marker_format=f"\n\n{_MARK}{{page_num}}{_MARK}\n\n"
    )
    config = ExtractionConfig(use_cache=False, disable_ocr=True, output_format="markdown", pages=pages)
    try:
        result = extract_bytes_sync(raw, MIME_TYPES[suffix], config)
    except (KreuzbergError, RuntimeError, ValueError, OSError) as error:
        locked = "password" in str(error).lower() or "encrypt" in str(error).lower()
        told = (
            "it is locked by a password" if locked else f"it is damaged ({str(error).splitlines()[0][:120]})"
        )
        raise SourceError(told) from error
    if suffix == ".pdf":
        found = _of_pages([(int(page["page_number"]), str(page["content"])) for page in result.pages or ()])
    else:
        found = _of_marked(str(result.content), is_html=suffix in (".html", ".htm"))
    if not any(letter.isalnum() for letter in found.text):
        raise NothingToRead("it holds no text, perhaps only pictures; run OCR on it first")
    return found


def _require_size(raw: bytes) -> None:
    if len(raw) > LARGEST:
        raise SourceError(f"it has more than {LARGEST / 1e6:g} MB")
    if raw[:4] == b"PK\x03\x04":
        try:
            with zipfile.ZipFile(BytesIO(raw)) as packed:
                unpacked = sum(member.file_size for member in packed.infolist())
        except zipfile.BadZipFile as error:
            raise SourceError(f"it is damaged ({error})") from error
        if unpacked > LARGEST_UNPACKED:
            raise SourceError(f"it unpacks to more than {LARGEST_UNPACKED / 1e6:g} MB")


def _of_pages(pages: list[tuple[int, str]]) -> ExtractedText:
    text, starts, numbers = "", [], []
    for number, content in pages:
        plain = content.replace("\r\n", "\n").replace("\r", "\n").strip()
        if plain:
            text += "\n\n" if text else ""
            starts.append(len(text))
            numbers.append(number)
            text += plain
    return ExtractedText(text + "\n", tuple(starts), tuple(numbers))


def _of_marked(content: str, *, is_html: bool) -> ExtractedText:
    if is_html:
        content = _HTML_HEAD.sub("", content)
    parts = _PAGE.split(content)
    if len(parts) == 1:
        return ExtractedText(content.strip() + "\n")
    pages = [(int(number), text) for number, text in zip(parts[1::2], parts[2::2], strict=True)]
    return _of_pages(pages)


def parse_extracted(document_id: str, path: str, found: ExtractedText, *, url: str | None = None) -> Document:
    """The document; each block knows its page."""
    parse = parse_text if PurePosixPath(path).suffix.lower() == ".pdf" else parse_markdown
    document = parse(document_id, path, found.text, url=url)
    return replace(document, blocks=tuple(_paged(block, found) for block in document.blocks))


def _paged(block: Block, found: ExtractedText) -> Block:
    page = found.page_at(block.start)
    return block if page is None else replace(block, metadata={**block.metadata, "page": page})
