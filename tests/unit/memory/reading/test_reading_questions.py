from __future__ import annotations

from datetime import UTC, datetime

import pytest

from agentic_rag.memory.reading.questions import read_question
from agentic_rag.memory.reading.words import stem

SPEAKERS = ("Caroline", "Melanie Jones")


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("When did Caroline go to the LGBTQ support group?", "when"),
        ("What date did it begin?", "when"),
        ("Which year did she move?", "year"),
        ("How long has Caroline had her friends?", "duration"),
        ("How many weeks passed between the two?", "duration"),
        ("How many children does Melanie have?", "number"),
        ("How often does she run?", "often"),
        ("Who supports Caroline?", "who"),
        ("Where did Caroline move from?", "where"),
        ("What country is Caroline from?", "where"),
        ("Why did she leave?", "why"),
        ("How did Melanie feel?", "how"),
        ("What kind of art does Caroline make?", "which"),
        ("What books has Melanie read?", "which"),
        ("What did Caroline research?", "what"),
        ("What is Caroline's job?", "what"),
        ("Would Caroline like A or B?", "choice"),
        ("Would Caroline likely have a dog?", "likely"),
        ("Is Melanie a nurse?", "yes_no"),
        ("小明在哪里工作？", "where"),
        ("他什么时候来？", "when"),
        ("", "what"),
    ],
)
def test_kinds(text: str, kind: str) -> None:
    assert read_question(text, SPEAKERS).kind == kind


@pytest.mark.parametrize(
    ("text", "subject"),
    [
        ("What did Caroline research?", "Caroline"),
        ("What is melanie's job?", "Melanie Jones"),
        ("What did Melanie say to Caroline?", "Melanie Jones"),
        ("According to Caroline, what does Melanie like?", "Caroline"),
        ("What is Melanie like as described by Caroline?", "Caroline"),
        ("What do Caroline and Melanie like?", ""),
        ("What did Karen research?", ""),
    ],
)
def test_whom_it_is_about(text: str, subject: str) -> None:
    assert read_question(text, SPEAKERS).subject == subject


def test_terms_are_what_it_tells_of() -> None:
    question = read_question("What kind of flooring is Caroline looking for in her dance studio?", SPEAKERS)
    assert question.terms == {stem(word) for word in ("flooring", "looking", "dance", "studio")}
    assert question.focus == {stem("flooring")}
    assert question.verb == stem("looking")


def test_irregular_verbs_are_the_same_verb() -> None:
    assert stem("went") == stem("go")
    assert stem("bought") == stem("buying")


def test_the_time_is_no_term() -> None:
    question = read_question("What did Caroline find on 1 February, 2023?", SPEAKERS)
    assert question.interval == (datetime(2023, 2, 1, tzinfo=UTC), datetime(2023, 2, 2, tzinfo=UTC))
    assert question.terms == {"find"}


def test_names_that_are_no_speakers() -> None:
    assert read_question("What did Caroline do in Rome?", SPEAKERS).names == {"rome"}


@pytest.mark.parametrize(
    ("text", "many"),
    [
        ("What books has Melanie read?", True),
        ("Which cities has Caroline visited?", True),
        ("What kinds of art does she make?", True),
        ("What book is Melanie reading?", False),
        ("Which class does she take?", False),
    ],
)
def test_whether_several_things_are_asked_for(text: str, many: bool) -> None:
    assert read_question(text, SPEAKERS).many is many
