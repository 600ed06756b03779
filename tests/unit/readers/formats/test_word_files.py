"""Word files: every run reaches the text once, boxes, notes and comments in their place, and what is left out is named."""

from __future__ import annotations

import sys
import zipfile
from io import BytesIO
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[4] / "evaluation"))

from agentic_rag.ingest.files.source_text import SourceError
from agentic_rag_readers.formats.word_files import read_word
from made_documents.word import NAMESPACES, docx, paragraph, run, table, zipped


def text_of(body: str, **parts: str) -> str:
    return read_word(docx(body, {f"{name}.xml": content for name, content in parts.items()})).text


@pytest.mark.parametrize(
    "text", ["Q&A at AT&T, price < 100", "if a > b then <b>", "R&D &amp; more", "x & y", "1 < 2 > 0"]
)
def test_signs_are_kept(text: str) -> None:
    assert text_of(paragraph(run(text))) == f"{text}\n"


@pytest.mark.parametrize("text", ["plain", "Q&A <now>", "  two words "])
def test_cdata_is_kept(text: str) -> None:
    written = f"<w:r><w:t>before </w:t></w:r><w:r><w:t><![CDATA[{text}]]></w:t></w:r>"
    assert text_of(paragraph(written)).split() == ["before", *text.split()]


def box(content: str) -> tuple[str, str]:
    """A text box in the newer form and in the older."""
    newer = (
        f"<w:drawing><wp:anchor><a:graphic><a:graphicData><wps:wsp><wps:txbx><w:txbxContent>{content}"
        "</w:txbxContent></wps:txbx></wps:wsp></a:graphicData></a:graphic></wp:anchor></w:drawing>"
    )
    older = (
        f"<w:pict><v:shape><v:textbox><w:txbxContent>{content}</w:txbxContent></v:textbox></v:shape></w:pict>"
    )
    return newer, older


@pytest.mark.parametrize("form", ["both", "newer", "older", "empty choice"])
def test_a_paragraph_with_a_box_keeps_its_own_words_and_the_box_its_own(form: str) -> None:
    newer, older = box(paragraph(run("The key lies under the pot.")))
    choice = "<w:drawing/>" if form == "empty choice" else newer
    both = f'<mc:AlternateContent><mc:Choice Requires="wps">{choice}</mc:Choice><mc:Fallback>{older}</mc:Fallback></mc:AlternateContent>'
    shape = {"newer": newer, "older": older}.get(form, both)
    body = paragraph(run("The gate opens at six.") + f"<w:r>{shape}</w:r>" + run("The dog is called Bruno."))
    assert text_of(body) == "The gate opens at six. The dog is called Bruno.\n\nThe key lies under the pot.\n"


@pytest.mark.parametrize(
    ("mark", "expected"),
    [
        ("Notice is given in writing.", "Notice is given in writing (The period is eleven weeks)."),
        ("Notice", "Notice (The period is eleven weeks.)"),
        ("What notice?", "What notice (The period is eleven weeks)?"),
    ],
)
@pytest.mark.parametrize("kind", ["footnote", "endnote"])
def test_a_footnote_is_in_its_sentence(kind: str, mark: str, expected: str) -> None:
    note = paragraph(run("The period is eleven weeks."))
    notes = f'<w:{kind}s {NAMESPACES}><w:{kind} w:id="0" w:type="separator">{paragraph(run("x"))}</w:{kind}><w:{kind} w:id="2">{note}</w:{kind}></w:{kind}s>'
    body = paragraph(run(mark) + f'<w:r><w:{kind}Reference w:id="2"/></w:r>')
    found = read_word(docx(body, {f"{kind}s.xml": notes}))
    assert found.text == f"{expected}\n"


