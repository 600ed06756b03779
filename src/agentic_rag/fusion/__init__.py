"""Fusion: two sources' hits become one ranked list, in the way the operation needs it. Pure, no I/O."""

from agentic_rag.domain import Hit
from agentic_rag.fusion.cascade_retrieval import (
    CascadeReport,
    Relevance,
    cascade_retrieval,
    decide_tier,
    fuse_tiers,
    score_as_relevance,
)
from agentic_rag.fusion.evaluator import calculate_mrr_at_k, evaluate_fusion
from agentic_rag.fusion.hits import (
    GraphitiResults,
    LanceDBResults,
    SearchResultsLike,
    plain,
    read_graphiti,
    read_hits,
    read_lancedb,
)
from agentic_rag.fusion.operation_choice import OperationChoice, choose_operation
from agentic_rag.fusion.rrf_fusion import fuse_ids, fuse_ranks, reciprocal_rank_fusion
from agentic_rag.fusion.strategy_selector import (
    DEFAULT_OPERATION,
    DEFAULT_WEIGHTS,
    OPERATIONS,
    CanvasOperation,
    FusionOutcome,
    OperationProfile,
    adapted_weights,
    choose_strategy,
    execute_fusion,
    fuse_for_operation,
    parse_operation,
    parse_strategy,
    resolve_parameters,
    select_fusion_algorithm,
)
from agentic_rag.fusion.unified_result import UnifiedResult
from agentic_rag.fusion.weighted_fusion import (
    NormalisedScores,
    Normalization,
    fuse_scores,
    normalise,
    weighted_fusion,
)
from agentic_rag.settings.parameters import FusionParameters, FusionStrategy

__all__ = [  # noqa: RUF022 - grouped by stage
    # what the sources found
    "GraphitiResults",
    "Hit",
    "LanceDBResults",
    "SearchResultsLike",
    "plain",
    "read_graphiti",
    "read_hits",
    "read_lancedb",
    # the strategies
    "CascadeReport",
    "NormalisedScores",
    "Normalization",
    "Relevance",
    "UnifiedResult",
    "cascade_retrieval",
    "decide_tier",
    "fuse_ids",
    "fuse_ranks",
    "fuse_scores",
    "fuse_tiers",
    "normalise",
    "reciprocal_rank_fusion",
    "score_as_relevance",
    "weighted_fusion",
    # the choice
    "CanvasOperation",
    "DEFAULT_OPERATION",
    "DEFAULT_WEIGHTS",
    "FusionOutcome",
    "FusionParameters",
    "FusionStrategy",
    "OPERATIONS",
    "OperationChoice",
    "OperationProfile",
    "adapted_weights",
    "choose_operation",
    "choose_strategy",
    "execute_fusion",
    "fuse_for_operation",
    "parse_operation",
    "parse_strategy",
    "resolve_parameters",
    "select_fusion_algorithm",
    # the measure
    "calculate_mrr_at_k",
    "evaluate_fusion",
]
