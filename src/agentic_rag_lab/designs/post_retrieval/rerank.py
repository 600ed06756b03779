"""Post-retrieval, action rerank: computes new scores, and orders the memories by them."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from agentic_rag.dates.instants import moment_of
from agentic_rag.errors import InputError
from agentic_rag.rerank import relevances
from agentic_rag_lab.designs.post_retrieval.config import UNKNOWN_SCORE, RerankStep, WeightedFactor
from agentic_rag_lab.designs.post_retrieval.items import (
    Items,
    MemoryItem,
    StepOutcome,
    StepRequest,
    by_score,
    joined_reasons,
    kept_best,
)
from agentic_rag_lab.designs.post_retrieval.merge import links_of, strength


@dataclass(frozen=True, slots=True)
class ItemValues:
    """A value per memory, in the memories' order; None if unknown."""

    values: tuple[float | None, ...]
    reason: str | None = None
    """Information for the report; always given if ``is_degraded``."""
    is_degraded: bool = False
    keeps_order: bool = False
    """Nothing could be computed: scores and order stay."""


Judge = Callable[[RerankStep, Items, StepRequest], Awaitable[ItemValues]]


async def rerank(step: RerankStep, items: Items, request: StepRequest) -> StepOutcome:
    """Memories by their new score, then id; the score is also in metadata[rerank_score_field]."""
    if not items:
        return StepOutcome(items)
    judged = await RERANKS[step.rerank_type](step, items, request)
    scored = tuple(
        item
        if score is None
        else replace(item, score=score).with_metadata(**{step.rerank_score_field: score})
        for item, score in zip(items, judged.values, strict=True)
    )
    ranked = scored if judged.keeps_order else tuple(sorted(scored, key=by_score))
    kept = ranked if step.rerank_top_k is None else kept_best(ranked, step.rerank_top_k)
    return StepOutcome(kept, judged.reason, judged.is_degraded)


async def semantic(step: RerankStep, items: Items, request: StepRequest) -> ItemValues:
    """Cosine of the question's and the memory's vector, in [-1, 1]; a memory without one keeps its score.

    Raises:
        InputError: the vectors differ in length.
    """
    asked = request.query_embedding
    lacking = sum(item.embedding is None for item in items)
    if asked is None:
        return _as_before(
            items,
            f"no query_embedding, so the order of {len(items)} memories stays; set pre_retrieval to embedding",
        )
    if lacking == len(items):
        return _as_before(items, f"none of {lacking} memories has an embedding, so the order stays")
    scores = tuple(item.value if item.embedding is None else cosine(asked, item.embedding) for item in items)
    reason = f"{lacking} of {len(items)} memories have no embedding and keep their score" if lacking else None
    return ItemValues(scores, reason, is_degraded=lacking > 0)


def cosine(a: tuple[float, ...], b: tuple[float, ...]) -> float:
    """In [-1, 1]; 0 where a vector is all 0."""
    if len(a) != len(b):
        raise InputError(
            f"query_embedding has {len(a)} dimensions and a memory's has {len(b)}; use one model for both"
        )
    left, right = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    norms = float(np.linalg.norm(left)) * float(np.linalg.norm(right))
    return float(np.clip(np.dot(left, right) / norms, -1.0, 1.0)) if norms > 0 else 0.0


async def time_weighted(step: RerankStep, items: Items, request: StepRequest) -> ItemValues:
    """``score · exp(-time_decay_rate · age in hours)``; without a time the factor is one half.

    If a score is negative (a cosine), all are raised so that the lowest is 0: otherwise a negative score would
    rise with age.
    """
    known = ages(items, request, step.time_field)
    if all(hours is None for hours in known.values):
        return _as_before(items, f"{known.reason}, so the order stays")
    scores = tuple(
        base * _recency(hours, step.time_decay_rate, UNKNOWN_SCORE)
        for base, hours in zip(_shift_scores(items), known.values, strict=True)
    )
    return ItemValues(scores, known.reason, known.is_degraded)


