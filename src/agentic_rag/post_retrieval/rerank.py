"""Post-retrieval, action rerank: a new score for each memory, and its order."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from agentic_rag.dates.instants import moment_of
from agentic_rag.errors import InputError
from agentic_rag.post_retrieval.config import UNKNOWN_SCORE, RerankStep, WeightedFactor
from agentic_rag.post_retrieval.items import Items, MemoryItem, by_score, kept_best
from agentic_rag.post_retrieval.links import links_of, ties_between
from agentic_rag.post_retrieval.outcome import StepOutcome, StepRequest, joined_reasons
from agentic_rag.post_retrieval.pagerank import personalised_pagerank
from agentic_rag.post_retrieval.tools import PostRetrievalTools
from agentic_rag.rerank.model import relevances


@dataclass(frozen=True, slots=True)
class Rescored:
    """A new score for each memory, in the order the memories have."""

    scores: tuple[float | None, ...]
    reason: str | None = None
    degraded: bool = False
    keeps_order: bool = False
    """Nothing was learnt: scores are the old ones, and the order stays."""


Judge = Callable[[RerankStep, Items, StepRequest, PostRetrievalTools], Rescored | Awaitable[Rescored]]


async def rerank(
    step: RerankStep, items: Items, request: StepRequest, tools: PostRetrievalTools
) -> StepOutcome:
    """Memories by their new score, then id; the score stands in metadata[rerank_score_field] too."""
    if not items:
        return StepOutcome(items)
    given = RERANKS[step.rerank_type](step, items, request, tools)
    judged = given if isinstance(given, Rescored) else await given
    scored = tuple(
        item
        if score is None
        else replace(item, score=score).with_metadata(**{step.rerank_score_field: score})
        for item, score in zip(items, judged.scores, strict=True)
    )
    ranked = scored if judged.keeps_order else tuple(sorted(scored, key=by_score))
    kept = ranked if step.rerank_top_k is None else kept_best(ranked, step.rerank_top_k)
    return StepOutcome(kept, judged.reason, judged.degraded)


def semantic(step: RerankStep, items: Items, request: StepRequest, tools: PostRetrievalTools) -> Rescored:
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
    return Rescored(scores, reason, degraded=lacking > 0)


def cosine(a: tuple[float, ...], b: tuple[float, ...]) -> float:
    """In [-1, 1]; 0 where a vector is all 0."""
    if len(a) != len(b):
        raise InputError(
            f"query_embedding has {len(a)} dimensions and a memory's has {len(b)}; use one model for both"
        )
    left, right = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    norms = float(np.linalg.norm(left)) * float(np.linalg.norm(right))
    return float(np.clip(np.dot(left, right) / norms, -1.0, 1.0)) if norms > 0 else 0.0


def time_weighted(
    step: RerankStep, items: Items, request: StepRequest, tools: PostRetrievalTools
) -> Rescored:
    """``score · exp(-time_decay_rate · age in hours)``; what has no time fades by half.

    Where a score is negative (a cosine), all are raised by as much as brings the lowest to 0: else a
    negative score would gain by age.
    """
    known = ages(items, request, step.time_field)
    if all(hours is None for hours in known.hours):
        return _as_before(items, f"{known.reason}, so the order stays")
    scores = tuple(
        base * _recency(hours, step.time_decay_rate, UNKNOWN_SCORE)
        for base, hours in zip(_raised(items), known.hours, strict=True)
    )
    return Rescored(scores, known.reason, known.degraded)


async def ppr(step: RerankStep, items: Items, request: StepRequest, tools: PostRetrievalTools) -> Rescored:
    """Personalised PageRank over the links between the memories, started at them by their scores.

    The score is the share of visits, in [0, 1]. Unlinked memories keep what starts there.
    """
    service = tools.needed_links()
    places: dict[str, int] = {}
    here = []
    for n, item in enumerate(items):  # a memory without an id has a place of its own, that nothing leads to
        key = item.entry_id or f"\0{n}"
        here.append(places.setdefault(key, len(places)))
    links = await links_of(service, [item.entry_id for item in items], step.link_top_k)
    if step.walk_neighbours:
        for found in sorted({link.entry_id for linked in links.values() for link in linked if link.entry_id}):
            places.setdefault(found, len(places))
    restart = np.zeros(len(places))
    for place, base in zip(here, _raised(items), strict=True):
        restart[place] = max(restart[place], base)
    ties = ties_between(places, links)
    walk = personalised_pagerank(
        ties,
        restart,
        damping_factor=step.damping_factor,
        max_iterations=step.max_iterations,
        convergence_threshold=step.convergence_threshold,
    )
    reason = joined_reasons(
        None if ties else "no two of the memories are linked, so their scores decide",
        None if walk.converged else f"cut off after max_iterations {step.max_iterations}, not converged",
    )
    return Rescored(tuple(float(walk.visits[place]) for place in here), reason, degraded=not walk.converged)


def weighted(step: RerankStep, items: Items, request: StepRequest, tools: PostRetrievalTools) -> Rescored:
    """Weighted mean of the factors, in [0, 1].

    ``score`` and metadata are first brought to [0, 1] within the list (min-max; 1 where all are equal), so
    that an importance of 1 to 10 and a cosine can be compared; ``recency`` is
    ``exp(-time_decay_rate · age in hours)``, in [0, 1] by itself.

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
    return Rescored(scores, reason, degraded=any(degraded for _, _, degraded in factors))


