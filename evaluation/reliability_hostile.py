"""Hostile requests to a running service: each must be refused, without reading, writing or revealing anything.

``agentic-rag serve`` runs as a separate process, with the bundled model, a root folder, MCP with its writing
tools, and two keys: one for a user and dataset that must stay unreachable, one for the caller, limited to his own
dataset. The requests combine hostile values with the places where a value can occur; no two are the same. They
are written to the socket as bytes, so that no client library corrects them. Legitimate requests are not among
them, except remembering texts as himself; his own memories are left out of the comparison of the stores.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import agentic_rag
from agentic_rag import RagConfig, open_rag
from agentic_rag.domain.identity import group_id, memory_dataset
from figures import Row, row
from graph_servers import free_port
from reliability_requests import OTHER, OTHER_KEY, OWN, OWN_KEY, QUESTION, Hostile, Request
from stored import Stored, differences, tables

REQUESTS, QUICK_REQUESTS = 10_000, 300
AT_ONCE = 8
_CRASHED = re.compile(r'"code":-32603|Error executing tool \w+"')
PATIENCE = 90.0
"""Seconds for an answer; the service gives a question 60."""
SECRETS = (OWN_KEY, OTHER_KEY, "zqtheirsecret", "zqoutsidesecret", "root:x:0")


async def _answer(port: int, sent: bytes) -> tuple[int, str]:
    """Status and the full response; 0 without a response."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    came = b""
    # A request refused early is cut off, so the response is read while the request is written.
    writer.write(sent)
    try:
        async with asyncio.timeout(PATIENCE):
            while part := await reader.read(1 << 16):
                came += part
    except (TimeoutError, ConnectionError):
        pass  # the response so far is judged
    finally:
        writer.transport.abort()
    came = came.removeprefix(b"HTTP/1.1 100 Continue\r\n\r\n")
    status = came.partition(b" ")[2][:3]
    return int(status) if status.isdigit() else 0, came.decode("utf-8", "replace")


@dataclass
class Came:
    """Counts of the responses."""

    statuses: Counter[int]
    failed: int = 0
    secrets: int = 0
    places: int = 0

    def add(self, request: Request, status: int, text: str, folder: Path) -> None:
        """Count one, and print what is wrong with it."""
        self.statuses[status] += 1
        # MCP's internal errors come with status 200.
        failed = status >= 500 or status == 0 or bool(_CRASHED.search(text))
        secret = any(one in text for one in SECRETS)
        places = (str(folder), str(Path(agentic_rag.__file__).parent), sys.prefix, str(Path.home()) + "/")
        place = any(one in text for one in places)
        self.failed, self.secrets, self.places = (
            self.failed + failed,
            self.secrets + secret,
            self.places + place,
        )
        if failed or secret or place:
            wrong = {"failed": failed, "secret": secret, "place": place}
            print(
                [name for name, is_so in wrong.items() if is_so],
                str(request)[:600],
                text[-400:],
                file=sys.stderr,
            )


async def _sent(port: int, hostile: Hostile, number: int, folder: Path) -> Came:
    came = Came(Counter())
    requests = hostile.requests(number)

    async def worker() -> None:
        for request in requests:
            came.add(request, *await _answer(port, request.sent(port)), folder)

    await asyncio.gather(*(worker() for _ in range(AT_ONCE)))
    return came


async def _filled(folder: Path) -> None:
    """Create notes of both users, files beside the folder, and a memory of the user who must stay unreachable."""
    for name, word in ((OWN, "held at 71 °C"), (OTHER, "zqtheirsecret")):
        (folder / name).mkdir()
        (folder / name / "Kettle.md").write_text(f"# Kettle\n\nThe kettle of [[Porto]] is {word}.\n", "utf-8")
        (folder / name / "Porto.md").write_text(
            f"---\nyear: 2023\n---\n# Porto\n\nA town: {word}.\n", "utf-8"
        )
    (folder / "outside").mkdir()
    for name in ("secret.md", "secret.canvas"):
        (folder / "outside" / name).write_text("zqoutsidesecret", "utf-8")
    (folder / OWN / "link").symlink_to(folder / "outside")
    async with open_rag(RagConfig(data_dir=folder / "data")) as rag:
        for name in (OWN, OTHER):
            await rag.ingest(folder / name, dataset=name)
        await rag.memory.remember("I live in zqtheirsecret.", "ada")


