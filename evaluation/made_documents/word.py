"""Word files of varied structure, written as XML: each shows one thing that readers lose."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Mapping
from io import BytesIO
from xml.sax.saxutils import escape

from made_documents.pieces import Made, Pieces, made, numbered

_NAMES = {
    "w": "http://schemas.openxmlformats.org/wordprocessingml/2006/main",
    "r": "http://schemas.openxmlformats.org/officeDocument/2006/relationships",
    "mc": "http://schemas.openxmlformats.org/markup-compatibility/2006",
    "wp": "http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing",
    "a": "http://schemas.openxmlformats.org/drawingml/2006/main",
    "wps": "http://schemas.microsoft.com/office/word/2010/wordprocessingShape",
    "v": "urn:schemas-microsoft-com:vml",
    "m": "http://schemas.openxmlformats.org/officeDocument/2006/math",
    "c": "http://schemas.openxmlformats.org/drawingml/2006/chart",
}
NAMESPACES = " ".join(f'xmlns:{prefix}="{address}"' for prefix, address in _NAMES.items())
_TYPE = _NAMES["r"]
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_STYLES = (
    '<w:style w:type="paragraph" w:styleId="Kop1"><w:name w:val="heading 1"/></w:style>'
    '<w:style w:type="paragraph" w:styleId="Kop2"><w:name w:val="heading 2"/></w:style>'
)
Parts = dict[str, str]


def zipped(members: Mapping[str, str | bytes]) -> bytes:
    """A zip archive of the members."""
    packed = BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return packed.getvalue()


def relations(targets: Mapping[str, str]) -> str:
    """A part's relationships: kind to target."""
    rows = "".join(
        f'<Relationship Id="r{number}" Type="{_TYPE}/{kind}" Target="{target}"/>'
        for number, (kind, target) in enumerate(targets.items(), 1)
    )
    return f'<Relationships xmlns="{_PACKAGE}/relationships">{rows}</Relationships>'


def docx(body: str, parts: Mapping[str, str] = {}, kinds: Mapping[str, str] = {}) -> bytes:
    """A Word file with this body; ``parts`` beside it by name, ``kinds`` their relationship's kind."""
    targets = {"styles": "styles.xml", **{kinds.get(name, name.split(".")[0]): name for name in parts}}
    main = "application/vnd.openxmlformats-officedocument.wordprocessingml"
    overrides = f'<Override PartName="/word/document.xml" ContentType="{main}.document.main+xml"/>' + "".join(
        f'<Override PartName="/word/{name}" ContentType="{main}.{name.split(".")[0].rstrip("1")}+xml"/>'
        for name in ("styles.xml", *parts)
    )
    types = '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/>'
    return zipped(
        {
            "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}/content-types">{types}{overrides}</Types>',
            "_rels/.rels": relations({"officeDocument": "word/document.xml"}),
            "word/_rels/document.xml.rels": relations(targets),
            "word/styles.xml": f"<w:styles {NAMESPACES}>{_STYLES}</w:styles>",
            "word/document.xml": f"<w:document {NAMESPACES}><w:body>{body}<w:sectPr/></w:body></w:document>",
            **{f"word/{name}": content for name, content in parts.items()},
        }
    )


def run(text: str) -> str:
    """A run."""
    return f'<w:r><w:t xml:space="preserve">{escape(text)}</w:t></w:r>'


def paragraph(content: str, style: str = "", properties: str = "") -> str:
    """A paragraph of runs."""
    style = f'<w:pStyle w:val="{style}"/>' if style else ""
    return f"<w:p><w:pPr>{style}{properties}</w:pPr>{content}</w:p>"


def table(rows: list[list[str]]) -> str:
    """A table of cells, each of which holds block content."""
    return (
        "<w:tbl>"
        + "".join("<w:tr>" + "".join(f"<w:tc>{cell}</w:tc>" for cell in row) + "</w:tr>" for row in rows)
        + "</w:tbl>"
    )


