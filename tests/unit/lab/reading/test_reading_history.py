from __future__ import annotations

from datetime import date

import pytest

from agentic_rag_lab.designs.reading.history import read_history

STM = (
    "The following is some history information.\n(2023-08-01)Alice: I work at Google\n(2023-08-01)Bob: Great!"
)


def lines(text: str) -> list[tuple[str, str, str]]:
    """Date, speaker and text of each line."""
    return [
        ("" if line.date is None else line.date.isoformat(), line.speaker, line.text)
        for line in read_history(text).lines
    ]


def test_the_example_of_the_source_document() -> None:
    assert lines(STM) == [("2023-08-01", "Alice", "I work at Google"), ("2023-08-01", "Bob", "Great!")]
    assert read_history(STM).speakers == ("Alice", "Bob")


def test_plain_statements_are_of_those_they_begin_with() -> None:
    history = read_history("Alice works at Google\nBob lives in New York")
    assert [line.speaker for line in history.lines] == ["", ""]
    assert history.speakers == ("Alice", "Bob")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Alice: Hello", [("", "Alice", "Hello")]),
        ("- (2023-08-01)Alice: Hello", [("2023-08-01", "Alice", "Hello")]),
        ("[1] Alice works at Google", [("", "", "Alice works at Google")]),
        ("[2023-08-02] (2023-08-01)Alice: Hello", [("2023-08-01", "Alice", "Hello")]),
        ("(1:56 pm on 8 May, 2023)Zoë B.: Hello", [("2023-05-08", "Zoë B.", "Hello")]),
        ("(2023-08-01)小明: 你好", [("2023-08-01", "小明", "你好")]),
        ("(nobody knows)Alice: Hello", [("", "", "(nobody knows)Alice: Hello")]),
        ("Alice: Hello\nAlice: Hello", [("", "Alice", "Hello")]),
        ("", []),
        ("\n \n", []),
    ],
)  # fmt: skip
def test_formats(text: str, expected: list[tuple[str, str, str]]) -> None:
    assert lines(text) == expected


def test_the_caption_of_a_photo_is_a_sentence_of_its_own() -> None:
    history = read_history("(2023-08-01)Bob: Look! It is mine. [shares a photo: a red car]")
    assert [(sentence.text, sentence.caption) for sentence in history.sentences] == [
        ("Look!", False),
        ("It is mine.", False),
        ("a red car", True),
    ]
    assert history.sentences[0].line.date == date(2023, 8, 1)


def test_questions_are_told() -> None:
    asks = [sentence.asks for sentence in read_history("Bob: Is it? Yes. 真的吗？").sentences]
    assert asks == [True, False, True]
