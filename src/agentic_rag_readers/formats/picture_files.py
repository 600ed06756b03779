"""Pictures of text by RapidOCR, whose models are part of the extra ``ocr``: lines, each with its region.

Nothing is fetched: the small models for Chinese, English and other Latin scripts lie in the package.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from io import BytesIO
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageOps, ImageSequence
from rapidocr import RapidOCR

from agentic_rag.ingest.files.extracted_text import Box, ExtractedText, Region, of_pages
from agentic_rag.ingest.files.source_text import SourceError
from agentic_rag_readers.formats.markdown_text import one_line
from agentic_rag_readers.formats.page_columns import Piece, Row, in_reading_order

MAX_SIDE = 2000
"""Pixels of what is read at once; larger pictures are made smaller."""
MAX_PIXELS = 64_000_000
"""Of a picture; a JPEG is made smaller while it is unpacked."""
MAX_PAGES = 100
_FORMATS = ("PNG", "JPEG", "WEBP", "TIFF", "BMP", "GIF")
_PAGED_FORMAT = "TIFF"
"""The format whose frames are pages; of others the first frame is read."""
_TALL = 2
"""Times its width: a higher picture, such as a screenshot of a whole page, is read in parts."""
_SEAM = 0.2
"""Share of a part's height in which it ends, at the plainest row."""
_GAP = 0.9
"""Heights of a line between two paragraphs, at least."""


def read_picture(raw: bytes) -> ExtractedText:
    """The lines in a picture; each page of a TIFF is one.

    Raises:
        SourceError: it is too large.
    """
    Image.MAX_IMAGE_PIXELS = None  # its own limit is an error of its own, above ours
    with Image.open(BytesIO(raw), formats=_FORMATS) as picture:
        picture.draft("RGB", (2 * MAX_SIDE, 2 * MAX_SIDE))
        if picture.format != _PAGED_FORMAT:
            text, regions = lines_in(_pixels(picture))
            return ExtractedText(text + "\n", regions=regions)
        pages, found, left_out = [], {}, []
        for number, frame in enumerate(ImageSequence.Iterator(picture), 1):
            if number > MAX_PAGES:
                left_out = [f"pages from {number} on were not read"]
                break
            text, found[number] = lines_in(_pixels(frame))
            pages.append((number, text))
        return of_pages(pages, left_out, found)


def lines_in(pixels: NDArray[np.uint8]) -> tuple[str, tuple[Region, ...]]:
    """The text in a picture of shape (height, width, 3), blue first; and the region of each of its lines."""
    height, width = pixels.shape[:2]
    pieces = [piece for top, part in _parts(pixels) for piece in _pieces(part, top)]
    text, regions = "", []
    above: Box | None = None
    for row in in_reading_order(pieces):
        line, here = " ".join(piece.text for piece in row), _around(row)
        if above is not None:
            is_apart = not 0 <= here[1] - above[1] <= (1 + _GAP) * (above[3] - above[1])
            text += "\n\n" if is_apart else "\n"
        left, top, right, bottom = here
        box = (left / width, top / height, right / width, bottom / height)
        regions.append((len(text), len(text) + len(line), _round_box(box)))
        text, above = text + line, here
    return text, tuple(regions)


def _pixels(picture: Image.Image) -> NDArray[np.uint8]:
    """The picture upright, on white where it is transparent, and of a size that is read whole."""
    if picture.width * picture.height > MAX_PIXELS:
        raise SourceError(
            f"it has {picture.width} × {picture.height} pixels, and the limit is {MAX_PIXELS / 1e6:g} million"
        )
    upright = ImageOps.exif_transpose(picture)
    if upright.has_transparency_data:
        upright = upright.convert("RGBA")
        upright = Image.alpha_composite(Image.new("RGBA", upright.size, "white"), upright)
    upright = upright.convert("RGB")
    longest = upright.width if upright.height > _TALL * upright.width else max(upright.size)
    if longest > MAX_SIDE:
        upright = ImageOps.scale(upright, MAX_SIDE / longest)
    return np.ascontiguousarray(np.asarray(upright)[:, :, ::-1])


def _parts(pixels: NDArray[np.uint8]) -> Iterator[tuple[int, NDArray[np.uint8]]]:
    """A tall picture from top to bottom, cut where a row has the least on it; each part with its first row."""
    top, height = 0, len(pixels)
    while height - top > MAX_SIDE and height > _TALL * pixels.shape[1]:
        first = top + int(MAX_SIDE * (1 - _SEAM))
        plain = pixels[first : top + MAX_SIDE].std(axis=(1, 2))
        cut = first + int(plain.argmin())
        yield top, pixels[top:cut]
        top = cut
    yield top, pixels[top:]


def _pieces(part: NDArray[np.uint8], top: int) -> Iterator[Piece]:
    """Texts with their places below the first row, upwards negative as in a PDF."""
    found = _engine()(part)
    for text, corners in zip(found.txts or (), () if found.boxes is None else found.boxes, strict=True):
        # Of a line that it cannot read it makes spaces and a dot.
        shown = one_line(text.replace("\xad", ""))
        if any(map(str.isalnum, shown)):
            (left, upper), (right, lower) = corners.min(axis=0), corners.max(axis=0)
            yield Piece(shown, float(left), -float(lower + top), float(right), -float(upper + top))


@cache
def _engine() -> Any:
    return RapidOCR(params={"Global.log_level": "critical", "Global.max_side_len": MAX_SIDE})


def _around(row: Row) -> Box:
    """The box of a row of pieces: left, top, right, bottom."""
    return (
        min(piece.left for piece in row),
        -max(piece.top for piece in row),
        max(piece.right for piece in row),
        -min(piece.bottom for piece in row),
    )


def _round_box(box: Sequence[float]) -> Box:
    left, top, right, bottom = (round(min(max(share, 0.0), 1.0), 3) for share in box)
    return left, top, right, bottom
