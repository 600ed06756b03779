"""Every named system on engines with given results."""

from __future__ import annotations

from typing import Any

import pytest
from langgraph.checkpoint.memory import InMemorySaver

from agentic_rag import Rag, RagConfig
from agentic_rag.domain.filters import Comparison
from agentic_rag.domain.ports import Chat
from agentic_rag.errors import AllSourcesFailed, ConfigError, InputError, ModelError, StoreError
from agentic_rag.graph import GraphParts, build_rag_graph
from agentic_rag.models.rerankers import ConfiguredRerankers
from agentic_rag.nodes.request import MAX_CHARACTERS
from agentic_rag.testing import (
    FakeGraphEngine,
    FakeRetrievalEngine,
    HashingEmbedding,
    ScriptedChat,
    fake_chunk,
)
from agentic_rag_lab.evaluation.datasets import EvalQuery
from agentic_rag_lab.evaluation.systems import SystemOutput, Systems, Task

GRAPH = [
    (fake_chunk("a", "green tea"), 0.9),
    (fake_chunk("b", "black tea"), 0.8),
    (fake_chunk("e", "tea"), 0.7),
]
VECTOR = [(fake_chunk("c", "white tea"), 0.9), (fake_chunk("b", "black tea"), 0.85)]


class Bench:
    """An open ``Rag`` made of fakes."""

    def __init__(
        self,
        chat: Chat | None = None,
        graph: FakeGraphEngine | None = None,
        vector: FakeRetrievalEngine | None = None,
        checkpointer: Any = None,
        **config: Any,
    ) -> None:
        self.graph = graph or FakeGraphEngine(GRAPH)
        self.vector = vector or FakeRetrievalEngine(VECTOR)
        settings = RagConfig(**config)
        rerankers = ConfiguredRerankers(chat)
        parts = GraphParts(self.graph, self.vector, HashingEmbedding(), chat, rerankers)
        compiled = build_rag_graph(parts, settings).compile(checkpointer=checkpointer)
        nothing: Any = None
        self.systems = Systems(
            Rag(settings, compiled, parts, self.vector, self.graph, nothing, nothing, nothing, nothing)
        )

    async def run(self, name: str, operation: str = "document_retrieval", text: str = "tea") -> SystemOutput:
        query = EvalQuery("q", text, {"a": 1})
        return await self.systems.run(name, Task(query, "d", {"lang": "en"}, operation))


def ids(scored: SystemOutput) -> list[str]:
    return [result["id"] for result in scored.results]


async def test_each_source_keeps_its_own_order() -> None:
    bench = Bench()
    assert ids(await bench.run("graphiti")) == ["a#0", "b#0", "e#0"]
    assert ids(await bench.run("lancedb")) == ids(await bench.run("dense")) == ["c#0", "b#0"]
    await bench.run("sparse")
    assert [asked["strategy"] for asked in bench.vector.requests] == ["hybrid", "dense", "sparse"]
    assert all(asked["filters"] == Comparison("lang", "$eq", "en") for asked in bench.vector.requests)
    assert bench.graph.requests[0]["dataset"] == "d"


async def test_fusions() -> None:
    bench = Bench()
    assert ids(await bench.run("rrf"))[0] == "b#0"
    assert ids(await bench.run("weighted_graphiti"))[0] == "a#0"
    assert ids(await bench.run("fused", "document_retrieval")) == ids(await bench.run("weighted_lancedb"))
    reranked = await bench.run("rrf+rerank")
    assert all(result["rerank_score"] is not None for result in reranked.results)
    assert (reranked.model_calls, reranked.confidence, reranked.is_abstention) == (0, None, None)
    assert reranked.milliseconds > 0


async def test_the_cascade_asks_the_vector_store_only_where_it_would() -> None:
    for enough, operation in (
        (Bench(), "concept_relation"),
        (Bench(fusion={"graphiti_threshold": 3}), "document_retrieval"),
    ):
        assert ids(await enough.run("cascade", operation)) == ["a#0", "b#0", "e#0"]
        assert enough.vector.requests == []
    assert "c#0" in ids(await Bench().run("cascade", "document_retrieval"))
    short = Bench(fusion={"graphiti_threshold": 5})
    assert "c#0" in ids(await short.run("cascade"))
    alone = Bench(fusion={"graphiti_threshold": 5, "lancedb_weight": 0.0})
    assert ids(await alone.run("cascade")) == ["a#0", "b#0", "e#0"]
    assert alone.vector.requests == []


OPERATIONS = ["verification_canvas", "weak_point_clustering", "concept_relation", "document_retrieval"]


@pytest.mark.parametrize("operation", OPERATIONS)
async def test_a_whole_graph_without_one_source(operation: str) -> None:
    bench = Bench()
    without_graph = await bench.run("full-graphiti", operation)
    assert set(ids(without_graph)) == {"c#0", "b#0"}
    without_vectors = await bench.run("full-lancedb", operation)
    assert set(ids(without_vectors)) == {"a#0", "b#0", "e#0"}
    for scored in (without_graph, without_vectors):
        assert all(len(result["sources"]) == 1 for result in scored.results)


async def test_a_whole_graph_tells_its_confidence_and_whether_it_abstained() -> None:
    found = await Bench().run("full")
    assert (found.is_abstention, found.model_calls, found.degraded_sources) == (False, 0, ())
    assert found.confidence is not None
    assert found.confidence == pytest.approx(max(r["rerank_score"] for r in found.results), abs=1e-6)
    nothing = await Bench(graph=FakeGraphEngine(), vector=FakeRetrievalEngine()).run("full")
    assert (nothing.is_abstention, nothing.confidence, nothing.results) == (True, 0.0, [])


