"""The catalogue's rows, and the snapshot that is made of them."""

from __future__ import annotations

from agentic_rag.domain.notes import Note
from agentic_rag.ingest.base_files import parse_base
from agentic_rag.notes.catalogue import Snapshot, note_of


def base(path: str, source: str = "views:\n  - name: All\n") -> Note:
    return note_of(parse_base(path, path, source))


def test_a_row_with_the_source_of_a_base() -> None:
    row = base("lists/Books.base")
    assert (row.title, row.base, row.fields) == ("Books", "views:\n  - name: All\n", ())
    assert Note.unpacked(row.packed()) == row


def test_bases_are_apart_from_the_notes() -> None:
    snapshot = Snapshot.of([Note("a.md", "a.md", "A"), base("z/Books.base"), base("a/BOOKS.base", "")])
    assert [note.path for note in snapshot.notes] == ["a.md"]
    assert snapshot.schema.notes == 1
    assert {name: one.path for name, one in snapshot.bases.items()} == {"books": "a/BOOKS.base"}
    assert list(snapshot.titled()) == ["a"]


def test_a_stored_base_that_cannot_be_read_is_none() -> None:
    broken = Note("B.base", "B.base", "B", base="views: 5")
    assert Snapshot.of([broken]).bases == {}
