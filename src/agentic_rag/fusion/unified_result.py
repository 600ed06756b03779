"""What fusion returns, ``UnifiedResult``, and the sum that every strategy ends in; the readers are re-exported.

Neither Graphiti nor LanceDB is imported; their results are read by their fields.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, make_dataclass
from heapq import nsmallest
from typing import Any, NamedTuple, cast

from agentic_rag.domain import Hit
from agentic_rag.errors import ConfigError, InputError
from agentic_rag.fusion.hits import (
    PASSAGES,
    GraphitiResults,
    LanceDBResults,
    SearchResultsLike,
    join_facts,
    plain,
    read_graphiti,
    read_hits,
    read_lancedb,
)

__all__ = [
    "GraphitiResults",
    "Hit",
    "LanceDBResults",
    "SearchResultsLike",
    "UnifiedResult",
    "plain",
    "read_graphiti",
    "read_hits",
    "read_lancedb",
]


@dataclass(frozen=True, slots=True)
class UnifiedResult:
    """One chunk (or a graph thing without a chunk) with all that every source said about it.

    Order among results is total: ``fused_score`` descending, then ``id`` ascending.
    """

    id: str
    content: str
    source: str
    """Sorted names of the sources that found it, joined by ``+``."""
    type: str
    original_score: float | None
    """Raw score of the source that ranks it best (at equal rank one that has a score, then by name);
    None where that source gave none. Never invented."""
    rrf_score: float = 0.0
    """Σ weight / (k + rank) where the strategy computed it, else 0."""
    metadata: dict[str, Any] = field(default_factory=dict)
    fused_score: float = 0.0
    """What the strategy sorted by; ranks within one list, judges nothing."""
    rerank_score: float | None = None
    tier: int | None = None
    """Cascade only: 1 if the graph found it, 2 if only the vector store did."""
    sources: dict[str, dict[str, Any]] = field(default_factory=dict)
    """By source: ``rank``, ``raw`` score, ``normalised`` score, ``weight``.
    ``fused_score`` is Σ weight · normalised."""
    facts: list[dict[str, Any]] = field(default_factory=list)
    evidence: dict[str, Any] = field(default_factory=dict)
    """What the sources' judgements rest on (see ``Hit``), all in one."""

    def to_dict(self) -> dict[str, Any]:
        """A deep copy of plain JSON values, for graph state; ``from_dict`` reads it back."""
        return {name: plain(getattr(self, name)) for name in _FIELDS}

    def shallow(self) -> dict[str, Any]:
        """``to_dict`` without the deep copy, for plain hits and callers that change nothing. For 150 results the
        copy takes 5 ms."""
        return {name: getattr(self, name) for name in _FIELDS}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> UnifiedResult:
        """The result that ``to_dict`` wrote. Raises ``InputError`` on a missing or an unknown field."""
        unknown = sorted(set(values) - set(_FIELDS))
        missing = [name for name in _FIELDS[:5] if name not in values]
        if unknown or missing:
            raise InputError(
                f"this is no UnifiedResult: missing {missing or 'nothing'}, unknown {unknown or 'nothing'}"
            )
        return cls(**{name: plain(value) for name, value in values.items()})


_FIELDS = tuple(entry.name for entry in fields(UnifiedResult))
_Unfrozen: Any = make_dataclass("_Unfrozen", _FIELDS, slots=True)


def make_result(*values: Any) -> UnifiedResult:
    """``UnifiedResult(*values)``, every field given, four times as fast.

    A frozen dataclass sets each field through ``object.__setattr__``, which took a third of a fusion's
    time. So the same slots are filled unfrozen and then change their class.
    """
    result = _Unfrozen(*values)
    result.__class__ = UnifiedResult
    return cast(UnifiedResult, result)


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


def _unite(finds: list[_Find], score: float, reciprocal: bool, first_tier: str | None) -> UnifiedResult:
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
    text, kind, raw = passage["content"], passage["type"], best["score"]
    rrf_score = score if reciprocal else 0.0
    return make_result(
        best["id"], text, names, kind, raw, rrf_score, metadata, score, None, tier, sources, facts, evidence
    )


def _source_scores(hit: Hit, normalised_score: float, weight: float) -> dict[str, Any]:
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
