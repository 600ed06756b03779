from __future__ import annotations

import pytest

from agentic_rag_lab.designs.reading import NOT_MENTIONED, ExtractiveReader
from agentic_rag_lab.designs.reading.extractive import verdict
from agentic_rag_lab.designs.reading.history import read_history
from agentic_rag_lab.designs.reading.questions import ParsedQuestion, read_question
from agentic_rag_lab.designs.reading.statements import Statement, bearing_statements

HEAD = "The following is some history information.\n"
STM = (
    HEAD + "(2023-08-01)Alice: I work at Google\n"
    "(2023-08-01)Bob: That's a great company!\n(2023-08-01)Alice: Yes, I love it there"
)
TIM = HEAD + "Alice works at Google\nBob lives in New York"
TALK = (
    "(2023-05-08)Caroline: I went to a LGBTQ support group yesterday and it was so powerful.\n"
    "(2023-05-08)Melanie: Wow, that's great! I painted a lake sunrise last year."
)
HAN = "(2024-03-05)小明: 我在谷歌工作，住在北京。\n(2024-03-05)小红: 我喜欢打羽毛球，昨天去了公园。"
READS = [
    (STM, "Where does Alice work?", "Google"),
    (STM, "Where does Bob work?", NOT_MENTIONED),
    (TIM, "Where does Alice work?", "Google"),
    (TIM, "Where does Bob live?", "New York"),
    (
        TALK,
        "What did Caroline do with a support group?",
        "went to a LGBTQ support group yesterday and it was so powerful",
    ),
    (TIM, "Where does Carol work?", NOT_MENTIONED),
    (TIM, "What does Alice eat for breakfast?", NOT_MENTIONED),
    (TALK, "When did Caroline go to the LGBTQ support group?", "7 May 2023"),
    (TALK, "When did Melanie paint a sunrise?", "2022"),
    (TALK, "What did Caroline paint?", NOT_MENTIONED),
    (HAN, "小明在哪里工作？", "谷歌"),
    (HAN, "小明住在哪里？", "北京"),
    (HAN, "小红喜欢什么？", "打羽毛球"),
    (HAN, "小红什么时候去了公园？", "2024年3月4日"),
    ("", "Where?", NOT_MENTIONED),
    (HEAD, "", NOT_MENTIONED),
    (TALK, "", NOT_MENTIONED),
    (TALK, "?!", NOT_MENTIONED),
]


@pytest.mark.parametrize(("history", "question", "answer"), READS)
async def test_reads(history: str, question: str, answer: str) -> None:
    assert await ExtractiveReader().read(question, history) == answer


@pytest.mark.parametrize(
    "history",
    [
        "x" * 20_000,
        "(2023-05-08)Bob: \ud800 broken",
        "🙂" * 500,
        "<a><b>",
        "Bob:\n" * 300,
        "(" * 3000,
        "a b " * 5000,
    ],
)
async def test_odd_histories_are_read(history: str) -> None:
    answer = await ExtractiveReader().read("What is broken, Bob?", history)
    assert answer


async def test_the_same_question_gets_the_same_answer() -> None:
    readers = [ExtractiveReader(), ExtractiveReader()]
    asked = [question for _, question, _ in READS]
    first = [await readers[0].read(question, TALK) for question in asked]
    # Another reader, another order: nothing that was read before may matter.
    second = [await readers[1].read(question, TALK) for question in reversed(asked)]
    assert first == second[::-1]


def read(question: str, history: str) -> tuple[ParsedQuestion, list[Statement]]:
    told = read_history(history)
    asked = read_question(question, told.speakers)
    return asked, bearing_statements(asked, told)


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
def test_yes_and_no(question: str, said: str, expected: str) -> None:
    assert verdict(*read(question, f"Bob: {said}")) == expected
