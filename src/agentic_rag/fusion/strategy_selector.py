"""Choose a fusion strategy by what the user is doing on the canvas, and carry it out."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple, cast, overload

from agentic_rag.domain import Hit
from agentic_rag.domain.odds import probability
from agentic_rag.domain.results import FusionReport, Result, WeightsReport
from agentic_rag.errors import ConfigError, UnknownOperation
from agentic_rag.fusion.cascade_retrieval import decide_tier, fuse_tiers
from agentic_rag.fusion.hits import (
    GraphitiResults,
    LanceDBResults,
    read_graphiti,
    read_hits,
    read_lancedb,
)
from agentic_rag.fusion.rrf_fusion import fuse_ranks
from agentic_rag.fusion.unified_result import UnifiedResult, as_unified
from agentic_rag.fusion.weighted_fusion import fuse_scores, normalise
from agentic_rag.settings.parameters import FusionParameters, FusionStrategy


class CanvasOperation(StrEnum):
    """What the user is doing on the canvas."""

    VERIFICATION_CANVAS = "verification_canvas"
    WEAK_POINT_CLUSTERING = "weak_point_clustering"
    CONCEPT_RELATION = "concept_relation"
    DOCUMENT_RETRIEVAL = "document_retrieval"


@dataclass(frozen=True, slots=True)
class OperationProfile:
    """An operation in the user's words, and the strategy that suits it with its parameters."""

    words: str
    strategy: FusionStrategy
    parameters: FusionParameters
    """The operation's parameters for its strategy; unset ones have the strategy's default. ``k`` is never unset:
    the caller's value always applies, and this one is its default."""


OPERATIONS: Mapping[CanvasOperation, OperationProfile] = {
    CanvasOperation.VERIFICATION_CANVAS: OperationProfile(
        "检验白板生成", FusionStrategy.RRF, FusionParameters(k=60)
    ),
    CanvasOperation.WEAK_POINT_CLUSTERING: OperationProfile(
        "薄弱点聚类",
        FusionStrategy.WEIGHTED_GRAPHITI,
        FusionParameters(graphiti_weight=0.7, lancedb_weight=0.3),
    ),
    CanvasOperation.CONCEPT_RELATION: OperationProfile(
        "概念关联检索", FusionStrategy.CASCADE, FusionParameters(graphiti_threshold=3, graphiti_min_score=0.6)
    ),
    CanvasOperation.DOCUMENT_RETRIEVAL: OperationProfile(
        "文档检索", FusionStrategy.WEIGHTED_LANCEDB, FusionParameters(graphiti_weight=0.3, lancedb_weight=0.7)
    ),
}
"""What each operation is fused by; ``resolve_parameters`` puts the caller's parameters on top."""
DEFAULT_OPERATION = CanvasOperation.VERIFICATION_CANVAS
DEFAULT_WEIGHTS: Mapping[FusionStrategy, tuple[float, float]] = {
    FusionStrategy.WEIGHTED_GRAPHITI: (0.7, 0.3),
    FusionStrategy.WEIGHTED_LANCEDB: (0.3, 0.7),
}
"""Weights (graph, vector store) of the weighted strategies where neither is given."""
SOURCES = ("graphiti", "lancedb")
"""In the order of every pair of weights."""
MEMORY = "memory"
"""The third source, where a user is given."""
MEMORY_SHARE = 0.5
"""Its weight under a weighted strategy: as much as the two others together, which share the rest. Else it is 1."""
LIMIT = 200
"""Fused results: all that two sources of 100 hits each can give."""
NOTE_SOURCES = frozenset(SOURCES)
"""The sources of the dataset's chunks; others bring results of their own, with the relevance that they give."""


def parse_operation(name: CanvasOperation | str) -> CanvasOperation:
    """The operation of that name, or of those user's words (``文档检索``).

    Raises:
        UnknownOperation: there is none; the error lists the known names.
    """
    for operation, profile in OPERATIONS.items():
        if name in (operation.value, profile.words):
            return operation
    raise UnknownOperation(str(name), [operation.value for operation in OPERATIONS])


def parse_strategy(name: FusionStrategy | str) -> FusionStrategy:
    """The strategy of that name; ``ConfigError`` lists the known ones."""
    if name not in _STRATEGIES:
        known = ", ".join(strategy.value for strategy in _STRATEGIES)
        raise ConfigError(f"unknown fusion strategy {str(name)!r}; use one of: {known}")
    return FusionStrategy(name)


