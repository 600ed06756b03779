"""One format for every error: ``{"error": {"type", "message"}}`` and, for a wrong parameter, ``param``; with its status."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel, ValidationError
from starlette.exceptions import HTTPException

from agentic_rag.domain.json_values import Json
from agentic_rag.errors import (
    AgenticRagError,
    AllSourcesFailed,
    InputError,
    ModelError,
    RunError,
    StoreAway,
    StoreLocked,
    UnknownDataset,
)
from agentic_rag_service.access import (
    AccessRefusal,
    Caller,
    ErrorEnvelope,
    OnlyAnswers,
    TooLarge,
    TooSlow,
    error_body,
)
from agentic_rag_service.conversations import OtherRequest
from agentic_rag_service.jobs import UnknownJob
from agentic_rag_service.limits import RETRY_AFTER, Busy, TooLate
from agentic_rag_service.openai.parameters import UnsupportedParameter
from agentic_rag_service.service import Service, service_of

logger = logging.getLogger(__name__)
Model = TypeVar("Model", bound=BaseModel)
_STATUS: tuple[tuple[type[AgenticRagError], int], ...] = (
    (UnknownDataset, 404),
    (UnknownJob, 404),
    (TooSlow, 408),
    (TooLarge, 413),
    (OnlyAnswers, 421),
    (OtherRequest, 422),
    (InputError, 400),
    (StoreLocked, 409),
    (Busy, 503),
    (StoreAway, 503),
    (TooLate, 504),
    (AllSourcesFailed, 503),
    (ModelError, 502),
    (RunError, 500),
)
"""HTTP status by error type; the first matching type counts."""


_UNKNOWN_CALLER = Caller("", frozenset())
"""A request that failed before its caller was known."""


class ErrorDetail(BaseModel):
    """What went wrong."""

    type: str
    message: str
    param: str | None = None


class ErrorBody(BaseModel):
    """Every error's body."""

    error: ErrorDetail


_MEANS = {
    400: "the input is wrong",
    401: "an API key is needed",
    403: "the key does not open this",
    404: "not found",
    408: "the request stopped coming",
    409: "another call or process is writing",
    413: "too large",
    421: "this replica does not write; another one does",
    422: "the request does not have the documented form, or its Idempotency-Key was another request's",
    500: "a store failed",
    502: "a model failed",
    503: "busy, a store is away, or no source can be searched",
    504: "no answer in time",
}
ERROR_RESPONSES: dict[int | str, Json] = {
    status: {"model": ErrorBody, "description": told} for status, told in _MEANS.items()
}
"""Answers of every route, for OpenAPI."""


def request_of(model: type[Model], **fields: Any) -> Model:
    """A request model filled with the fields of another one.

    Raises:
        InputError: a field has a wrong value.
    """
    try:
        return model(**fields)
    except ValidationError as error:
        first = error.errors()[0]
        raise InputError(f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from error


def error_of(error: AgenticRagError, service: Service, caller: Caller) -> tuple[int, ErrorEnvelope]:
    """Status and body of an error, with what the caller may know of it."""
    status = (
        error.status
        if isinstance(error, AccessRefusal)
        else next(s for kind, s in _STATUS if isinstance(error, kind))
    )
    param = error.param if isinstance(error, UnsupportedParameter) else None
    return status, error_body(type(error).__name__, service.disclosure.error(caller, error), param)


def _opens_page(request: Request) -> bool:
    """Whether a person opens the address in a browser."""
    return request.method == "GET" and "text/html" in request.headers.get("accept", "")


def add_error_handlers(app: FastAPI, page: Callable[[Request, str, str, int], Response]) -> None:
    """Register the handlers of all errors.

    Args:
        app: the service.
        page: makes the response for a browser, from type, message and status.
    """

    def respond(
        request: Request, status: int, body: ErrorEnvelope, headers: Mapping[str, str] | None = None
    ) -> Response:
        if "hx-request" in request.headers or _opens_page(request):
            shown = page(request, body["error"]["type"], body["error"]["message"], status)
            shown.headers.update(headers or {})
            return shown
        return JSONResponse(body, status_code=status, headers=headers)

    @app.exception_handler(AgenticRagError)
    async def on_own_error(request: Request, error: AgenticRagError) -> Response:
        caller = getattr(request.state, "caller", _UNKNOWN_CALLER)
        status, body = error_of(error, service_of(request), caller)
        headers = {"Retry-After": str(RETRY_AFTER)} if status == 503 else {}
        if status == 401:
            headers["WWW-Authenticate"] = "Bearer"
        if status == 408:
            headers["Connection"] = "close"
        if status >= 500:
            # Not the path: it may name a note.
            route = getattr(request.scope.get("route"), "path", "unknown")
            logger.warning("%s %s: %s", request.method, route, type(error).__name__)
        return respond(request, status, body, headers)

    @app.exception_handler(RequestValidationError)
    async def on_invalid_request(request: Request, error: RequestValidationError) -> Response:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"][1:])  # the first element is body, query or path
        message = f"{where}: {first['msg']}" if where else str(first["msg"])
        return respond(request, 422, error_body("invalid_request", message, where.partition(".")[0] or None))

    @app.exception_handler(HTTPException)
    async def on_http_error(request: Request, error: HTTPException) -> Response:
        # FastAPI hides the cause of a failed body read.
        if isinstance(error.__cause__, AgenticRagError):
            return await on_own_error(request, error.__cause__)
        return respond(request, error.status_code, error_body("http", str(error.detail)), error.headers)

    @app.exception_handler(Exception)
    async def on_unexpected_error(request: Request, error: Exception) -> Response:
        return respond(request, 500, error_body("internal", f"{type(error).__name__}; see the log"))
