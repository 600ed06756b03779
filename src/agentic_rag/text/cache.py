"""A cache of values computed from texts, a vector say, because the same questions and sentences recur."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from typing import Generic, TypeVar

Value = TypeVar("Value")


class TextCache(Generic[Value]):
    """Values computed from texts, for the ``most`` last used texts.

    Concurrent requests for the same text compute it once.

    Args:
        most: number of texts that are cached.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self.hits = self.misses = 0
        """Number of requested texts that were cached or under way, and of the others."""
        self._values: dict[str, Value] = {}
        self._under_way: dict[str, asyncio.Task[dict[str, Value]]] = {}

    def __iter__(self) -> Iterator[str]:
        """The texts, the last used one at the end."""
        return iter(self._values)

    def clear(self) -> None:
        """Drop all values."""
        self._values.clear()

    def keep(self, items: Iterable[tuple[str, Value]]) -> None:
        """Store values of texts; the last one counts as last used."""
        for text, value in items:
            self._values.pop(text, None)
            self._values[text] = value
        while len(self._values) > self._most:
            self._values.pop(next(iter(self._values)))

    async def of(
        self, texts: Sequence[str], make: Callable[[list[str]], Awaitable[Iterable[Value]]]
    ) -> list[Value]:
        """The value of each text, in order.

        Args:
            texts: any texts; repetitions are allowed.
            make: called once with the texts that are neither cached nor under way, if any; returns one value
                each. It is finished even if the caller is cancelled, because others may wait for it.
        """
        found = {text: self._values[text] for text in texts if text in self._values}
        others = [text for text in dict.fromkeys(texts) if text not in found]
        missing = [text for text in others if not self._is_under_way(text)]
        self.hits += len(texts) - len(missing)
        self.misses += len(missing)
        if missing:
            task = asyncio.create_task(self._make(missing, make))
            # Retrieve the exception: without a waiter asyncio would report it as unhandled.
            task.add_done_callback(lambda future: future.cancelled() or future.exception())
            self._under_way |= dict.fromkeys(missing, task)
        for waited_for, task in [(text, self._under_way[text]) for text in others]:
            found[waited_for] = (await asyncio.shield(task))[waited_for]
        self.keep(found.items())  # requested texts count as last used
        return [found[text] for text in texts]

    def _is_under_way(self, text: str) -> bool:
        """Whether it is under way in this event loop; one loop cannot wait for another."""
        task = self._under_way.get(text)
        return task is not None and task.get_loop() is asyncio.get_running_loop() and not task.done()

    async def _make(
        self, texts: list[str], make: Callable[[list[str]], Awaitable[Iterable[Value]]]
    ) -> dict[str, Value]:
        try:
            made = dict(zip(texts, await make(texts), strict=True))
            self.keep(made.items())  # even if the caller was cancelled, for the next one
            return made
        finally:
            for text in texts:
                if self._under_way.get(text) is asyncio.current_task():
                    del self._under_way[text]
