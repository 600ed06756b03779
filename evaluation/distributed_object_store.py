"""Lost commits and torn reads of writers and readers on several machines that share an object store.

Four processes write, each to a dataset of its own, and four read all of them, each with a data folder of its own as on
eight machines, after one has begun the store; the tables lie in a bucket of S3's protocol, by moto, in the process that
started them. A writer edits a note of three long sections, all of which name the version, adds another note, and
ingests. A commit is lost if a note that an ingest had acknowledged is missing at the end, in the store or in the ledger,
or if a reader still finds an earlier version two seconds after a later one was acknowledged. A read is torn if it finds
no version whole.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
import time
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field, replace
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import cast

import numpy as np

from agentic_rag import Rag, RagConfig, open_rag
from agentic_rag.errors import AgenticRagError
from agentic_rag.stores.graphiti.store import GraphitiStore
from agentic_rag.testing import HashingEmbedding
from figures import Row, row
from object_store import s3_server

WRITERS, READERS = 4, 4
SECONDS, QUICK_SECONDS = 60.0, 15.0
SECTIONS = ("low", "high", "slack")
SEEN_WITHIN = 2.0
"""Maximum seconds until a reader finds an acknowledged version; it checks for the latest version every second."""
_SAID = re.compile(rf"Version (\d+) of ({'|'.join(SECTIONS)}) water")


@dataclass
class Done:
    """Measurements of one process."""

    seconds: list[float] = field(default_factory=list)
    """Seconds per ingest or search."""
    lost: list[str] = field(default_factory=list)
    torn: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Machine:
    """Arguments of a process."""

    uri: str
    options: dict[str, str]
    folder: Path
    until: float
    """End of the run, by the machine's clock."""

    def opened(self, name: str) -> AbstractAsyncContextManager[Rag]:
        config = RagConfig(
            data_dir=self.folder / name / "data", lancedb_uri=self.uri, storage_options=self.options
        )
        return open_rag(config, embedding=HashingEmbedding())

    def acknowledged(self, dataset: str) -> Path:
        """Lines of a version and the time of its acknowledgement."""
        return self.folder / f"{dataset}.jsonl"


def table_of(version: int) -> str:
    """The note that is edited."""
    sections = (
        f"## {part}\n\nVersion {version} of {part} water. {f'The {part} tide runs along the quay. ' * 60}"
        for part in SECTIONS
    )
    return "# Tide table\n\n" + "\n\n".join(sections)


async def _write(machine: Machine, number: int) -> Done:
    done, dataset = Done(), f"harbour{number}"
    vault = machine.folder / dataset / "vault"
    vault.mkdir(parents=True)
    version = 0
    async with machine.opened(dataset) as rag:
        while time.time() < machine.until:
            version += 1
            (vault / "Tide table.md").write_text(table_of(version), "utf-8")
            (vault / f"Ship {version}.md").write_text(f"# Ship {version}\n\nIt waits for high water.\n")
            started = time.perf_counter()
            try:
                await rag.ingest(vault, dataset=dataset)
            except AgenticRagError as error:
                done.failed.append(str(error))
                version -= 1  # written again by the next
                continue
            done.seconds.append(time.perf_counter() - started)
            with machine.acknowledged(dataset).open("a") as file:
                file.write(json.dumps([version, time.time()]) + "\n")
    return done


async def _read(machine: Machine, number: int) -> Done:
    done = Done()
    async with machine.opened(f"reader{number}") as rag:
        turn = number
        while time.time() < machine.until:
            turn += 1
            dataset = f"harbour{turn % WRITERS}"
            expected = _latest(machine.acknowledged(dataset), before=time.time() - SEEN_WITHIN)
            if expected == 0:
                await asyncio.sleep(0.1)
                continue
            started = time.perf_counter()
            try:
                versions = await _versions(rag, dataset)
            except AgenticRagError as error:
                done.failed.append(str(error))
                continue
            done.seconds.append(time.perf_counter() - started)
            whole = [version for version, parts in versions.items() if parts == set(SECTIONS)]
            if not whole:
                done.torn.append(f"{dataset}: {dict(versions)}")
            elif max(versions) < expected:
                done.lost.append(f"{dataset}: {max(versions)} was read, {expected} is acknowledged")
    return done


