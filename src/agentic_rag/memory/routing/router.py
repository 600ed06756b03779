"""Chooses the memory agents for a query, their strategies and weights, before they are asked."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Mapping
from dataclasses import replace

from agentic_rag.domain.ports import Chat
from agentic_rag.errors import ModelError
from agentic_rag.memory.routing.decision import RoutingRequest, Strategies, decide, given_decision, lacking
from agentic_rag.memory.routing.rules import MAX_CHARACTERS, RoutingEvidence, evidence
from agentic_rag.memory.routing.strategies import choose_strategy
from agentic_rag.memory.schemas import MemoryType, RetrievalRequest, RetrievalStrategy, RoutingResult
from agentic_rag.text.prompts import ROUTING_SYSTEM, fence_passages

logger = logging.getLogger(__name__)
MAX_RATING = 10
"""The chat model's highest rating."""
MAX_REASON = 300
"""Maximum characters of the chat model's reason that are kept."""
_RATING = re.compile(
    r"^[^\w\n]*(?P<type>[a-z]+)[^\w\n]*[:：][^\w\n]*(?P<rating>\d{1,3})(?![\d.])(?: ?/ ?10)?[^\w\n]*(?P<strategy>[a-z][a-z\d_]*)?",
    re.IGNORECASE | re.MULTILINE,
)
_BECAUSE = re.compile(r"^[^\w\n]*because[^\w\n]*[:：][^\S\n]*(?P<why>\S.*)$", re.IGNORECASE | re.MULTILINE)


class Router:
    """Routes by a chat model; by the rules without one, or if it fails.

    Args:
        strategies: strategies of each existing agent, the default first.
        chat: rates the memory types; None: only the rules are used.
    """

    def __init__(self, strategies: Strategies, chat: Chat | None = None) -> None:
        self._strategies = strategies
        self._chat = chat

    async def route(self, request: RetrievalRequest) -> RoutingResult:
        """The decision, which without a chat model is the same for the same request.

        All agents are asked unless the request names some. By the rules the evidence for a type is the sum of the matching
        rules' weights (see ``routing.rules``); its weight grows with it from the type's minimum weight (see
        ``routing.decision.weight``). If the request names both types and strategy, neither the rules nor the model are used.

        The model's reply is validated: unknown or unrequested types are dropped, omitted types keep their minimum
        weight, and a strategy that an agent lacks is replaced by the agent's default. If the model failed or
        rated nothing above 0, the rules decide, and ``fallback_reason`` gives the reason.

        Args:
            request: the query must not be blank; ``context`` is not read.

        Raises:
            InputError: a blank query; an unknown type or strategy; a type without an agent; no type, or no agent.

        >>> by_words = {memory_type: (RetrievalStrategy.BM25,) for memory_type in MemoryType}
        >>> asked = RetrievalRequest("How do I descale the kettle?", "ada")
        >>> decision = asyncio.run(Router(by_words).route(asked)).decision
        >>> decision.target_memory_types[0].value, decision.reasons[0]
        ('procedural', 'procedural: the query asks how something is done ("How do I").')
        """
        asked = RoutingRequest.of(request, self._strategies)
        if given := _given_route(asked):
            return given
        if self._chat is None:
            # The names in a question are read with a dictionary, which takes a second to load.
            return await asyncio.to_thread(_by_rules, asked)
        try:
            return _by_reply(asked, await self._chat.complete(ROUTING_SYSTEM, _prompt(asked)))
        except ModelError as error:
            logger.warning("the chat model failed, routing by rules instead: %s", error)
            return await asyncio.to_thread(_by_rules, asked, str(error))


def _given_route(request: RoutingRequest) -> RoutingResult | None:
    return RoutingResult(given_decision(request), "given") if request.is_settled else None


def _by_rules(request: RoutingRequest, fallback_reason: str | None = None) -> RoutingResult:
    decision = decide(
        request, evidence(request.query), lambda target, has: choose_strategy(request.query, target, has)
    )
    return RoutingResult(decision, "rules", fallback_reason)


def _prompt(request: RoutingRequest) -> str:
    listed = "\n".join(f"{target}: {', '.join(has)}" for target, has in request.targets.items())
    return f"{fence_passages([request.query[:MAX_CHARACTERS]])}\n\nTypes and their ways to search:\n{listed}"


def _by_reply(request: RoutingRequest, reply: str) -> RoutingResult:
    """
    Raises:
        ModelError: the reply rates no target above 0.
    """
    replied = _parse_ratings(request, reply)
    found = [
        RoutingEvidence(target, rating, f"the chat model rates it {rating} of {MAX_RATING}")
        for target, (rating, _) in replied.items()
        if rating
    ]
    if not found:
        raise ModelError(
            "the chat model rated none of the memory types; try again, or set another chat.model"
        )
    because = _BECAUSE.search(reply)
    said = [f'The chat model says: "{because["why"].strip()[:MAX_REASON]}"'] if because else []
    decision = decide(request, found, lambda target, has: _replied_strategy(request, replied, target, has))
    return RoutingResult(replace(decision, reasons=(*decision.reasons, *said)), "chat")


def _parse_ratings(request: RoutingRequest, reply: str) -> dict[MemoryType, tuple[int, str | None]]:
    """Rating and strategy of each target in the reply; the first one counts."""
    replied: dict[MemoryType, tuple[int, str | None]] = {}
    for match in _RATING.finditer(reply):
        name, rating, strategy = match["type"].lower(), int(match["rating"]), match["strategy"]
        if name in request.targets and rating <= MAX_RATING:
            replied.setdefault(MemoryType(name), (rating, strategy and strategy.lower()))
    return replied


def _replied_strategy(
    request: RoutingRequest,
    ratings: Mapping[MemoryType, tuple[int, str | None]],
    target: MemoryType,
    has: tuple[RetrievalStrategy, ...],
) -> tuple[RetrievalStrategy, str | None]:
    _, strategy = ratings.get(target, (0, None))
    if strategy is None:
        return choose_strategy(request.query, target, has)
    if strategy not in has:
        return has[0], lacking(strategy, has)
    return RetrievalStrategy(strategy), "the chat model chose it"
