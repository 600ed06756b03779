#!/bin/sh
# PDFium's text of one printed line has a line end behind a power or an index, and none before it: "about 10" with a
# raised 6 and " cells per litre" is read as "about 106", a line end, " cells per litre". What reads by lines takes the
# number for a whole one, and the unit for the start of the next line. It depends on rise and size together: a digit of
# 8 points is apart from a rise of 4 on, one of 12 points from 6 on, beside letters of 12.
# Seen with pypdfium2 5.15.2 (its own PDFium) on PDFs that reportlab 4.4.4 writes.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check pypdfium2==5.15.2 reportlab==4.4.4
"$folder/venv/bin/python" - <<'PY'
import io

import pypdfium2
from reportlab.pdfgen.canvas import Canvas

ONE_LINE, BROKEN = "about 106 cells per litre", "about 106\r\n cells per litre"
EXPECTED = {  # rise and size of the digit in points, beside letters of 12
    (0, 8): ONE_LINE,
    (2, 8): ONE_LINE,
    (4, 8): BROKEN,
    (6, 6): BROKEN,
    (-3, 8): BROKEN,
    (4, 12): ONE_LINE,
    (6, 12): BROKEN,
}


def read(rise, size):
    pdf = io.BytesIO()
    canvas = Canvas(pdf)
    line = canvas.beginText(72, 700)
    line.setFont("Helvetica", 12)
    line.textOut("about 10")
    line.setFont("Helvetica", size)
    line.setRise(rise)
    line.textOut("6")
    line.setRise(0)
    line.setFont("Helvetica", 12)
    line.textOut(" cells per litre")
    canvas.drawText(line)
    canvas.save()
    return pypdfium2.PdfDocument(pdf.getvalue())[0].get_textpage().get_text_range()


for (rise, size), expected in EXPECTED.items():
    seen = read(rise, size)
    print(f"rise {rise}, size {size}: {seen!r}")
    assert seen == expected, (rise, size, seen)
PY
