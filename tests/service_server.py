"""The service for tests that call it as clients do: on a port of this machine, or in the test's own event loop."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import httpx
import uvicorn

from agentic_rag import RagConfig, open_rag
from agentic_rag.testing import HashingEmbedding
from agentic_rag_service.app import create_app
from local_openai_server import LocalOpenAIServer


def chat_config(data: Path, model: LocalOpenAIServer) -> RagConfig:
    """Answers by a chat model from a data folder."""
    chat = {"base_url": model.base_url, "model": "m", "api_key": "k"}
    return RagConfig.model_validate({"data_dir": data, "chat": chat, "answer": {"method": "chat"}})


@contextmanager
def running_service(config: RagConfig, **options: Any) -> Iterator[str]:
    """Its address; ``options`` are those of ``create_app``."""
    app = create_app(config, **options)
    server = uvicorn.Server(
        uvicorn.Config(app, host="127.0.0.1", port=0, log_level="warning", access_log=False)
    )
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    deadline = time.monotonic() + 60
    while not server.started:
        assert thread.is_alive(), "the service did not start"
        assert time.monotonic() < deadline, "the service is not ready"
        time.sleep(0.02)
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join(timeout=30)


@asynccontextmanager
async def called_service(
    config: RagConfig, models: Mapping[str, Any] | None = None, **options: Any
) -> AsyncIterator[httpx.AsyncClient]:
    """A client of the whole app, without a port.

    Args:
        config: of the stores and the service.
        models: that ``open_rag`` is given; an embedding by hashes if none.
        options: those of ``create_app``.
    """
    given = {"embedding": HashingEmbedding(), **(models or {})}
    app = create_app(config, **options)
    with patch("agentic_rag_service.app.open_rag", partial(open_rag, **given)):
        async with app.router.lifespan_context(app):
            transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
            async with httpx.AsyncClient(
                transport=transport, base_url="http://localhost", timeout=60
            ) as client:
                yield client


async def ended(
    client: httpx.AsyncClient, answer: httpx.Response, path: str = "", **options: Any
) -> dict[str, Any]:
    """The job that a request started, at its end.

    Args:
        client: of the service.
        answer: has the job's state.
        path: that the service lies beneath.
        options: those of a request.
    """
    job: dict[str, Any] = answer.json()
    deadline = time.monotonic() + 60
    while job["status"] == "running":
        assert time.monotonic() < deadline, job
        await asyncio.sleep(0.02)
        job = (await client.get(f"{path}/ingest/{job['id']}", **options)).json()
    return job
