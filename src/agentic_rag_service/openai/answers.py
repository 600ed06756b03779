"""The last answers of ``/v1/responses`` to each caller, in memory, for clients that refer to them by id."""

from __future__ import annotations

from collections import OrderedDict

from agentic_rag_service.access import Caller

MAX_ANSWERS = 200
"""Answers that are kept for each caller."""


class GivenAnswers:
    """Texts of the last answers by the id of their message; each caller reads its own."""

    def __init__(self) -> None:
        self._texts: dict[Caller, OrderedDict[str, str]] = {}

    def add(self, caller: Caller, message_id: str, text: str) -> None:
        """Keep an answer, and drop the caller's oldest ones beyond ``MAX_ANSWERS``."""
        texts = self._texts.setdefault(caller, OrderedDict())
        texts[message_id] = text
        while len(texts) > MAX_ANSWERS:
            texts.popitem(last=False)

    def text(self, caller: Caller, message_id: str) -> str | None:
        """The answer; None if this caller got none with this id, or it is no longer kept."""
        texts = self._texts.get(caller)
        return texts.get(message_id) if texts else None

    def forget(self, user_id: str) -> None:
        """Drop the answers to a user, by any key."""
        self._texts = {caller: texts for caller, texts in self._texts.items() if caller.user_id != user_id}
