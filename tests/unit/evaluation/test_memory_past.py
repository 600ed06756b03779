"""Generated preferences that turn and questions about the past: the oracle, and how many there are."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path

sys.path.append(str(Path(__file__).parents[3] / "evaluation"))
past = import_module("memory_past")
Statement = past.Statement


def day(year: int) -> datetime:
    return datetime(year, 1, 1, tzinfo=UTC)


def test_a_value_holds_until_another_is_stated():
    person = past.Person(
        "ada",
        [
            Statement("I live in Lima.", day(2022), "lives in", "Lima"),
            Statement("I live in Oslo.", day(2020), "lives in", "Oslo"),
            Statement("I live in Oslo.", day(2021), "lives in", "Oslo"),
            Statement("My sister lives in Turin.", day(2023)),
        ],
    )
    assert person.values("lives in") == [("Oslo", day(2020), day(2022)), ("Lima", day(2022), None)]


def test_the_halves_are_as_large_and_differ():
    chosen, reported = (list(past.people(200, seed)) for seed in (past.CHOOSING, past.REPORTED))
    assert [sum(len(person.questions) for person in half) for half in (chosen, reported)] == [200, 200]
    assert [person.statements for person in chosen] != [person.statements for person in reported]
    assert list(past.people(200, past.CHOOSING)) == chosen


def test_each_sequence_turns_and_is_of_a_thing_of_its_own():
    every = [
        (person.name, thing, len(person.values(f"liking of {thing}")))
        for person, thing, _ in past.sequences(60, 1)
    ]
    assert len({(name, thing) for name, thing, _ in every}) == 60
    assert all(turns >= 2 for _, _, turns in every)


def test_every_question_about_the_past_has_an_answer_before_now():
    for person in past.people(40, 1):
        for question in person.questions:
            values = {value: until for value, _, until in person.values(question.slot)}
            assert question.right
            assert all(value in values for value, _ in question.right)
            if question.kind != "in a time":
                assert all(
                    values[value] is not None or question.slot.startswith("liking")
                    for value, _ in question.right
                )
