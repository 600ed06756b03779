"""Marks of answers: words, numbers, names from the notes, rows; and texts that are no answer."""

from __future__ import annotations

import pytest

from agentic_rag.boards.marking import Names, judge
from agentic_rag.text.numbers import numbers

NAMES = Names.of([("杀青", "kill-green", "fixation"), ("Oxidation", "氧化")])
GAP = "The pan stops ____ early. What fills the gap?"
ROW = "What does “Chart” give for Gyokuro: Leaf (g), Water (°C), First steep (s)?"
CELLS = "Tea: Gyokuro · Leaf (g): 5 · Water (°C): 50 · First steep (s): 120"


@pytest.mark.parametrize(
    ("asks", "expected", "given", "mark"),
    [
        (GAP, "oxidation", "Oxidation", "right"),
        (GAP, "oxidation", "oxydation", "right"),
        (GAP, "oxidation", "氧化", "right"),
        (GAP, "oxidation", "not oxidation", "wrong"),
        (GAP, "oxidation", "withering", "wrong"),
        (GAP, "杀青", "fixation", "right"),
        (GAP, "wet piling", "piling", "partly"),
        (GAP, "1191 年", "一一九一年", "right"),
        (GAP, "1191 年", "1911", "wrong"),
        (GAP, "59 年", "大约六十年", "partly"),
        (GAP, "five", "5 or 8", "partly"),
        (GAP, "六成", "60%", "right"),
        (GAP, "下松村", "上松村", "wrong"),
        (GAP, "下松村", "下松", "right"),
        (ROW, CELLS, "5 g, 50 °C, 120 s", "right"),
        (ROW, CELLS, "5 g and fifty degrees", "partly"),
        (ROW, CELLS, "3 g, 80 °C, 20 s", "wrong"),
        (GAP, "oxidation", "  \n", "empty"),
        (GAP, "oxidation", "🤷", "wrong"),
    ],
)
def test_marks(asks: str, expected: str, given: str, mark: str) -> None:
    assert judge(asks, [expected], given, NAMES).mark == mark


def test_what_is_missing_is_named() -> None:
    assert judge(ROW, [CELLS], "5 g and fifty degrees", NAMES).missing == ("120",)


def test_all_that_stands_under_a_question_is_asked_for() -> None:
    assert judge(GAP, ["heat", "frost"], "heat", NAMES).mark == "partly"
    assert judge(GAP, ["heat", "frost"], "frost and heat", NAMES).mark == "right"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("1,234.5 and twenty-five", [25.0, 1234.5]),
        ("三千二百零五", [3205.0]),
        ("两万一千", [21000.0]),
        ("十二世纪", [12.0]),
        ("three hundred", [300.0]),
        ("六成", [60.0]),
        ("一成为二", [1.0, 2.0]),
        ("none", []),
    ],
)
def test_numbers(text: str, found: list[float]) -> None:
    assert sorted(numbers(text)) == found
