"""``retrieve``: the queries to the sources, its writes, and the outcome of each failure."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, ClassVar

import pytest

from agentic_rag.domain import Chunk, Findings, Hit
from agentic_rag.domain.filters import Comparison
from agentic_rag.domain.ports import EmbeddedDocument, FloatArray
from agentic_rag.errors import FilterError, ManifestMismatch, ModelError, StoreError, StoreLocked
from agentic_rag.fusion.strategy_selector import CanvasOperation
from agentic_rag.nodes import retrieve
from agentic_rag.nodes.request import Request
from agentic_rag.nodes.retrieve import query_of, search_source
from agentic_rag.retrieval.engine import RetrievalEngine
from agentic_rag.retrieval.graph_engine import GraphEngine
from agentic_rag.retrieval.ports import GraphSearch, SourceQuery, VectorSearch
from agentic_rag.retrieval.schemas import JudgedResults, Leg, RetrievalResult
from agentic_rag.retrieval.sources import GraphSource, VectorSource, as_hit
from agentic_rag.settings.parameters import Parameters
from agentic_rag.stores.in_memory import InMemoryChunkStore
from agentic_rag.stores.in_memory_graph import InMemoryGraphStore
from agentic_rag.testing import (
    FakeGraphEngine,
    FakeRetrievalEngine,
    HashingEmbedding,
    fake_chunk,
    prepared_state,
)

TEA = fake_chunk("tea", metadata={"year": 2024})
ASKED: dict[str, Any] = {
    "query": "the question?", "dataset": "notes", "filters": {"year": 2024}, "as_of": "2024-06-30T00:00:00"
}  # fmt: skip
REQUESTED = {
    "dataset": "notes", "query": "tea?", "limit": 100, "filters": Comparison("year", "$eq", 2024),
    "as_of": datetime(2024, 6, 30, tzinfo=UTC), "strategy": None, "judged_as": "the question?", "user_id": None,
    "own_notes": False,
}  # fmt: skip


def state(parameters: Parameters | None = None) -> Any:
    return {**prepared_state(parameters or Parameters(), **ASKED), "search_query": "tea?"}


async def retrieve_graphiti(asked: Any, *, engine: GraphSearch) -> dict[str, Any]:
    return await retrieve.retrieve(asked, name="graphiti", source=GraphSource(engine))


async def retrieve_lancedb(asked: Any, *, engine: VectorSearch) -> dict[str, Any]:
    return await retrieve.retrieve(asked, name="lancedb", source=VectorSource(engine))


async def test_the_graph_is_asked_and_its_hits_written():
    engine = FakeGraphEngine([(TEA, 0.8)])
    written = await retrieve_graphiti(state(), engine=engine)
    assert engine.requests == [REQUESTED]
    assert set(written) == {"graphiti_results", "graphiti_outcome"}
    assert [hit["id"] for hit in written["graphiti_results"]] == ["tea#0"]
    assert written["graphiti_outcome"]["status"] == "ok"


async def test_the_vector_store_is_asked_and_its_results_written_as_hits():
    engine = FakeRetrievalEngine([(TEA, 0.8)])
    written = await retrieve_lancedb(state(), engine=engine)
    assert engine.requests == [{**REQUESTED, "strategy": "hybrid"}]
    assert set(written) == {"lancedb_results", "lancedb_outcome"}
    assert written["lancedb_results"][0]["evidence"] == {"legs": {"dense": {"rank": 1, "score": 0.8}}}


async def test_only_weak_points_are_looked_for_in_what_the_program_noted_itself():
    for operation in CanvasOperation:
        asked = {
            **prepared_state(Parameters(), **{**ASKED, "operation": operation.value}),
            "search_query": "tea?",
        }
        graph, vectors = FakeGraphEngine([(TEA, 0.8)]), FakeRetrievalEngine([(TEA, 0.8)])
        await retrieve_graphiti(asked, engine=graph)
        await retrieve_lancedb(asked, engine=vectors)
        told = [engine.requests[0]["own_notes"] for engine in (graph, vectors)]
        assert told == [operation is CanvasOperation.WEAK_POINT_CLUSTERING] * 2


async def test_where_nothing_passes_a_filter_the_reason_is_told():
    for engine, reason in (
        (FakeRetrievalEngine(), f"no notes pass {Comparison('year', '$eq', 2024)}"),
        (FakeRetrievalEngine([(TEA, 0.8)]), None),
    ):
        written = await retrieve_lancedb(state(), engine=engine)
        assert written["lancedb_outcome"]["reason"] == reason


class SlowAtMany(HashingEmbedding):
    """Embeds a question in time, and the reference pairs in more than a source has."""

    async def embed_queries(self, texts: Sequence[str]) -> FloatArray:
        await asyncio.sleep(0.0 if len(texts) == 1 else 1.0)
        return await super().embed_queries(texts)


@pytest.mark.parametrize("name", ["graphiti", "lancedb"])
async def test_a_slow_model_embeds_its_reference_pairs_in_time_of_their_own(name: str):
    embedding = SlowAtMany()
    chunks, graph = InMemoryChunkStore(dimension=64), InMemoryGraphStore(embedding)
    vectors = await embedding.embed_passages([TEA.text])
    await chunks.replace_documents("notes", [EmbeddedDocument("tea", (TEA,), vectors)])
    asked = state(Parameters().override({"retrieval": {"timeout_seconds": 0.5}}))
    written = await (
        retrieve_graphiti(asked, engine=GraphEngine(graph, chunks, embedding))
        if name == "graphiti"
        else retrieve_lancedb(asked, engine=RetrievalEngine(chunks, embedding))
    )
    assert written[f"{name}_outcome"]["status"] in ("ok", "empty"), written[f"{name}_outcome"]["reason"]


async def test_words_alone_need_no_reference_pairs():
    embedding = HashingEmbedding()
    engine = RetrievalEngine(InMemoryChunkStore(dimension=64), embedding)
    await engine.ready("sparse")
    assert embedding.embedded_texts == []
    await engine.ready()
    assert len(embedding.embedded_texts) == 80


class Knowing(FakeGraphEngine):
    """Knows something of every question."""

    async def find(self, *arguments: Any, **keys: Any) -> Findings:
        return Findings(
            (await super().find(*arguments, **keys)).hits, {"names": ["Tea"], "specificity": 0.25}
        )


class Familiar(FakeRetrievalEngine):
    """Finds every question as familiar as it is told to."""

    familiarity: float | None = None

    async def find(self, *arguments: Any, **keys: Any) -> JudgedResults:
        return JudgedResults((await super().find(*arguments, **keys)).results, self.familiarity)


@pytest.mark.parametrize("hits", [[(TEA, 0.8)], []])
async def test_what_the_graph_knows_of_the_question_is_told(hits: list[tuple[Chunk, float]]):
    written = await retrieve_graphiti(state(), engine=Knowing(hits))
    assert written["graphiti_outcome"]["count"] == len(hits)
    assert written["graphiti_outcome"]["question"] == {"names": ["Tea"], "specificity": 0.25}


@pytest.mark.parametrize(
    ("familiarity", "told"), [(None, {}), (0.0, {"familiarity": 0.0}), (1 / 3, {"familiarity": 0.333333})]
)
async def test_how_familiar_a_question_is_is_told_where_it_is_known(
    familiarity: float | None, told: dict[str, float]
):
    engine = Familiar([(TEA, 0.8)])
    engine.familiarity = familiarity
    written = await retrieve_lancedb(state(), engine=engine)
    assert written["lancedb_outcome"]["question"] == told


@pytest.mark.parametrize(
    ("near", "told"), [(None, {}), (0.0, {"tokens": 0.0}), (2 / 3, {"tokens": 0.666667})]
)
def test_a_result_as_a_hit(near: float | None, told: dict[str, float]):
    result = RetrievalResult(TEA, 0.7, {"dense": Leg(2, 0.9), "sparse": Leg(1, 8.5)}, near)
    assert as_hit(result, 3) == {
        "id": "tea#0",
        "content": "tea",
        "type": "document",
        "rank": 3,
        "score": 0.7,
        "metadata": result.metadata,
        "evidence": {
            "legs": {"dense": {"rank": 2, "score": 0.9}, "sparse": {"rank": 1, "score": 8.5}},
            **told,
        },
        "facts": [],
    }


# --- asking one source -----------------------------------------------------------------------------

HIT: Hit = {
    "id": "a", "content": "", "type": "document", "rank": 1, "score": 0.5, "metadata": {}, "evidence": {},
    "facts": [],
}  # fmt: skip
KNOWN = {"names": ["Tea"], "specificity": 0.5}


@dataclass
class Scripted:
    """A source that takes its time, then gives or raises its result."""

    result: Any
    seconds: float = 0.0
    preparing: float = 0.0
    fails: Exception | None = None
    is_chunk_store: ClassVar[bool] = True

    async def ready(self, query: SourceQuery) -> None:
        await asyncio.sleep(self.preparing)
        if self.fails is not None:
            raise self.fails

    async def find(self, query: SourceQuery) -> Findings:
        await asyncio.sleep(self.seconds)
        if isinstance(self.result, BaseException):
            raise self.result
        return Findings(list(self.result), KNOWN)

    async def why_empty(self, query: SourceQuery) -> str | None:
        return None


async def outcome_of(source: Scripted, timeout: float = 5.0) -> tuple[list[Hit], Any]:
    return await search_source(source, query_of(Request.of(state()), "tea?"), timeout)


async def outcome(result: Any, *, seconds: float = 0.0, timeout: float = 5.0) -> tuple[list[Hit], Any]:
    return await outcome_of(Scripted(result, seconds), timeout)


async def test_hits_are_ok():
    hits, told = await outcome([HIT])
    assert hits == [HIT]
    assert told == {
        "status": "ok", "reason": None, "count": 1, "ms": told["ms"], "question": KNOWN
    }  # fmt: skip
    assert 0 <= told["ms"] < 5000


async def test_no_hits_are_empty():
    hits, told = await outcome([])
    assert (hits, told["status"], told["reason"], told["count"]) == ([], "empty", None, 0)
    assert told["question"] == KNOWN, "a source may know the question and find nothing"


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (StoreError("gone"), "StoreError: gone"),
        (StoreLocked("another process"), "StoreLocked: another process"),
        (ConnectionRefusedError("refused"), "ConnectionRefusedError: refused"),
        (TimeoutError("the socket's own"), "TimeoutError: the socket's own"),
    ],
)
async def test_a_failure_is_degraded_with_its_reason(error: Exception, reason: str):
    hits, told = await outcome(error)
    assert (hits, told["status"], told["reason"], told["count"]) == ([], "degraded", reason, 0)
    assert told["question"] == {}


async def test_a_search_that_takes_too_long_is_degraded():
    hits, told = await outcome([HIT], seconds=5, timeout=0.02)
    assert (hits, told["status"], told["reason"]) == ([], "degraded", "no answer within 0.02 s")
    assert told["ms"] < 1000


async def test_getting_ready_is_not_the_searchs_time():
    hits, told = await outcome_of(Scripted([HIT], preparing=0.1), timeout=0.02)
    assert (hits, told["status"]) == ([HIT], "ok")
    assert told["ms"] >= 100


async def test_getting_ready_has_a_limit_too(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(retrieve, "READY_SECONDS", 0.03)
    hits, told = await outcome_of(Scripted([HIT], preparing=5), timeout=0.02)
    assert (hits, told["status"], told["reason"]) == ([], "degraded", "no answer within 0.03 s")


async def test_what_cannot_get_ready_is_degraded():
    hits, told = await outcome_of(Scripted([HIT], fails=ModelError("no answer")), timeout=1)
    assert (hits, told["status"], told["reason"]) == ([], "degraded", "ModelError: no answer")


@pytest.mark.parametrize("error", [FilterError("bad"), ManifestMismatch("other model"), KeyError("a bug")])
async def test_what_trying_again_cannot_mend_is_raised(error: Exception):
    with pytest.raises(type(error)):
        await outcome(error)


async def test_a_cancelled_run_is_cancelled():
    task = asyncio.create_task(outcome([HIT], seconds=5))
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
