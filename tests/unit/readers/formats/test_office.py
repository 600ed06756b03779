"""PDF, Word, PowerPoint, HTML and EPUB: text, headings and pages, and reports on unreadable files."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path

import pytest

from agentic_rag.ingest import formats
from agentic_rag.ingest.chunking import chunk_document
from agentic_rag.ingest.files import SourceError
from agentic_rag.ingest.formats import extract, parse_extracted
from agentic_rag.ingest.sources import discover
from agentic_rag_readers.formats.entries import MISSING, MISSING_OCR

W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"


def zipped(members: Mapping[str, str]) -> bytes:
    packed = BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as file:
        for name, text in members.items():
            file.writestr(name, text)
    return packed.getvalue()


def pdf(*pages: str) -> bytes:
    """A PDF with a line of text on each page; an empty one has only a square."""
    contents = [f"BT /F1 12 Tf 72 720 Td ({text}) Tj ET" if text else "72 720 50 50 re f" for text in pages]
    objects = ["<< /Type /Catalog /Pages 2 0 R >>"]
    kids = " ".join(f"{4 + 2 * number} 0 R" for number in range(len(pages)))
    objects.append(f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>")
    objects.append("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>")
    for number, content in enumerate(contents):
        font = "/Resources << /Font << /F1 3 0 R >> >>"
        objects.append(
            f"<< /Type /Page /Parent 2 0 R {font} /MediaBox [0 0 612 792] /Contents {5 + 2 * number} 0 R >>"
        )
        objects.append(f"<< /Length {len(content)} >>\nstream\n{content}\nendstream")
    raw, places = b"%PDF-1.4\n", []
    for number, text in enumerate(objects, 1):
        places.append(len(raw))
        raw += f"{number} 0 obj\n{text}\nendobj\n".encode()
    table = "".join(f"{place:010d} 00000 n \n" for place in places)
    size = len(objects) + 1
    end = f"xref\n0 {size}\n0000000000 65535 f \n{table}trailer << /Root 1 0 R /Size {size} >>\nstartxref\n{len(raw)}\n%%EOF"
    return raw + end.encode()


def docx() -> bytes:
    def paragraph(text: str, style: str = "") -> str:
        of_style = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
        return f"<w:p>{of_style}<w:r><w:t>{text}</w:t></w:r></w:p>"

    body = (
        paragraph("Roses", "Heading1")
        + paragraph("They are pruned in March.")
        + paragraph("Soil", "Heading2")
        + paragraph("They want loam.")
    )
    return zipped(
        {
            "[Content_Types].xml": f'<Types xmlns="{PACKAGE}/content-types"><Override PartName="/word/document.xml" '
            'ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>',
            "_rels/.rels": f'<Relationships xmlns="{PACKAGE}/relationships"><Relationship Id="r1" '
            f'Type="{RELATIONS}/officeDocument" Target="word/document.xml"/></Relationships>',
            "word/document.xml": f"<w:document {W}><w:body>{body}</w:body></w:document>",
        }
    )


def epub() -> bytes:
    return zipped(
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": '<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container">'
            '<rootfiles><rootfile full-path="c.opf" media-type="application/oebps-package+xml"/></rootfiles></container>',
            "c.opf": '<package xmlns="http://www.idpf.org/2007/opf" version="3.0"><metadata/><manifest>'
            '<item id="a" href="a.xhtml" media-type="application/xhtml+xml"/></manifest><spine><itemref idref="a"/></spine></package>',
            "a.xhtml": '<html xmlns="http://www.w3.org/1999/xhtml"><body><h1>Chapter</h1><p>The whale is white.</p></body></html>',
        }
    )


def test_a_pdf_has_pages() -> None:
    found = extract(pdf("The first page is about lilies.", "", "The third is about bread."), ".pdf")
    assert found.pages == (1, 3)
    document = parse_extracted("a.pdf", "a.pdf", found)
    chunks = chunk_document(
        document, max_tokens=400, count_tokens=lambda texts: [len(text.split()) for text in texts]
    )
    assert [(chunk.text.strip(), chunk.metadata["page"]) for chunk in chunks] == [
        ("The first page is about lilies.", 1),
        ("The third is about bread.", 3),
    ]
    assert all(document.text[chunk.start : chunk.end] == chunk.text for chunk in chunks)


@pytest.mark.parametrize(
    ("raw", "suffix", "heading", "text"),
    [
        (docx(), ".docx", ("Roses", "Soil"), "They want loam."),
        (epub(), ".epub", ("Chapter",), "The whale is white."),
        (
            b"<html><head><title>T</title><script>x()</script></head><body><h1>Oak</h1><p>Oaks live long.</p></body></html>",
            ".html",
            ("Oak",),
            "Oaks live long.",
        ),
    ],
)
def test_headings_are_kept(raw: bytes, suffix: str, heading: tuple[str, ...], text: str) -> None:
    document = parse_extracted(f"a{suffix}", f"a{suffix}", extract(raw, suffix))
    block = next(one for one in document.blocks if document.text[one.start : one.end].strip() == text)
    assert block.heading_path == heading
    assert "x()" not in document.text


@pytest.mark.parametrize(
    ("raw", "suffix", "told"),
    [
        (b"%PDF-1.4 broken", ".pdf", "damaged"),
        (b"PK\x03\x04broken", ".docx", "damaged"),
        (b"broken", ".epub", "damaged"),
        (docx()[:-30], ".docx", "damaged"),
        (docx().replace(b"PK\x01\x02\x14\x03\x14", b"PK\x01\x02\x14\x03\x99"), ".docx", "damaged"),
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
    monkeypatch.setattr(formats, "LARGEST_UNPACKED", 1000)
    with pytest.raises(SourceError, match="unpacks to more"):
        extract(zipped({"word/document.xml": "x" * 10_000}), ".docx")
    monkeypatch.setattr(formats, "LARGEST", 10)
    with pytest.raises(SourceError, match="more than"):
        extract(pdf("x"), ".pdf")


def test_without_the_extra_files_are_left_out_with_the_line_that_helps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.pdf").write_bytes(pdf("x"))
    assert [item.path for item in discover([tmp_path]).items] == ["a.pdf"]
    monkeypatch.setattr("agentic_rag.ingest.sources.missing", lambda _: MISSING)
    scan = discover([tmp_path])
    assert scan.items == ()
    assert [one.reason for one in scan.skipped_files] == [MISSING]
