"""PowerPoint files of varied structure, written as XML."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from xml.sax.saxutils import escape

from made_documents.pieces import Made, Pieces, made, numbered
from made_documents.word import relations, zipped

_NAMES = {
    "a": "http://schemas.openxmlformats.org/drawingml/2006/main",
    "p": "http://schemas.openxmlformats.org/presentationml/2006/main",
    "r": "http://schemas.openxmlformats.org/officeDocument/2006/relationships",
    "mc": "http://schemas.openxmlformats.org/markup-compatibility/2006",
    "c": "http://schemas.openxmlformats.org/drawingml/2006/chart",
    "dgm": "http://schemas.openxmlformats.org/drawingml/2006/diagram",
}
_NS = " ".join(f'xmlns:{prefix}="{address}"' for prefix, address in _NAMES.items())
_MAIN = "application/vnd.openxmlformats-officedocument.presentationml"
_EMPTY = "<p:cSld><p:spTree><p:nvGrpSpPr/><p:grpSpPr/></p:spTree></p:cSld>"
_FIXED = {
    "presentation": "presentation.main",
    "slideLayouts/slideLayout1": "slideLayout",
    "slideMasters/slideMaster1": "slideMaster",
}
_TYPES = "http://schemas.openxmlformats.org/package/2006/content-types"


class Deck:
    """Slides with the parts that belong to each."""

    def __init__(self) -> None:
        self.slides: list[tuple[str, dict[str, str], dict[str, str]]] = []

    def add(self, shapes: str, parts: Mapping[str, str] = {}, kinds: Mapping[str, str] = {}) -> None:
        """A slide; ``parts`` by name under ppt/, ``kinds`` their relationship's kind."""
        self.slides.append((shapes, dict(parts), dict(kinds)))

    def raw(self, *, reverse: bool = False) -> bytes:
        """The file; ``reverse``: the order of the slides is not that of the names of their parts."""
        numbers = range(1, len(self.slides) + 1)
        order = list(numbers)
        names = {place: (len(order) + 1 - place if reverse else place) for place in order}
        members: dict[str, str] = {}
        overrides = "".join(
            f'<Override PartName="/ppt/{part}.xml" ContentType="{_MAIN}.{kind}+xml"/>'
            for part, kind in _FIXED.items()
        )
        for place, (shapes, parts, kinds) in enumerate(self.slides, 1):
            name = f"ppt/slides/slide{names[place]}.xml"
            overrides += f'<Override PartName="/{name}" ContentType="{_MAIN}.slide+xml"/>'
            members[name] = (
                f"<p:sld {_NS}><p:cSld><p:spTree><p:nvGrpSpPr/><p:grpSpPr/>{shapes}</p:spTree></p:cSld></p:sld>"
            )
            members[f"ppt/slides/_rels/slide{names[place]}.xml.rels"] = relations(
                {
                    **{kinds[part]: f"../{part}" for part in parts},
                    "slideLayout": "../slideLayouts/slideLayout1.xml",
                }
            )
            for part in parts:
                back = {"slide": f"../slides/slide{names[place]}.xml"}
                members[f"ppt/{part.replace('/', '/_rels/')}.rels"] = relations(back)
            members |= {f"ppt/{part}": content for part, content in parts.items()}
            overrides += "".join(
                f'<Override PartName="/ppt/{part}" ContentType="{_MAIN}.{kinds[part]}+xml"/>'
                for part in parts
            )
        listed = "".join(f'<p:sldId id="{255 + place}" r:id="s{place}"/>' for place in order)
        kind = _NAMES["r"] + "/slide"
        related = "".join(
            f'<Relationship Id="s{place}" Type="{kind}" Target="slides/slide{names[place]}.xml"/>'
            for place in order
        )
        types = '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/>'
        return zipped(
            {
                "[Content_Types].xml": f'<Types xmlns="{_TYPES}">{types}{overrides}</Types>',
                "_rels/.rels": relations({"officeDocument": "ppt/presentation.xml"}),
                "ppt/slideLayouts/slideLayout1.xml": f"<p:sldLayout {_NS}>{_EMPTY}</p:sldLayout>",
                "ppt/slideLayouts/_rels/slideLayout1.xml.rels": relations(
                    {"slideMaster": "../slideMasters/slideMaster1.xml"}
                ),
                "ppt/slideMasters/slideMaster1.xml": f"<p:sldMaster {_NS}>{_EMPTY}</p:sldMaster>",
                "ppt/presentation.xml": f"<p:presentation {_NS}><p:sldIdLst>{listed}</p:sldIdLst></p:presentation>",
                "ppt/_rels/presentation.xml.rels": f'<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{related}</Relationships>',
                **members,
            }
        )


def paragraphs(*texts: str) -> str:
    """Paragraphs of one run."""
    return "".join(f"<a:p><a:r><a:t>{escape(text)}</a:t></a:r></a:p>" for text in texts)


def shape(*texts: str, kind: str = "") -> str:
    """A shape of paragraphs; ``kind`` of its placeholder."""
    place = f'<p:nvPr><p:ph type="{kind}"/></p:nvPr>' if kind else "<p:nvPr/>"
    return (
        f'<p:sp><p:nvSpPr><p:cNvPr id="2" name="n"/><p:cNvSpPr/>{place}</p:nvSpPr><p:spPr><a:prstGeom prst="rect"/></p:spPr>'
        f"<p:txBody><a:bodyPr/>{paragraphs(*texts)}</p:txBody></p:sp>"
    )


def _plain(words: Pieces) -> str:
    return shape(words.text(3), kind="title") + shape(words.text(), words.text(), words.text(), kind="body")


