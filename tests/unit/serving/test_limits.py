"""Limits on questions: how many run, how many wait, how long."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from annotated_types import Ge, Gt, Le
from pydantic.fields import FieldInfo

from agentic_rag import RagConfig
from agentic_rag.errors import StoreLocked
from agentic_rag.settings.parameters import FusionStrategy, Parameters
from agentic_rag_service import limits
from agentic_rag_service.access import Caller
from agentic_rag_service.jobs import Jobs, UnknownJob
from agentic_rag_service.limits import Busy, QuestionSlots, TooLate
from service_server import called_service, ended


async def test_questions_wait_for_a_place_and_more_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_WAITING", 1)
    slots = QuestionSlots(1, 5.0)
    go = asyncio.Event()

    async def question() -> str:
        async with slots.acquire():
            await go.wait()
            return "answered"

    asked = [asyncio.create_task(question()) for _ in range(2)]
    await asyncio.sleep(0)
    with pytest.raises(Busy, match="2 questions"):
        async with slots.acquire():
            pass
    go.set()
    assert await asyncio.gather(*asked) == ["answered", "answered"]
    assert slots.used_slots == 0


async def test_a_question_that_takes_too_long_is_ended() -> None:
    slots = QuestionSlots(1, 0.01)
    with pytest.raises(TooLate, match=r"0\.01 s"):
        async with slots.acquire():
            await asyncio.sleep(5)
    assert slots.used_slots == 0


async def test_a_text_to_remember_counts_as_a_question(tmp_path: Path) -> None:
    config = RagConfig.model_validate({"data_dir": tmp_path, "service": {"timeout_seconds": 0.001}})
    async with called_service(config) as client:
        answer = await client.post("/memory", json={"text": "I live in Oslo."})
        assert answer.status_code == 504
        assert answer.json()["error"]["message"] == "no answer within 0.001 s"


async def test_jobs_are_watched_cancelled_and_of_one_user() -> None:
    jobs = Jobs()
    go = asyncio.Event()

    async def work(progress: object) -> dict[str, int]:
        await go.wait()
        return {"documents": 1}

    job = jobs.start("notes", "ann", work)
    with pytest.raises(StoreLocked, match="ingesting into dataset 'notes'"):
        jobs.start("notes", "bob", work)
    with pytest.raises(UnknownJob):
        jobs.get(job.id, Caller("bob", None))
    await asyncio.sleep(0)
    await jobs.cancel(job)
    assert (job.status, job.report) == ("cancelled", None)

    early = jobs.start("notes", "ann", work)
    waiting = asyncio.create_task(early.until(go))
    await jobs.cancel(early)
    await asyncio.wait_for(waiting, 1)
    assert early.status == "cancelled"

    async def failing(progress: object) -> dict[str, int]:
        raise ValueError("a detail that nobody is told")

    failed = jobs.start("notes", "ann", failing)
    await asyncio.sleep(0.01)
    assert failed.status == "failed"
    assert failed.error == "ValueError; see the service's log"
    other = jobs.start("notes", "ann", work)
    await jobs.close()
    assert other.status == "cancelled"


async def test_a_user_with_memories_may_ask_for_the_most_passages(tmp_path: Path) -> None:
    (tmp_path / "tea.md").write_text("# Tea\n\nTea is oolong.\n")
    async with called_service(RagConfig(data_dir=tmp_path / "data"), roots=[tmp_path]) as client:
        await ended(client, await client.post("/ingest", json={"paths": ["tea.md"]}))
        await client.post("/memory", json={"text": "I live in Rome."})
        answered = await client.post("/ask", json={"query": "oolong", "top_k": 1000})
    assert answered.status_code == 200, answered.text


def _bound(field: FieldInfo) -> float | None:
    """The largest value of a number; a very large one if it has none, None if it is no number."""
    bounds = [one.le for one in field.metadata if isinstance(one, Le)]
    is_number = any(isinstance(one, Ge | Gt) for one in field.metadata)
    return bounds[0] if bounds else 10**9 if is_number else None


MAX_BYTES = {
    section: {name: bound for name, one in kind.annotation.model_fields.items() if (bound := _bound(one))}
    for section, kind in Parameters.model_fields.items()
}
"""Every number that a request may set, at its largest."""


@pytest.mark.parametrize("strategy", list(FusionStrategy))
async def test_every_parameter_at_its_largest_is_answered_and_no_more_is_allowed(
    tmp_path: Path, strategy: FusionStrategy
) -> None:
    (tmp_path / "tea.md").write_text("# Tea\n\nTea is oolong.\n")
    asked = {"query": "Tea is oolong. " * 100, "top_k": 1000}
    # The graph's weight is 1, and both are 1 together.
    fusion = {**MAX_BYTES["fusion"], "lancedb_weight": 0, "strategy": strategy}
    async with called_service(RagConfig(data_dir=tmp_path / "data"), roots=[tmp_path]) as client:
        await ended(client, await client.post("/ingest", json={"paths": ["tea.md"]}))
        answered = await client.post("/ask", json={**asked, "parameters": {**MAX_BYTES, "fusion": fusion}})
        assert answered.status_code == 200, answered.text
        for section, values in MAX_BYTES.items():
            for name, largest in values.items():
                more = {section: {name: largest + 1}}
                answer = await client.post("/ask", json={**asked, "parameters": more})
                assert (answer.status_code == 400) == (largest != 10**9), (section, name)
                assert name in answer.json()["error"]["message"] if answer.is_error else True