def test_comments_are_under_their_paragraph_and_others_at_the_end() -> None:
    comments = "".join(
        f'<w:comment w:id="{number}" w:author="{author}">{paragraph(run(text))}</w:comment>'
        for number, author, text in ((0, "Lena", "Two months, by phone."), (1, "", "Nobody refers to this."))
    )
    body = paragraph(run("The deposit is due.") + '<w:r><w:commentReference w:id="0"/></w:r>') + paragraph(
        run("The end.")
    )
    assert text_of(body, comments=f"<w:comments {NAMESPACES}>{comments}</w:comments>") == (
        "The deposit is due.\n\n> Comment by Lena: Two months, by phone.\n\nThe end.\n\n> Comment: Nobody refers to this.\n"
    )


def test_tracked_changes_are_read_as_they_are_accepted() -> None:
    moved = run("The well is dry.")
    body = (
        paragraph(f"<w:moveFrom>{moved}</w:moveFrom>")
        + paragraph(
            f"<w:ins>{run('New.')}</w:ins><w:del><w:r><w:delText>Old.</w:delText></w:r></w:del><w:del/>"
        )
        + paragraph(f"<w:moveTo>{moved}</w:moveTo>")
    )
    found = read_word(docx(body))
    assert found.text == "New.\n\nThe well is dry.\n"
    assert found.warnings == ("1 deleted passage was left out (tracked changes)",)


def test_headings_lists_tables_and_links_are_markdown() -> None:
    numbering = (
        f'<w:numbering {NAMESPACES}><w:abstractNum w:abstractNumId="0"><w:lvl w:ilvl="0"><w:start w:val="3"/>'
        '<w:numFmt w:val="decimal"/></w:lvl><w:lvl w:ilvl="1"><w:numFmt w:val="bullet"/></w:lvl></w:abstractNum>'
        '<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num></w:numbering>'
    )
    place = '<w:numPr><w:ilvl w:val="{}"/><w:numId w:val="1"/></w:numPr>'
    items = "".join(
        paragraph(run(text), properties=place.format(level)) for text, level in (("a", 0), ("b", 1), ("c", 0))
    )
    cells = [[paragraph(run(text)) for text in row] for row in (("Item", "Price"), ("Piles | oak", "2"))]
    body = paragraph(run("Costs"), "Kop2") + items + table(cells)
    assert (
        text_of(body, numbering=numbering)
        == "## Costs\n\n3. a\n\n    - b\n\n4. c\n\n| Item | Price |\n| --- | --- |\n| Piles \\| oak | 2 |\n"
    )


def test_forms_of_the_older_kind_tell_what_is_chosen() -> None:
    def chosen(data: str) -> str:
        return f'<w:r><w:fldChar w:fldCharType="begin"><w:ffData>{data}</w:ffData></w:fldChar></w:r>'

    entries = '<w:listEntry w:val="oak"/><w:listEntry w:val="pine"/>'
    body = paragraph(run("Wood: ") + chosen(f'<w:ddList><w:result w:val="1"/>{entries}</w:ddList>'))
    body += paragraph(chosen('<w:checkBox><w:checked w:val="1"/></w:checkBox>') + run("paid"))
    body += paragraph(chosen('<w:checkBox><w:default w:val="0"/></w:checkBox>') + run("sent"))
    assert text_of(body) == "Wood: pine\n\n☒ paid\n\n☐ sent\n"


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ('<w:r><w:rPr><w:vertAlign w:val="superscript"/></w:rPr><w:t>6</w:t></w:r>', "10^6"),
        ('<w:r><w:rPr><w:vertAlign w:val="superscript"/></w:rPr><w:t>th</w:t></w:r>', "10th"),
        ('<w:r><w:rPr><w:vertAlign w:val="subscript"/></w:rPr><w:t>2</w:t></w:r>', "10₂"),
        ("<m:oMath><m:sSup><m:e><m:r><m:t>x</m:t></m:r></m:e><m:sup><m:r><m:t>2</m:t></m:r></m:sup></m:sSup></m:oMath>", "10x^2"),
        ("<m:oMath><m:f><m:num><m:r><m:t>a</m:t></m:r></m:num><m:den><m:r><m:t>b</m:t></m:r></m:den></m:f></m:oMath>", "10a/b"),
    ],
)  # fmt: skip
def test_levels_are_kept(content: str, expected: str) -> None:
    assert text_of(paragraph(run("10") + content)) == f"{expected}\n"


