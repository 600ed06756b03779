"""A user's memories as the third source of the compiled graph."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langgraph.checkpoint.memory import InMemorySaver

from agentic_rag import RagConfig
from agentic_rag.domain import Chunk
from agentic_rag.errors import AllSourcesFailed, ConfigError, InputError, StoreError
from agentic_rag.fusion.rrf_fusion import fuse_ranks
from agentic_rag.fusion.strategy_selector import execute_fusion
from agentic_rag.graph import GraphParts, build_rag_graph
from agentic_rag.memory.memories import Memories
from agentic_rag.opening import embedding_from_config
from agentic_rag.settings.parameters import FusionParameters, Parameters
from agentic_rag.stores.in_memory import InMemoryChunkStore
from agentic_rag.stores.in_memory_graph import InMemoryGraphStore
from agentic_rag.testing import FakeGraphEngine, FakeMemory, FakeRetrievalEngine, HashingEmbedding, fake_chunk
from user_memories import memories_on

QUESTION = "Where does oolong tea come from?"
TEA = fake_chunk("tea", "Oolong tea comes from Fujian in China.")
MINE = "I said that oolong tea comes from Anxi."
YOURS = "You said that oolong tea comes from Taiwan."
FIND, RELATE, BOARD = "document_retrieval", "concept_relation", "verification_canvas"


def memory(**given: Any) -> FakeMemory:
    return FakeMemory({"ada": [(MINE, 0.95)], "bo": [(YOURS, 0.95)]}, **given)


def compiled(
    memories: FakeMemory | Memories | None,
    *,
    graph: tuple[Chunk, ...] = (TEA,),
    saver: Any = None,
    **values: Any,
) -> Any:
    parts = GraphParts(
        FakeGraphEngine([(chunk, 0.9) for chunk in graph]),
        FakeRetrievalEngine([(TEA, 0.9)]),
        HashingEmbedding(),
        memory=memories,
    )
    return build_rag_graph(parts, Parameters().override(values)).compile(checkpointer=saver)


async def ask(graph: Any, *, thread: str | None = None, context: Any = None, **keys: Any) -> Any:
    config = {"configurable": {"thread_id": thread}} if thread else None
    return await graph.ainvoke({"query": QUESTION, **keys}, config, context=context)


def texts(state: Any) -> list[str]:
    return [result["content"] for result in state["reranked_results"]]


async def test_without_a_user_nothing_is_asked_of_the_memories():
    memories = memory()
    state = await ask(compiled(memories))
    assert memories.requests == []
    assert (state["memory_results"], state["memory_outcome"], "memory" in state["outcomes"]) == (
        [],
        None,
        False,
    )


async def test_a_users_memories_are_fused_by_rank_like_the_others():
    state = await ask(compiled(memory()), operation=BOARD, user_id="ada")
    assert MINE in texts(state)
    result = next(one for one in state["fused_results"] if one["content"] == MINE)
    assert (result["source"], result["fused_score"]) == ("memory", pytest.approx(1 / 61))
    assert state["outcomes"]["memory"]["status"] == "ok"
    assert state["fusion"]["counts"]["memory"] == 1


async def test_a_citation_points_into_what_was_said():
    state = await ask(compiled(memory()), operation=BOARD, user_id="ada")
    cited = next(one for one in state["citations"] if one["path"].startswith("memory/"))
    assert MINE[cited["start"] : cited["end"]] == cited["quote"]


async def test_under_a_weighted_strategy_memories_weigh_as_much_as_the_two_others_together():
    memories = memory()
    state = await ask(compiled(memories), operation=FIND, user_id="ada")
    assert (len(memories.requests), state["fusion"]["parameters"]["memory_weight"]) == (1, 0.5)
    used = state["fusion"]["parameters"]
    assert used["graphiti_weight"] + used["lancedb_weight"] == pytest.approx(0.5)


async def test_under_the_cascade_memories_are_asked_in_either_tier():
    enough = tuple(fake_chunk(f"tea-{n}", f"Oolong tea {n} comes from Fujian.") for n in range(4))
    memories = memory()
    first = await ask(compiled(memories, graph=enough), operation=RELATE, user_id="ada")
    assert (first["fusion"]["tier"], len(memories.requests)) == (1, 1)
    assert MINE in texts(first)
    second = await ask(compiled(memories, graph=()), operation=RELATE, user_id="ada")
    assert second["fusion"]["tier"] == 2
    assert {one["content"]: one["tier"] for one in second["fused_results"]}[MINE] == 2


async def bundled() -> Memories:
    """Empty memories with the bundled model, whose relevance is calibrated."""
    embedding = await embedding_from_config(RagConfig())
    graph = InMemoryGraphStore(embedding)
    return memories_on(embedding, InMemoryChunkStore(dimension=embedding.dimension), graph)


async def test_what_is_asked_of_the_person_is_answered_by_the_persons_facts():
    memories = await bundled()
    await memories.remember("I live in Oslo. I love oolong tea.", "ada", at="2021-02-01")
    await memories.remember("I moved to Bergen. My sister lives in Rome.", "ada", at="2023-04-10")
    await memories.remember("I can't stand oolong tea any more.", "ada", at="2024-02-02")
    notes = tuple(fake_chunk(f"note-{n}", f"The roaster lives where the cassia {n} grows.") for n in range(4))
    graph = compiled(memories, graph=notes)
    answers = {
        "Where do I live?": "I moved to Bergen [1]",
        "Where did I live before?": "I live in Oslo (2021-02-01 to 2023-04-10) [1]",
        "Where did I live in 2022?": "I live in Oslo (2021-02-01 to 2023-04-10) [1]",
        "When did I stop liking oolong tea?": "I love oolong tea (2021-02-01 to 2024-02-02) [1]",
        "我住在哪里？": "I moved to Bergen [1]",
    }
    for question, answer in answers.items():
        for operation in (FIND, "auto"):
            state = await ask(graph, query=question, operation=operation, user_id="ada")
            assert state["answer"] == answer
        related = await ask(graph, query=question, operation=RELATE, user_id="ada")
        assert texts(related)[0] == answer.removesuffix(" [1]")
    with_notes = await ask(graph, operation=FIND, user_id="ada")
    assert with_notes["answer"] == (await ask(graph, operation=FIND))["answer"]


async def test_a_graph_without_memories_says_that_they_were_skipped():
    state = await ask(compiled(None), operation=BOARD, user_id="ada")
    assert state["outcomes"]["memory"] == "skipped"


async def test_memories_that_fail_are_degraded_and_the_others_answer():
    broken = memory(error=StoreError("the disk is full"))
    state = await ask(compiled(broken), operation=BOARD, user_id="ada")
    assert state["outcomes"]["memory"]["status"] == "degraded"
    assert "the disk is full" in state["outcomes"]["memory"]["reason"]
    assert TEA.text in texts(state)


async def test_memories_that_hang_are_degraded_when_their_time_is_up():
    state = await ask(
        compiled(memory(seconds=60), retrieval={"timeout_seconds": 0.1}), operation=BOARD, user_id="ada"
    )
    assert state["outcomes"]["memory"]["reason"] == "no answer within 0.1 s"


async def test_an_agent_that_failed_is_named():
    state = await ask(compiled(memory(degraded_types=["core_agent"])), operation=BOARD, user_id="ada")
    outcome = state["outcomes"]["memory"]
    assert (outcome["status"], outcome["reason"]) == ("ok", "without core_agent, which failed")


async def test_where_nobody_answers_there_is_nothing_to_answer_from():
    failing = GraphParts(
        FakeGraphEngine(error=StoreError("a")),
        FakeRetrievalEngine(error=StoreError("b")),
        HashingEmbedding(),
        memory=memory(error=StoreError("c")),
    )
    with pytest.raises(AllSourcesFailed, match="c"):
        await ask(build_rag_graph(failing).compile(), operation=BOARD, user_id="ada")


async def test_a_kept_thread_shows_no_user_anothers_memories():
    graph = compiled(memory(), saver=InMemorySaver())
    first = await ask(graph, thread="t", operation=BOARD, user_id="ada")
    second = await ask(graph, thread="t", operation=BOARD, user_id="bo")
    nobody = await ask(graph, thread="t", operation=BOARD, user_id=None)
    assert (MINE in texts(first), YOURS in texts(first)) == (True, False)
    assert (MINE in texts(second), YOURS in texts(second)) == (False, True)
    assert {MINE, YOURS}.isdisjoint(texts(nobody))


async def test_a_resumed_run_has_the_memories_whole():
    graph = compiled(memory(), saver=InMemorySaver())
    config = {"configurable": {"thread_id": "t"}}
    keys = {"query": QUESTION, "operation": BOARD, "user_id": "ada"}
    await graph.ainvoke(keys, config, interrupt_before=["rerank"])
    assert MINE in texts(await graph.ainvoke(None, config))


@pytest.mark.parametrize("user_id", ["", "  ", 7, "a\0b"])
async def test_a_user_id_that_can_be_none_is_refused(user_id: Any):
    with pytest.raises(InputError, match="a memory needs the id of its user"):
        await ask(compiled(memory()), user_id=user_id)


async def test_a_users_memories_are_no_dataset():
    with pytest.raises(InputError, match="user_id"):
        await ask(compiled(memory()), dataset="memory:ada")


ranked = st.lists(st.sampled_from("abcdef"), unique=True, max_size=6)


@given(ranked, ranked, ranked)
def test_three_lists_are_fused_by_rank(graph: list[str], vector: list[str], own: list[str]):
    hits = [[{"id": name} for name in names] for names in (graph, vector, own)]
    fused = execute_fusion("rrf", hits[0], hits[1], memory_results=hits[2])  # type: ignore[arg-type]
    by_hand = {
        name: sum(
            share / (60 + names.index(name) + 1)
            for names, share in ((graph, 1.0), (vector, 1.0), (own, 1.0))
            if name in names
        )
        for name in {*graph, *vector, *own}
    }
    assert {one.id: one.fused_score for one in fused} == pytest.approx(by_hand)


@given(st.floats(0, 1))
def test_weights_always_sum_to_one(weight: float):
    parameters = FusionParameters(graphiti_weight=weight)
    fused = execute_fusion(
        "weighted_graphiti", [{"id": "a"}], [{"id": "b"}], parameters, memory_results=[{"id": "c"}]
    )  # type: ignore[arg-type, list-item]
    used = fused.report["parameters"]
    assert sum(used[f"{name}_weight"] for name in ("graphiti", "lancedb", "memory")) == pytest.approx(1)


def test_nothing_with_a_weight_is_an_error():
    with pytest.raises(ConfigError, match="every weight is 0"):
        fuse_ranks({"memory": ([], 0.0)})
