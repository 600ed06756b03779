"""OpenAI's surface: any chat front end talks to a dataset as to a model. Every answer comes from the notes."""

from __future__ import annotations

import json
import re
import time
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from typing import Any, Literal
from urllib.parse import urlencode
from uuid import uuid4

from fastapi import APIRouter, Request
from fastapi.responses import StreamingResponse
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage
from pydantic import BaseModel, ConfigDict, Field

from agentic_rag.answer import Answer
from agentic_rag.errors import InputError
from agentic_rag.fusion import CanvasOperation
from agentic_rag.serving.access import Caller
from agentic_rag.serving.asking import EVENTS, Ask, answer_to, asked, to_the_end
from agentic_rag.serving.errors import DOCUMENTED, request_of
from agentic_rag.serving.notes import dataset_names, note_path
from agentic_rag.serving.service import Service, TheCaller, TheService

router = APIRouter(prefix="/v1", tags=["openai"])
_DONE = "data: [DONE]\n\n"
_MARK = re.compile(r"\[(\d+(?:, \d+)*)\]")


class Part(BaseModel):
    """A part of a message; only texts are read."""

    model_config = ConfigDict(extra="allow")

    type: str
    text: str | None = None


class ChatMessage(BaseModel):
    """A message of the conversation."""

    model_config = ConfigDict(extra="allow")

    role: Literal["system", "developer", "user", "assistant", "tool"]
    content: str | list[Part] | None = None

    @property
    def text(self) -> str:
        """Its text alone."""
        if isinstance(self.content, list):
            return "\n".join(part.text for part in self.content if part.text)
        return self.content or ""


class ChatRequest(BaseModel):
    """As OpenAI's clients send it; what steers a model's writing (temperature, …) has nothing to steer here."""

    model_config = ConfigDict(extra="allow")

    model: str = Field(min_length=1, max_length=300, description="A dataset, or dataset/operation.")
    messages: list[ChatMessage] = Field(min_length=1, max_length=1000)
    stream: bool = False


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


@router.get("/models", responses=DOCUMENTED)
async def models(service: TheService, caller: TheCaller) -> Models:
    """One for each dataset, and one for each of its operations."""
    created = int(service.started)
    names = await dataset_names(service.rag, caller)
    ids = [f"{name}{way}" for name in names for way in ("", *(f"/{one.value}" for one in CanvasOperation))]
    return Models(data=[Model(id=one, created=created) for one in ids])


@router.post("/chat/completions", responses={**DOCUMENTED, 200: {"content": {EVENTS: {}}}})
async def complete(chat: ChatRequest, request: Request, service: TheService, caller: TheCaller) -> Any:
    """Answer the last message of the user from the notes, with citations inline and as annotations."""
    ask, earlier = _question(chat)
    caller.require(ask.dataset)
    await service.rag.require_dataset(ask.dataset)
    base = str(request.base_url)
    completion = f"chatcmpl-{uuid4().hex}"
    if chat.stream:
        return StreamingResponse(
            to_the_end(_streamed(service, caller, ask, earlier, base, chat.model, completion), _failed),
            media_type=EVENTS,
            headers={"Cache-Control": "no-store"},
        )
    answer = await answer_to(service, caller, ask, earlier)
    text, annotations = linked(answer, base)
    message = {"role": "assistant", "content": text, "annotations": annotations}
    return {
        "id": completion,
        "object": "chat.completion",
        "created": int(time.time()),
        "model": chat.model,
        "choices": [{"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}],
        "usage": _tokens(answer),
    }


def _tokens(answer: Answer) -> dict[str, int]:
    """Token counts of the chat model as clients expect them; all 0 without a chat model."""
    sent, written = (int(answer.usage.get(f"{name}_tokens", 0)) for name in ("prompt", "completion"))
    return {"prompt_tokens": sent, "completion_tokens": written, "total_tokens": sent + written}


def _question(chat: ChatRequest) -> tuple[Ask, list[AnyMessage]]:
    """The question, and the conversation before it."""
    dataset, slash, operation = chat.model.rpartition("/")
    if not slash or operation not in {one.value for one in CanvasOperation}:
        dataset, operation = chat.model, "auto"
    said = [
        message for message in chat.messages if message.role in ("user", "assistant") and message.text.strip()
    ]
    if not said or said[-1].role != "user":
        raise InputError("the last message must be the user's, with a text")
    earlier: list[AnyMessage] = [
        HumanMessage(message.text) if message.role == "user" else AIMessage(message.text)
        for message in said[:-1]
    ]
    return request_of(Ask, query=said[-1].text, dataset=dataset, operation=operation), earlier


def linked(answer: Answer, base: str) -> tuple[str, list[dict[str, Any]]]:
    """The text with a link after each citation mark, and the position of each link."""
    by_number = {str(one["n"]): one for one in answer.citations}
    text, annotations, end = "", [], 0
    for mark in _MARK.finditer(answer.text):
        text += answer.text[end : mark.start()]
        end = mark.end()
        for number in mark[1].split(", "):
            citation = by_number.get(number)
            if citation is None:
                continue
            url = note_url(base, answer.dataset, citation)
            start = len(text)
            text += f"[[{number}]]({url})" if url else f"[{number}]"
            if url:
                annotations.append(_annotation(start, len(text), url, citation))
    return text + answer.text[end:], annotations


def _annotation(start: int, end: int, url: str, citation: Mapping[str, Any]) -> dict[str, Any]:
    told = {
        "start_index": start,
        "end_index": end,
        "url": url,
        "title": citation["title"] or citation["path"],
    }
    return {"type": "url_citation", "url_citation": told}


def note_url(base: str, dataset: str, citation: Mapping[str, Any]) -> str | None:
    """Address of a citation's passage on the page; None if its document is no note."""
    if not citation.get("document_id"):
        return None
    place = {
        key: value
        for key, value in {"start": citation.get("start"), "end": citation.get("end")}.items()
        if value is not None
    }
    return f"{base}read/{note_path(dataset, str(citation['document_id']))}" + (
        f"?{urlencode(place)}" if place else ""
    )


async def _streamed(
    service: Service,
    caller: Caller,
    ask: Ask,
    earlier: list[AnyMessage],
    base: str,
    model: str,
    completion: str,
) -> AsyncGenerator[str]:
    """The answer line by line; the chat model's tokens are not streamed, because their citations are not yet
    checked."""
    head = {"id": completion, "object": "chat.completion.chunk", "created": int(time.time()), "model": model}

    def chunk(delta: dict[str, Any], finish: str | None = None) -> str:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return f"data: {json.dumps({**head, 'choices': [choice]}, ensure_ascii=False)}\n\n"

    yield chunk({"role": "assistant", "content": ""})
    async with aclosing(asked(service, caller, ask, earlier)) as parts:
        async for part in parts:
            if isinstance(part, Answer):
                text, annotations = linked(part, base)
                for line in text.splitlines(keepends=True):
                    yield chunk({"content": line})
                yield chunk({"annotations": annotations} if annotations else {}, "stop")
    yield _DONE


def _failed(error: dict[str, Any]) -> str:
    return f"data: {json.dumps(error, ensure_ascii=False)}\n\n{_DONE}"
