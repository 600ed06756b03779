"""Amounts: numbers with sign, unit and range, times of day, days; the same amount in other forms."""

from __future__ import annotations

import subprocess
import sys
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_rag.answering.amounts import amounts, likeness, plain, without_amounts
from agentic_rag.boards.marking import Names, judge


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("−5 °C, minus 3 m", [(-5, -5, "degC"), (-3, -3, "meter")]),
        ("2–3 h or 70%到80%", [(2, 3, "hour"), (70, 80, "percent")]),
        ("half a kilo and 1½ cups", [(0.5, 0.5, "kilogram"), (1.5, 1.5, "cup")]),
        ("an hour and a half", [(1.5, 1.5, "hour")]),
        ("5 ft 7 in", [(67 / 12, 67 / 12, "foot")]),
        ("一个半小时, 三两, 一万两千", [(1.5, 1.5, "hour"), (3, 3, "liang"), (12000, 12000, "")]),
        ("七八成熟", [(7, 8, "tenth")]),
        ("$1,200 or 12,5 €", [(1200, 1200, "us_dollar"), (12.5, 12.5, "euro")]),
        ("公元前48年, AD 64", [(-48, -48, "era"), (64, 64, "era")]),
        ("2 million litres", [(2e6, 2e6, "liter")]),
        ("half past three, 下午三点半", [(210, 210, "half-clock"), (930, 930, "clock")]),
        ("每分钟70次, 70 beats a minute", [(70, 70, "1/minute")] * 2),
        ("one of them, tens of thousands", [(1, 1, "")]),
        ("nothing", []),
    ],
)
def test_amounts_of_a_text(text: str, read: list[tuple[float, float, str]]) -> None:
    found = amounts(text)
    assert [(one.low, one.high, one.unit) for one in found] == [
        (pytest.approx(low), pytest.approx(high), unit) for low, high, unit in read
    ]


@pytest.mark.parametrize(
    ("wanted", "given_", "expected"),
    [
        ("1 km", "1000 m", 1.0),
        ("20 °C", "68 °F", 1.0),
        ("18 m", "59 feet", 1.0),
        ("2.5 decades", "25 years", 1.0),
        ("9 pm", "21:00", 1.0),
        ("半斤", "250克", 1.0),
        ("三分之二", "66.7 %", 1.0),
        ("50 °C", "50 degrees", 1.0),
        ("5 mg", "5", 0.5),
        ("2-3 h", "3 h", 0.5),
        ("3 May 2024", "May 2024", 0.5),
        ("42.195 km", "42 km", 0.5),
        ("5 mg", "5 g", 0.0),
        ("5 °C", "-5 °C", 0.0),
        ("20 euros", "20 dollars", 0.0),
        ("2.5 MW", "2.5 mW", 0.0),
        ("3 of 5", "5 of 3", 0.0),
        ("1823", "1832", 0.0),
    ],
)
def test_likeness(wanted: str, given_: str, expected: float) -> None:
    (one,), (other,) = amounts(wanted), amounts(given_)
    assert likeness(one, other) == expected


@pytest.mark.parametrize(
    ("asks", "expected", "response", "mark"),
    [
        # Case 34 and three more of its kind: a unit that stands in the question, an era, a column's unit.
        ("The dose of Neranol is ____ for an adult.", "5 mg", "5 g", "wrong"),
        ("The cable is ____ long from tower to tower.", "3 km", "3000 m", "right"),
        ("Water boils here at ____ in summer.", "100 °C", "not 100 °C", "wrong"),
        ("The seeds swell for ____ days.", "15", "2 weeks and a day", "right"),
        ("The seeds swell for ____ days.", "15", "15 weeks", "wrong"),
        ("The poem was written in ____ by Wang.", "59 BC", "59 AD", "wrong"),
        ("What does “Chart” give for Sencha: Steep (s)?", "Tea: Sencha · Steep (s): 120", "2 min", "right"),
        ("The yard stands in ____ on the Rhine.", "Köln", "Koeln", "right"),
    ],
)  # fmt: skip
def test_an_answer_with_another_unit_sign_or_negation_is_wrong(
    asks: str, expected: str, response: str, mark: str
) -> None:
    assert judge(asks, [expected], response, Names({})).mark == mark


@given(
    st.text(st.sampled_from("0123456789.,-–/ 半一二十万两成点年前kmgh°CF%€ofhalfpastsecond½"), max_size=24)
)
def test_any_text_is_read_in_places_that_lie_apart(text: str) -> None:
    found = amounts(text)
    assert all(one.end <= other.start for one, other in pairwise(found))
    assert all(0 <= one.start < one.end <= len(plain(text)) for one in found)
    assert len(without_amounts(text)) == len(plain(text))
    for one in found:
        assert likeness(one, one) == 1.0


def test_units_are_read_without_pint_until_they_are_converted() -> None:
    code = (
        "import sys; from agentic_rag.answering.amounts import amounts, likeness; a, b, _ = amounts('5 milligrams, 7 mg, 3 people');"
        "likeness(a, b); assert 'pint' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("at half past seven in the evening", [(1170.0, 1170.0, "clock")]),
        ("between 900 and 950 °C", [(900.0, 950.0, "degC")]),
        ("born in 1819 in Leipzig", [(1819.0, 1819.0, "")]),
        ("the 1960s", [(1960.0, 1969.0, "")]),
        ("早上七点零五分", [(425.0, 425.0, "clock")]),
        ("罚一角", [(1.0, 1.0, "jiao")]),
    ],
)
def test_forms_that_were_read_as_something_else(text: str, read: list[tuple[float, float, str]]) -> None:
    assert [(one.low, one.high, one.unit) for one in amounts(text)] == read


@pytest.mark.parametrize(
    "text",
    "2 cats/3 bags/1 pinch of salt/10 toes/4 links/2 hands/6 shots/5 acts/2 exams/3 rats/12 sections/4 leagues/2 mines".split("/"),
)  # fmt: skip
def test_a_noun_that_is_a_unit_by_chance_is_none(text: str):
    assert [one.unit for one in amounts(text)] == [""]


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        ("4 Kilometres", "kilometer"), ("2 centuries", "century"), ("6 inches", "inch"), ("5 milliamps", "milliampere"),
        ("7 tonnes", "metric_ton"), ("3 mmol", "millimole"), ("80 degrees Celsius", "degC"), ("2 kilobytes", "kilobyte"),
    ],
)  # fmt: skip
def test_names_of_units_in_their_forms(text: str, unit: str):
    assert [one.unit for one in amounts(text)] == [unit]


@pytest.mark.parametrize(
    ("text", "number"), [("0 h 30 min", 0.5), ("2h 30m", 2.5), ("3h20", 3 + 1 / 3), ("0 km 5 m", 0.005)]
)
def test_the_parts_of_an_amount_are_added(text: str, number: float):
    ((low, high),) = ((one.low, one.high) for one in amounts(text))
    assert low == high == pytest.approx(number)


@pytest.mark.parametrize(
    ("text", "number"),
    [("145,60 €", 145.6), ("1.137,50 €", 1137.5), ("1,137.50 €", 1137.5), ("12.345.678,9 €", 12345678.9)],
)
def test_decimals_and_thousands_as_in_several_countries(text: str, number: float):
    assert [one.low for one in amounts(text)] == [number]
