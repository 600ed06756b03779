"""PDF files by PDFium: text page by page, values of form fields beside their labels, notes, and scanned pages by OCR."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from ctypes import POINTER, byref, c_double, c_ushort, cast, create_string_buffer
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from threading import Lock
from typing import Any

import pypdfium2
import pypdfium2.raw as pdfium

from agentic_rag.ingest.files.extracted_text import ExtractedText, Region, of_pages
from agentic_rag.ingest.files.extraction_worker import seconds_left
from agentic_rag.ingest.files.source_text import SourceError
from agentic_rag_readers.formats.entries import missing_ocr
from agentic_rag_readers.formats.markdown_text import one_line, subscript, superscript
from agentic_rag_readers.formats.page_columns import Piece, Row, in_reading_order

_ALONE = Lock()
"""PDFium must not be called by two threads at once."""
_DIVIDED_WORD = re.compile(r"(\w+)(?:[\x02\ufffe]\n?|(?<=[^\W\d_])-\n(?=[^\W\d_A-Z]))(\w+)")
_HYPHEN = "\x02"
"""PDFium's mark for a hyphen at a line's end, which takes the place of the line's end, too."""
_COMPOUND = re.compile(r"\w+-\w+")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ufffe\uffff]")
_NOTES = frozenset({
    pdfium.FPDF_ANNOT_TEXT, pdfium.FPDF_ANNOT_FREETEXT, pdfium.FPDF_ANNOT_HIGHLIGHT, pdfium.FPDF_ANNOT_UNDERLINE,
    pdfium.FPDF_ANNOT_SQUIGGLY, pdfium.FPDF_ANNOT_STRIKEOUT, pdfium.FPDF_ANNOT_STAMP, pdfium.FPDF_ANNOT_CARET,
    pdfium.FPDF_ANNOT_INK, pdfium.FPDF_ANNOT_SQUARE, pdfium.FPDF_ANNOT_CIRCLE, pdfium.FPDF_ANNOT_LINE,
    pdfium.FPDF_ANNOT_POLYGON, pdfium.FPDF_ANNOT_POLYLINE,
})  # fmt: skip
_BOXES = (pdfium.FPDF_FORMFIELD_CHECKBOX, pdfium.FPDF_FORMFIELD_RADIOBUTTON)
_BUTTONS = (pdfium.FPDF_FORMFIELD_PUSHBUTTON, pdfium.FPDF_FORMFIELD_SIGNATURE)
_MAX_PAGES_NAMED = 8
_SCRIPT_HEIGHT, _MIN_RISE, _MIN_FALL = 0.9, 0.15, -0.05
"""Height of a power or an index, and the places of its base line, in heights of the letter that it belongs to."""
_LEVEL = 0.01
"""Sine of the angle by which a line may be turned."""


def read_pdf(raw: bytes) -> ExtractedText:
    """Text of a PDF; each page that holds some is one.

    Raises:
        SourceError: it is locked.
    """
    with _ALONE:
        try:
            with pypdfium2.PdfDocument(raw) as document:
                return _text_of(document)
        except pypdfium2.PdfiumError as error:
            if "password" in str(error).lower() or "security" in str(error).lower():
                raise SourceError("it is locked by a password") from error
            raise


def _text_of(document: Any) -> ExtractedText:
    document.init_forms()
    pages, empty, unknown = [], [], 0
    for number in range(len(document)):
        page = document[number]
        text, lost = _page(page, document.formenv)
        page.close()
        pages.append((number + 1, text))
        unknown += lost
        if not text:
            empty.append(number + 1)
    compounds = {found for _, text in pages for found in _COMPOUND.findall(text)}
    pages = [(number, _CONTROL.sub("", _join_divided_words(text, compounds))) for number, text in pages]
    scanned, regions, left_out = _scan(document, empty)
    left_out += _left_out(unknown, document.count_attachments())
    if document.get_formtype() == pdfium.FORMTYPE_XFA_FULL:
        left_out.append("its form is of the kind XFA, whose values are not read")
    return of_pages([(number, text or scanned.get(number, "")) for number, text in pages], left_out, regions)


