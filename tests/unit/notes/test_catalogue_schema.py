"""The schema of a dataset as plain values: types, counts, values, what is left out."""

from __future__ import annotations

from typing import Any

from agentic_rag.domain.notes import Field, Note, Row
from agentic_rag.notes.catalogue import MAX_SHOWN, Schema
from agentic_rag.notes.schema_text import counts_text, values_text


def note(path: str, tags: tuple[str, ...] = (), rows: tuple[Row, ...] = (), **properties: Any) -> Note:
    fields = tuple(Field(key, value, 0, 0) for key, value in properties.items())
    return Note(path, path, path, tags=tags, fields=fields, rows=rows)


NOTES = [
    note("games/Dota.md", ("game",), price=0, free=True, genre=["MOBA", "RTS"]),
    note("games/New World.md", ("game", "mmo"), price=39.99, free=False, genre="MMO"),
    note("a.md", rows=(Row("task", "call", 0, 0, state=" "), Row("item", "oats", 0, 0, fields=(Field("due", "2024-05-01", 0, 0),))), note="x" * 200),
]  # fmt: skip


def test_each_property_has_types_count_values_and_range():
    found = Schema.of(NOTES).to_dict()
    assert found["notes"] == 3
    assert found["properties"][0] == {
        "name": "free", "notes": 2, "types": ["boolean"], "values": {"false": 1, "true": 1}, "distinct": 2,
        "range": None,
    }  # fmt: skip
    named = {one["name"]: one for one in found["properties"]}
    assert named["price"]["range"] == ["0", "39.99"]
    assert named["genre"] | {"range": 0} == named["genre"] | {"range": 0, "distinct": 3, "notes": 2}
    assert list(named["note"]["values"]) == ["x" * (MAX_SHOWN - 1) + "…"]
    assert (found["tags"], found["folders"], found["tasks"]) == (
        {"game": 2, "mmo": 1},
        {"games": 2},
        {" ": 1},
    )
    assert [one["name"] for one in found["entries"]] == ["due"]
    assert found["more"] == {}


def test_what_is_left_out_is_counted():
    found = Schema.of(NOTES).to_dict(most=1, values=2)
    assert [one["name"] for one in found["properties"]] == ["free"]
    assert found["tags"] == {"game": 2}
    assert found["more"] == {"properties": 3, "tags": 1}
    genre = Schema.of(NOTES).to_dict(values=2)["properties"][1]
    assert (genre["name"], len(genre["values"]), genre["distinct"]) == ("genre", 2, 3)


def test_values_that_are_alike_once_they_are_cut_are_counted_together():
    same = "x" * MAX_SHOWN
    schema = Schema.of([note("a.md", t=same + "a"), note("b.md", t=same + "b")])
    assert list(schema.to_dict()["properties"][0]["values"].values()) == [2]


def test_a_dataset_without_notes():
    assert Schema.of([]).to_dict() == {
        "notes": 0, "properties": [], "tags": {}, "folders": {}, "tasks": {}, "entries": [], "more": {},
    }  # fmt: skip


def test_values_as_a_text():
    key: dict[str, Any] = {"values": {"7": 5, "6": 1}, "distinct": 2, "range": ["6", "7"]}
    assert values_text(key, 2, 20) == "7 (5), 6"
    assert values_text(key, 1, 20) == "6 – 7"
    assert values_text(key | {"range": None, "distinct": 9}, 1, 20) == "7 (5), and 8 more"
    assert values_text({"values": {"abcdef": 1}, "distinct": 1, "range": None}, 2, 4) == "abc…"


def test_counts_as_a_text():
    assert counts_text({}, 2) == ""
    assert counts_text({"a": 2, "b": 1}, 2, more=3) == "a (2), b (1), and 3 more"
