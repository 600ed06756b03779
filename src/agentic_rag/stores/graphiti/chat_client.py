"""Graphiti's client for OpenAI-compatible chat completions, with tries that are bounded and told apart.

Graphiti's own loop waits up to two minutes between four tries, retries no timeout and no lost connection,
ignores Retry-After, and takes JSON of another shape for a crash; this replaces it.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any

from agentic_rag.domain.json_values import Json
from agentic_rag.domain.usage import Usage
from agentic_rag.errors import BudgetSpent, ConfigError, ModelError
from agentic_rag.models.chats import chat_endpoint, without_thoughts
from agentic_rag.models.endpoint import (
    Spending,
    describe_failure,
    failure_text,
    most_tokens,
    openai_client,
    retry_wait,
    status,
)
from agentic_rag.settings.addresses import without_login
from agentic_rag.settings.config import ChatConfig
from agentic_rag.stores.graphiti.library import LLMConfig, OpenAIGenericClient
from agentic_rag.text.prompts import DATA

_HOPELESS = (401, 403, 404)
"""Wrong key, model or address: no episode can succeed."""
_OPTIONS = ("response_format", "temperature")
_OTHER_SHAPE = "JSON of another shape than asked for"


class CallFailed(ModelError):
    """A call that kept failing, in words that name neither key nor text."""

    def __init__(self, reason: str, *, endpoint_down: bool) -> None:
        self.endpoint_down = endpoint_down
        super().__init__(reason)


class EndpointRefused(ModelError):
    """The endpoint will refuse every call: a wrong key, model or address."""


@dataclass
class Reading:
    """One episode being read: what its calls took. Mutable; one a task, in ``reading``."""

    undated_text: str | None = None
    """The text where the episode has no date, so that dates it does not state can be dropped."""
    retry_count: int = 0
    failure: ModelError | None = None
    """The first call that failed for good, even if Graphiti went on without it."""
    calls: set[asyncio.Task[Any]] = field(default_factory=set)

    async def stop(self) -> None:
        """End the calls that a failure left running."""
        for call in self.calls:
            call.cancel()
        await asyncio.gather(*self.calls, return_exceptions=True)


reading: ContextVar[Reading | None] = ContextVar("reading", default=None)


class ChatClient(OpenAIGenericClient):  # type: ignore[misc]
    """The language model of Graphiti's extraction.

    A try fails on 408, 409, 429, 5xx, a timeout, a lost connection, and on an answer that is not JSON of the
    asked shape. TRIES - 1 more follow, after Retry-After or with doubling waits.

    Args:
        config: ``base_url`` and ``model`` are needed.
        spending: what its calls are counted in.
        sleep: for tests.
    """

    def __init__(
        self,
        config: ChatConfig,
        spending: Spending | None = None,
        *,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        if config.base_url is None or config.model is None:
            raise ConfigError("extraction with a chat model needs chat.base_url and chat.model")
        client = openai_client(config.base_url, config.api_key, config.timeout_seconds)
        settings = LLMConfig(
            api_key=client.api_key, model=config.model, small_model=config.model, base_url=config.base_url
        )
        super().__init__(settings, client=client)
        self._endpoint = chat_endpoint(config, spending)
        self._sleep = sleep
        self._longest = config.max_tokens
        self._sampling = {"temperature": config.temperature}
        self._refused_options: set[str] = set()
        self._model_name = f"the chat model {config.model!r} at {without_login(config.base_url)}"

    async def close(self) -> None:
        await self.client.close()

    async def generate_response(
        self, messages: list[Any], response_model: Any = None, *args: Any, **kwargs: Any
    ) -> Json:
        """Graphiti's entry; raises ``CallFailed`` or ``EndpointRefused``."""
        now = reading.get() or Reading()
        task = asyncio.current_task()
        if task is not None:
            now.calls.add(task)
        try:
            with self._endpoint.span():
                answer: Json = await super().generate_response(messages, response_model, *args, **kwargs)
        except ModelError as failure:
            now.failure = now.failure or failure
            raise
        finally:
            if task is not None:
                now.calls.discard(task)
        if now.undated_text is not None:
            answer = stated_dates(answer, now.undated_text)
        return answer

    async def _generate_response_with_retry(
        self, messages: list[Any], response_model: Any = None, *_: Any, **__: Any
    ) -> Json:
        now = reading.get() or Reading()
        spent = 0
        show_schema = False
        while True:
            try:
                return await self._try_once(messages, response_model, show_schema)
            except BudgetSpent:
                raise
            except Exception as error:
                if self._left_out(error):
                    continue  # a server that does not know an option is asked again without it, once each
                if status(error) in _HOPELESS:
                    raise EndpointRefused(f"{self._model_name} {failure_text(error, 'chat')}") from error
                spent += 1
                wait = 0.0 if isinstance(error, _Unusable) else retry_wait(error, spent)
                if wait is None or spent >= self._endpoint.tries:
                    raise CallFailed(
                        f"{_reason(error)}, tries: {spent}", endpoint_down=_endpoint_down(error)
                    ) from error
                # A server may ignore response_format; then the model has not seen the shape yet.
                show_schema = show_schema or isinstance(error, _Unusable)
            now.retry_count += 1
            await self._sleep(wait)

    async def _try_once(self, messages: list[Any], response_model: Any, show_schema: bool) -> Json:
        """One try."""
        sent = [{"role": m.role, "content": self._clean_input(m.content)} for m in messages]
        sent[0]["content"] += f"\n\n{DATA}"
        options: Json = {
            **self._sampling,
            "max_tokens": self._longest,
            "response_format": self._build_response_format(response_model),
        }
        refused = self._refused_options
        options = {
            name: value for name, value in options.items() if value is not None and name not in refused
        }
        if response_model is not None and (show_schema or "response_format" not in options):
            schema = json.dumps(response_model.model_json_schema())
            sent[-1]["content"] += (
                f"\n\nRespond with a JSON object of this schema and nothing else:\n{schema}"
            )
        most = Usage(
            prompt_tokens=most_tokens(json.dumps([sent, options])), completion_tokens=self._longest or 0
        )
        answer = await self._endpoint.once(
            lambda: self.client.chat.completions.create(model=self.model, messages=sent, **options),
            most,
            lambda answer: _reported_usage(answer, most),
        )
        return _parse_answer(answer, response_model)

    def _left_out(self, error: BaseException) -> bool:
        """Whether the server refused an option that can be left out, and it now is."""
        if status(error) not in (400, 422):
            return False
        words = str(error)
        named = [o for o in _OPTIONS if o in words or (o == "response_format" and "json_schema" in words)]
        new = set(named) - self._refused_options
        self._refused_options |= new
        return bool(new)