async def ppr(step: RerankStep, items: Items, request: StepRequest) -> ItemValues:
    """Personalised PageRank over the links between the memories, with restarts in proportion to their scores.

    The score is the share of visits, in [0, 1]. A memory without links keeps its restart share.
    """
    service = request.tools.needed_links()
    places: dict[str, int] = {}
    here = []
    for n, item in enumerate(items):  # a memory without an id gets a place without links
        key = item.entry_id or f"\0{n}"
        here.append(places.setdefault(key, len(places)))
    links = await links_of(service, [item.entry_id for item in items], step.link_top_k)
    if step.walk_neighbours:
        for found in sorted({link.entry_id for linked in links.values() for link in linked if link.entry_id}):
            places.setdefault(found, len(places))
    restart = np.zeros(len(places))
    for place, base in zip(here, _shift_scores(items), strict=True):
        restart[place] = max(restart[place], base)
    ties = ties_between(places, links)
    # Off the event loop: 1,000 steps over the links of 1,000 memories take seconds.
    visits, converged = await asyncio.to_thread(
        personalised_pagerank,
        ties,
        restart,
        damping_factor=step.damping_factor,
        max_iterations=step.max_iterations,
        convergence_threshold=step.convergence_threshold,
    )
    reason = joined_reasons(
        None if ties else "no two of the memories are linked, so their scores decide",
        None if converged else f"cut off after max_iterations {step.max_iterations}, not converged",
    )
    return ItemValues(tuple(float(visits[place]) for place in here), reason, is_degraded=not converged)


async def weigh_items(step: RerankStep, items: Items, request: StepRequest) -> ItemValues:
    """Weighted mean of the factors, in [0, 1].

    ``score`` and metadata are first scaled to [0, 1] within the list (min-max; 1 if all are equal), so
    that an importance of 1 to 10 and a cosine are comparable; ``recency`` is
    ``exp(-time_decay_rate · age in hours)``, which is in [0, 1] already.

    Source: Park et al., Generative Agents, UIST 2023, section 4.1 (relevance, recency, importance).
    """
    factors = [_factor(factor, step, items, request) for factor in step.weighted_factors]
    total = math.fsum(factor.weight for factor in step.weighted_factors)
    scores = tuple(
        math.fsum(
            factor.weight * values[n]
            for factor, (values, _, _) in zip(step.weighted_factors, factors, strict=True)
        )
        / total
        for n in range(len(items))
    )
    reason = joined_reasons(*dict.fromkeys(reason for _, reason, _ in factors if reason))
    return ItemValues(scores, reason, is_degraded=any(degraded for _, _, degraded in factors))


async def cross_encoder(step: RerankStep, items: Items, request: StepRequest) -> ItemValues:
    """Relevance in [0, 1] by a model that reads question and memory together; raises ``ModelError``."""
    texts = [item.text for item in items]
    return ItemValues(tuple(await relevances(request.question, texts, request.tools.needed_reranker())))


RERANKS: Mapping[str, Judge] = {
    "semantic": semantic,
    "time_weighted": time_weighted,
    "ppr": ppr,
    "weighted": weigh_items,
    "cross_encoder": cross_encoder,
}


def _as_before(items: Items, reason: str) -> ItemValues:
    return ItemValues(tuple(item.score for item in items), reason, is_degraded=True, keeps_order=True)


def _shift_scores(items: Items) -> list[float]:
    """Scores shifted to be non-negative, in the same order."""
    lowest = min(0.0, *(item.value for item in items)) if items else 0.0
    return [item.value - lowest for item in items]


def _recency(hours: float | None, rate: float, default: float) -> float:
    return default if hours is None else math.exp(-rate * hours)


def _factor(
    factor: WeightedFactor, step: RerankStep, items: Items, request: StepRequest
) -> tuple[list[float], str | None, bool]:
    """A factor's value for each memory in [0, 1], information for the report, and whether no memory has the value."""
    if factor.field == "recency":
        known = ages(items, request, step.time_field)
        values = [_recency(hours, step.time_decay_rate, factor.default) for hours in known.values]
        return values, known.reason, known.is_degraded
    raw = [item.score if factor.field == "score" else _numeric(item, factor.field) for item in items]
    missing = sum(value is None for value in raw)
    reason = f"{missing} of {len(items)} memories have no number {factor.field!r}" if missing else None
    return _min_max(raw, factor.default), reason, missing == len(items)


def _numeric(item: MemoryItem, name: str) -> float | None:
    value = item.get(name)
    usable = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    return float(value) if usable else None


