"""Which units are compared by what they mean, and what that adds to their scores."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from agentic_rag.answering.answers import read_passages
from agentic_rag.answering.evidence import Candidate, score_units
from agentic_rag.answering.meaning import (
    MAX_UNITS,
    MEANING,
    REACH,
    by_total,
    unit_text,
    units_to_compare,
    with_nearness,
    with_ties_in_order,
)
from agentic_rag.answering.source_notes import source_notes
from agentic_rag.questions.question import Question
from retrieved import documents_of, results_of


def candidates(*scores: float) -> list[Candidate]:
    notes = {"Bees.md": "# Bees\n\n## Care\n\n" + "".join(f"- line {n}\n" for n in range(len(scores)))}
    documents = documents_of(*notes, notes=notes)
    results = results_of(documents)
    units = score_units(Question.of("bees"), source_notes(results, [0.9] * len(results), documents))
    assert len(units) >= len(scores)
    return [replace(one, score=score) for one, score in zip(units, scores, strict=False)]


@pytest.mark.parametrize(
    ("scores", "count"),
    [
        ((1.0,), 1),
        ((1.0, 1.0 - REACH - 0.01), 1),
        ((1.0, 1.0 - REACH + 0.01), 2),
        ((1.0, 0.9, 0.8, 0.2), 3),
        ((1.0,) * (MAX_UNITS + 3), MAX_UNITS),
    ],
)
def test_units_within_reach_of_the_best_are_compared(scores: tuple[float, ...], count: int):
    assert len(units_to_compare(candidates(*scores))) == count


def test_a_nearer_unit_goes_before_one_of_a_higher_score():
    best, second, far = candidates(1.0, 0.9, 0.2)
    compared = with_nearness([best, second, far], np.array([0.0, 0.8], np.float32))
    assert [one.nearness for one in compared] == pytest.approx([REACH, REACH + MEANING * 0.8, 0.0])
    assert [one.unit for one in by_total(compared)] == [second.unit, best.unit, far.unit]


def test_of_units_that_say_all_the_nearest_goes_first():
    first, second, third, other = candidates(1.0, 1.0, 0.95, 0.5)
    arranged = with_ties_in_order([first, second, third, other], np.array([0.80, 0.86, 0.85], np.float32))
    assert [one.unit for one in arranged] == [one.unit for one in (second, third, first, other)]


@pytest.mark.parametrize(
    ("question", "note", "count"),
    [
        ("What is a ketch?", "A ketch is a boat.\n\nA ketch is fast.\n", 2),
        ("What is a ketch?", "A ketch is a boat.\n\nIt is fast.\n", 1),
        ("Which ketches are there?", "- ketch one\n- ketch two\n", 0),
        ("What is the mast of a ketch?", "A ketch is a boat.\n\nA ketch is fast.\n", 0),
    ],
    ids=["several say all", "one does", "a list", "none does"],
)
def test_units_that_say_all_are_compared_where_there_are_several(question: str, note: str, count: int):
    documents = documents_of("Boats.md", notes={"Boats.md": note})
    results = results_of(documents)
    reading = read_passages(Question.of(question), results, [0.9] * len(results), documents)
    assert len(reading.ties) == count


def test_a_unit_is_read_behind_its_title_and_heading():
    assert unit_text(candidates(1.0)[0]).startswith("Bees: Care: line ")
