from __future__ import annotations

import pytest

from agentic_rag_lab.designs.reading.doubt import doubtful, shipped_weights, signs
from agentic_rag_lab.designs.reading.history import History, read_history
from agentic_rag_lab.designs.reading.questions import ParsedQuestion, read_question
from agentic_rag_lab.designs.reading.statements import Statement, bearing_statements

TALK = (
    "(2023-05-08)Melanie: I have been researching adoption agencies.\n"
    "(2023-05-08)Caroline: Good for you! I like pottery."
)


def read(question: str, history: str = TALK) -> tuple[ParsedQuestion, list[Statement], History]:
    told = read_history(history)
    asked = read_question(question, told.speakers)
    return asked, bearing_statements(asked, told), told


PLAIN = "Alice works at Google\nBob lives in New York"


@pytest.mark.parametrize(
    ("question", "history", "expected"),
    [
        ("What did Melanie research?", TALK, False),
        ("What did Caroline research?", TALK, True),
        ("What does Caroline like?", TALK, False),
        ("Who is the president of France?", TALK, True),
        ("What did Caroline eat?", TALK, True),
        ("Where does Carol work?", PLAIN, True),
        ("Where does Alice work?", PLAIN, False),
    ],
)
def test_who_said_it_and_what_was_said(question: str, history: str, expected: bool) -> None:
    assert doubtful(*read(question, history)) is expected


def test_the_lead_is_of_those_who_are_asked_about() -> None:
    theirs, others = (signs(*read("What did Melanie research?")), signs(*read("What did Caroline research?")))
    assert theirs["lead in sentence"] == -others["lead in sentence"] == 1.0
    both = signs(*read("What did Melanie and Caroline research?"))
    assert (both["lead in sentence"], both["several"], both["nobody"]) == (0.0, 1.0, 1.0)


def test_the_share_of_names_that_are_not_known() -> None:
    assert signs(*read("Did Melanie research Adoption in Rome?"))["unknown names"] == 1 / 2


def test_every_sign_has_a_weight() -> None:
    assert signs(*read("What did Melanie research?")).keys() == shipped_weights().doubt.keys()
