"""Checks that forgotten memories are gone: from every search, list and export, and from the data folder's bytes.

Each text contains a unique word. Some users are forgotten completely; of others some texts are, by the ids of the
messages or of the memories derived from them, and the rest must stay.
"""

from __future__ import annotations

import asyncio
import random
import re
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from agentic_rag import Rag, RagConfig, open_rag
from agentic_rag.memory.schemas import TaskRequest
from agentic_rag.testing import HashingEmbedding
from figures import Row, row
from memory_people import DIMENSION, data_folder, own_word, user_id

USERS, QUICK_USERS = 20, 4
TEXTS, QUICK_TEXTS = 75, 15
"""Texts of a user who is partly forgotten; a user forgotten completely has as many as those others lose."""
AT_ONCE = 4
"""Users processed concurrently."""
MOST_IDS = 10
"""Maximum ids per call of forget."""
NOTES = "notes"
"""A dataset that the main graph searches beside the memories."""
_VISIBLE = re.compile(rb"zq(?:[bcdfghjklm][aeiou]){8}[bcdfghjklm]")
"""A word without its last letter, which a stemmer may have removed."""
_SAID = (
    "I painted the {} kitchen near the harbour of Porto.",
    "I prefer the {} tea when it rains.",
    "Please always write {} at the end of a letter.",
    "I am working on the {} report this week.",
    "My sister moved to {} in spring.",
    "I live in {}.",
)


@dataclass(frozen=True, slots=True)
class Plan:
    """The messages of one user, and which of them are forgotten."""

    number: int
    words: tuple[str, ...]
    forgotten: tuple[str, ...]

    @property
    def user(self) -> str:
        return user_id(self.number)

    @property
    def is_whole(self) -> bool:
        return len(self.words) == len(self.forgotten)


def plans(users: int, texts: int) -> list[Plan]:
    """Every second user is forgotten whole."""
    made = []
    for number in range(users):
        lost = 2 * texts // 3
        words = tuple(own_word(number, place) for place in range(lost if number % 2 else texts))
        gone = words if number % 2 else tuple(random.Random(number).sample(words, lost))
        made.append(Plan(number, words, gone))
    return made


async def remembered(rag: Rag, plan: Plan) -> dict[str, list[str]]:
    """Store all messages; returns the memory ids by word."""
    ids: dict[str, list[str]] = {}
    for place, word in enumerate(plan.words):
        found = await rag.memory.remember(_SAID[place % len(_SAID)].format(word.capitalize()), plan.user)
        derived = [str(one["id"]) for one in found.memories if word in str(one["content"]).casefold()]
        ids[word] = [found.evidence_id, *derived]
    return ids


async def forgotten(rag: Rag, plan: Plan, ids: Mapping[str, Sequence[str]]) -> int:
    """Forget as planned; returns the number of calls."""
    if plan.is_whole:
        await rag.memory.forget(plan.user)
        return 1
    chance = random.Random(plan.number)
    left = list(plan.forgotten)
    calls = 0
    while left:
        some, left = left[: (size := chance.randint(1, MOST_IDS))], left[size:]
        await rag.memory.forget(plan.user, [chance.choice(ids[word]) for word in some])
        calls += 1
    return calls


async def answers(rag: Rag, plan: Plan, *, every_agent: bool) -> tuple[int, int]:
    """Forgotten words that any search still finds; remaining words that are no longer found."""
    still = missing = 0
    for word in plan.words:
        found = {
            word in one.content.casefold() for one in (await rag.memory.search(word, plan.user)).memories
        }
        if every_agent:
            found |= await _agents_find(rag, plan.user, word)
            answer = await rag.ask(word, dataset=NOTES, user_id=plan.user)
            found |= {word in str(result["content"]).casefold() for result in answer.results}
        if word in plan.forgotten:
            still += True in found
        else:
            missing += True not in found
    return still, missing


async def _agents_find(rag: Rag, user: str, word: str) -> set[bool]:
    """Whether the agents, one after the other, find the word; ended memories included."""
    asked = {"user_id": user, "query": word, "include_ended": True, "limit": 50}
    agents = rag.memory.agents.values()
    responses = [await one.execute_task(TaskRequest("search", asked, timeout_ms=None)) for one in agents]
    return {word in one["content"].casefold() for response in responses for one in response.result["results"]}


