"""What every ``ports.Ledger`` promises."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from agentic_rag.domain.notes import Field, Note, Row
from agentic_rag.domain.ports import DocumentRecord, Failure, Ledger
from agentic_rag.errors import InputError

HOSTILE = [
    "'",
    "''",
    '"',
    "\\",
    "' OR 1=1 --",
    "'; DROP TABLE ledger; --",
    "a\0b",
    "🍵",
    "笔记/茶.md",
    " ",
    "%",
]


def record(document_id: str, **fields: object) -> DocumentRecord:
    whole = DocumentRecord(document_id, "/notes", document_id, "content", "graph", ("Tea", "茶"), False, 3)
    return replace(whole, **fields)  # type: ignore[arg-type]


class LedgerContract:
    """What every ``ports.Ledger`` promises."""

    @pytest.fixture
    def ledger(self) -> Any:
        """An empty ``Ledger``."""
        raise NotImplementedError("override this fixture")

    async def test_a_record_comes_back_as_it_was(self, ledger: Ledger):
        records = {
            "tea.md": record("tea.md", pending=True, names=(), chunks=0),
            "茶/乌龙.md": record("茶/乌龙.md"),
        }
        await ledger.put("notes", list(records.values()))
        assert await ledger.records("notes") == records

    async def test_the_row_of_a_note_comes_back_byte_for_byte(self, ledger: Ledger):
        note = Note(
            "tea.md",
            "tea.md",
            "茶",
            fields=(Field("rating", 5, 0, 9),),
            rows=(Row("task", "call", 10, 14, state=" "),),
        )
        rows = {"tea.md": note.pack(), "none.md": b"", "odd.md": bytes(range(256))}
        await ledger.put("notes", [record(name, note=row) for name, row in rows.items()])
        known = await ledger.records("notes")
        assert {name: known[name].note for name in rows} == rows
        assert Note.unpack(known["tea.md"].note) == note
        await ledger.put("notes", [record("tea.md")])
        assert (await ledger.records("notes"))["tea.md"].note == b""

    async def test_nothing_is_known_before_something_is_put(self, ledger: Ledger):
        assert await ledger.records("notes") == {}
        assert await ledger.datasets() == []
        await ledger.remove("notes", ["a"])
        await ledger.put("notes", [])
        assert await ledger.datasets() == []

    async def test_a_put_overwrites_and_leaves_the_others(self, ledger: Ledger):
        await ledger.put("notes", [record("a", pending=True), record("b")])
        await ledger.put("notes", [record("a", content_hash="new")])
        assert await ledger.records("notes") == {"a": record("a", content_hash="new"), "b": record("b")}

    async def test_a_mark_stands_until_its_document_is_put_again_or_removed(self, ledger: Ledger):
        await ledger.put("notes", [record("a"), record("b"), record("c")])
        await ledger.put("notes", [record("a", pending=True, content_hash=""), record("b", pending=True)])
        await ledger.put("notes", [record("c", graph_hash="new")])
        await ledger.put("other", [record("a")])
        await ledger.remove("other", ["a", "b"])
        held = await ledger.records("notes")
        assert {name: one.pending for name, one in held.items()} == {"a": True, "b": True, "c": False}
        await ledger.put("notes", [record("a")])
        await ledger.remove("notes", ["b"])
        assert await ledger.records("notes") == {"a": record("a"), "c": record("c", graph_hash="new")}

    async def test_of_two_records_of_one_document_the_last_stands(self, ledger: Ledger):
        await ledger.put("notes", [record("a", pending=True), record("a")])
        assert await ledger.records("notes") == {"a": record("a")}

    async def test_what_is_returned_is_the_callers_own(self, ledger: Ledger):
        await ledger.put("notes", [record("a")])
        (await ledger.records("notes")).clear()
        assert set(await ledger.records("notes")) == {"a"}

    async def test_removal_ignores_unknown_ids_and_empties_the_dataset(self, ledger: Ledger):
        await ledger.put("notes", [record("a"), record("b")])
        await ledger.put("other", [record("a")])
        await ledger.remove("notes", ["a", "no such", "' OR 1=1 --", "\ud800"])
        await ledger.remove("notes", [])
        assert set(await ledger.records("notes")) == {"b"}
        assert await ledger.datasets() == ["notes", "other"]
        await ledger.remove("notes", ["b"])
        assert await ledger.datasets() == ["other"]

    async def test_hostile_names_are_names_like_others(self, ledger: Ledger):
        datasets = [f"{text}x" for text in HOSTILE if "\0" not in text]
        for dataset in datasets:
            await ledger.put(dataset, [record(text, names=(text,)) for text in HOSTILE])
        assert await ledger.datasets() == sorted(datasets)
        for dataset in datasets:
            assert set(await ledger.records(dataset)) == set(HOSTILE)
            await ledger.remove(dataset, HOSTILE[1:])
            assert set(await ledger.records(dataset)) == {HOSTILE[0]}

    async def test_a_dataset_is_the_same_however_it_is_composed(self, ledger: Ledger):
        await ledger.put("cafe\u0301", [record("a")])
        assert set(await ledger.records("café")) == {"a"}
        assert await ledger.datasets() == ["café"]

    @pytest.mark.parametrize("name", ["", " ", "a\0b", "\ud800"])
    async def test_a_name_that_names_nothing_is_refused(self, ledger: Ledger, name: str):
        with pytest.raises(InputError, match="dataset needs a name"):
            await ledger.put(name, [record("a")])

    async def test_all_or_none_of_a_put_is_kept(self, ledger: Ledger):
        """A lone surrogate, as an undecodable file name has, cannot be kept."""
        with pytest.raises(InputError, match="surrogate"):
            await ledger.put("notes", [record("a"), record("b\udcff")])
        assert await ledger.records("notes") == {}

    async def test_failures_are_those_of_the_last_call(self, ledger: Ledger):
        assert await ledger.failures("notes") == {}
        await ledger.replace_failures("notes", [])
        first = [Failure(name, "/notes", "attempt", f"{name} hung") for name in HOSTILE]
        await ledger.replace_failures("notes", first)
        await ledger.replace_failures("others", first[:1])
        assert await ledger.failures("notes") == {one.document_id: one for one in first}
        second = [replace(first[0], reason="it crashed")]
        await ledger.replace_failures("notes", second)
        assert list((await ledger.failures("notes")).values()) == second
        assert list((await ledger.failures("others")).values()) == first[:1]
        await ledger.replace_failures("notes", [])
        assert await ledger.failures("notes") == {}
        assert await ledger.datasets() == []
