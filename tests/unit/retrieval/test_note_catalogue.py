"""The catalogue of a dataset, read from the ledger once per change."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agentic_rag.domain import OWN_NOTE
from agentic_rag.domain.notes import Field, Note
from agentic_rag.domain.ports import DocumentRecord
from agentic_rag.errors import StoreError
from agentic_rag.retrieval.catalogue import Catalogue


class Records:
    """A ledger that gives these records, and counts."""

    def __init__(self, *notes: Note) -> None:
        self.error: Exception | None = None
        self.by_name = {note.document_id: record(note) for note in notes}

    async def records(self, dataset: str) -> dict[str, DocumentRecord]:
        if self.error is not None:
            raise self.error
        return dict(self.by_name) if dataset == "notes" else {}


def record(note: Note | None) -> DocumentRecord:
    return DocumentRecord(
        "id", "root", "path", "hash", "graph", (), False, note=b"" if note is None else note.pack()
    )


def note(name: str, *fields: Field) -> Note:
    return Note(name, f"{name}.md", name, fields=fields)


def catalogue(ledger: Records) -> Catalogue:
    return Catalogue(ledger)  # type: ignore[arg-type]


async def test_all_notes_are_there_by_path_and_none_of_another_dataset():
    read = catalogue(Records(note("b"), note("a")))
    assert [one.title for one in (await read.snapshot("notes")).notes] == ["a", "b"]
    assert (await read.snapshot("others")).notes == ()


async def test_the_same_rows_are_the_same_snapshot():
    ledger = Records(note("a"))
    read = catalogue(ledger)
    first = await read.snapshot("notes")
    assert await read.snapshot("notes") is first
    ledger.by_name["b"] = record(note("b"))
    second = await read.snapshot("notes")
    assert [one.title for one in second.notes] == ["a", "b"]
    assert second.notes[0] is first.notes[0], "what did not change is not unpacked again"
    del ledger.by_name["a"]
    assert [one.title for one in (await read.snapshot("notes")).notes] == ["b"]


async def test_documents_that_an_ingest_has_yet_to_write_are_counted():
    ledger = Records(note("a"), note("b"))
    read = catalogue(ledger)
    first = await read.snapshot("notes")
    assert (first.documents, first.pending) == (2, 0)
    ledger.by_name["b"] = replace(ledger.by_name["b"], pending=True)
    ledger.by_name["c"] = replace(record(None), pending=True)
    for own_notes in (False, True):
        later = await read.snapshot("notes", own_notes=own_notes)
        assert (later.documents, later.pending) == (3, 2)
        assert [one.title for one in later.notes] == ["a", "b"]


async def test_a_changed_row_is_read_anew():
    ledger = Records(note("a"))
    read = catalogue(ledger)
    await read.snapshot("notes")
    ledger.by_name["a"] = record(note("a", Field("rating", 5, 0, 9)))
    assert (await read.snapshot("notes")).notes[0].fields[0].value == 5


async def test_what_the_program_wrote_and_what_is_not_stored_yet_are_left_out():
    ledger = Records(note("a"), note("own", Field(OWN_NOTE, "mistake", 0, 5)))
    ledger.by_name["pending"] = record(None)
    assert [one.title for one in (await catalogue(ledger).snapshot("notes")).notes] == ["a"]


async def test_a_ledger_that_fails_is_told():
    ledger = Records(note("a"))
    ledger.error = StoreError("gone")
    with pytest.raises(StoreError, match="gone"):
        await catalogue(ledger).snapshot("notes")