@contextmanager
def _service(folder: Path) -> Iterator[tuple[int, subprocess.Popen[bytes]]]:
    keys = [
        {"key": OWN_KEY, "user": "mal", "datasets": [OWN]},
        {"key": OTHER_KEY, "user": "ada", "datasets": [OTHER]},
    ]
    port = free_port()
    command = [
        sys.executable,
        "-c",
        "from agentic_rag.cli import main; main()",
        "serve",
        "--port",
        str(port),
        "--mcp-write",
    ]
    command += ["--root", str(folder / OWN), "--data-dir", str(folder / "data")]
    environment = {**os.environ, "AGENTIC_RAG_SERVICE__KEYS": json.dumps(keys)}
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, env=environment, stdout=log, stderr=log, cwd=folder)
    try:
        until = time.monotonic() + 120
        while not _is_ready(port):
            if process.poll() is not None or time.monotonic() > until:
                raise RuntimeError(
                    f"the service does not start: {(folder / 'log').read_text(errors='replace')[-2000:]}"
                )
            time.sleep(0.2)
        yield port, process
    finally:
        process.terminate()
        process.wait()


def _is_ready(port: int) -> bool:
    try:
        return asyncio.run(_answer(port, Request("GET", "/readyz").sent(port)))[0] == 200
    except OSError:
        return False


def _files(folder: Path) -> dict[str, bytes]:
    """All files except the stores' and the log; uploads are in the data folder."""
    files = (path for path in folder.rglob("*") if path.is_file())
    named = {path.relative_to(folder): path for path in files}
    kept = {
        name: path
        for name, path in named.items()
        if name.parts[0] not in ("data", "log") or "uploads" in name.parts
    }
    return {str(name): path.read_bytes() for name, path in kept.items()}


def _without_own_memories(stored: Stored) -> Stored:
    own = group_id(memory_dataset("mal"))
    rows = {name: dict(held) for name, held in stored.rows.items() if own not in name}
    rows.get("datasets", {}).pop(own, None)
    return Stored(rows, {name: held for name, held in stored.vectors.items() if own not in name})


def run(quick: bool) -> list[Row]:
    """All rows."""
    number = QUICK_REQUESTS if quick else REQUESTS
    with TemporaryDirectory() as scratch:
        folder = Path(scratch).resolve()
        asyncio.run(_filled(folder))
        files, stored = _files(folder), _without_own_memories(asyncio.run(tables(folder / "data")))
        with _service(folder) as (port, process):
            came = asyncio.run(_sent(port, Hostile(folder, random.Random(9)), number, folder))
            asked = Request("POST", "/ask", json.dumps({"query": QUESTION, "dataset": OWN}).encode())
            status, told = asyncio.run(_answer(port, asked.sent(port)))
            dead = not (process.poll() is None and status == 200 and "71 °C" in told)
        files_after, stored_after = (
            _files(folder),
            _without_own_memories(asyncio.run(tables(folder / "data"))),
        )
        log = (folder / "log").read_text("utf-8", "replace")
    changed = [name for name in files.keys() | files_after.keys() if files.get(name) != files_after.get(name)]
    unlike = differences(stored, stored_after)
    for one in [*changed[:5], *unlike[:5]]:
        print(one, file=sys.stderr)
    return [
        *(row(f"hostile: answers with status {status}", "answers", times) for status, times in sorted(came.statuses.items())),
        row(f"hostile: server errors and missing answers, of {number} requests", "answers", came.failed, floor=0),
        row("hostile: answers with a key, or a text of another dataset, user or folder", "answers", came.secrets, floor=0),
        row("hostile: answers with an absolute path of the machine", "answers", came.places, floor=0),
        row("hostile: tracebacks in the log", "tracebacks", log.count("Traceback (most rec"), floor=0),
        row("hostile: secrets in the log", "texts", sum(one in log for one in SECRETS), floor=0),
        row("hostile: files changed, made or deleted", "files", len(changed), floor=0),
        row("hostile: rows of the stores changed, of all datasets and other users", "rows", len(unlike), floor=0),
        row("hostile: afterwards a normal question fails, or the process has ended", "of 1", dead, floor=0),
    ]  # fmt: skip
