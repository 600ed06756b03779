"""Models that are not bundled, behind ``ports.Chat`` and ``ports.Embedding``: those of an OpenAI-compatible endpoint, and
any of langchain-core's.

What went wrong at an endpoint is told in our own words: a server's error text may hold the key it refused or the
passage it choked on, so it is never repeated; the kind of failure says what to do.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit, urlunsplit

import numpy as np

from agentic_rag.domain.ports import Chat, Embedding, FloatArray
from agentic_rag.errors import ConfigError, ModelError
from agentic_rag.settings.config import ChatConfig, EmbeddingConfig

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings
    from langchain_core.language_models import BaseChatModel

BATCH = 128
LENGTH_TOLD_BY = "How long is a vector?"
"""Embedded once where a model's dimension is not known."""
"""Texts that an endpoint embeds in one request."""
TIMEOUT_SECONDS = 60.0
"""For one such request; the client's own default is ten minutes."""
MAX_RETRIES = 3
"""The client's own, for limits, server errors and lost connections; it honours Retry-After."""
WAITING_SECONDS = 60.0
"""What the client may spend between its tries; a server can ask for up to a minute."""
_THOUGHT = re.compile(r"\A(?:\s*<think>)?.*?</think>", re.DOTALL)
"""The opening tag is missing where the server's template has written it already."""
_CUT = {
    "length": "stopped in the middle of its answer; raise chat.max_tokens, or use a model with more room",
    "max_tokens": "stopped in the middle of its answer; raise its limit of tokens",
    "content_filter": "had its answer held back by the provider's content filter; ask in other words",
}
"""By why the model says it stopped, where that was not because it had said everything."""
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


