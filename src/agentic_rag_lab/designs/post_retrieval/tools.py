"""The tools of the steps: the memory's service, models, a token counter; checks that they exist; parallel
questions."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import methodcaller
from typing import TypeVar

from agentic_rag.domain.ports import Chat, Reranker, TokenCounter
from agentic_rag.errors import ConfigError
from agentic_rag_lab.designs.memory import MemoryService, Neighbours
from agentic_rag_lab.designs.post_retrieval.config import WHERE, MergeStep, SecondaryQuery, Step


@dataclass(frozen=True, slots=True)
class PostRetrievalTools:
    """Given when the program is assembled; None for a missing tool. It has no embedding on purpose."""

    service: MemoryService | None
    reranker: Reranker | None
    chat: Chat | None
    count_tokens: TokenCounter
    """Number of tokens of each text for the embedding model."""
    linked_services: tuple[str, ...] = ()
    """Names of the services with links; an error lists them."""
    secondary: Mapping[str, MemoryService] = field(default_factory=dict)
    """Further services with the same memories, by name, for secondary queries."""

    def needed_service(self) -> MemoryService:
        """The service; raises ``ConfigError`` if missing."""
        if self.service is None:
            raise ConfigError(
                "needs a memory service, and none is configured; set services.register_memory_service"
            )
        return self.service

    def secondary_service(self, name: str) -> MemoryService:
        """The secondary service of that name; raises ``ConfigError`` if missing."""
        if name not in self.secondary:
            known = ", ".join(self.secondary) or "none is set"
            raise ConfigError(
                f"names the service {name!r}, which is not in services.secondary_services ({known}); add it there"
            )
        return self.secondary[name]

    def needed_links(self) -> Neighbours:
        """The service, which must have links; raises ``ConfigError`` otherwise."""
        service = self.needed_service()
        if not isinstance(service, Neighbours):
            known = f" ({', '.join(self.linked_services)})" if self.linked_services else ""
            raise ConfigError(
                f"needs links between memories, and {type(service).__name__} has none; set "
                f"services.register_memory_service to one that has the capability neighbours{known}"
            )
        return service

    def needed_reranker(self) -> Reranker:
        """The rerank model; raises ``ConfigError`` if missing."""
        if self.reranker is None:
            raise ConfigError(
                "needs a rerank model, and none is configured; install the extra 'rerank' and set "
                "runtime.rerank_model, or configure a chat model (runtime.base_url)"
            )
        return self.reranker

    def needed_chat(self) -> Chat:
        """The chat model; raises ``ConfigError`` if missing."""
        if self.chat is None:
            raise ConfigError("needs a chat model, and none is configured; set runtime.base_url")
        return self.chat


NEEDS: Mapping[tuple[str, str], Callable[[PostRetrievalTools], object]] = {
    ("rerank", "ppr"): methodcaller("needed_links"),
    ("rerank", "cross_encoder"): methodcaller("needed_reranker"),
    ("filter", "llm"): methodcaller("needed_chat"),
    ("merge", "link_expand"): methodcaller("needed_links"),
    ("merge", "multi_query"): methodcaller("needed_service"),
    ("augment", "reflection"): methodcaller("needed_chat"),
}


def check_tools(steps: Sequence[Step], tools: PostRetrievalTools) -> None:
    """Raises ``ConfigError`` if a step needs a missing tool; names the step and the setting."""
    for n, step in enumerate(steps):
        need = NEEDS.get((step.action, step.kind or ""))
        if need is None:
            continue
        try:
            need(tools)
            if isinstance(step, MergeStep):
                for secondary in step.secondary_queries:
                    asked_service(secondary, tools)
        except ConfigError as error:
            place = WHERE if len(steps) == 1 else f"{WHERE}[{n}]"
            raise ConfigError(f"{place}: {step.action} {step.kind} {error}") from error


def asked_service(secondary: SecondaryQuery, tools: PostRetrievalTools) -> MemoryService:
    """The service for a secondary query; raises ``ConfigError`` if missing."""
    return tools.needed_service() if secondary.service is None else tools.secondary_service(secondary.service)


PARALLEL = 8
"""Maximum concurrent questions, because a model's endpoint may limit them."""

_NONE = re.compile(r"\s*none\s*\.?\s*", re.IGNORECASE)

Q = TypeVar("Q")
A = TypeVar("A")


async def answers(
    ask: Callable[[Q], Awaitable[A]], questions: Sequence[Q], *, parallel: int = PARALLEL
) -> list[A]:
    """One answer per question, same order. The first failure is raised; the other questions are cancelled."""
    free = asyncio.Semaphore(parallel)

    async def one(question: Q) -> A:
        async with free:
            return await ask(question)

    under_way = [asyncio.ensure_future(one(question)) for question in questions]
    try:
        return list(await asyncio.gather(*under_way))
    finally:
        for task in under_way:
            task.cancel()


def says_none(reply: str) -> bool:
    """Whether a model replied NONE, as it was told to if there is nothing."""
    return _NONE.fullmatch(reply) is not None
