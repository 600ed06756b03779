"""The sum that every strategy ends in: hits of several sources become one list of results."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from heapq import nsmallest
from typing import NamedTuple

from agentic_rag.domain import Hit
from agentic_rag.domain.results import Result, SourceScores
from agentic_rag.errors import ConfigError
from agentic_rag.fusion.hits import PASSAGES, join_facts


class WeighedHits(NamedTuple):
    """One source's hits, one per id, with what each is worth before its weight."""

    name: str
    hits: Sequence[Hit]
    weight: float
    normalised_scores: Sequence[float]


_Find = tuple[WeighedHits, Hit, float]
"""A leg that found an id, its hit for it, and the normalised score."""


def merge(
    legs: Sequence[WeighedHits],
    *,
    reciprocal: bool = False,
    limit: int | None = None,
    first_tier: str | None = None,
) -> list[Result]:
    """Results by Σ weight · normalised, descending, then id; a leg of weight 0 contributes nothing at all.

    Legs are added in name order, so the sums do not depend on the order in which they are given.

    Args:
        legs: one per source.
        reciprocal: the sum is an RRF score.
        limit: keep this many; None keeps all.
        first_tier: the leg whose finds are of tier 1, all others being of tier 2; None: no tiers.
    """
    used = sorted([leg for leg in legs if leg.weight != 0], key=lambda leg: leg.name)
    ids = [[hit["id"] for hit in leg.hits] for leg in used]
    worth = [[leg.weight * value for value in leg.normalised_scores] for leg in used]
    best = sum_scores(zip(ids, worth, strict=True), limit)
    places = [dict(zip(own, range(len(own)), strict=True)) for own in ids]
    held = list(zip(used, places, strict=True))
    results = []
    for identity, score in best:
        finds = [
            (leg, leg.hits[place], leg.normalised_scores[place])
            for leg, of_leg in held
            if (place := of_leg.get(identity)) is not None
        ]
        results.append(_unite(finds, score, reciprocal, first_tier))
    return results


def sum_scores(
    lists: Iterable[tuple[Collection[str], Sequence[float]]], limit: int | None = None
) -> list[tuple[str, float]]:
    """Ids with the sum of what each list gives them: by sum descending, then id; the first ``limit`` of them.

    Args:
        lists: ids, each once, and what each is given; both of one length. Added in the order given.
        limit: None keeps all.
    """
    scores: dict[str, float] = {}
    for ids, values in lists:
        given = zip(ids, values, strict=True)
        if not scores:  # the first list needs no sums
            scores.update(given)
        for identity, value in given:
            scores[identity] = scores.get(identity, 0.0) + value
    if limit is None:
        return sorted(scores.items(), key=_place)
    return nsmallest(limit, scores.items(), key=_place)


def _place(id_and_score: tuple[str, float]) -> tuple[float, str]:
    return -id_and_score[1], id_and_score[0]


def _unite(finds: list[_Find], score: float, reciprocal: bool, first_tier: str | None) -> Result:
    """What the legs found under one identity, in name order, as one result."""
    leg, best, value = finds[0]
    names, passage = leg.name, best
    metadata, evidence, facts = {**best["metadata"]}, {**best["evidence"]}, [*best["facts"]]
    sources = {names: _source_scores(best, value, leg.weight)}
    tier = None if first_tier is None else 1 if any(leg.name == first_tier for leg, _, _ in finds) else 2
    if len(finds) > 1:
        for leg, hit, value in finds[1:]:
            names = f"{names}+{leg.name}"
            sources[leg.name] = _source_scores(hit, value, leg.weight)
            metadata.update(hit["metadata"])
            evidence.update(hit["evidence"])
            if hit["facts"]:
                facts = join_facts(facts, hit["facts"])
            if _ranks_better(hit, best):
                best = hit
        # The chunk's own text, where one of them has it.
        passage = next(
            (hit for hit in (best, *(hit for _, hit, _ in finds)) if hit["type"] in PASSAGES), best
        )
        metadata.update(best["metadata"])
    return {
        "id": best["id"],
        "content": passage["content"],
        "source": names,
        "type": passage["type"],
        "original_score": best["score"],
        "rrf_score": score if reciprocal else 0.0,
        "metadata": metadata,
        "fused_score": score,
        "rerank_score": None,
        "tier": tier,
        "sources": sources,
        "facts": facts,
        "evidence": evidence,
    }


def _source_scores(hit: Hit, normalised_score: float, weight: float) -> SourceScores:
    return {"rank": hit["rank"], "raw": hit["score"], "normalised": normalised_score, "weight": weight}


def _ranks_better(hit: Hit, best: Hit) -> bool:
    """By rank; at equal rank one that has a score. What is equal in both stays with the name that comes first."""
    if hit["rank"] != best["rank"]:
        return hit["rank"] < best["rank"]
    return best["score"] is None and hit["score"] is not None


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
