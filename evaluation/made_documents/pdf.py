"""PDF files of varied structure, drawn by reportlab."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from io import BytesIO

from reportlab.lib.pagesizes import A4
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.cidfonts import UnicodeCIDFont
from reportlab.pdfgen.canvas import Canvas

from made_documents.pieces import Made, Pieces, made, numbered

_LEFT, _TOP, _STEP = 60, 760, 14


def _lines(canvas: Canvas, lines: list[str], left: float = _LEFT, top: float = _TOP - 40) -> float:
    for line in lines:
        canvas.drawString(left, top, line)
        top -= _STEP
    return top


def _broken(text: str, width: int = 34, *, hyphens: bool = False) -> list[str]:
    """Lines of at most ``width`` letters; with ``hyphens``, words are divided at their ends."""
    lines, line = [], ""
    for word in text.split():
        room = width - len(line) - 2
        if len(line) + len(word) + 1 <= width:
            line = f"{line} {word}".strip()
        elif hyphens and 2 < room < len(word) - 2:
            lines.append(f"{line} {word[:room]}-".strip())
            line = word[room:]
        else:
            lines.append(line)
            line = word
    return [*lines, line]


def _title(canvas: Canvas, words: Pieces) -> None:
    canvas.setFont("Helvetica-Bold", 16)
    canvas.drawString(_LEFT, _TOP, words.text(3))
    canvas.setFont("Helvetica", 10)


def _simple(canvas: Canvas, words: Pieces) -> None:
    for _ in range(3):
        _title(canvas, words)
        _lines(canvas, _broken(words.sentences(6), 80))
        canvas.showPage()


def _hyphens(canvas: Canvas, words: Pieces) -> None:
    _title(canvas, words)
    _lines(canvas, _broken(words.sentences(8), 40, hyphens=True))


def _columns(number: int, *, by_row: bool, hyphens: bool = False) -> Callable[[Canvas, Pieces], None]:
    def draw(canvas: Canvas, words: Pieces) -> None:
        _title(canvas, words)
        width = 490 // number
        columns = [_broken(words.sentences(6), width // 6, hyphens=hyphens) for _ in range(number)]
        rows = max(map(len, columns))
        places = [(row, column) for row in range(rows) for column in range(number)]
        for row, column in places if by_row else sorted(places, key=lambda place: place[1]):
            if row < len(columns[column]):
                canvas.drawString(_LEFT + column * width, _TOP - 40 - row * _STEP, columns[column][row])
        _lines(canvas, _broken(words.sentences(2), 80), top=_TOP - 70 - rows * _STEP)

    return draw


def _form(canvas: Canvas, words: Pieces) -> None:
    _title(canvas, words)
    for number in range(4):
        canvas.drawString(_LEFT, 680 - 30 * number, words.text(2))
        canvas.acroForm.textfield(
            name=f"f{number}", value=words.text(2), x=200, y=675 - 30 * number, width=200, height=18
        )
    canvas.acroForm.checkbox(name=words.text(1), checked=True, x=200, y=500)
    canvas.acroForm.choice(name="c", value=words.text(1), options=["a", words.pieces[-1]], x=200, y=450)


def _notes(canvas: Canvas, words: Pieces) -> None:
    _title(canvas, words)
    _lines(canvas, _broken(words.sentences(3), 80))
    canvas.textAnnotation(words.text(), Rect=[400, 700, 420, 720])
    canvas.freeTextAnnotation(words.text(), "/Helv 10 Tf 0 g", Rect=[300, 500, 420, 520])


def _table(canvas: Canvas, words: Pieces) -> None:
    _title(canvas, words)
    for row in range(6):
        for column in range(3):
            canvas.drawString(_LEFT + 150 * column, 700 - 20 * row, words.text(1))


def _han(canvas: Canvas, words: Pieces) -> None:
    pdfmetrics.registerFont(UnicodeCIDFont("STSong-Light"))
    _title(canvas, words)
    canvas.setFont("STSong-Light", 11)
    _lines(canvas, [words.han(20) for _ in range(5)])


_FEATURES: Mapping[str, Callable[[Canvas, Pieces], None]] = {
    "simple": _simple, "hyphens": _hyphens, "columns": _columns(2, by_row=False, hyphens=True),
    "by row": _columns(2, by_row=True), "three by row": _columns(3, by_row=True),
    "by row with hyphens": _columns(2, by_row=True, hyphens=True), "form": _form, "notes": _notes, "table": _table,
    "han": _han,
}  # fmt: skip


def pdf_files(seed: int) -> list[Made]:
    """Ten PDF files; the last page of each is a picture."""
    files = []
    for name, words in numbered(seed, _FEATURES):
        packed = BytesIO()
        canvas = Canvas(packed, pagesize=A4, invariant=1)
        _FEATURES[name](canvas, words)
        canvas.showPage()
        canvas.rect(100, 100, 50, 50)
        canvas.showPage()
        canvas.save()
        files.append(made(name, packed.getvalue(), words, "no text"))
    return files
