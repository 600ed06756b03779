"""The text of a result for a chat model."""

from __future__ import annotations

from typing import Any

import pytest

from agentic_rag.answering.passages import MAX_FACTS, passage_text


def fact(name: str, **fields: Any) -> dict[str, Any]:
    return {"name": name, "source": "Ann", "target": "Oslo", "valid_at": None, "invalid_at": None, **fields}


def result(facts: list[dict[str, Any]], **metadata: Any) -> dict[str, Any]:
    return {"content": " She moved.\n", "facts": facts, "metadata": metadata}


@pytest.mark.parametrize(
    ("metadata", "head"),
    [
        ({}, ""),
        ({"title": "Ann", "heading_path": ["Ann", "Home"]}, "Ann › Home\n"),
        ({"title": "Ann", "date": "2021-03-04T00:00:00+00:00"}, "Ann (2021-03-04)\n"),
        ({"title": "", "date": "2021-03-04T13:56:00+00:00"}, "2021-03-04T13:56:00+00:00\n"),
    ],
)
def test_where_it_stands_and_from_when(metadata: dict[str, Any], head: str):
    assert passage_text(result([], **metadata)) == f"{head}She moved."


def test_the_relations_that_somebody_named():
    facts = [
        fact("LINKS_TO"),
        fact("LIVES_IN"),
        fact("LIVES_IN", target=None),
        fact("WORKS_IN", valid_at="2020-01-01T00:00:00+00:00", invalid_at="2021-01-01T00:00:00+00:00"),
        fact("BORN_IN", valid_at="2020-01-01T00:00:00+00:00"),
    ]
    assert passage_text(result(facts)).splitlines() == [
        "She moved.",
        "Ann —lives in→ Oslo",
        "Ann —works in→ Oslo (from 2020-01-01 until 2021-01-01)",
        "Ann —born in→ Oslo",
    ]
    assert passage_text(result([fact("LIVES_IN")] * 9)).count("→") == MAX_FACTS
