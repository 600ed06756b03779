"""What LangGraph promises of a graph, on the main graph: names, messages, loops, nodes, and every checkpointer."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.embeddings import DeterministicFakeEmbedding as Embedded
from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langchain_core.runnables import RunnableConfig
from langchain_core.vectorstores import InMemoryVectorStore
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import START, StateGraph
from typing_extensions import TypedDict

from agentic_rag import GraphParts, Rag, RagConfig, build_rag_graph, open_rag, open_rag_blocking
from agentic_rag.compiled import RagGraph
from agentic_rag.errors import ConfigError, InputError
from agentic_rag.testing import FakeGraphEngine, FakeRetrievalEngine, HashingEmbedding, fake_chunk

QUESTION: Any = {"query": "Where does oolong tea come from?", "operation": "document_retrieval"}
TEA = fake_chunk("tea", "Oolong tea comes from Fujian in China.")
MILK = fake_chunk("milk", "Oolong tea comes with milk in Taiwan.")
ROUTE = [
    "prepare_query",
    {"retrieve_graphiti", "retrieve_lancedb", "select_notes"},
    "fuse_results",
    "rerank",
    "check_quality",
    "answer",
]
NODES = {name for step in ROUTE for name in ([step] if isinstance(step, str) else step)}


def parts(**changed: Any) -> GraphParts:
    found = [(TEA, 0.9), (MILK, 0.8)]
    given = GraphParts(FakeGraphEngine(found), FakeRetrievalEngine(found), HashingEmbedding())
    return replace(given, **changed)


def graph(saver: Any = None, **changed: Any) -> RagGraph:
    return build_rag_graph(parts(**changed)).compile(checkpointer=saver, name="agentic_rag")


@asynccontextmanager
async def postgres(uri: str) -> AsyncIterator[Any]:
    from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver

    async with AsyncPostgresSaver.from_conn_string(uri) as saver:
        await saver.setup()
        yield saver


@pytest.fixture(params=["memory", "sqlite", "postgres"])
async def saver(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Any]:
    if request.param == "memory":
        yield InMemorySaver()
    elif request.param == "sqlite":
        async with AsyncSqliteSaver.from_conn_string(str(tmp_path / "kept.sqlite")) as opened:
            yield opened
    else:
        async with postgres(request.getfixturevalue("postgres_uri")) as opened:
            yield opened


@pytest.fixture
def thread(request: pytest.FixtureRequest) -> Any:
    return {"configurable": {"thread_id": request.node.name}}


def essence(state: Any) -> Any:
    return {key: state[key] for key in ("answer", "citations", "abstained", "rewrites")}


# --- streams ---------------------------------------------------------------------------------------


async def test_updates_and_values_come_node_by_node(saver: Any, thread: Any):
    seen: list[str] = []
    last: Any = None
    async for mode, part in graph(saver).astream(QUESTION, thread, stream_mode=["updates", "values"]):
        if mode == "updates":
            seen += part
        else:
            last = part
    assert (seen[0], set(seen[1:4]), seen[4:]) == (ROUTE[0], ROUTE[1], ROUTE[2:])
    assert essence(last) == essence(await graph().ainvoke(QUESTION))


async def test_tasks_and_checkpoints_are_streamed(saver: Any, thread: Any):
    tasks, checkpoints = [], []
    async for mode, part in graph(saver).astream(QUESTION, thread, stream_mode=["tasks", "checkpoints"]):
        (tasks if mode == "tasks" else checkpoints).append(part)
    assert {task["name"] for task in tasks} == NODES
    assert checkpoints[-1]["next"] == []


async def test_the_answer_is_one_message(saver: Any, thread: Any):
    streamed = [part async for part, _ in graph(saver).astream(QUESTION, thread, stream_mode="messages")]
    answers = [message for message in streamed if message.type == "ai"]
    kept = (await graph(saver).aget_state(thread)).values["messages"]
    assert [message.id for message in answers] == [kept[-1].id]
    assert answers[0].text == kept[-1].text


class Names(BaseCallbackHandler):
    """Collects the names of runs and their parents."""

    def __init__(self) -> None:
        self.names: dict[Any, str] = {}
        self.parents: dict[str, str | None] = {}

    def on_chain_start(self, serialized: Any, inputs: Any, **run: Any) -> None:
        self.names[run["run_id"]] = run["name"]
        self.parents[run["name"]] = self.names.get(run["parent_run_id"])


async def test_runs_have_the_names_of_the_nodes_under_one_root():
    names = Names()
    await graph().ainvoke(QUESTION, {"callbacks": [names]})
    assert names.parents["agentic_rag"] is None
    assert {name for name, parent in names.parents.items() if parent == "agentic_rag"} == NODES


async def test_events_have_the_names_of_the_nodes():
    started = [
        event["name"]
        async for event in graph().astream_events(QUESTION, version="v2")
        if event["event"] == "on_chain_start"
    ]
    assert set(started) >= {"agentic_rag", *NODES}
    assert not [name for name in started if name.startswith("_")]


# --- interrupts, resumption, time travel -------------------------------------------------------------


@pytest.mark.parametrize("node", ["fuse_results", "rerank", "answer"])
async def test_a_run_waits_before_a_node_and_goes_on_in_another_graph(saver: Any, thread: Any, node: str):
    waiting = await graph(saver).ainvoke(QUESTION, thread, interrupt_before=[node])
    assert waiting["answer"] == ""
    assert (await graph(saver).aget_state(thread)).next == (node,)
    assert essence(await graph(saver).ainvoke(None, thread)) == essence(await graph().ainvoke(QUESTION))


async def test_a_waiting_run_goes_on_with_what_a_person_changed(saver: Any, thread: Any):
    # check_quality chooses the lines that answer, so a person steps in before it.
    compiled = graph(saver)
    await compiled.ainvoke(QUESTION, thread, interrupt_before=["check_quality"])
    state = (await compiled.aget_state(thread)).values
    only = [result for result in state["reranked_results"] if result["id"] == MILK.id]
    await compiled.aupdate_state(thread, {"reranked_results": only})
    answered = await compiled.ainvoke(None, thread)
    assert "Taiwan" in answered["answer"]
    assert "Fujian" not in answered["answer"]


async def test_an_earlier_checkpoint_is_run_again(saver: Any, thread: Any):
    compiled = graph(saver)
    first = await compiled.ainvoke(QUESTION, thread)
    history = [state async for state in compiled.aget_state_history(thread)]
    assert [state.next for state in history][:3] == [(), ("answer",), ("check_quality",)]
    before_rerank = next(state for state in history if state.next == ("rerank",))
    again = await compiled.ainvoke(None, before_rerank.config)
    assert essence(again) == essence(first)


async def test_one_checkpoint_a_run_where_it_is_asked_for(saver: Any, thread: Any):
    compiled = graph(saver)
    await compiled.ainvoke(QUESTION, thread, durability="exit")
    assert len([state async for state in compiled.aget_state_history(thread)]) == 1
    await saver.adelete_thread(thread["configurable"]["thread_id"])
    assert (await compiled.aget_state(thread)).values == {}


# --- event loops and threads -------------------------------------------------------------------------


async def test_another_event_loop_is_refused_at_once():
    compiled = graph(loop=asyncio.get_running_loop())

    def elsewhere() -> Any:
        return asyncio.run(compiled.ainvoke(QUESTION))

    with pytest.raises(InputError, match="opened on another event loop"):
        await asyncio.to_thread(elsewhere)


async def test_a_thread_without_a_loop_may_invoke_and_stream():
    compiled = graph(loop=asyncio.get_running_loop())
    state = await asyncio.to_thread(compiled.invoke, QUESTION)
    assert essence(state) == essence(await compiled.ainvoke(QUESTION))
    parts = await asyncio.to_thread(lambda: list(compiled.stream(QUESTION, stream_mode="updates")))
    assert {name for part in parts for name in part} == NODES


@pytest.mark.parametrize("call", ["invoke", "stream"])
async def test_the_loops_own_thread_is_sent_to_ainvoke(call: str):
    compiled = graph(loop=asyncio.get_running_loop())
    with pytest.raises(InputError, match=r"await graph\.ainvoke"):
        list(getattr(compiled, call)(QUESTION))


# --- nodes and parts ---------------------------------------------------------------------------------


async def test_a_node_is_replaced():
    async def reversed_order(state: Any) -> dict[str, Any]:
        return {"reranked_results": state["fused_results"][::-1], "rerank_outcome": None}

    built = build_rag_graph(parts())
    built.replace_node("rerank", reversed_order)
    state = await built.compile().ainvoke(QUESTION)
    assert [result["id"] for result in state["reranked_results"]] == [MILK.id, TEA.id]


@pytest.mark.parametrize("after", ["fuse_results", "check_quality", "prepare_query"])
async def test_a_node_is_inserted_and_sees_whole_results(after: str):
    seen: list[Any] = []

    def look(state: Any, config: RunnableConfig) -> dict[str, Any]:
        seen.append((state["fused_results"], config["metadata"]["langgraph_node"]))
        return {}

    built = build_rag_graph(parts())
    built.insert_node("look", look, after=after)
    state = await built.compile().ainvoke({**QUESTION, "top_k": 1})
    assert essence(state) == essence(await graph().ainvoke({**QUESTION, "top_k": 1}))
    ((results, name),) = seen
    assert name == "look"
    assert all(result["content"] for result in results)
    assert len(results) == (0 if after == "prepare_query" else 2)


def test_nodes_that_are_not_there_or_there_already_are_named():
    built = build_rag_graph(parts())
    with pytest.raises(InputError, match="no node 'retrieve'; its nodes are: prepare_query"):
        built.replace_node("retrieve", lambda state: {})
    with pytest.raises(InputError, match="'rerank' already"):
        built.insert_node("rerank", lambda state: {}, after="fuse_results")


class OnlyFinds:
    async def find(self, *given: Any, **named: Any) -> Any: ...


@pytest.mark.parametrize(
    ("part", "value", "missing"),
    [
        ("lancedb", OnlyFinds(), "OnlyFinds, which has no chunks, no documents"),
        ("graphiti", object(), "object, which has no find, no ready"),
        ("graphiti", None, "NoneType"),
        ("chat", object(), "object, which has no complete"),
        ("embedding", "e5", "str, which has no dimension"),
    ],
)
def test_a_part_that_lacks_something_is_refused_when_the_graph_is_built(part: str, value: Any, missing: str):
    with pytest.raises(ConfigError, match=f"GraphParts.{part} is a {missing}"):
        parts(**{part: value})


@pytest.mark.parametrize(
    ("part", "value", "remedy"),
    [
        ("embedding", HashingEmbedding, "the class HashingEmbedding; give an object"),
        ("lancedb", FakeRetrievalEngine, "the class FakeRetrievalEngine; give an object"),
        ("sources", {"book": FakeGraphEngine}, "the class FakeGraphEngine; give an object"),
        ("sources", [FakeGraphEngine([])], "list; give each source a name"),
        ("chat", FakeListChatModel(responses=["x"]), "as_chat makes one"),
        ("lancedb", InMemoryVectorStore(Embedded(size=8)).as_retriever(), "RetrieverSource makes one"),
        ("embedding", Embedded(size=8), "as_embedding makes one"),
    ],
)
def test_a_refused_part_names_what_to_give(part: str, value: Any, remedy: str):
    with pytest.raises(ConfigError, match=remedy):
        parts(**{part: value})


# --- Rag ---------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("contract")
    (folder / "vault").mkdir()
    (folder / "vault" / "tea.md").write_text("# Tea\n\nOolong tea comes from Fujian in China.\n", "utf-8")
    (folder / "vault" / "milk.md").write_text("# Milk\n\nMilk is poured into tea in Tibet.\n", "utf-8")
    with open_rag_blocking(RagConfig(data_dir=folder / "data")) as rag:
        rag.ingest(folder / "vault")
    return folder / "data"


@pytest.fixture
async def rag(data: Path) -> AsyncIterator[Rag]:
    async with open_rag(RagConfig(data_dir=data), checkpointer=InMemorySaver()) as opened:
        yield opened


async def test_questions_of_one_thread_take_turns(rag: Rag):
    asked = [f"Where does oolong tea come from, for the {number}. time?" for number in range(5)]
    await asyncio.gather(*(rag.ask(question, thread_id="one") for question in asked))
    kept = await rag.messages("one")
    assert [message.type for message in kept] == ["human", "ai"] * 5
    assert sorted(str(message.text) for message in kept[::2]) == sorted(asked)


@pytest.mark.parametrize("passes", ["its config", "a config of its own", "none"])
async def test_a_node_of_another_graph_asks_in_a_conversation(rag: Rag, passes: str):
    class Outer(TypedDict, total=False):
        question: str
        answer: str

    async def ask(state: Outer, config: RunnableConfig) -> Outer:
        given: Any = {"its config": config, "a config of its own": {"tags": ["mine"]}, "none": None}[passes]
        answer = await rag.ask(state["question"], thread_id="inner", config=given)
        return {"answer": answer.text}

    outer: Any = StateGraph(Outer)
    outer.add_node("ask", ask)
    outer.add_edge(START, "ask")
    compiled = outer.compile(checkpointer=InMemorySaver())
    for _ in range(2):
        await compiled.ainvoke(
            {"question": "Where does oolong tea come from?"}, {"configurable": {"thread_id": "outer"}}
        )
    assert [message.type for message in await rag.messages("inner")] == ["human", "ai"] * 2
    assert await rag.messages("outer") == []


async def test_a_users_memories_are_refused_on_another_event_loop_too(rag: Rag):
    await rag.memory.remember("I drink oolong tea.", "ada")

    def elsewhere(call: Any) -> Any:
        return asyncio.to_thread(asyncio.run, call)

    for call in (
        rag.memory.orchestrator.graph.ainvoke({"query": "tea", "user_id": "ada"}),
        rag.memory.search("tea", "ada"),
    ):
        with pytest.raises(InputError, match="opened on another event loop"):
            await elsewhere(call)
    assert (await rag.memory.search("tea", "ada")).memories


async def test_a_run_takes_callbacks_tags_metadata_and_a_name(rag: Rag):
    seen: list[Any] = []

    class Root(BaseCallbackHandler):
        def on_chain_start(self, serialized: Any, inputs: Any, **run: Any) -> None:
            if run["parent_run_id"] is None:
                seen.append((run["name"], run["tags"], run["metadata"]["team"]))

    config: Any = {"callbacks": [Root()], "tags": ["mine"], "metadata": {"team": "tea"}, "run_name": "my run"}
    await rag.ask("Where does oolong tea come from?", config=config)
    [part async for part in rag.stream("Where does oolong tea come from?", config=config)]
    await rag.ask("Where does oolong tea come from?", config=config, thread_id="mine")
    assert seen == [("my run", ["mine"], "tea")] * 3


async def test_reports_and_answers_have_a_short_repr(rag: Rag, data: Path):
    answer = await rag.ask("Where does oolong tea come from?")
    report = await rag.ingest(data.parent / "vault")
    assert max(len(repr(one)) for one in (rag, answer, report)) < 400


def test_blocking_calls_have_the_signatures_of_the_others(data: Path):
    from inspect import signature

    with open_rag_blocking(RagConfig(data_dir=data)) as rag:
        for name in ("ask", "stream", "ingest", "related_facts", "schema", "check"):
            assert signature(getattr(rag, name)) == signature(getattr(rag.rag, name))
        steps = list(rag.stream("Where does oolong tea come from?"))
        assert steps[-1].text == rag.ask("Where does oolong tea come from?").text
        assert essence(rag.rag.graph.invoke(QUESTION)) == essence(rag.invoke(QUESTION))
