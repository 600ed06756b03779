"""Deferred writes: each marked document is written once, in batches, and stays marked until written."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from agentic_rag_lab.designs.services.entries import BATCH_DOCUMENTS, WriteBehind


class Recorder:
    """A store that writes down what is asked of it."""

    def __init__(self) -> None:
        self.done: list[list[str]] = []
        self.behind = WriteBehind(self.clear, self.write)

    async def clear(self) -> None:
        self.done.append(["cleared"])

    async def write(self, document_ids: Sequence[str]) -> None:
        await asyncio.sleep(0)
        self.done.append(list(document_ids))


async def test_what_is_noted_is_written_once() -> None:
    store = Recorder()
    await store.behind.flush()
    assert store.done == []
    for document in ("b", "a", "b"):
        store.behind.note(document)
    await store.behind.flush()
    await store.behind.flush()
    store.behind.note("a")
    await store.behind.flush()
    assert store.done == [["cleared"], ["b", "a"], ["a"]]


async def test_batches_are_bounded() -> None:
    store = Recorder()
    for number in range(2 * BATCH_DOCUMENTS + 1):
        store.behind.note(str(number))
    await store.behind.flush()
    assert [len(batch) for batch in store.done[1:]] == [BATCH_DOCUMENTS, BATCH_DOCUMENTS, 1]


async def test_a_change_during_the_write_is_written_too() -> None:
    store = Recorder()
    store.behind.note("a")
    first = asyncio.create_task(store.behind.flush())
    await asyncio.sleep(0)
    store.behind.note("a")
    await asyncio.gather(first, store.behind.flush())
    assert store.done == [["cleared"], ["a"], ["a"]]
