"""Cascade: the graph first, the vector store only when the graph's result is not enough."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Literal, TypedDict

from agentic_rag.domain import Hit
from agentic_rag.domain.results import Result
from agentic_rag.errors import ConfigError, InputError
from agentic_rag.fusion.hits import GraphitiResults, LanceDBResults, read_graphiti, read_lancedb
from agentic_rag.fusion.merging import checked_count
from agentic_rag.fusion.rrf_fusion import fuse_ranks
from agentic_rag.fusion.unified_result import UnifiedResult, as_unified
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
    hits: Sequence[Hit],
    threshold: int = CASCADE_THRESHOLD,
    min_score: float = CASCADE_MIN_SCORE,
    relevance: Relevance | None = None,
) -> CascadeReport:
    """Whether the graph alone is enough: at least ``threshold`` hits of relevance ≥ ``min_score``.

    Args:
        hits: of the graph, as a reader gives them.
        threshold: at least 1; default 5.
        min_score: in [0, 1]; default 0.7.
        relevance: a hit's calibrated relevance in [0, 1], None where there is none; by default
            ``score_as_relevance``. A rank-made score such as Graphiti's own says nothing here.

    Returns:
        A report with decision ``sufficient`` (tier 1) or ``fallback`` (tier 2 is needed).

    Raises:
        ConfigError: threshold or min_score out of range.
        InputError: a relevance outside [0, 1].
    """
    checked_count("graphiti_threshold", threshold)
    if isinstance(min_score, bool) or not isinstance(min_score, int | float) or not 0 <= min_score <= 1:
        raise ConfigError(f"graphiti_min_score is {min_score!r}; give a relevance from 0 to 1")
    judge = score_as_relevance if relevance is None else relevance
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
    report = decide_tier(hits, graphiti_threshold, graphiti_min_score, relevance)
    sources: dict[str, tuple[Sequence[Hit], float]] = {"graphiti": (hits, 1.0)}
    if report["decision"] == "fallback" and use_lancedb_fallback:
        sources["lancedb"] = read_lancedb(await search_lancedb(query)), 1.0
    results, report = fuse_tiers(
        sources, report, k, use_lancedb_fallback=use_lancedb_fallback, limit=num_results
    )
    return as_unified(results), report


def fuse_tiers(
    sources: Mapping[str, tuple[Sequence[Hit], float]],
    report: CascadeReport,
    k: int = 60,
    *,
    use_lancedb_fallback: bool = True,
    limit: int | None = None,
) -> tuple[list[Result], CascadeReport]:
    """What the decided tier returns, and the report of the tier that was used.

    Tier 1 is the graph in its own order (score 1 / (k + rank)); tier 2 is RRF of the graph and the vector store with
    their weights. Either is fused with the other sources.

    Args:
        sources: as for ``fuse_ranks``, with ``graphiti``; without ``lancedb`` the vector store was not asked.
        report: of ``decide_tier``.
        k: of the fusion.
        use_lancedb_fallback: False leaves the vector store out.
        limit: return at most this many; None returns all.
    """
    used: CascadeReport = {**report}
    fused = dict(sources)
    if report["decision"] == "fallback" and use_lancedb_fallback and "lancedb" in sources:
        used["lancedb_count"] = len(sources["lancedb"][0])
    else:
        used["tier"] = 1
        if report["decision"] == "fallback":
            used["decision"] = "fallback_missing" if use_lancedb_fallback else "fallback_disabled"
        fused["graphiti"] = sources["graphiti"][0], 1.0
        fused.pop("lancedb", None)
    return fuse_ranks(fused, k, limit=limit, first_tier="graphiti"), used
