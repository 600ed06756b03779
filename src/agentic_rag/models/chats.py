"""Chat models behind ``ports.Chat``: OpenAI-compatible endpoints, and any model of langchain-core.

Errors have our own wording: a server's error text may contain the key or the passages, so it is never repeated; the
kind of failure determines the remedy.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from agentic_rag import tracing
from agentic_rag.domain.ports import Chat, MessageChat
from agentic_rag.domain.usage import Usage
from agentic_rag.errors import AgenticRagError, ConfigError, ModelError
from agentic_rag.models import endpoint as endpoints
from agentic_rag.models.endpoint import (
    Endpoint,
    ModelAddress,
    Prices,
    Spending,
    failure_text,
    http_client,
    most_tokens,
)
from agentic_rag.settings.addresses import without_login
from agentic_rag.settings.config import ChatConfig

if TYPE_CHECKING:
    from langchain_core.messages import AIMessage, BaseMessage
    from langchain_core.runnables import Runnable
    from langchain_core.tools import BaseTool

logger = logging.getLogger(__name__)
ROLES = {"human": "user", "ai": "assistant"}
"""Roles of OpenTelemetry's conventions by message type, where they differ."""
_BUGS = (ArithmeticError, AssertionError, AttributeError, ImportError, LookupError, NameError, TypeError)
"""Errors of a program and not of a server: the traceback says where."""
_THINK_BLOCK = re.compile(r"\A(?:\s*<think>)?.*?</think>", re.DOTALL)
"""A reasoning block; its opening tag is missing if the server's template has already written it."""
_ENDS = ("finish_reason", "stop_reason", "stopReason", "done_reason", "status")
"""Where the integrations of LangChain write why a model stopped."""
_LIMIT = "stopped in the middle of its answer; raise its limit of tokens"
_FILTER = "had its answer held back by the provider's content filter; ask in other words"
_CUT = {
    "length": "stopped in the middle of its answer; raise chat.max_tokens, or use a model with a longer context",
    **dict.fromkeys(("max_tokens", "incomplete", "model_context_window_exceeded"), _LIMIT),
    **dict.fromkeys(
        ("content_filter", "content_filtered", "guardrail_intervened", "safety", "refusal"), _FILTER
    ),
}
"""Error text by the reason to finish, for reasons other than a complete answer."""


