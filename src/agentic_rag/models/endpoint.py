"""How a model's endpoint is called: so many calls at a time, so many a minute, tried again, counted, within a budget,
and traced.

One ``Spending`` is shared by all endpoints of an opened ``Rag``. A call is made only where the most that it can use is
left of the budget, so no budget is overspent; what it did not use is given back.
"""

from __future__ import annotations

import asyncio
import math
import random
import time
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Literal, TypeVar

from agentic_rag import tracing
from agentic_rag.domain.usage import Usage, count
from agentic_rag.errors import BudgetSpent
from agentic_rag.settings.addresses import without_login as without_login
from agentic_rag.settings.config import BudgetConfig

T = TypeVar("T")
FIRST_WAIT, LONGEST_WAIT = 0.5, 8.0
"""Seconds before the second try, and the most before any later one: each waits twice as long."""
LONGEST_RETRY_AFTER = 120.0
"""A server that asks for more is not waited for."""
MILLION = 1_000_000
_BY_STATUS = {
    400: (
        "refused the request",
        "the text may be too long for the model, or it does not take an option (some models take no temperature but 1)",
    ),
    401: ("refused the key", "check {section}.api_key"),
    403: ("refused the key", "check {section}.api_key and what it is allowed to use"),
    404: ("does not know the model or the path", "check {section}.model and {section}.base_url"),
    413: ("refused the request as too long", "use a model with more room"),
    422: ("refused the request", "the server may not speak the OpenAI protocol in full"),
    429: ("is over its limit", "wait, or raise the limit of the account"),
}


class Spending:
    """What one opened ``Rag`` has used, and what it may use; of one event loop."""

    def __init__(self, budget: BudgetConfig | None = None) -> None:
        self._budget = budget or BudgetConfig()
        self.used = Usage()
        self._reserved = Usage()

    def reserve(self, most: Usage) -> None:
        """Keep room for a call.

        Raises:
            BudgetSpent: it could use more than is left.
        """
        for name, limit in (("tokens", self._budget.tokens), ("cost", self._budget.cost)):
            spent = getattr(self.used, name) + getattr(self._reserved, name)
            wanted = getattr(most, name)
            if limit is not None and spent + wanted > limit:
                raise BudgetSpent(
                    f"budget.{name} is {limit:,}: {spent:,.6g} are used or reserved, and the next call may take "
                    f"{wanted:,.6g}; raise it to go on"
                )
        self._reserved.add(most)

    def settle(self, most: Usage, used: Usage) -> None:
        """The call that room was kept for has ended."""
        for name in ("prompt_tokens", "completion_tokens", "embedded_tokens", "cost"):
            setattr(self._reserved, name, getattr(self._reserved, name) - getattr(most, name))
        self.used.add(used)
        count(used)


@dataclass(frozen=True, slots=True)
class Prices:
    """Of a million tokens each."""

    input: float = 0.0
    output: float = 0.0

    def of(self, used: Usage) -> Usage:
        """The same, with its cost."""
        sent = used.prompt_tokens + used.embedded_tokens
        return replace(used, cost=(sent * self.input + used.completion_tokens * self.output) / MILLION)


