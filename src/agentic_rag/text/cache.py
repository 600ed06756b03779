"""A cache of values computed from texts, a vector say, because the same questions and sentences recur."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from typing import Generic, TypeVar

Made = TypeVar("Made")


class TextCache(Generic[Made]):
    """Values computed from texts, for the ``most`` last used texts.

    Concurrent requests for the same text compute it once.

    Args:
        most: number of texts that are cached.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self.found = self.made = 0
        """Number of requested texts that were cached or under way, and of the others."""
        self._made: dict[str, Made] = {}
        self._under_way: dict[str, asyncio.Task[dict[str, Made]]] = {}

    def __iter__(self) -> Iterator[str]:
        """The texts, the last used one at the end."""
        return iter(self._made)

    def clear(self) -> None:
        """Drop all values."""
        self._made.clear()

    def keep(self, made: Iterable[tuple[str, Made]]) -> None:
        """Store values of texts; the last one counts as last used."""
        for text, value in made:
            self._made.pop(text, None)
            self._made[text] = value
        while len(self._made) > self._most:
            self._made.pop(next(iter(self._made)))

    async def of(
        self, texts: Sequence[str], make: Callable[[list[str]], Awaitable[Iterable[Made]]]
    ) -> list[Made]:
        """The value of each text, in order.

        Args:
            texts: any texts; repetitions are allowed.
            make: called once with the texts that are neither cached nor under way, if any; returns one value
                each. It is finished even if the caller is cancelled, because others may wait for it.
        """
        found = {text: self._made[text] for text in texts if text in self._made}
        others = [text for text in dict.fromkeys(texts) if text not in found]
        missing = [text for text in others if not self._is_under_way(text)]
        self.found += len(texts) - len(missing)
        self.made += len(missing)
        if missing:
            task = asyncio.create_task(self._make(missing, make))
            # Retrieve the exception: without a waiter asyncio would report it as unhandled.
            task.add_done_callback(lambda done: done.cancelled() or done.exception())
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
        self, texts: list[str], make: Callable[[list[str]], Awaitable[Iterable[Made]]]
    ) -> dict[str, Made]:
        try:
            made = dict(zip(texts, await make(texts), strict=True))
            self.keep(made.items())  # even if the caller was cancelled, for the next one
            return made
        finally:
            for text in texts:
                if self._under_way.get(text) is asyncio.current_task():
                    del self._under_way[text]
