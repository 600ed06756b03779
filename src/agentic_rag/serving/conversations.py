"""Conversations that are kept: LangGraph threads, each of one user."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agentic_rag.domain.identity import digest
from agentic_rag.errors import InputError
from agentic_rag.serving.access import Caller, Refused

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig

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

    A key of some datasets sees the threads that only these were asked in.

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
    async def turn(self, thread: str | None, caller: Caller) -> AsyncIterator[None]:
        """Questions of one thread are answered one after another: each begins from the state that the last one left.

        Raises:
            Refused: it has answers from a dataset that the caller's key does not open.
        """
        if thread is None or self._kept is None:
            yield
            return
        self._asked[thread] += 1
        try:
            async with self._kept.turn(thread):
                if not await self._may(caller, thread):
                    raise Refused(
                        f"this key does not open all datasets of conversation {_id(thread)!r}; begin another",
                        403,
                    )
                yield
        finally:
            self._asked -= Counter([thread])

    async def of(self, rag: Rag, caller: Caller) -> list[Conversation]:
        """A caller's conversations, newest first."""
        threads = (await self._threads(caller.user_id))[:MOST_LISTED]
        said = [(thread, await self.messages(rag, caller, _id(thread))) for thread in threads]
        return [
            Conversation(_id(thread), _title(told), sum(one["role"] == "user" for one in told))
            for thread, told in said
            if told
        ]

    async def messages(self, rag: Rag, caller: Caller, conversation_id: str) -> list[dict[str, Any]]:
        """What was said, in order: role, text, and an answer's citations; nothing of one that is not theirs to read."""
        thread = self.thread(caller.user_id, conversation_id)
        said = [] if thread is None else await rag.said(thread)
        # Asked afterwards, which covers an answer that came meanwhile.
        if thread is None or not await self._may(caller, thread):
            return []
        return [_plain(message) for message in said]

    async def forget(self, caller: Caller, conversation_id: str | None = None) -> int:
        """Delete a caller's conversation, or all of their user's; how many there were.

        Questions that are being answered are waited for: at its end each writes its whole conversation.
        """
        if self._kept is None:
            return 0
        user = _owner(caller.user_id)
        asked = [one for one in self._asked if one.startswith(f"{user}/")]
        threads = list(dict.fromkeys([*await self._threads(caller.user_id), *asked]))
        if conversation_id is not None:
            named = f"{user}/{conversation_id}"
            threads = [named] if named in threads and await self._may(caller, named) else []
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

    async def _may(self, caller: Caller, thread: str) -> bool:
        """Whether the key opens every dataset that the thread was answered from; each answer left a checkpoint."""
        place: RunnableConfig | None = {"configurable": {"thread_id": thread, "checkpoint_ns": ""}}
        while self._kept is not None and caller.datasets is not None and place is not None:
            found = await self._kept.saver.aget_tuple(place)
            request = found.checkpoint["channel_values"].get("request") if found else None
            if request is not None and not caller.may(request["dataset"]):
                return False
            place = found.parent_config if found else None
        return True


def _id(thread: str) -> str:
    return thread.partition("/")[2]


def _owner(user_id: str) -> str:
    return digest(user_id, size=12)


def _title(told: list[dict[str, Any]]) -> str:
    return next((one["text"] for one in told if one["role"] == "user"), "")


def _plain(message: Any) -> dict[str, Any]:
    details: Mapping[str, Any] = message.additional_kwargs
    told = {"role": "user" if message.type == "human" else "assistant", "text": str(message.text)}
    return told | {key: details[key] for key in ("citations", "abstained", "operation") if key in details}