def select_fusion_algorithm(operation: CanvasOperation | str) -> FusionStrategy:
    """The strategy that suits the operation.

    Raises:
        UnknownOperation: there is no such operation.

    >>> select_fusion_algorithm("concept_relation").value
    'cascade'
    """
    return OPERATIONS[parse_operation(operation)].strategy


def choose_strategy(
    operation: CanvasOperation | str, parameters: FusionParameters | None = None
) -> FusionStrategy:
    """The strategy the parameters name, else the operation's; the operation must be known either way."""
    by_operation = select_fusion_algorithm(operation)
    return by_operation if parameters is None or parameters.strategy is None else parameters.strategy


def resolve_parameters(
    operation: CanvasOperation | str, parameters: FusionParameters | None = None
) -> FusionParameters:
    """The parameters in effect for an operation; strategy, weights and what is enough are all set.

    What the caller set stands. What is unset has the value of ``OPERATIONS`` where the strategy is the
    operation's own, else the strategy's default: weights of 1 under RRF and in the cascade's second tier,
    0.7 and 0.3 or 0.3 and 0.7 under a weighted one; 5 hits of 0.7 under the cascade. Of a weighted
    strategy's two weights one given alone is completed to 1.

    Args:
        operation: by either of its names.
        parameters: the caller's; None sets nothing.

    Raises:
        UnknownOperation: there is no such operation.

    >>> resolved = resolve_parameters("concept_relation", FusionParameters(graphiti_threshold=2))
    >>> resolved.strategy.value, resolved.graphiti_threshold, resolved.graphiti_min_score
    ('cascade', 2, 0.6)
    """
    given = FusionParameters() if parameters is None else parameters
    strategy = choose_strategy(operation, given)
    profile = OPERATIONS[parse_operation(operation)]
    # Another strategy's weights and bounds would mean something else, so they go with their own.
    own = profile.parameters if strategy is profile.strategy else FusionParameters()
    count, score = own.enough()
    weights = _weights(strategy, given, own)
    return given.model_copy(
        update={
            "strategy": strategy,
            "graphiti_weight": weights[0],
            "lancedb_weight": weights[1],
            "graphiti_threshold": count if given.graphiti_threshold is None else given.graphiti_threshold,
            "graphiti_min_score": score if given.graphiti_min_score is None else given.graphiti_min_score,
        }
    )


@dataclass(frozen=True, slots=True)
class SourceHits:
    """What each source found for a question: hits as a reader gives them; None where it was not asked."""

    graph: Sequence[Hit]
    vector: Sequence[Hit] | None
    """The cascade tells None from no hits."""
    memory: Sequence[Hit] | None = None
    """Of the user's memories, of weight MEMORY_SHARE or 1. Under a weighted strategy the two others share the rest;
    under the cascade they are fused in either tier."""
    further: Mapping[str, Sequence[Hit]] = field(default_factory=dict)
    """Of each further source that was asked, by its name. Under a weighted strategy each has the mean weight of the
    graph's and the vector store's, of all of which they take their parts; else 1."""

    @classmethod
    def read(
        cls,
        graphiti_results: GraphitiResults | None,
        lancedb_results: LanceDBResults | None,
        memory_results: Sequence[Hit] | None = None,
    ) -> SourceHits:
        """What callers give, checked.

        Raises:
            InputError: a hit that cannot be read.
        """
        return cls(
            [] if graphiti_results is None else read_graphiti(graphiti_results),
            None if lancedb_results is None else read_lancedb(lancedb_results),
            None if memory_results is None else read_hits(memory_results, MEMORY),
        )


class FusedResults(NamedTuple):
    """Fused results, best first, and what was done."""

    results: list[Result]
    report: FusionReport


@dataclass(frozen=True, slots=True)
class FusionOutcome(Sequence[UnifiedResult]):
    """Fused results, best first, and what was done.

    It is the sequence of its results too: ``for result in outcome``, ``outcome[:10]``, ``len(outcome)``.
    """

    results: list[UnifiedResult]
    report: FusionReport

    @overload
    def __getitem__(self, place: int) -> UnifiedResult: ...
    @overload
    def __getitem__(self, place: slice) -> list[UnifiedResult]: ...
    def __getitem__(self, place: int | slice) -> UnifiedResult | list[UnifiedResult]:
        return self.results[place]

    def __len__(self) -> int:
        return len(self.results)