class _Unusable(Exception):
    """A response that does not match the requested schema."""


def _reported_usage(answer: Any, most: Usage) -> Usage:
    """The tokens of a call as the endpoint reports them, else their upper bound."""
    usage = getattr(answer, "usage", None)
    if usage is None:
        return replace(most, estimated=True)
    return Usage(prompt_tokens=usage.prompt_tokens, completion_tokens=usage.completion_tokens)


def _parse_answer(answer: Any, response_model: Any) -> Json:
    """The JSON object of an answer, of the asked shape."""
    try:
        text = without_thoughts(answer.choices[0].message.content or "")
    except (AttributeError, IndexError, TypeError) as error:
        raise _Unusable("an answer without a message") from error
    try:
        data = json.loads(OpenAIGenericClient._strip_code_fences(text))
    except ValueError as error:
        raise _Unusable("invalid JSON" if text else "an empty answer") from error
    if not isinstance(data, dict):
        raise _Unusable("JSON that is no object")
    found: Json = _storable(data)
    if response_model is not None:
        try:
            response_model.model_validate(found)
        except ValueError as error:
            raise _Unusable(_OTHER_SHAPE) from error
        # Where every field is optional, the schema said back would pass for an answer of nothing.
        if found and found.keys().isdisjoint(response_model.model_fields):
            raise _Unusable(_OTHER_SHAPE)
    return found


def _storable(value: Any) -> Any:
    """JSON without NUL and lone surrogates, which no graph stores."""
    if isinstance(value, str):
        return value.replace("\0", "").encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, dict):
        return {_storable(key): _storable(inner) for key, inner in value.items()}
    return [_storable(inner) for inner in value] if isinstance(value, list) else value


def _reason(error: BaseException) -> str:
    return (
        f"the model gave {error}"
        if isinstance(error, _Unusable)
        else f"the chat endpoint {describe_failure(error)}"
    )


def _endpoint_down(error: BaseException) -> bool:
    """Whether the next episode would most likely fail the same way."""
    code = status(error)
    return not isinstance(error, _Unusable) and (code is None or code == 429 or code >= 500)


_DATES = ("valid_at", "invalid_at")


def stated_dates(answer: Json, text: str) -> Json:
    """The model's answer with every date whose year the text does not write set to None.

    Graphiti resolves relative dates against the episode's date. That of an undated chunk is a placeholder, and dates
    made from it would look like knowledge.
    """
    return {name: _stated_value(name, value, text) for name, value in answer.items()}


def _stated_value(name: str, value: Any, text: str) -> Any:
    if name in _DATES and isinstance(value, str):
        return value if value[:4].isdigit() and value[:4] in text else None
    if isinstance(value, dict):
        return stated_dates(value, text)
    if isinstance(value, list):
        return [stated_dates(item, text) if isinstance(item, dict) else item for item in value]
    return value
