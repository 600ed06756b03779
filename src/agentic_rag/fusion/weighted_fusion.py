"""Weighted sum of the two sources' normalised scores."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Literal, NamedTuple

from agentic_rag.domain import Hit
from agentic_rag.domain.results import Result
from agentic_rag.errors import ConfigError
from agentic_rag.fusion.hits import GraphitiResults, LanceDBResults, read_graphiti, read_lancedb
from agentic_rag.fusion.merging import WeighedHits, checked_count, checked_weight, merge
from agentic_rag.fusion.unified_result import UnifiedResult, as_unified

Normalization = Literal["min_max", "z_score"]
WEIGHT_TOLERANCE = 1e-6


def weighted_fusion(
    graphiti_results: GraphitiResults,
    lancedb_results: LanceDBResults,
    graphiti_weight: float = 0.7,
    lancedb_weight: float = 0.3,
    normalization: Normalization = "min_max",
    *,
    limit: int | None = None,
) -> list[UnifiedResult]:
    """Fuse by score: ``score(d) = α · norm(graphiti(d)) + β · norm(lancedb(d))`` with α + β = 1.

    Each source is normalised over its own hits, so that a hit it does not hold counts 0, and every hit
    it does hold counts more than 0: absent lies below the lowest present. Its best hit counts 1,
    however long its list is, so that between the sources' best the weights alone decide. With n hits,
    their lowest score m and highest M, population standard deviation σ:

    - ``min_max``: ``1/n + (1 - 1/n) · (s - m) / (M - m)``, in [1/n, 1]. Absent lies one mean gap below
      the last hit, where an (n+1)-th evenly spaced one would stand.
    - ``z_score``: ``1 / (1 + z_max - z) = 1 / (1 + (M - s) / σ)`` with z the standard score, in
      [1 / (1 + √(2n)), 1]. A hit d standard deviations below the source's best counts 1 / (1 + d): one
      counts 1/2, two count 1/3. Absent lies infinitely many below.

    Equal scores, and a single hit, count 1 in both, and neither is changed by an affine change of a
    source's scores. A source that leaves any hit without a score is normalised by minus its ranks
    instead, by the same formula (for ranks 1 … n ``min_max`` gives ``(n + 1 - rank) / n``);
    ``normalise`` says which it was.

    Args:
        graphiti_results: hits, or Graphiti's ``SearchResults`` (which has no relevance scores: by rank).
        lancedb_results: hits, or rows as LanceDB returns them.
        graphiti_weight, lancedb_weight: α and β, at least 0; 0 leaves the source out entirely.
        normalization: ``min_max`` or ``z_score``.
        limit: return at most this many; None returns all.

    Raises:
        ConfigError: weights that do not sum to 1 within 1e-6, or a parameter out of range.
        InputError: a hit that cannot be read.

    Source: Fox, Shaw, Combination of Multiple Searches (CombSUM), TREC-2 1994; standard scores: Montague,
    Aslam, Relevance Score Normalization for Metasearch (ZMUV), CIKM 2001. What absent hits count, and how
    standard scores are brought to (0, 1], is this package's; see ``z_score``.

    >>> [round(result.fused_score, 2) for result in weighted_fusion([{"id": "a"}], [{"id": "b", "score": 0.4}])]
    [0.7, 0.3]
    """
    sources = {
        "graphiti": (read_graphiti(graphiti_results), graphiti_weight),
        "lancedb": (read_lancedb(lancedb_results), lancedb_weight),
    }
    return as_unified(fuse_scores(sources, normalization, limit=limit))


def fuse_scores(
    sources: Mapping[str, tuple[Sequence[Hit], float]],
    normalization: Normalization = "min_max",
    *,
    limit: int | None = None,
) -> list[Result]:
    """``weighted_fusion`` over any number of sources: name to (hits as a reader gives them, weight)."""
    if limit is not None:
        checked_count("limit", limit)
    total = math.fsum(checked_weight(f"{name}_weight", weight) for name, (_, weight) in sources.items())
    if abs(total - 1.0) > WEIGHT_TOLERANCE:
        told = ", ".join(f"{name} {weight}" for name, (_, weight) in sources.items())
        raise ConfigError(f"weights sum to {total:g} ({told}); weighted fusion needs a sum of 1")
    legs = [
        WeighedHits(name, hits, weight, normalise(hits, normalization).values)
        for name, (hits, weight) in sources.items()
    ]
    return merge(legs, limit=limit)


class NormalisedScores(NamedTuple):
    """Normalised scores in the hits' order, and what they were made from."""

    values: list[float]
    basis: Literal["score", "rank"]
    """``rank`` where some hit has no score."""


def normalise(hits: Sequence[Hit], normalization: Normalization) -> NormalisedScores:
    """The hits' scores (or minus their ranks) on a scale where absent is 0; see ``weighted_fusion``."""
    function = NORMALIZATIONS.get(normalization)
    if function is None:
        raise ConfigError(f"unknown normalization {normalization!r}; use one of: {', '.join(NORMALIZATIONS)}")
    scores = [hit["score"] for hit in hits]
    known = [score for score in scores if score is not None]
    if len(known) < len(scores):
        return NormalisedScores(function([float(-hit["rank"]) for hit in hits]), "rank")
    return NormalisedScores(function(known), "score")


def min_max(scores: Sequence[float]) -> list[float]:
    """``1/n + (1 - 1/n) · (s - m) / (M - m)``, in [1/n, 1]; all 1 where the scores are equal."""
    shares = _shares(scores)
    if shares is None:
        return [1.0] * len(scores)
    floor = 1.0 / len(scores)
    return [floor + (1.0 - floor) * share for share in shares]


def z_score(scores: Sequence[float]) -> list[float]:
    """``1 / (1 + (M - s) / σ)``, in [1 / (1 + √(2n)), 1], σ over all n; all 1 where the scores are equal.

    Standard scores have no bound of their own: the best of n can reach √(n - 1), so that summed as they are
    the longer list wins whatever the weights. Only their distance from the source's best is kept, in the
    source's standard deviations: what lies as many below the best counts the same in every source. Divided
    by the largest, ``(1 + z - z_min) / (1 + z_max - z_min)``, a standard deviation would count less the
    wider the list is, which is ``min_max`` with another floor. The normal distribution function makes all
    alike that are far above the mean, and reaches 0 far below it. ``1 / (1 + d)`` does neither; no distance
    exceeds √(2n), as a range R and σ have ``R² ≤ 2nσ²``.
    """
    shares = _shares(scores)
    if shares is None:
        return [1.0] * len(scores)
    mean = math.fsum(shares) / len(shares)
    deviation = math.sqrt(math.fsum([(share - mean) ** 2 for share in shares]) / len(shares))
    return [1.0 / (1.0 + (1.0 - share) / deviation) for share in shares]


NORMALIZATIONS: Mapping[str, Callable[[Sequence[float]], list[float]]] = {
    "min_max": min_max,
    "z_score": z_score,
}


def _shares(scores: Sequence[float]) -> list[float] | None:
    """``(s - m) / (M - m)``; None where nothing differs. Halves first, for a range beyond the largest float."""
    if not scores:
        return None
    low, high = min(scores), max(scores)
    spread = high - low
    if spread == 0:
        return None
    if math.isinf(spread):
        return [(score / 2 - low / 2) / (high / 2 - low / 2) for score in scores]
    return [(score - low) / spread for score in scores]
