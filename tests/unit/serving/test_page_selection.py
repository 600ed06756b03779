"""The page: what notes state, how a question was read, the reading as filters, and the selection as a Base."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from html import unescape
from pathlib import Path
from typing import Any

import httpx
import pytest

from agentic_rag import RagConfig
from agentic_rag.notes.bases import read_base
from service_server import called_service, ended

GAMES = {"Dota": (0, "MOBA"), "Elden Ring": (59.99, "RPG"), "New World": (39.99, "RPG")}
QUESTION = "Which games cost more than 20?"


@asynccontextmanager
async def opened(tmp_path: Path) -> AsyncIterator[httpx.AsyncClient]:
    """A client of a service with notes on games, and one on tea."""
    (tmp_path / "games").mkdir()
    for name, (price, genre) in GAMES.items():
        head = f"---\nprice: {price}\ngenre: {genre}\ntags: [game]\n---\n"
        (tmp_path / "games" / f"{name}.md").write_text(f"{head}{name} is a game.\n\n- [ ] play {name}\n")
    (tmp_path / "tea.md").write_text("# Tea\n\nTea is warm.\n")
    async with called_service(RagConfig(data_dir=tmp_path / "data"), roots=[tmp_path]) as client:
        await ended(client, await client.post("/ingest", json={"paths": ["games", "tea.md"]}))
        yield client


async def answer(page: httpx.AsyncClient, **form: str) -> str:
    """The answer as a part of the page."""
    text = (await page.post("/page/ask", data={"query": QUESTION, **form})).text
    events = [block.split("\ndata: ") for block in text.strip().split("\n\n")]
    html: str = json.loads(events[-1][1])["html"]
    return html


async def test_datasets_say_what_their_notes_state(tmp_path: Path) -> None:
    async with opened(tmp_path) as page:
        shown = " ".join(re.sub(r"<[^>]+>", " ", unescape((await page.get("/notes")).text)).split())
        assert "What the notes state" in shown
        assert "price number 3 0, 39.99, 59.99" in shown
        assert "genre text 3 RPG (2), MOBA" in shown
        assert "tags: game (3)" in shown
        (listed,) = (await page.get("/datasets")).json()["datasets"]
        assert [one["name"] for one in listed["schema"]["properties"]] == ["genre", "price", "tags"]


async def test_the_reading_stands_above_the_answer_as_filters(tmp_path: Path) -> None:
    async with opened(tmp_path) as page:
        html = await answer(page)
        assert "price &gt; 20</strong>" in html
        assert "<code>price&gt;20</code>" in html
        assert html.count("Read as") == 1
        terms = re.search(r'data-terms="([^"]+)"', html)
        assert terms is not None
        assert "price>20" in unescape(terms[1]).split("\n")
        corrected = await answer(page, only=unescape(terms[1]) + "\nprice<50")
        assert "New World" in corrected
        assert "Elden Ring" not in corrected
        assert "Read as" not in await answer(page, query="What is warm?")


async def test_the_selection_is_downloaded_as_a_base(tmp_path: Path) -> None:
    async with opened(tmp_path) as page:
        html = await answer(page, only="price<50")
        form = html[html.index('action="/page/base"') :].partition("</form>")[0]
        fields = {name: unescape(value) for name, value in re.findall(r'name="(\w+)" value="([^"]*)"', form)}
        made = await page.post("/page/base", data=fields)
        assert made.headers["content-disposition"] == 'attachment; filename="notes.base"'
        (view,) = read_base(made.text, "notes.base").views
        assert view.name == QUESTION
        assert "note.price < 50" in made.text
        assert "Keep as Base" not in await answer(page, query="Which tasks are open?")


@pytest.mark.parametrize(
    ("form", "reason"),
    [
        ({"query": "What is warm?"}, "was not read as such"),
        ({"query": "Which tasks are open?"}, "not their tasks"),
        ({"query": QUESTION, "filters": "{"}, "the filters are not JSON"),
        ({"query": QUESTION, "filters": "[1]"}, "filters"),
    ],
)
async def test_what_is_no_base_is_refused(tmp_path: Path, form: dict[str, str], reason: str) -> None:
    async with opened(tmp_path) as page:
        refused = await page.post("/page/base", data={"dataset": "default", **form})
        assert refused.status_code == 400
        assert reason in refused.json()["error"]["message"]


async def test_clients_get_the_selection(tmp_path: Path) -> None:
    async with opened(tmp_path) as page:

        async def asked(query: str) -> dict[str, Any]:
            found: dict[str, Any] = (await page.post("/ask", json={"query": query})).json()
            return found

        many = (await asked(QUESTION))["selection"]
        assert (many["status"], many["count"], many["target"]) == ("ok", 2, "notes")
        assert "price>20" in many["terms"]
        one = await asked("What is warm?")
        assert (one["selection"], one["carried"]) == (None, {})
