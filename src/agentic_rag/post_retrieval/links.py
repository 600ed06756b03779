"""Which memories are linked with which, asked of the service."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from agentic_rag.domain.memory import Neighbours, NeighboursOfMany
from agentic_rag.post_retrieval.asking import answers
from agentic_rag.post_retrieval.items import Items, MemoryItem, read_memories


async def links_of(service: Neighbours, entry_ids: Sequence[str], top_k: int) -> dict[str, Items]:
    """The linked memories of each entry, as the service orders them."""

    async def ask(entry_id: str) -> Items:
        return read_memories(await service.neighbours(entry_id, top_k=top_k))

    distinct = list(dict.fromkeys(entry_id for entry_id in entry_ids if entry_id))
    if isinstance(service, NeighboursOfMany):
        found = await service.neighbours_of(distinct, top_k=top_k)
        return {entry_id: read_memories(found[entry_id]) for entry_id in distinct}
    return dict(zip(distinct, await answers(ask, distinct), strict=True))


def strength(link: MemoryItem) -> float:
    """Of a link, in [0, 1]; one without a number counts whole."""
    return 1.0 if link.score is None else min(1.0, max(0.0, link.score))


def ties_between(places: Mapping[str, int], links: Mapping[str, Items]) -> dict[tuple[int, int], float]:
    """Weight of each pair of places, the stronger of its two directions; links to other memories are left out."""
    ties: dict[tuple[int, int], float] = {}
    for entry_id, linked in links.items():
        for link in linked:
            there = places.get(link.entry_id)
            here = places[entry_id]
            if there is None or there == here or not strength(link) > 0:
                continue
            pair = (min(here, there), max(here, there))
            ties[pair] = max(ties.get(pair, -math.inf), strength(link))
    return ties
