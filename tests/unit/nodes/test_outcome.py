"""Asking one source: an honest outcome, whatever happens."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from agentic_rag.domain import Findings, Hit
from agentic_rag.errors import FilterError, ManifestMismatch, ModelError, StoreError, StoreLocked
from agentic_rag.nodes import outcome as outcome_module
from agentic_rag.nodes.outcome import search_source

HIT: Hit = {
    "id": "a",
    "content": "",
    "type": "document",
    "rank": 1,
    "score": 0.5,
    "metadata": {},
    "evidence": {},
    "facts": [],
}
KNOWN = {"names": ["Tea"], "telling": 0.5}


async def outcome(result: Any, *, seconds: float = 0.0, timeout: float = 5.0) -> tuple[list[Hit], Any]:
    async def search() -> Findings:
        await asyncio.sleep(seconds)
        if isinstance(result, BaseException):
            raise result
        return Findings(list(result), KNOWN)

    return await search_source(search, timeout)


async def test_hits_are_ok():
    hits, told = await outcome([HIT])
    assert hits == [HIT]
    assert told == {
        "status": "ok", "reason": None, "count": 1, "ms": told["ms"], "question": KNOWN
    }  # fmt: skip
    assert 0 <= told["ms"] < 5000


async def test_no_hits_are_empty():
    hits, told = await outcome([])
    assert (hits, told["status"], told["reason"], told["count"]) == ([], "empty", None, 0)
    assert told["question"] == KNOWN, "a source may know the question and find nothing"


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (StoreError("gone"), "StoreError: gone"),
        (StoreLocked("another process"), "StoreLocked: another process"),
        (ModelError("no answer"), "ModelError: no answer"),
        (ConnectionRefusedError("refused"), "ConnectionRefusedError: refused"),
        (RuntimeError("lance"), "RuntimeError: lance"),
        (TimeoutError("the socket's own"), "TimeoutError: the socket's own"),
    ],
)
async def test_a_failure_is_degraded_with_its_reason(error: Exception, reason: str):
    hits, told = await outcome(error)
    assert (hits, told["status"], told["reason"], told["count"]) == ([], "degraded", reason, 0)
    assert told["question"] == {}


async def test_a_search_that_takes_too_long_is_degraded():
    hits, told = await outcome([HIT], seconds=5, timeout=0.02)
    assert (hits, told["status"], told["reason"]) == ([], "degraded", "no answer within 0.02 s")
    assert told["ms"] < 1000


async def ready_outcome(ready: Any, timeout: float) -> tuple[list[Hit], Any]:
    async def search() -> Findings:
        return Findings([HIT], {})

    return await search_source(search, timeout, ready=ready)


async def test_getting_ready_is_not_the_searchs_time():
    hits, told = await ready_outcome(lambda: asyncio.sleep(0.1), timeout=0.02)
    assert (hits, told["status"]) == ([HIT], "ok")
    assert told["ms"] >= 100


async def test_getting_ready_has_a_limit_too(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(outcome_module, "READY_SECONDS", 0.03)
    hits, told = await ready_outcome(lambda: asyncio.sleep(5), timeout=0.02)
    assert (hits, told["status"], told["reason"]) == ([], "degraded", "no answer within 0.03 s")


async def test_what_cannot_get_ready_is_degraded():
    async def fails() -> None:
        raise ModelError("no answer")

    hits, told = await ready_outcome(fails, timeout=1)
    assert (hits, told["status"], told["reason"]) == ([], "degraded", "ModelError: no answer")


@pytest.mark.parametrize("error", [FilterError("bad"), ManifestMismatch("other model"), KeyError("a bug")])
async def test_what_trying_again_cannot_mend_is_raised(error: Exception):
    with pytest.raises(type(error)):
        await outcome(error)


async def test_a_cancelled_run_is_cancelled():
    task = asyncio.create_task(outcome([HIT], seconds=5))
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
