"""HTML and EPUB: words, levels and signs as a browser shows them, encodings as declared, every document of a book."""

from __future__ import annotations

import sys
import zipfile
from io import BytesIO
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[4] / "evaluation"))

from agentic_rag.ingest.files.source_text import SourceError
from agentic_rag_readers.formats.web_files import read_epub, read_html
from made_documents.word import zipped

BOOK = '<package xmlns="http://www.idpf.org/2007/opf"><manifest>{}</manifest><spine>{}</spine></package>'


def text_of(body: str) -> str:
    return read_html(f"<html><body>{body}</body></html>".encode()).text


def epub(chapters: dict[str, str], *, href: dict[str, str] | None = None, **more: str) -> bytes:
    """A book of chapters by member name; ``href``: how the package writes a name."""
    items = "".join(
        f'<item id="i{number}" href="{(href or {}).get(name, name)}" media-type="application/xhtml+xml"/>'
        for number, name in enumerate([*chapters, *more.get("listed", "").split()])
    )
    spine = "".join(
        f'<itemref idref="i{number}"/>' for number in range(items.count("<item") - len(more.get("apart", "")))
    )
    return zipped(
        {
            "META-INF/container.xml": '<container><rootfiles><rootfile full-path="O/c.opf"/></rootfiles></container>',
            "O/c.opf": BOOK.format(items, spine),
            **{f"O/{name}": f"<html><body>{body}</body></html>" for name, body in chapters.items()},
            **({"META-INF/encryption.xml": more["locks"]} if "locks" in more else {}),
        }
    )


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("10<sup>6</sup> m", "10^6 m"),
        ("H<sub>2</sub>O", "H₂O"),
        ("the 1<sup>st</sup> and x<sup>n</sup>", "the 1st and x^n"),
        ("a*b_c [z] 1. #x &lt;b&gt; Q&amp;A", "a*b_c [z] 1. #x <b> Q&A"),
        ("un<b>brok</b>en", "unbroken"),
        ("Schiff&shy;fahrt", "Schifffahrt"),
        ("<q>Yes</q> <ruby>漢<rt>kan</rt></ruby>", "“Yes” 漢(kan)"),
        ('<input value="oak"><input type="checkbox" checked>paid<input type="hidden" value="x">', "oak ☒ paid"),
        ("a<br>b", "a\nb"),
        ("<p>a<p>b<div>c</div>d", "a\n\nb\n\nc\n\nd"),
        ("<pre>a\n  b</pre>", "```\na\n  b\n```"),
        ("<pre>```\nx</pre>", "~~~\n```\nx\n~~~"),
        ("<blockquote><p>a<p>b</blockquote>", "> a\n>\n> b"),
        ("<ul><li>a<ul><li>b</ul><li>c</ul><ol start=4><li>d</ol>", "- a\n    - b\n- c\n\n4. d"),
        ("<ul><li><p>a<p>b<ul><li>c</ul></ul>", "- a\n  b\n    - c"),
        ("a <a href='x.html'><div>b</div>c</a>", "a\n\nb\n\n[c](x.html)"),
        ('<a href="https://e.org/a b">here</a> <a href="#x">there</a>', "[here](https://e.org/a%20b) there"),
        ('<img src="x.png" alt="A dog">', "![A dog](x.png)"),
        ("<script>x()</script>a<style>y</style>", "a"),
        ("a<svg:x o:y='z'>b", "ab"),
    ],
)  # fmt: skip
def test_a_page_is_markdown(body: str, expected: str) -> None:
    assert text_of(body) == f"{expected}\n"


def test_tables_keep_their_columns_and_layouts_their_order() -> None:
    rows = "<tr><th>Item<th>Price<th>Note<tr><td rowspan=2>Piles<td>2<td>oak|pine<tr><td>3<td>ash"
    assert text_of(f"<table>{rows}</table>") == (
        "| Item | Price | Note |\n| --- | --- | --- |\n| Piles | 2 | oak\\|pine |\n|  | 3 | ash |\n"
    )
    inner = "<table><tr><td>a<td>b</table>"
    assert text_of(f"<table><tr><td>{inner}<td><p>c</table>") == "| a | b |\n| --- | --- |\n\nc\n"


@pytest.mark.parametrize(
    "note",
    ['<li id="n1"><p>By Lindt.<a href="#r1">↩</a></li>', '<p><a id="n1"></a>1. By Lindt.</p>', '<aside id="n1">By Lindt.</aside>'],
)  # fmt: skip
def test_a_footnote_is_in_its_sentence(note: str) -> None:
    body = f'<p>It is checked.<sup id="r1"><a href="#n1">1</a></sup> Then used.</p><p>More.</p>{note}'
    assert text_of(body) == "It is checked (By Lindt). Then used.\n\nMore.\n"


def test_a_title_is_a_heading_unless_one_has_it() -> None:
    page = "<html><head><title>Rent</title></head><body>{}</body></html>"
    assert read_html(page.format("<p>a").encode()).text == "# Rent\n\na\n"
    assert read_html(page.format("<h1>The Rent</h1><p>a").encode()).text == "# The Rent\n\na\n"


