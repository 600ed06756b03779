"""HTML pages and EPUB books of varied structure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from html import escape
from urllib.parse import quote

from made_documents.pieces import Made, Pieces, made, numbered
from made_documents.word import zipped

_OPF = "http://www.idpf.org/2007/opf"


def _body(words: Pieces) -> str:
    items = f"<li>{words.text()}<ul><li>{words.text()}</li></ul></li><li>{words.text()}</li>"
    rows = "".join(
        "<tr>" + "".join(f"<td>{words.text(2)}</td>" for _ in range(3)) + "</tr>" for _ in range(3)
    )
    return (
        f"<h1>{words.text(3)}</h1><p>{words.sentences()}</p><h2>{words.text(3)}</h2><ul>{items}</ul>"
        f"<table><tr><th>{words.text(1)}</th><th>{words.text(1)}</th><th>{words.text(1)}</th></tr>{rows}</table>"
    )


def _levels(words: Pieces) -> str:
    words.known("10⁶")
    words.known("H₂O")
    return f"<p>10<sup>6</sup> {words.text()} H<sub>2</sub>O</p>"


def _signs(words: Pieces) -> str:
    text = words.known("Q&A at AT&T, price < 100 * 2 and snake_case [sic] 1. #tag")
    return f"<p>{escape(text)}</p><p>{words.known('un')}<b>{words.known('broken')}</b></p>".replace(
        "</p><p>un", "</p><p>un "
    )


def _quotes(words: Pieces) -> str:
    return f"<blockquote><p>{words.text()}</p><p>{words.text()}</p></blockquote><pre>{words.text()}\n  {words.text()}</pre><dl><dt>{words.text(2)}</dt><dd>{words.text()}</dd></dl>"


def _loose(words: Pieces) -> str:
    return f"{words.text()}<div>{words.text()}<div>{words.text()}</div>{words.text()}</div><section>{words.text()}<br/>{words.text()}</section>"


def _figures(words: Pieces) -> str:
    return f'<figure><img src="a.png" alt="{words.text()}"/><figcaption>{words.text()}</figcaption></figure><details><summary>{words.text()}</summary>{words.text()}</details>'


def _forms(words: Pieces) -> str:
    return f'<form><label>{words.text(2)}</label><input type="text" value="{words.text(2)}"/><textarea>{words.text()}</textarea><select><option>{words.text(2)}</option><option>{words.text(2)}</option></select></form>'


def _notes(words: Pieces) -> str:
    return f'<p>{words.text()}.<sup><a href="#n1">1</a></sup></p><aside id="n1"><p>{words.text()}</p></aside>'


def _tables(words: Pieces) -> str:
    inner = f"<table><tr><td>{words.text(2)}</td><td>{words.text(2)}</td></tr></table>"
    return f'<table><caption>{words.text(2)}</caption><tr><td colspan="2">{words.text(2)}</td></tr><tr><td rowspan="2">{inner}</td><td><p>{words.text(2)}</p><ul><li>{words.text(2)}</li></ul></td></tr><tr><td>{words.text(2)}</td></tr></table>'


def _links(words: Pieces) -> str:
    return f'<p><a href="https://example.org/a_b">{words.text(3)}</a> {words.text()} <q>{words.text(2)}</q> <code>{words.text(2)}</code></p><ol><li>{words.text()}</li><li>{words.text()}</li></ol>'


def _deep(words: Pieces) -> str:
    return "<div>" * 200 + words.text() + "</div>" * 200


_FEATURES: Mapping[str, Callable[[Pieces], str]] = {
    "levels": _levels, "signs": _signs, "quotes": _quotes, "loose": _loose, "figures": _figures, "forms": _forms,
    "notes": _notes, "tables": _tables, "links": _links, "deep": _deep,
}  # fmt: skip
_CHARSETS = {"quotes": "gb18030", "loose": "shift_jis", "figures": "big5", "forms": "windows-1251"}
_FOREIGN = {
    "gb18030": "苏州的桥很多，河水从城中流过。", "shift_jis": "港の灯台は夜に光る。", "big5": "臺灣的茶葉很有名。",
    "windows-1251": "Паром отходит утром",
}  # fmt: skip


def html_files(seed: int) -> list[Made]:
    """Ten pages, four of them in a declared encoding that is not UTF-8."""
    files = []
    for name, words in numbered(seed, _FEATURES):
        body, charset = _body(words) + _FEATURES[name](words), _CHARSETS.get(name, "utf-8")
        body += f"<p>{words.known(_FOREIGN.get(charset, 'Ünïcode'))}</p>"
        page = f'<!DOCTYPE html><html><head><meta charset="{charset}"><title>t</title><style>p {{}}</style></head><body>{body}</body></html>'
        files.append(made(name, page.encode(charset), words))
    return files


def epub_files(seed: int) -> list[Made]:
    """Ten books of four chapters, in names, folders and an order of the spine that differ."""
    return [_book(number, name, words) for number, (name, words) in enumerate(numbered(seed, _FEATURES))]


def _book(number: int, name: str, words: Pieces) -> Made:
    folder = ("", "OEBPS/", "Inhalt & mehr/")[number % 3]
    chapters = [f"text/{stem}.xhtml" for stem in ("a", "ch 1", "kapitel ü", "z&b")]
    bodies = {chapter: _body(words) + _FEATURES[name](words) for chapter in chapters}
    order = chapters[::-1] if number % 2 else chapters
    listed = "".join(
        f'<item id="i{place}" href="{escape(quote(chapter))}" media-type="application/xhtml+xml"/>'
        for place, chapter in enumerate(chapters)
    )
    spine = "".join(f'<itemref idref="i{chapters.index(chapter)}"/>' for chapter in order)
    missing = '<item id="gone" href="gone.xhtml" media-type="application/xhtml+xml"/>' if number == 9 else ""
    spine += '<itemref idref="gone"/>' if missing else ""
    package = f'<package xmlns="{_OPF}" version="3.0" unique-identifier="id"><metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:identifier id="id">{name}</dc:identifier><dc:title>t</dc:title><dc:language>en</dc:language></metadata><manifest>{listed}{missing}</manifest><spine>{spine}</spine></package>'
    page = '<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><head><title>t</title></head><body>{}</body></html>'
    raw = zipped(
        {
            "mimetype": "application/epub+zip",
            "META-INF/container.xml": '<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
            f'<rootfile full-path="{escape(folder)}c.opf" media-type="application/oebps-package+xml"/></rootfiles></container>',
            f"{folder}c.opf": package,
            **{folder + chapter: page.format(body) for chapter, body in bodies.items()},
        }
    )
    return made(name, raw, words, *(("gone.xhtml",) if missing else ()))
