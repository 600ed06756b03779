"""What a configuration asks for is there: told when the graph is built or a run begins, not where it is needed."""

from __future__ import annotations

from agentic_rag.errors import ConfigError
from agentic_rag.nodes.rerank_tools import RerankTools
from agentic_rag.rerank import BY_MODEL
from agentic_rag.settings.parameters import Parameters


def check_requirements(parameters: Parameters, tools: RerankTools) -> None:
    """Nothing is loaded or asked.

    Raises:
        ConfigError: a method or a post-retrieval step asks for what is not configured, or a step is wrong.
    """
    for setting, method in (
        ("answer.method", parameters.answer.method),
        ("rewrite.method", parameters.rewrite.method),
    ):
        if method == "chat" and tools.chat is None:
            raise ConfigError(f"{setting} is 'chat' but no chat model is configured; set chat.base_url")
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
