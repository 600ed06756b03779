"""One large vault on one machine: the parts of an ingest's time, memory, disk, an edit, a question.

    python evaluation/bench_scale.py [--notes N] [--embedded N] [--edited N] [--keep DIR] [--quick] [--json FILE]

A vault of N notes (by default 50,000) is generated from real text: each note has four sections, each a real passage of
../shared/data/beir/multihop/pool3, and links to notes. The bundled model embeds the notes of the first --embedded
sections (by default 20,000). The others get the vectors of one of these sections, moved at random, because embedding
all would take an hour. Their token vectors repeat and so take less on disk. With 500 embedded
sections a question reads them in 147 ms, with 2,000 in 11, so questions need at least 2,000.

Two ingests are measured: of the embedded notes, for the share of time that embedding takes, and of the whole vault.
Then come edits that are followed until they are found, questions, a command from the shell, and
--edited notes (by default 10,000), edited 500 at a time, for the growth of the disk. ``--keep`` leaves vault and data
there, for ``bench_service --folder DIR/data``.
``--quick`` is 1,000 notes. Exits 1 when a floor is missed.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import random
import resource
import sys
import tempfile
import time
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

import numpy as np

from agentic_rag import Rag, RagConfig, open_rag
from agentic_rag.domain.ports import FloatArray, PassageVectors
from agentic_rag.ingest.pipeline import IngestReport
from agentic_rag.models.bundled import BundledEmbedding
from bench_disk import PASSAGES, bytes_of
from bench_watch import changed, followed, sentences, until_found
from figures import COMMAND, Row, data_folder, options, percentiles, report, row, seconds_of

NOTES, QUICK_NOTES = 50_000, 1_000
EMBEDDED, QUICK_EMBEDDED = 20_000, 400
EDITED = 10_000
BURST = 500
SECTIONS = 4
LINKED = 3
"""Maximum links per section."""
EDITS, QUESTIONS = 20, 100
MEMORY_FLOOR, DISK_FLOOR, GROWN_FLOOR = 2_000, 40.0, 1.3
EDIT_FLOOR, ASK_FLOOR, COLD_FLOOR, ESTIMATE_FLOOR = 2.0, 250, 5.0, 0.25
ESTIMATED_AT = 0.1
"""Share of the work after which the total time of an ingest is estimated."""


class Mixed(BundledEmbedding):
    """The bundled model; on request, a randomly perturbed copy of an earlier vector for each further text."""

    def __init__(self) -> None:
        super().__init__()
        self.is_real = True
        self.seconds = 0.0
        """Seconds in which the model was embedding."""
        self._running, self._since = 0, 0.0
        self._kept = tempfile.TemporaryFile()  # noqa: SIM115  goes with the process
        """File with the vector and token vectors of each text; on disk, because memory is measured."""
        self._places: list[tuple[int, int]] = []
        """Offset and length of each entry."""

    async def embed_passages(self, texts: Sequence[str]) -> FloatArray:
        if not self.is_real:
            return self._moved(texts)[0]
        with self._timed():
            return await super().embed_passages(texts)

    async def embed_passage_tokens(self, texts: Sequence[str]) -> PassageVectors:
        if not self.is_real:
            return PassageVectors(*self._moved(texts))
        with self._timed():
            made = await super().embed_passage_tokens(texts)
        for vector, tokens in zip(made.vectors, made.tokens, strict=True):
            begins = self._kept.seek(0, os.SEEK_END)
            self._places.append((begins, self._kept.write(vector.astype(np.float32).tobytes() + tokens)))
        return made

    def _moved(self, texts: Sequence[str]) -> tuple[FloatArray, tuple[bytes, ...]]:
        places = [zlib.crc32(text.encode()) % len(self._places) for text in texts]
        kept = [self._read(*self._places[place]) for place in places]
        length = 4 * self.dimension
        found = np.array([np.frombuffer(one[:length], np.float32) for one in kept])
        moved = found + np.random.default_rng(places[0]).normal(0, 0.02, found.shape)
        vectors = (moved / np.linalg.norm(moved, axis=1, keepdims=True)).astype(np.float32)
        return vectors, tuple(one[length:] for one in kept)

    def _read(self, begins: int, length: int) -> bytes:
        self._kept.seek(begins)
        return self._kept.read(length)

    @contextmanager
    def _timed(self) -> Iterator[None]:
        """Adds the time; overlapping calls count once."""
        if not self._running:
            self._since = time.perf_counter()
        self._running += 1
        try:
            yield
        finally:
            self._running -= 1
            if not self._running:
                self.seconds += time.perf_counter() - self._since


def notes(count: int) -> Iterator[tuple[str, str]]:
    """Names and texts: real passages, four per note, in new combinations."""
    records = [json.loads(line) for line in PASSAGES.open(encoding="utf-8")]
    passages = [(str(one["title"]).replace("/", " ")[:60].strip(" ."), str(one["text"])) for one in records]
    chance = random.Random(30)
    names = [f"{passages[n % len(passages)][0]} {n}" for n in range(count)]
    for number, name in enumerate(names):
        parts = []
        for title, text in (passages[number % len(passages)], *chance.sample(passages, SECTIONS - 1)):
            links = ", ".join(f"[[{chance.choice(names)}]]" for _ in range(chance.randint(0, LINKED)))
            parts.append(f"## {title}\n\n{text}\n" + (f"\nSee {links}.\n" if links else ""))
        yield name, f"# {name}\n\n" + "\n".join(parts)


def written(folder: Path, some: Iterable[tuple[str, str]]) -> None:
    """Write notes as files, a thousand per folder."""
    for number, (name, text) in enumerate(some):
        place = folder / f"{number // 1000:03}"
        place.mkdir(parents=True, exist_ok=True)
        (place / f"{name}.md").write_text(text, encoding="utf-8")


class Estimate:
    """The estimate from an ingest's progress after a tenth of its work."""

    def __init__(self) -> None:
        self._begun: float | None = None
        self.seconds: float | None = None

    def __call__(self, stage: str, done: int, total: int) -> None:
        if stage != "store" or not total:
            return
        now = time.perf_counter()
        self._begun = self._begun or now
        if self.seconds is None and done >= ESTIMATED_AT * total:
            self.seconds = (now - self._begun) * total / done

    @property
    def taken(self) -> float:
        """Seconds since storing began."""
        return time.perf_counter() - (self._begun or time.perf_counter())


