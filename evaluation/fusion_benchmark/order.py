"""Agreement of a peer's order with ours, except for ties."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

from fusion_benchmark.lists import Lists
from fusion_benchmark.systems import Scored


def agreement(theirs: Scored, ours: Mapping[str, float], precision: float = 1e-12) -> float:
    """Share of neighbours in their order that our scores do not contradict; 1 is the same order.

    Hits whose scores differ by less than ``precision``, relatively, are tied, and any order of them is
    right. 0 where the two do not hold the same ids, each once.
    """
    ids = [identity for identity, _ in theirs]
    if len(set(ids)) < len(ids) or set(ids) != set(ours):
        return 0.0
    pairs = list(pairwise(ids))
    kept = sum(ours[first] >= ours[second] * (1 - precision) for first, second in pairs)
    return kept / len(pairs) if pairs else 1.0


def deviation(theirs: Scored, ours: Mapping[str, float], lists: Lists, weights: tuple[float, float]) -> float:
    """The largest difference between our weighted scores and ranx's, converted to our scale.

    ranx maps a list's scores to [0, 1], ours maps them to [1/n, 1], so that the last hit counts more than
    an absent one: ``ours = Σ w (1/n + (1 - 1/n) · theirs)`` over the lists that hold the hit.
    """
    floor = 1.0 / len(lists.graph)
    held = dict.fromkeys(ours, 0.0)
    for side, weight in zip(lists, weights, strict=True):
        for hit in side:
            held[hit["id"]] += weight
    return max(
        abs(ours[identity] - floor * held[identity] - (1 - floor) * score) for identity, score in theirs
    )
