"""Calls of a model's endpoint: with limits on concurrency and rate, retries, usage counts, a budget, and traces.

One ``Spending`` is shared by all endpoints of an opened ``Rag``. A call is made only if the budget covers its maximum
usage, so a budget is never exceeded; the unused part is returned afterwards.
"""

from __future__ import annotations

import asyncio
import math
import random
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Literal, TypeVar
from urllib.parse import urlsplit

from agentic_rag import tracing
from agentic_rag.domain.usage import Usage, count
from agentic_rag.errors import BudgetSpent
from agentic_rag.settings.config import BudgetConfig

if TYPE_CHECKING:
    from openai import AsyncOpenAI, DefaultAsyncHttpxClient
    from pydantic import SecretStr

T = TypeVar("T")
TRIES = 4
"""Of one call, the first included: refused for a limit, or a server's failure."""
FIRST_WAIT, MAX_WAIT = 0.5, 8.0
"""Seconds before the second try, and maximum before any later one; the wait doubles with each try."""
MAX_RETRY_AFTER = 120.0
"""Maximum Retry-After in seconds; a longer one is an error at once."""
MILLION = 1_000_000
AT_ONCE = 8
"""Concurrent calls of one model."""
_BY_STATUS = {
    400: (
        "refused the request",
        "the text may be too long for the model, or it does not take an option (some models take no temperature: leave it unset)",
    ),
    401: ("refused the key", "check {section}.api_key"),
    403: ("refused the key", "check {section}.api_key and its permissions"),
    404: ("does not know the model or the path", "check {section}.model and {section}.base_url"),
    413: ("refused the request as too long", "use a model with a longer context"),
    422: ("refused the request", "the server may not support all of the OpenAI API"),
    429: ("is over its limit", "wait, or raise the limit of the account"),
}


_LONGER = "raise {section}.timeout_seconds, or "


class Spending:
    """Usage of one opened ``Rag``, and its budget; for one event loop."""

    def __init__(self, budget: BudgetConfig | None = None) -> None:
        self._budget = budget or BudgetConfig()
        self.total_usage = Usage()
        self._reserved_usage = Usage()

    def reserve(self, most: Usage) -> None:
        """Reserve the maximum usage of a call.

        Raises:
            BudgetSpent: the maximum exceeds the rest of the budget.
        """
        for name, limit in (("tokens", self._budget.tokens), ("cost", self._budget.cost)):
            spent = getattr(self.total_usage, name) + getattr(self._reserved_usage, name)
            wanted = getattr(most, name)
            if limit is not None and spent + wanted > limit:
                raise BudgetSpent(
                    f"budget.{name} is {limit:,}: {spent:,.6g} are used or reserved, and the next call may take "
                    f"{wanted:,.6g}; raise budget.{name} to go on"
                )
        self._reserved_usage.add(most)

    def settle(self, most: Usage, usage: Usage) -> None:
        """Replace a call's reservation by its actual usage."""
        for name in ("prompt_tokens", "completion_tokens", "embedded_tokens", "cost"):
            setattr(self._reserved_usage, name, getattr(self._reserved_usage, name) - getattr(most, name))
        self.total_usage.add(usage)
        count(usage)


@dataclass(frozen=True, slots=True)
class Prices:
    """Prices per million tokens."""

    input: float = 0.0
    output: float = 0.0

    def of(self, usage: Usage) -> Usage:
        """The usage with its cost."""
        sent = usage.prompt_tokens + usage.embedded_tokens
        return replace(usage, cost=(sent * self.input + usage.completion_tokens * self.output) / MILLION)


@dataclass(frozen=True, slots=True)
class ModelAddress:
    """What an endpoint calls, as its spans name it."""

    model: str = ""
    base_url: str | None = None
    operation: Literal["chat", "embeddings"] = "chat"


