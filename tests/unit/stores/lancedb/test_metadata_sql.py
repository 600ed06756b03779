"""The SQL of a filter is remembered for as long as it means the same."""

from __future__ import annotations

from typing import Any

import pytest

from agentic_rag.domain.filters import Expression, parse_filters
from agentic_rag.stores.lancedb import metadata_sql
from agentic_rag.stores.lancedb.metadata_sql import FilterSql, to_sql


def parsed(filters: dict[str, Any]) -> Expression:
    expression = parse_filters(filters)
    assert expression is not None
    return expression


def test_a_filter_is_translated_once_until_its_values_change(monkeypatch: pytest.MonkeyPatch):
    calls: list[Expression] = []

    def counted(expression: Expression, values: dict[str, list[str]]) -> str:
        calls.append(expression)
        return to_sql(expression, values)

    monkeypatch.setattr(metadata_sql, "to_sql", counted)
    sql, recent = FilterSql(), parsed({"year": {"$gte": 2020}})
    one = sql.of(recent, {"year": ['["year",2021]']})
    assert sql.of(parsed({"year": {"$gte": 2020}}), {"year": ['["year",2021]']}) == one
    assert len(calls) == 1
    two = sql.of(recent, {"year": ['["year",2021]', '["year",2022]']})
    assert "2022" in two
    assert "2022" not in one
    assert len(calls) == 2


@pytest.mark.parametrize("value", [1, True, "1"])
def test_what_is_equal_and_not_the_same_is_told_apart(value: object):
    sql = FilterSql()
    for other in (1, True, "1"):
        sql.of(parsed({"n": other}), {})
    assert sql.of(parsed({"n": value}), {}) == to_sql(parsed({"n": value}), {})


def test_it_forgets_rather_than_grow(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(metadata_sql, "MOST_REMEMBERED", 2)
    sql = FilterSql()
    for number in (1, 2, 3, 1):
        assert sql.of(parsed({"n": number}), {}) == to_sql(parsed({"n": number}), {})
    assert len(sql._known) <= 2