class LangChainChat:
    """``ports.Chat`` on a langchain-core chat model.

    Args:
        model: the chat model, also bound, configured, retried or with fallbacks.
        endpoint: limits and retries; None: only a time limit, and the client's own retries.
        most: maximum tokens of an answer, if known.
        name: the model's name in errors.
        closing: closes the model's connections.
    """

    def __init__(
        self,
        model: Runnable[Any, AIMessage],
        endpoint: Endpoint | None = None,
        *,
        most: int | None = None,
        name: str = "the chat model",
        closing: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        self._model = model
        self._endpoint = endpoint or Endpoint()
        self._most = most or 0
        self._name = name
        self._closing = closing

    @property
    def name(self) -> str:
        """The model's name, else its class."""
        model = _innermost(self._model)
        # A model that is only chosen by the run's config has no name yet.
        with suppress(TypeError, ValueError):
            names = (getattr(model, key, None) for key in ("model_name", "model"))
            return next((name for name in names if isinstance(name, str) and name), type(model).__name__)
        return type(model).__name__

    async def complete(self, system: str, user: str) -> str:
        """The model's text without the reasoning block.

        Raises:
            ModelError: the model failed, timed out, or returned an empty or truncated answer.
            BudgetSpent: the call was not made.
        """
        from langchain_core.messages import HumanMessage, SystemMessage

        message = await self.respond([SystemMessage(system), HumanMessage(user)])
        if not (text := without_thoughts(str(message.text))):
            raise ModelError(f"{self._name} gave an empty answer; try again, or set another chat.model")
        return text

    async def respond(self, messages: Sequence[BaseMessage], tools: Sequence[BaseTool] = ()) -> AIMessage:
        """The model's message, with the id under which it was streamed, and its text without the reasoning block.

        Args:
            messages: the conversation.
            tools: what the model may call; its calls are ``tool_calls`` of the message, and are not made here.

        Raises:
            ModelError: the model failed, timed out, was cut off, or takes no tools.
            BudgetSpent: the call was not made.
        """
        model = self._with_tools(tools) if tools else self._model
        sent = most_tokens(
            *(str(message.text) for message in messages), *(tool.description for tool in tools)
        )
        most = Usage(prompt_tokens=sent, completion_tokens=self._most)
        try:
            with self._endpoint.span(self.name) as span:
                inputs = [tracing.message(ROLES.get(one.type, one.type), str(one.text)) for one in messages]
                tracing.content(span, gen_ai__input__messages=inputs)
                message: AIMessage = await self._endpoint.call(
                    lambda: model.ainvoke(list(messages)), most, lambda answer: _reported_usage(answer, sent)
                )
                answer = tracing.message("assistant", str(message.text))
                tracing.content(span, gen_ai__output__messages=[answer])
            cut = _cut(message.response_metadata, _innermost(self._model))
        except ModelError:
            raise
        except Exception as error:
            if isinstance(error, _BUGS):
                logger.exception("%s failed by an error in its program", self._name)
            # Not the client's own text: it may contain the key or the passages.
            raise ModelError(f"{self._name} {failure_text(error, 'chat')}") from error
        if cut is not None:
            raise ModelError(f"{self._name} {cut}")
        if isinstance(message.content, str):
            return message.model_copy(update={"content": without_thoughts(message.content)})
        return message

    def _with_tools(self, tools: Sequence[BaseTool]) -> Runnable[Any, AIMessage]:
        try:
            bound: Runnable[Any, AIMessage] = self._model.bind_tools(tools)  # type: ignore[attr-defined]
        except (AttributeError, NotImplementedError) as error:
            raise ModelError(f"{self._name} takes no tools; set answer.method to 'chat'") from error
        return bound

    async def close(self) -> None:
        """Close the connections."""
        if self._closing is not None:
            await self._closing()


class OwnChat:
    """``ports.Chat`` on an object of the caller's, whose bugs are failures of the model.

    Args:
        model: has ``async def complete(self, system, user) -> str``.
    """

    def __init__(self, model: Chat) -> None:
        self._model = model

    @property
    def name(self) -> str:
        """The model's own name, else its class."""
        return str(getattr(self._model, "name", type(self._model).__name__))

    async def complete(self, system: str, user: str) -> str:
        """The model's text.

        Raises:
            ModelError: the model failed, or gave no text; an error in its program is logged with its traceback.
        """
        try:
            text = await self._model.complete(system, user)
            if not isinstance(text, str):
                raise TypeError(f"complete gave {text!r:.60}, not a text")
        except AgenticRagError:
            raise
        except Exception as error:
            logger.exception("the chat model %s failed by an error in its program", self.name)
            raise ModelError(f"the chat model {self.name} failed: {type(error).__name__}") from error
        return text


def _reported_usage(message: AIMessage, sent_tokens: int) -> Usage:
    """The tokens of a call as the model reports them, else their upper bound."""
    told = message.usage_metadata
    if told is None:
        return Usage(
            prompt_tokens=sent_tokens, completion_tokens=most_tokens(str(message.text)), estimated=True
        )
    return Usage(prompt_tokens=told["input_tokens"], completion_tokens=told["output_tokens"])


def _innermost(model: Any) -> Any:
    """The chat model inside of what langchain-core wraps around one: bindings, retries, fallbacks, configurable fields."""
    for key in ("bound", "runnable", "default"):
        if (inner := getattr(model, "__dict__", {}).get(key)) is not None:
            return _innermost(inner)
    return model


def as_chat(
    model: Chat | Runnable[Any, AIMessage], config: ChatConfig | None = None, spending: Spending | None = None
) -> Chat:
    """A chat model as this package uses it; a langchain-core model is wrapped, also one that is bound, configured,
    retried or has fallbacks.

    Args:
        model: the given model.
        config: its prices, maximum answer length and limits; its other values are ignored.
        spending: counts its usage.

    Raises:
        ConfigError: the model is of neither type.
    """
    from langchain_core.runnables import Runnable

    # What makes a runnable a chat model, also one that `init_chat_model` builds only when it is asked.
    if isinstance(model, Runnable) and hasattr(type(_innermost(model)), "bind_tools"):
        config = config or ChatConfig()
        return LangChainChat(model, chat_endpoint(config, spending, retrying=False), most=config.max_tokens)
    if isinstance(model, MessageChat) and not isinstance(model, type):
        return model
    if isinstance(model, Chat) and not isinstance(model, type):
        return OwnChat(model)
    raise ConfigError(
        f"chat is a {type(model).__name__}, not a chat model; give a langchain-core chat model, such as "
        "ChatOpenAI(model='…'), or an object with: async def complete(self, system, user) -> str"
    )


def without_thoughts(text: str) -> str:
    """An answer without the leading ``<think>`` block of reasoning models."""
    return _THINK_BLOCK.sub("", text).strip()


_BROKEN_OFF = "stopped in the middle of its answer: the connection ended before the model did; try again"


def _cut(metadata: Mapping[str, Any], model: object) -> str | None:
    """Why an answer is incomplete; None if it is complete or the metadata do not say.

    Clients take the end of a connection for the end of a stream; only the reason to finish is then missing. Models of
    LangChain that name their provider give one, null at least; Ollama's client has metadata at the end alone.
    """
    ends = [metadata[key] for key in _ENDS if key in metadata]
    if not ends and ("model_provider" in metadata or _is_of("langchain_ollama", model)):
        return _BROKEN_OFF
    return next((_CUT[reason] for reason in map(str.casefold, map(str, ends)) if reason in _CUT), None)


def _is_of(package: str, model: object) -> bool:
    return any(one.__module__.partition(".")[0] == package for one in type(model).__mro__)


def chat_endpoint(config: ChatConfig, spending: Spending | None = None, *, retrying: bool = True) -> Endpoint:
    """The endpoint of the configured chat model; not ``retrying``: the model retries by itself."""
    return Endpoint(
        ModelAddress(config.model or "", config.base_url),
        timeout_seconds=config.timeout_seconds,
        tries=endpoints.TRIES if retrying else 1,
        prices=Prices(config.input_price, config.output_price),
        spending=spending,
    )


def chat_from_config(config: ChatConfig, spending: Spending | None = None) -> LangChainChat | None:
    """The configured chat model; None without an endpoint.

    Raises:
        ConfigError: an endpoint without a model name.
    """
    if config.base_url is None:
        return None
    if config.model is None:
        raise ConfigError("chat.base_url is set but chat.model is not; name the model to ask for")
    from langchain_openai import ChatOpenAI

    # By default all models share one cached client, which would outlive its event loop.
    client = http_client()
    model = ChatOpenAI(
        base_url=config.base_url,
        model=config.model,
        # With an empty string the client would take a key from the environment.
        api_key=config.api_key or "none",
        temperature=config.temperature,
        max_completion_tokens=config.max_tokens,
        # Retries are made here and not by the client, because each one is counted and rate-limited.
        max_retries=0,
        timeout=config.timeout_seconds,
        # Compatible servers support chat completions, whatever the model's name.
        use_responses_api=False,
        # Otherwise a stream from a server with another name reports no tokens.
        stream_usage=True,
        http_async_client=client,
    )
    name = f"the chat model {config.model!r} at {without_login(config.base_url)}"
    endpoint = chat_endpoint(config, spending)
    return LangChainChat(model, endpoint, most=config.max_tokens, name=name, closing=client.aclose)
