"""Remote models behind ``ports.Chat`` and ``ports.Embedding``: OpenAI-compatible endpoints, and any model of
langchain-core.

Errors have our own wording: a server's error text may contain the key or the passages, so it is never repeated; the
kind of failure determines the remedy.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from agentic_rag import tracing
from agentic_rag.domain.ports import Chat, Embedding, FloatArray, MessageChat
from agentic_rag.domain.usage import Usage
from agentic_rag.errors import AgenticRagError, ConfigError, ModelError
from agentic_rag.models.endpoint import (
    Endpoint,
    ModelAddress,
    Prices,
    Spending,
    failure_text,
    http_client,
    most_tokens,
    openai_client,
)
from agentic_rag.settings.addresses import without_login
from agentic_rag.settings.config import ChatConfig, EmbeddingConfig

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings
    from langchain_core.messages import AIMessage, BaseMessage
    from langchain_core.runnables import Runnable
    from langchain_core.tools import BaseTool

logger = logging.getLogger(__name__)
TRIES = 4
"""Of one call, the first included: refused for a limit, or a server's failure."""
BATCH = 128
"""Maximum texts of an embedding request."""
EMBEDDING_SECONDS = 60.0
"""Time limit for one try of an embedding request."""
LENGTH_TOLD_BY = "How long is a vector?"
"""Text that is embedded once to determine an unknown dimension."""
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
        tries=TRIES if retrying else 1,
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


class OpenAIEmbedding:
    """``ports.Embedding`` on an OpenAI-compatible ``/embeddings`` endpoint.

    Args:
        config: ``base_url`` and ``model`` are required.
        dimension: length of its vectors, which ``open`` asks for.
        spending: counts its usage.
    """

    def __init__(self, config: EmbeddingConfig, dimension: int, spending: Spending | None = None) -> None:
        if config.base_url is None or config.model is None:
            raise ConfigError("embedding.base_url needs embedding.model beside it")
        self._client = openai_client(config.base_url, config.api_key, EMBEDDING_SECONDS)
        self._endpoint = Endpoint(
            ModelAddress(config.model, config.base_url, "embeddings"),
            timeout_seconds=EMBEDDING_SECONDS,
            tries=TRIES,
            prices=Prices(config.price),
            spending=spending,
        )
        self._model_name = f"the embedding model {config.model!r} at {without_login(config.base_url)}"
        self._config, self._model = config, config.model
        # The prefix of passages changes their vectors, so another prefix counts as another model.
        prefix = config.passage_prefix
        self.name = f"{config.model} after {prefix!r}" if prefix else config.model
        self.dimension = dimension

    @classmethod
    async def open(cls, config: EmbeddingConfig, spending: Spending | None = None) -> OpenAIEmbedding:
        """The model; one request determines the length of its vectors.

        Raises:
            ConfigError: ``base_url`` or ``model`` is unset.
            ModelError: the endpoint failed, or returned no vector.
        """
        model = cls(config, 1, spending)
        try:
            (row,) = await model._request_vectors([LENGTH_TOLD_BY])
        finally:
            await model.close()
        if not row:
            raise ModelError(f"{model._model_name} gave an empty vector; use another model")
        return cls(config, len(row), spending)

    async def embed_queries(self, texts: Sequence[str]) -> FloatArray:
        return await self._embed([self._config.query_prefix + text for text in texts])

    async def embed_passages(self, texts: Sequence[str]) -> FloatArray:
        return await self._embed([self._config.passage_prefix + text for text in texts])

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def _embed(self, texts: list[str]) -> FloatArray:
        rows: list[list[float]] = []
        for start in range(0, len(texts), BATCH):
            # Many servers reject an empty input; a space is accepted.
            rows += await self._request_vectors([text or " " for text in texts[start : start + BATCH]])
        return unit(rows, len(texts), self.dimension, self._model_name)

    async def _request_vectors(self, texts: list[str]) -> list[list[float]]:
        """One request's vectors, in the order of its texts."""
        most = Usage(embedded_tokens=most_tokens(*texts))
        try:
            with self._endpoint.span():
                answer = await self._endpoint.call(
                    lambda: self._client.embeddings.create(
                        model=self._model, input=texts, encoding_format="float"
                    ),
                    most,
                    lambda reply: _reported_embedding_usage(reply, most),
                )
            given = list(answer.data)
            # Some servers omit the index or return 0 for all: then the vectors are in the order of the texts.
            if sorted(item.index for item in given if item.index is not None) == list(range(len(texts))):
                given.sort(key=lambda item: item.index)
            rows = [list(item.embedding) for item in given]
        except ModelError:
            raise
        except Exception as error:
            raise ModelError(
                f"{self._model_name} {failure_text(error, 'embedding')}; unset embedding.base_url to use the bundled model"
            ) from error
        if len(rows) != len(texts):
            raise ModelError(f"{self._model_name} gave {len(rows)} vectors for {len(texts)} texts; try again")
        return rows


