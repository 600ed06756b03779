from __future__ import annotations

from collections.abc import Sequence

import pytest

from agentic_rag.domain.ports import Embedding, FloatArray
from agentic_rag.errors import ModelError
from agentic_rag.models.bundled import BundledEmbedding
from agentic_rag.testing import HashingEmbedding
from agentic_rag_lab.designs.reading import NOT_MENTIONED, ExtractiveReader
from agentic_rag_lab.designs.reading.extractive import RememberedEmbedding, choice, speaker_answer, verdict
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
    (TALK, "Who painted a sunrise?", "Melanie"),
    (TALK, "Would Caroline rather go to a support group or a bar?", "support group"),
    (HAN, "小明在哪里工作？", "谷歌"),
    (HAN, "小明住在哪里？", "北京"),
    (HAN, "小红喜欢什么？", "打羽毛球"),
    (HAN, "小红什么时候去了公园？", "2024年3月4日"),
    ("", "Where?", NOT_MENTIONED),
    (HEAD, "", NOT_MENTIONED),
    (TALK, "", NOT_MENTIONED),
    (TALK, "?!", NOT_MENTIONED),
]


@pytest.mark.parametrize("embedding", [None, BundledEmbedding()], ids=["by words", "by meaning too"])
@pytest.mark.parametrize(("history", "question", "answer"), READS)
async def test_reads(history: str, question: str, answer: str, embedding: Embedding | None) -> None:
    assert await ExtractiveReader(embedding).read(question, history) == answer


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
    answer = await ExtractiveReader(HashingEmbedding()).read("What is broken, Bob?", history)
    assert answer


async def test_the_same_question_gets_the_same_answer() -> None:
    readers = [ExtractiveReader(HashingEmbedding()), ExtractiveReader(HashingEmbedding())]
    asked = [question for _, question, _ in READS]
    first = [await readers[0].read(question, TALK) for question in asked]
    # Another reader, another order: nothing that was read before may matter.
    second = [await readers[1].read(question, TALK) for question in reversed(asked)]
    assert first == second[::-1]


async def test_a_sentence_is_embedded_once() -> None:
    embedding = HashingEmbedding()
    reader = ExtractiveReader(embedding)
    await reader.read("What did Melanie paint?", TALK)
    once = len(embedding.embedded_texts)
    await reader.read("What did Caroline say?", TALK)
    assert len(embedding.embedded_texts) == once + 1


async def test_remembered_vectors_are_the_same() -> None:
    plain, remembered = HashingEmbedding(), RememberedEmbedding(HashingEmbedding())
    texts = ["one", "two", "one"]
    await remembered.embed_passages(["two"])
    assert (await remembered.embed_passages(texts) == await plain.embed_passages(texts)).all()
    assert (await remembered.embed_passages([])).shape == (0, plain.dimension)
    assert (remembered.name, remembered.dimension) == (plain.name, plain.dimension)
    assert isinstance(remembered, Embedding)


class Broken(HashingEmbedding):
    """Fails for every passage."""

    async def embed_passages(self, texts: Sequence[str]) -> FloatArray:
        raise ModelError("no model")


async def test_an_embedding_that_fails_is_an_error() -> None:
    with pytest.raises(ModelError, match="no model"):
        await ExtractiveReader(Broken()).read("What did Melanie paint?", TALK)


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
