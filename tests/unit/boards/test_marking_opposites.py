"""An answer that says the opposite of the expected one, or names another thing, is not right."""

from __future__ import annotations

import pytest

from agentic_rag.boards.marking import Names, judge


@pytest.mark.parametrize(
    ("expected", "given"),
    [
        ("before rolling", "after rolling"),
        ("萎凋之后", "萎凋之前"),
        ("hypertension", "hypotension"),
        ("an endothermic reaction", "an exothermic reaction"),
        ("Emperor Huizong", "Emperor Taizong"),
        ("普洱熟茶", "普洱生茶"),
        ("it raises the pressure", "it lowers the pressure"),
    ],
)
def test_it_is_not_right(expected: str, given: str):
    assert judge("What fills the gap?", [expected], given, Names.of([])).mark != "right"


@pytest.mark.parametrize(
    ("expected", "given"),
    [
        ("before rolling", "before roling"),
        ("hypertension", "hypertention"),
        ("普洱熟茶", "普洱熟茶"),
        ("it raises the pressure and lowers the heat", "raises the pressure, lowers the heat"),
    ],
)
def test_it_is_right(expected: str, given: str):
    assert judge("What fills the gap?", [expected], given, Names.of([])).mark == "right"
