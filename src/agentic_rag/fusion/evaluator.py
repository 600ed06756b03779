"""Mean reciprocal rank of a fusion function over labelled queries."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Collection, Coroutine, Mapping, Sequence
from typing import Any, overload

from agentic_rag.errors import InputError
from agentic_rag.fusion.unified_result import UnifiedResult

RankedResults = Sequence[UnifiedResult | Mapping[str, Any] | str]
"""Results best first: ``UnifiedResult``, its dict, or bare ids."""


def calculate_mrr_at_k(results: RankedResults, relevant_ids: Collection[str], k: int = 10) -> float:
    """``1 / rank`` of the first relevant result among the first k, rank from 1; 0 if there is none.

    Raises:
        InputError: k below 1, or ``relevant_ids`` given as one string.

    >>> calculate_mrr_at_k(["a", "b", "c"], {"b", "c"})
    0.5
    """
    relevant = _relevant(relevant_ids)
    _check_k(k)
    for rank, result in enumerate(results[:k], start=1):
        if _id(result) in relevant:
            return 1.0 / rank
    return 0.0


@overload
def evaluate_fusion(
    test_queries: Sequence[Mapping[str, Any]],
    fusion_func: Callable[[str], Awaitable[RankedResults]],
    k: int = 10,
) -> Coroutine[Any, Any, dict[str, float]]: ...


@overload
def evaluate_fusion(
    test_queries: Sequence[Mapping[str, Any]], fusion_func: Callable[[str], RankedResults], k: int = 10
) -> dict[str, float]: ...


def evaluate_fusion(
    test_queries: Sequence[Mapping[str, Any]],
    fusion_func: Callable[[str], RankedResults] | Callable[[str], Awaitable[RankedResults]],
    k: int = 10,
) -> dict[str, float] | Coroutine[Any, Any, dict[str, float]]:
    """Mean reciprocal rank at k of ``fusion_func`` over labelled queries.

    Args:
        test_queries: ``{"text": …, "relevant_ids": …}`` each; ``relevant_ids`` must not be empty, for a
            query without an answer can only lower the mean.
        fusion_func: from query text to results, best first. If it is async, so is this: await it.
        k: at least 1.

    Returns:
        ``mrr@k`` (a query without results counts 0), ``hit_rate@k`` (share of queries with a relevant
        result in the first k), ``coverage`` (share with any result), ``num_queries``, ``k``.

    Raises:
        InputError: no queries, a query without text or relevant ids, k below 1.

    >>> evaluate_fusion([{"text": "tea", "relevant_ids": {"b"}}], lambda query: ["a", "b"])["mrr@k"]
    0.5
    """
    _check_k(k)
    queries = _queries(test_queries)
    first = fusion_func(queries[0][0])
    if inspect.isawaitable(first):
        return _evaluate_async(first, queries, fusion_func, k)  # type: ignore[arg-type]
    lists: list[Any] = [first, *(fusion_func(text) for text, _ in queries[1:])]
    return _summary(lists, queries, k)


async def _evaluate_async(
    first: Awaitable[RankedResults],
    queries: Sequence[tuple[str, frozenset[str]]],
    fusion_func: Callable[[str], Awaitable[RankedResults]],
    k: int,
) -> dict[str, float]:
    """One query after the other: a benchmark that floods its subject measures the flood."""
    lists = [await first]
    for text, _ in queries[1:]:
        lists.append(await fusion_func(text))
    return _summary(lists, queries, k)


def _summary(
    lists: Sequence[RankedResults], queries: Sequence[tuple[str, frozenset[str]]], k: int
) -> dict[str, float]:
    count = len(queries)
    values = [
        calculate_mrr_at_k(results, relevant, k)
        for results, (_, relevant) in zip(lists, queries, strict=True)
    ]
    return {
        "mrr@k": sum(values) / count,
        "hit_rate@k": sum(value > 0 for value in values) / count,
        "coverage": sum(len(results) > 0 for results in lists) / count,
        "num_queries": count,
        "k": k,
    }


def _queries(test_queries: Sequence[Mapping[str, Any]]) -> list[tuple[str, frozenset[str]]]:
    if not test_queries:
        raise InputError("there are no test queries, so there is no mean; give at least one")
    queries = []
    for number, query in enumerate(test_queries, start=1):
        text, relevant = query.get("text"), query.get("relevant_ids")
        if not isinstance(text, str) or not relevant:
            raise InputError(f"test query {number} needs text and relevant_ids, not {dict(query)!r:.120}")
        queries.append((text, _relevant(relevant)))
    return queries


def _relevant(ids: Collection[str]) -> frozenset[str]:
    if isinstance(ids, str):
        raise InputError(f"relevant_ids is the string {ids!r}; give a set of ids")
    return frozenset(ids)


def _check_k(k: int) -> None:
    if isinstance(k, bool) or not isinstance(k, int) or k < 1:
        raise InputError(f"k is {k!r}; give a whole number of at least 1")


def _id(result: UnifiedResult | Mapping[str, Any] | str) -> str:
    if isinstance(result, UnifiedResult):
        return result.id
    return result if isinstance(result, str) else str(result["id"])
