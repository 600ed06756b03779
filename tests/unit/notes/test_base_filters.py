"""Filters of Obsidian's Bases as filter expressions."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from agentic_rag.domain.filters import And, Comparison, Expression, Not, Or, matches
from agentic_rag.notes.base_filters import EVERY, NONE, BaseFilters

NOW = datetime(2024, 5, 10, 12, 30)
A, B = Comparison("a", "$eq", 1), Comparison("b", "$eq", 2)


def read(written: Any, formulas: dict[str, str] | None = None) -> tuple[Expression | None, list[str]]:
    reading = BaseFilters(formulas or {}, NOW)
    return reading.read(written), reading.unsupported_filters


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ('file.inFolder("games/")', Comparison("folder", "$eq", "games")),
        ('file.inFolder("/")', None),
        ('file.hasTag("a", "#b/c")', Comparison("tags", "$in", ("a", "b/c"))),
        ('file.tags.contains("#a")', Comparison("tags", "$eq", "a")),
        ('!tags.containsAny("a", "b")', Not(Or((Comparison("tags", "$eq", "a"), Comparison("tags", "$eq", "b"))))),
        ('file.hasLink("Tea")', Comparison("links", "$eq", "Tea")),
        ('file.hasLink(link("Tea"))', Comparison("links", "$eq", "Tea")),
        ('file.links.contains(link("food/Tea.md"))', Comparison("links", "$in", ("food/Tea", "Tea"))),
        ('file.hasProperty("best-before")', Comparison("best-before", "$exists", True)),
        ('file.ext == "md"', Comparison("file.ext", "$eq", "md")),
        ('file.name != "Tea.md"', Comparison("file.name", "$ne", "Tea")),
        ('file.folder == ""', Comparison("file.folder", "$eq", "/")),
        ('file.folder.contains("Games")', Comparison("folder", "$contains", "Games")),
        ('file.path.contains("/T")', Comparison("path", "$contains", "/T")),
        ("note.price > 20", Comparison("price", "$gt", 20)),
        ("20 > price", Comparison("price", "$lt", 20)),
        ("rating >= -4.5", Comparison("rating", "$gte", -4.5)),
        ('status == "done"', Comparison("status", "$eq", "done")),
        ("x == null", Comparison("x", "$eq", None)),
        ('note["best-before"] < date("2024-01-01")', Comparison("best-before", "$lt", "2024-01-01")),
        ('at > date("2024-01-01 10:00:00")', Comparison("at", "$gt", "2024-01-01T10:00:00")),
        ('last > now() - "60d"', Comparison("last", "$gt", "2024-03-11T12:30:00")),
        ('last > today() - duration("1M") + "1d"', Comparison("last", "$gt", "2024-04-11")),
        ('mood.today.contains("x")', Comparison("mood.today", "$contains", "x")),
        ('list(genre).contains("RPG")', Comparison("genre", "$eq", "RPG")),
        ("list(years).contains(2023)", Comparison("years", "$eq", 2023)),
        ('created.toString().contains("2024")', Comparison("created", "$contains", "2024")),
        ('g.containsAll("a", "b")', And((Comparison("g", "$contains", "a"), Comparison("g", "$contains", "b")))),
        ("a == 1 && !(b == 2)", And((A, Not(B)))),
        ("a == 1 || b == 2", Or((A, B))),
        ({"and": ["a == 1", {"or": ["b == 2"]}]}, And((A, B))),
        ({"not": ["a == 1", "b == 2"]}, Not(Or((A, B)))),
        ("true", None),
        ("false", NONE),
        ({"and": []}, None),
        ({"not": []}, None),
        (None, None),
        ("formula.same", A),
    ],
)  # fmt: skip
def test_what_can_be_expressed(written: Any, expected: Expression | None):
    assert read(written, {"same": "a == 1"}) == (expected, [])


@pytest.mark.parametrize(
    "written",
    [
        "list(genre).contains(this)", "file.hasLink(this)", "file.mtime > now()", 'file.name.startsWith("a")',
        "price * 2 > 5", "rating.length > 3", "file.embeds[0]", "a > null", "a > b", "/x/.matches(a)", "not(empty(x))",
        'date("soon") > a', "formula.missing", "formula.cycle", "formula.many", 'x.toString().contains(1)', "a.contains()",
        'file.inFolder("a", "b")', "now()", 'link("A") < a', "file.properties.x == 1",
    ],
)  # fmt: skip
def test_what_cannot_be_expressed_is_noted(written: str):
    many = {"many": "formula.b + formula.b", "b": "formula.c * formula.c", "c": "formula.d - formula.d"}
    many |= {
        letter: f"formula.{after} + formula.{after}" for letter, after in zip("defghi", "efghij", strict=True)
    }
    formulas = {"cycle": "!" * 20 + "formula.cycle", **many, "j": "1"}
    assert read(written, formulas) == (None, [written])


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ({"and": ["a == 1", "x > this"]}, A),
        ("a == 1 && x > this", A),
        ({"or": ["a == 1", "x > this"]}, None),
        ({"not": ["a == 1", "x > this"]}, Not(A)),
        ({"not": [{"and": ["a == 1", "x > this"]}]}, None),
        ({"not": [{"or": ["a == 1", "x > this"]}]}, Not(A)),
        ("!(a == 1 && x > this)", None),
        ("!(a == 1 || x > this)", Not(A)),
    ],
)
def test_what_is_left_out_loses_no_note(written: Any, expected: Expression | None):
    found, unsupported = read(written)
    assert found == expected
    assert len(unsupported) == 1


@pytest.mark.parametrize("written", [3, {"xor": ["a"]}, {"and": [], "or": []}, {"and": [["a"]]}])
def test_a_form_that_is_none_is_noted(written: Any):
    assert read(written)[0] is None
    assert read(written)[1]


@pytest.mark.parametrize("value", [None, "", [], "x", 0, 1, True, False, ["a"], "absent"])
def test_empty_and_truthy(value: Any):
    facts = {} if value == "absent" else {"p": value}
    empty, truthy = read("p.isEmpty()")[0], read("p")[0]
    assert empty is not None
    assert truthy is not None
    assert matches(empty, facts) == (value in (None, "absent", "", []) and value is not False and value != 0)
    assert matches(truthy, facts) == (value != "absent" and bool(value))
    assert matches(EVERY, facts)
    assert not matches(NONE, facts)


@pytest.mark.parametrize(
    ("value", "links"),
    [
        ("[[Books]]", True), (["[[x]]", "[[Books|read]]"], True), ("[[Lists/Books#2024]]", True), ("[[books]]", True),
        ("Books", False), ("[[Bookshelf]]", False), ("[[eBooks]]", False), (None, False),
    ],
)  # fmt: skip
def test_a_property_links_to_a_note(value: Any, links: bool):
    for written in ('categories.contains(link("Books"))', 'categories == link("[[Books|x]]")'):
        found = read(written)[0]
        assert found is not None
        assert matches(found, {"categories": value}) == links
