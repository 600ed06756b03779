"""Models and stores that the nodes use, and the check that all configured ones exist.

What is missing is told when the graph is built or a run begins, not where it is needed.
"""

from __future__ import annotations

from dataclasses import dataclass

from agentic_rag.domain.ports import Chat, MessageChat, TokenCounter
from agentic_rag.errors import ConfigError
from agentic_rag.rerank import BY_MODEL, Rerankers
from agentic_rag.retrieval.ports import GraphSearch, VectorSearch
from agentic_rag.settings.parameters import Parameters


@dataclass(frozen=True, slots=True)
class RerankTools:
    """Models and the vector store for reranking and post-retrieval steps; None if missing."""

    rerankers: Rerankers | None = None
    """What ``rerank.method`` ``cross_encoder`` and ``chat`` use."""
    chat: Chat | None = None
    engine: VectorSearch | None = None
    graph: GraphSearch | None = None
    count_tokens: TokenCounter | None = None
    """The four above serve ``post_retrieval.steps``."""


def check_requirements(parameters: Parameters, tools: RerankTools) -> None:
    """Check that everything the parameters need is configured; loads no model and asks none.

    Raises:
        ConfigError: a method or a post-retrieval step asks for what is not configured, or a step is wrong.
    """
    for setting, method in (
        ("answer.method", parameters.answer.method),
        ("rewrite.method", parameters.rewrite.method),
        ("selection.method", parameters.selection.method),
    ):
        if method == "chat" and tools.chat is None:
            raise ConfigError(f"{setting} is 'chat' but no chat model is configured; set chat.base_url")
    if parameters.answer.mode == "agent" and not isinstance(tools.chat, MessageChat):
        raise ConfigError(
            "answer.mode is 'agent' but no chat model that takes messages and tools is configured; set chat.base_url, or "
            "give open_rag a chat model of langchain-core"
        )
    if parameters.rerank.method in BY_MODEL:
        if tools.rerankers is None:
            raise ConfigError(
                f"rerank.method is {parameters.rerank.method!r} but the graph has no rerankers; "
                "give GraphParts its rerankers"
            )
        tools.rerankers.check(parameters.rerank)
    if parameters.post_retrieval.steps:
        # Imported where it is used: most runs have no steps, and a cold start should not wait for them.
        from agentic_rag.nodes.post_retrieval import check_steps

        check_steps(parameters, tools)
