"""Checks repeatedly killed ingests for lost acknowledged documents, and compares both stores at the end.

A vault of generated notes changes before each round. Each round starts ``agentic-rag ingest`` with the bundled
model and kills it (SIGKILL) at a random moment between the loading of its modules and the expected end. A
document is acknowledged once the ledger of the data folder marks it done. It is lost if the ledger forgets it
while its file is unchanged, if a chunk or episode of it is missing, or if the stored text is that of another
version. The last round runs to its end.
"""

from __future__ import annotations

import asyncio
import random
import re
import subprocess
import sys
import time
from collections import defaultdict
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

from agentic_rag import RagConfig, open_rag
from agentic_rag.stores.lancedb.rows import to_chunk
from figures import Row, row
from stored import HALF_STEP, Stored, differences, everything, loose, tables

ROUNDS, QUICK_ROUNDS = 50, 2
NOTES, QUICK_NOTES = 240, 40
CHANGED = 0.3
"""Share of the notes that change before a round; with the rest of killed rounds, often more than one batch."""
LOADING = 0.6
"""Share of the time of an ingest without work before the stores are opened."""
COMMAND = [sys.executable, "-c", "from agentic_rag.cli import main; main()"]
_VERSION = re.compile(r"zq[a-j]+x")
_WORDS = "leaf water steam stone garden 茶叶 roast bitter sweet cup slow fire 香气 harbour kettle".split()
_ALIASES = ("the brew", "pot of clay", "云雾", "first flush", "silver needle")


