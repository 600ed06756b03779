"""``serve``: the HTTP service with its page, on uvicorn."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import uvicorn

from agentic_rag.rag import open_rag
from agentic_rag.serving.app import create_app
from agentic_rag.serving.mcp_server import mcp_server
from agentic_rag.serving.roots import AllowedRoots
from agentic_rag.settings.config import RagConfig

ENDING_SECONDS = 30
"""Time that what runs has to finish once the service is told to end."""


async def serve_stdio(config: RagConfig, roots: Sequence[Path], user_id: str, *, write: bool) -> None:
    """Be an MCP server on standard input and output until the client closes them.

    Raises:
        InputError: a root is no folder.
    """
    allowed = AllowedRoots(roots)
    async with open_rag(config) as rag:
        await mcp_server(rag, allowed, write=write, user_id=user_id).run_stdio_async()


def serve_forever(config: RagConfig, host: str, port: int, **options: Any) -> None:
    """Serve until a signal ends it; what runs is finished first. ``options`` are those of ``create_app``.

    Raises:
        ConfigError: another address than loopback, and no API key.
        InputError: a root is no folder.
    """
    app = create_app(config, host=host, **options)
    uvicorn.run(
        app,
        host=host,
        port=port,
        log_level="info",
        access_log=False,  # paths name notes
        timeout_graceful_shutdown=ENDING_SECONDS,
        server_header=False,
    )
