"""The cache of text values: each is computed once for all callers while it is cached or under way."""

from __future__ import annotations

import asyncio
import gc

import pytest

from agentic_rag.text.cache import TextCache


class Maker:
    """Makes lengths, and counts; waits until it is let go."""

    def __init__(self) -> None:
        self.asked: list[list[str]] = []
        self.go = asyncio.Event()

    async def __call__(self, texts: list[str]) -> list[int]:
        self.asked.append(texts)
        await self.go.wait()
        if "bad" in texts:
            raise ValueError("bad")
        return [len(text) for text in texts]


async def test_each_text_is_made_once_and_answered_in_order():
    cache, make = TextCache[int](10), Maker()
    make.go.set()
    assert await cache.of(["one", "three", "one"], make) == [3, 5, 3]
    assert await cache.of(["four", "one"], make) == [4, 3]
    assert make.asked == [["one", "three"], ["four"]]


async def test_the_least_recently_used_is_forgotten():
    cache, make = TextCache[int](2), Maker()
    make.go.set()
    for text in ("one", "two", "one", "three"):
        await cache.of([text], make)
    assert list(cache) == ["one", "three"]
    assert await cache.of(["a", "b", "c"], make) == [1, 1, 1]  # more than are remembered


async def test_two_who_ask_at_once_wait_for_the_same():
    cache, make = TextCache[int](10), Maker()
    both = asyncio.gather(cache.of(["one"], make), cache.of(["one", "three"], make))
    await asyncio.sleep(0)
    make.go.set()
    assert await both == [[3], [3, 5]]
    assert make.asked == [["one"], ["three"]]


async def test_a_failure_reaches_all_and_is_not_remembered():
    cache, make = TextCache[int](10), Maker()
    both = asyncio.gather(cache.of(["bad"], make), cache.of(["bad"], make), return_exceptions=True)
    await asyncio.sleep(0)
    make.go.set()
    assert [str(error) for error in await both] == ["bad", "bad"]
    with pytest.raises(ValueError, match="bad"):
        await cache.of(["bad"], make)
    assert len(make.asked) == 2


async def test_one_who_gives_up_takes_nothing_from_another():
    cache, make = TextCache[int](10), Maker()
    first = asyncio.create_task(cache.of(["one"], make))
    second = asyncio.create_task(cache.of(["one"], make))
    await asyncio.sleep(0)
    first.cancel()
    await asyncio.sleep(0)
    make.go.set()
    assert await second == [3]
    assert first.cancelled()


def test_what_a_loop_left_unfinished_is_made_anew_in_the_next():
    cache = TextCache[int](10)

    async def leave() -> None:
        task = asyncio.create_task(cache.of(["one"], Maker()))
        await asyncio.sleep(0)
        task.cancel()

    async def ask() -> list[int]:
        make = Maker()
        make.go.set()
        return await cache.of(["one"], make)

    asyncio.run(leave())
    assert asyncio.run(ask()) == [3]


async def test_what_is_finished_after_its_caller_gave_up_is_remembered():
    cache, make = TextCache[int](10), Maker()
    first = asyncio.create_task(cache.of(["one"], make))
    await asyncio.sleep(0)
    first.cancel()
    await asyncio.sleep(0)
    make.go.set()
    await asyncio.sleep(0.01)
    assert await cache.of(["one"], make) == [3]
    assert len(make.asked) == 1


async def test_a_failure_that_nobody_waits_for_is_no_event_of_its_own():
    cache, make, unheard = TextCache[int](10), Maker(), list[str]()
    asyncio.get_running_loop().set_exception_handler(lambda loop, told: unheard.append(told["message"]))
    first = asyncio.create_task(cache.of(["bad"], make))
    await asyncio.sleep(0)
    first.cancel()
    await asyncio.sleep(0)
    make.go.set()
    await asyncio.sleep(0.01)
    gc.collect()
    assert unheard == []