def execute_fusion(
    strategy: FusionStrategy | str,
    graphiti_results: GraphitiResults | None,
    lancedb_results: LanceDBResults | None,
    parameters: FusionParameters | None = None,
    *,
    memory_results: Sequence[Hit] | None = None,
    limit: int = LIMIT,
) -> FusionOutcome:
    """Fuse given lists by a strategy.

    Args:
        strategy: carried out as given; ``choose_strategy`` is where ``parameters.strategy`` counts.
        graphiti_results: hits or ``SearchResults``; None is an empty list.
        lancedb_results: hits or rows; None means not asked (which the cascade tells from empty).
        parameters: default ``FusionParameters()``. What is unset has the strategy's default, 5 hits of 0.7
            under the cascade; for an operation's own give those of ``resolve_parameters``.
        memory_results: see ``SourceHits``; None means not asked.
        limit: most results.

    Raises:
        ConfigError: an unknown strategy, or weights that do not sum to 1 under a weighted one.
        InputError: a hit that cannot be read.
    """
    chosen = parse_strategy(strategy)
    found = SourceHits.read(graphiti_results, lancedb_results, memory_results)
    fused = fuse_hits(chosen, found, FusionParameters() if parameters is None else parameters, limit)
    return FusionOutcome(as_unified(fused.results), fused.report)


def fuse_hits(
    strategy: FusionStrategy, hits: SourceHits, parameters: FusionParameters, limit: int = LIMIT
) -> FusedResults:
    """``execute_fusion`` of hits that need no reading: what the graph's own nodes found."""
    weights = _weights(strategy, parameters)
    share = each = 1.0
    if strategy in DEFAULT_WEIGHTS:
        share = MEMORY_SHARE if hits.memory is not None else 0.0
        each = (1.0 - share) / (len(SOURCES) + len(hits.further))
        weights = (weights[0] * each * len(SOURCES), weights[1] * each * len(SOURCES))
    sources = {"graphiti": (hits.graph, weights[0]), "lancedb": (hits.vector or [], weights[1])}
    sources |= {name: (its, each) for name, its in hits.further.items()}
    if hits.memory is not None:
        sources[MEMORY] = hits.memory, share
    results, own, details = _STRATEGIES[strategy](sources, hits.vector is not None, parameters, limit)
    used = {**own, "graphiti_weight": weights[0], "lancedb_weight": weights[1]}
    if hits.memory is not None:
        used["memory_weight"] = share
    if hits.further:
        used["further_weight"] = each
    counts = {name: len(its) for name, (its, _) in sources.items()} | {"fused": len(results)}
    report = {"strategy": strategy.value, "tier": None, "counts": counts, "parameters": used}
    return FusedResults(results, cast(FusionReport, {**report, **details}))


def _weights(strategy: FusionStrategy, *parameters: FusionParameters) -> tuple[float, float]:
    """Weights (graph, vector store): of the first parameters that set one, else the strategy's default."""
    if strategy not in DEFAULT_WEIGHTS:
        return parameters[0].rank_weights()
    weights = DEFAULT_WEIGHTS[strategy]
    for given in reversed(parameters):
        weights = given.sum_weights(weights)
    return weights


def fuse_for_operation(
    operation: CanvasOperation | str,
    graphiti_results: GraphitiResults | None,
    lancedb_results: LanceDBResults | None,
    parameters: FusionParameters | None = None,
    *,
    specificity: float | None = None,
    memory_results: Sequence[Hit] | None = None,
) -> FusionOutcome:
    """Fuse given lists as an operation asks, the weights following what the graph knows of the question.

    Args:
        operation: by either of its names.
        graphiti_results, lancedb_results: as for ``execute_fusion``.
        parameters: the caller's; what they leave unset is the operation's.
        specificity: specificity of the names in the question, in [0, 1] (see ``adapted_weights``); None: unknown.
            It adapts the weights only if the caller gave none.
        memory_results: as for ``execute_fusion``.

    Returns:
        As ``execute_fusion``; the report has ``weights`` too: ``given`` (the caller's or the operation's) and
        ``used`` by source, and ``specificity``, None where the rule did not act.

    Raises:
        UnknownOperation: there is no such operation.
        ConfigError, InputError: as ``execute_fusion``.
    """
    caller = FusionParameters() if parameters is None else parameters
    fused = fuse_adapted(
        SourceHits.read(graphiti_results, lancedb_results, memory_results),
        resolve_parameters(operation, caller),
        None if caller.sets_weights else specificity,
    )
    return FusionOutcome(as_unified(fused.results), fused.report)


