"""Stored conversations: LangGraph threads, each of one user."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NotRequired, TypedDict, cast

from langgraph.checkpoint.base import empty_checkpoint

from agentic_rag.domain.identity import digest
from agentic_rag.domain.results import Citation
from agentic_rag.errors import InputError
from agentic_rag_service.access import AccessRefusal, Caller

if TYPE_CHECKING:
    from langchain_core.runnables import RunnableConfig

    from agentic_rag.rag import Rag
    from agentic_rag.stores.checkpoints import Checkpoints

MAX_LISTED = 100
"""Maximum number of conversations on a page."""
_REQUEST = "request"
MAX_ID = 64
"""Maximum length of a conversation's id, in characters."""


class OtherRequest(InputError):
    """An ``Idempotency-Key`` was sent with another request before."""

    def __init__(self) -> None:
        super().__init__(
            "this Idempotency-Key was sent with another request before; give each request its own"
        )


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation, by the id that its user gave it."""

    id: str
    title: str
    """The first question."""
    turns: int


class Conversations:
    """The threads of each user. The same id names a different thread for every user.

    A key limited to some datasets sees only the threads that were answered from these datasets alone.

    Args:
        checkpoints: the checkpointer that stores them; None: no conversations are stored.
    """

    def __init__(self, checkpoints: Checkpoints | None) -> None:
        self._checkpoints = checkpoints
        self._open_questions: Counter[str] = Counter()
        """Number of questions under way by thread: the first question of a thread is stored only at its end."""

    @property
    def are_kept(self) -> bool:
        """Whether conversations are stored."""
        return self._checkpoints is not None

    def thread(self, user_id: str, conversation_id: str | None) -> str | None:
        """The LangGraph thread of a user's conversation.

        Raises:
            InputError: conversations are not stored, or the id is not valid.
        """
        if conversation_id is None:
            return None
        if self._checkpoints is None:
            raise InputError("this service keeps no conversations; leave thread_id out")
        if not conversation_id.strip() or len(conversation_id) > MAX_ID or "/" in conversation_id:
            raise InputError(f"a thread_id has 1 to {MAX_ID} characters and no '/', not {conversation_id!r}")
        return f"{_owner(user_id)}/{conversation_id}"

    @asynccontextmanager
    async def turn(self, thread: str | None, caller: Caller) -> AsyncIterator[None]:
        """Answers the questions of one thread one after another, because each starts from the state of the
        previous one.

        Raises:
            AccessRefusal: the thread has answers from a dataset that the caller's key does not open.
        """
        if thread is None or self._checkpoints is None:
            yield
            return
        self._open_questions[thread] += 1
        try:
            async with self._checkpoints.turn(thread):
                if not await self._may(caller, thread):
                    raise AccessRefusal(
                        f"this key does not open all datasets of conversation {_id(thread)!r}; begin another",
                        403,
                    )
                yield
        finally:
            self._open_questions -= Counter([thread])

    async def bind(self, user_id: str, request_id: str | None, request: str, *, keep: bool) -> None:
        """Check that a request id names this request of the user and no other one.

        Args:
            user_id: the user.
            request_id: the request's ``Idempotency-Key``, if any.
            request: route and body; only a digest is stored.
            keep: whether to store it if the id is new.

        Raises:
            OtherRequest: the id was stored with another request.
        """
        if self._checkpoints is None or request_id is None:
            return
        named = f"{_owner(user_id)}:{digest(request_id, size=12)}"
        # With the id, so that nobody can guess a forgotten question from its digest.
        value = digest(request_id, request, size=12)
        place: RunnableConfig = {"configurable": {"thread_id": named, "checkpoint_ns": ""}}
        async with self._checkpoints.turn(named):
            first = await self._checkpoints.saver.aget_tuple(place)
            if first is None and keep:
                await self._checkpoints.saver.aput(place, empty_checkpoint(), {_REQUEST: value}, {})  # type: ignore[misc]
            elif first is not None and first.metadata.get(_REQUEST) != value:
                raise OtherRequest

    async def of(
        self, rag: Rag, caller: Caller, limit: int = MAX_LISTED, before: str | None = None
    ) -> tuple[list[Conversation], str | None]:
        """A page of a caller's conversations, newest first.

        Args:
            rag: the open stores.
            caller: who asks.
            limit: maximum length of the page; it is shorter if the caller may not read some.
            before: where the previous page ended; None: the first page.

        Returns:
            the conversations, and ``before`` of the next page; None: this is the last one.
        """
        if self._checkpoints is None:
            return [], None
        threads = await self._checkpoints.threads(f"{_owner(caller.user_id)}/", limit, before)
        said = [(thread, await self.messages(rag, caller, _id(thread))) for thread in threads]
        found = [
            Conversation(_id(thread), _title(told), sum(one["role"] == "user" for one in told))
            for thread, told in said
            if told
        ]
        return found, list(threads.values())[-1] if len(threads) == limit else None

    async def messages(self, rag: Rag, caller: Caller, conversation_id: str) -> list[StoredMessage]:
        """The messages in order: role, text, and an answer's citations; empty if the caller may not read the
        conversation."""
        thread = self.thread(caller.user_id, conversation_id)
        said = [] if thread is None else await rag.messages(thread)
        # The check comes after the read, so that it covers an answer stored in the meantime.
        if thread is None or not await self._may(caller, thread):
            return []
        return [_plain(message) for message in said]

    async def forget(self, caller: Caller, conversation_id: str | None = None) -> int:
        """Delete a caller's conversation, or all of their user's; returns the number deleted.

        Waits for questions under way, because each stores its whole conversation at its end.
        """
        if self._checkpoints is None:
            return 0
        user = _owner(caller.user_id)
        asked = [one for one in self._open_questions if one.startswith(f"{user}/")]
        threads = list(dict.fromkeys([*await self._checkpoints.threads(f"{user}/"), *asked]))
        if conversation_id is not None:
            named = f"{user}/{conversation_id}"
            threads = [named] if named in threads and await self._may(caller, named) else []
        bound = await self._checkpoints.threads(f"{user}:") if conversation_id is None else {}
        for thread in [*threads, *bound]:
            async with self._checkpoints.turn(thread):
                await self._checkpoints.saver.adelete_thread(thread)
        if threads or bound:
            await self._checkpoints.purge()
        return len(threads)

    async def reach(self) -> None:
        """Raises ``StoreError`` if the conversations cannot be read."""
        if self._checkpoints is not None:
            await self._checkpoints.reach()

    async def _may(self, caller: Caller, thread: str) -> bool:
        """Whether the key opens every dataset that the thread was answered from; every answer left a checkpoint."""
        place: RunnableConfig | None = {"configurable": {"thread_id": thread, "checkpoint_ns": ""}}
        while self._checkpoints is not None and caller.datasets is not None and place is not None:
            found = await self._checkpoints.saver.aget_tuple(place)
            request = found.checkpoint["channel_values"].get("request") if found else None
            if request is not None and not caller.may(request["dataset"]):
                return False
            place = found.parent_config if found else None
        return True


def _id(thread: str) -> str:
    return thread.partition("/")[2]


def _owner(user_id: str) -> str:
    return digest(user_id, size=12)


def _title(messages: list[StoredMessage]) -> str:
    return next((one["text"] for one in messages if one["role"] == "user"), "")


class StoredMessage(TypedDict):
    """A message of a conversation; an answer has the other keys too."""

    role: str
    text: str
    citations: NotRequired[list[Citation]]
    abstained: NotRequired[bool]
    operation: NotRequired[str]
    dataset: NotRequired[str]


def _plain(message: Any) -> StoredMessage:
    details: Mapping[str, Any] = message.additional_kwargs
    known = ("citations", "abstained", "operation", "dataset")
    answer = {key: details[key] for key in known if key in details}
    role = "user" if message.type == "human" else "assistant"
    return cast(StoredMessage, {"role": role, "text": str(message.text), **answer})