async def listed(rag: Rag, plan: Plan, folder: Path) -> tuple[int, int, int]:
    """Forgotten words in the list, and in the export; remaining words missing from the list."""
    records = await rag.memory.list(plan.user, include_ended=True)
    text = " ".join(str(record) for record in records).casefold()
    file = folder / "export.jsonl"
    await rag.memory.export(plan.user, file)
    exported = (await asyncio.to_thread(file.read_text, "utf-8")).casefold()
    await asyncio.to_thread(file.unlink)
    lost = sum(word not in text for word in plan.words if word not in plan.forgotten)
    found = sum(word in text for word in plan.forgotten), sum(word in exported for word in plan.forgotten)
    return (*found, lost)


def visible(folder: Path) -> set[str]:
    """The words, without their last letter, in the bytes of a folder's files."""
    found: set[bytes] = set()
    for file in sorted(folder.rglob("*")):
        if file.is_file():
            found |= {match.lower() for match in _VISIBLE.findall(file.read_bytes().lower())}
    return {word.decode() for word in found}


async def run(keep: Path | None, *, quick: bool, verbose: bool) -> list[Row]:
    """All rows."""
    every = plans(QUICK_USERS, QUICK_TEXTS) if quick else plans(USERS, TEXTS)
    gone = {word[:-1] for plan in every for word in plan.forgotten}
    turn = asyncio.Semaphore(AT_ONCE)
    with data_folder(keep, "deletion") as folder:
        config = RagConfig(data_dir=folder)
        async with open_rag(config, embedding=HashingEmbedding(DIMENSION)) as rag:

            async def told(plan: Plan) -> dict[str, list[str]]:
                async with turn:
                    return await remembered(rag, plan)

            note = folder / "note.md"
            await asyncio.to_thread(note.write_text, "# Tide\n\nThe ferry leaves at noon.\n", "utf-8")
            await rag.ingest(note, dataset=NOTES)
            started = time.perf_counter()
            ids = await asyncio.gather(*map(told, every))
            before = gone & await asyncio.to_thread(visible, folder)
            stored = time.perf_counter()
            calls = sum([await forgotten(rag, plan, of) for plan, of in zip(every, ids, strict=True)])
            ended = time.perf_counter()
            opened = gone & await asyncio.to_thread(visible, folder)
            found = [await answers(rag, plan, every_agent=True) for plan in every]
            shown = [await listed(rag, plan, folder) for plan in every]
        closed = gone & await asyncio.to_thread(visible, folder)
        async with open_rag(config, embedding=HashingEmbedding(DIMENSION)) as rag:
            again = [await answers(rag, plan, every_agent=False) for plan in every]
    print(
        f"{sum(len(plan.words) for plan in every)} texts remembered in {stored - started:.0f} s, "
        f"{len(gone)} forgotten by {calls} calls in {ended - stored:.0f} s",
        file=sys.stderr,
    )
    if verbose:
        print("left in the files:", *sorted(closed))
    return [
        row(
            f"of {len(gone)} forgotten texts, answered by a search", "", sum(one for one, _ in found), floor=0
        ),
        row("forgotten, answered after opening anew", "", sum(one for one, _ in again), floor=0),
        row("forgotten, listed", "", sum(one for one, _, _ in shown), floor=0),
        row("forgotten, exported", "", sum(one for _, one, _ in shown), floor=0),
        row("not forgotten, but lost", "", sum(one for _, _, one in shown), floor=0),
        # Words of few syllables are similar; one of a hundred is not among the first ten of a search.
        row(
            "not forgotten, and not among the first of a search", "", sum(one for _, one in [*found, *again])
        ),
        row("in the bytes of the files before they were forgotten", "", len(before)),
        row("in the bytes of the files while open", "", len(opened), floor=0),
        row("in the bytes of the files once closed", "", len(closed), floor=0),
        row("forgetting, a call", "ms", 1000 * (ended - stored) / calls),
    ]
