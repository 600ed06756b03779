"""Chat models behind ``ports.Chat``: any langchain-core chat model, or an OpenAI-compatible endpoint."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any

from agentic_rag.domain.ports import Chat
from agentic_rag.errors import ConfigError, ModelError
from agentic_rag.models.endpoint import failure_text, without_login
from agentic_rag.settings.config import ChatConfig

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

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
