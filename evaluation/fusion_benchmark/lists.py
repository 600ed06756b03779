"""The input of every system: two lists of hits that share half of their ids, best first."""

from __future__ import annotations

import random
from functools import cache
from typing import NamedTuple

from agentic_rag.domain import Hit, HitKind

WORDS = (
    "oolong is a tea that is oxidised longer than green and shorter than black, rolled and roasted".split()
)
TEXT_WORDS = 70
"""About 400 characters, as in a chunk."""


class Lists(NamedTuple):
    """The hits of the two sources; scores fall with the rank and are never equal within a list."""

    graph: list[Hit]
    vector: list[Hit]


@cache
def lists(size: int, seed: int = 11) -> Lists:
    """``size`` hits per list, half of the ids in both, each list in its own order."""
    rng = random.Random(seed + size)
    ids = [f"notes/{number:06}.md#{number % 7}" for number in range(size + size - size // 2)]
    rng.shuffle(ids)
    shared = size // 2
    graph, vector = ids[:size], ids[size - shared :]
    rng.shuffle(vector)
    texts = {identity: " ".join([identity, *rng.choices(WORDS, k=TEXT_WORDS)]) for identity in ids}
    return Lists(_hits(graph, "episode", texts, rng), _hits(vector, "document", texts, rng))


def _hits(ids: list[str], kind: HitKind, texts: dict[str, str], rng: random.Random) -> list[Hit]:
    scores = sorted(rng.sample(range(1, 1_000_000), len(ids)), reverse=True)
    return [
        {
            "id": identity,
            "content": texts[identity],
            "type": kind,
            "rank": rank,
            "score": score / 1_000_000,
            "metadata": {"document_id": identity.split("#")[0], "ordinal": int(identity.split("#")[1])},
            "evidence": {},
            "facts": [],
        }
        for rank, (identity, score) in enumerate(zip(ids, scores, strict=True), start=1)
    ]