class LangChainChat:
    """``ports.Chat`` on a langchain-core chat model.

    Args:
        model: the chat model.
        timeout_seconds: after which a call, with the client's own retries, counts as failed.
        name: how errors call it.
        closing: closes what the model keeps open.
    """

    def __init__(
        self,
        model: BaseChatModel,
        timeout_seconds: float = 60.0,
        name: str = "the chat model",
        closing: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        self._model = model
        self._timeout = timeout_seconds
        self._name = name
        self._closing = closing

    @property
    def name(self) -> str:
        """What the model calls itself, else its class."""
        names = (getattr(self._model, key, None) for key in ("model_name", "model"))
        return next((name for name in names if isinstance(name, str) and name), type(self._model).__name__)

    async def complete(self, system: str, user: str) -> str:
        """The model's text without what a reasoning model thought aloud.

        Raises:
            ModelError: it failed, was too slow, said nothing, or was cut off.
        """
        from langchain_core.messages import HumanMessage, SystemMessage

        try:
            async with asyncio.timeout(self._timeout):
                message = await self._model.ainvoke([SystemMessage(system), HumanMessage(user)])
            text = spoken(str(message.text))
            cut = _cut(message.response_metadata)
        except Exception as error:
            # Not the client's own words: they may repeat the key, or the passages that were sent.
            raise ModelError(f"{self._name} {failure_text(error, 'chat')}") from error
        if cut is not None:
            raise ModelError(f"{self._name} {cut}")
        if not text:
            raise ModelError(f"{self._name} gave an empty answer; try again, or set another chat.model")
        return text

    async def close(self) -> None:
        """Close the connections."""
        if self._closing is not None:
            await self._closing()


def as_chat(model: Chat | BaseChatModel) -> Chat:
    """A chat model as this package asks it; one of langchain-core's is wrapped.

    Raises:
        ConfigError: it is neither.
    """
    if isinstance(model, Chat):
        return model
    from langchain_core.language_models import BaseChatModel

    if isinstance(model, BaseChatModel):
        return LangChainChat(model)
    raise ConfigError(
        f"chat is no chat model: {type(model).__name__}; give a langchain-core chat model, such as "
        "ChatOpenAI(model='…'), or an object with: async def complete(self, system, user) -> str"
    )


def spoken(text: str) -> str:
    """An answer without the ``<think>`` block that reasoning models put before it."""
    return _THOUGHT.sub("", text).strip()


def _cut(metadata: Mapping[str, Any]) -> str | None:
    """Why an answer is not whole; None where it is, or where nothing is said of it."""
    reason = metadata.get("finish_reason") or metadata.get("stop_reason")
    return _CUT.get(str(reason).casefold())


def chat_from_config(config: ChatConfig) -> LangChainChat | None:
    """The configured chat model; None where no endpoint is configured.

    Raises:
        ConfigError: an endpoint without a model name.
    """
    if config.base_url is None:
        return None
    if config.model is None:
        raise ConfigError("chat.base_url is set but chat.model is not; name the model to ask for")
    from langchain_openai import ChatOpenAI
    from openai import DefaultAsyncHttpxClient

    # By default all models share one cached client, which outlives the event loop it was made in.
    client = DefaultAsyncHttpxClient()
    model = ChatOpenAI(
        base_url=config.base_url,
        model=config.model,
        # An empty string would make the client look for a key in the environment.
        api_key=config.api_key or "none",
        temperature=config.temperature,
        max_completion_tokens=config.max_tokens,
        seed=config.seed,
        max_retries=config.max_retries,
        timeout=config.timeout_seconds,
        # A compatible server speaks chat completions, whatever its model is called.
        use_responses_api=False,
        http_async_client=client,
    )
    waiting = WAITING_SECONDS if config.max_retries else 0.0
    patience = config.timeout_seconds * (config.max_retries + 1) + waiting
    name = f"the chat model {config.model!r} at {without_login(config.base_url)}"
    return LangChainChat(model, patience, name, client.aclose)


class OpenAIEmbedding:
    """``ports.Embedding`` on an OpenAI-compatible ``/embeddings`` endpoint.

    Args:
        config: ``base_url``, ``model`` and ``dimension`` are needed; ``open`` asks for the last.
    """

    def __init__(self, config: EmbeddingConfig) -> None:
        if config.base_url is None or config.model is None or config.dimension is None:
            raise ConfigError(
                "embedding.base_url needs embedding.model beside it, and embedding.dimension (unset: asked for)"
            )
        from openai import AsyncOpenAI

        # An empty key would make the client look for one in the environment.
        key = (config.api_key.get_secret_value() if config.api_key else "") or "none"
        self._client = AsyncOpenAI(
            base_url=config.base_url, api_key=key, timeout=TIMEOUT_SECONDS, max_retries=MAX_RETRIES
        )
        self._called = f"the embedding model {config.model!r} at {without_login(config.base_url)}"
        self._config, self._model = config, config.model
        # What stored texts are prefixed with is in their vectors, so vectors of another prefix are of another model.
        prefix = config.passage_prefix
        self.name = f"{config.model} after {prefix!r}" if prefix else config.model
        self.dimension = config.dimension

    @classmethod
    async def open(cls, config: EmbeddingConfig) -> OpenAIEmbedding:
        """The model; where ``dimension`` is unset, one request tells it.

        Raises:
            ConfigError: ``base_url`` or ``model`` is unset.
            ModelError: the endpoint failed, or gave no vector.
        """
        if config.dimension is not None:
            return cls(config)
        model = cls(config.model_copy(update={"dimension": 1}))
        try:
            (row,) = await model._asked([LENGTH_TOLD_BY])
        finally:
            await model.close()
        if not row:
            raise ModelError(f"{model._called} gave an empty vector; set embedding.dimension, or use another")
        return cls(config.model_copy(update={"dimension": len(row)}))

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
            # An empty input is an error to many servers; a space is not.
            rows += await self._asked([text or " " for text in texts[start : start + BATCH]])
        return unit(rows, len(texts), self.dimension, self._called)

    async def _asked(self, texts: list[str]) -> list[list[float]]:
        """One request's vectors, in the order of its texts."""
        try:
            answer = await self._client.embeddings.create(
                model=self._model, input=texts, encoding_format="float"
            )
            given = list(answer.data)
            # Some servers leave the index out, or give 0 to all: then the order is the texts'.
            if sorted(item.index for item in given if item.index is not None) == list(range(len(texts))):
                given.sort(key=lambda item: item.index)
            rows = [list(item.embedding) for item in given]
        except Exception as error:
            raise ModelError(
                f"{self._called} {failure_text(error, 'embedding')}; unset embedding.base_url to use the bundled model"
            ) from error
        if len(rows) != len(texts):
            raise ModelError(f"{self._called} gave {len(rows)} vectors for {len(texts)} texts; try again")
        return rows


class LangChainEmbedding:
    """``ports.Embedding`` on a langchain-core ``Embeddings``.

    Args:
        embeddings: the model.
        name: identifies it in the store's manifest.
        dimension: length of its vectors.
    """

    def __init__(self, embeddings: Embeddings, *, name: str, dimension: int) -> None:
        self._embeddings = embeddings
        self._called = f"the embedding model {name!r}"
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
            raise ModelError(f"{self._called} {failure_text(error, 'embedding')}") from error
        return unit(rows, len(texts), self.dimension, self._called)


async def as_embedding(model: Embedding | Embeddings) -> Embedding:
    """An embedding model as this package asks it; one of langchain-core's is wrapped, which embeds one text.

    Raises:
        ConfigError: it is neither.
        ModelError: it failed.
    """
    if isinstance(model, Embedding):
        return model
    from langchain_core.embeddings import Embeddings

    if not isinstance(model, Embeddings):
        raise ConfigError(
            f"embedding is no embedding model: {type(model).__name__}; give a langchain-core embedding model, such as "
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
    rows: Sequence[Sequence[float]], count: int, dimension: int, called: str = "the embedding model"
) -> FloatArray:
    """Rows as unit vectors, float32, shape (count, dimension); ``called`` is how errors name the model.

    Raises:
        ModelError: another number or length of vectors, or one that is zero or not finite.
    """
    if count == 0:
        return np.zeros((0, dimension), dtype=np.float32)
    lengths = {len(row) for row in rows}
    if len(rows) != count or lengths != {dimension}:
        raise ModelError(
            f"{called} gave {len(rows)} vectors of {sorted(lengths)} dimensions for {count} texts, but "
            f"embedding.dimension is {dimension}; set it to what the model gives"
        )
    try:
        vectors = np.asarray(rows, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ModelError(f"{called} gave a vector that is not made of numbers") from error
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    if not np.all(np.isfinite(norms)) or np.any(norms == 0):
        raise ModelError(f"{called} gave a vector that is zero or not finite")
    scaled: FloatArray = (vectors / norms).astype(np.float32)
    return scaled


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


def without_login(url: str) -> str:
    """The address without user, password and query, which may hold a key."""
    try:
        parts = urlsplit(url)
        host = parts.netloc.rpartition("@")[2]
        return urlunsplit((parts.scheme, host, parts.path, "", ""))
    except ValueError:
        return "(not an address)"


def _kind(error: BaseException) -> tuple[str, str]:
    code = status(error)
    if code is not None:
        if code in _BY_STATUS:
            words, cure = _BY_STATUS[code]
            return f"{words} (HTTP {code})", cure
        if code >= 500:
            return f"broke (HTTP {code})", "look at the server's log, or try again"
        return f"answered HTTP {code}", "check {section}.base_url"
    name = type(error).__name__
    if isinstance(error, TimeoutError) or "Timeout" in name:
        return "gave no answer in time", "raise {section}.timeout_seconds, or use a faster model"
    if isinstance(error, ConnectionError) or "Connection" in name:
        return "cannot be reached", "check that it runs, and {section}.base_url"
    return f"gave an answer that cannot be read ({name})", "check {section}.base_url and {section}.model"
