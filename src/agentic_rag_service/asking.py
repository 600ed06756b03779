"""Questions over HTTP: /ask, whole or as events, and /search."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import asdict
from functools import partial
from itertools import islice
from typing import Annotated, Any, cast

from fastapi import APIRouter, Header, Request
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, ConfigDict, Field

from agentic_rag.answer import Answer, Step
from agentic_rag.domain.filters import term_values
from agentic_rag.domain.identity import is_unicode
from agentic_rag.domain.json_values import Json
from agentic_rag.errors import AgenticRagError, InputError
from agentic_rag.nodes.request import DEFAULT_DATASET, DEFAULT_TOP_K, MAX_TOP_K
from agentic_rag.rag import Rag
from agentic_rag.retrieval.config import Strategy
from agentic_rag.state import AskOptions, OperationName
from agentic_rag_service.access import Caller, ErrorEnvelope, error_body
from agentic_rag_service.errors import ERROR_RESPONSES, error_of
from agentic_rag_service.service import Service, TheCaller, TheService

logger = logging.getLogger(__name__)
router = APIRouter(tags=["asking"])
MAX_QUESTION = 20_000
"""Maximum length of a question, in characters."""
MAX_TEXT = 2_000
"""Maximum length of a text in filters or parameters, in characters."""
MAX_CONDITIONS = 500
"""Maximum number of values in the filters of a request."""
MAX_PARAMETERS = 100
"""Maximum number of parameters that one request sets; there are fewer."""
EVENTS = "text/event-stream"
NO_STORE = {"Cache-Control": "no-store"}
RequestId = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        max_length=200,
        description="Sent again with it, a question of a kept conversation is answered once; another request with it is refused.",
    ),
]


class Ask(BaseModel):
    """A question."""

    model_config = ConfigDict(extra="forbid")

    query: str = Field(min_length=1, max_length=MAX_QUESTION, description="The question, in any language.")
    dataset: str = Field(DEFAULT_DATASET, min_length=1, max_length=200)
    operation: OperationName | None = Field("auto", description="null is auto.")
    filters: Json | None = Field(None, description='On properties of notes: {"year": {"$gte": 2023}}.')
    as_of: str | None = Field(None, description="ISO 8601: what was known then.", max_length=40)
    top_k: int = Field(DEFAULT_TOP_K, ge=1, le=MAX_TOP_K)
    parameters: Json | None = Field(None, description='Of this call alone: {"fusion": {"k": 20}}.')
    thread_id: str | None = Field(
        None, description="Goes on with a conversation that is kept.", max_length=64
    )


class Citation(BaseModel):
    """Where a claim stands."""

    model_config = ConfigDict(extra="allow")

    n: int
    path: str | None
    title: str | None
    quote: str
    start: int | None
    end: int | None
    url: str | None


class AnswerBody(BaseModel):
    """An answer, as ``agentic-rag ask --json`` prints it."""

    query: str
    operation: str
    dataset: str
    answer: str
    abstained: bool
    citations: list[Citation]
    results: list[Json]
    outcomes: Json
    fusion: Json
    quality: Json
    rewrites: list[str]
    usage: Json
    selection: Json | None
    carried: dict[str, str]
    seconds: float


class Search(BaseModel):
    """A search of the vector store alone."""

    model_config = ConfigDict(extra="forbid")

    query: str = Field(min_length=1, max_length=MAX_QUESTION)
    dataset: str = Field(DEFAULT_DATASET, min_length=1, max_length=200)
    strategy: Strategy = "hybrid"
    top_k: int = Field(4, ge=1, le=MAX_TOP_K)
    threshold: float = Field(0.0, ge=0, le=1)
    filters: Json | None = None


class ChunkResults(BaseModel):
    """Chunks by relevance in [0, 1], best first."""

    query: str
    strategy: str
    results: list[Json]
    seconds: float


def require_unicode(request: Any) -> None:
    """Check the texts of JSON values.

    Raises:
        InputError: one has a lone surrogate.
    """
    if not is_unicode(json.dumps(request, ensure_ascii=False)):
        raise InputError("the request holds a lone surrogate, which is not a Unicode character; remove it")


def require_few(values: Any, most: int, what: str = "filters") -> None:
    """Check the number of values in the filters or parameters of a request, and the length of their texts.

    An empty mapping or list counts as a value.

    Args:
        values: JSON values.
        most: number of values allowed.
        what: they are, for the error.

    Raises:
        InputError: there are more than ``most``, or a text or key has more than ``MAX_TEXT`` characters.
    """
    waiting, count = [values], 0
    while waiting and count <= most:
        match waiting.pop():
            case dict() as parts if parts:
                for key in islice(parts, most + 1):
                    _require_short(key, what)
                waiting += islice(parts.values(), most + 1)
            case list() as parts if parts:
                waiting += parts[: most + 1]
            case value:
                _require_short(value, what)
                count += 1
    if count > most:
        raise InputError(f"the {what} have more than {most} values; give fewer")


def _require_short(value: Any, what: str) -> None:
    if isinstance(value, str) and len(value) > MAX_TEXT:
        raise InputError(
            f"a text in the {what} has {len(value)} characters; give at most {MAX_TEXT}: {value[:40]!r}…"
        )


def filters_of(terms: Sequence[str]) -> Json | None:
    """Filters that a request writes as the command line does: ``["year>=2023", "lang=zh"]``; None for no terms.

    Raises:
        InputError: there are more than ``MAX_CONDITIONS``, or one cannot be read.
    """
    require_few(list(terms), MAX_CONDITIONS)
    return term_values(terms)


async def ask_stream(
    service: Service,
    caller: Caller,
    ask: Ask,
    messages: list[Any] | None = None,
    request_id: str | None = None,
    route: str = "/ask",
) -> AsyncGenerator[Step | str | Answer]:
    """Answer a question under the limit on concurrent questions, and count it; yields steps, tokens, the answer.

    ``route`` names the endpoint, with what its request has besides ``ask``: a ``request_id`` holds for both.
    """
    require_few(ask.filters, MAX_CONDITIONS)
    require_few(ask.parameters, MAX_PARAMETERS, "parameters")
    require_unicode([ask.model_dump(), *(message.content for message in messages or [])])
    rerank = (ask.parameters or {}).get("rerank")
    if isinstance(rerank, dict) and "model" in rerank:
        raise InputError("rerank.model cannot be chosen in a request; set it in the settings of the service")
    thread = service.conversations.thread(caller.user_id, ask.thread_id)
    options = cast(AskOptions, {name: getattr(ask, name) for name in Ask.model_fields if name != "query"})
    options["dataset"] = caller.require(ask.dataset)
    options["user_id"] = await _memory_user(service.rag, caller)
    options["thread_id"] = thread
    if messages is not None:
        options["messages"] = messages
    request = json.dumps([route, ask.model_dump()], sort_keys=True)
    await service.conversations.bind(caller.user_id, request_id, request, keep=thread is not None)
    async with service.slots.acquire(), service.conversations.turn(thread, caller):
        async for part in service.rag.stream(ask.query, request_id=request_id, **options):
            if isinstance(part, Answer):
                service.metrics.count_answer(part)
            yield part


async def answer_to(
    service: Service,
    caller: Caller,
    ask: Ask,
    messages: list[Any] | None = None,
    request_id: str | None = None,
    route: str = "/ask",
) -> Answer:
    """The answer without steps and tokens."""
    async with aclosing(ask_stream(service, caller, ask, messages, request_id, route)) as parts:
        async for part in parts:
            if isinstance(part, Answer):
                return part
    raise RuntimeError("the run ended without an answer; the log says which node failed")


async def _memory_user(rag: Rag, caller: Caller) -> str | None:
    """The user's id if anything is remembered of them; else None, because asking the agents would only cost time."""
    return caller.user_id if await rag.memory.count(caller.user_id) else None