def _reported_embedding_usage(answer: Any, most: Usage) -> Usage:
    """The tokens of a request as the endpoint reports them, else their upper bound."""
    told = getattr(getattr(answer, "usage", None), "prompt_tokens", None)
    return replace(most, estimated=True) if told is None else Usage(embedded_tokens=told)


class LangChainEmbedding:
    """``ports.Embedding`` on a langchain-core ``Embeddings``.

    Args:
        embeddings: the model.
        name: identifies the model in the store's manifest.
        dimension: length of its vectors.
    """

    def __init__(self, embeddings: Embeddings, *, name: str, dimension: int) -> None:
        self._embeddings = embeddings
        self._model_name = f"the embedding model {name!r}"
        self.name = name
        self.dimension = dimension

    async def embed_queries(self, texts: Sequence[str]) -> FloatArray:
        async def one_by_one(queries: list[str]) -> list[list[float]]:
            return [await self._embeddings.aembed_query(query) for query in queries]

        return await self._embed(texts, one_by_one)

    async def embed_passages(self, texts: Sequence[str]) -> FloatArray:
        return await self._embed(texts, self._embeddings.aembed_documents)

    async def _embed(
        self, texts: Sequence[str], embed: Callable[[list[str]], Awaitable[list[list[float]]]]
    ) -> FloatArray:
        try:
            rows = await embed(list(texts)) if texts else []
        except Exception as error:
            raise ModelError(f"{self._model_name} {failure_text(error, 'embedding')}") from error
        return unit(rows, len(texts), self.dimension, self._model_name)


async def as_embedding(model: Embedding | Embeddings) -> Embedding:
    """An embedding model as this package uses it; a langchain-core model is wrapped and embeds one text as a probe.

    Raises:
        ConfigError: the model is of neither type.
        ModelError: the model failed.
    """
    if isinstance(model, Embedding):
        return model
    from langchain_core.embeddings import Embeddings

    if not isinstance(model, Embeddings):
        raise ConfigError(
            f"embedding is a {type(model).__name__}, not an embedding model; give a langchain-core embedding model, such as "
            "OpenAIEmbeddings(model='…'), or see agentic_rag.domain.ports.Embedding"
        )
    names = (getattr(model, key, None) for key in ("model_name", "model", "model_id"))
    name = next((name for name in names if isinstance(name, str) and name), type(model).__name__)
    try:
        row = await model.aembed_query(LENGTH_TOLD_BY)
    except Exception as error:
        raise ModelError(f"the embedding model {name!r} {failure_text(error, 'embedding')}") from error
    return LangChainEmbedding(model, name=name, dimension=len(row))


def unit(
    rows: Sequence[Sequence[float]], count: int, dimension: int, model_name: str = "the embedding model"
) -> FloatArray:
    """Rows as unit vectors, float32, shape (count, dimension); ``model_name`` is the model's name in errors.

    Raises:
        ModelError: a wrong number or length of vectors, or a vector that is zero or not finite.
    """
    if count == 0:
        return np.zeros((0, dimension), dtype=np.float32)
    lengths = {len(row) for row in rows}
    if len(rows) != count or lengths != {dimension}:
        raise ModelError(
            f"{model_name} gave {len(rows)} vectors of {sorted(lengths)} dimensions for {count} texts instead of "
            f"{dimension} each; use a model whose vectors have one length"
        )
    try:
        vectors = np.asarray(rows, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ModelError(
            f"{model_name} gave a vector that is not made of numbers; use another model"
        ) from error
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    if not np.all(np.isfinite(norms)) or np.any(norms == 0):
        raise ModelError(f"{model_name} gave a vector that is zero or not finite; use another model")
    scaled: FloatArray = (vectors / norms).astype(np.float32)
    return scaled
