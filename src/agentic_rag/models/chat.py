"""Chat models behind ``ports.Chat``: any langchain-core chat model, or an OpenAI-compatible endpoint."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from agentic_rag.config import ChatConfig
from agentic_rag.errors import ConfigError, ModelError
from agentic_rag.ports import Chat

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel


class LangChainChat:
    """``ports.Chat`` on a langchain-core chat model.

    Args:
        model: the chat model.
        timeout_seconds: after which a call counts as failed.
    """

    def __init__(self, model: BaseChatModel, timeout_seconds: float = 60.0) -> None:
        self._model = model
        self._timeout = timeout_seconds

    async def complete(self, system: str, user: str) -> str:
        from langchain_core.messages import HumanMessage, SystemMessage

        try:
            async with asyncio.timeout(self._timeout):
                message = await self._model.ainvoke([SystemMessage(system), HumanMessage(user)])
        except TimeoutError as error:
            raise ModelError(f"the chat model gave no answer within {self._timeout:g} s") from error
        except Exception as error:
            raise ModelError(f"the chat model failed: {type(error).__name__}: {str(error)[:300]}") from error
        return str(message.text)


def chat_from_config(config: ChatConfig) -> Chat | None:
    """The configured chat model; None where no endpoint is configured.

    Raises:
        ConfigError: an endpoint without a model name.
    """
    if config.base_url is None:
        return None
    if config.model is None:
        raise ConfigError("chat.base_url is set but chat.model is not; name the model to ask for")
    from langchain_openai import ChatOpenAI

    model = ChatOpenAI(
        base_url=config.base_url,
        model=config.model,
        api_key=config.api_key or "none",
        temperature=0,
        max_retries=config.max_retries,
        timeout=config.timeout_seconds,
    )
    return LangChainChat(model, config.timeout_seconds * (config.max_retries + 1))
