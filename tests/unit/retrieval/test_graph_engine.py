"""``GraphEngine``: the same restrictions as the vector half, hits on chunks, never starved by a filter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from agentic_rag.domain import Chunk, DocumentGraph, Entity, Fact, GraphHit, Mention
from agentic_rag.errors import ManifestMismatch, StoreError
from agentic_rag.filters import Expression, parse_filters
from agentic_rag.odds import log_odds
from agentic_rag.ports import EmbeddedDocument
from agentic_rag.retrieval import graph_engine
from agentic_rag.retrieval.embedding_calibration import EmbeddingCalibration, fitted_calibration
from agentic_rag.retrieval.floor import DOUBT
from agentic_rag.retrieval.graph_engine import GraphEngine
from agentic_rag.stores.in_memory import InMemoryChunkStore
from agentic_rag.stores.in_memory_graph import InMemoryGraphStore
from agentic_rag.testing import HashingEmbedding, fake_chunk

OLD, NEW = datetime(2020, 1, 1, tzinfo=UTC), datetime(2024, 1, 1, tzinfo=UTC)


class CountingGraph(InMemoryGraphStore):
    """Remembers how each search was asked."""

    def __init__(self, embedding: HashingEmbedding) -> None:
        super().__init__(embedding)
        self.asked: list[dict[str, Any]] = []

    async def search(
        self,
        dataset: str,
        query: str,
        vector: Any,
        *,
        limit: int,
        as_of: Any = None,
        within: Sequence[str] | None = None,
    ) -> list[GraphHit]:
        self.asked.append({"limit": limit, "within": within})
        return await super().search(dataset, query, vector, limit=limit, as_of=as_of, within=within)


async def filled(*chunks: Chunk) -> tuple[GraphEngine, CountingGraph]:
    embedding = HashingEmbedding()
    graph, store = CountingGraph(embedding), InMemoryChunkStore(dimension=embedding.dimension)
    for chunk in chunks:
        note, subject = chunk.document_id, f"subject of {chunk.document_id}"
        fact = Fact(note, subject, "IS_ABOUT", chunk.text, chunk.id, valid_at=chunk.date)
        entities = (Entity(note, note), Entity(subject, subject))
        await graph.replace_documents(
            "notes", [DocumentGraph(chunk.document_id, (chunk,), entities, (fact,))]
        )
        vectors = await embedding.embed_passages([chunk.text])
        await store.replace_documents("notes", [EmbeddedDocument(chunk.document_id, (chunk,), vectors)])
    return GraphEngine(graph, store, embedding), graph


async def ids(
    engine: GraphEngine, limit: int = 100, query: str = "oolong tea", **restriction: Any
) -> set[str]:
    return {hit["id"] for hit in await engine.search("notes", query, limit=limit, **restriction)}


def wanted(filters: dict[str, Any]) -> Expression:
    expression = parse_filters(filters)
    assert expression is not None
    return expression


async def test_hits_are_chunks_by_relevance():
    engine, _ = await filled(fake_chunk("a", "oolong tea"), fake_chunk("b", "tea and trains at night"))
    hits = await engine.search("notes", "oolong tea", limit=10)
    assert [hit["id"] for hit in hits] == ["a#0", "b#0"]
    assert [hit["rank"] for hit in hits] == [1, 2]
    assert [fact["name"] for fact in hits[0]["facts"]] == ["IS_ABOUT"]


async def test_the_limit_holds_for_chunks():
    engine, _ = await filled(*(fake_chunk(f"d{n}", "oolong tea") for n in range(9)))
    assert len(await ids(engine, limit=4)) == 4


@pytest.mark.parametrize("within_limit", [2000, 0])
async def test_filters_hold_for_the_chunks(monkeypatch: pytest.MonkeyPatch, within_limit: int):
    """Handed to the graph as a list of chunks, or where that would be too long, applied to what it found."""
    monkeypatch.setattr(graph_engine, "WITHIN_LIMIT", within_limit)
    engine, graph = await filled(
        fake_chunk("a", "oolong tea", metadata={"year": 2024}),
        fake_chunk("b", "oolong tea", metadata={"year": 2020}),
    )
    assert await ids(engine, filters=wanted({"year": {"$gt": 2021}})) == {"a#0"}
    assert [asked["within"] for asked in graph.asked] == [["a#0"] if within_limit else None]


@pytest.mark.parametrize("name", ["path", "document_id", "kind", "date"])
async def test_filters_on_what_every_chunk_has_hold_in_the_graph(name: str):
    """They are no property of a note: the stored metadata alone do not have them."""
    chunks = [
        fake_chunk("a", "oolong tea", date=NEW, kind="table"),
        fake_chunk("b", "oolong tea", date=OLD),
    ]
    engine, _ = await filled(*chunks)
    sought = {"path": "a", "document_id": "a", "kind": "table", "date": {"$gte": "2023-01-01"}}
    assert await ids(engine, filters=wanted({name: sought[name]})) == {"a#0"}


async def test_a_filter_on_what_was_found_asks_for_more_until_it_is_enough(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(graph_engine, "WITHIN_LIMIT", 0)
    near = [fake_chunk(f"near{n:02}", "oolong tea", metadata={"lang": "en"}) for n in range(60)]
    far = [fake_chunk(f"far{n}", f"tea with many other words {n}", metadata={"lang": "zh"}) for n in range(3)]
    engine, graph = await filled(*near, *far)
    assert len(await ids(engine, limit=2, filters=wanted({"lang": "zh"}))) == 2
    limits = [asked["limit"] for asked in graph.asked]
    assert limits == [limits[0] * graph_engine.WIDENING**n for n in range(len(limits))]
    assert len(limits) > 1


async def test_what_no_chunk_passes_is_not_searched():
    engine, graph = await filled(fake_chunk("a", "oolong tea"))
    assert await ids(engine, filters=wanted({"year": 1900})) == set()
    assert graph.asked == []


async def test_as_of_leaves_out_later_chunks():
    engine, _ = await filled(
        fake_chunk("old", "oolong tea", date=OLD),
        fake_chunk("new", "oolong tea", date=NEW),
        fake_chunk("none", "oolong tea"),
    )
    assert await ids(engine, as_of=datetime(2022, 1, 1, tzinfo=UTC)) == {"old#0", "none#0"}
    assert await ids(engine, as_of=OLD) == {"old#0", "none#0"}
    assert await ids(engine) == {"old#0", "new#0", "none#0"}


async def test_without_a_filter_the_chunk_store_is_not_asked():
    embedding = HashingEmbedding()
    _, graph = await filled(fake_chunk("a", "oolong tea"))
    empty = GraphEngine(graph, InMemoryChunkStore(dimension=embedding.dimension), embedding)
    assert await ids(empty) == {"a#0"}


@pytest.mark.parametrize("query", ["", " \n"])
async def test_a_blank_question_finds_nothing(query: str):
    engine, graph = await filled(fake_chunk("a", "oolong tea"))
    assert await ids(engine, query=query) == set()
    assert graph.asked == []


NONSENSE = "oolong xqzv kwpt wvut zrtp bnmh qqww"
"""Near to every note by its first word, as gibberish is to a model's eyes, and to none more than to the others."""


