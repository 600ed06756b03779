from __future__ import annotations

from agentic_rag_service.access import Caller
from agentic_rag_service.openai.answers import MAX_ANSWERS, GivenAnswers

ANN, BOB = Caller("ann", None), Caller("bob", None)
NARROW = Caller("ann", frozenset({"notes"}))


def test_nobody_reads_the_answers_to_another_key() -> None:
    answers = GivenAnswers()
    answers.add(ANN, "msg_1", "Green tea.")
    assert answers.text(ANN, "msg_1") == "Green tea."
    assert answers.text(BOB, "msg_1") is None
    assert answers.text(NARROW, "msg_1") is None
    assert answers.text(ANN, "") is None


def test_the_oldest_answers_of_a_caller_are_dropped() -> None:
    answers = GivenAnswers()
    answers.add(BOB, "msg_0", "Black tea.")
    for number in range(MAX_ANSWERS + 2):
        answers.add(ANN, f"msg_{number}", str(number))
    assert [answers.text(ANN, f"msg_{number}") for number in (0, 1, 2)] == [None, None, "2"]
    assert answers.text(BOB, "msg_0") == "Black tea."


def test_a_forgotten_user_has_no_answers_by_any_key() -> None:
    answers = GivenAnswers()
    for caller in (ANN, NARROW, BOB):
        answers.add(caller, "msg_1", "Tea.")
    answers.forget("ann")
    assert [answers.text(caller, "msg_1") for caller in (ANN, NARROW, BOB)] == [None, None, "Tea."]
