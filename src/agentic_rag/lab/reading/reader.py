"""What a reader is: it answers a question from the history that the memory gave."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

NOT_MENTIONED = "Not mentioned in the conversation"
"""What a reader answers, word for word, where the history does not answer."""


@runtime_checkable
class Reader(Protocol):
    """Answers from a text. The same question on the same text gets the same answer, as far as its model does."""

    async def read(self, question: str, history_text: str) -> str:
        """A short answer, or ``NOT_MENTIONED``.

        Args:
            question: as it was asked.
            history_text: what is remembered, a line ``(ISO date)Speaker: text`` a turn, or any other text.

        Raises:
            ModelError: a model that it asks failed.
        """
        ...
