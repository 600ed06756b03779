"""Numbers of a question beside values with units: converted where they measure the same, apart where they do not."""

from __future__ import annotations

import pytest

from agentic_rag.domain.filters import matches
from agentic_rag.questions.comparisons import comparisons, limit_of
from agentic_rag.questions.note_queries.values import (
    comparison_on,
    is_of_other_measure,
    measures_other,
    measures_same,
)


@pytest.mark.parametrize(
    ("question", "values", "fitting"),
    [
        ("boxes over 1 kg", ["800g", "1.2 kg", "3 kg"], ["1.2 kg", "3 kg"]),
        ("超过 500 克的箱子", ["0.3kg", "700g", "2公斤"], ["700g", "2公斤"]),
        ("walks longer than 2 km", ["900 m", "2500 m", "3 miles"], ["2500 m", "3 miles"]),
        ("disks below 1 TB", ["500 GB", "2 TB", "2000 GB"], ["500 GB"]),
        ("things over 1 kg", ["5 km", "2 kg"], ["2 kg"]),
        # a currency has no rate, and a time is read as such
        ("games over 20 dollars", ["19.99 €", "59.99 €"], ["59.99 €"]),
        ("films over 90 minutes", ["80 min", "2 h"], ["2 h"]),
        ("rooms with more than 3 beds", ["2 beds", "4 beds"], ["4 beds"]),
    ],
)
def test_values_are_compared_in_one_unit(question: str, values: list[str], fitting: list[str]) -> None:
    condition = comparison_on("key", comparisons(question)[0], values)
    assert [value for value in values if matches(condition, {"key": value})] == fitting


@pytest.mark.parametrize(
    ("unit", "value", "is_other"),
    [
        ("GB", "2 kg", True),
        ("dollars", "5 €", False),
        ("€", "5 kg", True),
        ("kg", "300 g", False),
        ("beds", "2 kg", False),
        ("kg", "7", False),
    ],
)
def test_only_known_measures_differ(unit: str, value: str, is_other: bool) -> None:
    assert is_of_other_measure(unit, value) == is_other


def test_a_property_measures_the_same_by_a_value_or_its_name() -> None:
    assert measures_same("kg", "Load", [3, "400 g"])
    assert measures_same("kg", "Load (lb)", [3, 4])
    assert not measures_same("kg", "Load", [3, 4])
    assert not measures_same("beds", "Load", ["2 kg"])


def test_the_unit_of_a_column_is_that_of_its_values() -> None:
    assert measures_other("GB", "Distance (km)", [6, 12])
    assert not measures_other("miles", "Distance (km)", [6, 12])
    assert not measures_other("GB", "Disk", [6, 12])


@pytest.mark.parametrize("question", ["between 2 and 4 kg", "over 4/5", "over 2 kg and under 3 m", "7 books"])
def test_a_range_a_share_several_numbers_and_an_equality_are_no_limit(question: str) -> None:
    assert limit_of(question) is None
