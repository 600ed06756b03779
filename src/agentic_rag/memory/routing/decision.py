"""Validates a request's routing options, and turns evidence for memory types into a decision."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from agentic_rag.errors import InputError
from agentic_rag.memory.routing.rules import RoutingEvidence
from agentic_rag.memory.schemas import (
    MemoryType,
    RetrievalRequest,
    RetrievalStrategy,
    RoutingDecision,
    parse_name,
)

MIN_WEIGHTS: Mapping[MemoryType, float] = {
    MemoryType.EPISODIC: 0.95,
    MemoryType.SEMANTIC: 0.7,
    MemoryType.CORE: 0.3,
    MemoryType.PROCEDURAL: 0.3,
    MemoryType.WORKING: 0.3,
}
"""Weights without evidence for a type. Messages and facts answer most questions; the other types have few
memories, all of which would rank above them. Chosen on three BEAM conversations and LoCoMo's conv-26
(``evaluation/bench_beam.py``)."""
ORDER = (
    MemoryType.SEMANTIC,
    MemoryType.EPISODIC,
    MemoryType.CORE,
    MemoryType.PROCEDURAL,
    MemoryType.WORKING,
)
"""Order of targets with equal evidence: queries without evidence mostly ask for a fact."""

Strategies = Mapping[MemoryType, tuple[RetrievalStrategy, ...]]
"""Strategies of each agent, the default first."""
Choice = Callable[[MemoryType, tuple[RetrievalStrategy, ...]], tuple[RetrievalStrategy, str | None]]
"""From a target and its agent's strategies to the chosen strategy and the reason; None for an obvious choice."""


@dataclass(frozen=True, slots=True)
class RoutingRequest:
    """A validated request."""

    query: str
    targets: Strategies
    """In the request's order, else in ``ORDER``."""
    preferred_strategy: RetrievalStrategy | None
    is_settled: bool
    """The request names both the types and the strategy."""

    @classmethod
    def of(cls, request: RetrievalRequest, strategies: Strategies) -> RoutingRequest:
        """
        Raises:
            InputError: a blank query; an unknown type or strategy; a type without an agent; no type, or no agent.
        """
        if not request.query.strip():
            raise InputError(f"the query is empty: {request.query!r}; say what is to be remembered")
        if not strategies or not all(strategies.values()):
            raise InputError(
                "there is no memory agent to ask, or one without a strategy; give each at least one"
            )
        given, preferred = request.target_memory_types, request.preferred_strategy
        return cls(
            request.query,
            _targets(given, strategies),
            None if preferred is None else parse_name(RetrievalStrategy, preferred),
            given is not None and preferred is not None,
        )


def _targets(memory_types: Sequence[MemoryType] | None, strategies: Strategies) -> Strategies:
    if memory_types is None:
        return {memory_type: strategies[memory_type] for memory_type in ORDER if memory_type in strategies}
    types = [parse_name(MemoryType, name) for name in memory_types]
    if not types:
        raise InputError("target_memory_types is empty; name at least one, or give None to ask all")
    if missing := [name for name in types if name not in strategies]:
        raise InputError(
            f"no agent keeps {missing[0]} memories; there are agents for: {', '.join(strategies)}"
        )
    return {memory_type: strategies[memory_type] for memory_type in types}


def given_decision(request: RoutingRequest) -> RoutingDecision:
    """The decision of a request with types and strategy: its targets in its order, all with weight 1."""
    chosen, reasons = _choose_strategies(request, _default)
    reasons = ("The request names the memory types.", *reasons)
    return RoutingDecision(tuple(request.targets), chosen, dict.fromkeys(request.targets, 1.0), reasons, 1.0)


def decide(request: RoutingRequest, evidence: Sequence[RoutingEvidence], choose: Choice) -> RoutingDecision:
    """Targets by their evidence; ``choose`` gives the strategy of each if the request prefers none."""
    of_targets = [one for one in evidence if one.memory_type in request.targets]
    sums = dict.fromkeys(request.targets, 0.0)
    for one in of_targets:
        sums[one.memory_type] += one.weight
    ranked = sorted(request.targets, key=lambda target: (-sums[target], ORDER.index(target)))
    top, total = sums[ranked[0]], sum(sums.values())
    chosen, how = _choose_strategies(request, choose)
    of_targets.sort(key=lambda one: ranked.index(one.memory_type))
    why = [f"{one.memory_type}: {one.reason}." for one in of_targets]
    return RoutingDecision(
        target_memory_types=tuple(ranked),
        selected_strategies={target: chosen[target] for target in ranked},
        strategy_weights={target: weight(target, sums[target]) for target in ranked},
        reasons=(
            *(why or ["No words of the query point to a memory type, so each has its least weight."]),
            *how,
        ),
        confidence=top / total if total else 0.0,
    )


def weight(target: MemoryType, own: float) -> float:
    """A target's weight by its evidence: ``least + (1 - least) own² / (own² + 1)``.

    Weak evidence adds little. Evidence for other types subtracts nothing, because a question may need several types. A
    misjudged type ranks lower but is still found.

    >>> round(weight(MemoryType.CORE, 2.0), 6)
    0.86
    """
    least = MIN_WEIGHTS[target]
    return least + (1.0 - least) * own**2 / (own**2 + 1.0)


def _choose_strategies(
    request: RoutingRequest, choose: Choice
) -> tuple[dict[MemoryType, RetrievalStrategy], tuple[str, ...]]:
    """The strategy of each target, and a sentence for each reason with the targets it applies to."""
    choices = {
        target: _choice(request.preferred_strategy, target, has, choose)
        for target, has in request.targets.items()
    }
    sharing: dict[tuple[RetrievalStrategy, str], list[MemoryType]] = {}
    for target, (strategy, why) in choices.items():
        if why is not None:
            sharing.setdefault((strategy, why), []).append(target)
    reasons = (f"Search by {how} in {', '.join(targets)}: {why}." for (how, why), targets in sharing.items())
    return {target: strategy for target, (strategy, _) in choices.items()}, tuple(reasons)


def _choice(
    preferred_strategy: RetrievalStrategy | None,
    target: MemoryType,
    has: tuple[RetrievalStrategy, ...],
    choose: Choice,
) -> tuple[RetrievalStrategy, str | None]:
    if preferred_strategy is None:
        return choose(target, has)
    return (
        (preferred_strategy, "the request prefers it")
        if preferred_strategy in has
        else (has[0], lacking(preferred_strategy, has))
    )


def lacking(strategy: str, has: Sequence[RetrievalStrategy]) -> str:
    """Why an agent uses its default strategy."""
    return f"{strategy} is not among what the agent implements ({', '.join(has)})"


def _default(_: MemoryType, has: tuple[RetrievalStrategy, ...]) -> tuple[RetrievalStrategy, None]:
    return has[0], None
