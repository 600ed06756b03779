"""Cascade: the graph first, the vector store only when the graph's result is not enough."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Literal, TypedDict

from agentic_rag.domain import Hit
from agentic_rag.errors import ConfigError, InputError
from agentic_rag.fusion.hits import GraphitiResults, LanceDBResults, read_graphiti, read_lancedb
from agentic_rag.fusion.rrf_fusion import fuse_ranks
from agentic_rag.fusion.unified_result import UnifiedResult, checked_count
from agentic_rag.settings.parameters import CASCADE_MIN_SCORE, CASCADE_THRESHOLD

Relevance = Callable[[Hit], float | None]
SearchGraphiti = Callable[[str], Awaitable[GraphitiResults]]
SearchLanceDB = Callable[[str], Awaitable[LanceDBResults]]
Decision = Literal["sufficient", "fallback", "fallback_disabled", "fallback_missing"]


class CascadeReport(TypedDict):
    """Which tier was used and why."""

    tier: int
    """1: the graph alone; 2: both sources."""
    graphiti_count: int
    """Distinct graph hits."""
    high_quality: int
    """Those of them with a relevance of at least ``min_score``."""
    lancedb_count: int | None
    """Distinct hits of the vector store; None where it was not asked."""
    threshold: int
    min_score: float
    decision: Decision
    """``sufficient`` (tier 1), ``fallback`` (tier 2), or tier 1 though it is not enough:
    ``fallback_disabled`` by parameter, ``fallback_missing`` for want of the vector store's hits."""
    reason: str


def score_as_relevance(hit: Hit) -> float | None:
    """The hit's own score if it lies in [0, 1], else None: it judges only where the source calibrates it."""
    score = hit["score"]
    return score if score is not None and 0 <= score <= 1 else None


def decide_tier(
    graphiti_hits: GraphitiResults,
    threshold: int = CASCADE_THRESHOLD,
    min_score: float = CASCADE_MIN_SCORE,
    *,
    relevance: Relevance | None = None,
) -> CascadeReport:
    """Whether the graph alone is enough: at least ``threshold`` hits of relevance ≥ ``min_score``.

    Args:
        graphiti_hits: the graph's result; each chunk counts once.
        threshold: at least 1; default 5.
        min_score: in [0, 1]; default 0.7.
        relevance: a hit's calibrated relevance in [0, 1], None where there is none; by default
            ``score_as_relevance``. A rank-made score such as Graphiti's own says nothing here.

    Returns:
        A report with decision ``sufficient`` (tier 1) or ``fallback`` (tier 2 is needed).

    Raises:
        ConfigError: threshold or min_score out of range.
        InputError: a hit that cannot be read, or a relevance outside [0, 1].
    """
    checked_count("graphiti_threshold", threshold)
    if isinstance(min_score, bool) or not isinstance(min_score, int | float) or not 0 <= min_score <= 1:
        raise ConfigError(f"graphiti_min_score is {min_score!r}; give a relevance from 0 to 1")
    judge = score_as_relevance if relevance is None else relevance
    hits = read_graphiti(graphiti_hits)
    judged = {hit["id"]: value for hit in hits if (value := judge(hit)) is not None}
    for identity, value in judged.items():
        if not 0 <= value <= 1:
            raise InputError(f"relevance of {identity!r} is {value!r}; a calibrated relevance is from 0 to 1")
    high = sum(value >= min_score for value in judged.values())
    enough = high >= threshold
    unjudged = len(hits) - len(judged)
    return {
        "tier": 1 if enough else 2,
        "graphiti_count": len(hits),
        "high_quality": high,
        "lancedb_count": None,
        "threshold": threshold,
        "min_score": min_score,
        "decision": "sufficient" if enough else "fallback",
        "reason": f"{high} of {len(hits)} graph hits have relevance ≥ {min_score:g}, {threshold} needed"
        + (f"; {unjudged} carry no calibrated relevance" if unjudged else ""),
    }


async def cascade_retrieval(
    query: str,
    search_graphiti: SearchGraphiti,
    search_lancedb: SearchLanceDB,
    *,
    graphiti_threshold: int = CASCADE_THRESHOLD,
    graphiti_min_score: float = CASCADE_MIN_SCORE,
    use_lancedb_fallback: bool = True,
    num_results: int = 10,
    k: int = 60,
    relevance: Relevance | None = None,
) -> tuple[list[UnifiedResult], CascadeReport]:
    """Search the graph; if too few hits are relevant, search the vector store too and fuse both by RRF.

    The vector store is not asked at all where the graph is enough. What a search raises is passed on.

    Args:
        query: given to both searches as it is.
        search_graphiti, search_lancedb: async functions from query to results.
        graphiti_threshold: relevant graph hits that are enough; default 5.
        graphiti_min_score: relevance in [0, 1] from which a graph hit counts; default 0.7.
        use_lancedb_fallback: False stays with the graph whatever it found.
        num_results: return at most this many.
        k: of the fusion in tier 2, and of the graph's own rank scores in tier 1.
        relevance: see ``decide_tier``.

    Returns:
        Results with ``tier`` 1 if the graph found them and 2 if only the vector store did; the report.
    """
    checked_count("num_results", num_results)
    checked_count("k", k)
    hits = read_graphiti(await search_graphiti(query))
    report = decide_tier(hits, graphiti_threshold, graphiti_min_score, relevance=relevance)
    found: list[Hit] | None = None
    if report["decision"] == "fallback" and use_lancedb_fallback:
        found = read_lancedb(await search_lancedb(query))
    return fuse_tiers(hits, found, report, use_lancedb_fallback=use_lancedb_fallback, k=k, limit=num_results)


def fuse_tiers(
    graphiti_hits: Sequence[Hit],
    lancedb_hits: Sequence[Hit] | None,
    report: CascadeReport,
    *,
    use_lancedb_fallback: bool = True,
    k: int = 60,
    weights: tuple[float, float] = (1.0, 1.0),
    limit: int | None = None,
    further: Mapping[str, tuple[Sequence[Hit], float]] | None = None,
) -> tuple[list[UnifiedResult], CascadeReport]:
    """What the decided tier returns; ``lancedb_hits`` None means that the vector store was not asked.

    Tier 1 is the graph alone, in its own order (score 1 / (k + rank)); tier 2 is RRF of both, with
    ``weights`` (graph, vector store). Either is fused with the ``further`` sources' hits and weights by name.
    """
    told: CascadeReport = {**report}
    if report["decision"] == "fallback" and use_lancedb_fallback and lancedb_hits is not None:
        told["lancedb_count"] = len(lancedb_hits)
        sources = {"graphiti": (graphiti_hits, weights[0]), "lancedb": (lancedb_hits, weights[1])}
    else:
        told["tier"] = 1
        if report["decision"] == "fallback":
            told["decision"] = "fallback_missing" if use_lancedb_fallback else "fallback_disabled"
        sources = {"graphiti": (graphiti_hits, 1.0)}
    return fuse_ranks({**sources, **(further or {})}, k, limit=limit, first_tier="graphiti"), told
