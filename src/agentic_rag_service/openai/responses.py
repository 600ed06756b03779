"""Responses: the newer of OpenAI's two APIs, whole or as its events; no response is stored on disk."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from functools import partial
from itertools import count
from typing import Any, Literal
from uuid import uuid4

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict, Field

from agentic_rag.domain.json_values import Json
from agentic_rag_service.access import Caller, ErrorEnvelope
from agentic_rag_service.asking import EVENTS, event, event_stream, require_unicode
from agentic_rag_service.errors import ERROR_RESPONSES
from agentic_rag_service.openai.answers import MAX_ANSWERS
from agentic_rag_service.openai.chat import ModelId, open_model
from agentic_rag_service.openai.conversation import Message, Part, Turn, turns_of
from agentic_rag_service.openai.parameters import RESPONSES, UnsupportedParameter, refuse_unsupported
from agentic_rag_service.openai.reply import LinkCitation, Reply, question_of, reply_to
from agentic_rag_service.service import Service, TheCaller, TheService

_NOT_KEPT = (
    f"a reference must name one of this service's last {MAX_ANSWERS} answers to this key since it started; send the "
    "message itself (store: false makes most clients do so)"
)

router = APIRouter(prefix="/v1", tags=["openai"])


class Item(BaseModel):
    """An item of the input; only messages, and references to answers of this service, are read."""

    model_config = ConfigDict(extra="allow")

    type: str = "message"
    id: str | None = None
    role: Literal["system", "developer", "user", "assistant"] | None = None
    content: str | list[Part] | None = None


class ResponseRequest(BaseModel):
    """As OpenAI's clients send it; the effect of the other parameters is in ``parameters.RESPONSES``."""

    model_config = ConfigDict(extra="allow")

    model: ModelId
    input: str | list[Item]
    stream: bool | None = None
    max_output_tokens: int | None = Field(None, ge=1)
    metadata: dict[str, str] | None = None
    instructions: str | None = None


@router.post("/responses", responses={**ERROR_RESPONSES, 200: {"content": {EVENTS: {}}}})
async def respond(body: ResponseRequest, request: Request, service: TheService, caller: TheCaller) -> Any:
    """Answer the last message of the user from the notes, with citations inline and as annotations."""
    require_unicode(body.model_dump())
    refuse_unsupported(RESPONSES, body.model_extra or {})
    question = await asyncio.to_thread(question_of, body.model, _turns(body, service, caller))
    await open_model(service, caller, body.model)
    base = str(request.base_url)
    reply = partial(reply_to, service, caller, question, base=base, limit=body.max_output_tokens)
    response = _Response(body)

    async def kept_reply() -> Reply:
        answer = await reply()
        service.given_answers.add(caller, response.message_id, answer.text)
        return answer

    if not body.stream:
        return response.whole(await kept_reply())
    return event_stream(service, caller, response.events(kept_reply), response.failure)


def _turns(body: ResponseRequest, service: Service, caller: Caller) -> list[Turn]:
    """The texts of the input, after the instructions as a system prompt.

    Raises:
        InputError: the last text is not the user's.
        UnsupportedParameter: an item refers to another one than an answer to this caller, or the question has a part
            that is no text.
    """
    items = [Item(role="user", content=body.input)] if isinstance(body.input, str) else body.input
    messages = [Message(role="system", content=body.instructions)] if body.instructions else []
    for item in items:
        if item.type == "item_reference":
            text = service.given_answers.text(caller, item.id or "")
            if text is None:
                raise UnsupportedParameter("input", item.model_dump(include={"type", "id"}), _NOT_KEPT)
            messages.append(Message(role="assistant", content=text))
        elif item.type == "message" and item.role is not None:
            messages.append(Message(role=item.role, content=item.content))
    return turns_of(messages, "input")


