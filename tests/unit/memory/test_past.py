"""Questions about the past: the time that they ask about, and the facts that held then, before all others."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from agentic_rag.memory.memories import Memories
from agentic_rag.memory.named_slots import names_slot
from agentic_rag.memory.past import PastTime, asked_past
from agentic_rag.memory.records import MemoryRecord
from agentic_rag.memory.schemas import MemoryType
from user_memories import opened

NOW = datetime(2026, 5, 10, tzinfo=UTC)
MESSAGES = (
    ("I live in Oslo.", "2021-02-01"),
    ("I work at Telnorix.", "2021-03-01"),
    ("I love sushi.", "2021-05-05"),
    ("I moved to Bergen.", "2023-04-10"),
    ("I can't stand sushi any more.", "2024-02-02"),
    ("I moved to Porto on 5 November 2024.", "2024-12-01"),
    ("I no longer work at Telnorix.", "2025-05-05"),
)


@pytest.mark.parametrize(
    ("question", "start", "end", "over"),
    [
        ("Where did I live before?", None, "2026-05-10", True),
        ("Where did I use to live?", None, "2026-05-10", True),
        ("Who was my previous employer?", None, "2026-05-10", True),
        ("以前住哪", None, "2026-05-10", True),
        ("我之前在哪工作？", None, "2026-05-10", True),
        ("Where did I live in 2024?", "2024-01-01", "2025-01-01", False),
        ("Where did I live in March 2024?", "2024-03-01", "2024-04-01", False),
        ("Where did I live before 2024?", None, "2024-01-01", False),
        ("Where did I live last year?", "2025-01-01", "2026-01-01", False),
        ("Where did I live this year?", "2026-01-01", "2026-05-10", False),
        ("我2024年住在哪里？", "2024-01-01", "2025-01-01", False),
        ("我去年住在哪里？", "2025-01-01", "2026-01-01", False),
        ("When did I stop working at Telnorix?", None, "2026-05-10", True),
        ("我什么时候不喜欢川菜了？", None, "2026-05-10", True),
        ("When did I move to Bergen?", None, "2026-05-10", False),
        ("Have I ever lived in Oslo?", None, "2026-05-10", False),
        ("Which town did I move away from?", None, "2026-05-10", True),
        ("我是哪一年离开奥斯陆的？", None, "2026-05-10", True),
    ],
)
def test_the_time_that_a_question_asks_about(question: str, start: str | None, end: str, over: bool) -> None:
    past = asked_past(question, NOW)
    assert past is not None
    assert (past.start and past.start.date().isoformat(), past.end.date().isoformat(), past.over) == (
        start,
        end,
        over,
    )


@pytest.mark.parametrize(
    "question",
    [
        "Where do I live?",
        "Do I like sushi?",
        "What should I do before I leave the house?",
        "What is my deadline in 2027?",
        "What is on my list this year?",
        "我住在哪里？",
        "出门之前要做什么？",
    ],
)
def test_what_asks_of_no_past(question: str) -> None:
    assert asked_past(question, NOW) is None


@pytest.mark.parametrize(
    ("valid_at", "invalid_at", "covered"),
    [(None, 2022, False), (2020, 2024, True), (2023, None, True), (2024, None, False), (2023, 2023, False)],
)
def test_a_fact_is_asked_for_if_it_held_at_some_time_within(
    valid_at: int | None, invalid_at: int | None, covered: bool
) -> None:
    begins, ends = (
        None if year is None else datetime(year, 1, 1, tzinfo=UTC) for year in (valid_at, invalid_at)
    )
    fact = MemoryRecord("fact", MemoryType.SEMANTIC, "", valid_at=begins, invalid_at=ends)
    within = PastTime(datetime(2023, 1, 1, tzinfo=UTC), datetime(2024, 1, 1, tzinfo=UTC), False, "")
    assert within.covers(fact) is covered


@pytest.fixture
async def memories() -> Memories:
    made = opened()
    for text, at in MESSAGES:
        await made.remember(text, "ada", at=at)
    return made


@pytest.mark.parametrize(
    ("question", "content", "until"),
    [
        ("Where did I live before?", "I moved to Bergen", "2024-11-05"),
        ("Where did I live before Bergen?", "I live in Oslo", "2023-04-10"),
        ("Where did I live in 2022?", "I live in Oslo", "2023-04-10"),
        ("Where did I live in 2024?", "I moved to Bergen", "2024-11-05"),
        ("When did I stop working at Telnorix?", "I work at Telnorix", "2025-05-05"),
        ("When did I leave Oslo?", "I live in Oslo", "2023-04-10"),
        ("Did I like sushi in 2022?", "I love sushi", "2024-02-02"),
        ("Where do I live?", "I moved to Porto on 5 November 2024", None),
    ],
)
async def test_the_fact_that_held_then_comes_first(
    memories: Memories, question: str, content: str, until: str | None
) -> None:
    first = (await memories.search(question, "ada")).memories[0]
    assert (first.content, (first.metadata.get("invalid_at") or "")[:10] or None) == (content, until)


async def test_what_was_known_as_of_an_earlier_time(memories: Memories) -> None:
    found = await memories.search("Where did I live before?", "ada", context={"as_of": "2024-01-01"})
    assert found.memories[0].content == "I live in Oslo"
    assert "Porto" not in " ".join(one.content for one in found.memories)


@pytest.mark.parametrize("piece", ["哪天", "when did I ", "之前要"])
def test_a_long_text_asks_of_no_past(piece: str) -> None:
    assert asked_past(piece * 10_000, datetime(2026, 1, 1, tzinfo=UTC)) is None


@pytest.mark.parametrize(
    ("question", "first"),
    [
        # The town that it names is nearer to another message than to the fact.
        ("Where was I living before I moved to Porto?", "I moved to Bergen (2023-04-10 to 2024-11-05)"),
        ("Which town did I move away from?", "I moved to Bergen (2023-04-10 to 2024-11-05)"),
        ("Where did I work in 2022?", "I work at Telnorix (2021-03-01 to 2025-05-05)"),
        ("Where did I live last year?", "I moved to Porto on 5 November 2024 (since 2024-11-05)"),
        ("When did I go off sushi?", "I love sushi (2021-05-05 to 2024-02-02)"),
    ],
)
async def test_what_held_then_settles_a_question_about_it(
    memories: Memories, question: str, first: str
) -> None:
    found = await memories.find("ada", question, limit=5, as_of=NOW)
    assert found.question.get("settles")
    assert found.hits[0]["content"] == first
    assert all(hit["score"] <= found.hits[0]["score"] for hit in found.hits)


async def test_a_living_is_no_place(memories: Memories) -> None:
    assert names_slot("What did I do for a living in 2022?", "job")
    assert not names_slot("What did I do for a living in 2022?", "lives in")
    found = await memories.find("ada", "When did I visit Bergen?", limit=5, as_of=NOW)
    assert not found.question.get("settles")
