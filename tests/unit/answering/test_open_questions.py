"""When units are compared by what they mean: where none says all that is asked, and one may yet answer."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agentic_rag.answering.answers import PassageReading, from_reading, read_passages
from agentic_rag.questions.question import Question
from retrieved import documents_of, results_of

NOTES = {
    "Boat.md": "# Boat\n\nThe hull was painted in May. The engine is a Yanmar.\n\n- paint: 40 litres\n- rope: 12 m\n",
    "House.md": "# House\n\nAnna repaired the roof. The boiler leaks.\n",
}


def reading(question: str) -> PassageReading:
    documents = documents_of(*NOTES, notes=NOTES)
    results = results_of(documents)
    return read_passages(Question.of(question), results, [0.9] * len(results), documents)


def test_a_unit_that_says_all_is_compared_with_none():
    assert not reading("What is the engine of the boat?").is_open


@pytest.mark.parametrize(
    "question", ["Who mended the roof of the house?", "When was the hull of the boat coated?"]
)
def test_units_that_say_a_part_are_compared(question: str):
    assert reading(question).is_open


@pytest.mark.parametrize(
    "question",
    [
        "When did Zebulon repair the roof?",  # a name
        "Which harbour insurance covers lightning abroad?",  # most of what is asked
        "What did Anna Karlsson repair?",  # a name of which no unit has both words
        "What is the phone number of the boat?",  # a kind of value
    ],
)
def test_nothing_is_compared_where_whichever_unit_comes_first_lacks_too_much(question: str):
    found = reading(question)
    assert found.candidates
    assert not found.is_open
    for best in found.candidates:
        others = [one for one in found.candidates if one is not best]
        evidence = from_reading(replace(found, candidates=[best, *others]))
        assert not evidence.lines, best.unit.text
        assert evidence.reason
