"""Evernote's notebooks: each note with its title, dates, tags and tasks; attachments counted; damaged and hostile files."""

from __future__ import annotations

import importlib.util
from datetime import date
from pathlib import Path

import pytest

from agentic_rag.ingest.files.discovery import discover
from agentic_rag.ingest.files.source_text import SourceError
from agentic_rag.notes.catalogue import note_of
from agentic_rag_readers.formats.entries import MISSING
from agentic_rag_readers.programs import evernote_files
from agentic_rag_readers.programs.evernote_files import file_name, notes_in

with_documents = pytest.mark.skipif(
    importlib.util.find_spec("lxml") is None, reason="lxml is not installed: the extra documents"
)
HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE en-export SYSTEM "http://xml.evernote.com/pub/evernote-export4.dtd">\n'
ENML = '<?xml version="1.0" encoding="UTF-8" standalone="no"?>\n<!DOCTYPE en-note SYSTEM "http://xml.evernote.com/pub/enml2.dtd">'


def note(title: str, body: str, more: str = "") -> str:
    return (
        f"<note><title>{title}</title><created>20240305T081500Z</created><updated>20240306T091500Z</updated>{more}"
        f"<content><![CDATA[{ENML}<en-note>{body}</en-note>]]></content>"
        "<resource><data encoding=\"base64\">QUJD</data><mime>image/png</mime></resource></note>"
    )  # fmt: skip


def exported(*notes: str) -> str:
    return f'{HEAD}<en-export export-date="20240307T101112Z" application="Evernote" version="10.56.9">{"".join(notes)}</en-export>'


BOILER = note(
    "Boiler &amp; pump",
    "<div>The boiler opens at 40&nbsp;bar.</div><div><en-todo checked=\"true\"/>Paint it</div><div><en-todo/>Call Ida</div>"
    '<ul style="--en-todo:true;"><li style="--en-checked:false;"><div>Buy oil</div></li></ul>'
    '<en-media type="image/png" hash="0"/><en-crypt cipher="AES">c2VjcmV0</en-crypt>'
    '<table><tr><td>part</td><td>price</td></tr><tr><td>pump</td><td>300</td></tr></table>',
    "<tag>home</tag><tag>big plan</tag><note-attributes><author>Ida</author><source-url>https://example.org/b</source-url></note-attributes>",
).replace("<resource>", "<task><title>Order parts</title><taskStatus>open</taskStatus><dueDate>20240307T000000Z</dueDate></task><resource>")  # fmt: skip


@with_documents
def test_a_notebook(tmp_path: Path) -> None:
    (tmp_path / "House.enex").write_text(
        exported(BOILER, note("A/B", "<div>Second.</div>"), note("A/B", "")), encoding="utf-8"
    )
    scan = discover([tmp_path])
    assert [item.document_id for item in scan.items] == [
        "House/Boiler & pump.md",
        "House/A-B.md",
        "House/A-B 3.md",
    ]
    assert scan.exports == ((str(tmp_path / "House.enex"), "Evernote's notebook: 3 notes"),)
    boiler, second, empty = (item.parse() for item in scan.items)
    assert (boiler.title, boiler.tags, boiler.url) == (
        "Boiler & pump",
        ("home", "big-plan"),
        "https://example.org/b",
    )
    assert boiler.metadata["author"] == "Ida"
    assert boiler.metadata["updated"] == "2024-03-06T09:15:00Z"
    assert boiler.date is not None
    assert boiler.date.date() == date(2024, 3, 5)
    assert "The boiler opens at 40 bar." in boiler.text.replace("\xa0", " ")
    assert "| pump | 300 |" in boiler.text
    assert boiler.warnings == ("attachments were not read: 1", "locked passages were not read: 1")
    tasks = [(row.state, row.text) for row in note_of(boiler).rows if row.kind == "task"]
    assert tasks == [("x", "Paint it"), (" ", "Call Ida"), (" ", "Buy oil"), (" ", "Order parts")]
    assert second.text.endswith("---\nSecond.\n")
    assert empty.text.endswith("---\n\n")
    again = discover([tmp_path / "House.enex"])
    assert [item.document_id for item in again.items] == [item.document_id for item in scan.items]


def test_without_the_extra_it_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agentic_rag_readers.programs.reader.missing", lambda _: MISSING)
    (tmp_path / "a.enex").write_text(exported(BOILER))
    scan = discover([tmp_path / "a.enex"])
    assert (scan.items, [one.reason for one in scan.skipped_files]) == ((), [MISSING])


BOMB = '<?xml version="1.0"?><!DOCTYPE en-export [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]><en-export><note><title>&b;</title></note></en-export>'


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "damaged"),
        ("no xml", "damaged"),
        ("<html></html>", "no export of Evernote: it begins with <html>"),
        (BOMB, "declares the entity 'a'"),
        (
            '<!DOCTYPE en-export [<!ENTITY x SYSTEM "file:///etc/passwd">]><en-export/>',
            "declares the entity 'x'",
        ),
    ],
)
def test_files_that_are_none(tmp_path: Path, text: str, told: str) -> None:
    (tmp_path / "a.enex").write_text(text)
    with pytest.raises(SourceError, match=told):
        list(notes_in(tmp_path / "a.enex"))


@with_documents
def test_a_file_that_breaks_off_gives_the_notes_before_and_a_line(tmp_path: Path) -> None:
    (tmp_path / "a.enex").write_text(exported(BOILER, note("Second", "<div>x</div>"))[:-120])
    scan = discover([tmp_path])
    assert [item.document_id for item in scan.items] == ["a/Boiler & pump.md"]
    (skipped,) = scan.skipped_files
    assert skipped.is_unread
    assert skipped.reason.startswith("it is damaged (")
    assert skipped.reason.endswith("; notes before that, which are read: 1")


def test_attachments_take_no_memory_and_a_note_has_a_bound(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(evernote_files, "MAX_CHARACTERS", 100_000)
    file = tmp_path / "a.enex"
    file.write_text(exported(BOILER).replace("QUJD", "QUJD" * 500_000))
    assert [one.attachments for one in notes_in(file)] == [1]
    file.write_text(exported(BOILER.replace("Paint it", "Paint it" * 20_000)))
    with pytest.raises(SourceError, match="more than 100,000 characters"):
        list(notes_in(file))


def test_names_of_files() -> None:
    assert [file_name(title) for title in ("a/b\\c\n", " x  y. ", "...", "é" * 200)] == [
        "a-b-c-",
        "x y",
        "",
        "é" * 100,
    ]
