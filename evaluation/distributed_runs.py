"""Instrumented ingests: the model's output and start time, and the processes' memory and processor time."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from hashlib import blake2b
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Literal, TypeVar

import numpy as np

from agentic_rag import RagConfig, open_rag
from agentic_rag.domain.ports import Embedding, FloatArray, PassageVectors
from agentic_rag.ingest.pipeline import IngestReport
from agentic_rag.models import bundled
from agentic_rag.testing import HashingEmbedding
from bench_scale import notes
from ray_nodes import descendants, ray_nodes, workers

SAMPLED = 0.5
"""Seconds between two samples of the processes."""
BURNT = 7e-6
"""Seconds of processor time per byte: about a tenth of the bundled model's on one core."""
WAITED = 25e-6
"""Seconds per byte: about a third of the bundled model's."""
_TICKS = os.sysconf("SC_CLK_TCK")

Done = TypeVar("Done")
Model = Literal["bundled", "burning", "waiting"]


def short_notes(count: int) -> Iterator[tuple[str, str]]:
    """``bench_scale.notes``, each note with only its first passage."""
    return ((name, "\n## ".join(text.split("\n## ")[:2])) for name, text in notes(count))


def by(address: str | None) -> dict[str, Any]:
    """Options of an ingest on the cluster at the address; None: in this process."""
    return {} if address is None else {"engine": "ray", "address": address}


def _note_beginning(folder: Path) -> None:
    file = folder / f"{os.getpid()}.began"
    if not file.exists():
        file.write_text(repr(time.time()))


def began(folder: Path) -> float:
    """Time of the first embedded text of a run, by the machine's clock."""
    return min(float(file.read_text()) for file in folder.glob("*.began"))


class Observed(bundled.BundledEmbedding):
    """The bundled model; records in a folder when each process starts, and optionally the vectors."""

    def __init__(self, folder: Path, *, keeps: bool = False) -> None:
        super().__init__()
        self._folder, self._keeps = folder, keeps

    def __reduce__(self) -> tuple[object, ...]:
        return _observed, (self._folder, self._keeps)

    async def embed_passages(self, texts: Sequence[str]) -> FloatArray:
        _note_beginning(self._folder)
        return self._kept(texts, await super().embed_passages(texts))

    async def embed_passage_tokens(self, texts: Sequence[str]) -> PassageVectors:
        _note_beginning(self._folder)
        made = await super().embed_passage_tokens(texts)
        self._kept(texts, made.vectors)
        return made

    def _kept(self, texts: Sequence[str], vectors: FloatArray) -> FloatArray:
        if self._keeps and texts:
            called = blake2b("\0".join(texts).encode(), digest_size=8).hexdigest()
            np.savez(self._folder / f"{os.getpid()}-{called}.npz", texts=np.array(texts), vectors=vectors)
        return vectors


def _observed(folder: Path, keeps: bool) -> Observed:
    return Observed(folder, keeps=keeps)


def made_vectors(folder: Path) -> dict[str, FloatArray]:
    """The vectors recorded by ``Observed``, by text, float32."""
    found: dict[str, FloatArray] = {}
    for file in sorted(folder.glob("*.npz")):
        with np.load(file) as kept:
            found.update(zip(map(str, kept["texts"]), kept["vectors"], strict=True))
    return found


class Burning(HashingEmbedding):
    """Hashed words that use processor time, as a model does; records in a folder when each process starts."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder = folder

    async def embed_passages(self, texts: Sequence[str]) -> FloatArray:
        _note_beginning(self._folder)
        ends = time.thread_time() + BURNT * sum(len(text.encode()) for text in texts)
        vectors = await super().embed_passages(texts)
        self.embedded.clear()
        while time.thread_time() < ends:
            pass
        return vectors


class Waiting(HashingEmbedding):
    """Hashed words with a delay but no processor time, as a remote model; otherwise like ``Burning``."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder = folder

    async def embed_passages(self, texts: Sequence[str]) -> FloatArray:
        _note_beginning(self._folder)
        vectors = await super().embed_passages(texts)
        self.embedded.clear()
        # One call after the other, as a worker's own model.
        time.sleep(WAITED * sum(len(text.encode()) for text in texts))  # noqa: ASYNC251
        return vectors