class _Response:
    """One response, whole or as events.

    Args:
        request: as the client sent it.
    """

    def __init__(self, request: ResponseRequest) -> None:
        self._request = request
        self._id, self.message_id = f"resp_{uuid4().hex}", f"msg_{uuid4().hex}"
        self._creation_time, self._numbers = int(time.time()), count()

    def whole(self, reply: Reply) -> Json:
        """The finished response."""
        cut = {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}
        return self._object(
            **(cut if reply.is_cut else {"status": "completed"}),
            output=[self._message(reply)],
            usage={
                "input_tokens": reply.prompt_tokens,
                "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
                "output_tokens": reply.completion_tokens,
                "output_tokens_details": {"reasoning_tokens": 0},
                "total_tokens": reply.prompt_tokens + reply.completion_tokens,
            },
        )

    async def events(self, reply: Callable[[], Awaitable[Reply]]) -> AsyncGenerator[str]:
        """The response as it is made; the text follows once its citations are checked."""
        yield self._event("response.created", response=self._object())
        yield self._event("response.in_progress", response=self._object())
        answer = await reply()
        item = {**self._message(answer), "status": "in_progress", "content": []}
        place = {"output_index": 0, "content_index": 0, "item_id": self.message_id}
        yield self._event("response.output_item.added", output_index=0, item=item)
        yield self._event("response.content_part.added", **place, part=_part("", []))
        for part in self._texts(answer, place):
            yield part
        done = self.whole(answer)
        message = self._message(answer)
        (content,) = self._contents(answer)
        yield self._event("response.output_text.done", **place, text=answer.text, logprobs=[])
        yield self._event("response.content_part.done", **place, part=content)
        yield self._event("response.output_item.done", output_index=0, item=message)
        yield self._event(f"response.{done['status']}", response=done)

    def failure(self, error: ErrorEnvelope) -> str:
        """The last event of a response that failed."""
        problem = {"code": "server_error", "message": error["error"]["message"]}
        return self._event("response.failed", response=self._object(status="failed", error=problem))

    def _texts(self, reply: Reply, place: Json) -> list[str]:
        """The lines of the text, each followed by the citations that end in it."""
        events, end, number = [], 0, 0
        for line in reply.lines:
            end += len(line)
            events.append(self._event("response.output_text.delta", **place, delta=line, logprobs=[]))
            while number < len(reply.citations) and reply.citations[number]["end_index"] <= end:
                annotation = _annotation(reply.citations[number])
                fields = {**place, "annotation_index": number, "annotation": annotation}
                events.append(self._event("response.output_text.annotation.added", **fields))
                number += 1
        return events

    def _event(self, kind: str, **fields: Any) -> str:
        return event(kind, {"type": kind, "sequence_number": next(self._numbers), **fields})

    def _message(self, reply: Reply) -> Json:
        return {
            "id": self.message_id,
            "type": "message",
            "role": "assistant",
            "status": "incomplete" if reply.is_cut else "completed",
            "content": self._contents(reply),
        }

    def _contents(self, reply: Reply) -> list[Json]:
        return [_part(reply.text, [_annotation(one) for one in reply.citations])]

    def _object(self, **fields: Any) -> Json:
        """The response with these fields; in progress without them."""
        return {
            "id": self._id,
            "object": "response",
            "created_at": self._creation_time,
            "status": "in_progress",
            "background": False,
            "error": None,
            "incomplete_details": None,
            "instructions": self._request.instructions,
            "max_output_tokens": self._request.max_output_tokens,
            "metadata": self._request.metadata or {},
            "model": self._request.model,
            "output": [],
            "parallel_tool_calls": False,
            "previous_response_id": None,
            "store": False,
            "text": {"format": {"type": "text"}},
            "tool_choice": "auto",
            "tools": [],
            "usage": None,
            **fields,
        }


def _part(text: str, annotations: list[Json]) -> Json:
    return {"type": "output_text", "text": text, "annotations": annotations, "logprobs": []}


def _annotation(citation: LinkCitation) -> Json:
    return {"type": "url_citation", **citation}
