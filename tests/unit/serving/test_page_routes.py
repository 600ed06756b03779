"""The page under load: rendering a note blocks no other request, long notes are rendered in part; keys are stored."""

from __future__ import annotations

import asyncio
import json
import re
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from agentic_rag import RagConfig
from agentic_rag_service.conversations import Conversations
from agentic_rag_service.limits import Busy
from agentic_rag_service.page import routes
from service_server import called_service, ended

NEEDLE = "The needle lies here."


@pytest.fixture(scope="module")
def notes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A long note, a short one, and a long board, and the data folder that holds them."""
    folder = tmp_path_factory.mktemp("notes")
    hay = "Hay and [[hay]], *more* hay.\n\n" * 5000
    (folder / "long note.md").write_text(f"# Hay\n\n{hay}{NEEDLE}\n\n{hay}")
    (folder / "short.md").write_text(f"# Short\n\n{NEEDLE}\n")
    cards = [
        {"id": f"{n}", "type": "text", "text": f"Card {n}", "x": n, "y": 0, "width": 9, "height": 9}
        for n in range(2000)
    ]
    (folder / "long.canvas").write_text(json.dumps({"nodes": cards, "edges": []}))

    async def ingest() -> None:
        async with _page(folder) as client:
            paths = {"paths": ["long note.md", "short.md", "long.canvas"]}
            await ended(client, await client.post("/ingest", json=paths))

    asyncio.run(ingest())
    return folder


@asynccontextmanager
async def _page(notes: Path) -> AsyncIterator[httpx.AsyncClient]:
    """A client of a service over the notes."""
    async with called_service(RagConfig(data_dir=notes / "data"), roots=[notes]) as client:
        yield client


@pytest.mark.parametrize("headers", [{}, {"HX-Request": "true"}])
async def test_a_long_note_is_drawn_around_its_passage(notes: Path, headers: dict[str, str]) -> None:
    async with _page(notes) as client:
        text = (await client.get("/notes/default/long note.md")).json()["text"]
        start = text.index(NEEDLE)
        place = {"start": start, "end": start + len(NEEDLE)}
        page = (await client.get("/read/default/long note.md", params=place, headers=headers)).text
        assert f'<mark id="passage" tabindex="-1">{NEEDLE}</mark>' in page
        assert len(page) < len(text)
        whole = re.search(r'Too long to show in full: this is a part. <a href="([^"]+)">', page)
        assert whole is not None
        assert (await client.get(whole[1])).json()["text"] == text
        head = (await client.get("/read/default/long note.md", headers=headers)).text
        assert "<h1>Hay</h1>" in head
        assert NEEDLE not in head
        assert "Too long" not in (await client.get("/read/default/short.md", headers=headers)).text


async def test_a_long_board_stands_there_as_text(notes: Path) -> None:
    async with _page(notes) as client:
        page = (await client.get("/read/default/long.canvas")).text
        assert "<svg" not in page
        assert "Card 7" in page
        assert "Too long to show in full" in page


async def test_drawing_a_note_keeps_nobody_waiting(notes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with _page(notes) as client:
        drawing, answered, draw = threading.Event(), threading.Event(), routes.note_html

        def waiting(*given: Any) -> str:
            drawing.set()
            assert answered.wait(5), "the service did not answer while it drew"
            return draw(*given)

        monkeypatch.setattr(routes, "note_html", waiting)
        reading = asyncio.create_task(client.get("/read/default/short.md"))
        await asyncio.to_thread(drawing.wait, 60)
        assert (await client.get("/healthz")).status_code == 200
        answered.set()
        assert (await reading).status_code == 200


@pytest.mark.parametrize("key", ["k1", "schlüssel-钥匙", 'a "b"; c=d, %41\\'])
async def test_the_page_remembers_any_key(tmp_path: Path, key: str) -> None:
    config = RagConfig.model_validate({"data_dir": tmp_path, "service": {"keys": [{"key": key}]}})
    async with called_service(config) as client:
        assert (await client.get("/")).headers["location"] == "/login"
        entered = await client.post("/login", data={"key": f" {key} "})
        assert (entered.status_code, entered.headers["location"]) == (303, "/")
        assert (await client.get("/")).status_code == 200


async def test_older_conversations_are_on_further_pages(notes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page_of = Conversations.of

    async def of_two(self: Conversations, *given: Any, before: str | None = None) -> Any:
        return await page_of(self, *given, limit=2, before=before)

    monkeypatch.setattr(Conversations, "of", of_two)
    async with _page(notes) as client:
        for number in range(3):
            form = {"query": f"What lies here {number}?", "thread_id": f"t{number}"}
            await client.post("/page/ask", data=form)
        first = (await client.get("/conversations")).text
        assert re.findall(r"What lies here (\d)\?</a>", first) == ["2", "1"]
        older = re.search(r'href="(/conversations\?before=[^"]+)">Older conversations', first)
        assert older is not None
        last = (await client.get(older[1])).text
        assert re.findall(r"What lies here (\d)\?</a>", last) == ["0"]
        assert "Older conversations" not in last


@pytest.mark.parametrize("address", ["/read/default/gone.md", "/read/other/short.md", "/nowhere"])
async def test_a_browser_gets_an_error_as_a_page(notes: Path, address: str) -> None:
    async with _page(notes) as client:
        answer = await client.get(address, headers={"Accept": "text/html,*/*;q=0.8"})
        assert answer.status_code in (400, 404)
        assert '<div class="error" role="alert">' in answer.text
        assert "<nav" in answer.text
        part = await client.get(address, headers={"Accept": "text/html", "HX-Request": "true"})
        assert "<nav" not in part.text
        assert "message" in (await client.get(address)).json()["error"]


async def test_a_busy_page_says_when_to_come_again(notes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def busy(*_: Any) -> Any:
        raise Busy("the service is busy")

    monkeypatch.setattr(routes, "read_note", busy)
    async with _page(notes) as client:
        answer = await client.get("/read/default/short.md", headers={"Accept": "text/html"})
        assert answer.headers["Retry-After"] == "1"
        assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
