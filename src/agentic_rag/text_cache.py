"""What was made of texts lately, a vector say: the same question or sentence comes again and again."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from typing import Generic, TypeVar

Made = TypeVar("Made")


class TextCache(Generic[Made]):
    """What was made of a text, as long as the text is among the ``most`` last used.

    Args:
        most: texts that are remembered.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._made: dict[str, Made] = {}

    def __iter__(self) -> Iterator[str]:
        """The texts, the one used last at the end."""
        return iter(self._made)

    def clear(self) -> None:
        """Forget all."""
        self._made.clear()

    async def of(
        self, texts: Sequence[str], make: Callable[[list[str]], Awaitable[Iterable[Made]]]
    ) -> list[Made]:
        """What is made of each, in order.

        Args:
            texts: any, also one twice.
            make: called once with those that are not remembered, where there are any; gives one of each.
        """
        found = {text: self._made[text] for text in texts if text in self._made}
        missing = [text for text in dict.fromkeys(texts) if text not in found]
        if missing:
            found.update(zip(missing, await make(missing), strict=True))
        for text in found:
            self._made.pop(text, None)
            self._made[text] = found[text]
        while len(self._made) > self._most:
            self._made.pop(next(iter(self._made)))
        return [found[text] for text in texts]