async def _versions(rag: Rag, dataset: str) -> dict[int, set[str]]:
    """Sections found of each version of the edited note."""
    found: defaultdict[int, set[str]] = defaultdict(set)
    for one in await rag.search(
        "tide table", dataset=dataset, top_k=50, threshold=0.0, filters={"path": "Tide table.md"}
    ):
        for version, part in _SAID.findall(one.content):
            found[int(version)].add(part)
    return found


def _latest(file: Path, before: float) -> int:
    """The last version acknowledged before an instant; 0 for none."""
    if not file.exists():
        return 0
    told = [json.loads(line) for line in file.read_text().splitlines() if line.endswith("]")]
    return max((version for version, moment in told if moment < before), default=0)


async def _missing(machine: Machine) -> list[str]:
    """Acknowledged notes that are missing at the end, read with a new data folder."""
    lost = []
    async with machine.opened("afterwards") as rag:
        for number in range(WRITERS):
            dataset = f"harbour{number}"
            last = _latest(machine.acknowledged(dataset), before=time.time())
            if last == 0:
                continue
            expected = {f"Ship {version}.md" for version in range(1, last + 1)} | {"Tide table.md"}
            records = (await rag.ledger.records(dataset)).values()
            held = {record.path for record in records if not record.pending}
            chunks = await cast(GraphitiStore, rag.knowledge).all_chunks(dataset)
            stored = {chunk.path for chunk in chunks}
            if (count := await rag.chunks.count(dataset)) != len(chunks):
                lost.append(f"{dataset}: {count} chunks, {len(chunks)} episodes")
            lost += [f"{dataset}: {path} is not in the ledger" for path in expected - held]
            lost += [f"{dataset}: {path} is not in the store" for path in expected - stored]
            newest = max(await _versions(rag, dataset), default=0)
            if newest < last:
                lost.append(f"{dataset}: {newest} is stored, {last} is acknowledged")
    return lost


async def _begin(machine: Machine) -> None:
    """Create the shared tables in one process, because Lance does not synchronise the creation of a table."""
    note = machine.folder / "first" / "Harbour.md"
    note.parent.mkdir()
    note.write_text("# Harbour\n\nIt opens at six.\n", "utf-8")
    async with machine.opened("first") as rag:
        await rag.ingest(note, dataset="first")


def write(machine: Machine, number: int) -> Done:
    return asyncio.run(_write(machine, number))


def read(machine: Machine, number: int) -> Done:
    return asyncio.run(_read(machine, number))


def run(quick: bool) -> list[Row]:
    """All rows."""
    seconds = QUICK_SECONDS if quick else SECONDS
    os.environ["SERVERS_FOR_TESTS"] = "required"
    with s3_server() as s3, TemporaryDirectory() as folder:
        machine = Machine(s3.empty_uri(), s3.options, Path(folder), 0.0)
        asyncio.run(_begin(machine))
        machine = replace(machine, until=time.time() + seconds)
        with ProcessPoolExecutor(WRITERS + READERS, get_context("spawn")) as processes:
            writing = processes.map(partial(write, machine), range(WRITERS))
            reading = processes.map(partial(read, machine), range(READERS))
            writers, readers = list(writing), list(reading)
        lost = asyncio.run(_missing(machine))
    lost += [one for reader in readers for one in reader.lost]
    torn = [one for reader in readers for one in reader.torn]
    failed = [one for process in (*writers, *readers) for one in process.failed]
    for one in (lost + torn + failed)[:20]:
        print(one, file=sys.stderr)
    commits = [taken for writer in writers for taken in writer.seconds]
    cold = [reader.seconds[0] for reader in readers if reader.seconds]
    warm = [taken for reader in readers for taken in reader.seconds[WRITERS:]]
    called = f"{WRITERS} writers and {READERS} readers for {seconds:g} s"
    return [
        row(f"{called}: ingests acknowledged", "", len(commits), bound="min", floor=WRITERS),
        row("lost", "", len(lost), floor=0),
        row("searches", "", sum(len(reader.seconds) for reader in readers), bound="min", floor=READERS),
        row("torn", "", len(torn), floor=0),
        row("failed", "", len(failed), floor=0),
        row("an ingest of two notes, p50", "s", float(np.median(commits)) if commits else None),
        row("a search, the first of a process, p50", "s", float(np.median(cold)) if cold else None),
        row("a search, warm, p50", "s", float(np.median(warm)) if warm else None),
    ]
