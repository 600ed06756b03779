"""Post-retrieval, action merge: queries the service again and adds the results, each entry once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from agentic_rag_lab.designs.memory import Neighbours, NeighboursOfMany
from agentic_rag_lab.designs.post_retrieval.config import MergeStep, SecondaryQuery, fill_template
from agentic_rag_lab.designs.post_retrieval.items import (
    Handlers,
    Items,
    MemoryItem,
    StepOutcome,
    StepRequest,
    best_first,
    by_score,
    read_memories,
)
from agentic_rag_lab.designs.post_retrieval.tools import answers, asked_service


async def link_expand(step: MergeStep, items: Items, request: StepRequest) -> StepOutcome:
    """Adds memories linked to the best ones, then those linked to them, up to ``max_depth`` links away.

    The score of a new memory is its parent's times the strength of the link, the best at its depth; an existing memory
    is neither changed nor followed again.
    """
    service = request.tools.needed_links()
    known = merge_items(items)
    here = {item.entry_id for item in known}
    followed, joined = list(best_first(known)[: step.expand_top_n]), list(known)
    for _ in range(step.max_depth):
        links = await links_of(service, [item.entry_id for item in followed], step.link_top_k)
        found = [
            replace(link, score=_passed_on(parent, link))
            for parent in followed
            for link in links.get(parent.entry_id, ())
            if link.entry_id and link.entry_id not in here
        ]
        followed = sorted(merge_items(found), key=by_score)
        if not followed:
            break
        joined += [replace(item, original_index=len(joined) + n) for n, item in enumerate(followed)]
        here |= {item.entry_id for item in followed}
    return StepOutcome(_sort_items(joined))


async def multi_query(step: MergeStep, items: Items, request: StepRequest) -> StepOutcome:
    """Adds the services' results for each secondary query; an entry found twice has its best score.

    A secondary service holds the same memories under the same ids, so the ids identify entries across services.
    """

    async def ask(secondary: SecondaryQuery) -> Items:
        service = asked_service(secondary, request.tools)
        query = fill_template(secondary.query, {"question": request.question})
        return read_memories(await service.retrieve(query, top_k=secondary.top_k))

    joined = list(items)
    for found in await answers(ask, step.secondary_queries):
        joined += [replace(item, original_index=len(joined) + n) for n, item in enumerate(found)]
    return StepOutcome(_sort_items(merge_items(joined)))


MERGES: Handlers = {"link_expand": link_expand, "multi_query": multi_query}


def merge_items(items: Iterable[MemoryItem]) -> Items:
    """Each entry once, in its first version, with its best score."""
    first: dict[str, MemoryItem] = {}
    for n, item in enumerate(items):
        key = item.entry_id or f"\0{n}"  # a memory without an id equals no other
        held = first.setdefault(key, item)
        if item.score is not None and (held.score is None or item.score > held.score):
            first[key] = replace(held, score=item.score)
    return tuple(first.values())


def _passed_on(parent: MemoryItem, link: MemoryItem) -> float:
    """``parent · strength``; a negative score is lowered by the same amount, so that a child never scores above
    its parent."""
    return parent.value - abs(parent.value) * (1.0 - strength(link))


def _sort_items(items: Iterable[MemoryItem]) -> Items:
    listed = tuple(items)
    if all(item.score is None for item in listed):
        return listed
    return tuple(sorted(listed, key=by_score))


async def links_of(service: Neighbours, entry_ids: Sequence[str], top_k: int) -> dict[str, Items]:
    """The linked memories of each entry, in the service's order."""

    async def ask(entry_id: str) -> Items:
        return read_memories(await service.neighbours(entry_id, top_k=top_k))

    distinct = list(dict.fromkeys(entry_id for entry_id in entry_ids if entry_id))
    if isinstance(service, NeighboursOfMany):
        found = await service.neighbours_of(distinct, top_k=top_k)
        return {entry_id: read_memories(found[entry_id]) for entry_id in distinct}
    return dict(zip(distinct, await answers(ask, distinct), strict=True))


def strength(link: MemoryItem) -> float:
    """Strength of a link, in [0, 1]; 1 without a number."""
    return 1.0 if link.score is None else min(1.0, max(0.0, link.score))
