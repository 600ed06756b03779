"""PDF files: divided words, form values, notes, right-to-left and upright lines, and what is left out."""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO
from threading import Thread

import pytest
from reportlab.pdfgen.canvas import Canvas

from agentic_rag.ingest.files.source_text import SourceError
from agentic_rag_readers.formats.entries import MISSING_OCR
from agentic_rag_readers.formats.pdf_files import read_pdf


def drawn(draw: Callable[[Canvas], object], **options: object) -> bytes:
    packed = BytesIO()
    canvas = Canvas(packed, pagesize=(600, 800), **options)
    draw(canvas)
    canvas.save()
    return packed.getvalue()


def lines(*texts: str) -> Callable[[Canvas], None]:
    def draw(canvas: Canvas) -> None:
        for number, text in enumerate(texts):
            canvas.drawString(60, 700 - 14 * number, text)

    return draw


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (("Its pen-", "dulum now swings."), "pendulum now swings."),
        (("made of alu-", "minium, and"), "aluminium, and"),
        (("near Baden-", "Baden in May"), "Baden-Baden in May"),
        (("a self-winding gear. The self-", "winding gear"), "The self-winding gear"),
    ],
)
def test_words_divided_at_line_ends_are_whole(written: tuple[str, str], expected: str) -> None:
    text = read_pdf(drawn(lines(*written))).text
    assert expected in text.replace("\n", " ")
    assert not set(text) & set("\x02\ufffe\xad")


def with_rises(*parts: tuple[str, float, float]) -> Callable[[Canvas], None]:
    """One line of parts: text, size and rise."""

    def draw(canvas: Canvas) -> None:
        line = canvas.beginText(60, 700)
        for text, size, rise in parts:
            line.setFont("Helvetica", size)
            line.setRise(rise)
            line.textOut(text)
        canvas.drawText(line)

    return draw


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ([("a flow of 10", 12, 0), ("-9", 8, 4), (" m", 12, 0), ("3", 8, 4), ("/s.", 12, 0)], "a flow of 10^-9 m^3/s."),
        ([("CO", 10, 0), ("2", 7, -2), (" and H", 10, 0), ("2", 7, -2), ("O in 1987", 10, 0), ("14", 7, 4), (", p. 5", 10, 0)], "CO₂ and H₂O in 1987^14, p. 5"),
        ([("the 21", 12, 0), ("st", 8, 4), (" of June, ", 12, 0), ("7 small ones", 8, 0), (" x", 12, 0), ("4", 8, 4)], "the 21st of June, 7 small ones x^4"),
        ([("A", 30, 0), (" day of 5 hours", 10, 12)], "A day of 5 hours"),
        ([("12", 12, 0), (" 3", 8, 4)], "12 3"),
    ],
)  # fmt: skip
def test_powers_and_indices_are_no_digits_of_the_number_before(
    parts: list[tuple[str, float, float]], expected: str
) -> None:
    assert read_pdf(drawn(with_rises(*parts))).text.strip() == expected


def form(canvas: Canvas) -> None:
    canvas.drawString(60, 700, "Name of the boat:")
    canvas.acroForm.textfield(name="a", value="Seeschwalbe", x=200, y=694, width=200, height=18)
    canvas.drawString(80, 660, "paid")
    canvas.acroForm.checkbox(name="b", checked=True, x=60, y=658, size=12)
    canvas.acroForm.textfield(name="remark", value="none", x=200, y=400, width=200, height=18)
    canvas.acroForm.textfield(name="empty", value="", x=200, y=300, width=200, height=18)
    canvas.textAnnotation("The harbour master wants a photo.", Rect=[500, 700, 520, 720])


def test_values_of_forms_stand_beside_their_labels_and_notes_below() -> None:
    assert read_pdf(drawn(form)).text == (
        "Name of the boat: Seeschwalbe\n☒ paid\nremark: none\n\nNote: The harbour master wants a photo.\n"
    )


def test_columns_stored_row_by_row_are_read_one_after_the_other() -> None:
    left = [
        "The lock keeper raises the",
        "gates twice a day. A wind-",
        "lass moves the upper gate.",
        "the lower gate is closed.",
    ]
    right = [
        "Boats wait at the north",
        "quay. The fee is six francs",
        "for a barge and two francs",
        "for a canoe at the office.",
    ]

    def draw(canvas: Canvas) -> None:
        for number, row in enumerate(zip(left, right, strict=True)):
            for column, text in enumerate(row):
                canvas.drawString(60 + 270 * column, 700 - 14 * number, text)

    text = read_pdf(drawn(draw)).text.replace("\n", " ")
    assert "A windlass moves the upper gate. the lower gate is closed. Boats wait" in text


def test_upright_lines_are_whole() -> None:
    def draw(canvas: Canvas) -> None:
        canvas.rotate(90)
        canvas.drawString(100, -300, "An upright line of words.")

    assert read_pdf(drawn(draw)).text == "An upright line of words.\n"


def test_pages_without_text_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agentic_rag_readers.formats.pdf_files.missing_ocr", lambda: MISSING_OCR)

    def draw(canvas: Canvas) -> None:
        canvas.drawString(60, 700, "Text.")
        for _ in range(2):
            canvas.showPage()
            canvas.rect(1, 1, 9, 9)

    found = read_pdf(drawn(draw))
    assert found.pages == (1,)
    assert found.warnings == (f"pages with no text, perhaps pictures: 2, 3; OCR {MISSING_OCR}",)


def test_a_locked_file_says_so() -> None:
    with pytest.raises(SourceError, match="locked by a password"):
        read_pdf(drawn(lines("x"), encrypt="secret"))


def test_threads_read_one_after_the_other() -> None:
    raw, found = drawn(lines("Two threads.")), list[str]()
    threads = [Thread(target=lambda: found.extend(read_pdf(raw).text for _ in range(20))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == ["Two threads.\n"] * 80