@pytest.mark.parametrize(
    ("charset", "codec", "text"),
    [
        ("gb2312", "gb18030", "苏州的桥很多"), ("shift_jis", "cp932", "港の灯台①"), ("big5", "big5", "臺灣的茶葉"),
        ("windows-1251", "cp1251", "Паром отходит"), ("iso-8859-1", "cp1252", "“naïve”"), ("utf-8", "utf-8", "茶"),
        ("iso-2022-jp", "iso2022_jp", "灯台"), ("iso-8859-1", "utf-8", "茶"), ("no-such", "utf-8", "茶"),
    ],
)  # fmt: skip
def test_a_page_is_decoded_as_it_declares(charset: str, codec: str, text: str) -> None:
    for declared in (
        f'<meta charset="{charset}">',
        f'<meta http-equiv="x" content="text/html; charset={charset}">',
    ):
        found = read_html(f"<html><head>{declared}</head><body>{text}</body></html>".encode(codec))
        assert (found.text, found.warnings) == (f"{text}\n", ())


@pytest.mark.parametrize("charset", ["hex", "utf-16", "no-such"])
def test_what_declares_no_encoding_that_it_can_have_is_recognised(charset: str) -> None:
    found = read_html(f'<meta charset="{charset}"><p>Les élèves préfèrent l’été, déjà'.encode("cp1252"))
    assert found.text == "Les élèves préfèrent l’été, déjà\n"
    assert found.warnings[0].startswith("read as Windows-1252")


def test_letters_outside_the_declared_encoding_are_told() -> None:
    found = read_html("<p>é \x81".encode("latin-1"))
    assert found.warnings[0].endswith(
        "letters are not in its encoding, which it does not declare; save it as UTF-8"
    )


@pytest.mark.parametrize("declaration", ["", '<meta charset="utf-8">', '<meta charset="windows-1252">'])
@pytest.mark.parametrize(
    "text", ["Größere Schlüssel hängen dort", "港の灯台は毎晩光る", "Паром отходит утром"]
)
def test_a_page_in_utf_8_stays_so_with_a_broken_byte(declaration: str, text: str) -> None:
    found = read_html(f"{declaration}<p>{text} ".encode() + b"\xd0 x")
    assert found.text == f"{text} \ufffd x\n"
    assert found.warnings == ("1 letters are not in its encoding, utf-8; save it as UTF-8",)


def test_elements_nest_as_deep_as_the_parser_goes_and_deeper_ones_are_told() -> None:
    assert text_of("<div>" * 1500 + "deep") == "deep\n"
    found = read_html(b"<p>first" + b"<div>" * 5000 + b"deep")
    assert found.text == "first\n"
    assert "too deep" in found.warnings[0]


@pytest.mark.parametrize(
    ("member", "href"),
    [
        ("ch 1.xhtml", "ch%201.xhtml"), ("kapitel ü.xhtml", "kapitel%20%C3%BC.xhtml"), ("a&b.xhtml", "a&amp;b.xhtml"),
        ("a%20b.xhtml", "a%20b.xhtml"), ("Text/a.xhtml", "text/A.xhtml"),
    ],
)  # fmt: skip
def test_chapters_are_found_by_encoded_names(member: str, href: str) -> None:
    raw = epub({member: "<p>Salt was carried by mules.</p>", "b.xhtml": "<p>Toll.</p>"}, href={member: href})
    found = read_epub(raw)
    assert (found.text, found.warnings) == ("Salt was carried by mules.\n\nToll.\n", ())


def test_a_chapter_that_is_not_in_the_file_is_named() -> None:
    found = read_epub(epub({"a.xhtml": "<p>Salt."}, listed="b.xhtml"))
    assert (found.text, found.warnings) == ("Salt.\n", ("O/b.xhtml is listed but is not in the file",))


def test_documents_beside_the_spine_are_read_last() -> None:
    assert (
        read_epub(epub({"a.xhtml": "<p>Salt.", "notes.xhtml": "<p>Notes."}, apart="1")).text
        == "Salt.\n\nNotes.\n"
    )


def test_what_of_a_spine_is_no_page_is_named() -> None:
    raw = epub({"a.xhtml": "<p>Salt.", "b.jpg": "x"})
    with zipfile.ZipFile(BytesIO(raw)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    package = members["O/c.opf"].decode().replace('href="b.jpg" media-type="application/xhtml+xml"', 'href="b.jpg" media-type="image/jpeg"')  # fmt: skip
    found = read_epub(zipped({**members, "O/c.opf": package}))
    assert (found.text, found.warnings) == ("Salt.\n", ("O/b.jpg was not read, as it is image/jpeg",))


def test_a_book_that_is_locked_says_so() -> None:
    locks = '<encryption xmlns:e="x"><e:CipherReference URI="O/a.xhtml"/></encryption>'
    with pytest.raises(SourceError, match="locked"):
        read_epub(epub({"a.xhtml": "x"}, locks=locks))


def test_xhtml_is_read_as_xml_and_as_html_where_it_is_broken() -> None:
    page = '<?xml version="1.0" encoding="utf-8"?><html xmlns="http://www.w3.org/1999/xhtml"><head><title/></head><body><p>a&nbsp;b<![CDATA[ & c]]></p>{}</body></html>'
    assert read_html(page.format("").encode()).text == "a b & c\n".replace(" b", "\xa0b")
    assert read_html(b'<?xml version="1.0"?><html><body><p>a<p>b').text == "a\n\nb\n"


def test_what_nests_deeply_stays_small() -> None:
    for tag in ("<ul><li>x", "<blockquote>x"):
        assert len(text_of(tag * 900)) < 100_000


def test_a_footnote_of_many_marks_is_read_once() -> None:
    mark = '<sup><a href="#n">1</a></sup>'
    assert text_of(f"<p>a{mark} b{mark}.</p><p id='n'>By Lindt.</p>") == "a (By Lindt.) b.\n"
