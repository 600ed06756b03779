"""Filters as conditions on items: true of a chunk's items exactly where ``matches`` is true of its metadata."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from agentic_rag.domain.filters import And, Comparison, Expression, Not, Or, matches
from agentic_rag.stores.metadata_items import (
    AllOf,
    AnyOf,
    Condition,
    HasAny,
    condition,
    metadata_item,
    metadata_items,
    range_keys,
    stored_key,
)

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.sampled_from([0.5, -0.0, 2.0, 1e300, 2**53 + 1]),
    st.sampled_from(["", "1", "a", "\0", "\ud800", '["x"]', "茶"]),
)
KEY = st.sampled_from(["x", "y", "a\0b", '["x",1]'])
COMPARISONS = st.one_of(
    st.builds(Comparison, KEY, st.sampled_from(["$eq", "$ne"]), SCALARS),
    st.builds(
        Comparison,
        KEY,
        st.sampled_from(["$gt", "$gte", "$lt", "$lte"]),
        SCALARS.filter(lambda value: value is not None and not isinstance(value, bool)),
    ),
    st.builds(Comparison, KEY, st.sampled_from(["$in", "$nin"]), st.lists(SCALARS, max_size=3).map(tuple)),
    st.builds(Comparison, KEY, st.just("$exists"), st.booleans()),
    st.builds(
        Comparison, KEY, st.just("$contains"), st.sampled_from(["", "1", "A", "\0", "tru", "0.5", "茶", '"x'])
    ),
)


def _joined(parts: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
    several = st.lists(parts, min_size=1, max_size=3).map(tuple)
    return st.one_of(st.builds(And, several), st.builds(Or, several), st.builds(Not, parts))


EXPRESSIONS = st.recursive(COMPARISONS, _joined, max_leaves=6)
METADATA = st.dictionaries(KEY, SCALARS | st.lists(SCALARS, max_size=3) | st.just({"x": 1}))


def holds(wanted: Condition, items: set[str]) -> bool:
    match wanted:
        case AllOf(parts):
            return all(holds(part, items) for part in parts)
        case AnyOf(parts):
            return any(holds(part, items) for part in parts)
        case HasAny(listed, negated):
            return bool(items & set(listed)) != negated


@settings(max_examples=200)
@given(EXPRESSIONS, st.lists(METADATA, min_size=1, max_size=5), st.booleans())
def test_a_condition_is_what_the_filter_means(
    expression: Expression, several: list[dict[str, Any]], negated: bool
):
    values: dict[str, list[str]] = {key: [] for key in range_keys(expression)}
    for metadata in several:
        for item in metadata_items(metadata):
            key, *value = json.loads(item)
            if value and key in values:
                values[key].append(item)
    wanted = condition(expression, values, is_negated=negated)
    for metadata in several:
        assert holds(wanted, set(metadata_items(metadata))) == (matches(expression, metadata) != negated)


def test_items_are_ascii_and_numbers_have_one_spelling():
    assert metadata_items({"year": 2023.0, "茶": ["a", None], "gone": None, "nested": {"k": 1}}) == sorted(
        ['["year"]', '["year",2023]', '["\\u8336"]', '["\\u8336","a"]', '["\\u8336",null]', '["nested"]']
    )
    assert metadata_item("n", 1) == metadata_item("n", 1.0) != metadata_item("n", True)
    assert stored_key(metadata_item("a\0", 3)) == '"a\\u0000"'
    assert metadata_items({"n": float("nan"), "i": float("inf")}) == ['["i"]', '["n"]']