def alike(count: int) -> list[Chunk]:
    return [fake_chunk(f"d{n:02}", "oolong tea") for n in range(count)]


async def test_what_means_nothing_to_the_dataset_is_hardly_relevant():
    filled_engine, graph = await filled(*alike(30))
    shipped = fitted_calibration().calibration
    embedding = HashingEmbedding()
    ordinary = (await embedding.embed_passages(["oolong tea"]))[0]
    means = {"latin": ordinary, "cjk": ordinary / 2}
    near = replace(shipped, centres=dict.fromkeys(shipped.centres, 0.27), ordinary=means)
    parts = graph, filled_engine._chunks, embedding, EmbeddingCalibration(embedding, near)
    engine, reading = (GraphEngine(*parts, nats=lambda text, costs=costs: costs) for costs in (1e9, 0.0))
    by_nonsense = await engine.search("notes", NONSENSE, limit=1)
    by_language = await reading.search("notes", NONSENSE, limit=1)
    gap = log_odds(by_language[0]["score"] or 0) - log_odds(by_nonsense[0]["score"] or 0)
    assert gap == pytest.approx(graph_engine.NONSENSE - DOUBT)


async def test_what_reads_as_language_and_stands_out_nowhere_is_doubted_and_kept():
    certain, graph = await filled(*alike(30))
    engine = GraphEngine(graph, certain._chunks, HashingEmbedding(), nats=lambda text: 0.0)
    assert await ids(engine, query=NONSENSE) != set()


