from __future__ import annotations

import pytest

from agentic_rag.answering.forms.entry_values import (
    EntryValue,
    add_values,
    are_addable,
    column_values,
    item_values,
)
from agentic_rag.notes.units import Unit, read_units


def rows(column: str, *cells: str) -> list[Unit]:
    table = "\n".join(f"| x{n} | {cell} |" for n, cell in enumerate(cells))
    return list(read_units(f"| Name | {column} |\n|---|---|\n{table}\n").units)


def items(*texts: str) -> list[Unit]:
    return list(read_units("\n".join(f"- {text}" for text in texts) + "\n").units)


def anything(value: EntryValue) -> bool:
    return True


@pytest.mark.parametrize(
    ("column", "cells", "total"),
    [
        ("Distance (km)", ["4.5", "6"], "10.5 km"),
        ("Meter", ["800", "1200"], "2000 Meter"),
        ("Cost", ["$12.50", "$3"], "$15.50"),
        ("Preis", ["1.137,50 €", "62,40 €"], "1199.90 €"),
        ("Time", ["58:10", "1:02:30"], "2:00:40"),
        ("Time", ["2h 30m", "45m"], "3 h 15 min"),
        ("Weight", ["900 g", "1.2 kg", "1 kg"], "3.1 kg"),
        ("Day", ["3", "4"], "7"),
    ],
)
def test_cells_are_added_in_the_unit_that_most_have(column: str, cells: list[str], total: str):
    values = [value for value in column_values(rows(column, *cells), column) if value is not None]
    assert are_addable(values)
    assert add_values(values).text() == total


@pytest.mark.parametrize(
    ("cells", "known"), [(["–", "about 3 or 4", "5 km"], 1), (["2024-03-05", "5–7 km"], 0)]
)
def test_a_cell_without_one_number_has_no_value(cells: list[str], known: int):
    assert sum(value is not None for value in column_values(rows("Far", *cells), "Far")) == known


def test_of_an_item_the_number_with_a_unit_counts():
    values = item_values(items("2024-05-02: 2 helpers, 3.5 kg", "6 May: 800 g", "10:30 nothing"), anything)
    assert [value and value.text() for value in values] == ["3.5 kg", "800 g", None]


@pytest.mark.parametrize("units", [("euro", "us_dollar"), ("kilometer", ""), ("hour", ":")])
def test_values_of_different_kinds_are_not_added(units: tuple[str, str]):
    assert not are_addable([EntryValue(1.0, unit) for unit in units])
