"""The SQL of a filter is cached as long as its meaning is the same."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from agentic_rag.domain.filters import Expression, parse_filters
from agentic_rag.stores.lancedb import metadata
from agentic_rag.stores.lancedb.metadata import to_sql


@pytest.fixture(autouse=True)
def _nothing_remembered() -> Iterator[None]:
    metadata._cached_values.cache_clear()
    yield
    metadata._cached_values.cache_clear()


def parsed(filters: dict[str, Any]) -> Expression:
    expression = parse_filters(filters)
    assert expression is not None
    return expression


def test_a_filter_is_translated_once_until_its_values_change():
    recent = parsed({"year": {"$gte": 2020}})
    one = to_sql(recent, {"year": ['["year",2021]']})
    assert to_sql(parsed({"year": {"$gte": 2020}}), {"year": ['["year",2021]']}) == one
    assert metadata._cached_values.cache_info().misses == 1
    two = to_sql(recent, {"year": ['["year",2021]', '["year",2022]']})
    assert "2022" in two
    assert "2022" not in one
    assert metadata._cached_values.cache_info().misses == 2


@pytest.mark.parametrize(("value", "item"), [(1, '["n",1]'), (True, '["n",true]'), ("1", '["n","1"]')])
def test_what_is_equal_and_not_the_same_is_told_apart(value: object, item: str):
    for other in (1, True, "1"):
        to_sql(parsed({"n": other}), {})
    assert to_sql(parsed({"n": value}), {}) == f"array_has_any(meta, ['{item}'])"
