from __future__ import annotations

import pytest

from agentic_rag.lab.reading.history import read_history
from agentic_rag.lab.reading.moments import moment_answer
from agentic_rag.lab.reading.questions import ParsedQuestion, read_question
from agentic_rag.lab.reading.statements import Statement, bearing_statements
from agentic_rag.lab.reading.verdicts import choice, speaker_answer, verdict
from agentic_rag.testing import HashingEmbedding


async def read(question: str, history: str) -> tuple[ParsedQuestion, list[Statement]]:
    told = read_history(history)
    asked = read_question(question, told.speakers)
    return asked, await bearing_statements(asked, told, None)


@pytest.mark.parametrize(
    ("question", "said", "expected"),
    [
        ("Does Bob like cats?", "I like cats", "Yes"),
        ("Does Bob like cats?", "I don't like cats", "No"),
        ("Does Bob not like cats?", "I don’t like cats", "Yes"),
        ("Would Bob likely keep cats?", "I like cats", "Likely yes"),
        ("Would Bob likely keep cats?", "I never want cats", "Likely no"),
    ],
)
async def test_yes_and_no(question: str, said: str, expected: str) -> None:
    assert verdict(*await read(question, f"Bob: {said}")) == expected


async def test_of_what_is_offered_that_which_is_spoken_of() -> None:
    asked, statements = await read("Would Bob rather have cats or big dogs?", "Bob: I love big dogs")
    assert await choice(asked, statements, None) == "big dogs"
    asked, statements = await read("Would Bob rather have big dogs or cats?", "Bob: I love dogs")
    assert await choice(asked, statements, None) == "dogs"


async def test_where_no_word_decides_meaning_does() -> None:
    asked, statements = await read("Is it cars or boats?", "Bob: cat\nBob: cars boats boats boats")
    assert await choice(asked, statements, HashingEmbedding()) == "boats"
    assert await choice(asked, statements, None) == "cars"


async def test_who_speaks_of_themselves() -> None:
    _, statements = await read("Who painted a lake?", "Bob: Nice!\nAmy: I painted a lake")
    assert speaker_answer(statements[0]) == "Amy"
    _, statements = await read("Who painted a lake?", "Amy: Tom painted a lake")
    assert speaker_answer(statements[0]) == ""


@pytest.mark.parametrize(
    ("question", "history", "expected"),
    [
        ("When did Amy run?", "(2023-05-08)Amy: I ran yesterday.", "7 May 2023"),
        ("When did Amy run?", "(2023-05-08)Amy: Yesterday was great. I ran.", "7 May 2023"),
        ("When did Amy run?", "(2023-05-08)Amy: I ran.", "8 May 2023"),
        ("Which year did Amy run?", "(2023-05-08)Amy: I ran last year.", "2022"),
        ("Which year did Amy run?", "(2023-05-08)Amy: I ran.", "2023"),
        ("When did Amy run?", "Amy: I ran.", ""),
        ("Which year did Amy run?", "Amy: I ran when I was young.", ""),
        ("When did Amy run?", "(2023-05-08)Amy: I swam today.\n(2023-06-08)Amy: I ran.", "8 June 2023"),
    ],
)
async def test_when(question: str, history: str, expected: str) -> None:
    assert moment_answer(*await read(question, history), read_history(history)) == expected
