"""Amounts of a statement beside those of a passage."""

from __future__ import annotations

import pytest

from agentic_rag.answering.grounding.stated_amounts import (
    is_difference,
    is_same,
    passage_amounts,
    stated_amounts,
)


def _is_stated(statement: str, passage: str) -> bool:
    given = passage_amounts(passage)
    return all(
        any(is_same(one, stated, statement) for one in given) or is_difference(stated, given)
        for stated in stated_amounts(statement)
    )


@pytest.mark.parametrize(
    ("statement", "passage"),
    [
        ("in less than three days", "in 2.4 days"),
        ("more than 300 people", "312 people"),
        ("超过100人", "103人"),
        ("in 2025", "on 2025-08-02"),
        ("by April 3", "on 3 April 2020"),
        ("two kilometres more every week", "grows by 2 km each week"),
        ("eight years later, in 1827", "in 1819 … in 1827"),
        ("in the 1960s", "in 1964"),
        ("less than an hour", "40 minutes"),
        ("more than a year", "three years"),
        ("at most a day", "20 hours"),
        ("on the 4th of May 2020", "on 2020-05-04"),
        ("a first cup, 一起", "nothing"),
    ],
)
def test_it_follows(statement: str, passage: str) -> None:
    assert _is_stated(statement, passage)


@pytest.mark.parametrize(
    ("statement", "passage"),
    [
        ("in less than two days", "in 2.4 days"),
        ("more than 300 people", "9000 people"),
        ("in 2026", "on 2025-08-02"),
        ("nine years later", "in 1819 … in 1827"),
        ("5 mg", "5 g"),
        ("−5 °C", "5 °C"),
    ],
)
def test_it_does_not(statement: str, passage: str) -> None:
    assert not _is_stated(statement, passage)