async def cross_encoder(
    step: RerankStep, items: Items, request: StepRequest, tools: PostRetrievalTools
) -> Rescored:
    """Relevance in [0, 1] by a model that reads question and memory together; raises ``ModelError``."""
    texts = [item.text for item in items]
    return Rescored(tuple(await relevances(request.question, texts, tools.needed_reranker())))


RERANKS: Mapping[str, Judge] = {
    "semantic": semantic,
    "time_weighted": time_weighted,
    "ppr": ppr,
    "weighted": weighted,
    "cross_encoder": cross_encoder,
}


def _as_before(items: Items, reason: str) -> Rescored:
    return Rescored(tuple(item.score for item in items), reason, degraded=True, keeps_order=True)


def _raised(items: Items) -> list[float]:
    """Scores, none of them negative, in the same order."""
    lowest = min(0.0, *(item.value for item in items)) if items else 0.0
    return [item.value - lowest for item in items]


def _recency(hours: float | None, rate: float, default: float) -> float:
    return default if hours is None else math.exp(-rate * hours)


def _factor(
    factor: WeightedFactor, step: RerankStep, items: Items, request: StepRequest
) -> tuple[list[float], str | None, bool]:
    """Its value of each memory in [0, 1], what is worth knowing, and whether no memory has it."""
    if factor.field == "recency":
        known = ages(items, request, step.time_field)
        return (
            [_recency(hours, step.time_decay_rate, factor.default) for hours in known.hours],
            known.reason,
            known.degraded,
        )
    raw = [item.score if factor.field == "score" else _numeric(item, factor.field) for item in items]
    missing = sum(value is None for value in raw)
    reason = f"{missing} of {len(items)} memories have no number {factor.field!r}" if missing else None
    return _min_max(raw, factor.default), reason, missing == len(items)


def _numeric(item: MemoryItem, name: str) -> float | None:
    value = item.get(name)
    usable = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    return float(value) if usable else None


def _min_max(values: list[float | None], default: float) -> list[float]:
    known = [value for value in values if value is not None]
    low, high = min(known, default=0.0), max(known, default=0.0)
    # Halves, because the distance of two large numbers may be none.
    spread = high / 2 - low / 2
    return [
        default if value is None else (value / 2 - low / 2) / spread if spread > 0 else 1.0
        for value in values
    ]


@dataclass(frozen=True, slots=True)
class Ages:
    """Of memories, in their order."""

    hours: tuple[float | None, ...]
    """At least 0: what is later than the question has no age. None where no time is known."""
    reason: str | None
    """From when ages count, where the request does not say it, and how many have none."""
    degraded: bool
    """No memory has an age, or the request's time cannot be read."""


def ages(items: Items, request: StepRequest, time_field: str) -> Ages:
    """Hours from each memory's time to the request's, or to the newest memory's where it has none."""
    times = [item.get_timestamp(time_field) for item in items]
    known = [moment for moment in times if moment is not None]
    if not known:
        return Ages((None,) * len(items), f"no memory has an ISO 8601 time in metadata {time_field!r}", True)
    given = moment_of(request.reference_time)
    now = max(known) if given is None else given
    missing = len(times) - len(known)
    reason = joined_reasons(
        None if given is not None else _unread(request.reference_time, now.isoformat()),
        f"{missing} of {len(items)} memories have no ISO 8601 time in metadata {time_field!r}"
        if missing
        else None,
    )
    hours = tuple(
        None if moment is None else max(0.0, (now - moment).total_seconds() / 3600) for moment in times
    )
    return Ages(hours, reason, degraded=given is None and request.reference_time is not None)


def _unread(given: str | None, newest: str) -> str:
    fault = "there is no reference_time" if given is None else f"reference_time {given!r:.40} is not ISO 8601"
    return f"{fault}, so ages count from the newest memory's ({newest})"
