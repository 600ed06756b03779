"""Fusion, second step: add up what the sources give each identity; every strategy ends here."""

from __future__ import annotations

import math
from collections.abc import Sequence
from heapq import nsmallest
from typing import Any, NamedTuple

from agentic_rag.domain import Hit
from agentic_rag.errors import ConfigError
from agentic_rag.fusion.hits import PASSAGES, join_facts
from agentic_rag.fusion.unified_result import UnifiedResult, unified


class Leg(NamedTuple):
    """One source's hits, one per id, with what each is worth before its weight."""

    name: str
    hits: Sequence[Hit]
    weight: float
    normalised: Sequence[float]


_Found = list[tuple[Leg, Hit, float]]
"""Of each leg that holds an identity: the leg, its hit, the normalised score; in name order."""


def merge(
    legs: Sequence[Leg],
    *,
    reciprocal: bool = False,
    limit: int | None = None,
    first_tier: str | None = None,
) -> list[UnifiedResult]:
    """Results by Σ weight · normalised, descending, then id; a leg of weight 0 contributes nothing at all.

    Legs are added in name order, so the sums do not depend on the order in which they are given.

    Args:
        legs: one per source.
        reciprocal: the sum is an RRF score.
        limit: keep this many; None keeps all.
        first_tier: the leg whose finds are of tier 1, all others being of tier 2; None: no tiers.
    """
    used = sorted([leg for leg in legs if leg.weight != 0], key=lambda leg: leg.name)
    scores: dict[str, float] = {}
    for leg in used:
        weight = leg.weight
        for hit, value in zip(leg.hits, leg.normalised, strict=True):
            identity = hit["id"]
            scores[identity] = scores.get(identity, 0.0) + weight * value
    best = nsmallest(
        len(scores) if limit is None else limit, [(-score, identity) for identity, score in scores.items()]
    )
    found: dict[str, _Found] = {identity: [] for _, identity in best}
    for leg in used:
        for hit, value in zip(leg.hits, leg.normalised, strict=True):
            finds = found.get(hit["id"])
            if finds is not None:
                finds.append((leg, hit, value))
    return [
        _unite(found[identity], -score, reciprocal, _tier(found[identity], first_tier))
        for score, identity in best
    ]


def _tier(found: _Found, first: str | None) -> int | None:
    return None if first is None else 1 if any(leg.name == first for leg, _, _ in found) else 2


def _unite(found: _Found, score: float, reciprocal: bool, tier: int | None) -> UnifiedResult:
    leg, best, value = found[0]
    names, passage = leg.name, best
    metadata, facts = {**best["metadata"]}, [*best["facts"]]
    sources = {names: _said(best, value, leg.weight)}
    if len(found) > 1:
        for leg, hit, value in found[1:]:
            names = f"{names}+{leg.name}"
            sources[leg.name] = _said(hit, value, leg.weight)
            metadata.update(hit["metadata"])
            if hit["facts"]:
                facts = join_facts(facts, hit["facts"])
            if _ranks_better(hit, best):
                best = hit
        passage = best if best["type"] in PASSAGES else _passage(best, found)
        metadata.update(best["metadata"])
    text, kind, raw = passage["content"], passage["type"], best["score"]
    rrf_score = score if reciprocal else 0.0
    return unified(best["id"], text, names, kind, raw, rrf_score, metadata, score, None, tier, sources, facts)


def _said(hit: Hit, normalised: float, weight: float) -> dict[str, Any]:
    return {"rank": hit["rank"], "raw": hit["score"], "normalised": normalised, "weight": weight}


def _ranks_better(hit: Hit, best: Hit) -> bool:
    """By rank; at equal rank one that has a score. What is equal in both stays with the name that comes first."""
    if hit["rank"] != best["rank"]:
        return hit["rank"] < best["rank"]
    return best["score"] is None and hit["score"] is not None


def _passage(best: Hit, found: _Found) -> Hit:
    """The hit whose content is the chunk's own text, else the best one."""
    return next((hit for _, hit, _ in found if hit["type"] in PASSAGES), best)


def checked_weight(name: str, weight: float) -> float:
    """The weight as it is; ``ConfigError`` unless it is a finite number of at least 0."""
    if isinstance(weight, bool) or not isinstance(weight, int | float) or not 0 <= weight < math.inf:
        raise ConfigError(f"{name} is {weight!r}; give a number of at least 0 (0 leaves the source out)")
    return weight


def checked_count(name: str, value: int) -> int:
    """The count as it is; ``ConfigError`` unless it is a whole number of at least 1."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ConfigError(f"{name} is {value!r}; give a whole number of at least 1")
    return value
