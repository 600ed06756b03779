"""Requests in parts: values a limited number at a time, and results until a limit cuts through no equal scores."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import TypeVar

from agentic_rag.domain.ports import ScoredChunk

T = TypeVar("T")
MAX_TIED = 4096
"""Chunks of one score that are put in id order where a search's limit cuts through them."""


def batches(values: Sequence[T], size: int) -> Iterator[tuple[T, ...]]:
    """The values in turn, at most ``size`` at a time."""
    for start in range(0, len(values), size):
        yield tuple(values[start : start + size])


async def first_by_score(
    search: Callable[[int], Awaitable[list[ScoredChunk]]], limit: int
) -> list[ScoredChunk]:
    """The first ``limit`` chunks by score, then id. A store may cut anywhere within equal scores, so more chunks
    are requested until a lower score follows the last one kept.

    Args:
        search: finds that many chunks, or more where it likes; fewer only where there are no more.
        limit: how many are wanted; below 1 none.
    """
    if limit < 1:
        return []
    asked_for = limit + 1
    while True:
        found = sorted(
            await search(asked_for), key=lambda scored_chunk: (-scored_chunk.score, scored_chunk.chunk.id)
        )
        tied = len(found) >= asked_for and found[limit - 1].score == found[-1].score
        if not tied or asked_for >= limit + MAX_TIED:
            return found[:limit]
        asked_for = min(asked_for * 4, limit + MAX_TIED)
