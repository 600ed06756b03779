"""PostInsert: near-duplicates become one memory, old memories fade; both only with a memory that can delete."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

import pytest

from agentic_rag.domain.ports import FloatArray
from agentic_rag.errors import ConfigError
from agentic_rag_lab.designs.data_parser import DataParser
from agentic_rag_lab.designs.memory import Memory
from agentic_rag_lab.designs.operators import NoAction, forgetting, parse_action
from agentic_rag_lab.designs.operators.forgetting import (
    Forgetter,
    Forgetting,
    retention,
    word_overlap,
    wording,
)
from agentic_rag_lab.designs.operators.memory_insert import MemoryInsert
from agentic_rag_lab.designs.operators.post_insert import NO_DATE, POST_INSERT, PostInsert

REFACTORED = DataParser("to_refactor")


class Keeps:
    """A memory that keeps everything and finds by shared count_words, or ranks nothing; it cannot delete."""

    def __init__(self, *, ranked: bool = True) -> None:
        self.held: dict[str, Memory] = {}
        self.ranked = ranked
        self.made = 0

    async def insert(
        self, text: str, vector: FloatArray | None = None, metadata: Mapping[str, Any] | None = None
    ) -> str | None:
        self.made += 1
        entry_id = f"m{self.made:08}"
        told = None if metadata is None else dict(metadata)
        self.held[entry_id] = Memory(text=text, metadata=told, entry_id=entry_id, score=None)
        return entry_id

    async def retrieve(
        self,
        query: str | None = None,
        vector: FloatArray | None = None,
        metadata: Mapping[str, Any] | None = None,
        *,
        top_k: int | None = None,
    ) -> list[Memory]:
        if not self.ranked:
            return list(self.held.values())[-top_k if top_k else 0 :]
        scored = [
            Memory(**{**held, "score": word_overlap(wording(held["text"]), wording(query or ""))})
            for held in self.held.values()
        ]  # type: ignore[typeddict-item]
        return sorted(scored, key=lambda memory: (-(memory["score"] or 0.0), memory["entry_id"]))[:top_k]


class Forgets(Keeps):
    """The same, and it can delete."""

    async def delete(self, entry_id: str) -> bool:
        return self.held.pop(entry_id, None) is not None

    def texts(self) -> list[str]:
        return [memory["text"] for memory in self.held.values()]


class Line:
    """Puts packets of one statement each into a memory, as the insert graph does."""

    def __init__(self, service: Keeps, values: Mapping[str, Any]) -> None:
        self.insert = MemoryInsert(REFACTORED, service)
        self.tidy = PostInsert(parse_action("post_insert", POST_INSERT, values), service, REFACTORED)
        self.packets = 0

    async def say(self, *texts: str, date: str = "2023-08-01", **metadata: Any) -> dict[str, Any]:
        data: dict[str, Any] = {
            "session_id": 1,
            "dialog_id": 2 * self.packets,
            "dialogs": [{"speaker": "Alice", "text": "…", "date_time": date}],
            "dialog_len": 1,
            "entries": [{"refactor": text, "metadata": metadata} for text in texts],
        }
        self.packets += 1
        data |= await self.insert.execute(data)
        written = await self.tidy.execute(data)
        assert json.loads(json.dumps(written)) == written
        return dict(written["post_insert"])


async def test_none_adds_nothing() -> None:
    assert await PostInsert(NoAction(), Keeps(), REFACTORED).execute({"entries": []}) == {}


def test_a_memory_that_cannot_delete() -> None:
    with pytest.raises(ConfigError, match="forgetting needs a memory that can delete, and Keeps cannot"):
        PostInsert(Forgetting(), Keeps(), REFACTORED)


def test_overlap_looks_past_the_date_of_a_line() -> None:
    for one, other, overlap in (
        ("(2023-05-08)Ann: I like tea", "(2023-06-09)Ann: I like tea", 1.0),
        ("", "", 1.0),
        ("👍", "👍", 1.0),
        ("👍", "👎", 0.0),
        ("I like tea", "I do not like tea", 0.0),
        ("Ann paid 5", "Ann paid 6", 0.0),
    ):
        assert word_overlap(wording(one), wording(other)) == overlap, (one, other)


# Forgetting


def test_retention_by_hand() -> None:
    assert retention(0, 1) == 1.0
    assert retention(90, 1) == math.exp(-1)
    assert retention(90, 2) == math.exp(-1 / 2)
    assert retention(90, 1, strength_days=30) == math.exp(-3)
    assert retention(90, 1, importance=1) == math.exp(-1 / 2)
    assert retention(-5, 1) == 1.0


FAST = {"action": "forgetting", "strength_days": 10, "retention_threshold": 0.3}
"""Forgotten after 10 · ln(1 / 0.3) = 12.04 days."""


async def test_old_memories_fade() -> None:
    service = Forgets()
    line = Line(service, FAST)
    await line.say("Alice likes tea", date="2023-08-01")
    assert (await line.say("Alice has a dog", date="2023-08-13"))["forgotten"] == []
    told = await line.say("Alice lives in Rome", date="2023-08-14")
    assert told == {
        "action": "forgetting", "forgotten": ["m00000001"], "reason": None,
    }  # fmt: skip
    assert service.texts() == ["Alice has a dog", "Alice lives in Rome"]
    assert (await line.say("Alice is well", date="2023-08-15"))["forgotten"] == []


async def test_saying_it_again_reinforces() -> None:
    service = Forgets()
    line = Line(service, FAST)
    await line.say("Alice likes tea", date="2023-08-01")
    await line.say("Alice likes tea!", date="2023-08-11")
    # The first has strength 2 since 11 August and stays 24 days; the second has 1 and stays 12.
    assert (await line.say("Bob is in Rome", date="2023-08-24"))["forgotten"] == ["m00000002"]
    assert (await line.say("Bob is in Oslo", date="2023-09-04"))["forgotten"] == []
    assert (await line.say("Bob is in Bonn", date="2023-09-05"))["forgotten"] == ["m00000001"]


def test_a_memory_is_read_once_however_many_come_after_it(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    monkeypatch.setattr(forgetting, "wording", lambda text: read.append(text) or wording(text))
    forgetter = Forgetter(Forgetting(), Forgets())
    for number in range(30):
        metadata = {"timestamp": "2023-05-08"}
        forgetter.note(
            [Memory(text=f"I like bird {number}.", metadata=metadata, entry_id=str(number), score=None)]
        )
    assert len(read) == 30


async def test_importance_slows_forgetting() -> None:
    line = Line(Forgets(), FAST)
    await line.say("Alice likes tea", date="2023-08-01", importance=1.0)
    await line.say("Alice has a dog", date="2023-08-01", importance="high")
    assert (await line.say("Alice lives in Rome", date="2023-08-20"))["forgotten"] == ["m00000002"]


async def test_without_a_date_nothing_can_be_judged() -> None:
    line = Line(Forgets(), FAST)
    await line.say("Alice likes tea", date="2023-08-01")
    told = await line.say("Alice has a dog", date="some day")
    assert (told["forgotten"], told["reason"]) == ([], NO_DATE)
    # What came without a date is never forgotten.
    assert (await line.say("Alice lives in Rome", date="2033-01-01"))["forgotten"] == ["m00000001"]


async def test_what_is_gone_already_is_not_told_as_forgotten() -> None:
    service = Forgets()
    line = Line(service, FAST)
    await line.say("Alice likes tea", date="2023-08-01")
    service.held.clear()
    assert (await line.say("Alice has a dog", date="2023-09-14"))["forgotten"] == []


# Both


async def test_what_a_memory_did_not_keep_is_not_tidied() -> None:
    operator = PostInsert(Forgetting(), Forgets(), REFACTORED)
    written = await operator.execute({"entries": [{"refactor": "a"}], "inserted": [None]})
    assert written["post_insert"]["forgotten"] == []
