"""Filter expressions: both spellings, semantics, and refused input."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentic_rag.domain.filters import (
    MAX_NESTING,
    And,
    Comparison,
    Not,
    Or,
    as_dict,
    filter_terms,
    matches,
    parse_filters,
    parse_terms,
)
from agentic_rag.errors import FilterError

NOTE = {
    "year": 2023,
    "lang": "zh",
    "tags": ["tea", "茶"],
    "draft": False,
    "score": 0.0,
    "gone": None,
    "empty": [],
}


def passes(filters: dict[str, Any], metadata: dict[str, Any] = NOTE) -> bool:
    expression = parse_filters(filters)
    assert expression is not None
    return matches(expression, metadata)


def test_no_filter():
    assert parse_filters(None) is None
    assert parse_filters({}) is None
    assert parse_terms([]) is None


def test_an_expression_passes_through():
    expression = Not(Comparison("year", "$eq", 2023))
    assert parse_filters(expression) is expression


def test_the_dict_spelling():
    assert parse_filters({"year": 2023}) == Comparison("year", "$eq", 2023)
    assert parse_filters({"year": {"$gte": 2020, "$lt": 2024}, "lang": "zh"}) == And(
        (
            And((Comparison("year", "$gte", 2020), Comparison("year", "$lt", 2024))),
            Comparison("lang", "$eq", "zh"),
        )
    )
    assert parse_filters({"$or": [{"lang": "zh"}, {"$not": {"draft": True}}]}) == Or(
        (Comparison("lang", "$eq", "zh"), Not(Comparison("draft", "$eq", True)))
    )
    assert parse_filters({"tag": {"$in": ["tea", "茶"]}}) == Comparison("tag", "$in", ("tea", "茶"))
    assert parse_filters({"year": {"$not": {"$gt": 3}}}) == Not(Comparison("year", "$gt", 3))
    assert parse_filters({"at": date(2024, 6, 30)}) == Comparison("at", "$eq", "2024-06-30")
    assert parse_filters({"at": {"$gt": datetime(2024, 6, 30, tzinfo=UTC)}}) == Comparison(
        "at", "$gt", "2024-06-30T00:00:00+00:00"
    )


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"year": 2023}, True),
        ({"year": 2023.0}, True),
        ({"year": "2023"}, False),
        ({"draft": False}, True),
        ({"draft": 0}, False),
        ({"score": 0}, True),
        ({"score": False}, False),
        ({"score": {"$gte": 0}}, True),
        ({"year": True}, False),
        ({"tags": "茶"}, True),
        ({"tags": "tea"}, True),
        ({"tags": {"$ne": "tea"}}, False),
        ({"tags": {"$in": ["coffee", "tea"]}}, True),
        ({"tags": {"$nin": ["coffee"]}}, True),
        ({"tags": {"$in": []}}, False),
        ({"tags": {"$nin": []}}, True),
        ({"year": {"$gt": 2022, "$lt": 2023}}, False),
        ({"year": {"$gt": 2022, "$lte": 2023}}, True),
        ({"year": {"$gt": "2022"}}, False),
        ({"lang": {"$gte": "en"}}, True),
        ({"draft": {"$lt": 1}}, False),
        ({"tags": {"$gt": "茵"}}, True),
        ({"missing": None}, True),
        ({"gone": None}, True),
        ({"year": None}, False),
        ({"empty": None}, False),
        ({"missing": {"$in": [None]}}, True),
        ({"missing": {"$ne": 1}}, True),
        ({"missing": {"$ne": None}}, False),
        ({"missing": {"$nin": [1]}}, True),
        ({"missing": {"$gt": 0}}, False),
        ({"missing": {"$exists": False}}, True),
        ({"gone": {"$exists": False}}, True),
        ({"empty": {"$exists": True}}, True),
        ({"score": {"$exists": True}}, True),
        ({"lang": {"$contains": "H"}}, True),
        ({"lang": {"$contains": "zho"}}, False),
        ({"lang": {"$contains": "ｚｈ"}}, True),
        ({"lang": {"$contains": ""}}, True),
        ({"tags": {"$contains": "茶"}}, True),
        ({"tags": {"$contains": "ate"}}, False),
        ({"year": {"$contains": "202"}}, True),
        ({"draft": {"$contains": "false"}}, True),
        ({"score": {"$contains": "0.0"}}, False),
        ({"missing": {"$contains": ""}}, False),
        ({"gone": {"$contains": "null"}}, False),
        ({"empty": {"$contains": ""}}, False),
        ({"$and": [{"year": 2023}, {"lang": "en"}]}, False),
        ({"$or": [{"year": 2023}, {"lang": "en"}]}, True),
        ({"$not": {"year": 2023}}, False),
    ],
)
def test_what_a_filter_means(filters: dict[str, Any], expected: bool):
    assert passes(filters) is expected
    assert passes({"$not": filters}) is not expected


def test_large_whole_numbers_are_exact():
    assert not passes({"n": 2**53 + 1}, {"n": float(2**53)})
    assert passes({"n": 2**53}, {"n": float(2**53)})


def test_contains_ignores_case_and_width_but_not_accents():
    assert passes({"t": {"$contains": "STRASSE"}}, {"t": "Hauptstraße"})
    assert passes({"t": {"$contains": "ﬁn"}}, {"t": "Finale"})
    assert not passes({"t": {"$contains": "resume"}}, {"t": "résumé"})
    assert passes({"t": {"$contains": "20"}}, {"t": 20.0})
    assert not passes({"t": {"$contains": "20.0"}}, {"t": 20.0}), "equal numbers contain the same"
    assert passes({"t": {"$contains": 'say "it\'s"'}}, {"t": ["x", 'I say "It\'s" so']})
    assert not passes({"t": {"$contains": "x"}}, {"t": {"x": "x"}})


@pytest.mark.parametrize(
    ("filters", "told"),
    [
        ("year=2023", "mapping"),
        (["year"], "mapping"),
        ({"": 1}, "non-empty string"),
        ({1: 1}, "non-empty string"),
        ({"$nor": []}, r"'\$nor'.*\$and, \$or, \$not"),
        ({"$and": []}, r"\$and takes a non-empty list"),
        ({"$or": "abc"}, r"\$or takes a non-empty list"),
        ({"$or": [{}]}, "is empty"),
        ({"$not": {}}, "is empty"),
        ({"year": {}}, "'year' is empty"),
        ({"year": {"$near": 3}}, r"'\$near' on 'year'.*\$gte"),
        ({"year": {"gte": 3}}, r"'gte' on 'year'"),
        ({"year": {"$in": "abc"}}, "takes a list"),
        ({"year": {"$in": 3}}, "takes a list"),
        ({"year": {"$in": [[1]]}}, "'year'"),
        ({"year": {"$exists": 1}}, "true or false"),
        ({"year": {"$contains": 3}}, r"\$contains on 'year' takes a text, not 3"),
        ({"year": {"$contains": ["a"]}}, r"\$contains on 'year' takes a text"),
        ({"year": {"$gt": None}}, "takes a number"),
        ({"year": {"$gt": True}}, "takes a number"),
        ({"year": {"$gt": float("nan")}}, "not a finite number"),
        ({"year": float("inf")}, "not a finite number"),
        ({"year": [1, 2]}, "'year' takes a text"),
        ({"year": Decimal(1)}, "'year' takes a text"),
    ],
)
def test_what_is_refused(filters: Any, told: str):
    with pytest.raises(FilterError, match=told):
        parse_filters(filters)


def test_nesting_is_bounded_instead_of_overflowing():
    def nested(levels: int) -> dict[str, Any]:
        filters: dict[str, Any] = {"year": 1}
        for _ in range(levels - 1):
            filters = {"$not": filters}
        return filters

    assert parse_filters(nested(MAX_NESTING)) is not None
    for levels in (MAX_NESTING + 1, 100_000):
        with pytest.raises(FilterError, match="nested more than"):
            parse_filters(nested(levels))
    expression: Any = Comparison("year", "$eq", 1)
    for _ in range(100_000):
        expression = Or((expression,))
    with pytest.raises(FilterError, match="nested more than"):
        parse_filters(expression)


@pytest.mark.parametrize(
    ("term", "expected"),
    [
        ("year>=2023", Comparison("year", "$gte", 2023)),
        (" year <= 2023 ", Comparison("year", "$lte", 2023)),
        ("year==2023", Comparison("year", "$eq", 2023)),
        ("lang=zh", Comparison("lang", "$eq", "zh")),
        ("tag!=draft", Comparison("tag", "$ne", "draft")),
        ('year="2023"', Comparison("year", "$eq", "2023")),
        ("draft=true", Comparison("draft", "$eq", True)),
        ("gone=null", Comparison("gone", "$eq", None)),
        ("date>2024-06-30", Comparison("date", "$gt", "2024-06-30")),
        ("标签=茶 叶", Comparison("标签", "$eq", "茶 叶")),
        ("due date >= 2024-06-30", Comparison("due date", "$gte", "2024-06-30")),
        ("title=1984", Comparison("title", "$eq", 1984)),
        ('title="1984"', Comparison("title", "$eq", "1984")),
        ("x=a=b", Comparison("x", "$eq", "a=b")),
        ("x=", Comparison("x", "$eq", "")),
        ("x=' OR 1=1 --", Comparison("x", "$eq", "' OR 1=1 --")),
        ('x=">5"', Comparison("x", "$eq", ">5")),
        ("title~pasta", Comparison("title", "$contains", "pasta")),
        ("标题 ~ 茶 叶", Comparison("标题", "$contains", "茶 叶")),
        ("year~202", Comparison("year", "$contains", "202")),
        ('year~"202"', Comparison("year", "$contains", "202")),
        ("x~[1]", Comparison("x", "$contains", "[1]")),
        ("x~", Comparison("x", "$contains", "")),
        ("path=~/notes", Comparison("path", "$eq", "~/notes")),
    ],
)
def test_the_command_lines_spelling(term: str, expected: Comparison):
    assert parse_terms([term]) == expected


def test_terms_are_joined_by_and():
    assert parse_terms(["a=1", "b=2"]) == And((Comparison("a", "$eq", 1), Comparison("b", "$eq", 2)))


@pytest.mark.parametrize(
    ("term", "told"),
    [
        ("year", "KEY=VALUE"),
        ("=3", "KEY=VALUE"),
        ("year >>> 2023", "in double quotes"),
        ("year=> 2023", "in double quotes"),
        ("year> = 2023", "in double quotes"),
        ("year~=2023", "in double quotes"),
        ("year!~2023", "KEY=VALUE"),
        ("year>null", "takes a number"),
        ("year=NaN", "finite"),
        ("year=[1]", "takes a text"),
        ("rating>", "has no value; write what rating is compared with after >"),
        ("price <= ", "has no value"),
        ("$or=1", "unknown filter operator|takes a non-empty list"),
    ],
)
def test_terms_that_are_refused(term: str, told: str):
    with pytest.raises(FilterError, match=told):
        parse_terms([term])


@pytest.mark.parametrize(
    ("filters", "terms"),
    [
        ({}, []),
        ({"folder": "games", "price": {"$gt": 20}}, ["folder=games", "price>20"]),
        ({"$and": [{"a": 1}, {"b": {"$gte": 2, "$lt": 3.5}}]}, ["a=1", "b>=2", "b<3.5"]),
        ({"author": "[[Frank Herbert]]"}, ["author=[[Frank Herbert]]"]),
        ({"title": "1984"}, ['title="1984"']),
        ({"title": {"$contains": "1984"}}, ["title~1984"]),
        ({"title": " = "}, ['title=" = "']),
        ({"title": "a\nb"}, ['title="a\\nb"']),
        ({"free": True, "end": None}, ["free=true", "end=null"]),
        ({"best before": "明天"}, ["best before=明天"]),
        ({"tags": {"$in": ["a"]}}, ["tags=a"]),
        ({"tags": {"$nin": ["a", "b"]}}, ["tags!=a", "tags!=b"]),
        ({"$not": {"$or": [{"tags": "a"}, {"x": {"$ne": 1}}]}}, ["tags!=a", "x=1"]),
        ({"$or": [{"a": 1}]}, ["a=1"]),
        ({"$or": [{"a": 1}, {"b": 2}]}, None),
        ({"tags": {"$in": ["a", "b"]}}, None),
        ({"a": {"$exists": True}}, None),
        ({"$not": {"a": {"$gt": 1}}}, None),
        ({"a>b": 1}, None),
        ({"$and": [{"a": 1}, {"b": {"$exists": False}}]}, None),
    ],
)
def test_the_spelling_of_an_expression(filters: Any, terms: Any):
    assert filter_terms(parse_filters(filters)) == terms


SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 3), st.floats(-2, 2), st.sampled_from(["", "a", "b"])
)
COMPARISONS = st.one_of(
    st.builds(Comparison, st.sampled_from("xyz"), st.sampled_from(["$eq", "$ne"]), SCALARS),
    st.builds(Comparison, st.sampled_from("xyz"), st.sampled_from(["$gt", "$lte"]), st.integers(-3, 3)),
    st.builds(
        Comparison,
        st.sampled_from("xyz"),
        st.sampled_from(["$in", "$nin"]),
        st.lists(SCALARS, max_size=3).map(tuple),
    ),
    st.builds(Comparison, st.sampled_from("xyz"), st.just("$exists"), st.booleans()),
    st.builds(Comparison, st.sampled_from("xyz"), st.just("$contains"), st.sampled_from(["", "A", "1"])),
)
EXPRESSIONS = st.recursive(
    COMPARISONS,
    lambda parts: st.one_of(
        st.builds(And, st.lists(parts, min_size=1, max_size=3).map(tuple)),
        st.builds(Or, st.lists(parts, min_size=1, max_size=3).map(tuple)),
        st.builds(Not, parts),
    ),
    max_leaves=6,
)


@given(EXPRESSIONS, st.dictionaries(st.sampled_from("xyz"), SCALARS | st.lists(SCALARS, max_size=2)))
def test_the_dict_of_an_expression_means_the_same(expression: Any, metadata: dict[str, Any]):
    plain = json.loads(json.dumps(as_dict(expression)))
    again = parse_filters(plain)
    assert again is not None
    assert matches(again, metadata) == matches(expression, metadata)


@settings(max_examples=200)
@given(
    EXPRESSIONS | st.builds(Comparison, st.sampled_from("xyz"), st.just("$eq"), st.text(max_size=6)),
    st.dictionaries(st.sampled_from("xyz"), SCALARS | st.lists(SCALARS, max_size=2)),
)
def test_the_spelling_means_the_same(expression: Any, metadata: dict[str, Any]):
    terms = filter_terms(expression)
    if terms:
        again = parse_terms(terms)
        assert again is not None
        assert matches(again, metadata) == matches(expression, metadata)
