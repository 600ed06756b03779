"""``check_quality``: the grade, the decision, and the reasons for both."""

from __future__ import annotations

import time
from typing import Any

import pytest

from agentic_rag.nodes.check_quality import check_quality
from agentic_rag.settings.parameters import (
    AnswerParameters,
    Parameters,
    RetrievalParameters,
)
from agentic_rag.testing import prepared_state

PARAMETERS = Parameters(
    retrieval=RetrievalParameters(timeout_seconds=8),
    answer=AnswerParameters(abstain_below=0.4),
)


def result(score: float | None, **raws: float | None) -> dict[str, Any]:
    return {
        "rerank_score": score,
        "fused_score": 0.033,
        "sources": {name: {"raw": raw} for name, raw in raws.items()},
    }


async def checked(*scores: float, parameters: Parameters = PARAMETERS, **keys: Any) -> dict[str, Any]:
    found = {"reranked_results": [result(score) for score in scores], **keys}
    written = await check_quality({**prepared_state(parameters, query="tea?"), **found})  # type: ignore[typeddict-item]
    assert set(written) == {"quality", "units"}
    return dict(written["quality"])


@pytest.mark.parametrize(
    ("score", "grade", "decision"),
    [
        (0.9, "strong", "answer"),
        (0.5, "strong", "answer"),
        (0.49, "weak", "rewrite"),
        (0.4, "weak", "rewrite"),
        (0.39, "none", "abstain"),
        (0.0, "none", "abstain"),
    ],
)
async def test_the_grade_reads_the_best_relevance(score: float, grade: str, decision: str):
    quality = await checked(0.0, score, 0.0)
    assert (quality["grade"], quality["decision"], quality["score"]) == (grade, decision, score)


async def test_expansion_takes_no_words_from_what_is_irrelevant_and_a_chat_model_may_try():
    assert (await checked(0.1))["reasons"][
        -1
    ] == "stopped: there is no relevant result to take other words from"
    by_chat = PARAMETERS.override({"rewrite": {"method": "chat"}})
    assert (await checked(0.1, parameters=by_chat))["decision"] == "rewrite"


async def test_expansion_adds_nothing_to_as_many_results_as_are_shown_and_a_chat_model_may_try():
    quality = await checked(*[0.4] * 10)
    assert (quality["decision"], quality["reasons"][-1]) == (
        "answer", "stopped: 10 results are enough to choose from"
    )  # fmt: skip
    assert (await checked(*[0.4] * 9))["decision"] == "rewrite"
    by_chat = PARAMETERS.override({"rewrite": {"method": "chat"}})
    assert (await checked(*[0.4] * 10, parameters=by_chat))["decision"] == "rewrite"


@pytest.mark.parametrize(("score", "decision"), [(0.4, "answer"), (0.1, "abstain")])
async def test_when_the_tries_are_used_up_it_answers_or_abstains(score: float, decision: str):
    quality = await checked(score, rewrites=["tea and more"])
    assert quality["decision"] == decision
    assert quality["reasons"][-1] == "stopped: 1 of 1 rewrites tried"


async def test_after_the_deadline_no_new_try_starts():
    begun = prepared_state(PARAMETERS, query="tea?")["request"]
    quality = await checked(0.4, request={**begun, "started": time.time() - 9})
    assert quality["decision"] == "answer"
    assert quality["reasons"][-1].startswith("stopped: 9.")
    assert quality["reasons"][-1].endswith("of 8 s are used")


@pytest.mark.parametrize(("floor", "weak"), [(0.5, 0.6), (0.7, 0.778), (0.0, 0.0), (1.0, 1.0)])
async def test_what_is_weak_moves_with_the_floor(floor: float, weak: float):
    other = PARAMETERS.override({"answer": {"abstain_below": floor}})
    assert (await checked(weak, parameters=other))["grade"] == "strong"
    if floor < weak:
        assert (await checked(weak - 0.001, parameters=other))["grade"] == "weak"


@pytest.mark.parametrize(
    ("results", "score"),
    [
        ([result(None, lancedb=0.8, graphiti=None)], 0.8),
        ([result(0.0, lancedb=0.8)], 0.0),
        # odds of 4 and of 1.5 make 6
        ([result(None, lancedb=0.8, graphiti=0.6)], 6 / 7),
        ([result(None, lancedb=0.2), result(None, lancedb=0.7)], 0.7),
        # a model looked at the first and found little in it
        ([result(0.1, lancedb=0.9), result(None, lancedb=0.9)], 0.1),
        ([result(None, lancedb=None)], 0.01),
    ],
)
async def test_without_a_rerank_score_the_sources_are_read_and_never_the_fused_score(
    results: list[dict[str, Any]], score: float
):
    assert (await checked(reranked_results=results))["score"] == pytest.approx(score, abs=1e-6)
