"""A note's row of the catalogue, and the schema of all rows."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

import pytest

from agentic_rag.domain import Block, Document
from agentic_rag.domain.filters import Comparison, matches
from agentic_rag.domain.notes import Field, Note
from agentic_rag.ingest.files.base_files import parse_base
from agentic_rag.notes.catalogue import MAX_ROWS, MAX_TEXT, Schema, Snapshot, note_of, value_type
from agentic_rag.notes.markdown import parse_markdown
from note_rows import notes_of, snapshot_of


def row(text: str, path: str = "games/Dota.md") -> Note:
    return note_of(parse_markdown("id", path, text))


TEXT = (
    "---\nprice: 20\ntags: [rpg/mmo, mine]\naliases: [D]\ngenre: [a, b]\nempty:\n---\n"
    "Opening line with [[Ann|A.]] and [mood:: good].\n\n- [ ] buy it [due:: 2024-05-01]\n- [x] done\n- plain\n"
    "- oats [expires:: 2023-05-05]\n\n| Room | Size |\n|---|---|\n| Attic | 20 |\n| Hall | 3.5 |\n"
)


def test_the_row_has_what_can_be_compared():
    note = row(TEXT)
    assert (note.path, note.title, note.tags, note.aliases, note.links) == (
        "games/Dota.md", "Dota", ("rpg/mmo", "mine"), ("D",), ("Ann",)
    )  # fmt: skip
    stated = {field.key: field.value for field in note.fields}
    assert stated == {"price": 20, "tags": ["rpg/mmo", "mine"], "genre": ["a", "b"], "mood": "good"}
    assert [(one.kind, one.text, one.state, {f.key: f.value for f in one.fields}) for one in note.rows] == [
        ("task", "buy it", " ", {"due": "2024-05-01"}),
        ("task", "done", "x", {}),
        ("item", "oats", None, {"expires": "2023-05-05"}),
        ("row", "Attic", None, {"Room": "Attic", "Size": 20}),
        ("row", "Hall", None, {"Room": "Hall", "Size": 3.5}),
        ("item", "plain", None, {}),
    ]
    assert note.opening is not None
    assert TEXT[slice(*note.opening)].startswith("Opening line")
    assert all("price: 20" in TEXT[f.start : f.end] for f in note.fields if f.key == "price")


def test_the_rows_facts_have_the_folders_and_tags_above():
    facts = row(TEXT).facts()
    assert (facts["folder"], facts["tags"]) == (["games"], ["rpg/mmo", "rpg", "mine"])


@pytest.mark.parametrize(
    "text", ["", "# Heading\n", "---\nbroken: [\n---\n", "%% a comment %%\n", "![[p.png]]\n"]
)
def test_a_note_that_states_nothing_has_an_empty_row(text: str):
    note = row(text)
    assert (note.fields, note.rows, note.opening) == ((), (), None)


def test_a_long_note_is_cut():
    note = row("".join(f"- [ ] {'x' * 500} {n}\n" for n in range(MAX_ROWS + 5)))
    assert len(note.rows) == MAX_ROWS
    assert len(note.rows[0].text) == MAX_TEXT


def test_other_kinds_have_a_place_and_a_date_alone():
    text = "- [ ] not a task\n"
    moment = datetime(2024, 3, 15, tzinfo=UTC)
    document = Document("c", "b.canvas", "b", text, "canvas", (Block("card", 0, len(text)),), date=moment)
    note = note_of(document)
    assert (note.fields, note.rows, note.date) == ((), (), "2024-03-15")
    assert row("Text.\n", "2024-03-15.md").date == "2024-03-15"


@pytest.mark.parametrize(
    "text",
    [
        TEXT,
        "",
        "---\nkey: {a: {b: [1, null, 2.0, true, 123456789012345678901]}}\n---\n",
        "[x:: \0 é \U0001f4c5]\n| a |\n| - |\n| 007 |\n- [ ] 2024-05-01 📅 2024-05-02\n",
    ],
)
def test_a_row_comes_back_as_it_was(text: str):
    note = row(text)
    again = Note.unpack(note.pack())
    assert again == note
    assert repr(again) == repr(note), "1 is not 1.0, nor True"
    assert note.pack() == row(text).pack()


def test_a_lone_surrogate_is_packed_because_the_store_refuses_it_by_name():
    assert row("\ud800 [x:: \ud800]\n").pack()


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (True, "boolean"), (5, "number"), (0.5, "number"), ("2024-05-01", "date"), ("2024-05", "date"),
        ("2024-05-01T10:00", "date"), ("[[Ann]]", "link"), ("5/5", "text"), ("", "text"), ("20240", "text"),
    ],
)  # fmt: skip
def test_the_type_of_a_value(value: Any, kind: str):
    assert value_type(value) == kind


def test_folders_are_counted_whatever_a_property_of_that_name_says():
    notes = notes_of({"a/b/one.md": "---\nfolder: inbox\n---\n", "a/two.md": "---\nfolder: [x, y]\n---\n"})
    assert Schema.of(notes).to_dict()["folders"] == {"a": 2, "a/b": 1}


def test_the_schema_counts_what_the_notes_state():
    schema = Schema.of(
        notes_of(
            {
                "a/one.md": "---\nrating: 5\ntags: [x/y]\nseen: true\n---\n- [ ] t\n- [x] u\n",
                "a/two.md": "---\nrating: '5/5'\ntags: [x]\nseen:\n---\n",
                "b/c/three.md": "---\nrating: 5\n---\n- oats [expires:: 2024-05-01]\n",
            }
        )
    )
    plain = schema.to_dict()
    assert plain["notes"] == 3
    assert {one["name"]: (one["notes"], one["types"], one["values"]) for one in plain["properties"]} == {
        "rating": (3, ["number", "text"], {"5": 2, "5/5": 1}),
        "tags": (2, ["text"], {"x": 1, "x/y": 1}),
        "seen": (1, ["boolean"], {"true": 1}),
    }
    assert (plain["tags"], plain["folders"], plain["tasks"]) == (
        {"x": 2, "x/y": 1}, {"a": 2, "b": 1, "b/c": 1}, {" ": 1, "x": 1}
    )  # fmt: skip
    assert [one["name"] for one in plain["entries"]] == ["expires"]
    assert plain["properties"][0]["name"] == "rating", "the most frequent first"


def test_a_snapshot_is_in_the_order_of_paths_whatever_the_order_given():
    notes = notes_of({"b.md": "B.", "a.md": "A.", "2024-03-15.md": "C."})
    assert [note.path for note in Snapshot.of(notes).notes] == ["2024-03-15.md", "a.md", "b.md"]
    assert Snapshot.of(reversed(notes)).notes == Snapshot.of(notes).notes
    assert Snapshot.of(notes).days == {date(2024, 3, 15)}
    assert Snapshot.of(notes) != Snapshot.of(notes), "a snapshot is equal to itself alone"


def test_notes_by_title_are_those_that_a_filter_selects():
    notes = [
        Note("c.md", "c.md", "Kiln"),
        Note("a.md", "a.md", "Kiln"),
        Note("b.md", "b.md", "B", fields=(Field("title", ["Loom", "Kiln"], 0, 0),)),
        Note("d.md", "d.md", "D", fields=(Field("title", 7, 0, 0),)),
    ]
    snapshot = Snapshot.of(notes)
    for titles in (("Kiln",), ("Loom", "Kiln"), ("7",), ("kiln",)):
        condition = Comparison("title", "$in", titles)
        selected = [note for note in snapshot.notes if matches(condition, snapshot.facts[note.document_id])]
        among = [
            one
            for one in snapshot.having_title(titles)
            if matches(condition, snapshot.facts[one.document_id])
        ]
        assert among == selected
    assert [note.path for note in snapshot.having_title(["Kiln"])] == ["a.md", "b.md", "c.md"]


def test_notes_are_named_by_title_alias_and_file():
    titled = snapshot_of({"x/One.md": "---\naliases: [Uno]\n---\n", "Two.md": "T."}).notes_by_title()
    assert titled["one"] is titled["uno"]
    assert titled["two"].path == "Two.md"
    assert "three" not in titled


def test_nothing_has_an_empty_schema():
    assert Schema.of([]).to_dict() == {
        "notes": 0, "properties": [], "tags": {}, "folders": {}, "tasks": {}, "entries": [], "more": {}
    }  # fmt: skip
    assert Snapshot().notes == ()


def base(path: str, source: str = "views:\n  - name: All\n") -> Note:
    return note_of(parse_base(path, path, source))


def test_a_row_with_the_source_of_a_base() -> None:
    row = base("lists/Books.base")
    assert (row.title, row.base, row.fields) == ("Books", "views:\n  - name: All\n", ())
    assert Note.unpack(row.pack()) == row


def test_bases_are_apart_from_the_notes() -> None:
    snapshot = Snapshot.of([Note("a.md", "a.md", "A"), base("z/Books.base"), base("a/BOOKS.base", "")])
    assert [note.path for note in snapshot.notes] == ["a.md"]
    assert snapshot.schema.notes == 1
    assert {name: one.path for name, one in snapshot.bases.items()} == {"books": "a/BOOKS.base"}
    assert list(snapshot.notes_by_title()) == ["a"]


def test_a_stored_base_that_cannot_be_read_is_none() -> None:
    broken = Note("B.base", "B.base", "B", base="views: 5")
    assert Snapshot.of([broken]).bases == {}


def test_days_that_the_notes_state():
    text = "---\ndue: 2023-05-31\nold: 2023-02-29\nmonth: 2023-07\n---\n- [ ] pay 📅 2023-06-30\n- oats [expires:: 2024-02-29]\n"
    stated = snapshot_of({"a.md": text}).stated_days
    assert stated == {date(2023, 5, 31), date(2023, 6, 30), date(2024, 2, 29)}, "and no day that no month has"