async def test_a_graph_that_keeps_conversations_keeps_none_of_what_it_is_evaluated_by() -> None:
    kept = InMemorySaver()
    assert ids(await Bench(checkpointer=kept).run("full"))
    assert list(kept.list(None)) == []


@pytest.fixture
def weak(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Settings of the answer under which no result is ever strong, and none refused."""
    monkeypatch.setattr("agentic_rag.nodes.check_quality.WEAK_ODDS", 1e9)
    return {"abstain_below": 1e-6}


async def test_limits_in_seconds_do_not_count(weak: dict[str, Any]) -> None:
    bench = Bench(
        graph=FakeGraphEngine(GRAPH, seconds=0.05),
        retrieval={"timeout_seconds": 0.001},
        answer=weak,
    )
    found = await bench.run("full", text="tea ceremony")
    assert found.degraded_sources == ()
    assert len(bench.graph.requests) == 2, "the weak first pass was followed by a second"


@pytest.mark.parametrize("name", ["full", "fused", "fused+rerank"])
async def test_a_source_that_failed_is_told(name: str) -> None:
    bench = Bench(graph=FakeGraphEngine(error=StoreError("gone")))
    found = await bench.run(name)
    assert found.degraded_sources == ("graphiti",)
    assert set(ids(found)) == {"c#0", "b#0"}


async def test_a_system_whose_only_source_failed_has_no_results_to_score() -> None:
    bench = Bench(graph=FakeGraphEngine(error=StoreError("gone")))
    with pytest.raises(AllSourcesFailed, match="gone"):
        await bench.run("graphiti")


async def test_a_rerank_model_that_failed_is_told() -> None:
    found = await Bench(ScriptedChat(ModelError("no")), rerank={"method": "chat"}).run("rrf+rerank")
    assert (found.degraded_sources, found.model_calls) == (("rerank",), 1)
    assert ids(found)


async def test_a_source_alone_counts_whatever_weight_it_has() -> None:
    bench = Bench(fusion={"graphiti_weight": 0.0, "lancedb_weight": 1.0})
    assert ids(await bench.run("graphiti")) == ["a#0", "b#0", "e#0"]


@pytest.mark.parametrize("name", ["graphiti", "sparse", "fused"])
async def test_a_long_question_is_searched_for_as_the_graph_would(name: str) -> None:
    bench = Bench()
    await bench.run(name, text="tea " * 2_000)
    await bench.run("full", text="tea " * 2_000)
    asked = [asked["query"] for asked in [*bench.graph.requests, *bench.vector.requests]]
    first_pass = [query for query in asked if set(query.split()) == {"tea"}]
    assert len(set(first_pass)) == 1
    assert len(first_pass) >= 3
    assert len(first_pass[0]) == MAX_CHARACTERS + 1


async def test_chat_calls_are_counted_where_they_are_made(weak: dict[str, Any]) -> None:
    chat = ScriptedChat("6, 7, 8, 9", "what tea?", "6, 7, 8, 9", "green tea [1]")
    bench = Bench(
        chat,
        rerank={"method": "chat"},
        rewrite={"method": "chat"},
        answer={"method": "chat", **weak},
    )
    found = await bench.run("full", text="green black tea roses")
    assert found.model_calls == len(chat.prompts) == 4
    assert found.degraded_sources == ()


async def test_a_call_that_failed_counts_too() -> None:
    chat = ScriptedChat(ModelError("no"))
    found = await Bench(chat, answer={"method": "chat"}).run("full")
    assert (found.model_calls, len(chat.prompts), found.degraded_sources) == (1, 1, ("answer",))


async def test_reranking_by_a_model() -> None:
    chat = ScriptedChat("2, 9, 1, 3")
    bench = Bench(chat, rerank={"method": "chat"})
    found = await bench.run("rrf+rerank")
    assert found.model_calls == len(chat.prompts) == 1
    assert found.results[0]["rerank_score"] == 0.9
    for method in ("chat", "cross_encoder"):
        with pytest.raises(ConfigError, match=rf"rerank\.method is '{method}'"):
            Bench(rerank={"method": method})


@pytest.mark.parametrize(
    ("found", "depth", "calls"),
    [(0, 20, 0), (10, 20, 1), (11, 20, 2), (25, 20, 2), (25, 1000, 3), (25, 1, 1)],
)
async def test_a_chat_model_is_called_for_each_batch(
    found: int, depth: int, calls: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("agentic_rag.rerank", "agentic_rag_lab.evaluation.systems"):
        monkeypatch.setattr(f"{module}.DEPTH", depth)
    vector = FakeRetrievalEngine([(fake_chunk(f"n{number}", "tea"), 0.5) for number in range(found)])
    chat = Alike()
    bench = Bench(chat, FakeGraphEngine(), vector, rerank={"method": "chat"})
    scored = await bench.run("rrf+rerank")
    assert len(scored.results) == found
    assert (scored.model_calls, chat.calls, scored.degraded_sources) == (calls, calls, ())


class Alike:
    """A chat model that rates every passage alike."""

    calls = 0

    async def complete(self, system: str, user: str) -> str:
        self.calls += 1
        return "\n".join(["5"] * user.count("</passage>"))


@pytest.mark.parametrize("names", [[], ["psychic"], ["dense", "full+rerank"], ["+rerank"], ["full-dense"]])
def test_unknown_systems_are_refused_with_the_known_ones(names: list[str]) -> None:
    with pytest.raises(InputError, match=r"graphiti, lancedb, .*NAME\+rerank, full, full-graphiti"):
        Bench().systems.check(names)
