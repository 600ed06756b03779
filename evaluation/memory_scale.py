"""Many users on one machine: search time, and leaks between users.

Vectors are synthetic (``HashingEmbedding``), so that the stores, the agents and the orchestrator are measured.
"""

from __future__ import annotations

import asyncio
import random
import resource
import sys
import time
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from agentic_rag import Rag, RagConfig, open_rag
from agentic_rag.domain.identity import group_id, memory_dataset
from agentic_rag.errors import StoreError
from agentic_rag.memory.exchange import written_export
from agentic_rag.memory.schemas import RetrievalResponse
from agentic_rag.stores.lancedb.connection import folder_bytes
from agentic_rag.testing import HashingEmbedding
from figures import Row, row
from memory_people import DIMENSION, OWNER, data_folder, memories, own_word, question, user_id

USERS, SEARCHES, CROSS, PROBES = 1_000, 1_000, 5_000, 100_000
QUICK_USERS, QUICK_SEARCHES, QUICK_CROSS = 50, 200, 250
MEMORIES = 100
AT_ONCE = 4
"""Users stored concurrently."""
SLOWEST_MS = 80.0
_SCRIPTS = (
    "abcxyz",
    "ABCXYZ",
    "ａｂｃ",
    "éöñ",
    "ß",
    "ıİ",
    "阿丽思",
    "дми",
    "سرن",
    "अनु",
    "🙂👩",
    "0123",
    " -_.:@/",
)


async def stored(rag: Rag, folder: Path, users: int) -> float | None:
    """Import all users' memories once; milliseconds per user, None if all existed."""
    imported = 0
    turn = asyncio.Semaphore(AT_ONCE)
    started = time.perf_counter()

    async def one(number: int) -> None:
        nonlocal imported
        async with turn:
            user = user_id(number)
            if await rag.memory.list(user):
                return
            file = folder / f"{number}.jsonl"
            await asyncio.to_thread(written_export, file, user, memories(number, MEMORIES))
            await rag.memory.import_(user, file)
            file.unlink()
            imported += 1

    await asyncio.gather(*map(one, range(users)))
    return 1000 * (time.perf_counter() - started) / imported if imported else None


async def timed(rag: Rag, users: int, searches: int) -> tuple[list[float], list[float], int]:
    """Milliseconds of each user's first search and of the later ones; number of searches with results."""
    chance = random.Random(1)
    first: dict[int, float] = {}
    later: list[float] = []
    found = 0
    for _ in range(searches):
        number = chance.randrange(users)
        asked = question(number, MEMORIES, chance)
        started = time.perf_counter()
        response = await rag.memory.search(asked, user_id(number))
        took = 1000 * (time.perf_counter() - started)
        if response.degraded:
            raise StoreError(f"{asked!r} of {user_id(number)!r}: {', '.join(response.degraded)} failed")
        found += bool(response.memories)
        if number in first:
            later.append(took)
        else:
            first[number] = took
    return list(first.values()), later, found


async def leaks(rag: Rag, users: int, searches: int) -> int:
    """Number of a user's searches for another's unique words that found a memory of anybody else."""
    chance = random.Random(2)
    found = 0
    for _ in range(searches):
        asking, other = chance.sample(range(users), 2)
        word = own_word(other, chance.randint(1, MEMORIES // 2))
        asked = chance.choice(("{}", "What did I say about {}?", f"{user_id(other)}: {{}}")).format(word)
        response = await rag.memory.search(asked, user_id(asking), max_results=20)
        found += _is_leak(response, user_id(asking), word)
    return found


def _is_leak(response: RetrievalResponse, user: str, word: str) -> bool:
    return any(one.metadata.get(OWNER) != user or word in one.content for one in response.memories)


def user_ids(count: int) -> Iterator[str]:
    """Random ids of all scripts, each with similar ones: other case, width, form, a prefix."""
    chance = random.Random(3)
    made = 0
    while made < count:
        alphabets = chance.choices(_SCRIPTS, k=chance.randint(1, 3))
        base = "".join(chance.choice(chance.choice(alphabets)) for _ in range(chance.randint(1, 60)))
        forms = (unicodedata.normalize(form, base) for form in ("NFC", "NFD", "NFKC"))
        alike = (
            base,
            base.upper(),
            base.casefold(),
            *forms,
            f"memory:{base}",
            base[:-1],
            f"{base} ",
            f"u_{base}",
        )
        for one in alike:
            if one.strip():
                made += 1
                yield one


def collisions(count: int) -> int:
    """Number of ids that share a storage key with another id, or whose equivalent form has another key."""
    places: dict[str, str] = {}
    names: dict[str, str] = {}
    wrong = 0
    for one in user_ids(count):
        name = unicodedata.normalize("NFC", one)
        # Case-folded, because a file system may ignore case.
        place = group_id(memory_dataset(one)).casefold()
        wrong += places.setdefault(place, name) != name or names.setdefault(name, place) != place
    return wrong


async def run(keep: Path | None, quick: bool) -> list[Row]:
    """All rows."""
    users = QUICK_USERS if quick else USERS
    searches, cross = (QUICK_SEARCHES, QUICK_CROSS) if quick else (SEARCHES, CROSS)
    with data_folder(keep, f"scale-{users}") as folder:
        config = RagConfig(data_dir=folder)
        async with open_rag(config, embedding=HashingEmbedding(DIMENSION)) as rag:
            importing = await stored(rag, folder, users)
        size = await asyncio.to_thread(folder_bytes, folder)
        files = sum(1 for file in folder.rglob("*") if file.is_file())
        async with open_rag(config, embedding=HashingEmbedding(DIMENSION)) as rag:
            await rag.memory.orchestrator.initialize()
            cold, warm, answered = await timed(rag, users, searches)
            print(f"{searches} searches: p95 {np.quantile([*cold, *warm], 0.95):.0f} ms", file=sys.stderr)
            leaked = await leaks(rag, users, cross)
    resident = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
    of = f"{users} users × {MEMORIES} memories, synthetic vectors"
    return [
        _quantile_row(f"search p50, all {searches} ({of})", [*cold, *warm], 0.5),
        _quantile_row(f"search p95, all {searches}", [*cold, *warm], 0.95, SLOWEST_MS),
        _quantile_row(f"search p50, the first of a user ({len(cold)})", cold, 0.5),
        _quantile_row("search p95, the first of a user", cold, 0.95, SLOWEST_MS),
        _quantile_row(f"search p50, later ones ({len(warm)})", warm, 0.5),
        _quantile_row("search p95, later ones", warm, 0.95, SLOWEST_MS),
        row("searches that found something", "share", answered / searches),
        row(f"leaks in {cross} searches for another user's words", "", leaked, floor=0),
        row(f"collisions of {PROBES} random user ids", "", collisions(PROBES), floor=0),
        row("disk of a user", "kB", size / users / 1000),
        row("files of a user", "", files / users),
        row("most memory that the process has had", "MB", resident),
        row("importing a user", "ms", importing),
    ]


def _quantile_row(what: str, milliseconds: list[float], share: float, floor: float | None = None) -> Row:
    return row(what, "ms", float(np.quantile(milliseconds, share)) if milliseconds else None, floor=floor)
