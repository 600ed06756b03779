"""The compiled graph: the route of a question, and the final state."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from typing import Any

import ormsgpack
import pytest
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from agentic_rag.domain import Chunk, DocumentGraph, Entity, Fact
from agentic_rag.domain.filters import parse_filters
from agentic_rag.domain.ports import Chat, EmbeddedDocument
from agentic_rag.errors import AllSourcesFailed, ConfigError, InputError, StoreError
from agentic_rag.fusion.strategy_selector import CanvasOperation, adapted_weights
from agentic_rag.graph import GraphParts, build_rag_graph
from agentic_rag.models.rerankers import ConfiguredRerankers
from agentic_rag.nodes import request
from agentic_rag.retrieval.engine import RetrievalEngine
from agentic_rag.retrieval.graph_engine import GraphEngine
from agentic_rag.retrieval.ports import GraphSearch, VectorSearch
from agentic_rag.settings.parameters import Parameters
from agentic_rag.stores.in_memory import InMemoryChunkStore
from agentic_rag.stores.in_memory_graph import InMemoryGraphStore
from agentic_rag.testing import (
    FakeGraphEngine,
    FakeRetrievalEngine,
    HashingEmbedding,
    ScriptedChat,
    fake_chunk,
)

QUESTION = "Where does oolong tea come from?"
TEA = fake_chunk("tea", "Oolong tea comes from Fujian in China.")
MILK = fake_chunk("milk", "Oolong tea comes with milk in Taiwan.")
TRAIN = fake_chunk("train", "The railway station closes at midnight.")
FIND, RELATE = "document_retrieval", "concept_relation"


def compiled(
    graphiti: GraphSearch,
    lancedb: VectorSearch,
    *,
    chat: Chat | None = None,
    saver: Any = None,
    **values: Any,
) -> Any:
    """The graph over two engines; ``values`` are parameters by section."""
    parts = GraphParts(graphiti, lancedb, HashingEmbedding(), chat, ConfiguredRerankers(chat))
    return build_rag_graph(parts, Parameters().override(values)).compile(checkpointer=saver)


def found(*chunks: Chunk, score: float = 0.9) -> FakeRetrievalEngine:
    return FakeRetrievalEngine([(chunk, score) for chunk in chunks])


def in_graph(*chunks: Chunk, score: float = 0.9) -> FakeGraphEngine:
    return FakeGraphEngine([(chunk, score) for chunk in chunks])


async def ask(
    graph: Any, query: str = QUESTION, *, context: Any = None, thread: str | None = None, **keys: Any
) -> Any:
    config = {"configurable": {"thread_id": thread}} if thread else None
    return await graph.ainvoke({"query": query, **keys}, config, context=context)


def ids(results: list[dict[str, Any]]) -> list[str]:
    return [result["id"] for result in results]


# --- the usual way -------------------------------------------------------------------------------


async def test_an_answer_cites_what_both_sources_found():
    state = await ask(compiled(in_graph(TEA), found(TEA, TRAIN)), operation=FIND)
    assert "Fujian" in state["answer"]
    assert state["abstained"] is False
    citation = state["citations"][0]
    assert (citation["chunk_id"], citation["document_id"]) == (TEA.id, "tea")
    assert TEA.text[citation["start"] : citation["end"]] == citation["quote"]
    assert state["outcomes"]["graphiti"]["status"] == state["outcomes"]["lancedb"]["status"] == "ok"
    assert ids(state["fused_results"])[0] == TEA.id
    assert state["fused_results"][0]["source"] == "graphiti+lancedb"
    assert set(ids(state["reranked_results"])) == {TEA.id, TRAIN.id}
    assert (state["rewrites"], state["quality"]["decision"]) == ([], "answer")


async def test_both_sources_are_asked_at_once(monkeypatch: pytest.MonkeyPatch):
    graphiti, lancedb = in_graph(TEA), found(TEA)
    meeting = asyncio.Barrier(2)

    def met(find: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        async def waiting(*given: Any, **named: Any) -> Any:
            await meeting.wait()
            return await find(*given, **named)

        return waiting

    for engine in (graphiti, lancedb):
        monkeypatch.setattr(engine, "find", met(engine.find))
    state = await ask(compiled(graphiti, lancedb, retrieval={"timeout_seconds": 30}), operation=FIND)
    assert {outcome["status"] for outcome in state["outcomes"].values()} == {"ok"}


async def test_defaults_are_what_the_caller_leaves_out():
    graphiti, lancedb = in_graph(TEA), found(TEA)
    await ask(compiled(graphiti, lancedb))
    for engine in (graphiti, lancedb):
        asked = engine.requests[0]
        assert (asked["dataset"], asked["query"], asked["filters"], asked["as_of"]) == (
            "default",
            QUESTION,
            None,
            None,
        )
        assert asked["limit"] == 100


async def test_dataset_filters_and_as_of_restrict_both_sources():
    graphiti, lancedb = in_graph(TEA), found(TEA)
    filters = {"year": {"$gte": 2020}}
    await ask(
        compiled(graphiti, lancedb),
        operation=FIND,
        dataset="笔记",
        filters=filters,
        as_of="2024-06-30T12:00:00",
    )
    for engine in (graphiti, lancedb):
        asked = engine.requests[0]
        assert asked["dataset"] == "笔记"
        assert parse_filters(asked["filters"]) == parse_filters(filters)
        assert asked["as_of"] == datetime(2024, 6, 30, 12, tzinfo=UTC)


async def test_without_messages_a_question_is_taken_as_it_is():
    graphiti = in_graph(TEA)
    await ask(compiled(graphiti, found(TEA)), "it?")
    assert graphiti.requests[0]["query"] == "it?"


async def test_a_follow_up_is_completed_from_the_conversation():
    graphiti, lancedb = in_graph(TEA), found(TEA)
    messages = [
        HumanMessage(QUESTION),
        AIMessage("From Fujian."),
        HumanMessage("And when was it first made?"),
    ]
    state = await compiled(graphiti, lancedb).ainvoke({"messages": messages, "operation": FIND})
    expected = f"{QUESTION} And when was tea first made?"
    assert state["search_query"] == graphiti.requests[0]["query"] == lancedb.requests[0]["query"] == expected


async def test_empty_results_are_an_honest_not_found():
    state = await ask(compiled(in_graph(), found()), "谁喝茶？")
    assert state["abstained"] is True
    assert state["citations"] == []
    assert state["answer"] == "在你的笔记里没有找到。"
    assert state["outcomes"]["graphiti"]["status"] == state["outcomes"]["lancedb"]["status"] == "empty"
    assert "no source found anything" in state["quality"]["reasons"][0]


async def test_a_question_of_white_space_finds_nothing_and_is_not_rewritten():
    state = await ask(compiled(in_graph(), found()), "   ")
    assert (state["abstained"], state["rewrites"]) == (True, [])
    assert state["quality"]["reasons"][-1] == "stopped: the question is empty"


# --- the cascade ---------------------------------------------------------------------------------


async def test_tier_1_never_asks_the_vector_store():
    graphiti = in_graph(TEA, MILK, TRAIN, score=0.8)
    lancedb = FakeRetrievalEngine(error=AssertionError("the vector store was asked"))
    state = await ask(compiled(graphiti, lancedb), operation=RELATE)
    assert lancedb.requests == []
    assert (state["fusion"]["tier"], state["fusion"]["decision"]) == (1, "sufficient")
    assert state["outcomes"]["lancedb"] == "skipped"
    assert (state["lancedb_results"], state["lancedb_outcome"]) == ([], None)
    assert {result["tier"] for result in state["fused_results"]} == {1}


@pytest.mark.parametrize(("hits", "score"), [(2, 0.8), (3, 0.59), (0, 0.9)])
async def test_tier_2_asks_it_after_the_graph(hits: int, score: float):
    graphiti, lancedb = in_graph(*(TEA, MILK, TRAIN)[:hits], score=score), found(TEA, score=0.9)
    state = await ask(compiled(graphiti, lancedb), operation=RELATE)
    assert (len(graphiti.requests), len(lancedb.requests)) == (1, 1)
    assert (state["fusion"]["tier"], state["fusion"]["decision"]) == (2, "fallback")
    assert f"{hits if score >= 0.6 else 0} of {hits} graph hits" in state["fusion"]["reason"]
    assert state["outcomes"]["lancedb"]["status"] == "ok"


@pytest.mark.parametrize(
    ("given", "hits", "score", "tier"),
    [
        ({}, 3, 0.6, 1),
        ({}, 2, 0.9, 2),
        ({"graphiti_threshold": 2}, 2, 0.6, 1),
        ({"graphiti_threshold": 2}, 2, 0.59, 2),
        ({"graphiti_min_score": 0.7}, 3, 0.69, 2),
        ({"graphiti_min_score": 0.3}, 3, 0.3, 1),
    ],
)
async def test_what_is_set_wins_and_the_rest_is_the_operations(
    given: dict[str, Any], hits: int, score: float, tier: int
):
    """By the call or by the settings, and the edge decides by what the report says."""
    for values, context in (({}, {"fusion": given}), ({"fusion": given}, None)):
        lancedb = found(TEA)
        graph = compiled(in_graph(*(TEA, MILK, TRAIN)[:hits], score=score), lancedb, **values)
        state = await ask(graph, operation=RELATE, context=context)
        assert (state["fusion"]["tier"], len(lancedb.requests)) == (tier, tier - 1)
        used = state["fusion"]["parameters"]
        effect = {"graphiti_threshold": 3, "graphiti_min_score": 0.6, **given}
        assert {name: used[name] for name in effect} == effect


# --- what fails ----------------------------------------------------------------------------------


@pytest.mark.parametrize("operation", [FIND, RELATE])
async def test_with_the_graph_down_the_vector_store_answers(operation: str):
    graphiti = FakeGraphEngine(error=StoreError("another process is writing the graph"))
    state = await ask(compiled(graphiti, found(TEA)), operation=operation)
    assert "Fujian" in state["answer"]
    assert state["outcomes"]["graphiti"]["status"] == "degraded"
    assert "another process is writing the graph" in state["outcomes"]["graphiti"]["reason"]
    assert state["outcomes"]["lancedb"]["status"] == "ok"


async def test_with_the_vector_store_down_the_graph_answers():
    lancedb = FakeRetrievalEngine(error=OSError("disk gone"))
    state = await ask(compiled(in_graph(TEA), lancedb), operation=FIND)
    assert "Fujian" in state["answer"]
    assert state["outcomes"]["lancedb"]["status"] == "degraded"
    assert state["outcomes"]["lancedb"]["reason"] == "OSError: disk gone"


@pytest.mark.parametrize("operation", [FIND, RELATE])
async def test_with_both_down_the_run_fails_and_says_why(operation: str):
    graph = compiled(
        FakeGraphEngine(error=StoreError("locked")), FakeRetrievalEngine(error=StoreError("unreachable"))
    )
    with pytest.raises(
        AllSourcesFailed, match=r"graphiti: StoreError: locked; lancedb: StoreError: unreachable"
    ):
        await ask(graph, operation=operation)


async def test_with_the_only_source_asked_down_the_run_fails():
    """Not "not found in your notes": nobody looked."""
    lancedb = found(TEA)
    graph = compiled(FakeGraphEngine(error=StoreError("locked")), lancedb, fusion={"lancedb_weight": 0.0})
    with pytest.raises(AllSourcesFailed) as failed:
        await ask(graph, operation=RELATE)
    assert set(failed.value.reasons) == {"graphiti"}
    assert lancedb.requests == []


# --- what is refused -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("context", "told"),
    [
        ({"fuson": {"k": 1}}, "fuson"),
        ({"fusion": {"kk": 1}}, r"fusion\.kk"),
        ({"fusion": {"k": 0}}, r"fusion\.k"),
        ({"answer": {"method": "chat"}}, "no chat model is configured"),
        ({"rewrite": {"method": "chat"}}, r"rewrite\.method is 'chat' .* set chat\.base_url"),
        ({"rerank": {"method": "chat"}}, r"rerank\.method is 'chat' .* set chat\.base_url"),
        ({"rerank": {"method": "cross_encoder"}}, r"rerank\.model is not set"),
    ],
)
async def test_a_bad_override_is_told_before_anything_is_searched(context: Any, told: str):
    graphiti, lancedb = in_graph(TEA), found(TEA)
    with pytest.raises(ConfigError, match=told):
        await ask(compiled(graphiti, lancedb), operation=FIND, context=context)
    assert graphiti.requests == lancedb.requests == []


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"answer": {"method": "chat"}}, r"answer\.method is 'chat'"),
        ({"rewrite": {"method": "chat"}}, r"rewrite\.method is 'chat'"),
        ({"rerank": {"method": "chat"}}, r"rerank\.method is 'chat'"),
    ],
)
def test_parameters_that_ask_for_what_is_not_there_make_no_graph(values: Any, told: str):
    with pytest.raises(ConfigError, match=told):
        compiled(in_graph(TEA), found(TEA), **values)


async def test_a_call_may_name_another_rerank_model_than_the_configured_one():
    chat = ScriptedChat("1: 9\n2: 9")
    graph = compiled(in_graph(TEA), found(TEA, TRAIN), chat=chat)
    asked = await ask(graph, operation=FIND, context={"rerank": {"method": "chat"}})
    assert asked["rerank_outcome"]["method"] == "chat"
    assert {result["rerank_score"] for result in asked["reranked_results"]} == {0.9}
    assert len(chat.prompts) == 1
    plain = await ask(graph, operation=FIND)
    assert plain["rerank_outcome"]["method"] == "offline"
    assert len(chat.prompts) == 1


async def test_a_call_overrides_and_the_next_does_not_remember():
    graph = compiled(in_graph(TEA), found(TEA))
    assert (await ask(graph, context={"fusion": {"k": 20}}))["fusion"]["parameters"]["k"] == 20
    for context in (None, {}):
        assert (await ask(graph, context=context))["fusion"]["parameters"]["k"] == 60


# --- the request is read once a run --------------------------------------------------------------


@pytest.fixture
def readings(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often a request was made from the caller's keys, read from the state, and its fusion resolved."""
    counted: Counter[str] = Counter()

    def counting(name: str, call: Any) -> Any:
        def called(*given: Any, **named: Any) -> Any:
            counted[name] += 1
            return call(*given, **named)

        return called

    normalise = counting("made", request.normalise)
    monkeypatch.setattr("agentic_rag.nodes.prepare_query.normalise", normalise)
    monkeypatch.setattr(request, "normalise", normalise)
    monkeypatch.setattr(request.Request, "from_plain", counting("read", request.Request.from_plain))
    resolve = counting("resolved", request.resolve_parameters)
    monkeypatch.setattr(request, "resolve_parameters", resolve)
    monkeypatch.setattr("agentic_rag.fusion.strategy_selector.resolve_parameters", resolve)
    return counted


