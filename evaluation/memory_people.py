"""Synthetic people and their memories, for the benchmarks of memory: seeded, each with unique words."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

from agentic_rag.memory.records import MemoryRecord
from agentic_rag.memory.schemas import MemoryType

DIMENSION = 384
"""Dimension of the synthetic vectors (``HashingEmbedding``), as of the bundled model."""
OWNER = "owner"
"""Metadata key for the owner of a memory."""
NAMES = ("user {}", "用户 {}", "Ünal {}", "мария {}", "مريم {}", "team-{}@example.org")
"""Forms of user ids, in several scripts."""
_BEGINNING = datetime(2024, 1, 1, tzinfo=UTC)
_LATER = datetime(2100, 1, 1, tzinfo=UTC)
_DONE = ("visited", "painted", "repaired", "borrowed", "planned", "sold", "photographed", "described")
_THINGS = (
    "lighthouse",
    "bicycle",
    "orchard",
    "violin",
    "kitchen",
    "harbour",
    "novel",
    "garden",
    "ferry",
    "clock",
)
_PLACES = ("Oslo", "Bergen", "Lima", "Kyoto", "Porto", "Quito", "Tartu", "Izmir", "Accra", "Perth")
_DERIVED = (MemoryType.SEMANTIC, MemoryType.CORE, MemoryType.PROCEDURAL, MemoryType.WORKING)


def user_id(number: int) -> str:
    """Of a made-up person."""
    return NAMES[number % len(NAMES)].format(number)


def own_word(number: int, place: int) -> str:
    """A word that occurs in only one memory of one person; letters only, so that no tokeniser splits it."""
    digits = f"{number:05d}{place:04d}"
    return "zq" + "".join("bcdfghjklm"[int(digit)] + "aeiou"[int(digit) % 5] for digit in digits)


def memories(number: int, count: int) -> list[MemoryRecord]:
    """The memories of a person: half are messages, half are derived from them, one each."""
    chance = random.Random(number)
    made: list[MemoryRecord] = []
    for place in range(1, count // 2 + 1):
        text = (
            f"I {chance.choice(_DONE)} the {chance.choice(_THINGS)} near {chance.choice(_PLACES)} "
            f"and the {chance.choice(_THINGS)} {own_word(number, place)}."
        )
        made += _said_and_derived(number, place, text)
    return made


def _said_and_derived(number: int, place: int, text: str) -> tuple[MemoryRecord, MemoryRecord]:
    at = _BEGINNING + timedelta(hours=7 * place)
    name = f"said-{place:09d}-made"
    kind = _DERIVED[place % 4] if place % 8 < 4 else MemoryType.SEMANTIC
    metadata = {OWNER: user_id(number)}
    spoken = {"speaker": "user", "person": True, "order": place}
    details = {"subject": "user", "order": place}
    if kind is MemoryType.CORE:
        details["block"] = "human"
    if kind is MemoryType.PROCEDURAL:
        details |= {"trigger": "", "steps": []}
    return (
        MemoryRecord(name, MemoryType.EPISODIC, text, (name,), at, details=spoken, metadata=metadata),
        MemoryRecord(
            f"{kind.value}-{place}", kind, text, (name,), at, details=details, metadata=metadata,
            expires_at=_LATER if kind is MemoryType.WORKING else None,
        ),
    )  # fmt: skip


def question(number: int, count: int, chance: random.Random) -> str:
    """A question of a person about one of ``count`` memories."""
    asked = chance.choice(
        (
            "What did I say about the {thing} and {word}?",
            "Where is the {thing} {word}?",
            "When did I see the {thing} {word}?",
            "How do I repair the {thing} {word}?",
            "{word}",
            "Which {thing} did I visit in January 2024?",
            "我说过关于 {word} 的什么?",
        )
    )
    return asked.format(thing=chance.choice(_THINGS), word=own_word(number, chance.randint(1, count // 2)))


@contextmanager
def data_folder(keep: Path | None, name: str) -> Iterator[Path]:
    """A folder below ``keep``, or a temporary one."""
    if keep is not None:
        yield keep / name
        return
    with TemporaryDirectory() as folder:
        yield Path(folder)
