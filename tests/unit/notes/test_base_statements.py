"""Filter expressions as filters of Obsidian's Bases."""

from __future__ import annotations

from typing import Any

import pytest

from agentic_rag.domain.filters import And, Comparison, Or, parse_filters
from agentic_rag.errors import FilterError
from agentic_rag.notes.base_filters import LinkTarget, is_empty, links_to
from agentic_rag.notes.base_statements import written_filter


@pytest.mark.parametrize(
    ("filters", "written"),
    [
        ({"folder": "a/b"}, 'file.inFolder("a/b")'),
        ({"folder": {"$ne": "a"}}, '!file.inFolder("a")'),
        ({"folder": "a/"}, "false"),
        ({"folder": {"$contains": "Game"}}, 'file.folder.lower().contains("game")'),
        ({"tags": {"$in": ["a"]}}, 'file.hasTag("a")'),
        ({"tags": {"$nin": ["a", "b"]}}, {"not": ['file.hasTag("a")', 'file.hasTag("b")']}),
        ({"x": {"$in": []}}, "false"),
        ({"x": {"$nin": []}}, "true"),
        ({"links": "Tea"}, 'file.hasLink("Tea")'),
        ({"path": 'a/"b".md'}, "file.path == 'a/\"b\".md'"),
        ({"title": "2024-01-01"}, 'formula.title == "2024-01-01"'),
        ({"date": {"$gte": "2024-01-01"}}, 'formula.date >= date("2024-01-01")'),
        ({"best-before": "2024-01-01"}, 'note["best-before"] == date("2024-01-01")'),
        ({"rating": {"$gt": 3.5}}, "note.rating > 3.5"),
        ({"done": False}, "note.done == false"),
        ({"x": None}, "note.x == null"),
        ({"of mine": {"$exists": True}}, 'file.hasProperty("of mine")'),
        ({"of mine": {"$exists": False}}, '!file.hasProperty("of mine")'),
        ({"genre": {"$contains": "RPG"}}, 'note.genre.toString().lower().contains("rpg")'),
        ({"genre": {"$contains": ""}}, {"or": ["!note.genre.isEmpty()", 'list(note.genre).contains("")']}),
        ({"c": "[[Books|read]]"}, 'list(note.c).contains(link("Books"))'),
        ({"$not": {"$or": [{"a": 1}, {"$not": {"b": 2}}]}}, {"not": ["note.a == 1", "!(note.b == 2)"]}),
        ({"$and": [{"a": 1, "b": 2}, {"c": 3}]}, {"and": ["note.a == 1", "note.b == 2", "note.c == 3"]}),
        ({"$not": {"$not": {"a": 1}}}, "!(!(note.a == 1))"),
    ],
)
def test_filters(filters: dict[str, Any], written: Any):
    expression = parse_filters(filters)
    assert expression is not None
    assert written_filter(expression) == written


def test_what_was_read_is_written_as_it_was():
    assert written_filter(is_empty("last")) == "note.last.isEmpty()"
    assert (
        written_filter(links_to("categories", LinkTarget("Books")))
        == 'list(note.categories).contains(link("Books"))'
    )
    assert written_filter(And(())) == "true"
    assert written_filter(Or(())) == "false"


@pytest.mark.parametrize("key", ["folder", "tags", "links"])
def test_lists_have_no_order(key: str):
    with pytest.raises(FilterError, match=rf"cannot compare '{key}' with \$lt; leave it out"):
        written_filter(Comparison(key, "$lt", "a"))
