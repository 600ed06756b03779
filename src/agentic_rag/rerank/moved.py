"""How much the fusion's strategy decided: what other strategies would have had among the final results."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from agentic_rag.domain import Hit
from agentic_rag.fusion.strategy_selector import fuse_for_operation
from agentic_rag.rerank.offline import rerank_offline
from agentic_rag.settings.parameters import FusionStrategy, Parameters


def moved(
    question: str,
    hits: tuple[Sequence[Hit], Sequence[Hit]],
    final: Collection[str],
    *,
    used: str,
    operation: str,
    parameters: Parameters,
    telling: float | None,
) -> dict[str, int]:
    """By each other strategy, how many of the final results it would not have had, from 0 to all of them.

    Each fuses the same hits with its own weights and is reranked offline.

    Args:
        question: what was asked.
        hits: of the graph and of the vector store, both asked.
        final: ids of the final results.
        used: the strategy that was used.
        operation: by either of its names.
        parameters: of the run.
        telling: see ``fuse_for_operation``.
    """
    lost = {}
    for strategy in FusionStrategy:
        if strategy.value == used:
            continue
        ids = ranked_ids(
            question, hits, strategy, operation=operation, parameters=parameters, telling=telling
        )
        lost[strategy.value] = len(set(final) - set(ids[: len(final)]))
    return lost


def ranked_ids(
    question: str,
    hits: tuple[Sequence[Hit], Sequence[Hit]],
    strategy: FusionStrategy,
    *,
    operation: str,
    parameters: Parameters,
    telling: float | None,
) -> list[str]:
    """Ids of the results that a strategy with its own weights gives, reranked offline; arguments as for ``moved``."""
    own = {"strategy": strategy, "graphiti_weight": None, "lancedb_weight": None}
    fusion = parameters.fusion.model_copy(update=own)
    fused = fuse_for_operation(operation, *hits, fusion, telling=telling)
    results = [result.to_dict() for result in fused.results]
    return [str(result["id"]) for result in rerank_offline(question, results, parameters.rerank, operation)]
