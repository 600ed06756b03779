"""Splitting what is too long: the levels in turn, even parts, and clusters kept whole."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_rag.domain import BlockKind
from agentic_rag.ingest.splitting import split_span


def by_characters(texts: Sequence[str]) -> list[int]:
    return [len(text) for text in texts]


def split(text: str, kind: BlockKind = "paragraph", *, limit: int = 20, target: int = 20) -> list[str]:
    spans = split_span(text, 0, len(text), kind, limit=limit, target=target, count_tokens=by_characters)
    assert "".join(text[start:end] for start, end, _ in spans) == text
    return [text[start:end] for start, end, _ in spans]


def test_sentences_first_then_clauses_and_words() -> None:
    assert split("One two three. Four five six. Seven.") == ["One two three. ", "Four five six. ", "Seven."]
    assert split("alpha beta gamma delta epsilon") == ["alpha beta gamma ", "delta epsilon"]
    assert split("他喜欢喝绿茶和红茶，也喜欢喝咖啡和果汁，天天如此") == [
        "他喜欢喝绿茶和红茶，",
        "也喜欢喝咖啡和果汁，天天如此",
    ]


def test_lines_first_in_code() -> None:
    assert split("a = 1. b\nc = 2\n\nd = 3. e\n", "code", limit=16) == ["a = 1. b\nc = 2\n\n", "d = 3. e\n"]


def test_parts_are_about_equal() -> None:
    parts = split("word " * 30, limit=100, target=70)
    assert [len(part) for part in parts] == [75, 75]


def test_clusters_stay_whole_while_they_fit() -> None:
    assert not any(part.startswith("\u0301") for part in split("e\u0301" * 10, limit=5, target=5))
    assert all(part[-1] != "\ud83d" for part in split("\ud83d\ude00" * 20, limit=3, target=3))


@pytest.mark.parametrize("text", ["a" + "\u0301" * 500, "\u200d" * 300])
def test_an_endless_cluster_still_obeys_the_limit(text: str) -> None:
    assert max(len(part) for part in split(text)) <= 20


def test_a_single_character_above_the_limit_stays() -> None:
    spans = split_span(
        "茶茶", 0, 2, "paragraph", limit=1, target=1, count_tokens=lambda texts: [3 * len(t) for t in texts]
    )
    assert [(start, end) for start, end, _ in spans] == [(0, 1), (1, 2)]


@given(
    st.text(max_size=200),
    st.integers(1, 30),
    st.integers(1, 30),
    st.sampled_from(["code", "paragraph", "turn"]),
)
def test_any_text_is_partitioned_within_the_limit(
    text: str, limit: int, target: int, kind: BlockKind
) -> None:
    if text:
        assert max(len(part) for part in split(text, kind, limit=limit, target=min(limit, target))) <= limit
