"""``serve``: the HTTP service with its page, on uvicorn; and ``mcp``, on standard input and output."""

from __future__ import annotations

import asyncio
import errno
import math
import re
import signal
import socket
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import Any

import uvicorn
from fastapi import FastAPI
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.config import LOGGING_CONFIG, STARTUP_FAILURE

from agentic_rag.cli.command_server import commands_served
from agentic_rag.domain.json_values import Json
from agentic_rag.errors import InputError
from agentic_rag.rag import open_rag
from agentic_rag.settings.config import RagConfig
from agentic_rag_service.access import MAX_PAUSE_SECONDS
from agentic_rag_service.app import create_app
from agentic_rag_service.mcp_server import mcp_server
from agentic_rag_service.roots import AllowedRoots

_OWN_ERROR = re.compile(r"^agentic_rag\.errors\.\w+: (.*)\Z", re.MULTILINE | re.DOTALL)
"""The end of a traceback of one of the package's errors."""
_LOGGING: Json = {
    **LOGGING_CONFIG,
    "loggers": {
        **LOGGING_CONFIG["loggers"],
        # The MCP server would silence warnings. Only for the interfaces: other loggers may name notes.
        "agentic_rag_service": {"handlers": ["default"], "level": "WARNING", "propagate": False},
    },
}


LAST_BODY_SECONDS = 1.0
"""Time for the rest of a request whose header has come when the server stops accepting requests."""


SWITCH_SECONDS = 0.001
"""Time after which a thread that computes gives way to the one of the event loop; Python's own is five times that, which
ten threads make half a second of."""


class DrainingServer(uvicorn.Server):
    """A server that shuts down in two steps after SIGTERM: first it reports not ready, then it stops accepting
    requests. It closes connections that send no whole header, which uvicorn waits for without end.

    Args:
        config: configuration of uvicorn.
        app: the service.
        seconds: time between the two steps; Ctrl-C or a second signal skips it.
        header_seconds: longest time for a header.
    """

    def __init__(
        self, config: uvicorn.Config, app: FastAPI, seconds: float, header_seconds: float = math.inf
    ) -> None:
        super().__init__(config)
        self._app, self._seconds, self._header_seconds = app, seconds, header_seconds
        self._ends_at: float | None = None
        self._idle: dict[Any, tuple[Any, float]] = {}
        """Connections without a request under way: their last request, and since when."""

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        if (service := getattr(self._app.state, "service", None)) is not None:
            service.closing = True
        if sig == signal.SIGTERM and self._ends_at is None and self.started:
            self._ends_at = time.monotonic() + self._seconds
        else:
            super().handle_exit(sig, frame)

    async def on_tick(self, counter: int) -> bool:
        if self._ends_at is not None and not self.should_exit and time.monotonic() >= self._ends_at:
            super().handle_exit(signal.SIGTERM, None)
        self._close_idle()
        return await super().on_tick(counter)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        asyncio.get_running_loop().call_later(LAST_BODY_SECONDS, self._close_half_sent)
        await super().shutdown(sockets)

    def _close_idle(self) -> None:
        now, earlier = time.monotonic(), self._idle
        self._idle = {}
        for connection in self.server_state.connections:
            request = getattr(connection, "cycle", None)
            if request is None or request.response_complete:
                last, since = earlier.get(connection, (request, now))
                self._idle[connection] = (request, since if last is request else now)
        for connection, (_, since) in self._idle.items():
            if now - since > self._header_seconds:
                connection.transport.close()

    def _close_half_sent(self) -> None:
        for connection in list(self.server_state.connections):
            request = getattr(connection, "cycle", None)
            if request is not None and request.more_body and not request.response_complete:
                connection.transport.close()


class StartTold:
    """Replaces the traceback of a failed start by one line, if the error is one of the package's."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_and_report(message: Message) -> None:
            if message["type"] == "lifespan.startup.failed" and (
                why := _OWN_ERROR.search(message["message"])
            ):
                message = {**message, "message": why[1].strip()}
            await send(message)

        await self._app(scope, receive, send_and_report if scope["type"] == "lifespan" else send)


async def serve_stdio(config: RagConfig, roots: Sequence[Path], user_id: str, *, write: bool) -> None:
    """Run an MCP server on standard input and output until the client closes them.

    Raises:
        InputError: a root is no folder.
    """
    allowed = AllowedRoots(roots)
    async with open_rag(config) as rag, commands_served(rag):
        await mcp_server(rag, allowed, write=write, user_id=user_id).run_stdio_async()


def require_free_port(host: str, port: int) -> None:
    """Check that the address can be listened on; port 0 always can.

    Raises:
        InputError: another program has it, or it is no address of this machine.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as tried:
        tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            tried.bind((host, port))
        except OSError as error:
            why = (
                "another program uses it" if error.errno == errno.EADDRINUSE else error.strerror or str(error)
            )
            raise InputError(
                f"cannot serve at {host} port {port}: {why}; choose another with --port or --host"
            ) from error


def serve_forever(config: RagConfig, host: str, port: int, **options: Any) -> None:
    """Serve until a signal; running questions are finished first, within their time limit.

    ``options`` are those of ``create_app``.

    Raises:
        ConfigError: an address other than loopback without an API key.
        InputError: a root is no folder, or the address cannot be taken.
    """
    app = create_app(config, host=host, **options)
    require_free_port(host, port)  # uvicorn would look only after the stores are open
    settings = uvicorn.Config(
        StartTold(app),
        host=host,
        port=port,
        log_level="info",
        log_config=_LOGGING,
        access_log=False,  # paths contain names of notes
        timeout_graceful_shutdown=math.ceil(config.service.timeout_seconds),
        server_header=False,
    )
    server = DrainingServer(settings, app, config.service.drain_seconds, MAX_PAUSE_SECONDS)
    sys.setswitchinterval(SWITCH_SECONDS)
    with suppress(KeyboardInterrupt):
        server.run()
    if not server.started:
        sys.exit(STARTUP_FAILURE)
