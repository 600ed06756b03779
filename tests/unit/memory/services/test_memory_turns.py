"""Texts of memories to turns."""

from __future__ import annotations

import pytest

from agentic_rag.memory.services.turns import Turn, turns_of


def test_a_packet_is_a_turn_a_line() -> None:
    assert turns_of("(2023-08-01)Alice: Hello\n(2023-08-01)Bob: Hi: you") == [
        Turn("Hello", "Alice", "2023-08-01"),
        Turn("Hi: you", "Bob", "2023-08-01"),
    ]


def test_a_triple_has_no_speaker() -> None:
    assert turns_of("Alice works at Google") == [Turn("Alice works at Google")]


@pytest.mark.parametrize(
    ("line", "turn"),
    [
        ("()Alice: hi", Turn("hi", "Alice", "")),
        ("(next week)Alice: hi", Turn("hi", "Alice", "next week")),
        ("(2023-08-01)Alice B. : hi ", Turn("hi", "Alice B.", "2023-08-01")),
        ("Alice: hi", Turn("Alice: hi")),
        ("(aside) see: this", Turn("(aside) see: this")),
        ("(see)http://x.org", Turn("(see)http://x.org")),
        ("(2023-08-01)Alice:", Turn("(2023-08-01)Alice:")),
        ("(2023-08-01)" + "a" * 61 + ": hi", Turn("(2023-08-01)" + "a" * 61 + ": hi")),
        ("(2023-08-01)Alice: a\rb", Turn("a\rb", "Alice", "2023-08-01")),
    ],
)
def test_what_is_a_turn_of_somebody(line: str, turn: Turn) -> None:
    assert turns_of(line) == [turn]


@pytest.mark.parametrize("text", ["", " \n\t\n "])
def test_nothing_said(text: str) -> None:
    assert turns_of(text) == []
