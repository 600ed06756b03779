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
from word_counts import count_words


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


async def test_a_line_keeps_its_date_and_speaker_and_its_sources():
    text = (
        "(2023-08-01)Alice: It rained all day. I work at Google. I bought a hat.\n"
        "(2023-08-01)Bob: What a great company! My cat is ill."
    )
    found, record = await compressed([text], "Where does Alice work?", 6)
    assert found == ["(2023-08-01)Alice: I work at Google."]
    assert (record["before"], record["after"]) == (1, 1)


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


GOOGLE = "I had tea. The weather was fine. Alice works at Google. We walked home. She likes Google."
TEAS = ["(2023-08-01)Bob: I like tea.", "(2023-08-01)Alice: I like tea."]
NO_WORD = "no sentence shares a word with the question; the first ones stay"


@pytest.mark.parametrize(
    ("texts", "question", "most", "kept", "reason"),
    [
        (["One two.  Three.\n", "Four."], "five?", 4, ["One two.  Three.\n", "Four."], None),
        ([GOOGLE], "Does Alice like Google?", 8, ["Alice works at Google. … She likes Google."], None),
        ([GOOGLE], "Does Alice like Google?", 4, ["Alice works at Google."], None),
        (TEAS, "What does Alice like?", 4, TEAS[1:], None),
        (["Tea here.  Tea there! No more of it."], "tea", 4, ["Tea here.  Tea there!"], None),
        (["Alice sings.", "Alice reads.", "Alice runs.", "Kyoto shines."], "Was Alice in Kyoto?", 2,
         ["Kyoto shines."], None),
        (["Tea is hot.", "The cat slept."], "tea", 3, ["Tea is hot."], None),
        ([memory("One. Two.", "a", 0.1), memory("Three. Four.", "b", 0.9)], "zebra", 3,
         ["One.", "Three. Four."], NO_WORD),
        (["one two three."], "one", 2, [], "no sentence fits compress_max_tokens 2"),
        ([], "tea", 1, [], None),
    ],
    ids=["fits", "two of five", "one of five", "speaker", "neighbours", "rare word", "nothing left of one",
         "no shared word", "no sentence fits", "nothing"],
)  # fmt: skip
async def test_sentences_that_share_most_with_the_question_stay_in_their_order(
    texts: list[Any], question: str, most: int, kept: list[str], reason: str | None
):
    found, record = await compressed(texts, question, most)
    assert found == kept
    assert (record["status"], record["reason"]) == ("degraded" if reason else "ok", reason)
    assert (record["before"], record["after"]) == (len(texts), len(kept))


@settings(max_examples=60)
@given(
    texts=st.lists(st.text(alphabet="ab 茶水。.!\n(2)A: ", max_size=60), max_size=4), most=st.integers(1, 40)
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
