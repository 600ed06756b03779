"""Replicas of the service as processes over shared stores, behind nginx with the configuration that is shipped."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import pytest

from graph_servers import GraphServer, falkordb_server, free_port
from object_store import ObjectStore, s3_server
from vector_stores import postgres_server

CONFIGURATION = Path(__file__).parents[1] / "configs" / "replicas.conf"
NGINX = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
READY_SECONDS = 120.0
_SERVE = (sys.executable, "-c", "from agentic_rag.cli import main; main()", "serve")


@dataclass
class Replica:
    """A process that can be ended and started again, on the same port and data folder."""

    name: str
    port: int
    folder: Path
    settings: Mapping[str, str]
    options: tuple[str, ...] = ()
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def log(self) -> str:
        """All that it said, before and after it was started again."""
        return (self.folder / f"{self.name}.log").read_text("utf-8")

    def start(self) -> None:
        command = (*_SERVE, "--port", str(self.port), "--data-dir", str(self.folder / self.name))
        with (self.folder / f"{self.name}.log").open("ab") as log:
            self.process = subprocess.Popen(
                (*command, *self.options), env={**os.environ, **self.settings}, stdout=log, stderr=log
            )

    def readiness(self) -> httpx.Response | None:
        """What /readyz says; None where nothing answers."""
        try:
            return httpx.get(f"{self.url}/readyz", timeout=10)
        except httpx.TransportError:
            return None

    def wait(self, status: int = 200) -> httpx.Response:
        """Until /readyz answers so."""
        until = time.monotonic() + READY_SECONDS
        while (found := self.readiness()) is None or found.status_code != status:
            if time.monotonic() > until or self.process is None or self.process.poll() is not None:
                raise RuntimeError(f"{self.name} does not answer {status}: {self.log[-2000:]}")
            time.sleep(0.05)
        return found

    def end(self, how: signal.Signals) -> None:
        """Send it a signal, and wait until it is gone."""
        if self.process is not None:
            self.process.send_signal(how)
            self.process.wait()


@dataclass
class Replicas:
    """Two, the first of which writes, and their proxy."""

    url: str
    writer: Replica
    reader: Replica
    graph: GraphServer
    s3: ObjectStore
    stop_s3: ExitStack = field(repr=False)


@contextmanager
def replicas(folder: Path, root: Path) -> Iterator[Replicas]:
    """Both ready, on FalkorDB, PostgreSQL and S3; clients may name ``root`` at the writer."""
    if NGINX is None:
        pytest.skip("nginx is not installed, so there is no proxy to test with (apt install nginx-light)")
    folder.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        stop_s3 = stack.enter_context(ExitStack())
        s3 = stop_s3.enter_context(s3_server())
        graph = stack.enter_context(falkordb_server(folder))
        shared = {
            "AGENTIC_RAG_LANCEDB_URI": s3.empty_uri(),
            "AGENTIC_RAG_STORAGE_OPTIONS": json.dumps(s3.options),
            "AGENTIC_RAG_GRAPH__BACKEND": graph.backend,
            "AGENTIC_RAG_GRAPH__URI": graph.uri,
            "AGENTIC_RAG_GRAPH__PASSWORD": graph.password,
            "AGENTIC_RAG_SERVICE__CONVERSATIONS": stack.enter_context(postgres_server()),
            "AGENTIC_RAG_SERVICE__DRAIN_SECONDS": "1",
        }
        writer = Replica("replica-1", free_port(), folder, shared, ("--root", str(root)))
        only_answers = {"AGENTIC_RAG_SERVICE__WRITES": "false", "AGENTIC_RAG_LANCEDB_COPIES": "true"}
        reader = Replica("replica-2", free_port(), folder, {**shared, **only_answers})
        both = (writer, reader)
        for one in both:
            one.start()
            stack.callback(one.end, signal.SIGKILL)
        for one in both:
            one.wait()
        url = stack.enter_context(_proxy(folder, both))
        yield Replicas(url, writer, reader, graph, s3, stop_s3)


@contextmanager
def _proxy(folder: Path, both: tuple[Replica, ...]) -> Iterator[str]:
    """nginx with the shipped configuration, in which only names and ports are of this machine."""
    port = free_port()
    text = CONFIGURATION.read_text("utf-8").replace("listen 8321;", f"listen 127.0.0.1:{port};")
    for one in both:
        text = text.replace(f"{one.name}:8321", f"127.0.0.1:{one.port}")
    (folder / "replicas.conf").write_text(text, "utf-8")
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    folders = "".join(f"{kind}_temp_path {folder}/{kind};\n" for kind in kinds)
    user = "user root;" if os.geteuid() == 0 else ""  # pytest's folders are open to their owner alone
    (folder / "nginx.conf").write_text(
        f"{user} daemon off; worker_processes 1; pid {folder}/nginx.pid; error_log stderr crit;\n"
        f"events {{ worker_connections 1024; }}\nhttp {{ {folders} include {folder}/replicas.conf; }}\n",
        "utf-8",
    )
    command = (str(NGINX), "-e", "stderr", "-p", str(folder), "-c", str(folder / "nginx.conf"))
    with (folder / "nginx.log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        until = time.monotonic() + 60
        while not _answers(f"http://127.0.0.1:{port}/healthz"):
            if time.monotonic() > until or process.poll() is not None:
                raise RuntimeError(f"nginx does not start: {(folder / 'nginx.log').read_text('utf-8')}")
            time.sleep(0.05)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait()


def _answers(url: str) -> bool:
    try:
        return httpx.get(url).status_code == 200
    except httpx.TransportError:
        return False
