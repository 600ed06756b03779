"""Rerank without a model: the fused score plus terms that neither source uses.

    key = prior · ln(fused score / the best's) + Σ weight · term

Each term (see ``features.TERMS``) is in log-odds, times its weight in WEIGHTS. The relevances of the
results, by both sources (see ``relevance_odds``) and all terms except ``mistake``, are sorted and assigned in the order
of the key: the first result gets the highest. So ``rerank_score`` is a relevance in [0, 1] under every strategy.
``mistake`` selects the results that the operation is for, and says nothing about relevance.

The weights were chosen on the first halves of the judged sets and on two vaults. What each brings on other data
stands in docs/evaluation.md.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from agentic_rag.domain.odds import probability
from agentic_rag.domain.results import Result, with_rerank_scores
from agentic_rag.fusion.strategy_selector import SourceHits, fuse_adapted, resolve_parameters
from agentic_rag.rerank.features import TERMS, relevance_odds, terms_of
from agentic_rag.settings.parameters import FusionStrategy, Parameters

Floats = NDArray[np.float64]
WEIGHTS: Mapping[str, float] = {
    "prior": 2.0,  # timeqa +.145 (.122 to .169), LoCoMo +.282 (.219 to .347), 2wiki +.209 (.179 to .237)
    "time": 2.0,  # timeqa +.163 (.133 to .194)
    "mistake": 3.0,  # within its interval; ``weak_point_clustering`` promises it
    "window": 0.4,  # with ``length``: LoCoMo, recall@10 +.022 (.004 to .044)
    "speaker": 2.5,  # LoCoMo +.046 (.029 to .065)
    "length": 1.1,
}
"""Weight of the logarithm of the fused score (``prior``) and of each of TERMS, in units of the log-odds of relevance;
beside it what it adds to the measure of held-out questions, with the 95 % interval."""
REORDERS = frozenset({"mistake"})
"""Terms that say which result is wanted, and not how relevant it is."""
MIN_SHARE = 1e-4
"""Lower bound of a fused score, as a share of the best one."""
MIN_GAP, MAX_LOG_ODDS = 1e-9, 12.0
"""Least difference in log-odds between successive results; equal scores would be sorted by id, against the key.
Beyond ±MAX_LOG_ODDS such probabilities are equal in floating point."""


def rerank_offline(
    query: str,
    results: Sequence[Result],
    operation: str | None = None,
    weights: Mapping[str, float] = WEIGHTS,
) -> list[Result]:
    """Results in a new order, each with ``rerank_score`` in [0, 1]; descending, then id."""
    if not results:
        return []
    fused = np.array([result["fused_score"] for result in results], dtype=np.float64)
    odds = np.array(relevance_odds(results), dtype=np.float64)
    dealt = assigned_relevance(fused, odds, terms_of(query, results, operation), weights)
    return with_rerank_scores(results, [probability(value) for value in dealt.tolist()])


def assigned_relevance(
    fused_scores: Floats, odds: Floats, columns: Mapping[str, Floats], weights: Mapping[str, float]
) -> Floats:
    """The log-odds of relevance that each result is dealt.

    Args:
        fused_scores: shape (results,), at least one.
        odds: log-odds of relevance by the sources, same shape.
        columns: each of ``TERMS``, same shape.
        weights: as WEIGHTS.
    """
    share = np.maximum(fused_scores / max(float(fused_scores.max()), np.finfo(float).tiny), MIN_SHARE)
    relevant = odds + _weigh_columns([name for name in TERMS if name not in REORDERS], columns, weights)
    key = weights["prior"] * np.log(share) + _weigh_columns(TERMS, columns, weights)
    order = np.lexsort((-relevant, -key))
    # Results that are equal in both get the same score, and their ids decide.
    told_apart = (np.diff(key[order]) != 0) | (np.diff(relevant[order]) != 0)
    starts = np.concatenate([[0], np.flatnonzero(told_apart) + 1])
    group = np.concatenate([[0], np.cumsum(told_apart)])
    dealt = np.empty_like(relevant)
    dealt[order] = (
        np.clip(np.sort(relevant)[::-1][starts][group], -MAX_LOG_ODDS, MAX_LOG_ODDS) - MIN_GAP * group
    )
    return dealt


def _weigh_columns(
    names: Sequence[str] | Mapping[str, str], columns: Mapping[str, Floats], weights: Mapping[str, float]
) -> Floats:
    """The sum of the columns, each times its weight."""
    total: Floats = np.sum([weights[name] * columns[name] for name in names], axis=0)
    return total


@dataclass(frozen=True, slots=True)
class SearchedQuestion:
    """A question with what both sources found, to be fused and reranked offline by any strategy."""

    question: str
    hits: SourceHits
    operation: str
    """By either of its names."""
    parameters: Parameters
    """Of the run."""
    specificity: float | None
    """See ``fuse_for_operation``."""

    def ranked_ids(self, strategy: FusionStrategy) -> list[str]:
        """Ids of the results that a strategy with its own weights gives."""
        own = {"strategy": strategy, "graphiti_weight": None, "lancedb_weight": None}
        fusion = self.parameters.fusion.model_copy(update=own)
        fused = fuse_adapted(
            self.hits,
            resolve_parameters(self.operation, fusion),
            None if fusion.sets_weights else self.specificity,
        )
        return [result["id"] for result in rerank_offline(self.question, fused.results, self.operation)]

    def count_moved(self, final: Collection[str], used_strategy: str) -> dict[str, int]:
        """By strategy other than the used one, how many of the final results' ids it would not return."""
        return {
            strategy.value: len(set(final) - set(self.ranked_ids(strategy)[: len(final)]))
            for strategy in FusionStrategy
            if strategy.value != used_strategy
        }
