"""MRR@k of a fusion function."""

from typing import Any

import pytest

from agentic_rag.errors import InputError
from agentic_rag.fusion import calculate_mrr_at_k, evaluate_fusion

LISTS = {"one": ["a", "b", "c"], "two": ["x", "y"], "three": []}
QUERIES: list[dict[str, Any]] = [
    {"text": "one", "relevant_ids": {"c", "b"}},
    {"text": "two", "relevant_ids": ["z"]},
    {"text": "three", "relevant_ids": {"a"}},
]


def test_reciprocal_rank_of_the_first_relevant():
    assert calculate_mrr_at_k(["a", "b", "c"], {"c", "b"}) == 1 / 2
    assert calculate_mrr_at_k(["a", "b", "c"], {"c"}, k=2) == 0
    assert calculate_mrr_at_k([], {"c"}) == 0


def test_a_query_without_results_counts_zero():
    assert evaluate_fusion(QUERIES, lambda query: LISTS[query]) == {
        "mrr@k": (1 / 2 + 0 + 0) / 3,
        "hit_rate@k": 1 / 3,
        "coverage": 2 / 3,
        "num_queries": 3,
        "k": 10,
    }


async def test_an_async_function_is_awaited():
    async def search(query: str) -> list[str]:
        return LISTS[query]

    assert await evaluate_fusion(QUERIES, search, k=1) == evaluate_fusion(
        QUERIES, lambda query: LISTS[query], k=1
    )


@pytest.mark.parametrize(
    "queries",
    [
        [],
        [{"text": "one"}],
        [{"text": "one", "relevant_ids": set()}],
        [{"relevant_ids": {"a"}}],
        [{"text": "one", "relevant_ids": "a"}],
    ],
)
def test_queries_that_cannot_be_scored_are_refused(queries: list[dict[str, Any]]):
    with pytest.raises(InputError):
        evaluate_fusion(queries, lambda query: [])


@pytest.mark.parametrize("k", [0, -1, True, 1.5])
def test_k_is_a_whole_number_from_one(k: Any):
    with pytest.raises(InputError):
        evaluate_fusion(QUERIES, lambda query: [], k=k)
    with pytest.raises(InputError):
        calculate_mrr_at_k([], {"a"}, k=k)
