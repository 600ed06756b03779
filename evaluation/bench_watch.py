"""Latency and completeness of following a folder, also after the watcher is killed.

    python evaluation/bench_watch.py [--notes N] [--edits N] [--quick] [--json FILE]

A vault of N notes generated from the real passages of ../shared/data/beir/multihop/pool3 (see ``bench_disk``) is
ingested and followed. Edits one after the other: the time from writing the file until ``ask`` finds the new sentence. Then
500 files (a sixth of the notes at most) changed at once, a folder moved, and a watcher of its own process killed in the
midst of as many changes and started again. ``--quick`` is 300 notes and 10 edits. Exits 1 when a floor is missed.
"""

from __future__ import annotations

import asyncio
import gc
import json
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from agentic_rag import Rag, RagConfig, open_rag
from agentic_rag.domain.ports import FloatArray, PassageVectors
from agentic_rag.models.bundled import BundledEmbedding
from bench_disk import PASSAGES, generated
from figures import COMMAND, Row, options, percentiles, report, row

NOTES, QUICK_NOTES = 3_000, 300
EDITS, QUICK_EDITS = 100, 10
BURST = 500
FOUND_FLOOR = 2.0
"""Maximum seconds until 95 % of the edits are found."""
PATIENCE = 60.0
"""Seconds after which a change counts as not found."""
MOVED = 20
POLLED = 0.1
"""Seconds between two searches for missing sentences, because a search takes both cores."""


class Counting(BundledEmbedding):
    """The bundled model, counting the texts that it embeds."""

    def __init__(self) -> None:
        super().__init__()
        self.embedded = 0

    async def embed_passages(self, texts: Sequence[str]) -> FloatArray:
        self.embedded += len(texts)
        return await super().embed_passages(texts)

    async def embed_passage_tokens(self, texts: Sequence[str]) -> PassageVectors:
        self.embedded += len(texts)
        return await super().embed_passage_tokens(texts)


@asynccontextmanager
async def followed(rag: Rag, vault: Path) -> AsyncIterator[None]:
    """Follow the vault, and wait until the dataset is up to date."""
    stop, caught_up = asyncio.Event(), asyncio.Event()

    async def follow() -> None:
        async for _ in rag.watch(vault, stop=stop):
            caught_up.set()

    task = asyncio.create_task(follow())
    await caught_up.wait()
    # As the service does once it is warm.
    await rag.warm_up()
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        stop.set()
        await task


def sentences(count: int) -> Iterator[str]:
    """Real sentences that no note has, with distinct beginnings, because some articles are alike."""
    records = [json.loads(line) for line in PASSAGES.open(encoding="utf-8")]
    unused = sorted(records, key=lambda record: str(record["title"]))[count + 100 :]
    seen = set()
    for record in unused:
        first = re.split(r"(?<=[a-z]\.) ", str(record["text"]).strip())[0]
        if 60 < len(first) < 300 and str(record["title"]).split()[0] in first:
            begins = tuple(first.split()[:5])
            if begins not in seen:
                seen.add(begins)
                yield first


async def is_found(rag: Rag, sentence: str) -> bool:
    """Whether a question with its own words finds it."""
    answer = await rag.ask(sentence, operation="document_retrieval")
    return any(sentence in str(result["content"]) for result in answer.results)


async def is_stored(rag: Rag, sentence: str) -> bool:
    """Whether a search for its words finds it; ``ask`` shows only ten of several equal sentences."""
    found = await rag.search(sentence, strategy="sparse", top_k=BURST)
    return any(sentence in result.content for result in found)


async def until_found(rag: Rag, changes: Sequence[str]) -> list[str]:
    """Search each until it is found; returns those never found."""
    missing, deadline = list(changes), time.monotonic() + PATIENCE
    while missing and time.monotonic() < deadline:
        missing = [change for change in missing if not await is_found(rag, change)]
        await asyncio.sleep(POLLED)
    return missing


def changed(notes: Sequence[Path], new: Iterator[str]) -> list[str]:
    """Write a new sentence into each note, at once."""
    changes = [next(new) for _ in notes]
    for note, sentence in zip(notes, changes, strict=True):
        note.write_text(f"{note.read_text('utf-8')}\n{sentence}\n", "utf-8")
    return changes


async def twice(rag: Rag) -> int:
    """Number of chunks of equal text in one document that are stored more than once."""
    records = await rag.ledger.records("default")
    held = await rag.chunks.count("default")
    return held - sum(record.chunks for record in records.values())


