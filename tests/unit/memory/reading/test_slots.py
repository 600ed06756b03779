"""What sentences say of slots, and what they must not be read to say: a wrong reading retires what still holds."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentic_rag.memory.reading.slots import slot_values

AT = datetime(2024, 5, 5, tzinfo=UTC)


def read(sentence: str) -> list[tuple[str, str, str, bool]]:
    """Of each: whose, which slot, which value, and whether it ends."""
    return [
        (one.subject or one.relation or "I", one.slot, one.value, one.ends)
        for one in slot_values(sentence, AT)
    ]


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("I live in Oslo.", [("I", "lives in", "Oslo", False)]),
        ("I moved from Oslo to Bergen.", [("I", "lives in", "Bergen", False), ("I", "lives in", "Oslo", True)]),
        ("I've moved back to Oslo", [("I", "lives in", "Oslo", False)]),
        ("We are based in Lund, Sweden", [("I", "lives in", "Lund", False)]),
        ("Alice moved to Bergen in March 2021.", [("Alice", "lives in", "Bergen", False)]),
        ("My sister moved to Rome", [("sister", "lives in", "Rome", False)]),
        ("I don't live in Oslo anymore.", [("I", "lives in", "Oslo", True)]),
        ("I no longer work at Equinor", [("I", "works at", "Equinor", True)]),
        ("I live in Oslo and work as a nurse", [("I", "lives in", "Oslo", False), ("I", "job", "nurse", False)]),
        ("I work as a nurse at St Mary's hospital", [("I", "job", "nurse", False)]),
        ("I started a new job at Google", [("I", "works at", "Google", False)]),
        ("I'm 33 years old and single", [("I", "age", "33", False)]),
        ("I got married", [("I", "marital status", "married", False)]),
        ("My favorite book is \"Dune\".", [("I", "favourite book", "Dune", False)]),
        ("Tom's favourite team is Arsenal", [("Tom", "favourite team", "Arsenal", False)]),
        ("The deadline for the thesis is now May 3", [("I", "deadline for thesis", "May 3", False)]),
        ("Our budget has been raised from 300 to 500 euros", [("I", "budget", "500 euros", False)]),
        ("my email is a.b@c.org", [("I", "e-mail", "a.b@c.org", False)]),
        ("My wife's name is Ana", [("I", "wife's name", "Ana", False)]),
        ("my wife is called Eva", [("I", "wife's name", "Eva", False)]),
        ("我住在上海", [("I", "lives in", "上海", False)]),
        ("我从北京搬到了上海", [("I", "lives in", "上海", False), ("I", "lives in", "北京", True)]),
        ("我不住在上海了", [("I", "lives in", "上海", True)]),
        ("我现在在腾讯工作", [("I", "works at", "腾讯", False)]),
        ("我不在腾讯工作了", [("I", "works at", "腾讯", True)]),
        ("我叫李雷", [("I", "name", "李雷", False)]),
        ("我今年30岁", [("I", "age", "30", False)]),
        ("我的邮箱是a@b.cn", [("I", "e-mail", "a@b.cn", False)]),
        ("我最喜欢的颜色是绿色", [("I", "favourite 颜色", "绿色", False)]),
        ("我的预算改成了500元", [("I", "budget", "500元", False)]),
        ("我是一名医生", [("I", "job", "医生", False)]),
        ("王芳搬到了杭州", [("王芳", "lives in", "杭州", False)]),
        ("我姐姐住在深圳", [("姐姐", "lives in", "深圳", False)]),
    ],
)  # fmt: skip
def test_slots_are_read(sentence: str, expected: list[object]):
    assert read(sentence) == expected


@pytest.mark.parametrize(
    "sentence",
    [
        "Do I live in Rome?", "If I moved to Rome I would work at Fiat.", "I might move to Rome", "I used to live in Rome.",
        "I am thinking of moving to Rome", "I'm planning to move to Rome in May", "I haven't moved to Rome", "I never lived in Rome",
        "He lives in Paris", "She said \"I live in Rome\"", "I want to work at Google", "I hope my budget is 500 euros", "I almost moved to Rome",
        "I would like to live in Paris", "I live in a small flat", "I work for a bank", "I am a runner", "I have two cats", "I like green tea",
        "My friend is nice", "My cat's name is Miso", "My brother's name is Tom", "My hobby is chess", "I speak French", "People live in Rome",
        "I'm married to my work", "The deadline is Friday", "My budget is not 500 euros", "I moved the box to Bergen street",
        "The cat lives in the barn", "It moved to London", "I wish I lived in Rome", "Where did I say I work?",
        "你住在哪里？", "他住在南京", "我打算搬到广州", "如果我搬到广州", "我想住在广州", "我喜欢绿茶", "我的猫叫咪咪吗？", "我可能搬到广州", "我以前住在广州",
    ],
)  # fmt: skip
def test_nothing_is_read_that_is_not_said(sentence: str):
    assert read(sentence) == []


@pytest.mark.parametrize(
    ("sentence", "since"),
    [
        ("I've been living in Berlin since March 2020", "2020-03-01"),
        ("I moved to Bergen last week.", "2024-04-28"),
        ("I moved to Bergen two years ago.", "2022-05-06"),
        ("去年我搬到了苏州", "2023-05-06"),
        ("I live in Oslo.", None),
        ("My deadline is March 3, 2025", None),
    ],
)
def test_since_when_it_holds(sentence: str, since: str | None):
    valid_at = slot_values(sentence, AT)[0].valid_at
    assert (None if valid_at is None else valid_at.date().isoformat()) == since


@given(st.text(max_size=200))
def test_any_text_is_taken(text: str):
    for one in slot_values(text, AT):
        assert one.slot
        assert one.value == one.value.strip()
