"""The service under another server's path: the page's links include it, and the stores open with that server."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from agentic_rag import Rag, RagConfig, open_rag
from agentic_rag.testing import HashingEmbedding
from agentic_rag_service.app import create_app, mounted_at


def test_the_page_knows_where_it_lies(tmp_path: Path) -> None:
    config = RagConfig(data_dir=tmp_path)

    @asynccontextmanager
    async def opened() -> AsyncIterator[Rag]:
        async with open_rag(config, embedding=HashingEmbedding(16)) as rag:
            yield rag

    app = mounted_at(create_app(config, store_opener=opened), "/service")
    with TestClient(app, base_url="http://localhost") as client:
        page = client.get("/service/").text
        assert 'href="/service/static/app.css"' in page
        assert 'href="/service/notes"' in page
        assert client.get("/service/static/app.js").status_code == 200
        assert client.get("/service/readyz").json() == {"status": "ok"}
        assert client.get("/threads").status_code == 404
        asked = client.post("/service/ask", json={"query": "x", "thread_id": "t"})
        assert asked.status_code == 400
        assert "keeps no conversations" in asked.json()["error"]["message"]


def test_an_app_whose_lifespan_has_not_run_says_so(tmp_path: Path) -> None:
    client = TestClient(create_app(RagConfig(data_dir=tmp_path)), base_url="http://localhost")
    with pytest.raises(RuntimeError, match="the lifespan of its app has not run"):
        client.get("/datasets")
