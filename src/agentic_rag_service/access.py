"""Access control: API keys bound to users and datasets, allowed hosts and origins, size limits of requests."""

from __future__ import annotations

import asyncio
import hmac
import json
from collections.abc import Sequence
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie
from typing import NotRequired, TypedDict
from urllib.parse import unquote, urlsplit

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from agentic_rag.domain.identity import dataset_name
from agentic_rag.errors import InputError
from agentic_rag.rag import LOCAL_USER
from agentic_rag.settings.config import ServiceConfig, ServiceKey

LOOPBACK = ("127.0.0.1", "localhost", "::1")
COOKIE = "agentic_rag_key"
"""Cookie in which the page sends an API key, percent-encoded."""
UPLOADS = ("/ingest/files", "/page/upload")
"""Paths with a larger limit on the request body."""
MAX_UPLOAD = 200_000_000
"""Bytes of an upload."""
MAX_BODY = 1_000_000
"""Bytes of any other request: fifty times the longest question or memory."""
MAX_PAUSE_SECONDS = 30.0
"""For the header of a request, and between two parts of its body."""


class AccessRefusal(InputError):
    """The request is refused; ``status`` is 401 or 403."""

    def __init__(self, message: str, status: int) -> None:
        self.status = status
        super().__init__(message)


class OnlyAnswers(InputError):
    """The request would write, but this replica only answers."""

    def __init__(self) -> None:
        super().__init__(
            "this replica does not write (service.writes is false); call the replica that does, or let the proxy "
            "choose it as configs/replicas.conf does"
        )


@dataclass(frozen=True, slots=True)
class Caller:
    """The sender of a request."""

    user_id: str
    datasets: frozenset[str] | None
    """Datasets that the caller may use; None: all."""
    sees_paths: bool = False
    """Whether errors and reports may name folders of this machine: to its own user, not to a key."""

    def may(self, dataset: str) -> bool:
        """Whether the caller may use the dataset."""
        return self.datasets is None or dataset_name(dataset) in self.datasets

    def require(self, dataset: str) -> str:
        """The dataset's name; raises ``AccessRefusal`` if the caller may not use it."""
        if not self.may(dataset):
            raise AccessRefusal(f"this key does not open dataset {dataset!r}", 403)
        return dataset_name(dataset)


class Access:
    """Identifies callers by their API keys. Without configured keys every caller is the local user: only for
    loopback."""

    def __init__(self, keys: Sequence[ServiceKey]) -> None:
        self._callers = [
            (
                one.key.get_secret_value().encode(),
                Caller(
                    one.user, None if one.datasets is None else frozenset(map(dataset_name, one.datasets))
                ),
            )
            for one in keys
        ]

    @property
    def needs_key(self) -> bool:
        """Whether every request needs a key."""
        return bool(self._callers)

    def caller(self, headers: Headers) -> Caller:
        """The caller of a request, by ``Authorization: Bearer …`` or the page's cookie.

        Raises:
            AccessRefusal: no key, or an unknown one.
        """
        return self.of_key(_key_of(headers))

    def of_key(self, key: str | None) -> Caller:
        """The caller with this key; raises ``AccessRefusal`` as ``caller``."""
        if not self._callers:
            return Caller(LOCAL_USER, None, sees_paths=True)
        if not key:
            raise AccessRefusal("an API key is needed: Authorization: Bearer …", 401)
        given = key.encode("utf-8", "surrogatepass")
        found = [caller for known, caller in self._callers if hmac.compare_digest(known, given)]
        if not found:
            raise AccessRefusal("the API key is not known", 401)
        return found[0]


def _key_of(headers: Headers) -> str | None:
    scheme, _, token = headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer" and token.strip():
        return token.strip()
    try:
        morsel = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
    except CookieError:
        return None
    return unquote(morsel.value) if morsel else None


class Problem(TypedDict):
    """An error as clients read it."""

    type: str
    message: str
    param: NotRequired[str]
    """Name of the wrong parameter of a request."""


class ErrorEnvelope(TypedDict):
    """The JSON body of every error, in OpenAI's format."""

    error: Problem


def error_body(kind: str, message: str, param: str | None = None) -> ErrorEnvelope:
    """The body of an error; ``param`` names the wrong parameter of a request."""
    problem: Problem = {"type": kind, "message": message}
    return {"error": {**problem, "param": param} if param else problem}


class Gate:
    """Admits requests with a known host, the page's own or an allowed origin, and an allowed size.

    Without these checks a foreign page could read notes by DNS rebinding or by a cross-origin request.
    """

    def __init__(self, app: ASGIApp, config: ServiceConfig, host: str) -> None:
        self._app = app
        self._hosts = {*LOOPBACK, host.lower(), *(name.lower() for name in config.hosts)}
        self._origins = frozenset(config.origins)
        self._any_host = host in ("0.0.0.0", "::") and not config.hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        path = scope["path"].removeprefix(scope.get("root_path", ""))
        most = MAX_UPLOAD if path in UPLOADS else MAX_BODY
        if refusal := self._refusal(headers, most):
            await refusal(scope, receive, send)
            return
        read, is_whole = 0, False

        async def receive_bounded() -> Message:
            nonlocal read, is_whole
            try:
                # What comes after the body is the end of the connection, which may take as long as the answer.
                async with asyncio.timeout(None if is_whole else MAX_PAUSE_SECONDS):
                    message = await receive()
            except TimeoutError:
                raise TooSlow from None
            is_whole = not message.get("more_body", False)
            read += len(message.get("body", b""))
            if read > most:
                raise TooLarge(most)
            return message

        await self._app(scope, receive_bounded, send)

    def _refusal(self, headers: Headers, most: int) -> JSONResponse | None:
        host = headers.get("host", "")
        if not self._any_host and _name(host) not in self._hosts:
            return _refusal(403, f"unknown host {host!r}; {_allowed_by('hosts', _name(host))}")
        origin = headers.get("origin")
        if origin and origin != "null" and _netloc(origin) != host.lower() and origin not in self._origins:
            return _refusal(
                403, f"a page of {origin} may not call this service; {_allowed_by('origins', origin)}"
            )
        if origin == "null":
            return _refusal(403, "a page without an origin may not call this service")
        length = headers.get("content-length", "0")
        if length.isdigit() and int(length) > most:
            return _refusal(413, str(TooLarge(most)))
        return None


class TooLarge(InputError):
    """The request body exceeds the size limit."""

    def __init__(self, most: int) -> None:
        super().__init__(f"a request may have {most / 1e6:g} MB here")


class TooSlow(InputError):
    """The request body stopped coming."""

    def __init__(self) -> None:
        super().__init__(f"nothing of the request came for {MAX_PAUSE_SECONDS:g} s; send it again")


def _refusal(status: int, message: str) -> JSONResponse:
    return JSONResponse(error_body("refused", message), status_code=status)


def _allowed_by(setting: str, value: str) -> str:
    """The remedy: which setting allows a value, and how it is set."""
    variable = f"AGENTIC_RAG_SERVICE__{setting.upper()}"
    return (
        f"to allow it, add it to service.{setting}, or set {variable}='{json.dumps([value])}' and start again"
    )


def _netloc(origin: str) -> str | None:
    """Host and port of an origin; None if it is no URL."""
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:
        return None


def _name(host: str) -> str:
    """The host without its port."""
    try:
        return (urlsplit(f"//{host}").hostname or "").lower()
    except ValueError:
        return ""