class Endpoint:
    """Calls of one model at one address.

    Args:
        address: the model.
        timeout_seconds: time limit of each try.
        tries: maximum number, the first one included.
        prices: prices of its tokens.
        spending: shared with the other endpoints.
        sleep: replaceable for tests.
    """

    def __init__(
        self,
        address: ModelAddress | None = None,
        *,
        timeout_seconds: float = 60.0,
        tries: int = 1,
        prices: Prices | None = None,
        spending: Spending | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._address = address or ModelAddress()
        self.timeout_seconds = timeout_seconds
        self.tries = tries
        self.sleep = sleep
        self._places = asyncio.Semaphore(AT_ONCE)
        self._prices = prices or Prices()
        self._spending = spending or Spending()

    def span(self, model: str | None = None) -> AbstractContextManager[tracing.Span]:
        """A span for one call with all its tries; ``model``: its name, where the endpoint has none."""
        name = self._address.model or model or ""
        attributes = {
            "gen_ai.provider.name": "openai",
            "gen_ai.request.model": name or None,
            **tracing.of_server(self._address.base_url),
        }
        return tracing.span(self._address.operation, name, attributes, remote=True)

    async def call(self, work: Callable[[], Awaitable[T]], most: Usage, usage_of: Callable[[T], Usage]) -> T:
        """``once``, with retries after rate limits, server errors, lost connections and time-outs."""
        spent = 0
        while True:
            try:
                return await self.once(work, most, usage_of)
            except Exception as error:
                spent += 1
                wait = retry_wait(error, spent)
                if wait is None or spent >= self.tries:
                    raise
            await self.sleep(wait)

    async def once(self, work: Callable[[], Awaitable[T]], most: Usage, usage_of: Callable[[T], Usage]) -> T:
        """The answer to one request, sent under the endpoint's limits, without retries.

        Args:
            work: makes the request.
            most: its maximum usage.
            usage_of: reads the usage from the response.

        Raises:
            BudgetSpent: raised before the request.
            TimeoutError: after ``timeout_seconds``; the client's own time limit restarts with every byte.
        """
        most = self._prices.of(most)
        async with self._places:
            self._spending.reserve(most)
            # An abandoned or timed-out request may be charged; a refused one is not.
            used = replace(most, calls=1, estimated=True)
            try:
                async with asyncio.timeout(self.timeout_seconds):
                    result = await work()
                used = self._prices.of(replace(usage_of(result), calls=1))
            except Exception as error:
                if not _is_timeout(error):
                    used = Usage()
                raise
            finally:
                self._spending.settle(most, used)
            sent, written = used.prompt_tokens + used.embedded_tokens, used.completion_tokens
            tracing.set_token_usage(sent, written or None)
            return result


def most_tokens(*texts: str) -> int:
    """Upper bound of the tokens of texts: a byte-level tokeniser makes at most one token per byte."""
    overhead = 16
    return sum(len(text.encode("utf-8", "replace")) + overhead for text in texts)


def retry_wait(error: BaseException, attempts: int) -> float | None:
    """Seconds before the next try, by Retry-After or exponential backoff with jitter; None: a retry is useless."""
    code = status(error)
    if code is None and not (_is_timeout(error) or _is_connection(error)):
        return None
    if code is not None and code < 500 and code not in (408, 409, 429):
        return None
    asked = _retry_after(error)
    if asked is not None:
        return asked if asked <= MAX_RETRY_AFTER else None
    return float(min(MAX_WAIT, FIRST_WAIT * 2 ** (attempts - 1))) * random.uniform(0.75, 1.0)


def _retry_after(error: BaseException) -> float | None:
    """The server's Retry-After: milliseconds, seconds, or the time until an HTTP date."""
    headers = getattr(getattr(error, "response", None), "headers", None) or {}
    value, unit = headers.get("retry-after-ms"), 1000.0
    if value is None:
        value, unit = headers.get("retry-after"), 1.0
    if value is None:
        return None
    seconds: float
    try:
        seconds = float(value) / unit
    except ValueError:
        try:
            then = parsedate_to_datetime(value)
        except ValueError:
            return None
        # The oldest of the three date formats (RFC 9110, 5.6.7) has no zone and means UTC, as the others do.
        seconds = (then.replace(tzinfo=then.tzinfo or UTC) - datetime.now(UTC)).total_seconds()
    return None if math.isnan(seconds) else max(0.0, seconds)


def failure_text(error: BaseException, section: str) -> str:
    """The failure and its remedy; ``section`` is the configuration section: ``chat`` or ``embedding``."""
    happened, cure = _kind(error)
    if section == "embedding":  # its time limit is no setting
        cure = cure.removeprefix(_LONGER)
    return f"{happened}; {cure.format(section=section)}"


def describe_failure(error: BaseException) -> str:
    """The failure without its remedy: ``is over its limit (HTTP 429)``."""
    return _kind(error)[0]


def status(error: BaseException) -> int | None:
    """HTTP status of any client's error that has it as ``status_code``."""
    code = getattr(error, "status_code", None)
    return code if isinstance(code, int) and not isinstance(code, bool) else None


def _is_timeout(error: BaseException) -> bool:
    return isinstance(error, TimeoutError) or "Timeout" in type(error).__name__


def _is_connection(error: BaseException) -> bool:
    return isinstance(error, ConnectionError) or "Connection" in type(error).__name__


def _kind(error: BaseException) -> tuple[str, str]:
    code = status(error)
    if code is not None:
        if code in _BY_STATUS:
            words, cure = _BY_STATUS[code]
            return f"{words} (HTTP {code})", cure
        if 300 <= code < 400:
            return (
                f"redirects to {_redirected_to(error)} (HTTP {code}), and nothing was sent there",
                "set {section}.base_url to the address that is meant",
            )
        if code >= 500:
            return f"broke (HTTP {code})", "look at the server's log, or try again"
        return f"answered HTTP {code}", "check {section}.base_url"
    if _is_timeout(error):
        return "gave no answer in time", f"{_LONGER}use a faster model"
    if _is_connection(error):
        return "cannot be reached", "check that it runs, and {section}.base_url"
    return (
        f"gave an answer that cannot be read ({type(error).__name__})",
        "check {section}.base_url and {section}.model",
    )


def _redirected_to(error: BaseException) -> str:
    """Scheme, host and port of a redirect's target; its path and query may hold what was sent."""
    headers = getattr(getattr(error, "response", None), "headers", {})
    try:
        target = urlsplit(headers.get("location", ""))
        host, port = target.hostname, target.port
    except ValueError:
        host, port = None, None
    if not host:
        return "another path of the same host"
    scheme = f"{target.scheme}://" if target.scheme else ""
    name = f"[{host}]" if ":" in host else host
    return f"{scheme}{name}" if port is None else f"{scheme}{name}:{port}"


def openai_client(base_url: str, api_key: SecretStr | None, seconds: float) -> AsyncOpenAI:
    """A client without tries of its own, which each call's endpoint counts.

    Args:
        base_url: of the endpoint.
        api_key: None: one that a local server ignores.
        seconds: a request's time limit.
    """
    from openai import AsyncOpenAI

    # With an empty key the client would take one from the environment.
    key = (api_key.get_secret_value() if api_key else "") or "none"
    return AsyncOpenAI(
        base_url=base_url, api_key=key, timeout=seconds, max_retries=0, http_client=http_client()
    )


def http_client() -> DefaultAsyncHttpxClient:
    """A client for an endpoint that follows no redirect: a 307 would send the prompt to an address that nobody
    configured."""
    from openai import DefaultAsyncHttpxClient

    return DefaultAsyncHttpxClient(follow_redirects=False)