@pytest.mark.parametrize("operation", [FIND, RELATE])
async def test_a_request_is_made_once_a_run_and_not_read_again(
    readings: Counter[str], operation: str, weak: dict[str, Any]
):
    graph = compiled(in_graph(TRAIN, score=0.2), found(TRAIN, score=0.2), saver=InMemorySaver(), **weak)
    state = await ask(graph, operation=operation, thread="a")
    assert state["rewrites"], "both passes are counted"
    assert readings == {"made": 1, "resolved": 1}
    await ask(graph, "And when?", operation=operation, thread="a")
    assert readings == {"made": 2, "resolved": 2}


async def test_a_run_that_goes_on_elsewhere_reads_its_request_once(readings: Counter[str]):
    saver, thread = InMemorySaver(), {"configurable": {"thread_id": "a"}}
    parts = GraphParts(in_graph(TEA), found(TEA), HashingEmbedding())
    given = {"query": QUESTION, "operation": FIND, "top_k": 3}
    await build_rag_graph(parts).compile(saver, interrupt_before=["fuse_results"]).ainvoke(given, thread)
    readings.clear()
    state = await build_rag_graph(parts).compile(saver).ainvoke(None, thread)
    assert (state["request"]["top_k"], state["answer"] != "") == (3, True)
    assert readings == {"read": 1, "resolved": 1}


