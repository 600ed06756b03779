"""Texts of memories to turns."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_rag.post_retrieval.turns import MemoryLine, lines_of, turns_of


def said(text: str) -> list[tuple[str, str, str]]:
    return [(line.text, line.speaker, line.date) for line in turns_of(text)]


def test_a_packet_is_a_turn_a_line() -> None:
    assert said("(2023-08-01)Alice: Hello\n(2023-08-01)Bob: Hi: you") == [
        ("Hello", "Alice", "2023-08-01"),
        ("Hi: you", "Bob", "2023-08-01"),
    ]


def test_a_triple_has_no_speaker() -> None:
    assert said("Alice works at Google") == [("Alice works at Google", "", "")]


@pytest.mark.parametrize(
    ("line", "turn"),
    [
        ("()Alice: hi", ("hi", "Alice", "")),
        ("(next week)Alice: hi", ("hi", "Alice", "next week")),
        ("(2023-08-01)Alice B. : hi ", ("hi", "Alice B.", "2023-08-01")),
        ("Alice: hi", ("Alice: hi", "", "")),
        ("(aside) see: this", ("(aside) see: this", "", "")),
        ("(see)http://x.org", ("(see)http://x.org", "", "")),
        ("(2023-08-01)Alice:", ("(2023-08-01)Alice:", "", "")),
        ("(2023-08-01)" + "a" * 61 + ": hi", ("(2023-08-01)" + "a" * 61 + ": hi", "", "")),
        ("(2023-08-01)Alice: a\rb", ("a\rb", "Alice", "2023-08-01")),
    ],
)
def test_what_is_a_turn_of_somebody(line: str, turn: tuple[str, str, str]) -> None:
    assert said(line) == [turn]


@pytest.mark.parametrize("text", ["", " \n\t\n "])
def test_nothing_said(text: str) -> None:
    assert said(text) == []


def test_lines_of_dialogue_are_taken_apart_and_put_together_again() -> None:
    text = "(2023-08-01)Alice: I said: hi\nmore (of) it: yes\n(2023-08-01)李明: 你好\n(1:56 pm on 8 May, 2023)Bob: "
    lines = lines_of(text)
    assert lines == [
        MemoryLine("I said: hi", "(2023-08-01)Alice: ", "Alice", "2023-08-01"),
        MemoryLine("more (of) it: yes"),
        MemoryLine("你好", "(2023-08-01)李明: ", "李明", "2023-08-01"),
        MemoryLine("", "(1:56 pm on 8 May, 2023)Bob: ", "Bob", "1:56 pm on 8 May, 2023"),
    ]
    assert "\n".join(line.lead + line.text for line in lines) == text


@given(st.text(alphabet="()ab: \n：", max_size=40))
def test_no_character_of_a_dialogue_is_lost(text: str) -> None:
    assert "\n".join(line.lead + line.text for line in lines_of(text)) == text
