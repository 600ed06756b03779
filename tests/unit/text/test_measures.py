"""Units as ``pint`` has them, which our definitions repeat."""

from __future__ import annotations

import math

import pint
import pytest

from agentic_rag.text import measures

OURS = {"jin", "liang", "mu", "li", "chi", "ke", "tenth", *measures.CURRENCIES}
"""Units that pint has not."""
MEANT_OTHERWISE = {"decade", "decibel", "teaspoon", "tablespoon"}
"""Logarithms in pint, and spoons of the United States."""


@pytest.fixture(scope="module")
def registry() -> pint.UnitRegistry:
    return pint.UnitRegistry(autoconvert_offset_to_baseunit=True)


def test_every_unit_that_text_names_is_what_pint_says(registry: pint.UnitRegistry) -> None:
    named = {*measures._NAMES.values(), *measures._HAN.values(), *measures._SYMBOLS.values()}
    assert len(named) > 400
    for unit in sorted(named - OURS - MEANT_OTHERWISE):
        for value in (0.0, 1.0, -3.5, 1234.5):
            amount, dimension = measures.to_base(value, unit)
            theirs = registry.Quantity(value, unit).to_base_units()
            assert dimension == str(theirs.dimensionality), unit
            in_grams = 1000.0 ** dict(theirs.dimensionality).get("[mass]", 0)  # a kilogram is pint's base
            assert math.isclose(amount, theirs.magnitude * in_grams, rel_tol=1e-9, abs_tol=1e-300), unit


@pytest.mark.parametrize(
    ("value", "unit", "to", "expected"),
    [
        (2.5, "decade", "year", 25), (3, "teaspoon", "milliliter", 15), (2, "jin", "kilogram", 1), (1, "mu", "meter**2", 2000 / 3),
        (3, "ke", "minute", 45), (100, "kilometer/hour", "mile/hour", 62.137), (68, "degF", "degC", 20), (30, "jiao", "yuan", 3),
    ],
)  # fmt: skip
def test_conversions(value: float, unit: str, to: str, expected: float) -> None:
    assert measures.convert(value, unit, to) == pytest.approx(expected, rel=1e-4)