async def test_a_request_that_was_changed_between_is_the_one_that_counts():
    saver, thread = InMemorySaver(), {"configurable": {"thread_id": "a"}}
    parts = GraphParts(in_graph(TEA), found(TEA, MILK), HashingEmbedding())
    graph = build_rag_graph(parts).compile(saver, interrupt_before=["fuse_results"])
    await graph.ainvoke({"query": QUESTION, "operation": FIND}, thread)
    values = (await graph.aget_state(thread)).values
    changed = {**values["request"], "operation": "verification_canvas"}
    await graph.aupdate_state(thread, {"request": changed}, as_node="retrieve_lancedb")
    state = await graph.ainvoke(None, thread)
    assert state["fusion"]["operation"] == "verification_canvas"


async def test_runs_at_once_have_each_their_own_request():
    graph = compiled(in_graph(TEA), found(TEA, MILK, TRAIN))
    tops = range(1, 9)
    states = await asyncio.gather(*(ask(graph, operation=FIND, top_k=top) for top in tops))
    assert [state["request"]["top_k"] for state in states] == list(tops)


async def test_a_stream_and_a_checkpoint_hold_the_plain_request():
    saver = InMemorySaver()
    graph = compiled(in_graph(TEA), found(TEA), saver=saver)
    thread = {"configurable": {"thread_id": "a"}}
    given = {"query": QUESTION, "operation": FIND}
    modes = ["values", "updates", "checkpoints"]
    parts = [part async for part in graph.astream(given, thread, stream_mode=modes)]
    assert "Request(" not in repr(parts)
    stored = saver.get(thread)["channel_values"]["request"]
    assert type(stored) is dict
    assert json.loads(json.dumps(stored)) == stored


