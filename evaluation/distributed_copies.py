"""Time of a question over tables on an object store, cold and warm, read directly and from local copies.

A vault of real passages is ingested into a folder, whose files are then put into a bucket of S3's protocol (moto, in this
process). Processes ask it: the first with a new data folder, the second on that of the first, the third 50 other
questions, too, a second apart, so that each looks for later versions of the tables. Requests are counted at the store.
moto answers one at a time, each in milliseconds; a store in a data centre takes 10 to 30, and answers many at once.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from agentic_rag import RagConfig, open_rag
from agentic_rag.backup import VECTORS
from agentic_rag.stores.lancedb.connection import READ_CONSISTENCY
from agentic_rag.testing import TokenHashingEmbedding
from bench_disk import PASSAGES
from bench_scale import notes, written
from distributed_runs import apart
from figures import Row, row
from object_store import BUCKET, ObjectStore, s3_server

NOTES, QUICK_NOTES = 5_000, 250
QUESTIONS, QUICK_QUESTIONS = 50, 5
COPIED_FLOOR = 0.2
"""Maximum requests per question, relative to direct reads."""


@dataclass(frozen=True)
class Place:
    """Arguments of a process."""

    uri: str
    options: dict[str, str]
    questions: tuple[str, ...]


@dataclass(frozen=True)
class Asked:
    """Measurements of one process."""

    opened_and_first: float
    """Seconds for opening and the first question."""
    others: tuple[float, ...]
    """Seconds per further question."""


async def _ingested(vault: Path, data: Path) -> int:
    async with open_rag(RagConfig(data_dir=data), embedding=TokenHashingEmbedding()) as rag:
        return (await rag.ingest(vault)).chunks


def ingested(vault: Path, data: Path) -> int:
    """Number of chunks."""
    return asyncio.run(_ingested(vault, data))


async def _asked(place: Place, data: Path, count: int, *, copies: bool) -> Asked:
    config = RagConfig(
        data_dir=data, lancedb_uri=place.uri, storage_options=place.options, lancedb_copies=copies
    )
    seconds = []
    began = time.perf_counter()
    async with open_rag(config, embedding=TokenHashingEmbedding()) as rag:
        for question in place.questions[:count]:
            await rag.ask(question, parameters={"retrieval": {"timeout_seconds": 600.0}})
            seconds.append(time.perf_counter() - began)
            await asyncio.sleep(READ_CONSISTENCY.total_seconds())
            began = time.perf_counter()
    return Asked(seconds[0], tuple(seconds[1:]))


def asked(place: Place, data: Path, count: int, copies: bool) -> Asked:
    return asyncio.run(_asked(place, data, count, copies=copies))


def _rows(store: ObjectStore, place: Place, folder: Path) -> list[Row]:
    rows, warm, requests = [], {}, {}
    for copies in (False, True):
        called = "from copies" if copies else "directly"
        counts = []
        for count, start in ((1, "first"), (1, "second"), (len(place.questions), "third")):
            store.answered.clear()
            done = apart(asked, place, folder / called, count, copies)
            counts.append(sum(store.answered[method] for method in ("GET", "HEAD")))
            megabytes = store.answered["bytes"] / 1e6
            print(
                f"{called}, {start} start: {counts[-1]} requests, {megabytes:.1f} MB",
                file=sys.stderr,
                flush=True,
            )
            if count == 1:
                rows += [
                    row(f"copies: opened and asked {called}, the {start} time", "s", done.opened_and_first),
                    row("copies: of that requests", "", counts[-1]),
                    row("copies: of that read", "MB", megabytes),
                ]
        warm[copies] = float(np.median(done.others))
        requests[copies] = (counts[2] - counts[1]) / len(done.others)
    return [
        *rows,
        row("copies: a question, warm, p50", "s", warm[True], peer="directly", theirs=warm[False]),
        row("copies: requests of a question", "", requests[True], peer="directly", theirs=requests[False],
            floor=COPIED_FLOOR * requests[False]),
    ]  # fmt: skip


def run(quick: bool) -> list[Row]:
    """All rows."""
    count = QUICK_NOTES if quick else NOTES
    os.environ["SERVERS_FOR_TESTS"] = "required"
    with s3_server() as store, TemporaryDirectory() as scratch:
        folder = Path(scratch)
        written(folder / "vault", islice(notes(count), count))
        chunks = apart(ingested, folder / "vault", folder / "data")
        uri = store.empty_uri()
        client, tables = store.client("s3"), folder / "data" / VECTORS
        for file in tables.rglob("*"):
            if file.is_file():
                client.upload_file(str(file), BUCKET, f"{uri.rpartition('/')[2]}/{file.relative_to(tables)}")
        asking = QUICK_QUESTIONS if quick else QUESTIONS
        queries = (PASSAGES.parent / "queries.jsonl").read_text("utf-8").splitlines()[: asking + 1]
        place = Place(uri, store.options, tuple(json.loads(query)["text"] for query in queries))
        return [row("copies: chunks", "", chunks), *_rows(store, place, folder)]
