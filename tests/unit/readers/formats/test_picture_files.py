"""Pictures of text: lines in two scripts with their regions, scanned pages, and pictures beyond the bounds."""

from __future__ import annotations

import importlib.util
import socket
import zipfile
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

from agentic_rag.answering.citations import region
from agentic_rag.ingest.chunking import chunk_document
from agentic_rag.ingest.files.discovery import discover
from agentic_rag.ingest.files.extraction import Extractor
from agentic_rag.ingest.files.formats import extract, parse_extracted
from agentic_rag.ingest.files.source_text import NothingToRead, SourceError
from agentic_rag_readers.formats.entries import MISSING_OCR

has_rapidocr = importlib.util.find_spec("rapidocr") is not None
with_ocr = pytest.mark.skipif(not has_rapidocr, reason="RapidOCR is not installed: the extra ocr")
LATIN = ("DejaVuSans.ttf", "Vera.ttf")
HAN = ("NotoSerifCJK-Regular.ttc", "NotoSerifCJK-Bold.ttc", "NotoSansCJK-Regular.ttc", "wqy-microhei.ttc")
ENGLISH = ["The boiler is serviced in October.", "The gate was painted by Ida for 250 euros."]
CHINESE = ["锅炉在十月检修，费用为三百元。", "数据库每天备份一次。"]


@pytest.fixture(autouse=True)
def _no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object, **__: object) -> None:
        raise AssertionError("the network was asked")

    monkeypatch.setattr(socket.socket, "connect", refused)
    monkeypatch.setattr(socket, "getaddrinfo", refused)


def font(names: Sequence[str], size: int) -> Any:
    from PIL import ImageFont

    for name in names:
        try:
            return ImageFont.truetype(name, size)
        except OSError:
            continue
    return pytest.skip(f"none of the fonts is installed: {', '.join(names)}")


def drawn(lines: Sequence[str], names: Sequence[str] = LATIN, size: tuple[int, int] = (1000, 300)) -> Any:
    from PIL import Image, ImageDraw

    picture = Image.new("RGB", size, "white")
    for number, line in enumerate(lines):
        ImageDraw.Draw(picture).text((40, 40 + 60 * number), line, fill="black", font=font(names, 36))
    return picture


def saved(picture: Any, form: str = "PNG", **options: Any) -> bytes:
    packed = BytesIO()
    picture.save(packed, form, **options)
    return packed.getvalue()


@with_ocr
def test_chinese_lines_are_read_without_a_network() -> None:
    assert extract(saved(drawn(CHINESE, HAN)), ".png").text == "\n".join(CHINESE) + "\n"


@with_ocr
def test_in_the_process_that_reads_documents_within_its_limits() -> None:
    found = Extractor().extract(saved(drawn(ENGLISH), "JPEG"), ".jpg")
    assert found.text == "\n".join(ENGLISH) + "\n"


