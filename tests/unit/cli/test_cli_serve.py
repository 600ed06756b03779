"""``serve``: output if the service cannot start."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import pytest
from starlette.applications import Starlette
from starlette.types import Message

from agentic_rag.errors import InputError, StoreError
from agentic_rag_service.serve import StartTold, require_free_port


async def _told(error: Exception) -> str:
    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        raise error
        yield

    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "lifespan.startup"}

    async def send(message: Message) -> None:
        sent.append(message)

    with suppress(type(error)):
        await StartTold(Starlette(lifespan=lifespan))({"type": "lifespan", "app": None}, receive, send)
    (failed,) = sent
    return str(failed["message"])


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (StoreError("the folder is not writable"), "the folder is not writable"),
        (ValueError("a bug"), "Traceback"),
    ],
)
async def test_why_it_cannot_start_is_a_line_where_it_is_known(error: Exception, told: str) -> None:
    assert (await _told(error)).startswith(told)


@pytest.mark.parametrize(
    ("host", "told"), [("127.0.0.1", "another program uses it"), ("192.0.2.1", "cannot serve at 192")]
)
def test_an_address_that_cannot_be_taken_is_one_line(host: str, told: str) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(InputError, match=f"{told}.*choose another with --port"):
            require_free_port(host, port)
    require_free_port("127.0.0.1", 0)