def _min_max(values: Sequence[float | None], default: float) -> list[float]:
    known = [value for value in values if value is not None]
    low, high = min(known, default=0.0), max(known, default=0.0)
    # Halved first, because the difference of two large numbers may overflow.
    spread = high / 2 - low / 2
    return [
        default if value is None else (value / 2 - low / 2) / spread if spread > 0 else 1.0
        for value in values
    ]


def ages(items: Items, request: StepRequest, time_field: str) -> ItemValues:
    """Hours, at least 0, from each memory's time to the request's time, or to the newest memory's if that is missing.

    The reason names the reference time if the request has none, and the number of memories without a time.
    Degraded if no memory has an age, or the request's time is invalid.
    """
    times = [item.get_timestamp(time_field) for item in items]
    known = [moment for moment in times if moment is not None]
    if not known:
        return ItemValues(
            (None,) * len(items), f"no memory has an ISO 8601 time in metadata {time_field!r}", True
        )
    given = moment_of(request.reference_time)
    now = max(known) if given is None else given
    missing = len(times) - len(known)
    reason = joined_reasons(
        None if given is not None else _time_problem(request.reference_time, now.isoformat()),
        f"{missing} of {len(items)} memories have no ISO 8601 time in metadata {time_field!r}"
        if missing
        else None,
    )
    hours = tuple(
        None if moment is None else max(0.0, (now - moment).total_seconds() / 3600) for moment in times
    )
    return ItemValues(hours, reason, is_degraded=given is None and request.reference_time is not None)


def _time_problem(time_text: str | None, newest: str) -> str:
    fault = (
        "there is no reference_time"
        if time_text is None
        else f"reference_time {time_text!r:.40} is not ISO 8601"
    )
    return f"{fault}, so ages count from the newest memory's ({newest})"


Floats = NDArray[np.float64]


def ties_between(places: Mapping[str, int], links: Mapping[str, Items]) -> dict[tuple[int, int], float]:
    """Weight of each pair of places, the larger of its two directions; links to other memories are left out."""
    ties: dict[tuple[int, int], float] = {}
    for entry_id, linked in links.items():
        for link in linked:
            there = places.get(link.entry_id)
            here = places[entry_id]
            if there is None or there == here or not strength(link) > 0:
                continue
            pair = (min(here, there), max(here, there))
            ties[pair] = max(ties.get(pair, -math.inf), strength(link))
    return ties


def personalised_pagerank(
    ties: Mapping[tuple[int, int], float],
    restart: Floats,
    *,
    damping_factor: float,
    max_iterations: int,
    convergence_threshold: float,
) -> tuple[Floats, bool]:
    """The share of visits at each place of a random walk with restarts (sum 1), and whether it converged.

    The stationary visits ``r = d · (Pᵀ r + m · s) + (1 - d) · s`` by power iteration from ``s``.

    ``P`` follows ties in proportion to their weights, ``s`` is the restart distribution, ``m`` the share of visits at
    places without a tie.

    Args:
        ties: weight > 0 of each pair of places; a pair stands for both directions.
        restart: the restart distribution, shape (places,), at least 0; all 0 means uniform.
        damping_factor: d, in [0, 1).
        max_iterations: maximum number of steps.
        convergence_threshold: the iteration ends when two steps differ by less than this in sum.

    Source: Page, Brin, Motwani, Winograd, The PageRank Citation Ranking, 1999, section 6; Haveliwala,
    Topic-Sensitive PageRank, WWW 2002.
    """
    places = len(restart)
    if places == 0:
        return np.zeros(0), True
    start = restart / restart.sum() if restart.sum() > 0 else np.full(places, 1.0 / places)
    pairs = np.array(sorted(ties), dtype=np.intp).reshape(-1, 2)
    weights = np.array([ties[pair] for pair in sorted(ties)], dtype=np.float64)
    origins = np.concatenate([pairs[:, 0], pairs[:, 1]])
    targets = np.concatenate([pairs[:, 1], pairs[:, 0]])
    both = np.concatenate([weights, weights])
    leaving = np.bincount(origins, weights=both, minlength=places)
    shares = both / leaving[origins]
    lonely = leaving == 0
    visits = start
    for _ in range(max_iterations):
        moved = np.bincount(targets, weights=visits[origins] * shares, minlength=places)
        after = damping_factor * (moved + visits[lonely].sum() * start) + (1 - damping_factor) * start
        change = float(np.abs(after - visits).sum())
        visits = after
        if change < convergence_threshold:
            return visits, True
    return visits, False
