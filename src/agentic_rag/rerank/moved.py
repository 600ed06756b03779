"""How much the fusion's strategy decided: what other strategies would have had among the final results."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from agentic_rag.domain import Hit
from agentic_rag.fusion.strategy_selector import fuse_for_operation
from agentic_rag.parameters import FusionStrategy, Parameters
from agentic_rag.rerank.offline import rerank_offline


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
    own = {"graphiti_weight": None, "lancedb_weight": None}
    lost = {}
    for strategy in FusionStrategy:
        if strategy.value == used:
            continue
        fusion = parameters.fusion.model_copy(update={"strategy": strategy, **own})
        fused = fuse_for_operation(operation, *hits, fusion, telling=telling)
        results = [result.to_dict() for result in fused.results]
        ranked = rerank_offline(question, results, parameters.rerank, operation)[: len(final)]
        lost[strategy.value] = len(set(final) - {result["id"] for result in ranked})
    return lost