class Endpoint:
    """Calls of one model at one address.

    Args:
        operation, model, base_url: how its spans call it.
        timeout_seconds: for each try.
        tries: with the first.
        at_once: calls at the same time.
        per_minute: most calls begun in a minute; None: no limit.
        prices: of its tokens.
        spending: shared with the other endpoints.
        sleep: for tests.
    """

    def __init__(
        self,
        *,
        operation: Literal["chat", "embeddings"] = "chat",
        model: str = "",
        base_url: str | None = None,
        timeout_seconds: float = 60.0,
        tries: int = 1,
        at_once: int = 8,
        per_minute: float | None = None,
        prices: Prices | None = None,
        spending: Spending | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._operation, self._model, self._base_url = operation, model, base_url
        self.timeout_seconds = timeout_seconds
        self.tries = tries
        self.sleep = sleep
        self._places = asyncio.Semaphore(at_once)
        self._apart = 60.0 / per_minute if per_minute else 0.0
        self._next = 0.0
        self._prices = prices or Prices()
        self._spending = spending or Spending()

    def span(self) -> AbstractContextManager[tracing.Span]:
        """Of one call with all its tries."""
        attributes = {
            "gen_ai.provider.name": "openai",
            "gen_ai.request.model": self._model or None,
            **tracing.of_server(self._base_url),
        }
        return tracing.span(self._operation, self._model, attributes, remote=True)

    async def call(self, work: Callable[[], Awaitable[T]], most: Usage, told: Callable[[T], Usage]) -> T:
        """``once``, and again after limits, server errors, lost connections and time-outs."""
        spent = 0
        while True:
            try:
                return await self.once(work, most, told)
            except Exception as error:
                spent += 1
                wait = retry_wait(error, spent)
                if wait is None or spent >= self.tries:
                    raise
            await self.sleep(wait)

    async def once(self, work: Callable[[], Awaitable[T]], most: Usage, told: Callable[[T], Usage]) -> T:
        """One request, in a place of its own.

        Args:
            work: makes it.
            most: tokens that it can use.
            told: what it used, read from its answer.

        Raises:
            BudgetSpent: before it is made.
            TimeoutError: after ``timeout_seconds``; the client's own limit begins anew with every byte.
        """
        most = self._prices.of(most)
        async with self._places:
            await self._turn()
            self._spending.reserve(most)
            # A request that was not answered in time, or given up, may be charged; one that was refused is not.
            used = replace(most, calls=1, estimated=True)
            try:
                async with asyncio.timeout(self.timeout_seconds):
                    result = await work()
                used = self._prices.of(replace(told(result), calls=1))
            except Exception as error:
                if not _is_timeout(error):
                    used = Usage()
                raise
            finally:
                self._spending.settle(most, used)
            sent, written = used.prompt_tokens + used.embedded_tokens, used.completion_tokens
            tracing.used(sent, written or None)
            return result

    async def _turn(self) -> None:
        """Wait until another request may begin."""
        now = time.monotonic()
        self._next = max(now, self._next) + self._apart
        if (wait := self._next - self._apart - now) > 0:
            await self.sleep(wait)


def most_tokens(*texts: str) -> int:
    """More tokens than the texts can have: a byte-level tokeniser makes one of each byte at the most."""
    overhead = 16
    return sum(len(text.encode("utf-8", "replace")) + overhead for text in texts)


def retry_wait(error: BaseException, spent: int) -> float | None:
    """Seconds before the next try, after Retry-After or with doubling waits and jitter; None: it cannot help."""
    code = status(error)
    if code is None and not (_is_timeout(error) or _is_connection(error)):
        return None
    if code is not None and code < 500 and code not in (408, 409, 429):
        return None
    asked = _retry_after(error)
    if asked is not None:
        return asked if asked <= LONGEST_RETRY_AFTER else None
    return float(min(LONGEST_WAIT, FIRST_WAIT * 2 ** (spent - 1))) * random.uniform(0.75, 1.0)


def _retry_after(error: BaseException) -> float | None:
    """The server's wish: milliseconds, seconds, or the time until an HTTP date."""
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
        # The oldest of the three forms (RFC 9110, 5.6.7) names no zone and means UTC, as the others do.
        seconds = (then.replace(tzinfo=then.tzinfo or UTC) - datetime.now(UTC)).total_seconds()
    return None if math.isnan(seconds) else max(0.0, seconds)


def failure_text(error: BaseException, section: str) -> str:
    """What happened and what to do; ``section`` is where it is configured: ``chat`` or ``embedding``."""
    happened, cure = _kind(error)
    return f"{happened}; {cure.format(section=section)}"


def happened(error: BaseException) -> str:
    """What happened, without the cure: ``is over its limit (HTTP 429)``."""
    return _kind(error)[0]


def status(error: BaseException) -> int | None:
    """HTTP status of an error of any client that keeps one as ``status_code``."""
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
        if code >= 500:
            return f"broke (HTTP {code})", "look at the server's log, or try again"
        return f"answered HTTP {code}", "check {section}.base_url"
    if _is_timeout(error):
        return "gave no answer in time", "raise {section}.timeout_seconds, or use a faster model"
    if _is_connection(error):
        return "cannot be reached", "check that it runs, and {section}.base_url"
    return (
        f"gave an answer that cannot be read ({type(error).__name__})",
        "check {section}.base_url and {section}.model",
    )