def event(name: str | None, value: Any) -> str:
    """One server-sent event; None: it has no name."""
    head = "" if name is None else f"event: {name}\n"
    return f"{head}data: {json.dumps(value, ensure_ascii=False)}\n\n"


def event_stream(
    service: Service,
    caller: Caller,
    parts: AsyncGenerator[str],
    failure_event: Callable[[ErrorEnvelope], str],
    headers: Mapping[str, str] = NO_STORE,
) -> StreamingResponse:
    """A response of server-sent events, whose last is an error's on failure, because its status was already sent.

    Args:
        service: the open service.
        caller: who reads the stream.
        parts: the events.
        failure_event: makes the last event from the error body.
        headers: of the response.
    """
    events = _to_the_end(service, caller, parts, failure_event)
    return StreamingResponse(events, media_type=EVENTS, headers=headers)


async def _to_the_end(
    service: Service,
    caller: Caller,
    parts: AsyncGenerator[str],
    failure_event: Callable[[ErrorEnvelope], str],
) -> AsyncIterator[str]:
    try:
        async with aclosing(parts):
            async for part in parts:
                yield part
    except AgenticRagError as error:
        yield failure_event(error_of(error, service, caller)[1])
    except Exception as error:
        logger.exception("a question failed")
        yield failure_event(error_body("internal", f"{type(error).__name__}; see the log"))


async def _events(service: Service, caller: Caller, ask: Ask, request_id: str | None) -> AsyncGenerator[str]:
    started = time.perf_counter()
    yield event("started", {"query": ask.query})
    async with aclosing(ask_stream(service, caller, ask, request_id=request_id)) as parts:
        async for part in parts:
            match part:
                case Step():
                    yield event("step", asdict(part))
                case str():
                    yield event("token", {"text": part})
                case Answer():
                    seconds = round(time.perf_counter() - started, 3)
                    yield event("answer", {**part.to_dict(), "seconds": seconds})


@router.post("/ask", response_model=AnswerBody, responses={**ERROR_RESPONSES, 200: {"content": {EVENTS: {}}}})
async def ask(
    ask: Ask, request: Request, service: TheService, caller: TheCaller, request_id: RequestId = None
) -> Any:
    """Ask a dataset; the answer cites a note for every claim.

    With ``Accept: text/event-stream`` as events: ``step`` when a node has ended, ``token`` where a chat model writes,
    ``answer`` at the end, or ``error``.
    """
    if EVENTS in request.headers.get("accept", ""):
        caller.require(ask.dataset)
        await service.rag.require_dataset(ask.dataset)
        events = _events(service, caller, ask, request_id)
        return event_stream(service, caller, events, partial(event, "error"))
    started = time.perf_counter()
    answer = await answer_to(service, caller, ask, request_id=request_id)
    return {**answer.to_dict(), "seconds": round(time.perf_counter() - started, 3)}


@router.post("/search", responses=ERROR_RESPONSES)
async def search(search: Search, service: TheService, caller: TheCaller) -> ChunkResults:
    """Search the vector store alone."""
    started = time.perf_counter()
    dataset = caller.require(search.dataset)
    require_few(search.filters, MAX_CONDITIONS)
    async with service.slots.acquire():
        await service.rag.require_dataset(dataset)
        results = await service.rag.search(
            search.query,
            dataset=dataset,
            top_k=search.top_k,
            threshold=search.threshold,
            filters=search.filters,
            strategy=search.strategy,
        )
    return ChunkResults(
        query=search.query,
        strategy=search.strategy,
        results=[one.to_dict() for one in results],
        seconds=round(time.perf_counter() - started, 3),
    )
