"""Likes and dislikes: each thing is a slot, so that a preference of the opposite sign supersedes."""

from __future__ import annotations

import pytest

from agentic_rag.memory.reading.schemas import LIKING
from agentic_rag.memory.reading.statements import statements
from agentic_rag.memory.schemas import MemoryType


def likings(text: str) -> list[tuple[str, str, str]]:
    """Person, thing and sign; an ended one with a minus."""
    return [
        (one.subject, one.slot.removeprefix(f"{LIKING} "), ("-" if one.ends else "") + (one.value or ""))
        for one in statements(text, speaker="Bo", at=None)
        if one.slot is not None and one.slot.startswith(LIKING) and one.memory_type is MemoryType.SEMANTIC
    ]


@pytest.mark.parametrize(
    ("text", "thing", "sign"),
    [
        ("I love Chinese food.", "Chinese food", "likes"),
        ("I really like the sea.", "sea", "likes"),
        ("I also enjoy drinking coffee, it wakes me up.", "coffee", "likes"),
        ("I'm a big fan of horror films.", "horror films", "likes"),
        ("I've come to love running.", "running", "likes"),
        ("Since 2023 I love jazz.", "jazz", "likes"),
        ("I fell in love with Lisbon last year.", "Lisbon", "likes"),
        ("I love sushi because it reminds me of home.", "sushi", "likes"),
        ("I hate Chinese food.", "Chinese food", "dislikes"),
        ("I don't like Chinese food any more.", "Chinese food", "dislikes"),
        ("I no longer enjoy running.", "running", "dislikes"),
        ("I can't stand horror films any more.", "horror films", "dislikes"),
        ("I'm not a fan of horror films anymore.", "horror films", "dislikes"),
        ("I stopped liking jazz in March 2024.", "jazz", "dislikes"),
        ("I've gone off coffee lately.", "coffee", "dislikes"),
        ("I've grown to hate winter.", "winter", "dislikes"),
        ("I'm not into jazz any longer.", "jazz", "dislikes"),
        ("I've lost interest in chess.", "chess", "dislikes"),
        ("I don't hate winter any more.", "winter", "-dislikes"),
        ("我喜欢川菜。", "川菜", "likes"),
        ("我从小就很喜欢喝咖啡。", "咖啡", "likes"),
        ("我爱上了爬山。", "爬山", "likes"),
        ("我对历史很感兴趣。", "历史", "likes"),
        ("我迷上了围棋。", "围棋", "likes"),
        ("我讨厌川菜。", "川菜", "dislikes"),
        ("我再也不喜欢川菜了。", "川菜", "dislikes"),
        ("我对足球失去了兴趣。", "足球", "dislikes"),
        ("我不喜欢川菜了。", "川菜", "dislikes"),
        ("我现在不太喜欢吃辣了。", "辣", "dislikes"),
        ("我受不了咖啡了。", "咖啡", "dislikes"),
        ("我喜欢喝茶。", "茶", "likes"),
        ("我爱吃酸。", "酸", "likes"),
        ("我不爱吃酸了。", "酸", "dislikes"),
        ("我不喜欢喝茶了。", "茶", "dislikes"),
        ("我对足球不感兴趣了。", "足球", "dislikes"),
        ("我不讨厌香菜了。", "香菜", "-dislikes"),
    ],
)
def test_what_is_liked_and_what_is_not(text: str, thing: str, sign: str) -> None:
    assert likings(text) == [("Bo", thing, sign)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I used to love sushi, but now I can't stand it.", [("Bo", "sushi", "dislikes")]),
        ("I used to love mushrooms. Now I hate them.", [("Bo", "mushrooms", "dislikes")]),
        ("我以前喜欢川菜，现在不喜欢了。", [("Bo", "川菜", "dislikes")]),
        ("I love sushi and hate ramen.", [("Bo", "sushi", "likes"), ("Bo", "ramen", "dislikes")]),
        ("My sister doesn't like jazz now.", [("Bo's sister", "jazz", "dislikes")]),
        ("我姐姐喜欢爵士乐。", [("Bo的姐姐", "爵士乐", "likes")]),
    ],
)  # fmt: skip
def test_a_thing_may_be_named_before_and_a_person_may_be_another(
    text: str, expected: list[tuple[str, str, str]]
) -> None:
    assert likings(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "I love you.",
        "I love to.",
        "Unconditional love is so important.",
        "I used to love hiking, but it's been a while since I had the chance.",
        "我以前喜欢川菜。",
        "I hate it.",
        "I like the idea.",
        "I like how you say that.",
        "I like tea more than coffee.",
        "I don't like coffee as much as tea.",
        "I hate coffee when it is cold.",
        "I love it when it rains.",
        "I like sushi, ramen and pizza.",
        "I would love to go to Rome.",
        "I'd like a coffee.",
        "I loved Paris.",
        "I think I love coffee.",
        "Do I like coffee?",
        "If I hated coffee, I would say so.",
        "我爱人在上海工作。",
        "我喜欢你。",
        "如果我喜欢川菜，我会说。",
        "我最喜欢的颜色是绿色。",
    ],
)
def test_what_is_no_liking_of_one_thing(text: str) -> None:
    assert likings(text) == []