_MODELS: dict[Model, Callable[[Path], Embedding]] = {
    "bundled": Observed,
    "burning": Burning,
    "waiting": Waiting,
}


@dataclass(frozen=True)
class Watched:
    """Measurements of an ingest."""

    told: IngestReport
    stored_after: float
    """Seconds from the first embedded text until the last batch was stored, without start-up and final compaction."""
    whole: float
    """Seconds of scan and parsing, and from the first text to the end, without the start-up of workers and model."""
    processor: float
    """Processor seconds of all processes from the first embedded text to the end."""
    driver_memory: float
    """Maximum MB."""
    worker_memory: tuple[float, ...]
    """Maximum MB of each worker."""


class Processes:
    """This process and its child processes, sampled repeatedly."""

    def __init__(self) -> None:
        self._memory: dict[int, float] = {}
        self._seconds: dict[int, float] = {}
        self._over: list[tuple[float, float]] = []
        self._stop = threading.Event()

    @contextmanager
    def watched(self) -> Iterator[None]:
        thread = threading.Thread(target=self._watch)
        thread.start()
        try:
            yield
        finally:
            self._stop.set()
            thread.join()

    def processor_since(self, moment: float) -> float:
        """Processor seconds of all processes since an instant."""
        times, seconds = zip(*self._over, strict=True)
        return float(seconds[-1] - np.interp(moment, times, seconds))

    @property
    def worker_memory(self) -> tuple[float, ...]:
        return tuple(self._memory.values())

    def _watch(self) -> None:
        while not self._stop.wait(SAMPLED):
            self._look()
        self._look()

    def _look(self) -> None:
        for pid in {os.getpid(), *descendants()}:
            self._seconds[pid] = _processor(pid, self._seconds.get(pid, 0.0))
        for pid in workers():
            self._memory[pid] = max(most_memory(pid), self._memory.get(pid, 0.0))
        self._over.append((time.time(), sum(self._seconds.values())))


def most_memory(pid: int | str = "self") -> float:
    """Maximum MB since the process began; 0 if it has ended."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0.0
    return next(
        (int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith("VmHWM")), 0.0
    )


def _processor(pid: int, before: float) -> float:
    """Processor seconds; the last known value if the process has ended."""
    try:
        parts = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return before
    return (int(parts[11]) + int(parts[12])) / _TICKS


async def _ingested(vault: Path, folder: Path, model: Model, address: str | None) -> Watched:
    processes = Processes()
    async with open_rag(RagConfig(data_dir=folder / "data"), embedding=_MODELS[model](folder)) as rag:
        with processes.watched():
            told = await rag.ingest(vault, **by(address))
            ended = time.time()
    stages = told.stages
    since = ended - began(folder)
    return Watched(
        told,
        since - stages["index"] - stages["remove"],
        since + stages["scan"] + stages["parse"],
        processes.processor_since(began(folder)),
        most_memory(),
        processes.worker_memory,
    )


def _watched(vault: Path, folder: Path, model: Model, nodes: int) -> Watched:
    folder.mkdir()
    # Workers get the priority of a plain ingest; by default Ray's workers have a lower one.
    os.environ["RAY_worker_niceness"] = "0"  # noqa: SIM112  as Ray spells it
    bundled.use_threads(1)
    with ray_nodes(nodes) if nodes else nullcontext(None) as address:
        return asyncio.run(_ingested(vault, folder, model, address))


def apart(work: Callable[..., Done], *given: object) -> Done:
    """Run a function in a new process with its own memory and threads."""
    with ProcessPoolExecutor(1, get_context("spawn")) as one:
        return one.submit(work, *given).result()


def watched(vault: Path, folder: Path, model: Model, nodes: int) -> Watched:
    """An ingest in a separate process, on a cluster of nodes of one core; 0 nodes: in that process, on one thread."""
    return apart(_watched, vault, folder, model, nodes)


@contextmanager
def one_core() -> Iterator[None]:
    """Processes started within the block share one core."""
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(allowed)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, allowed)
