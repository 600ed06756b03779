"""The result of an insert: the created memory, among those that it changed."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from agentic_rag import Rag, RagConfig, open_rag
from agentic_rag.memory.schemas import MemoryType, TaskRequest
from agentic_rag.testing import HashingEmbedding


async def inserted(rag: Rag, month: int, value: str, *, ends: bool = False) -> dict[str, Any]:
    fact = {"subject": "Ada", "slot": "home", "value": value, "ends": ends}
    given = {
        "user_id": "ada",
        "content": f"{value} {ends}",
        "at": datetime(2021, month, 1, tzinfo=UTC),
        **fact,
    }
    response = await rag.memory.agents[MemoryType.SEMANTIC].execute_task(
        TaskRequest("insert", given, timeout_ms=None)
    )
    assert response.success, response.error
    return dict(response.result["memory"])


async def test_an_insert_gives_its_own_memory_back(tmp_path: Path) -> None:
    async with open_rag(RagConfig(data_dir=tmp_path), embedding=HashingEmbedding()) as rag:
        assert (await inserted(rag, 1, "Oslo"))["details"]["value"] == "Oslo"
        new = await inserted(rag, 3, "Bergen")
        assert new["details"]["value"] == "Bergen"
        assert "invalid_at" not in new
        unchanged = await inserted(rag, 4, "Oslo", ends=True)
        assert unchanged["memory_type"] == "episodic"
        ended = await inserted(rag, 5, "Bergen", ends=True)
        assert (ended["details"]["value"], ended["invalid_at"][:7]) == ("Bergen", "2021-05")
        assert await rag.memory.list("ada", MemoryType.SEMANTIC) == []
