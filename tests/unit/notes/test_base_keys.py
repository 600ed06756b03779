"""Properties of Obsidian's Bases and keys of notes."""

from __future__ import annotations

import pytest

from agentic_rag.notes.base_expressions import parse_expression
from agentic_rag.notes.base_keys import FORMULAS, column_of, is_key, key_of, written_column, written_key


@pytest.mark.parametrize(
    ("written", "key"),
    [
        ("rating", "rating"),
        ("note.rating", "rating"),
        ('note["best-before"]', "best-before"),
        ("wellbeing.mood", "wellbeing.mood"),
        ('note.a["b c"].d', "a.b c.d"),
        ("file.name", "file.name"),
        ("file.basename", "file.name"),
        ("file.tags", "tags"),
        ("note.length", "length"),
        ("file.mtime", None),
        ("file.tags.length", None),
        ("file.properties.rating", None),
        ("rating.length", None),
        ("list[0]", None),
        ("this.file.name", None),
        ("file", None),
        ("f(x)", None),
    ],
)
def test_keys(written: str, key: str | None):
    assert key_of(parse_expression(written)) == key


@pytest.mark.parametrize(
    "key", ["rating", "best-before", "of mine", "a.b c", "评分", "file", "note", "year", "a.year"]
)
def test_a_written_property_is_the_same_key(key: str):
    assert key_of(parse_expression(written_key(key))) == key
    assert column_of(written_column(key), {}) == key


def test_columns():
    assert written_column("title") == "file.name"
    assert written_column("title", sorts=True) == "formula.title"
    assert column_of("formula.title", FORMULAS) == "title"
    assert column_of("formula.title", {"title": "note.other"}) == "formula.title"
    assert column_of("file.mtime", {}) == written_column("file.mtime") == "file.mtime"
    assert [is_key(key) for key in ("file", "file.name", "file.mtime", "formula.x")] == [
        True,
        True,
        False,
        False,
    ]