def _plain(words: Pieces) -> str:
    item = '<w:numPr><w:ilvl w:val="{}"/><w:numId w:val="1"/></w:numPr>'
    return (
        paragraph(run(words.text(4)), "Kop1")
        + paragraph(run(words.sentences()))
        + paragraph(run(words.text(3)), "Kop2")
        + "".join(paragraph(run(words.text(5)), properties=item.format(level)) for level in (0, 1, 1, 0))
        + table([[paragraph(run(words.text(2))) for _ in range(3)] for _ in range(4)])
    )


def _signs(words: Pieces) -> bytes:
    text = words.known("Q&A at AT&T, price < 100 and > 7, R&D <b>")
    cdata = f"<w:r><w:t><![CDATA[{words.text(5)}]]></w:t></w:r>"
    split = words.known("divided").join(("", ""))
    halves = run(split[:3]) + f"<w:r><w:rPr><w:b/></w:rPr><w:t>{split[3:]}</w:t></w:r>"
    return docx(_plain(words) + paragraph(run(text)) + paragraph(cdata) + paragraph(halves))


def _boxes(words: Pieces) -> bytes:
    inner = paragraph(run(words.text()))
    shape = f"<w:drawing><wp:anchor><a:graphic><a:graphicData><wps:wsp><wps:txbx><w:txbxContent>{inner}</w:txbxContent></wps:txbx></wps:wsp></a:graphicData></a:graphic></wp:anchor></w:drawing>"
    older = (
        f"<w:pict><v:shape><v:textbox><w:txbxContent>{inner}</w:txbxContent></v:textbox></v:shape></w:pict>"
    )
    both = f'<w:r><mc:AlternateContent><mc:Choice Requires="wps">{shape}</mc:Choice><mc:Fallback>{older}</mc:Fallback></mc:AlternateContent></w:r>'
    alone = shape.replace(inner, paragraph(run(words.text())))
    body = paragraph(run(words.text()) + both + run(" " + words.text()))
    body += paragraph(run(words.text()) + f"<w:r>{alone}</w:r>") + paragraph(run(words.text()))
    return docx(_plain(words) + body)


def _footnotes(words: Pieces) -> bytes:
    def notes(tag: str, texts: list[str]) -> str:
        inner = "".join(
            f'<w:{tag} w:id="{number}">{paragraph(run(text))}</w:{tag}>'
            for number, text in enumerate(texts, 2)
        )
        return (
            f'<w:{tag}s {NAMESPACES}><w:{tag} w:id="0" w:type="separator"><w:p/></w:{tag}>{inner}</w:{tag}s>'
        )

    body = "".join(
        paragraph(run(words.text() + ".") + f'<w:r><w:{tag}Reference w:id="{number}"/></w:r>')
        for tag in ("footnote", "endnote")
        for number in (2, 3)
    )
    parts = {f"{tag}s.xml": notes(tag, [words.text(), words.text()]) for tag in ("footnote", "endnote")}
    return docx(_plain(words) + body, parts)


def _comments(words: Pieces) -> bytes:
    marked = "".join(
        paragraph(
            f'<w:commentRangeStart w:id="{number}"/>{run(words.text())}<w:commentRangeEnd w:id="{number}"/>'
            f'<w:r><w:commentReference w:id="{number}"/></w:r>'
        )
        for number in range(3)
    )
    inner = "".join(
        f'<w:comment w:id="{number}" w:author="{words.text(1)}">{paragraph(run(words.text()))}</w:comment>'
        for number in range(4)
    )
    return docx(_plain(words) + marked, {"comments.xml": f"<w:comments {NAMESPACES}>{inner}</w:comments>"})


def _changes(words: Pieces) -> bytes:
    moved = run(words.text())
    gone = "<w:del><w:r><w:delText>deleted passage</w:delText></w:r></w:del>"
    body = paragraph(f"<w:moveFrom>{moved}</w:moveFrom>") + paragraph(
        f"<w:ins>{run(words.text())}</w:ins>{gone}"
    )
    return docx(_plain(words) + body + paragraph(f"<w:moveTo>{moved}</w:moveTo>"))


def _tables(words: Pieces) -> bytes:
    def cell() -> str:
        return paragraph(run(words.text(2)))

    nested = table([[cell(), cell()], [cell(), cell()]]) + paragraph("")
    wide = '<w:tcPr><w:gridSpan w:val="2"/></w:tcPr>' + cell()
    tall = '<w:tcPr><w:vMerge w:val="restart"/></w:tcPr>' + cell()
    below = "<w:tcPr><w:vMerge/></w:tcPr><w:p/>"
    rows = [[wide, cell()], [tall, cell(), nested], [below, cell(), cell() + cell()]]
    return docx(_plain(words) + table(rows))


