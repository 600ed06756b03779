"""PDF, Word, PowerPoint, HTML and EPUB: pages, and reports on unreadable files."""

from __future__ import annotations

import sys
from io import BytesIO
from pathlib import Path

import pytest
from reportlab.pdfgen.canvas import Canvas

sys.path.append(str(Path(__file__).parents[4] / "evaluation"))

from agentic_rag.ingest.chunking import chunk_document
from agentic_rag.ingest.files import formats
from agentic_rag.ingest.files.discovery import discover
from agentic_rag.ingest.files.formats import extract, parse_extracted
from agentic_rag.ingest.files.source_text import SourceError
from agentic_rag_readers.formats.entries import MISSING, MISSING_OCR
from made_documents.word import docx, paragraph, run
from word_counts import count_words
from written_files import zipped

DOCX = docx(paragraph(run("They want loam.")))


def pdf(*pages: str) -> bytes:
    """A PDF with a line of text on each page; an empty one has only a square."""
    packed = BytesIO()
    canvas = Canvas(packed, pagesize=(612, 792))
    for text in pages:
        canvas.drawString(72, 720, text) if text else canvas.rect(72, 720, 50, 50, fill=1)
        canvas.showPage()
    canvas.save()
    return packed.getvalue()


def test_a_pdf_has_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agentic_rag_readers.formats.pdf_files.missing_ocr", lambda: MISSING_OCR)
    found = extract(pdf("The first page is about lilies.", "", "The third is about bread."), ".pdf")
    assert found.pages == (1, 3)
    document = parse_extracted("a.pdf", "a.pdf", found)
    chunks = chunk_document(document, max_tokens=400, count_tokens=count_words)
    assert [(chunk.text.strip(), chunk.metadata["page"]) for chunk in chunks] == [
        ("The first page is about lilies.", 1),
        ("The third is about bread.", 3),
    ]
    assert all(document.text[chunk.start : chunk.end] == chunk.text for chunk in chunks)


@pytest.mark.parametrize(
    ("raw", "suffix", "told"),
    [
        (b"%PDF-1.4 broken", ".pdf", "damaged"),
        (b"PK\x03\x04broken", ".docx", "damaged"),
        (b"broken", ".epub", "damaged"),
        (DOCX[:-30], ".docx", "damaged"),
        (DOCX.replace(b"PK\x01\x02\x14\x03\x14", b"PK\x01\x02\x14\x03\x99"), ".docx", "damaged"),
        (zipped({"_rels/.rels": "<Relationships>"}), ".pptx", "damaged"),
        (pdf("", ""), ".pdf", "no text; pages with no text, perhaps pictures: 1, 2"),
        (b"<html></html>", ".html", "holds no text"),
    ],
)
def test_what_cannot_be_read_is_told(
    monkeypatch: pytest.MonkeyPatch, raw: bytes, suffix: str, told: str
) -> None:
    monkeypatch.setattr("agentic_rag_readers.formats.pdf_files.missing_ocr", lambda: MISSING_OCR)
    with pytest.raises(SourceError, match=told):
        extract(raw, suffix)


def test_what_unpacks_to_too_much_is_not_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(formats, "MAX_UNPACKED_BYTES", 1000)
    with pytest.raises(SourceError, match="unpacks to more"):
        extract(zipped({"word/document.xml": "x" * 10_000}), ".docx")
    monkeypatch.setattr(formats, "MAX_BYTES", 10)
    with pytest.raises(SourceError, match="more than"):
        extract(pdf("x"), ".pdf")


def test_without_the_extra_files_are_left_out_with_the_line_that_helps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.pdf").write_bytes(pdf("x"))
    assert [item.path for item in discover([tmp_path]).items] == ["a.pdf"]
    monkeypatch.setattr("agentic_rag.ingest.files.discovery.missing", lambda _: MISSING)
    scan = discover([tmp_path])
    assert scan.items == ()
    assert [one.reason for one in scan.skipped_files] == [MISSING]