def _scan(document: Any, empty: list[int]) -> tuple[dict[int, str], dict[int, tuple[Region, ...]], list[str]]:
    """Texts and regions of the pages without a text of their own, by OCR where that is installed; and what is left."""
    if not empty:
        return {}, {}, []
    if (extra := missing_ocr()) is not None:
        return {}, {}, [f"{_name_pages(empty, 'with no text, perhaps pictures')}; OCR {extra}"]
    from agentic_rag_readers.formats.picture_files import MAX_SIDE, lines_in

    texts, regions, longest = {}, {}, 0.0
    late: list[int] = []
    for place, number in enumerate(empty):
        before = seconds_left()
        if before < 2 * longest:
            late = empty[place:]
            break
        page = document[number - 1]
        rendered = page.render(scale=MAX_SIDE / max(page.get_size())).to_numpy()
        page.close()
        texts[number], regions[number] = lines_in(rendered[:, :, :3])
        longest = max(longest, before - seconds_left()) if math.isfinite(before) else 0.0
    blank = [number for number, text in texts.items() if not text]
    lines = [_name_pages(blank, "on which OCR found no text")] if blank else []
    if late:
        lines.append(
            f"{_name_pages(late, 'not read by OCR')}: more documents.timeout_seconds would be needed"
        )
    return texts, regions, lines


def _name_pages(pages: list[int], which: str) -> str:
    more = f" and {len(pages) - _MAX_PAGES_NAMED} more" if len(pages) > _MAX_PAGES_NAMED else ""
    return f"pages {which}: {', '.join(map(str, pages[:_MAX_PAGES_NAMED]))}{more}"


def _left_out(unread_count: int, attachments: int) -> list[str]:
    lines = []
    if unread_count:
        lines.append(f"{unread_count} letters cannot be read, as their font does not say which they are")
    if attachments:
        lines.append(f"attached files were not read: {attachments}")
    return lines


def _join_divided_words(text: str, compounds: set[str]) -> str:
    """The text without the hyphens at which lines divide words; those of words that are written so are kept."""

    def whole(match: re.Match[str]) -> str:
        before, after = match.groups()
        compound = f"{before}-{after}"
        return compound if compound in compounds or not after[0].islower() else before + after

    return _DIVIDED_WORD.sub(whole, text)


def _page(page: Any, forms: Any) -> tuple[str, int]:
    """Its text, and how many of its letters have no code."""
    textpage = page.get_textpage()
    pieces, unknown = _pieces(textpage)
    textpage.close()
    rows, loose, notes = in_reading_order(pieces), [], []
    for number in range(pdfium.FPDFPage_GetAnnotCount(page)):
        annotation = pdfium.FPDFPage_GetAnnot(page, number)
        kind = pdfium.FPDFAnnot_GetSubtype(annotation)
        if kind == pdfium.FPDF_ANNOT_WIDGET and forms is not None:
            loose += _place_field(_field(annotation, forms), rows)
        elif kind in _NOTES and (written := one_line(_string(annotation, "Contents"))):
            author = one_line(_string(annotation, "T"))
            notes.append(f"Note by {author}: {written}" if author else f"Note: {written}")
        pdfium.FPDFPage_CloseAnnot(annotation)
    lines = [" ".join(piece.text for piece in row) for row in rows] + loose
    return "\n\n".join(filter(None, ["\n".join(lines).strip(), *notes])), unknown


@dataclass(frozen=True, slots=True)
class _Letter:
    """A letter; ``box`` is left, bottom, right and top; spaces that PDFium adds have none. Turned ones have no base line."""

    text: str
    box: tuple[float, float, float, float] | None
    baseline: float

    @property
    def height(self) -> float:
        return self.box[3] - self.box[1] if self.box is not None else 0.0


def _pieces(textpage: Any) -> tuple[list[Piece], int]:
    """The page's text between line ends and gaps wider than a letter's height, and its letters without a code."""
    pieces: list[Piece] = []
    letters: list[_Letter] = []
    box = [0.0] * 4
    unknown, is_broken = 0, False
    for letter in _letters(textpage):
        unknown += letter.text in ("", "\ufffd")
        if letter.text in "\r\n":
            is_broken = True
            continue
        is_apart = letter.box is not None and (
            (letters and letters[-1].text == _HYPHEN) or _is_beyond(box, letter.box)
        )
        if letters and (is_apart or (is_broken and not _goes_on(letters, letter))):
            pieces += _piece(letters, box)
            letters = []
        is_broken = False
        if letter.box is not None:
            box = _around(box, letter.box) if letters else list(letter.box)
        letters.append(letter)
    return [*pieces, *_piece(letters, box)], unknown


def _letters(textpage: Any) -> Iterator[_Letter]:
    box, left, baseline = pdfium.FS_RECTF(), c_double(), c_double()
    for number in range(textpage.count_chars()):
        has_box = pdfium.FPDFText_GetLooseCharBox(textpage, number, byref(box)) and box.right > box.left
        pdfium.FPDFText_GetCharOrigin(textpage, number, byref(left), byref(baseline))
        code = pdfium.FPDFText_GetUnicode(textpage, number)
        here = (box.left, box.bottom, box.right, box.top) if has_box else None
        is_level = abs(math.sin(pdfium.FPDFText_GetCharAngle(textpage, number))) < _LEVEL
        text = chr(code) if 0 < code <= 0x10FFFF else ""
        yield _Letter(text, here, baseline.value if is_level else math.nan)


