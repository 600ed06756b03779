"""Memories of post-retrieval: times, order, templates, turns, parallel questions."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_rag.errors import StoreError
from agentic_rag_lab.designs.post_retrieval.config import check_template, fill_template
from agentic_rag_lab.designs.post_retrieval.items import (
    MemoryLine,
    as_memories,
    best_first,
    kept_best,
    lines_of,
    moment_of,
    read_memories,
    turns_of,
)
from agentic_rag_lab.designs.post_retrieval.tools import PARALLEL, answers


@pytest.mark.parametrize(
    ("written", "moment"),
    [
        ("2023-08-01", datetime(2023, 8, 1, tzinfo=UTC)),
        (" 2023-08-01 ", datetime(2023, 8, 1, tzinfo=UTC)),
        ("20230801", datetime(2023, 8, 1, tzinfo=UTC)),
        ("2023-08-01T10:30", datetime(2023, 8, 1, 10, 30, tzinfo=UTC)),
        ("2023-08-01T10:30:00Z", datetime(2023, 8, 1, 10, 30, tzinfo=UTC)),
        ("2023-08-01T10:30:00+08:00", datetime(2023, 8, 1, 2, 30, tzinfo=UTC)),
    ],
)
def test_iso_dates_and_times_are_read_in_utc(written: str, moment: datetime):
    assert moment_of(written) == moment


@pytest.mark.parametrize(
    "written",
    ["", "1:56 pm on 8 May, 2023", "2023-13-01", "0001-01-01T00:00:00+08:00", 1690848000, None, True],
)
def test_what_is_no_iso_date_is_no_time(written: Any):
    assert moment_of(written) is None


@given(st.text(max_size=30))
def test_any_text_can_be_asked_for_its_time(text: str):
    moment = moment_of(text)
    assert moment is None or moment.tzinfo is UTC


def ids(items: Any) -> list[str]:
    return [item.entry_id for item in items]


def test_best_is_by_score_then_id_and_an_unscored_one_stands_in_the_middle():
    items = read_memories(
        [
            {"text": "", "entry_id": name, "score": score}
            for name, score in [("low", 0.1), ("b", 0.9), ("none", None), ("a", 0.9), ("zero", 0)]
        ]
    )
    assert ids(best_first(items)) == ["a", "b", "none", "low", "zero"]
    assert ids(kept_best(items, 2)) == ["b", "a"]


def test_where_nothing_is_ranked_the_newest_is_best():
    items = read_memories([{"text": "", "entry_id": name} for name in ("oldest", "newer", "newest")])
    assert ids(kept_best(items, 2)) == ["newer", "newest"]


def test_an_embedding_may_stand_in_the_metadata():
    (item,) = read_memories([{"text": "", "metadata": {"embedding": [1, 0]}}])
    assert item.embedding == (1.0, 0.0)
    assert as_memories([item]) == [
        {"text": "", "metadata": {"embedding": [1, 0]}, "entry_id": "", "score": None}
    ]


def test_a_template_is_filled_once_and_braces_can_be_written():
    assert fill_template(check_template("{{{a}}}: {b}", ("a", "b")), {"a": "{b}", "b": "x"}) == "{{b}}: x"


async def test_answers_come_in_the_order_of_the_questions_a_few_at_a_time():
    under_way, most = 0, 0

    async def ask(number: int) -> int:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        await asyncio.sleep(0.001 * (number % 3))
        under_way -= 1
        return -number

    assert await answers(ask, range(30)) == [-number for number in range(30)]
    assert most == PARALLEL


async def test_a_failure_ends_what_is_still_under_way():
    ended = []

    async def ask(number: int) -> int:
        if number == 0:
            raise StoreError("broken")
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            ended.append(number)
            raise
        return number

    with pytest.raises(StoreError, match="broken"):
        await answers(ask, [1, 2, 0])
    await asyncio.sleep(0)
    assert sorted(ended) == [1, 2]


@pytest.mark.parametrize(
    ("text", "turns"),
    [
        (
            "(2023-08-01)Alice: Hello\n(2023-08-01)Bob: Hi: you",
            [("Hello", "Alice", "2023-08-01"), ("Hi: you", "Bob", "2023-08-01")],
        ),
        ("()Alice: hi", [("hi", "Alice", "")]),
        ("(next week)Alice: hi", [("hi", "Alice", "next week")]),
        ("(2023-08-01)Alice B. : hi ", [("hi", "Alice B.", "2023-08-01")]),
        ("(2023-08-01)Alice: a\rb", [("a\rb", "Alice", "2023-08-01")]),
        *(
            (text, [(text, "", "")])
            for text in (
                "Alice works at Google",
                "Alice: hi",
                "(aside) see: this",
                "(see)http://x.org",
                "(2023-08-01)Alice:",
                "(2023-08-01)" + "a" * 61 + ": hi",
            )
        ),
        ("", []),
        (" \n\t\n ", []),
    ],
)
def test_what_is_a_turn_of_somebody(text: str, turns: list[tuple[str, str, str]]) -> None:
    assert [(line.text, line.speaker, line.date) for line in turns_of(text)] == turns


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
