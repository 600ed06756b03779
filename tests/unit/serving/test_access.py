"""What is let in: large uploads by both doors, also where the service lies beneath a path."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest

from agentic_rag import Rag, RagConfig, open_rag
from agentic_rag.serving.app import beneath, create_app
from agentic_rag.testing import HashingEmbedding
from service_server import ended


@pytest.mark.parametrize("prefix", ["", "/service"])
@pytest.mark.parametrize("path", ["/ingest/files", "/page/upload"])
async def test_an_upload_may_be_larger_than_other_requests(tmp_path: Path, prefix: str, path: str) -> None:
    config = RagConfig(data_dir=tmp_path)

    @asynccontextmanager
    async def opened() -> AsyncIterator[Rag]:
        async with open_rag(config, embedding=HashingEmbedding(16)) as rag:
            yield rag

    app = create_app(config, opened=opened)
    transport = httpx.ASGITransport(app=beneath(app, prefix) if prefix else app)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=transport, base_url="http://localhost") as client,
    ):
        picture = ("files", ("large.png", b"x" * 1_500_000))
        answer = await client.post(prefix + path, files=[picture], data={"dataset": "u"})
        assert answer.status_code in (200, 202), answer.text
        query = {"query": "x" * 1_500_000}
        assert (await client.post(f"{prefix}/ask", json=query)).status_code == 413
        (job_id,) = [one.id for one in app.state.service.jobs.of("local")]
        await ended(client, await client.get(f"{prefix}/ingest/{job_id}"), path=prefix)
