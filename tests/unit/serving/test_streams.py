"""Streams: a client gets the reason why its stream ended, on every interface."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agentic_rag import RagConfig
from agentic_rag.errors import ModelError
from service_server import called_service, ended

ASKED = {"model": "default", "messages": [{"role": "user", "content": "tea"}], "stream": True}


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/ask", {"json": {"query": "tea"}}),
        ("/page/ask", {"data": {"query": "tea"}}),
        ("/v1/chat/completions", {"json": ASKED}),
        ("/v1/responses", {"json": {"model": "default", "input": "tea", "stream": True}}),
    ],
)
@pytest.mark.parametrize(
    ("error", "told"),
    [(ZeroDivisionError("text of a note"), "ZeroDivisionError; see the log"), (ModelError("m"), "m")],
)
async def test_a_stream_that_breaks_says_so(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    path: str,
    body: dict[str, Any],
    error: Exception,
    told: str,
) -> None:
    async def broken(*_: Any, **__: Any) -> Any:
        raise error
        yield

    (tmp_path / "tea.md").write_text("# Tea\n\nTea is oolong.\n")
    async with called_service(RagConfig(data_dir=tmp_path / "data"), roots=[tmp_path]) as client:
        await ended(client, await client.post("/ingest", json={"paths": ["tea.md"]}))
        monkeypatch.setattr("agentic_rag.rag.Rag.stream", broken)
        stream = (await client.post(path, headers={"Accept": "text/event-stream"}, **body)).text
    parts = stream.strip().split("\n\n")
    if path.startswith("/v1/chat"):
        assert parts.pop() == "data: [DONE]"
    assert told in parts[-1]
    assert "text of a note" not in stream