async def test_where_the_vector_store_fails_nothing_is_doubted(caplog: pytest.LogCaptureFixture):
    class Gone(InMemoryChunkStore):
        async def profile(self, dataset: str) -> Any:
            raise StoreError("disk gone")

    embedding = HashingEmbedding()
    _, graph = await filled(*alike(30))
    engine = GraphEngine(graph, Gone(dimension=embedding.dimension), embedding)
    assert await ids(engine, query=NONSENSE) != set()
    assert "disk gone" in caplog.text


async def test_an_unknown_dataset_has_no_hits():
    engine, _ = await filled(fake_chunk("a", "oolong tea"))
    assert await engine.search("other", "oolong tea", limit=3) == []


LINKED = {
    "film": ("The picture was shot in 1999 by somebody.", ("Film", "Director")),
    "director": ("He was born in a small place.", ("Director", "Town")),
    "town": ("Its bridge has nine arches.", ("Town",)),
    **{f"other{n}": ("Something else altogether.", (f"Other{n}",)) for n in range(3)},
}
"""Document to its text and the names it mentions, its own first."""


async def linked(store: InMemoryChunkStore | None = None) -> GraphEngine:
    embedding = HashingEmbedding()
    graph, store = InMemoryGraphStore(embedding), store or InMemoryChunkStore(dimension=embedding.dimension)
    for document, (text, names) in LINKED.items():
        chunk = replace(fake_chunk(document, text), title=names[0])
        entities = tuple(Entity(name.lower(), name, ("Note",)) for name in names)
        mentions = tuple(Mention(entity.key, chunk.id) for entity in entities)
        await graph.replace_documents("notes", [DocumentGraph(document, (chunk,), entities, (), mentions)])
        vectors = await embedding.embed_passages([text])
        await store.replace_documents("notes", [EmbeddedDocument(document, (chunk,), vectors)])
    return GraphEngine(graph, store, embedding)


async def test_a_walk_brings_the_second_hop():
    hits = await (await linked()).search("notes", "Where was the maker of Film born?", limit=10)
    walked = {hit["id"]: hit["metadata"].get("walk") for hit in hits}
    assert walked["film#0"] == 1.0
    assert 1.0 > (walked["director#0"] or 0) > (walked["town#0"] or 0) > 0
    assert type(walked["town#0"]) is float


async def test_a_question_that_names_nothing_goes_nowhere():
    hits = await (await linked()).search("notes", "where was somebody born?", limit=10)
    assert hits
    assert all("walk" not in hit["metadata"] for hit in hits)


async def test_filters_hold_for_what_a_walk_reaches():
    hits = await (await linked()).search(
        "notes", "Where was the maker of Film born?", limit=10, filters=wanted({"document_id": "director"})
    )
    assert {hit["id"] for hit in hits} <= {"director#0"}


async def test_without_vectors_the_graph_judges_by_itself(caplog: pytest.LogCaptureFixture):
    class Gone(InMemoryChunkStore):
        async def get_vectors(self, dataset: str, chunk_ids: Sequence[str]) -> Any:
            raise StoreError("disk gone")

    hits = await (await linked(Gone(dimension=HashingEmbedding().dimension))).search(
        "notes", "Where was the maker of Film born?", limit=10
    )
    assert {"film#0", "director#0"} <= {hit["id"] for hit in hits}
    assert "disk gone" in caplog.text


async def test_vectors_of_another_model_are_no_reason_to_judge_without():
    class Switched(InMemoryChunkStore):
        async def get_vectors(self, dataset: str, chunk_ids: Sequence[str]) -> Any:
            raise ManifestMismatch("reindexed with another model")

    engine = await linked(Switched(dimension=HashingEmbedding().dimension))
    with pytest.raises(ManifestMismatch):
        await engine.search("notes", "Where was the maker of Film born?", limit=10)


async def test_what_other_words_find_is_judged_by_the_question():
    engine = await linked()
    question = "nine arches"
    alone = {hit["id"]: hit["score"] for hit in await engine.search("notes", question, limit=10)}
    more = await engine.search("notes", "nine arches born in a small place", limit=10, judged_as=question)
    scores = {hit["id"]: hit["score"] for hit in more}
    assert {chunk: scores[chunk] for chunk in alone} == alone
    assert "director#0" in scores
    assert more[0]["id"] == "town#0"