def _goes_on(letters: list[_Letter], letter: _Letter) -> bool:
    """Whether a line goes on although PDFium ends it, as it does behind a power."""
    last, height = letters[-1].box, letter.height
    return (
        last is not None
        and letter.box is not None
        and abs(letter.box[0] - last[2]) < height / 2
        and any(abs(one.baseline - letter.baseline) < height / 20 for one in letters)
    )


def _script(base: _Letter | None, letter: _Letter) -> Callable[[str], str] | None:
    """How a letter is written that is smaller than the one before it, and above or below its line."""
    if base is None or letter.text.isspace() or not 0 < letter.height < _SCRIPT_HEIGHT * base.height:
        return None
    shift = (letter.baseline - base.baseline) / base.height
    return superscript if _MIN_RISE < shift < 1 else subscript if -1 < shift < _MIN_FALL else None


def _with_scripts(letters: list[_Letter]) -> str:
    base: _Letter | None = None
    written: list[tuple[Callable[[str], str] | None, str]] = []
    for letter in letters:
        change = _script(base, letter)
        if change is None:
            base = letter if letter.text.strip() else None
        written.append((change, letter.text))
    runs = ((change, "".join(text for _, text in run)) for change, run in groupby(written, itemgetter(0)))
    return "".join(run if change is None else change(run) for change, run in runs)


def _is_beyond(box: Sequence[float], here: Sequence[float]) -> bool:
    """Whether a letter is on the line of the text before it, beyond a gap; not so in lines that go up or leftwards."""
    height = max(here[3] - here[1], 1e-6)
    shared = min(box[3], here[3]) - max(box[1], here[1])
    return shared > height / 3 and here[0] - box[2] > height


def _around(box: Sequence[float], here: Sequence[float]) -> list[float]:
    return [min(box[0], here[0]), min(box[1], here[1]), max(box[2], here[2]), max(box[3], here[3])]


def _piece(letters: list[_Letter], box: list[float]) -> list[Piece]:
    # Letters beyond the first plane come as two halves.
    text = (
        _with_scripts(letters).encode("utf-16", "surrogatepass").decode("utf-16", "replace").strip(" \t\xa0")
    )
    return [Piece(text, *box)] if text else []


def _field(annotation: Any, forms: Any) -> tuple[str, Piece]:
    """A form field: its name, and its value in its place; an empty one where it has none."""
    kind = pdfium.FPDFAnnot_GetFormFieldType(forms, annotation)
    value = ""
    if kind in _BOXES:
        value = "☒" if pdfium.FPDFAnnot_IsChecked(forms, annotation) else "☐"
    elif kind not in _BUTTONS:
        value = one_line(_wide(pdfium.FPDFAnnot_GetFormFieldValue, forms, annotation))
    name = _wide(pdfium.FPDFAnnot_GetFormFieldAlternateName, forms, annotation)
    name = name or _wide(pdfium.FPDFAnnot_GetFormFieldName, forms, annotation)
    box = pdfium.FS_RECTF()
    pdfium.FPDFAnnot_GetRect(annotation, byref(box))
    return one_line(name), Piece(
        value, box.left, min(box.bottom, box.top), box.right, max(box.bottom, box.top)
    )


def _place_field(field: tuple[str, Piece], rows: list[Row]) -> list[str]:
    """Put a field's value into the line that it stands in; where it stands alone, the line that it is."""
    name, value = field
    if not value.text:
        return []
    middle = (value.bottom + value.top) / 2
    for row in rows:
        if row[0].bottom <= middle <= row[0].top:
            row.append(value)
            row.sort(key=lambda piece: piece.left)
            return []
    return [f"{name}: {value.text}" if name else value.text] if value.text != "☐" else []


def _string(annotation: Any, key: str) -> str:
    return _wide(pdfium.FPDFAnnot_GetStringValue, annotation, key.encode())


def _wide(get: Callable[..., int], *arguments: Any) -> str:
    """A text that PDFium writes as UTF-16 into a buffer whose size it tells first."""
    size = get(*arguments, None, 0)
    buffer = create_string_buffer(size + 2)
    get(*arguments, cast(buffer, POINTER(c_ushort)), size)
    return buffer.raw[:size].decode("utf-16-le", "replace").rstrip("\x00")
