"""Fusion, second step: add up what the sources give each identity; every strategy ends here."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from agentic_rag.domain import Hit
from agentic_rag.errors import ConfigError
from agentic_rag.fusion.hits import PASSAGES, join_facts
from agentic_rag.fusion.unified_result import UnifiedResult


class Leg(NamedTuple):
    """One source's hits, one per id, with what each is worth before its weight."""

    name: str
    hits: Sequence[Hit]
    weight: float
    normalised: Sequence[float]


_Found = list[tuple[Leg, Hit, float]]


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
    scores: dict[str, float] = {}
    found: dict[str, _Found] = {}
    for leg in sorted(legs, key=lambda leg: leg.name):
        weight = leg.weight
        if weight == 0:
            continue
        for hit, value in zip(leg.hits, leg.normalised, strict=True):
            identity = hit["id"]
            if identity in scores:
                scores[identity] += weight * value
                found[identity].append((leg, hit, value))
            else:
                scores[identity] = weight * value
                found[identity] = [(leg, hit, value)]
    order = sorted([(-score, identity) for identity, score in scores.items()])
    results = []
    for score, identity in order[:limit]:
        finds = found[identity]
        tier = None if first_tier is None else 1 if any(leg.name == first_tier for leg, _, _ in finds) else 2
        results.append(_unite(finds, -score, reciprocal, tier))
    return results


def _unite(found: _Found, score: float, reciprocal: bool, tier: int | None) -> UnifiedResult:
    names, passage, best = found[0][0].name, found[0][1], found[0][1]
    metadata, facts = dict(best["metadata"]), list(best["facts"])
    if len(found) > 1:
        names = "+".join([leg.name for leg, _, _ in found])
        best = min(found, key=_by_rank)[1]
        passage = best if best["type"] in PASSAGES else _passage(best, found)
        for _, hit, _ in found[1:]:
            metadata.update(hit["metadata"])
            facts = join_facts(facts, hit["facts"])
        metadata.update(best["metadata"])
    sources = {
        leg.name: {"rank": hit["rank"], "raw": hit["score"], "normalised": value, "weight": leg.weight}
        for leg, hit, value in found
    }
    rrf_score = score if reciprocal else 0.0
    text, kind, raw = passage["content"], passage["type"], best["score"]
    return UnifiedResult(
        best["id"], text, names, kind, raw, rrf_score, metadata, score, None, tier, sources, facts
    )


def _by_rank(entry: tuple[Leg, Hit, float]) -> tuple[int, bool, str]:
    leg, hit, _ = entry
    return hit["rank"], hit["score"] is None, leg.name


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