@with_ocr
def test_english_lines_are_read_and_each_is_cited_with_its_region() -> None:
    found = extract(saved(drawn(ENGLISH)), ".png")
    assert found.text == "\n".join(ENGLISH) + "\n"
    document = parse_extracted("a.png", "a.png", found)
    (chunk,) = chunk_document(
        document, max_tokens=400, count_tokens=lambda texts: [len(t) // 4 for t in texts]
    )
    first, second = (
        region(chunk.metadata, chunk.text.index(line), chunk.text.index(line) + 9) for line in ENGLISH
    )
    assert first is not None
    assert second is not None
    assert first == pytest.approx([0.04, 0.14, 0.63, 0.27], abs=0.04)
    assert first[3] <= second[1] + 0.03
    whole = region(chunk.metadata, 0, len(chunk.text))
    assert whole == [min(first[0], second[0]), first[1], max(first[2], second[2]), second[3]]


@with_ocr
def test_a_scanned_page_between_others_has_its_number_and_regions() -> None:
    from reportlab.lib.utils import ImageReader
    from reportlab.pdfgen.canvas import Canvas

    packed = BytesIO()
    canvas = Canvas(packed, pagesize=(600, 800))
    canvas.drawString(60, 700, "The lake is deep.")
    canvas.showPage()
    canvas.drawImage(ImageReader(drawn(ENGLISH)), 0, 600, width=600, height=180)
    canvas.showPage()
    canvas.rect(10, 10, 5, 5)
    canvas.save()
    found = extract(packed.getvalue(), ".pdf")
    assert found.text == "The lake is deep.\n\n" + "\n".join(ENGLISH) + "\n"
    assert found.pages == (1, 2)
    assert [found.text[start:end] for start, end, _ in found.regions] == ENGLISH
    assert 0.03 < found.regions[0][2][1] < found.regions[1][2][1] < 0.2
    assert found.warnings == ("pages on which OCR found no text: 3",)


@with_ocr
def test_pages_for_which_time_is_short_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    from reportlab.pdfgen.canvas import Canvas

    packed = BytesIO()
    canvas = Canvas(packed, pagesize=(600, 800))
    for _ in range(3):
        canvas.line(100, 100, 500, 100)
        canvas.showPage()
    canvas.save()
    left = iter([10.0, 6.0, 6.0])
    monkeypatch.setattr("agentic_rag_readers.formats.pdf_files.seconds_left", lambda: next(left))
    with pytest.raises(NothingToRead, match=r"found no text: 1; pages not read by OCR: 2, 3"):
        extract(packed.getvalue(), ".pdf")


@with_ocr
def test_a_tall_picture_is_read_line_by_line() -> None:
    lines = [f"Valve {number}: {number + 40} bar." for number in range(36)]
    found = extract(saved(drawn(lines, size=(500, 2250))), ".png")
    assert found.text.splitlines() == lines


@with_ocr
def test_transparent_turned_and_paged_pictures() -> None:
    from PIL import Image

    ink = drawn(ENGLISH).convert("L").point(lambda light: 0 if light > 126 else 255)
    glass = Image.new("RGBA", ink.size, "black")
    glass.putalpha(ink)
    assert ENGLISH[0] in extract(saved(glass), ".png").text
    exif = Image.Exif()
    exif[0x0112] = 6
    turned = saved(drawn(ENGLISH).rotate(90, expand=True), "JPEG", exif=exif)
    assert ENGLISH[0] in extract(turned, ".jpg").text
    pages = saved(drawn(ENGLISH[:1]), "TIFF", save_all=True, append_images=[drawn(ENGLISH[1:])])
    found = extract(pages, ".tif")
    assert (found.text, found.pages) == ("\n\n".join(ENGLISH) + "\n", (1, 2))


@with_ocr
def test_bounds_and_what_is_no_picture() -> None:
    from PIL import Image

    bomb = saved(Image.new("1", (60_000, 2_000)))
    assert len(bomb) < 1_000_000
    with pytest.raises(SourceError, match="60000 × 2000 pixels, and the limit is 64 million"):
        extract(bomb, ".png")
    for raw in (
        b"",
        b"no picture",
        saved(drawn(ENGLISH))[:300],
        b"<svg xmlns='http://www.w3.org/2000/svg'/>",
    ):
        with pytest.raises(SourceError, match="damaged"):
            extract(raw, ".png")
    with pytest.raises(NothingToRead, match="holds no text"):
        extract(saved(drawn([])), ".png")


@pytest.mark.skipif(has_rapidocr, reason="RapidOCR is installed")
def test_without_the_extra_it_is_named(tmp_path: Path) -> None:
    for name in ("a.png", "b.JPG"):
        (tmp_path / name).write_bytes(b"x")
    with zipfile.ZipFile(tmp_path / "c.zip", "w") as packed:
        packed.writestr("readme.html", "x")
    (skipped,) = discover([tmp_path]).skipped_files
    assert skipped.reason == f"files of other kinds: 1 .jpg, 1 .png, 1 .zip; OCR of pictures {MISSING_OCR}"
    (named,) = discover([tmp_path / "a.png"]).skipped_files
    assert named.reason == MISSING_OCR
