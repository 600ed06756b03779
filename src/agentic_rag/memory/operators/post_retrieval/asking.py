"""Ask many things at a time; the answers come in the order of the questions."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

PARALLEL = 8
"""Under way at a time: a model's endpoint may limit them."""

Q = TypeVar("Q")
A = TypeVar("A")


async def answers(ask: Callable[[Q], Awaitable[A]], questions: Sequence[Q]) -> list[A]:
    """One answer a question, same order. The first failure is raised; what is still under way is cancelled."""
    free = asyncio.Semaphore(PARALLEL)

    async def one(question: Q) -> A:
        async with free:
            return await ask(question)

    under_way = [asyncio.ensure_future(one(question)) for question in questions]
    try:
        return list(await asyncio.gather(*under_way))
    finally:
        for task in under_way:
            task.cancel()