def stages(called: str, told: IngestReport) -> list[Row]:
    """One row per part of an ingest."""
    parts = sorted(told.stages.items(), key=lambda part: -part[1])
    return [row(f"{called}: {name}", "s", seconds) for name, seconds in parts if seconds >= 0.05]


async def first(rag: Rag, vault: Path, embedding: Mixed) -> list[Row]:
    """Ingest of the notes with real vectors, names and facts included."""
    estimate = Estimate()
    told = await rag.ingest(vault, progress=estimate)
    taken = estimate.taken
    others = told.seconds - embedding.seconds
    called = f"{told.chunks:,} chunks of {told.documents:,} notes, embedded"
    rows = [
        row(f"{called}: parts other than embedding", "share", others / told.seconds),
        row(f"{called}: notes a second", "1/s", told.documents / told.seconds),
        row("the same, embedding alone", "1/s", told.documents / embedding.seconds),
    ]
    if estimate.seconds is not None:
        off = abs(estimate.seconds / taken - 1)
        rows.append(row("time told after a tenth of it, off by", "share", off, floor=ESTIMATE_FLOOR))
    return rows + stages(called, told)


async def whole(rag: Rag, vault: Path, data: Path, embedding: Mixed) -> list[Row]:
    """Ingest of the whole vault, mostly with synthetic vectors."""
    told = await rag.ingest(vault)
    held = sum(file.stat().st_size for file in _files(vault))
    called = f"{told.chunks:,} chunks of {told.documents:,} notes"
    return [
        row(f"{called}: notes a second beside embedding", "1/s", told.documents / told.seconds),
        _most_memory("ingest"),
        row(f"{called}: folder / notes, open", "×", bytes_of(data)["all"] / held),
        *stages(called, told),
    ]


def _most_memory(of: str) -> Row:
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return row(f"most memory: {of}", "MB", memory, floor=MEMORY_FLOOR)


async def edits(rag: Rag, vault: Path, files: Sequence[Path], new: Iterator[str]) -> list[Row]:
    """Edit one note after the other, each until ``ask`` finds the new text."""
    times = []
    async with followed(rag, vault):
        for number in range(EDITS):
            started = time.perf_counter()
            missing = await until_found(rag, changed([files[number * 997 % len(files)]], new))
            times.append(float("inf") if missing else time.perf_counter() - started)
    p50, p95 = percentiles(times)
    return [
        row("an edit until it is found, p50", "s", p50),
        row(f"the same, p95 of {EDITS}", "s", p95, floor=EDIT_FLOOR),
    ]


