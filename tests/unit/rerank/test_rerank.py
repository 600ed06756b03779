"""Reranking: what every method promises. (How well the weights do is measured by a benchmark.)"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentic_rag.errors import ConfigError, ModelError
from agentic_rag.models.rerankers import ConfiguredRerankers
from agentic_rag.parameters import RerankParameters
from agentic_rag.ports import Reranker
from agentic_rag.rerank import rerank_results
from agentic_rag.rerank.features import relevance, terms_of
from agentic_rag.rerank.offline import rerank_offline

OFFLINE = RerankParameters()


def result(identity: str, content: str = "tea", raw: float | None = 0.5, **metadata: Any) -> dict[str, Any]:
    return {
        "id": identity,
        "content": content,
        "metadata": {"title": "", "document_id": "d", "ordinal": 0, **metadata},
        "sources": {"lancedb": {"rank": 1, "raw": raw, "normalised": 1.0, "weight": 1.0}},
        "rerank_score": None,
    }


def order(results: Sequence[dict[str, Any]]) -> list[str]:
    return [one["id"] for one in results]


class Scores:
    """A rerank model with fixed scores."""

    def __init__(self, *scores: float) -> None:
        self.scores = list(scores)
        self.passages: list[str] = []

    async def score(self, query: str, passages: Sequence[str]) -> list[float]:
        self.passages = list(passages)
        return self.scores


# --- offline -------------------------------------------------------------------------------------


def test_nothing_stays_nothing():
    assert rerank_offline("tea", []) == []


def test_tokens_change_the_order_and_deal_out_the_same_scores():
    told = {"near": (0.5, 0.5), "best": (0.4, 0.6), "far": (0.3, 0.55)}
    results = [result(name, raw=raw, token_similarity=similar) for name, (similar, raw) in told.items()]
    results.append(result("without", raw=0.45))
    assert terms_of("tea", results).column("interaction") == pytest.approx([0.0, -1.0, -2.0, -1.0])
    ranked = rerank_offline("tea", results, RerankParameters(interaction=1.0, brief=0.0))
    assert order(ranked) == ["near", "best", "without", "far"]
    assert [one["rerank_score"] for one in ranked] == pytest.approx([0.6, 0.55, 0.5, 0.45])
    without = [result(name) for name in told]
    assert terms_of("tea", without).column("interaction") == [0.0, 0.0, 0.0]


def test_what_says_it_in_the_other_language_comes_first_and_is_no_more_relevant_for_it():
    trains, kiln = "火车从车站开出,十点到。", "窑里的温度升得太快,坯体就会开裂。"
    results = [result("a", trains), result("b", kiln), result("c", trains, title="温度")]
    without = RerankParameters(dictionary=0.0, brief=0.0)
    assert order(rerank_offline("temperature, please", results, without)) == ["a", "b", "c"]
    ranked = rerank_offline("temperature, please", results, RerankParameters(brief=0.0))
    assert order(ranked) == ["b", "c", "a"], "titles are read too"
    assert ranked[0]["rerank_score"] == pytest.approx(0.5)


def test_a_note_of_the_right_year_comes_first_and_is_no_more_relevant_for_it():
    dated = {"wrong": "2020-01-01T00:00:00+00:00", "right": "2025-05-01T00:00:00+00:00"}
    results = [result(name, raw=0.3, date=date) for name, date in dated.items()]
    ranked = rerank_offline("What was the capital of Mongolia in 2025?", results, RerankParameters(brief=0.0))
    assert order(ranked) == ["right", "wrong"]
    assert ranked[0]["rerank_score"] == pytest.approx(0.3)
    assert ranked[1]["rerank_score"] < 0.2


def test_all_else_equal_relevance_decides():
    results = rerank_offline(
        "tea", [result("low", raw=0.2), result("high", raw=0.9), result("none", raw=None)]
    )
    assert order(results) == ["high", "low", "none"]


def test_in_dialogue_the_words_of_the_question_decide():
    texts = ["trains and stations", "oolong tea please", "trains and tea"]
    turns = [
        result(name, text, kind="turn", speaker="Ada", ordinal=n * 10)
        for n, (name, text) in enumerate(zip("abc", texts, strict=True))
    ]
    assert order(rerank_offline("oolong tea", turns)) == ["b", "c", "a"]


def test_in_dialogue_the_speaker_asked_for_decides():
    turns = [
        result(name, "I like tea.", kind="turn", speaker=name, ordinal=n * 10)
        for n, name in enumerate(["Ada", "Bob"])
    ]
    assert order(rerank_offline("What does Bob like?", turns))[0] == "Bob"


def test_equal_results_are_in_id_order():
    assert order(rerank_offline("tea", [result("b"), result("c"), result("a")])) == ["a", "b", "c"]


def test_the_given_results_are_not_changed():
    given_results = [result("b"), result("a", kind="turn", speaker="Ada")]
    before = copy.deepcopy(given_results)
    rerank_offline("tea", given_results)
    assert given_results == before


@settings(max_examples=100, deadline=None)
@given(
    st.text(max_size=40),
    st.lists(
        st.tuples(
            st.text(max_size=40),
            st.none() | st.floats(-0.5, 1.5),
            st.none() | st.sampled_from(["Ada", "", "茶"]),
        ),
        max_size=8,
    ),
)
def test_scores_lie_between_0_and_1_and_nothing_is_lost(
    query: str, rows: list[tuple[str, float | None, str | None]]
):
    results = [
        result(
            str(n), text, raw, ordinal=n, **({} if speaker is None else {"kind": "turn", "speaker": speaker})
        )
        for n, (text, raw, speaker) in enumerate(rows)
    ]
    ranked = rerank_offline(query, results)
    assert sorted(order(ranked)) == sorted(order(results))
    assert all(0 <= one["rerank_score"] <= 1 for one in ranked)
    assert [(-one["rerank_score"], one["id"]) for one in ranked] == sorted(
        (-r["rerank_score"], r["id"]) for r in ranked
    )


def test_relevance_is_the_best_any_source_gave():
    both = result("a", raw=0.2)
    both["sources"]["graphiti"] = {"rank": 3, "raw": 0.7, "normalised": 0.1, "weight": 0.3}
    assert relevance(both) == 0.7
    assert relevance(result("a", raw=0.0)) == 0.0
    assert relevance(result("a", raw=1.7)) == 1.0
    assert 0 <= relevance(result("a", raw=None)) < 0.1


# --- by a model, by name -------------------------------------------------------------------------


def by(model: Reranker) -> ConfiguredRerankers:
    return ConfiguredRerankers(given=model)


async def test_a_models_scores_decide():
    model = Scores(0.1, 0.9, 0.9)
    ranked = await rerank_results(
        "tea",
        [result("a", "x"), result("c", "y"), result("b", "z")],
        RerankParameters(method="chat"),
        by(model),
    )
    assert [(one["id"], one["rerank_score"]) for one in ranked] == [("b", 0.9), ("c", 0.9), ("a", 0.1)]
    assert model.passages == ["x", "y", "z"]


@pytest.mark.parametrize("scores", [(0.5,), (0.5, 0.5, 0.5), (0.5, 1.5), (0.5, -0.1), (0.5, float("nan"))])
async def test_a_model_that_answers_nonsense_is_told(scores: tuple[float, ...]):
    with pytest.raises(ModelError, match="reranker gave"):
        await rerank_results(
            "tea", [result("a"), result("b")], RerankParameters(method="chat"), by(Scores(*scores))
        )


async def test_a_model_is_not_asked_about_nothing():
    model = Scores(0.5)
    assert await rerank_results("tea", [], RerankParameters(method="chat"), by(model)) == []
    assert model.passages == []


async def test_a_model_reads_titles_and_headings_too():
    model = Scores(0.5)
    found = result("a", "It is rolled.", title="Oolong", heading_path=["Making"])
    await rerank_results("oolong", [found], RerankParameters(method="cross_encoder"), by(model))
    assert model.passages == ["Oolong. Making. It is rolled."]


@pytest.mark.parametrize("rerankers", [None, ConfiguredRerankers()])
@pytest.mark.parametrize("method", ["chat", "cross_encoder"])
async def test_without_its_model_a_method_cannot_be_used(method: Any, rerankers: Any):
    with pytest.raises(ConfigError, match=rf"rerank\.method is '{method}'"):
        await rerank_results("tea", [result("a")], RerankParameters(method=method), rerankers)


@pytest.mark.parametrize("method", ["chat", "cross_encoder"])
async def test_beyond_the_depth_of_a_model_results_follow_as_they_were(method: Any):
    results = [result("a", "x"), result("b", "y"), result("d", raw=0.9), result("c", raw=0.9)]
    model = Scores(0.1, 0.2)
    ranked = await rerank_results("tea", results, RerankParameters(method=method, depth=2), by(model))
    assert order(ranked) == ["b", "a", "d", "c"]
    assert [one["rerank_score"] is None for one in ranked] == [False, False, True, True]
    assert model.passages == ["x", "y"]


async def test_a_model_looks_at_twenty_where_nothing_else_is_said():
    model = Scores(*[0.5] * 20)
    results = [result(f"{number:02}") for number in range(25)]
    await rerank_results("tea", results, RerankParameters(method="chat"), by(model))
    assert len(model.passages) == 20


async def test_offline_looks_at_all_whatever_the_depth():
    results = [result("a", raw=0.1), result("b", raw=0.2), result("d", raw=0.9), result("c", raw=0.9)]
    ranked = await rerank_results("tea", results, RerankParameters(depth=2), None)
    assert order(ranked) == ["c", "d", "b", "a"]
    assert None not in [one["rerank_score"] for one in ranked]


async def test_none_keeps_the_order_and_scores_nothing():
    results = [result("b", raw=0.1), result("a", raw=0.9)]
    assert await rerank_results("tea", results, RerankParameters(method="none"), None) == results