async def edited(rag: Rag, notes: Sequence[Path], edits: int, new: Iterator[str]) -> list[Row]:
    times = []
    for number in range(edits):
        started = time.perf_counter()
        change = changed([notes[number * 7 % len(notes)]], new)
        missing = await until_found(rag, change)
        times.append(float("inf") if missing else time.perf_counter() - started)
    p50, p95 = percentiles(times)
    return [
        row(f"an edit of one of {len(notes)} notes until it is found, p50", "s", p50),
        row(f"the same, p95 of {edits}", "s", p95, floor=FOUND_FLOOR),
    ]


async def burst(rag: Rag, notes: Sequence[Path], new: Iterator[str]) -> list[Row]:
    started = time.perf_counter()
    missing = await until_found(rag, changed(notes, new))
    seconds = time.perf_counter() - started
    lost = [change for change in missing if not await is_stored(rag, change)]
    return [
        row(f"{len(notes)} notes changed at once, until all are found", "s", seconds),
        row("changed at once and not among the ten of ask", "notes", len(missing)),
        row("changed at once and not found by its words either", "notes", len(lost), floor=0),
        row("chunks stored twice", "chunks", await twice(rag), floor=0),
    ]


async def moved(rag: Rag, embedding: Counting, vault: Path, notes: Sequence[Path]) -> list[Row]:
    before = embedding.embedded
    folder = vault / "moved"
    folder.mkdir()
    for note in notes:
        note.rename(folder / note.name)
    wanted = {f"moved/{note.name}" for note in notes}
    for _ in range(int(PATIENCE)):
        if wanted <= (await rag.ledger.records("default")).keys():
            break
        await asyncio.sleep(1)
    held = (await rag.ledger.records("default")).keys()
    return [
        row(
            f"{len(notes)} notes moved: held under their new names",
            "notes",
            len(wanted & held),
            bound="min",
            floor=len(notes),
        ),
        row("moved notes embedded again", "texts", embedding.embedded - before, floor=0),
    ]


def watcher(vault: Path, data: Path) -> subprocess.Popen[str]:
    command = [*COMMAND, "watch", str(vault), "--json", "--data-dir", str(data)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


async def killed(data: Path, vault: Path, notes: Sequence[Path], new: Iterator[str]) -> list[Row]:
    """Kill a watcher while it stores; another one catches up."""
    first = watcher(vault, data)
    await asyncio.to_thread(first.stdout.readline)  # type: ignore[union-attr]  # caught up
    changes = await asyncio.to_thread(changed, notes, new)
    await asyncio.sleep(2.5)  # during the ingest
    first.send_signal(signal.SIGKILL)
    first.wait()
    second = watcher(vault, data)
    await asyncio.to_thread(second.stdout.readline)  # type: ignore[union-attr]
    second.terminate()
    await asyncio.to_thread(second.wait)
    async with open_rag(RagConfig(data_dir=data)) as rag:
        pending = sum(record.pending for record in (await rag.ledger.records("default")).values())
        missing = [change for change in changes if not await is_found(rag, change)]
        return [
            row("changed, watcher killed and started again: not found", "notes", len(missing), floor=0),
            row("the same: marked as unfinished", "notes", pending, floor=0),
            row("the same: chunks stored twice", "chunks", await twice(rag), floor=0),
        ]


async def measured(notes: int, edits: int, folder: Path) -> list[Row]:
    vault = folder / "vault"
    generated(vault, notes)
    new = sentences(notes)
    embedding = Counting()
    data = folder / "data"
    files = sorted(vault.rglob("*.md"))
    some = files[:: max(1, len(files) // BURST)][: min(BURST, len(files) // 6)]
    async with open_rag(RagConfig(data_dir=data), embedding=embedding) as rag:
        print(f"{len(files)} notes in {(await rag.ingest(vault)).seconds:.0f} s", file=sys.stderr)
        async with followed(rag, vault):
            rows = await edited(rag, files, edits, new)
            rows += await burst(rag, some, new)
            rows += await moved(rag, embedding, vault, [file for file in files if file not in some][:MOVED])
    return [*rows, *await killed(data, vault, [file for file in some if file.exists()], new)]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = options(__doc__, f"{QUICK_NOTES} notes, {QUICK_EDITS} edits")
    parser.add_argument("--notes", type=int, default=NOTES, help="notes of the vault")
    parser.add_argument("--edits", type=int, default=EDITS, help="edits, one after the other")
    given = parser.parse_args(arguments)
    notes, edits = (QUICK_NOTES, QUICK_EDITS) if given.quick else (given.notes, given.edits)
    if not PASSAGES.exists():
        parser.error(f"{PASSAGES} is missing; the vault is made of its passages")
    with tempfile.TemporaryDirectory() as folder:
        return report("watch", asyncio.run(measured(notes, edits, Path(folder))), given.json)


if __name__ == "__main__":
    sys.exit(main())
