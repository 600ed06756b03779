"""Readiness: the unavailable stores with reasons, checked once a second, within a time limit."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from agentic_rag import RagConfig
from agentic_rag.errors import StoreError
from agentic_rag_service import readiness
from agentic_rag_service.readiness import Readiness
from service_server import called_service


class Store:
    """One that can be taken away."""

    def __init__(self) -> None:
        self.away = False
        self.hangs = False
        self.looks = 0

    async def reach(self) -> None:
        self.looks += 1
        if self.hangs:
            await asyncio.Event().wait()
        if self.away:
            raise StoreError("it is away; start it")


async def test_a_store_that_is_away_is_named_until_it_is_back(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(readiness, "LOOKED_AT_EVERY", 0.0)
    graph, vectors = Store(), Store()
    ready = Readiness({"graph": graph.reach, "vectors": vectors.reach})
    assert await ready.problems() == {}
    graph.away = True
    assert await ready.problems() == await ready.problems() == {"graph": "it is away; start it"}
    graph.away = False
    assert await ready.problems() == {}
    told = [record.message for record in caplog.records if record.levelno == logging.WARNING]
    assert told == [
        "not ready, the graph cannot be used: it is away; start it",
        "the graph can be used again",
    ]


async def test_callers_at_once_share_a_look() -> None:
    store = Store()
    ready = Readiness({"vectors": store.reach})
    assert await asyncio.gather(*(ready.problems() for _ in range(20))) == [{}] * 20
    assert store.looks == 1


async def test_a_store_that_hangs_counts_as_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readiness, "MAX_LOOK_SECONDS", 0.01)
    store = Store()
    store.hangs = True
    assert await Readiness({"vectors": store.reach}).problems() == {"vectors": "no answer within 0.01 s"}


async def test_conversations_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    async with called_service(RagConfig(data_dir=tmp_path)) as client:
        with closing(sqlite3.connect(tmp_path / "conversations.sqlite")) as connection:
            connection.execute("DROP TABLE checkpoints")
        ready = await client.get("/readyz")
    assert ready.status_code == 503
    why = "conversations.sqlite cannot be read: no such table: checkpoints; run: agentic-rag repair"
    assert ready.json() == {"status": "unready", "stores": {"conversations": why}}
