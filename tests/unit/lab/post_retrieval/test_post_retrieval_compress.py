"""Action compress: whole sentences within real tokens, in their order, with their metadata."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentic_rag.models.bundled import count_tokens_batch
from agentic_rag_lab.designs.post_retrieval import PostRetrieval, PostRetrievalTools, parse_steps
from agentic_rag_lab.designs.post_retrieval.compress import shorten
from agentic_rag_lab.designs.post_retrieval.items import read_memories
from growth import assert_linear


def count_words(texts: Sequence[str]) -> list[int]:
    return [len(text.split()) for text in texts]


def count_words_and_gaps(texts: Sequence[str]) -> list[int]:
    """A quarter of the characters, and what stands in a gap much more than that."""
    return [len(text) // 4 + 3 * text.count("…") for text in texts]


def memory(text: str, entry_id: str = "", score: float | None = None) -> dict[str, Any]:
    return {"text": text, "entry_id": entry_id, "score": score, "metadata": {"sources": [[1, 0, 2]]}}


async def compressed(
    texts: Sequence[str | dict[str, Any]],
    question: str,
    most: int,
    *,
    count: Callable[[Sequence[str]], list[int]] = count_words,
) -> tuple[list[str], dict[str, Any]]:
    steps = parse_steps({"action": "compress", "compress_type": "extractive", "compress_max_tokens": most})
    memories = [memory(text) if isinstance(text, str) else text for text in texts]
    written = await PostRetrieval(steps, PostRetrievalTools(None, None, None, count)).execute(
        {"question": question, "memory_data": memories}
    )
    assert all(one["metadata"] == {"sources": [[1, 0, 2]]} for one in written["memory_data"])
    return [one["text"] for one in written["memory_data"]], written["post_retrieval"][0]


async def test_what_fits_stays_as_it_is():
    texts = ["One two.  Three.\n", "Four."]
    found, record = await compressed(texts, "five?", 4)
    assert found == texts
    assert (record["status"], record["reason"]) == ("ok", None)


async def test_sentences_that_share_most_stay_in_their_order():
    text = "I had tea. The weather was fine. Alice works at Google. We walked home. She likes Google."
    assert (await compressed([text], "Does Alice like Google?", 8))[0] == [
        "Alice works at Google. … She likes Google."
    ]
    assert (await compressed([text], "Does Alice like Google?", 4))[0] == ["Alice works at Google."]


async def test_a_line_keeps_its_date_and_speaker_and_its_sources():
    text = (
        "(2023-08-01)Alice: It rained all day. I work at Google. I bought a hat.\n"
        "(2023-08-01)Bob: What a great company! My cat is ill."
    )
    found, record = await compressed([text], "Where does Alice work?", 6)
    assert found == ["(2023-08-01)Alice: I work at Google."]
    assert (record["before"], record["after"]) == (1, 1)


async def test_the_speaker_counts_among_the_words_of_a_sentence():
    texts = ["(2023-08-01)Bob: I like tea.", "(2023-08-01)Alice: I like tea."]
    assert (await compressed(texts, "What does Alice like?", 4))[0] == ["(2023-08-01)Alice: I like tea."]


async def test_neighbouring_sentences_keep_what_stands_between_them():
    assert (await compressed(["Tea here.  Tea there! No more of it."], "tea", 4))[0] == [
        "Tea here.  Tea there!"
    ]


async def test_rare_words_count_more():
    texts = ["Alice sings.", "Alice reads.", "Alice runs.", "Kyoto shines."]
    assert (await compressed(texts, "Was Alice in Kyoto?", 2))[0] == ["Kyoto shines."]


async def test_chinese_sentences_are_whole_and_within_real_tokens():
    text = "今天天气很好。我在谷歌工作,做搜索。晚饭吃了面条!她喜欢喝龙井茶。我们走路回家。"
    budget = count_tokens_batch(["我在谷歌工作,做搜索。"])[0]
    found, record = await compressed([text], "她在谷歌做什么工作?", budget, count=count_tokens_batch)
    assert found == ["我在谷歌工作,做搜索。"]
    assert record["status"] == "ok"
    both = "我在谷歌工作,做搜索。 … 她喜欢喝龙井茶。"
    (enough,) = count_tokens_batch([both])
    question = "她喜欢喝什么茶?在谷歌工作吗?"
    assert (await compressed([text], question, enough, count=count_tokens_batch))[0] == [both]
    (less,) = (await compressed([text], question, enough - 1, count=count_tokens_batch))[0]
    assert count_tokens_batch([less])[0] < enough


async def test_a_memory_that_nothing_is_left_of_is_left_out():
    found, record = await compressed(["Tea is hot.", "The cat slept."], "tea", 3)
    assert found == ["Tea is hot."]
    assert (record["before"], record["after"]) == (2, 1)


async def test_without_a_shared_word_the_best_memories_first_sentences_stay():
    texts = [memory("One. Two.", "a", 0.1), memory("Three. Four.", "b", 0.9)]
    found, record = await compressed(texts, "zebra", 3)
    assert found == ["One.", "Three. Four."]
    assert record["status"] == "degraded"
    assert record["reason"] == "no sentence shares a word with the question; the first ones stay"


async def test_where_no_sentence_fits_nothing_stays_and_that_is_told():
    found, record = await compressed(["one two three."], "one", 2)
    assert found == []
    assert record["status"] == "degraded"
    assert record["reason"] == "no sentence fits compress_max_tokens 2"


async def test_nothing_stays_nothing():
    assert (await compressed([], "tea", 1))[0] == []


@settings(max_examples=60, deadline=None)
@given(
    texts=st.lists(st.text(alphabet="ab 茶水。.!\n(2)A: ", max_size=60), max_size=4),
    most=st.integers(1, 40),
)
async def test_the_limit_holds_in_real_tokens_and_nothing_is_invented(texts: list[str], most: int):
    found, _ = await compressed(texts, "a 茶?", most, count=count_tokens_batch)
    assert sum(count_tokens_batch(found)) <= most
    whole = "".join(texts)
    for text in found:
        for line in text.split("\n"):
            for part in line.split(" … "):
                assert part in whole or all(word in whole for word in part.split())


@pytest.mark.parametrize(
    "piece",
    ["(2023-08-01)Alice: Some tea here. And more there.\n", "Some tea here. And more there. ", "茶很好。"],
)
def test_a_long_memory_takes_time_that_grows_with_its_length(piece: str):
    def work(text: str) -> None:
        kept = shorten(
            read_memories([{"text": text}]), "Which tea 茶?", len(text) // 10, count_words_and_gaps
        )
        assert kept.items

    assert_linear(work, piece)