# --- the loop ------------------------------------------------------------------------------------


@pytest.fixture
def weak(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Settings under which no result is ever strong, and none refused."""
    monkeypatch.setattr("agentic_rag.nodes.check_quality.WEAK_ODDS", 1e9)
    return {"retrieval": {"timeout_seconds": 60}, "answer": {"abstain_below": 1e-6}}


@pytest.mark.parametrize("rewrites", [0, 1, 3])
async def test_a_weak_result_is_asked_again_just_so_often(
    rewrites: int, monkeypatch: pytest.MonkeyPatch, weak: dict[str, Any]
):
    monkeypatch.setattr("agentic_rag.nodes.check_quality.MAX_REWRITES", rewrites)
    graphiti, lancedb = in_graph(TRAIN, score=0.2), found(TRAIN, score=0.2)
    state = await ask(compiled(graphiti, lancedb, **weak), operation=FIND)
    assert len(graphiti.requests) == len(lancedb.requests) == 1 + rewrites
    assert len(state["rewrites"]) == rewrites
    stopped, missing = state["quality"]["reasons"][1:]
    assert stopped == f"stopped: {rewrites} of {rewrites} rewrites tried"
    assert missing == "the notes that are nearest do not speak of: oolong, tea"
    assert not state["abstained"]
    assert state["citations"]


async def test_a_chat_model_rewrites_and_answers(weak: dict[str, Any]):
    chat = ScriptedChat("origin of oolong", "It comes from Fujian [1].")
    graphiti = in_graph(TEA, score=0.3)
    values = {**weak, "rewrite": {"method": "chat"}, "answer": {"abstain_below": 1e-6, "method": "chat"}}
    graph = compiled(graphiti, found(TEA, score=0.3), chat=chat, **values)
    state = await ask(graph, "Where do oolong tea leaves come from?", operation=FIND)
    assert graphiti.requests[1]["query"] == "origin of oolong"
    assert state["answer"] == "It comes from Fujian [1]."
    assert [citation["chunk_id"] for citation in state["citations"]] == [TEA.id]


async def test_a_weak_result_with_a_line_that_says_all_is_not_asked_again(weak: dict[str, Any]):
    graphiti = in_graph(TEA, score=0.3)
    state = await ask(compiled(graphiti, found(TEA, score=0.3), **weak), operation=FIND)
    assert (len(graphiti.requests), state["rewrites"]) == (1, [])
    assert state["quality"]["reasons"][-1] == "a unit says all that is asked"
    assert state["citations"][0]["quote"] == TEA.text


async def test_after_the_deadline_no_new_try_starts(monkeypatch: pytest.MonkeyPatch, weak: dict[str, Any]):
    monkeypatch.setattr("agentic_rag.nodes.check_quality.MAX_REWRITES", 5)
    graphiti = in_graph(TRAIN, score=0.2)
    graphiti.seconds = 0.06
    values = {**weak, "retrieval": {"timeout_seconds": 0.1}}
    state = await ask(compiled(graphiti, found(TRAIN, score=0.2), **values), operation=FIND)
    assert len(graphiti.requests) <= 2
    assert state["quality"]["reasons"][1].endswith("of 0.1 s are used")
    assert state["answer"]


async def test_a_loop_under_the_cascade_takes_the_cascade_again(weak: dict[str, Any]):
    graphiti, lancedb = in_graph(TRAIN, score=0.2), found(TRAIN, score=0.2)
    state = await ask(compiled(graphiti, lancedb, **weak), operation=RELATE)
    assert (len(graphiti.requests), len(lancedb.requests), len(state["rewrites"])) == (2, 2, 1)


# --- threads -------------------------------------------------------------------------------------


async def test_nothing_stale_is_fused_on_a_reused_thread():
    graphiti, lancedb = in_graph(TEA, MILK, TRAIN), found(fake_chunk("old", "Old oolong tea."))
    graph = compiled(graphiti, lancedb, saver=InMemorySaver())
    both = await ask(graph, operation=FIND, thread="a")
    assert "old#0" in ids(both["fused_results"])
    cascade = await ask(graph, operation=RELATE, thread="a")
    assert cascade["outcomes"]["lancedb"] == "skipped"
    assert set(ids(cascade["fused_results"])) == {TEA.id, MILK.id, TRAIN.id}
    lancedb.results = [(fake_chunk("new", "New oolong tea."), 0.9)]
    again = await ask(graph, operation=FIND, thread="a")
    assert "new#0" in ids(again["fused_results"])
    assert "old#0" not in ids(again["fused_results"])


async def test_rewrites_of_one_question_do_not_count_for_the_next(weak: dict[str, Any]):
    graphiti = in_graph(TRAIN, score=0.2)
    graph = compiled(graphiti, found(TRAIN, score=0.2), saver=InMemorySaver(), **weak)
    for question in (QUESTION, QUESTION, "Who sells porcelain teapots in Kyoto?"):
        graphiti.requests.clear()
        state = await ask(graph, question, operation=FIND, thread="a")
        assert [asked["query"] for asked in graphiti.requests] == [question, state["rewrites"][0]]
        assert len(state["rewrites"]) == 1


async def test_a_run_that_broke_off_in_the_loop_does_not_haunt_the_next(
    monkeypatch: pytest.MonkeyPatch, weak: dict[str, Any]
):
    """The chat fails with no ``ModelError`` at the second rewrite; the same question is then asked anew."""
    graphiti = in_graph(TRAIN, score=0.2)
    chat = ScriptedChat("other words", RuntimeError("cut off"), "fresh words")
    monkeypatch.setattr("agentic_rag.nodes.check_quality.MAX_REWRITES", 2)
    values = {**weak, "rewrite": {"method": "chat"}}
    graph = compiled(graphiti, found(TRAIN, score=0.2), chat=chat, saver=InMemorySaver(), **values)
    with pytest.raises(RuntimeError, match="cut off"):
        await ask(graph, operation=FIND, thread="a")
    graphiti.requests.clear()
    monkeypatch.setattr("agentic_rag.nodes.check_quality.MAX_REWRITES", 1)
    await ask(graph, operation=FIND, thread="a")
    assert [asked["query"] for asked in graphiti.requests] == [QUESTION, "fresh words"]


async def test_threads_are_apart():
    graphiti = in_graph(TEA)
    graph = compiled(graphiti, found(TEA), saver=InMemorySaver())
    await ask(graph, thread="a", messages=[HumanMessage(QUESTION)])
    await ask(graph, "And when was it made?", thread="b", messages=[HumanMessage("And when was it made?")])
    assert graphiti.requests[1]["query"] == "And when was it made?"
    state = await ask(graph, "And when was it made?", thread="a")
    assert graphiti.requests[2]["query"] == f"{QUESTION} And when was tea made?"
    assert [message.type for message in state["messages"]] == ["human", "ai"] * 2


# --- the state -----------------------------------------------------------------------------------


async def state_over_stores(weak: dict[str, Any]) -> Mapping[str, Any]:
    """A whole run over the in-memory stores, with a fact, metadata, a date and a filter."""
    embedding = HashingEmbedding()
    chunk = fake_chunk(
        "tea",
        "Oolong tea comes from Fujian in China.",
        date=datetime(2024, 1, 1, tzinfo=UTC),
        heading_path=("Origin",),
        metadata={"year": 2024, "tags": ["茶", None], "nested": {"deep": [1.5, True]}},
    )
    other = fake_chunk("other", "Oolong tea comes from nowhere.", metadata={"year": 1999})
    chunks = InMemoryChunkStore(dimension=embedding.dimension)
    knowledge = InMemoryGraphStore(embedding)
    for one in (chunk, other):
        vectors = await embedding.embed_passages([one.text])
        await chunks.replace_documents("notes", [EmbeddedDocument(one.document_id, (one,), vectors)])
    fact = Fact("oolong", "fujian", "COMES_FROM", chunk.text, chunk.id, valid_at=chunk.date)
    entities = (Entity("oolong", "Oolong", ("Tag",)), Entity("fujian", "Fujian", ("Tag",)))
    await knowledge.replace_documents("notes", [DocumentGraph("tea", (chunk,), entities, (fact,))])
    await knowledge.replace_documents("notes", [DocumentGraph("other", (other,))])
    graph = compiled(GraphEngine(knowledge, chunks, embedding), RetrievalEngine(chunks, embedding), **weak)
    return await ask(  # type: ignore[no-any-return]
        graph,
        operation=FIND,
        dataset="notes",
        filters={"year": {"$gte": 2000}},
        as_of="2024-06-30",
        messages=[HumanMessage(QUESTION)],
    )


async def test_a_run_over_the_in_memory_stores(weak: dict[str, Any]):
    state = await state_over_stores(weak)
    assert set(ids(state["fused_results"])) == {"tea#0"}
    assert state["fused_results"][0]["source"] == "graphiti+lancedb"
    assert [fact["name"] for fact in state["fused_results"][0]["facts"]] == ["COMES_FROM"]
    assert "Fujian" in state["answer"]
    assert state["citations"][0]["heading_path"] == ["Origin"]
    assert all(0 <= hit["score"] <= 1 for hit in (*state["graphiti_results"], *state["lancedb_results"]))
    assert state["graphiti_results"][0]["evidence"]["entities"] == ["Oolong"]
    assert state["fused_results"][0]["evidence"].keys() >= {"walk", "legs"}


async def test_what_the_graph_knows_of_the_question_moves_the_weights(weak: dict[str, Any]):
    state = await state_over_stores(weak)
    assert state["outcomes"]["graphiti"]["question"] == {"names": ["Oolong"], "specificity": 1.0}
    graph, vector = adapted_weights((0.3, 0.7), 1.0)
    assert state["fusion"]["weights"]["specificity"] == 1.0
    assert state["fusion"]["weights"]["used"] == {"graphiti": graph, "lancedb": vector}
    sources = state["fused_results"][0]["sources"]
    assert {name: said["weight"] for name, said in sources.items()} == {"graphiti": graph, "lancedb": vector}


async def test_the_operations_strategy_decides_the_final_order():
    """The same two lists: what both sources found second, what only the graph found first, what only the other did."""
    both, by_graph, by_vectors = TEA, MILK, TRAIN
    graphiti, lancedb = in_graph(by_graph, both), found(by_vectors, both)
    graphiti.results[1], lancedb.results[1] = (both, 0.7), (both, 0.7)
    orders = {}
    for operation in ("verification_canvas", "weak_point_clustering", "document_retrieval"):
        state = await ask(compiled(graphiti, lancedb), operation=operation)
        orders[operation] = ids(state["reranked_results"])
    assert orders == {
        "verification_canvas": ["tea#0", "milk#0", "train#0"],
        "weak_point_clustering": ["milk#0", "tea#0", "train#0"],
        "document_retrieval": ["train#0", "tea#0", "milk#0"],
    }


async def test_every_value_of_the_state_is_plain(weak: dict[str, Any]):
    """So that every checkpointer, the server and ``--json`` can hold it; messages are LangGraph's own."""
    state = dict(await state_over_stores(weak))
    serializer = JsonPlusSerializer()
    assert serializer.loads_typed(serializer.dumps_typed(state["messages"])) == state.pop("messages")
    for key, value in state.items():
        assert json.loads(json.dumps(value, allow_nan=False)) == value, key
        assert ormsgpack.unpackb(ormsgpack.packb(value)) == value, key


async def test_every_node_writes_only_what_is_its_own(weak: dict[str, Any]):
    """One writer a key; ``prepare_query`` empties what the others write, and begins the conversation's turn."""
    written: dict[str, str] = {}
    graph = compiled(in_graph(TRAIN, score=0.2), found(TRAIN, score=0.2), **weak)
    async for update in graph.astream({"query": QUESTION}, stream_mode="updates"):
        for node, keys in update.items():
            for key, value in (keys or {}).items():
                if not value or key == "messages":
                    continue
                assert written.setdefault(key, node) == node, key
    assert {"search_query", "request", "fused_results", "answer", "quality"} <= set(written)


# --- chat front ends -----------------------------------------------------------------------------


async def test_the_answer_is_the_last_message_and_streams_as_one():
    asked = HumanMessage(QUESTION, id="asked")
    graph = compiled(in_graph(TEA), found(TEA))
    streamed = [
        (message, told["langgraph_node"])
        async for message, told in graph.astream({"messages": [asked]}, stream_mode="messages")
    ]
    state = await graph.ainvoke({"messages": [asked]})
    message = state["messages"][-1]
    assert isinstance(message, AIMessage)
    assert [one.type for one in state["messages"]] == ["human", "ai"]
    assert (message.text, message.additional_kwargs["citations"]) == (state["answer"], state["citations"])
    assert message.additional_kwargs["abstained"] is False
    assert message.additional_kwargs["operation"] == "document_retrieval", "chosen by the words"
    assert [(one.text, node) for one, node in streamed if isinstance(one, AIMessage)] == [
        (state["answer"], "answer")
    ]


def test_without_an_event_loop_it_says_what_to_call():
    with pytest.raises(InputError, match=r"await graph\.ainvoke.*open_rag_blocking"):
        compiled(in_graph(TEA), found(TEA)).invoke({"query": QUESTION})


def test_input_and_context_are_described():
    graph = compiled(in_graph(TEA), found(TEA))
    fields = graph.get_input_jsonschema()["properties"]
    assert len(fields) <= 10
    assert all(field["description"] for field in fields.values())
    assert set(fields["operation"]["enum"]) == {"auto", *CanvasOperation}
    sections = (graph.get_context_jsonschema() or {})["$defs"]
    assert sections["FusionOverrides"]["properties"]["k"]["description"]
