from __future__ import annotations

import pytest

from agentic_rag_lab.designs.reading.history import read_history
from agentic_rag_lab.designs.reading.questions import read_question
from agentic_rag_lab.designs.reading.statements import (
    MAX_COMPARED,
    Statement,
    bearing_statements,
    term_rarity,
)

TALK = (
    "(2023-05-08)Caroline: I painted a lake. It was calm.\n"
    "(2023-05-08)Melanie: What colours did you use for the lake?\n"
    "(2023-05-09)Caroline: Blue, mostly.\n"
    "(2023-06-01)Melanie: I painted a horse."
)


def found(question: str, history: str) -> list[Statement]:
    read = read_history(history)
    return bearing_statements(read_question(question, read.speakers), read)


def test_words_and_speaker_decide() -> None:
    best = found("What did Melanie paint?", TALK)
    assert best[0].sentence.text == "I painted a horse."
    assert (best[0].own, best[0].about) == (1.0, True)


def test_the_rest_of_the_turn_counts() -> None:
    calm = next(one for one in found("What did Caroline paint?", TALK) if one.sentence.text == "It was calm.")
    assert (calm.own, calm.turn) == (0.0, 1.0)


def test_the_question_before_counts_on_the_same_day() -> None:
    same_day = TALK.replace("2023-05-09", "2023-05-08")
    blue = [
        next(
            one
            for one in found("What colours did Caroline use?", text)
            if one.sentence.text == "Blue, mostly."
        )
        for text in (TALK, same_day)
    ]
    assert [one.before for one in blue] == [0.0, 1.0]


def test_a_rare_word_says_more_than_a_common_one() -> None:
    history = read_history("Bob: cat\nAmy: cat and dog\nBob: cat again")
    rarity = term_rarity(read_question("Where are the cat and the dog?", ()), history)
    assert rarity["dog"] > rarity["cat"]
    assert sum(rarity.values()) == pytest.approx(1.0)


def test_the_stated_time_counts() -> None:
    best = found("What did they paint in June 2023?", TALK)
    assert [one.sentence.line.date.month for one in best if one.timely and one.sentence.line.date] == [6]


def test_of_plain_statements_those_that_name_the_person_are_about_them() -> None:
    best = found("Where does Bob live?", "Alice lives in Rome\nBob lives in New York")
    assert [(one.sentence.text, one.about) for one in best] == [
        ("Bob lives in New York", True),
        ("Alice lives in Rome", False),
    ]


def test_only_the_best_are_returned() -> None:
    history = "\n".join(f"Bob: number {n} is here." for n in range(100)) + "\nBob: The zebra is there."
    best = found("Where is the zebra?", history)
    assert len(best) == MAX_COMPARED
    assert best[0].sentence.text == "The zebra is there."
    assert found("Where?", "") == []
