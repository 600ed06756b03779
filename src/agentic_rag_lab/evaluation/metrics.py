"""Evaluation, the measures: quality of one ranked list of document ids for one judged query.

Every list is best first and without repeats; relevance grades are whole numbers, relevant from 1.
The definitions are trec_eval's. A query without results counts 0 in every mean.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from agentic_rag.errors import InputError
from agentic_rag.fusion.unified_result import UnifiedResult

Judgements = Mapping[str, int]
"""Document id to relevance grade."""


def reciprocal_rank(ranking: Sequence[str], relevant: Judgements, k: int = 10) -> float:
    """``1 / rank`` of the first relevant document in the first k, rank from 1; 0 if there is none."""
    for rank, document in enumerate(ranking[:k], start=1):
        if relevant.get(document, 0) > 0:
            return 1.0 / rank
    return 0.0


def recall(ranking: Sequence[str], relevant: Judgements, k: int = 10) -> float:
    """Share of all relevant documents that are in the first k."""
    gold = _gold(relevant)
    return sum(document in gold for document in ranking[:k]) / len(gold)


def ndcg(ranking: Sequence[str], relevant: Judgements, k: int = 10) -> float:
    """``DCG / ideal DCG`` with ``DCG = Σ_{rank ≤ k} grade / log2(rank + 1)``: linear gain, rank from 1.

    Source: Järvelin, Kekäläinen, Cumulated Gain-Based Evaluation of IR Techniques, TOIS 2002, as
    trec_eval's ``ndcg_cut`` computes it.
    """
    ideal = _dcg(sorted(_gold(relevant).values(), reverse=True)[:k])
    return _dcg([max(relevant.get(document, 0), 0) for document in ranking[:k]]) / ideal


def success(ranking: Sequence[str], relevant: Judgements, k: int = 1) -> float:
    """1 if a relevant document is in the first k, else 0."""
    return float(any(relevant.get(document, 0) > 0 for document in ranking[:k]))


def all_gold(ranking: Sequence[str], relevant: Judgements, k: int = 10) -> float:
    """1 if every relevant document is in the first k, else 0; for multi-hop questions."""
    return float(_gold(relevant).keys() <= set(ranking[:k]))


MEASURES: Mapping[str, Callable[[Sequence[str], Judgements, int], float]] = {
    "mrr": reciprocal_rank,
    "recall": recall,
    "ndcg": ndcg,
    "success": success,
    "all_gold": all_gold,
}
DEFAULT_MEASURES = ("mrr@10", "recall@10", "ndcg@10", "success@1", "all_gold@10")


def measure(name: str, ranking: Sequence[str], relevant: Judgements) -> float:
    """The measure called ``name@k``, for example ``ndcg@10``.

    Raises:
        InputError: an unknown measure, k below 1, a document twice in the list, or nothing relevant.

    >>> measure("mrr@10", ["a", "b"], {"b": 1})
    0.5
    """
    function, k = _parse(name)
    if len(set(ranking)) < len(ranking):
        raise InputError(
            "a document stands twice in one ranked list; take each at its best place (document_ranking)"
        )
    _gold(relevant)
    return function(ranking, relevant, k)


def document_ranking(results: Iterable[UnifiedResult | Mapping[str, Any]]) -> list[str]:
    """Document ids in the order of each document's best chunk.

    The document is the result's metadata ``document_id``; a result without one (a graph item without a chunk)
    keeps its own id and so takes up a rank.
    """
    ranking: dict[str, None] = {}
    for result in results:
        if isinstance(result, UnifiedResult):
            identity, metadata = result.id, result.metadata
        else:
            identity, metadata = result["id"], result.get("metadata") or {}
        ranking.setdefault(str(metadata.get("document_id", identity)))
    return list(ranking)


def _gold(relevant: Judgements) -> dict[str, int]:
    gold = {document: grade for document, grade in relevant.items() if grade > 0}
    if not gold:
        raise InputError("a query without a relevant document has no ranking measure; leave it out")
    return gold


def _dcg(gains: Sequence[int]) -> float:
    return math.fsum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, start=1))


def _parse(name: str) -> tuple[Callable[[Sequence[str], Judgements, int], float], int]:
    base, _, cutoff = name.partition("@")
    if base not in MEASURES or not cutoff.isascii() or not cutoff.isdigit() or int(cutoff) < 1:
        raise InputError(f"unknown measure {name!r}; use NAME@K with NAME one of: {', '.join(MEASURES)}")
    return MEASURES[base], int(cutoff)
