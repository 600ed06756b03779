from __future__ import annotations

import pytest

from agentic_rag.questions.computations import read_computation


@pytest.mark.parametrize(
    ("question", "result", "verb"),
    [
        ("How far did I run in March?", "sum", "run"),
        ("What did I spend on books?", "sum", "spend"),
        ("What did the plumber cost altogether?", "sum", "cost"),
        ("How many times have I called them?", "count", "called"),
        ("How often did we meet?", "count", "meet"),
        ("average rent of the flats", "average", ""),
        ("Which was the most expensive?", "largest", ""),
        ("When did I last see her?", "largest", "see"),
        ("Wie viel habe ich für Brot ausgegeben?", "sum", "ausgegeben"),
        ("Wie oft habe ich Zucchini geerntet?", "count", "geerntet"),
        ("这个月跑了多少公里", "sum", "跑"),
        ("三月头疼了几次", "count", "疼"),
        ("平均每次花多少钱", "average", ""),
    ],
)
def test_what_is_computed_and_the_deed(question: str, result: str, verb: str):
    computation = read_computation(question)
    assert computation is not None
    assert (computation.result, computation.verb) == (result, verb)


@pytest.mark.parametrize(
    "question",
    [
        "How far is Cork?",
        "How much does the ferry cost?",
        "How often should I water it?",
        "How many times a day do I take it?",
        "What is the last name of Ann?",
        "What does mean tone mean?",
        "公共汽车多少钱",
        "每天吃几次",
    ],
)
def test_a_value_that_one_entry_gives_is_not_computed(question: str):
    assert read_computation(question) is None
