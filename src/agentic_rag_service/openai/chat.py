"""Chat completions, and the list of models: a dataset is asked as a model, and every answer comes from the notes."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from functools import partial
from typing import Annotated, Any, Literal
from uuid import uuid4

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict, Field, field_validator

from agentic_rag.domain.json_values import Json
from agentic_rag.fusion import CanvasOperation
from agentic_rag_service.access import Caller, ErrorEnvelope
from agentic_rag_service.asking import EVENTS, event, event_stream, require_unicode
from agentic_rag_service.errors import ERROR_RESPONSES
from agentic_rag_service.notes import dataset_names
from agentic_rag_service.openai.conversation import Message, model_parts, turns_of
from agentic_rag_service.openai.parameters import CHAT, UnsupportedParameter, refuse_unsupported
from agentic_rag_service.openai.reply import Reply, question_of, reply_to
from agentic_rag_service.service import Service, TheCaller, TheService

router = APIRouter(prefix="/v1", tags=["openai"])
_END_OF_STREAM = "data: [DONE]\n\n"
ModelId = Annotated[str, Field(min_length=1, max_length=300, description="A dataset, or dataset/operation.")]
StopText = Annotated[str, Field(min_length=1)]


class StreamOptions(BaseModel):
    """What a stream has besides the text."""

    model_config = ConfigDict(extra="allow")

    include_usage: bool = False


class ChatRequest(BaseModel):
    """As OpenAI's clients send it; the effect of the other parameters is in ``parameters.CHAT``."""

    model_config = ConfigDict(extra="allow")

    model: ModelId
    messages: list[Message] = Field(min_length=1, max_length=1000)
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    stop: list[StopText] | None = Field(None, max_length=4)
    max_tokens: int | None = Field(None, ge=1)
    max_completion_tokens: int | None = Field(None, ge=1)

    @field_validator("stop", mode="before")
    @classmethod
    def _as_list(cls, stop: Any) -> Any:
        return [stop] if isinstance(stop, str) else stop

    @property
    def limit(self) -> int | None:
        """Most tokens of the answer; None: no limit."""
        return self.max_tokens if self.max_completion_tokens is None else self.max_completion_tokens


class Model(BaseModel):
    """A dataset, asked in one way."""

    id: str
    object: Literal["model"] = "model"
    created: int
    owned_by: str = "agentic-rag"


class Models(BaseModel):
    """All that the caller may ask."""

    object: Literal["list"] = "list"
    data: list[Model]


@router.get("/models", responses=ERROR_RESPONSES)
async def models(service: TheService, caller: TheCaller) -> Models:
    """One for each dataset, and one for each of its operations."""
    created = int(service.start_time)
    names = await dataset_names(service.rag, caller)
    ids = [f"{name}{way}" for name in names for way in ("", *(f"/{one.value}" for one in CanvasOperation))]
    return Models(data=[Model(id=one, created=created) for one in ids])


@router.get("/models/{model:path}", responses=ERROR_RESPONSES)
async def retrieve_model(model: str, service: TheService, caller: TheCaller) -> Model:
    """One model."""
    await open_model(service, caller, model)
    return Model(id=model, created=int(service.start_time))


@router.post("/chat/completions", responses={**ERROR_RESPONSES, 200: {"content": {EVENTS: {}}}})
async def complete(chat: ChatRequest, request: Request, service: TheService, caller: TheCaller) -> Any:
    """Answer the last message of the user from the notes, with citations inline and as annotations."""
    require_unicode(chat.model_dump())
    refuse_unsupported(CHAT, chat.model_extra or {})
    if chat.stream_options is not None and not chat.stream:
        options = chat.stream_options.model_dump()
        raise UnsupportedParameter("stream_options", options, "leave it out, or send stream: true with it")
    question = await asyncio.to_thread(question_of, chat.model, turns_of(chat.messages, "messages"))
    await open_model(service, caller, chat.model)
    base = str(request.base_url)
    reply = partial(reply_to, service, caller, question, base=base, stop=chat.stop or (), limit=chat.limit)
    head = {"id": f"chatcmpl-{uuid4().hex}", "created": int(time.time()), "model": chat.model}
    if not chat.stream:
        return _completion(head, await reply())
    chunks = _chunks(head, reply, chat.stream_options or StreamOptions())
    return event_stream(service, caller, chunks, _failure)


async def open_model(service: Service, caller: Caller, model: str) -> None:
    """Check that a model is there for the caller.

    Raises:
        AccessRefusal: the caller may not use its dataset.
        UnknownDataset: there is no such dataset.
    """
    dataset, _ = model_parts(model)
    caller.require(dataset)
    await service.rag.require_dataset(dataset)


def _completion(head: Json, reply: Reply) -> Json:
    message = {
        "role": "assistant",
        "content": reply.text,
        "refusal": None,
        "annotations": _annotations(reply),
    }
    choice = {"index": 0, "message": message, "finish_reason": _finish(reply), "logprobs": None}
    return {**head, "object": "chat.completion", "choices": [choice], "usage": _usage(reply)}


def _annotations(reply: Reply) -> list[Json]:
    return [{"type": "url_citation", "url_citation": one} for one in reply.citations]


def _finish(reply: Reply) -> str:
    return "length" if reply.is_cut else "stop"


def _usage(reply: Reply) -> dict[str, int]:
    """Token counts of the chat model as clients expect them; all 0 without a chat model."""
    return {
        "prompt_tokens": reply.prompt_tokens,
        "completion_tokens": reply.completion_tokens,
        "total_tokens": reply.prompt_tokens + reply.completion_tokens,
    }


async def _chunks(
    head: Json, reply: Callable[[], Awaitable[Reply]], options: StreamOptions
) -> AsyncGenerator[str]:
    """The answer line by line; the chat model's tokens are not streamed, because their citations are not yet
    checked."""
    usage: Json = {"usage": None} if options.include_usage else {}

    def chunk(choices: list[Json], **fields: Any) -> str:
        return event(None, {**head, "object": "chat.completion.chunk", "choices": choices, **fields})

    def delta(change: Json, finish: str | None = None) -> str:
        return chunk([{"index": 0, "delta": change, "finish_reason": finish}], **usage)

    yield delta({"role": "assistant", "content": ""})
    answer = await reply()
    for line in answer.lines:
        yield delta({"content": line})
    annotations = _annotations(answer)
    yield delta({"annotations": annotations} if annotations else {}, _finish(answer))
    if options.include_usage:
        yield chunk([], usage=_usage(answer))
    yield _END_OF_STREAM


def _failure(error: ErrorEnvelope) -> str:
    return event(None, error) + _END_OF_STREAM
