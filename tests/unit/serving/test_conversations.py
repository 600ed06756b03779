"""Conversations over HTTP: forgotten permanently, also while one of their questions is being answered."""

from __future__ import annotations

import asyncio
from pathlib import Path

import httpx
import pytest

from agentic_rag import RagConfig
from service_server import called_service, ended


class WaitingChat:
    """Answers at once, or when it is let."""

    def __init__(self) -> None:
        self.go, self.asked = asyncio.Event(), asyncio.Event()
        self.go.set()

    async def complete(self, system: str, user: str) -> str:
        self.asked.set()
        await self.go.wait()
        return "Tea is oolong [1]."


async def _ask(client: httpx.AsyncClient, query: str) -> httpx.Response:
    asked = {"query": query, "thread_id": "t", "operation": "document_retrieval"}
    return await client.post("/ask", json=asked)


@pytest.mark.parametrize("path", ["/memory", "/threads/t", "/page/conversations/t"])
@pytest.mark.parametrize("earlier", [["My secret question: which tea is oolong?"], []])
async def test_what_is_forgotten_beside_a_running_question_stays_so(
    tmp_path: Path, path: str, earlier: list[str]
) -> None:
    (tmp_path / "tea.md").write_text("# Tea\n\nTea is oolong, and it is brewed at ninety degrees.\n")
    config = RagConfig.model_validate(
        {"data_dir": tmp_path / "data", "answer": {"method": "chat", "abstain_below": 0.0}}
    )
    chat = WaitingChat()
    async with called_service(config, {"chat": chat}, roots=[tmp_path]) as client:
        await ended(client, await client.post("/ingest", json={"paths": ["tea.md"]}))
        for query in earlier:
            assert (await _ask(client, query)).status_code == 200
        chat.asked.clear()
        chat.go.clear()
        question = asyncio.create_task(_ask(client, "How hot is tea brewed?"))
        await chat.asked.wait()
        forgetting = asyncio.create_task(client.delete(path))
        await asyncio.wait([forgetting], timeout=0.3)
        chat.go.set()
        assert (await question).status_code == 200
        assert (await forgetting).status_code == 200
        assert (await client.get("/threads")).json()["conversations"] == []
        assert (await client.get("/threads/t")).json()["messages"] == []