class Vault:
    """Generated notes that link to each other; every version of a note has a unique word."""

    def __init__(self, folder: Path, notes: int, chance: random.Random) -> None:
        folder.mkdir()
        self.folder, self._chance = folder, chance
        self._versions = count()
        self._names = [f"note {number}" for number in range(notes)]
        for name in self._names[: notes * 3 // 4]:
            self._write(folder / f"{name}.md")

    def change(self) -> None:
        """Write, move and delete notes."""
        for name in self._chance.sample(self._names, int(len(self._names) * CHANGED)):
            here, there = self.folder / f"{name}.md", self.folder / "other" / f"{name}.md"
            drawn = self._chance.random()
            if drawn < 0.1:
                here.unlink(missing_ok=True)
            elif drawn < 0.2 and here.exists():
                there.parent.mkdir(exist_ok=True)
                here.replace(there)
            else:
                self._write(here)

    def versions(self) -> dict[str, str]:
        """Word of the current version, by path."""
        files = self.folder.rglob("*.md")
        return {str(file.relative_to(self.folder)): _version(file.read_text("utf-8")) for file in files}

    def _write(self, file: Path) -> None:
        chance, version = (
            self._chance,
            "".join("abcdefghij"[int(digit)] for digit in str(next(self._versions))),
        )
        head = f"---\naliases: [{chance.choice(_ALIASES)}]\n---\n" if chance.random() < 0.2 else ""
        words = " ".join(chance.choices(_WORDS, k=30))
        links = " and ".join(f"[[{name}]]" for name in chance.sample(self._names, 2))
        text = f"{head}# {file.stem}\n\nOf zq{version}x: {words}.\n\nSee {links}, or {chance.choice(_ALIASES)}.\n"
        file.write_text(text, encoding="utf-8")


def _version(text: str) -> str:
    found = _VERSION.search(text)
    return found[0] if found else ""


@dataclass
class Acknowledged:
    """The acknowledged documents at earlier kills, which later ones must keep."""

    standing: dict[str, str] = field(default_factory=dict)
    """The acknowledged version of each file that still exists, by path."""
    hashes: dict[str, str] = field(default_factory=dict)
    """The version of each content hash that the ledger has marked done."""
    documents: int = 0
    lost: list[str] = field(default_factory=list)

    def at_kill(self, stored: Stored, vault: dict[str, str]) -> None:
        """Compare the ledger with the stores."""
        records = {str(record["path"]): record for record in stored.rows.get("ledger", {}).values()}
        chunks, episodes = _texts(stored, "chunks_"), _texts(stored, "_episodes")
        done = {path: record for path, record in records.items() if not record["pending"]}
        unchanged = {path for path, version in self.standing.items() if vault.get(path) == version}
        self.lost += [f"{path} is not in the ledger" for path in unchanged - records.keys()]
        self.documents += len(done)
        for path, record in done.items():
            texts = chunks[path]
            known = self.hashes.setdefault(str(record["content_hash"]), _version(" ".join(texts.values())))
            if len(texts) != record["chunks"] or episodes[path] != texts:
                self.lost.append(
                    f"{path}: {len(texts)} chunks, {len(episodes[path])} episodes of {record['chunks']}"
                )
            elif not known or known not in " ".join(texts.values()):
                self.lost.append(f"{path}: not the text of {known}")
        versions = {path: self.hashes[str(record["content_hash"])] for path, record in done.items()}
        self.standing = {path: version for path, version in versions.items() if vault.get(path) == version}


def _texts(stored: Stored, table: str) -> defaultdict[str, dict[str, str]]:
    """Texts of a table's rows by chunk id, by document."""
    found: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for name, rows in stored.rows.items():
        if name.startswith(table) or name.endswith(table):
            for one in rows.values():
                text = to_chunk(one).text if "chunk" in one else str(one["content"])
                found[str(one["document_id"])][str(one["chunk_id"])] = text
    return found


def _ingest(vault: Path, data: Path, *, seconds: float | None = None) -> tuple[float, bool]:
    """Run the command to its end, or kill it after some seconds; returns its time, and whether it was killed."""
    started = time.perf_counter()
    command = [*COMMAND, "ingest", str(vault), "--data-dir", str(data), "--json"]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        _, told = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return time.perf_counter() - started, process.returncode < 0
    if process.returncode:
        raise RuntimeError(f"the ingest ended with {process.returncode}: {told[-2000:]}")
    return time.perf_counter() - started, False


async def _everything(data: Path) -> Stored:
    async with open_rag(RagConfig(data_dir=data)) as rag:
        return await everything(rag)


def run(quick: bool) -> list[Row]:
    """All rows."""
    rounds = QUICK_ROUNDS if quick else ROUNDS
    chance = random.Random(50)
    killed = unfinished = 0
    acknowledged = Acknowledged()
    with TemporaryDirectory() as scratch:
        folder = Path(scratch)
        vault = Vault(folder / "vault", QUICK_NOTES if quick else NOTES, chance)
        data = folder / "data"
        whole, _ = _ingest(vault.folder, data)
        idle, _ = _ingest(vault.folder, data)
        print(f"an ingest takes {whole:.1f} s, one without work {idle:.1f} s", file=sys.stderr)
        for number in range(rounds):
            vault.change()
            _, was_killed = _ingest(vault.folder, data, seconds=chance.uniform(LOADING * idle, whole))
            stored = asyncio.run(tables(data))
            pending = sum(bool(one["pending"]) for one in stored.rows["ledger"].values())
            acknowledged.at_kill(stored, vault.versions())
            killed, unfinished = killed + was_killed, unfinished + bool(pending)
            print(f"round {number}: killed {was_killed}, {pending} pending", file=sys.stderr)
        _ingest(vault.folder, data)
        _ingest(vault.folder, folder / "fresh")
        notes = len(vault.versions())
        ours, fresh = asyncio.run(_everything(data)), asyncio.run(_everything(folder / "fresh"))
    apart, unlike = loose(ours), differences(ours, fresh, labels=True, rounded=HALF_STEP)
    for one in [*acknowledged.lost[:5], *apart[:5], *unlike[:5]]:
        print(one, file=sys.stderr)
    return [
        row(f"kills: rounds killed before the end of the run, of {rounds}", "rounds", killed, bound="min"),
        row("kills: rounds that left documents unfinished", "rounds", unfinished, bound="min"),
        row("kills: acknowledged documents looked up, over all rounds", "documents", acknowledged.documents,
            bound="min"),
        row("kills: acknowledged documents lost", "documents", len(acknowledged.lost), floor=0),
        row("kills: differences between the stores after the last ingest", "rows", len(apart), floor=0),
        row(f"kills: differences from an undisturbed ingest of {notes} notes", "rows", len(unlike),
            floor=0),
    ]  # fmt: skip
