"""Conversations that are kept: LangGraph threads, each of one user."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agentic_rag.domain.identity import digest
from agentic_rag.errors import InputError

if TYPE_CHECKING:
    from agentic_rag.rag import Rag
    from agentic_rag.stores.checkpoints import Kept

MOST_LISTED = 100
MAX_ID = 64
"""Characters of a conversation's id."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """One, by the id that its user gave it."""

    id: str
    title: str
    """The first question."""
    turns: int


class Conversations:
    """A user's threads. An id names another thread for every user.

    Args:
        kept: where; None: none are kept.
    """

    def __init__(self, kept: Kept | None) -> None:
        self._kept = kept
        self._asked: Counter[str] = Counter()
        """Threads by their questions that are being answered: a first one is stored at its end."""

    def thread(self, user_id: str, conversation_id: str | None) -> str | None:
        """The LangGraph thread of a user's conversation.

        Raises:
            InputError: none are kept, or the id is none.
        """
        if conversation_id is None:
            return None
        if self._kept is None:
            raise InputError("this service keeps no conversations; leave thread_id out")
        if not conversation_id.strip() or len(conversation_id) > MAX_ID or "/" in conversation_id:
            raise InputError(f"a thread_id has 1 to {MAX_ID} characters and no '/', not {conversation_id!r}")
        return f"{_owner(user_id)}/{conversation_id}"

    @asynccontextmanager
    async def turn(self, thread: str | None) -> AsyncIterator[None]:
        """Questions of one thread are answered one after another: each begins from the state that the last one left."""
        if thread is None or self._kept is None:
            yield
            return
        self._asked[thread] += 1
        try:
            async with self._kept.turn(thread):
                yield
        finally:
            self._asked -= Counter([thread])

    async def of(self, rag: Rag, user_id: str) -> list[Conversation]:
        """A user's conversations, newest first."""
        threads = await self._threads(user_id)
        found = [
            await self.messages(rag, user_id, thread.partition("/")[2]) for thread in threads[:MOST_LISTED]
        ]
        return [
            Conversation(thread.partition("/")[2], _title(told), sum(one["role"] == "user" for one in told))
            for thread, told in zip(threads, found, strict=False)
            if told
        ]

    async def messages(self, rag: Rag, user_id: str, conversation_id: str) -> list[dict[str, Any]]:
        """What was said, in order: role, text, and an answer's citations."""
        thread = self.thread(user_id, conversation_id)
        return [] if thread is None else [_plain(message) for message in await rag.said(thread)]

    async def forget(self, user_id: str, conversation_id: str | None = None) -> int:
        """Delete a user's conversation, or all; how many there were.

        Questions that are being answered are waited for: at its end each writes its whole conversation.
        """
        if self._kept is None:
            return 0
        asked = [one for one in self._asked if one.startswith(f"{_owner(user_id)}/")]
        threads = dict.fromkeys([*await self._threads(user_id), *asked])
        if conversation_id is not None:
            threads = {one: None for one in threads if one == f"{_owner(user_id)}/{conversation_id}"}
        for thread in threads:
            async with self._kept.turn(thread):
                await self._kept.saver.adelete_thread(thread)
        if threads:
            await self._kept.purge()
        return len(threads)

    async def reach(self) -> None:
        """Raises ``StoreError`` where they cannot be read."""
        if self._kept is not None:
            await self._kept.reach()

    async def _threads(self, user_id: str) -> list[str]:
        return [] if self._kept is None else await self._kept.threads(f"{_owner(user_id)}/")


def _owner(user_id: str) -> str:
    return digest(user_id, size=12)


def _title(told: list[dict[str, Any]]) -> str:
    return next((one["text"] for one in told if one["role"] == "user"), "")


def _plain(message: Any) -> dict[str, Any]:
    details: Mapping[str, Any] = message.additional_kwargs
    told = {"role": "user" if message.type == "human" else "assistant", "text": str(message.text)}
    return told | {key: details[key] for key in ("citations", "abstained", "operation") if key in details}