async def asked(rag: Rag) -> list[Row]:
    """Real questions about the passages."""
    queries = [json.loads(line) for line in (PASSAGES.parent / "queries.jsonl").open(encoding="utf-8")]
    await rag.warm_up()
    gc.collect()
    gc.freeze()
    times = []
    for query in queries[:QUESTIONS]:
        started = time.perf_counter()
        await rag.ask(str(query["text"]), operation="document_retrieval")
        times.append((time.perf_counter() - started) * 1e3)
    p50, p95 = percentiles(times)
    return [
        row("ask, warm, p50", "ms", p50),
        row(f"ask, warm, p95 of {len(times)}", "ms", p95, floor=ASK_FLOOR),
    ]


def from_the_shell(data: Path) -> Row:
    """Time of a command in a new process."""
    ask = [*COMMAND, "ask", "Who edits the Journal of Mathematical Physics?", "--data-dir", str(data)]
    return row("ask from the shell", "s", seconds_of(ask), floor=COLD_FLOOR)


async def grown(rag: Rag, vault: Path, files: Sequence[Path], count: int, data: Path) -> list[Row]:
    """Edit many notes; growth of the folder."""
    before = bytes_of(data)["all"]
    started = time.perf_counter()
    for start in range(0, count, BURST):
        for file in files[start : start + BURST]:
            file.write_text(f"{file.read_text('utf-8')}\nEdited for the {start}th time.\n", "utf-8")
        await rag.ingest(vault)
    seconds = time.perf_counter() - started
    return [
        row(f"{count:,} edits, {BURST} at a time", "s", seconds),
        row("folder after them / before, open", "×", bytes_of(data)["all"] / before),
    ]


async def measured(count: int, really: int, edited: int, folder: Path) -> list[Row]:
    vault, data = folder / "vault", folder / "data"
    written(vault, islice(notes(count), really // SECTIONS))
    config = RagConfig(data_dir=data)
    embedding = Mixed()
    async with open_rag(config, embedding=embedding) as rag:
        rows = await first(rag, vault, embedding)
        _show(rows)
        embedding.is_real = False
        written(vault, notes(count))
        rows += await whole(rag, vault, data, embedding)
        _show(rows)
        files = _files(vault)
        embedding.is_real = True
        rows += await edits(rag, vault, files, sentences(3_000))
        rows += await asked(rag)
        _show(rows)
    rows.append(_most_memory("ingest, edits and questions"))
    before = bytes_of(data)["all"]
    held = sum(file.stat().st_size for file in files)
    rows.append(row("folder / notes, closed", "×", before / held, floor=DISK_FLOOR))
    _show(rows[-2:])
    rows.append(await asyncio.to_thread(from_the_shell, data))
    embedding.is_real = False
    async with open_rag(config, embedding=embedding) as rag:
        rows += await grown(rag, vault, files, min(edited, len(files)), data)
    after = bytes_of(data)["all"]
    rows.append(row("folder after them / before, closed", "×", after / before, floor=GROWN_FLOOR))
    return rows


def _files(vault: Path) -> list[Path]:
    return sorted(vault.rglob("*.md"))


def _show(rows: Sequence[Row]) -> None:
    """Print the rows so far, because a run takes an hour."""
    for one in rows[-12:]:
        print(f"{one['what']}: {one['ours']} {one['unit']}", file=sys.stderr, flush=True)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = options(__doc__, f"{QUICK_NOTES} notes")
    parser.add_argument("--notes", type=int, default=NOTES, metavar="N")
    parser.add_argument(
        "--embedded", type=int, default=EMBEDDED, metavar="N", help="sections, really embedded"
    )
    parser.add_argument("--edited", type=int, default=EDITED, metavar="N", help="notes edited for the disk")
    parser.add_argument("--keep", type=Path, metavar="DIR", help="new folder for vault and data, kept")
    given = parser.parse_args(arguments)
    if not PASSAGES.exists():
        parser.error(f"{PASSAGES} is missing; the vault is made of its passages")
    count, really = (QUICK_NOTES, QUICK_EMBEDDED) if given.quick else (given.notes, given.embedded)
    with data_folder(given.keep) as folder:
        return report("scale", asyncio.run(measured(count, really, given.edited, folder)), given.json)


if __name__ == "__main__":
    sys.exit(main())
