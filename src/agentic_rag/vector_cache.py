"""Vectors of texts that were embedded lately: the same question or sentence comes again and again."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence

from agentic_rag.ports import FloatArray


class VectorCache:
    """Text to vector, as long as a text is among the ``most`` last used.

    Args:
        most: texts that are remembered.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._vectors: dict[str, FloatArray] = {}

    def __iter__(self) -> Iterator[str]:
        """The texts, the one used last at the end."""
        return iter(self._vectors)

    def clear(self) -> None:
        """Forget all."""
        self._vectors.clear()

    async def vectors(
        self, texts: Sequence[str], embed: Callable[[list[str]], Awaitable[FloatArray]]
    ) -> list[FloatArray]:
        """A vector each, in order.

        Args:
            texts: any, also one twice.
            embed: called once with those that are not remembered, where there are any.
        """
        found = {text: self._vectors[text] for text in texts if text in self._vectors}
        missing = [text for text in dict.fromkeys(texts) if text not in found]
        if missing:
            found.update(zip(missing, await embed(missing), strict=True))
        for text in found:
            self._vectors.pop(text, None)
            self._vectors[text] = found[text]
        while len(self._vectors) > self._most:
            self._vectors.pop(next(iter(self._vectors)))
        return [found[text] for text in texts]