def _frames(words: Pieces) -> bytes:
    header = f"<w:hdr {NAMESPACES}>{paragraph(run(words.text()))}</w:hdr>"
    footer = f"<w:ftr {NAMESPACES}>{paragraph(run(words.text()))}</w:ftr>"
    return docx(
        _plain(words),
        {"header1.xml": header, "footer1.xml": footer},
        {"header1.xml": "header", "footer1.xml": "footer"},
    )


def _forms(words: Pieces) -> bytes:
    control = f"<w:sdt><w:sdtPr><w:text/></w:sdtPr><w:sdtContent>{paragraph(run(words.text()))}</w:sdtContent></w:sdt>"
    inline = f"<w:sdt><w:sdtContent>{run(words.text(3))}</w:sdtContent></w:sdt>"
    begin, middle, end = (
        f'<w:r><w:fldChar w:fldCharType="{kind}"/></w:r>' for kind in ("begin", "separate", "end")
    )
    code = "<w:r><w:instrText> FORMTEXT </w:instrText></w:r>"
    field = begin + code + middle + run(words.text(2)) + end
    simple = f'<w:fldSimple w:instr=" AUTHOR ">{run(" " + words.text(2))}</w:fldSimple>'
    return docx(
        _plain(words) + control + paragraph(run(words.text(2) + " ") + inline) + paragraph(field + simple)
    )


def _signs_of_level(words: Pieces) -> bytes:
    high = '<w:r><w:rPr><w:vertAlign w:val="superscript"/></w:rPr><w:t>6</w:t></w:r>'
    power = paragraph(run("10") + high + run(" " + words.text(3)))
    words.known("10⁶")
    math = f"<m:oMath><m:r><m:t>{words.known('a+b=42')}</m:t></m:r></m:oMath>"
    link = f'<w:hyperlink w:anchor="x">{run(words.text(2))}</w:hyperlink>'
    special = f"<w:r><w:t>{words.known('well')}</w:t><w:noBreakHyphen/><w:t>{words.known('kept')}</w:t><w:tab/><w:t>{words.text(2)}</w:t><w:br/><w:t>{words.text(2)}</w:t></w:r>"
    return docx(_plain(words) + power + paragraph(math) + paragraph(link) + paragraph(special))


def _charts(words: Pieces) -> bytes:
    values = "".join(f"<c:pt><c:v>{words.text(2)}</c:v></c:pt>" for _ in range(3))
    chart = (
        f"<c:chartSpace {NAMESPACES}><c:chart><c:title><c:tx><c:rich><a:p><a:r><a:t>{words.text(3)}</a:t></a:r></a:p>"
        f"</c:rich></c:tx></c:title><c:ser><c:cat><c:strCache>{values}</c:strCache></c:cat></c:ser></c:chart></c:chartSpace>"
    )
    drawing = '<w:r><w:drawing><wp:inline><wp:docPr id="1" name="c" descr="{}"/><a:graphic><a:graphicData><c:chart r:id="r2"/></a:graphicData></a:graphic></wp:inline></w:drawing></w:r>'
    body = paragraph(run(words.han())) + paragraph(drawing.format(words.text(4)))
    return docx(_plain(words) + body, {"charts/chart1.xml": chart}, {"charts/chart1.xml": "chart"})


_FEATURES: Mapping[str, Callable[[Pieces], bytes]] = {
    "signs": _signs, "boxes": _boxes, "footnotes": _footnotes, "comments": _comments, "changes": _changes,
    "tables": _tables, "frames": _frames, "forms": _forms, "levels": _signs_of_level, "charts": _charts,
}  # fmt: skip
_LEFT_OUT = {"changes": ("1 deleted passage",)}


def word_files(seed: int) -> list[Made]:
    """Ten Word files."""
    return [
        made(name, _FEATURES[name](words), words, *_LEFT_OUT.get(name, ()))
        for name, words in numbered(seed, _FEATURES)
    ]