def frame(content: str) -> str:
    """A frame around a table, a chart or a diagram."""
    return f'<p:graphicFrame><p:nvGraphicFramePr><p:cNvPr id="3" name="f"/><p:cNvGraphicFramePr/><p:nvPr/></p:nvGraphicFramePr><p:xfrm><a:off x="0" y="0"/><a:ext cx="9" cy="9"/></p:xfrm><a:graphic><a:graphicData uri="u">{content}</a:graphicData></a:graphic></p:graphicFrame>'


def _table(words: Pieces) -> str:
    rows = "".join(
        "<a:tr>"
        + "".join(f"<a:tc><a:txBody>{paragraphs(words.text(2))}</a:txBody></a:tc>" for _ in range(3))
        + "</a:tr>"
        for _ in range(3)
    )
    return frame(f"<a:tbl>{rows}</a:tbl>").replace(
        'uri="u"', f'uri="{_NAMES["a"].replace("/main", "/table")}"'
    )


def notes(*texts: str) -> str:
    """A page of notes."""
    return f"<p:notes {_NS}><p:cSld><p:spTree>{shape(*texts, kind='body')}</p:spTree></p:cSld></p:notes>"


def _with_notes(deck: Deck, words: Pieces) -> None:
    for number in (1, 2, 3):
        part = f"notesSlides/notesSlide{number}.xml"
        deck.add(_plain(words), {part: notes(words.text(), words.text())}, {part: "notesSlide"})


def _with_tables(deck: Deck, words: Pieces) -> None:
    deck.add(_plain(words) + _table(words))


def _with_groups(deck: Deck, words: Pieces) -> None:
    inner = f"<p:grpSp><p:nvGrpSpPr/><p:grpSpPr/>{shape(words.text())}</p:grpSp>"
    deck.add(_plain(words) + f"<p:grpSp><p:nvGrpSpPr/><p:grpSpPr/>{inner}{shape(words.text())}</p:grpSp>")


def _with_signs(deck: Deck, words: Pieces) -> None:
    cdata = shape("@").replace("@", f"<![CDATA[{words.text()}]]>")
    deck.add(_plain(words) + shape(words.known("Q&A at AT&T, price < 100 and > 7")) + cdata)


def _with_chart(deck: Deck, words: Pieces) -> None:
    values = "".join(f"<c:pt><c:v>{words.text(2)}</c:v></c:pt>" for _ in range(3))
    chart = f"<c:chartSpace {_NS}><c:chart><c:title><c:tx><c:rich>{paragraphs(words.text())}</c:rich></c:tx></c:title><c:ser><c:cat><c:strCache>{values}</c:strCache></c:cat></c:ser></c:chart></c:chartSpace>"
    deck.add(
        _plain(words) + frame('<c:chart r:id="r1"/>'),
        {"charts/chart1.xml": chart},
        {"charts/chart1.xml": "chart"},
    )


def _with_diagram(deck: Deck, words: Pieces) -> None:
    points = "".join(f"<dgm:pt><dgm:t>{paragraphs(words.text(3))}</dgm:t></dgm:pt>" for _ in range(4))
    data = f"<dgm:dataModel {_NS}><dgm:ptLst>{points}</dgm:ptLst></dgm:dataModel>"
    part = "diagrams/data1.xml"
    deck.add(_plain(words) + frame('<dgm:relIds r:dm="r1"/>'), {part: data}, {part: "diagramData"})


def _with_comments(deck: Deck, words: Pieces) -> None:
    inner = "".join(f'<p:cm authorId="0"><p:text>{words.text()}</p:text></p:cm>' for _ in range(2))
    part = "comments/comment1.xml"
    deck.add(_plain(words), {part: f"<p:cmLst {_NS}>{inner}</p:cmLst>"}, {part: "comments"})
    deck.add(_plain(words))


def _with_alternatives(deck: Deck, words: Pieces) -> None:
    inner = shape(words.text())
    deck.add(
        _plain(words)
        + f'<mc:AlternateContent><mc:Choice Requires="a14">{inner}</mc:Choice><mc:Fallback>{inner}</mc:Fallback></mc:AlternateContent>'
    )


def _with_breaks(deck: Deck, words: Pieces) -> None:
    high = '<a:p><a:r><a:t>10</a:t></a:r><a:r><a:rPr baseline="30000"/><a:t>6</a:t></a:r></a:p>'
    words.known("10⁶")
    field = f'<a:p><a:r><a:t>{words.text(2)}</a:t></a:r><a:br/><a:fld type="datetime1"><a:t>{words.text(2)}</a:t></a:fld></a:p>'
    deck.add(_plain(words) + shape("@").replace(paragraphs("@"), high + field))


def _in_another_order(deck: Deck, words: Pieces) -> None:
    for _ in range(4):
        deck.add(_plain(words) + shape(words.han()))


_FEATURES: Mapping[str, Callable[[Deck, Pieces], None]] = {
    "notes": _with_notes, "tables": _with_tables, "groups": _with_groups, "signs": _with_signs, "chart": _with_chart,
    "diagram": _with_diagram, "comments": _with_comments, "alternatives": _with_alternatives, "breaks": _with_breaks,
    "order": _in_another_order,
}  # fmt: skip


def slide_files(seed: int) -> list[Made]:
    """Ten PowerPoint files."""
    files = []
    for name, words in numbered(seed, _FEATURES):
        deck = Deck()
        deck.add(_plain(words))
        _FEATURES[name](deck, words)
        files.append(made(name, deck.raw(reverse=name == "order"), words))
    return files
