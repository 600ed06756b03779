"""Clients that send a part of a request and no more: closed with a line, also when the service ends."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import uvicorn

from agentic_rag import RagConfig
from agentic_rag_service import access
from agentic_rag_service.app import create_app
from agentic_rag_service.serve import LAST_BODY_SECONDS, DrainingServer

PAUSE = 2.0
QUESTION = b'{"query": "What is tea?"}'
HEADER = b"POST /ask HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 25\r\n"
Connect = Callable[[bytes], socket.socket]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("slow")


@pytest.fixture(scope="module", params=["httptools", "h11"])
def server(data: Path, request: pytest.FixtureRequest) -> Iterator[DrainingServer]:
    pytest.importorskip(request.param)
    app = create_app(RagConfig(data_dir=data))
    settings = uvicorn.Config(app, port=0, log_level="warning", http=request.param)
    server = DrainingServer(settings, app, 0, PAUSE)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive(), "the service did not start"
        time.sleep(0.02)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(access, "MAX_PAUSE_SECONDS", PAUSE)
        yield server
    server.should_exit = True
    thread.join(timeout=30)


@pytest.fixture
def connect(server: DrainingServer) -> Connect:
    address = server.servers[0].sockets[0].getsockname()

    def connected(sent: bytes) -> socket.socket:
        client = socket.create_connection(address, timeout=10 * PAUSE)
        client.sendall(sent)
        return client

    return connected


def _all_of(client: socket.socket) -> bytes:
    """What comes until the server closes the connection."""
    parts = []
    with client:
        while part := client.recv(4096):
            parts.append(part)
    return b"".join(parts)


def test_a_half_header_is_closed(connect: Connect) -> None:
    whole = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    silent, half, second = connect(b""), connect(HEADER), connect(whole + HEADER)
    assert (_all_of(silent), _all_of(half)) == (b"", b"")
    assert _all_of(second).startswith(b"HTTP/1.1 200")


def test_a_half_body_is_told_and_closed(connect: Connect) -> None:
    told = _all_of(connect(HEADER + b"\r\n" + QUESTION[:9]))
    assert told.startswith(b"HTTP/1.1 408")
    assert b"nothing of the request came for 2 s; send it again" in told


def test_a_slow_but_steady_request_goes_on(connect: Connect) -> None:
    client = connect(HEADER + b"Connection: close\r\n\r\n")
    for start in range(0, len(QUESTION), 5):
        time.sleep(0.3 * PAUSE)
        client.sendall(QUESTION[start : start + 5])
    told = _all_of(client)
    assert told.startswith(b"HTTP/1.1 404"), "nothing was ingested"
    assert b"UnknownDataset" in told


def test_an_upload_that_breaks_off_leaves_nothing(
    connect: Connect, data: Path, caplog: pytest.LogCaptureFixture
) -> None:
    part = b'--b\r\nContent-Disposition: form-data; name="files"; filename="x.md"\r\n\r\n# Tea\n'
    header = b"POST /ingest/files HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 3000000\r\n"
    header += b"Content-Type: multipart/form-data; boundary=b\r\n\r\n"
    client = connect(header + part + b"tea " * 500_000)
    time.sleep(0.5)
    client.close()
    time.sleep(0.5)
    assert not [record for record in caplog.records if record.exc_info]
    assert not list(data.rglob("uploads"))
    assert _all_of(connect(b"GET /ingest HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")).endswith(
        b'{"jobs":[]}'
    )


def test_the_service_ends_beside_half_sent_requests(server: DrainingServer, connect: Connect) -> None:
    clients = [connect(sent) for sent in (b"", HEADER, HEADER + b"\r\n" + QUESTION[:9])]
    time.sleep(0.3)
    started = time.monotonic()
    server.should_exit = True
    assert [_all_of(client) for client in clients] == [b""] * 3
    assert time.monotonic() - started < LAST_BODY_SECONDS + PAUSE