def fuse_adapted(hits: SourceHits, parameters: FusionParameters, specificity: float | None) -> FusedResults:
    """As ``fuse_for_operation``, by what ``resolve_parameters`` gives; ``specificity`` None leaves its weights."""
    given = parameters.rank_weights()
    used = given if specificity is None else adapted_weights(given, specificity)
    adapted = parameters.model_copy(
        update=dict(zip(("graphiti_weight", "lancedb_weight"), used, strict=True))
    )
    fused = fuse_hits(cast(FusionStrategy, parameters.strategy), hits, adapted)
    weights: WeightsReport = {
        "given": dict(zip(SOURCES, given, strict=True)),
        "used": dict(zip(SOURCES, used, strict=True)),
        "specificity": specificity,
    }
    return FusedResults(fused.results, {**fused.report, "weights": weights})


_Sources = Mapping[str, tuple[Sequence[Hit], float]]
_StrategyOutput = tuple[list[Result], Mapping[str, object], Mapping[str, object]]
"""Results, the strategy's own parameters in effect, and the rest of its report."""


def _rrf(sources: _Sources, is_requested: bool, parameters: FusionParameters, limit: int) -> _StrategyOutput:
    results = fuse_ranks(sources, parameters.k, limit=limit)
    reason = "both sources' ranks count alike, times their weights"
    return results, {"k": parameters.k}, {"reason": reason}


def _weigh(
    sources: _Sources, is_requested: bool, parameters: FusionParameters, limit: int
) -> _StrategyOutput:
    how = parameters.normalization
    results = fuse_scores(sources, how, limit=limit)
    basis = {name: normalise(hits, how).basis for name, (hits, _) in sources.items()}
    return (
        results,
        {"normalization": how},
        {"normalised_by": basis, "reason": "normalised scores times weights"},
    )


def _cascade(
    sources: _Sources, is_requested: bool, parameters: FusionParameters, limit: int
) -> _StrategyOutput:
    threshold, floor = parameters.enough()
    asked = {name: one for name, one in sources.items() if is_requested or name != "lancedb"}
    results, report = fuse_tiers(
        asked,
        decide_tier(sources["graphiti"][0], threshold, floor),
        parameters.k,
        use_lancedb_fallback=sources["lancedb"][1] > 0,
        limit=limit,
    )
    own = {"graphiti_threshold": threshold, "graphiti_min_score": floor, "k": parameters.k}
    return results, own, {**report}


_STRATEGIES: Mapping[FusionStrategy, Callable[[_Sources, bool, FusionParameters, int], _StrategyOutput]] = {
    FusionStrategy.RRF: _rrf,
    FusionStrategy.WEIGHTED_GRAPHITI: _weigh,
    FusionStrategy.WEIGHTED_LANCEDB: _weigh,
    FusionStrategy.CASCADE: _cascade,
}
"""Each takes the sources' hits with their weights, whether the vector store was asked at all, and the most results."""


STEEPNESS, EVEN = 4.0, 0.57
"""EVEN is the mean over two vaults' questions that name something. Chosen on these and on the first halves of the
multi-hop sets and LoCoMo (``evaluation/bench_quality.py --ablation`` has the whole page with and without)."""


def adapted_weights(weights: tuple[float, float], specificity: float) -> tuple[float, float]:
    """Weights (graph, vector store), adapted to the specificity of the names in the question; the sum and a 0 are kept.

        odds(graph's weight) · e^(STEEPNESS · (t − EVEN))

    ``t`` is the specificity of the start of the graph's walk (see ``retrieval.calibration.GraphRelevance``): 1 if the
    question names an entity of one passage, .3 for a person whom many passages mention, .4 if it names nothing and
    facts are near. At EVEN the weights do not change. The rule follows the graph alone, because the vector store
    searches every question in the same way.

    Args:
        weights: the operation's, at least 0.
        specificity: ``t``, in [0, 1].

    >>> [round(weight, 2) for weight in adapted_weights((0.3, 0.7), 1.0)]
    [0.71, 0.29]
    """
    graph, vector = weights
    if graph == 0 or vector == 0:
        return weights
    odds = math.log(graph) - math.log(vector) + STEEPNESS * (specificity - EVEN)
    return probability(odds) * (graph + vector), probability(-odds) * (graph + vector)
