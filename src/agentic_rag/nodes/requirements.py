"""The check that every model that the parameters ask for is configured, when the graph is built or a run begins."""

from __future__ import annotations

from agentic_rag.domain.ports import Chat, MessageChat
from agentic_rag.errors import ConfigError
from agentic_rag.rerank import BY_MODEL, Rerankers
from agentic_rag.settings.parameters import Parameters


def check_requirements(parameters: Parameters, chat: Chat | None, rerankers: Rerankers | None) -> None:
    """Check that the chat and rerank models that the parameters need are configured; loads none and asks none.

    Raises:
        ConfigError: a method asks for what is not configured.
    """
    for setting, method in (
        ("answer.method", parameters.answer.method),
        ("rewrite.method", parameters.rewrite.method),
        ("selection.method", parameters.selection.method),
    ):
        if method == "chat" and chat is None:
            raise ConfigError(f"{setting} is 'chat' but no chat model is configured; set chat.base_url")
    if parameters.answer.method == "agent" and not isinstance(chat, MessageChat):
        raise ConfigError(
            "answer.method is 'agent' but no chat model that takes messages and tools is configured; set chat.base_url, or "
            "give open_rag a chat model of langchain-core"
        )
    if parameters.rerank.method in BY_MODEL:
        if rerankers is None:
            raise ConfigError(
                f"rerank.method is {parameters.rerank.method!r} but the graph has no rerankers; "
                "give GraphParts its rerankers"
            )
        rerankers.check(parameters.rerank)
