"""Kinds of values that are recognised by how they are written."""

from __future__ import annotations

import pytest

from agentic_rag.questions.question import Question
from agentic_rag.questions.written_kinds import writing_of, written_kinds


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("phone", "+49 (0)511 98 77 20"),
        ("email", "ask rosa@choir.example"),
        ("code", "The flight is LH 441 at nine"),
        ("code", "Invoice INV-2023-14"),
        ("version", "since 3.4.1"),
        ("version", "runs Node 20"),
        ("temperature", "gas mark 4"),
        ("energy", "240 kcal"),
        ("mileage", "at 81,000 km"),
        ("time", "doors at half past seven"),
        ("time", "ab 19 Uhr"),
        ("time", "下午三点集合"),
        ("time", "we check in after lunch"),
    ],
)
def test_a_value_of_the_kind(kind: str, text: str) -> None:
    writing = writing_of(kind)
    assert writing is not None
    assert writing.value.search(text)


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("phone", "on 2023-05-14 10:30"),
        ("phone", "12.5 km"),
        ("code", "paid 120 Euro in 2019"),
        ("code", "on 2024-05-06"),
        ("version", "about 40 messages in 2021"),
        ("version", "May 12"),
        ("version", "it costs 2.50 €"),
        ("temperature", "15 minutes"),
        ("mileage", "new tyres for 540"),
        ("time", "version 2.15.1"),
        ("time", "costs 4.50 €"),
        ("time", "花了三个小时"),
    ],
)
def test_another_number_is_none(kind: str, text: str) -> None:
    writing = writing_of(kind)
    assert writing is not None
    assert not writing.value.search(text)


def test_a_day_is_of_no_written_kind() -> None:
    assert writing_of("date") is None


@pytest.mark.parametrize(
    ("question", "kinds"),
    [
        ("What is the phone number of the plumber?", {"phone"}),
        ("Wie lautet meine Kundennummer?", {"code"}),
        ("保单号是多少？", {"code"}),
        ("Which phone did I buy?", set()),
        ("What is my room number?", set()),
    ],
)
def test_what_is_asked_for(question: str, kinds: set[str]) -> None:
    assert written_kinds(question) == kinds


@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        ("When did my phone number change?", "date"),
        ("Who knows the policy number?", "person"),
        ("Where is the serial number?", "place"),
    ],
)
def test_who_when_and_where_want_something_else(question: str, wanted: str) -> None:
    assert wanted in Question.of(question).wants
    assert Question.of(question).wants.isdisjoint({"phone", "code"})


def test_german_what_is_no_yes_or_no() -> None:
    assert Question.of("Was ist meine Kundennummer?").wants == {"code"}
    assert "code" not in Question.of("Was the invoice number wrong?").wants


def test_how_to_change_it_wants_no_address() -> None:
    assert Question.of("How do I change my e-mail address?").wants == frozenset()
