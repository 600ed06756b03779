"""Ask many things at a time, the answers in the order of the questions; and what a model says for nothing."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

PARALLEL = 8
"""Under way at a time: a model's endpoint may limit them."""

_NONE = re.compile(r"\s*none\s*\.?\s*", re.IGNORECASE)

Q = TypeVar("Q")
A = TypeVar("A")


async def answers(
    ask: Callable[[Q], Awaitable[A]], questions: Sequence[Q], *, parallel: int = PARALLEL
) -> list[A]:
    """One answer a question, same order. The first failure is raised; what is still under way is cancelled."""
    free = asyncio.Semaphore(parallel)

    async def one(question: Q) -> A:
        async with free:
            return await ask(question)

    under_way = [asyncio.ensure_future(one(question)) for question in questions]
    try:
        return list(await asyncio.gather(*under_way))
    finally:
        for task in under_way:
            task.cancel()


def says_none(reply: str) -> bool:
    """Whether a model that was asked to reply NONE where there is nothing has done so."""
    return _NONE.fullmatch(reply) is not None
