"""What was made of texts lately, a vector say: the same question or sentence comes again and again."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from typing import Generic, TypeVar

Made = TypeVar("Made")


class TextCache(Generic[Made]):
    """What was made of a text, as long as the text is among the ``most`` last used.

    A text that is asked for while it is being made is not made twice.

    Args:
        most: texts that are remembered.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self.found = self.made = 0
        """Texts that were remembered or under way when they were asked for, and others."""
        self._made: dict[str, Made] = {}
        self._under_way: dict[str, asyncio.Task[dict[str, Made]]] = {}

    def __iter__(self) -> Iterator[str]:
        """The texts, the one used last at the end."""
        return iter(self._made)

    def clear(self) -> None:
        """Forget all."""
        self._made.clear()

    def keep(self, made: Iterable[tuple[str, Made]]) -> None:
        """Remember what was made of texts, the last as the one used last."""
        for text, value in made:
            self._made.pop(text, None)
            self._made[text] = value
        while len(self._made) > self._most:
            self._made.pop(next(iter(self._made)))

    async def of(
        self, texts: Sequence[str], make: Callable[[list[str]], Awaitable[Iterable[Made]]]
    ) -> list[Made]:
        """What is made of each, in order.

        Args:
            texts: any, also one twice.
            make: called once with those that are neither remembered nor under way, where there are any; gives
                one of each, and is finished even where the caller is cancelled, for others may wait for it.
        """
        found = {text: self._made[text] for text in texts if text in self._made}
        others = [text for text in dict.fromkeys(texts) if text not in found]
        missing = [text for text in others if not self._is_under_way(text)]
        self.found += len(texts) - len(missing)
        self.made += len(missing)
        if missing:
            task = asyncio.create_task(self._make(missing, make))
            # Where nobody waits any more, nobody hears of a failure either: it is no event of its own.
            task.add_done_callback(lambda done: done.cancelled() or done.exception())
            self._under_way |= dict.fromkeys(missing, task)
        for waited_for, task in [(text, self._under_way[text]) for text in others]:
            found[waited_for] = (await asyncio.shield(task))[waited_for]
        self.keep(found.items())  # what was asked for is what was used last
        return [found[text] for text in texts]

    def _is_under_way(self, text: str) -> bool:
        """In this event loop; one can't wait for what another one does."""
        task = self._under_way.get(text)
        return task is not None and task.get_loop() is asyncio.get_running_loop() and not task.done()

    async def _make(
        self, texts: list[str], make: Callable[[list[str]], Awaitable[Iterable[Made]]]
    ) -> dict[str, Made]:
        try:
            made = dict(zip(texts, await make(texts), strict=True))
            self.keep(made.items())  # even where the caller is gone: the next one need not wait again
            return made
        finally:
            for text in texts:
                if self._under_way.get(text) is asyncio.current_task():
                    del self._under_way[text]
