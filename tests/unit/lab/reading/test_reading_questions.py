from __future__ import annotations

from datetime import UTC, datetime

import pytest

from agentic_rag_lab.designs.reading.questions import read_question
from agentic_rag_lab.designs.reading.words import stem

SPEAKERS = ("Caroline", "Melanie Jones")


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("When did Caroline go to the LGBTQ support group?", "when"),
        ("What date did it begin?", "when"),
        ("Which year did she move?", "year"),
        ("How long has Caroline had her friends?", "what"),
        ("How many weeks passed between the two?", "what"),
        ("How many children does Melanie have?", "what"),
        ("How often does she run?", "what"),
        ("Who supports Caroline?", "what"),
        ("Where did Caroline move from?", "what"),
        ("What country is Caroline from?", "what"),
        ("Why did she leave?", "what"),
        ("How did Melanie feel?", "what"),
        ("What kind of art does Caroline make?", "what"),
        ("What books has Melanie read?", "what"),
        ("What did Caroline research?", "what"),
        ("What is Caroline's job?", "what"),
        ("Would Caroline like A or B?", "what"),
        ("Would Caroline likely have a dog?", "likely"),
        ("Is Melanie a nurse?", "yes_no"),
        ("小明在哪里工作？", "what"),
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


def test_irregular_verbs_are_the_same_verb() -> None:
    assert stem("went") == stem("go")
    assert stem("bought") == stem("buying")


def test_the_time_is_no_term() -> None:
    question = read_question("What did Caroline find on 1 February, 2023?", SPEAKERS)
    assert question.interval == (datetime(2023, 2, 1, tzinfo=UTC), datetime(2023, 2, 2, tzinfo=UTC))
    assert question.terms == {"find"}


def test_names_that_are_no_speakers() -> None:
    assert read_question("What did Caroline do in Rome?", SPEAKERS).names == {"rome"}
