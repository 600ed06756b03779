"""Commands that need no server open no connection: no telemetry, no download, no look-up of a name.

Seen is what goes through Python. Compiled libraries have sockets of their own, which Python is not told of.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from vector_stores import skip_without

WATCHED = """
import os, sys

OUTWARD = ("socket.connect", "socket.getaddrinfo", "socket.gethostby", "socket.sendto", "socket.sendmsg")
STARTED = ("subprocess.Popen", "os.exec", "os.posix_spawn", "os.fork", "os.system")

def refuse(event, arguments):
    if event.startswith(OUTWARD + STARTED):
        os.write(2, f"\\nOUTWARD {event} {arguments!r:.200}\\n".encode())  # whoever asks may hide the error
        raise PermissionError(event)

sys.addaudithook(refuse)
"""
COMMANDS = (
    WATCHED
    + """
import json
import agentic_rag.cli

for command in json.loads(sys.argv[1]):
    sys.argv[1:] = command
    try:
        agentic_rag.cli.main()
    except SystemExit as ended:
        assert not ended.code, command
print("modules:", *sys.modules)
"""
)


def _run(code: str, *arguments: str | Path, home: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run in an empty folder, by settings of its own alone, as on a machine that nothing was set up on."""
    environment = {name: os.environ[name] for name in ("PATH", "LD_LIBRARY_PATH") if name in os.environ}
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        capture_output=True,
        check=False,
        cwd=home,
        encoding="utf-8",
        env=environment | {"HOME": str(home)} | variables,
        timeout=240,
    )


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["lancedb", "chroma"])
def test_ingest_and_ask_open_no_connection(backend: str, tmp_path: Path) -> None:
    skip_without(backend)
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "Oolong.md").write_text("# Oolong\n\nOolong comes from [[Fujian]].", encoding="utf-8")
    (notes / "Fujian.md").write_text("# Fujian\n\nA province by the sea.", encoding="utf-8")
    commands = [
        ["ingest", str(notes)],
        ["search", "the sea"],
        ["stats"],
        ["ask", "Where does Oolong come from?"],
    ]
    ended = _run(COMMANDS, json.dumps(commands), home=tmp_path, AGENTIC_RAG_VECTORS__BACKEND=backend)
    assert "OUTWARD" not in ended.stderr
    assert ended.returncode == 0, ended.stderr
    assert "comes from Fujian" in ended.stdout
    if backend == "lancedb":
        others = {
            "bm25s",
            "chromadb",
            "pymilvus",
            "sqlalchemy",
            "psycopg",
            "agentic_rag_backends.vectorstores",
        }
        assert not others & set(ended.stdout.split()), "the default imports nothing of other stores"


@pytest.mark.parametrize(
    "attempt",
    [
        "socket.create_connection(('127.0.0.1', 9))",
        "socket.getaddrinfo('localhost', 9)",
        "socket.socket().connect(('127.0.0.1', 9))",
        "socket.socket(type=socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', 9))",
        "subprocess.run(['true'])",
        "threading.Thread(target=socket.getaddrinfo, args=('localhost', 9)).start()",
    ],
)
def test_the_watch_sees_each_attempt(attempt: str, tmp_path: Path) -> None:
    code = f"{WATCHED}import contextlib, socket, subprocess, threading\nwith contextlib.suppress(OSError):\n    {attempt}"
    assert "OUTWARD" in _run(code, home=tmp_path).stderr
