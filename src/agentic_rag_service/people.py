"""The stored data of a user, conversations and memories: listed, and deleted together."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field

from agentic_rag.domain.json_values import Json
from agentic_rag.stores.set_aside import check_conversations
from agentic_rag_service.asking import MAX_QUESTION
from agentic_rag_service.conversations import MAX_LISTED
from agentic_rag_service.errors import ERROR_RESPONSES
from agentic_rag_service.service import TheCaller, TheService, TheWriter

router = APIRouter(tags=["people"], responses=ERROR_RESPONSES)


class ConversationSummary(BaseModel):
    """A conversation that is kept."""

    id: str
    title: str
    turns: int


class ConversationList(BaseModel):
    """The caller's, newest first."""

    conversations: list[ConversationSummary]
    next: str | None = Field(description="`cursor` of the next page; null: this is the last one.")


class ConversationText(BaseModel):
    """What was said, in order."""

    id: str
    messages: list[Json]


class Remember(BaseModel):
    """Something to remember of the caller."""

    model_config = ConfigDict(extra="forbid")

    text: str = Field(min_length=1, max_length=MAX_QUESTION)


class MemoryIds(BaseModel):
    """Ids of what is remembered now."""

    ids: list[str]


class DeletionCounts(BaseModel):
    """Numbers of what was deleted."""

    conversations: int
    memories: int = 0
    questions: int = 0


@router.get("/threads")
async def conversations(
    service: TheService,
    caller: TheCaller,
    limit: Annotated[int, Query(ge=1, le=MAX_LISTED)] = MAX_LISTED,
    cursor: Annotated[
        str | None, Query(max_length=64, pattern="^[0-9a-f-]+$", description="`next` of the previous page.")
    ] = None,
) -> ConversationList:
    """A page of the caller's conversations; those of datasets that the key does not open are left out."""
    found, following = await service.conversations.of(service.rag, caller, limit, cursor)
    return ConversationList(
        conversations=[ConversationSummary(id=one.id, title=one.title, turns=one.turns) for one in found],
        next=following,
    )


@router.get("/threads/{thread_id}")
async def conversation(thread_id: str, service: TheService, caller: TheCaller) -> ConversationText:
    """One of the caller's conversations; an unknown one, or one of other datasets, is empty."""
    return ConversationText(
        id=thread_id, messages=await service.conversations.messages(service.rag, caller, thread_id)
    )


@router.delete("/threads/{thread_id}")
async def forget_conversation(thread_id: str, service: TheService, caller: TheCaller) -> DeletionCounts:
    """Delete one of the caller's conversations."""
    conversations = await service.conversations.forget(caller, thread_id)
    check_conversations(service.rag.config.data_dir)
    return DeletionCounts(conversations=conversations)


@router.post("/memory")
async def remember(request: Remember, service: TheWriter, caller: TheCaller) -> MemoryIds:
    """Remember what the caller says of themselves; later answers read it."""
    async with service.slots.acquire():
        kept = await service.rag.memory.remember(request.text, caller.user_id)
    return MemoryIds(ids=[kept.evidence_id, *(str(one["id"]) for one in kept.memories)])


@router.delete("/memory")
async def forget(service: TheWriter, caller: TheCaller) -> DeletionCounts:
    """Delete all that is kept of the caller: memories, conversations, questions that were answered."""
    conversations = await service.conversations.forget(caller)
    forgotten = await service.rag.memory.forget(caller.user_id)
    questions = service.rag.reviews(caller.user_id).forget()
    service.given_answers.forget(caller.user_id)
    check_conversations(service.rag.config.data_dir)
    return DeletionCounts(conversations=conversations, memories=forgotten.memories, questions=questions)