def test_a_table_of_tables_is_a_layout() -> None:
    inner = table([[paragraph(run("lamp")), paragraph(run("60 watts"))]])
    found = text_of(table([[paragraph(run("Outer")), inner + paragraph("")]]))
    assert found == "Outer\n\n| lamp | 60 watts |\n| --- | --- |\n"


def test_a_page_within_a_word_file_is_named() -> None:
    raw = docx(paragraph(run("Text.")), {"chunk.html": "<p>More"}, {"chunk.html": "aFChunk"})
    assert read_word(raw).warnings == ("1 file in it was not read: chunk.html",)


def test_what_did_not_reach_the_text_is_named_with_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = docx(
        paragraph(run("The gate is open.") + run("The dog is in.")), {"embeddings/a.xlsx": "x"}, {"embeddings/a.xlsx": "package"}
    )  # fmt: skip
    found = read_word(raw)
    assert found.warnings == ("1 file in it was not read: a.xlsx",)
    # A reader with a fault: one that drops every run that begins with "The dog".
    monkeypatch.setattr(
        "agentic_rag_readers.formats.word_files.one_line", lambda text: text.replace("The dog is in.", "")
    )
    assert read_word(raw).warnings[0] == "1 text was not read of word/document.xml, such as 'The dog is in.'"


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (
            b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "EncryptedPackage".encode("utf-16-le"),
            "locked by a password",
        ),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "save it as .docx"),
        (zipped({"a": "b"}), "no main part"),
    ],
)
def test_what_cannot_be_read_says_why(raw: bytes, reason: str) -> None:
    with pytest.raises(SourceError, match=reason):
        read_word(raw)


def test_entities_of_a_file_are_not_resolved(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("hunter2")
    raw = docx(paragraph(run("Hello.")))
    bad = f'<!DOCTYPE w:document [<!ENTITY x SYSTEM "{secret.as_uri()}">]><w:document {NAMESPACES}><w:body>{paragraph("<w:r><w:t>a&x;b</w:t></w:r>")}</w:body></w:document>'
    with zipfile.ZipFile(BytesIO(raw)) as archive:
        members: dict[str, str | bytes] = {name: archive.read(name) for name in archive.namelist()}
    assert "hunter2" not in read_word(zipped({**members, "word/document.xml": bad})).text


@pytest.mark.parametrize(
    ("content", "expected", "warnings"),
    [
        ("<w:t>Left</w:t><w:ptab/><w:t>Right</w:t>", "Left Right\n", ()),
        (
            "<w:ruby><w:rt><w:r><w:t>とうきょう</w:t></w:r></w:rt><w:rubyBase><w:r><w:t>東京</w:t></w:r></w:rubyBase></w:ruby>",
            "東京(とうきょう)\n",
            (),
        ),
        ('<w:pict><v:shape><v:textpath string="DRAFT"/></v:shape></w:pict>', "DRAFT\n", ()),
        ('<w:t>angle </w:t><w:sym w:font="Symbol" w:char="F061"/>', "angle α\n", ()),
        ('<w:sym w:font="MS Gothic" w:char="2611"/><w:t> done</w:t>', "☑ done\n", ()),
        (
            '<w:t>x</w:t><w:sym w:font="Wingdings" w:char="F04A"/>',
            "x\n",
            ("signs of the font Wingdings were not read: 1",),
        ),
    ],
)
def test_what_is_not_in_a_text_run_is_read_or_told(
    content: str, expected: str, warnings: tuple[str, ...]
) -> None:
    found = read_word(docx(paragraph(f"<w:r>{content}</w:r>"), {}))
    assert (found.text, found.warnings) == (expected, warnings)
