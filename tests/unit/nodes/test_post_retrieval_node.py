"""Post-retrieval steps on the main graph's reranked results."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from agentic_rag.errors import ConfigError, MissingExtra, ModelError
from agentic_rag.models.rerankers import ConfiguredRerankers
from agentic_rag.nodes import post_retrieval
from agentic_rag.nodes.post_retrieval import check_steps, steps_of
from agentic_rag.nodes.requirements import RerankTools
from agentic_rag.nodes.rerank import rerank
from agentic_rag.retrieval.schemas import Linked
from agentic_rag.settings.parameters import Parameters, RerankParameters
from agentic_rag.testing import FakeGraphEngine, FakeRetrievalEngine, fake_chunk, prepared_state


def result(name: str, raw: float, date: str | None, text: str = "tea") -> dict[str, Any]:
    sources = {"lancedb": {"raw": raw, "weight": 1.0, "rank": 1, "normalised": raw}}
    return {
        "id": name, "content": text, "metadata": {"date": date}, "sources": sources, "fused_score": raw,
    }  # fmt: skip


RESULTS = [result("old", 0.8, "2023-01-01"), result("new", 0.7, "2023-12-30"), result("none", 0.1, None)]


async def run(
    *steps: dict[str, Any],
    tools: RerankTools | None = None,
    rerank_: dict[str, Any] | None = None,
    **keys: Any,
) -> dict[str, Any]:
    parameters = Parameters().overridden({"post_retrieval": {"steps": list(steps)}, "rerank": rerank_ or {}})
    state: Any = {**prepared_state(parameters, query="When was the tea?", **keys), "fused_results": RESULTS}
    return await rerank(state, tools=tools)


def ids(written: dict[str, Any]) -> list[str]:
    return [r["id"] for r in written["reranked_results"]]


async def test_without_steps_nothing_is_recorded():
    assert (await run())["post_retrieval"] == []


async def test_a_filter_keeps_the_best():
    written = await run({"action": "filter", "filter_type": "top_k", "top_k": 1})
    assert ids(written) == ["old"]
    (record,) = written["post_retrieval"]
    assert (record["action"], record["type"], record["before"], record["after"]) == ("filter", "top_k", 3, 1)


async def test_recent_results_come_first_and_keep_their_relevance():
    before = {r["id"]: r["rerank_score"] for r in (await run())["reranked_results"]}
    step = {"action": "rerank", "rerank_type": "time_weighted", "time_decay_rate": 0.001}
    written = await run(step, as_of="2023-12-31")
    assert ids(written)[0] == "new"
    assert {r["id"]: r["rerank_score"] for r in written["reranked_results"]} == before
    assert written["reranked_results"][0]["metadata"]["post_retrieval_score"] < before["new"]


async def test_a_second_query_joins_what_it_finds():
    engine = FakeRetrievalEngine([(fake_chunk("more", "tea in winter"), 0.75)])
    step = {
        "action": "merge", "merge_type": "multi_query", "secondary_queries": [{"query": "dates of {question}"}],
    }  # fmt: skip
    written = await run(step, tools=RerankTools(engine=engine, graph=FakeGraphEngine()))
    joined = next(r for r in written["reranked_results"] if r["id"].startswith("more"))
    assert joined["rerank_score"] == 0.75
    assert joined["content"] == "tea in winter"
    assert joined["sources"]["lancedb"]["rank"] == 1
    assert len(written["reranked_results"]) == 4


def in_dataset(*texts: str) -> RerankTools:
    """Both engines hold the results (chunks ``doc#0``) of such texts, and the graph links each with every other."""
    chunks = [(fake_chunk(f"doc{n}", text), 0.9 - n / 10) for n, text in enumerate(texts)]
    return RerankTools(engine=FakeRetrievalEngine(chunks), graph=FakeGraphEngine(chunks))


async def test_semantic_orders_by_the_vectors_of_question_and_chunks(monkeypatch: pytest.MonkeyPatch):
    far, near = result("doc0#0", 0.8, None), result("doc1#0", 0.2, None)
    monkeypatch.setattr(sys.modules[__name__], "RESULTS", [far, near, result("a fact", 0.1, None)])
    tools = in_dataset("harbours and ships", "When was the tea?")
    written = await run({"action": "rerank", "rerank_type": "semantic"}, tools=tools)
    assert ids(written)[0] == "doc1#0"
    first = written["reranked_results"][0]["metadata"]
    assert first["post_retrieval_score"] == pytest.approx(1.0)
    (record,) = written["post_retrieval"]
    assert (record["status"], record["reason"]) == ("degraded", "1 of 3 memories have no embedding and keep their score")  # fmt: skip


async def test_what_joins_before_a_semantic_step_has_a_vector_too():
    merge = {"action": "merge", "merge_type": "multi_query", "secondary_queries": [{"query": "{question}"}]}
    tools = in_dataset("When was the tea?")
    written = await run(merge, {"action": "rerank", "rerank_type": "semantic"}, tools=tools)
    assert ids(written)[0] == "doc0#0"
    assert written["reranked_results"][0]["metadata"]["post_retrieval_score"] == pytest.approx(1.0)


async def test_links_of_the_graph_are_followed(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys.modules[__name__], "RESULTS", [result("doc0#0", 0.8, None)])
    tools = in_dataset("tea", "more tea", "a kettle")
    written = await run({"action": "merge", "merge_type": "link_expand", "link_top_k": 1}, tools=tools)
    assert ids(written) == ["doc0#0", "doc1#0"]
    joined = written["reranked_results"][1]
    assert (joined["content"], joined["rerank_score"]) == ("more tea", 0.8)
    assert joined["sources"]["graphiti"]["raw"] == 0.8
    before = written["reranked_results"][0]["metadata"]["post_retrieval_score"]
    assert joined["metadata"]["post_retrieval_score"] == pytest.approx(before * 0.8)


async def test_a_walk_over_the_links_raises_what_others_lead_to(monkeypatch: pytest.MonkeyPatch):
    class Star(FakeGraphEngine):
        async def linked(self, dataset: str, question: str, chunk_ids: Any, **how: Any) -> Any:
            hub = Linked(fake_chunk("doc2"), 1.0, 0.5)
            return {chunk_id: [] if chunk_id == "doc2#0" else [hub] for chunk_id in chunk_ids}

    three = [result(f"doc{n}#0", 0.5 - n / 10, None) for n in range(3)]
    monkeypatch.setattr(sys.modules[__name__], "RESULTS", three)
    tools = RerankTools(engine=FakeRetrievalEngine(), graph=Star())
    written = await run({"action": "rerank", "rerank_type": "ppr"}, tools=tools)
    assert ids(written)[0] == "doc2#0"
    assert written["post_retrieval"][0]["status"] == "ok"


@pytest.mark.parametrize(
    ("step", "told"),
    [
        ({"action": "rerank", "rerank_type": "cross_encoder"}, "rerank cross_encoder .* set rerank.model"),
        ({"action": "filter", "filter_type": "llm"}, "filter llm needs a chat model, .* set chat.base_url"),
        ({"action": "filter", "filter_type": "token_budget"}, "filter token_budget needs a token counter; pass count_tokens"),
        (
            {
                "action": "merge",
                "merge_type": "multi_query",
                "secondary_queries": [{"query": "q", "service": "short_term_memory"}],
            },
            "merge multi_query names the service 'short_term_memory'.* leave service out",
        ),
        ({"action": "compress", "compress_type": "extractive"}, "use one of: none, rerank, filter, merge"),
    ],
)  # fmt: skip
def test_what_cannot_work_is_refused_beforehand(step: dict[str, Any], told: str):
    parameters = Parameters().overridden({"post_retrieval": {"steps": [step]}})
    with pytest.raises(ConfigError, match=rf"post_retrieval\.steps.*{told}"):
        check_steps(parameters, in_dataset())


def test_what_can_work_is_not_refused():
    kinds = [("rerank", kind) for kind in ("semantic", "time_weighted", "ppr", "weighted")]
    steps = [
        {"action": action, f"{action}_type": kind} for action, kind in [*kinds, ("merge", "link_expand")]
    ]
    check_steps(Parameters().overridden({"post_retrieval": {"steps": steps}}), in_dataset())


async def test_a_token_budget_needs_a_counter():
    step = {"action": "filter", "filter_type": "token_budget", "token_budget": 3}
    assert len((await run(step, tools=RerankTools(count_tokens=lambda texts: [2] * len(texts))))["reranked_results"]) == 1  # fmt: skip
    with pytest.raises(ConfigError, match="count_tokens"):
        await run(step)


@pytest.mark.parametrize("action", ["augment", "compress", "format"])
def test_what_shapes_a_readers_text_is_refused(action: str):
    kinds = {"augment": "context", "compress": "extractive", "format": "chat"}
    step = {"action": action, f"{action}_type": kinds[action]}
    with pytest.raises(ConfigError, match=rf"post_retrieval\.steps\[0\]\.action: {action} shapes"):
        steps_of([step])


def test_an_unknown_action_lists_the_known():
    with pytest.raises(
        ConfigError, match=r"post_retrieval\.steps\[0\]\.action: unknown 'shuffle'; use one of: none"
    ):
        steps_of([{"action": "shuffle"}])


@pytest.mark.parametrize(
    ("rerank_", "asked"),
    [
        ({"model": "folder"}, "folder"),
        ({"method": "cross_encoder", "model": "other"}, "other"),
        ({}, None),
    ],
)
def test_a_step_asks_the_cross_encoder_that_is_named(
    rerank_: dict[str, Any], asked: str | None, monkeypatch: pytest.MonkeyPatch
):
    loaded: list[str] = []
    monkeypatch.setattr("agentic_rag.models.rerankers.CrossEncoderReranker", loaded.append)
    post_retrieval._reranker(RerankParameters(**rerank_), ConfiguredRerankers())
    assert loaded == ([] if asked is None else [asked])


@pytest.mark.parametrize("method", ["offline", "none"])
async def test_a_model_that_no_step_asks_is_not_loaded(method: str):
    """As where the settings name a cross-encoder and a call asks for the offline method."""
    tools, named = RerankTools(ConfiguredRerankers()), {"method": method, "model": "/nowhere/cross-encoder"}
    filtered = {"action": "filter", "filter_type": "top_k", "top_k": 1}
    assert ids(await run(filtered, tools=tools, rerank_=named)) == ["old"]
    with pytest.raises((MissingExtra, ModelError)):
        await run({"action": "rerank", "rerank_type": "cross_encoder"}, tools=tools, rerank_=named)
