"""``RetrievalEngine``: one search under every strategy, over the in-memory store."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from agentic_rag.domain import Chunk
from agentic_rag.domain.filters import Comparison
from agentic_rag.domain.ports import EmbeddedDocument
from agentic_rag.errors import FilterError, InputError, UnknownDataset
from agentic_rag.retrieval import DEFAULT_TOP_K, RetrievalEngine
from agentic_rag.retrieval.embedding_calibration import EmbeddingCalibration, fitted_calibration
from agentic_rag.retrieval.ports import SourceQuery
from agentic_rag.retrieval.strategies import STRATEGIES
from agentic_rag.stores.in_memory import InMemoryChunkStore
from agentic_rag.testing import HashingEmbedding, TokenHashingEmbedding, fake_chunk

EVERY = sorted(STRATEGIES)
SHIPPED = fitted_calibration().calibration
# The floor is fitted to a real model; hashed words stand out less (see test_floor and the integration tests).
WITHOUT_FLOOR = replace(SHIPPED, ordinary={})
CHUNKS = [
    fake_chunk("tea", "Oolong tea comes from Fujian.", metadata={"year": 2024}),
    fake_chunk("milk", "Milk tea is sweet and cold.", metadata={"year": 2020}),
    fake_chunk("train", "The railway station closes at midnight.", date=datetime(2024, 6, 30, tzinfo=UTC)),
    *(fake_chunk(f"other{n}", f"Nothing to see here, number {n}.") for n in range(5)),
]


class CountingStore(InMemoryChunkStore):
    """Remembers which legs were asked, and for how many."""

    def __init__(self, dimension: int) -> None:
        super().__init__(dimension=dimension)
        self.asked: list[tuple[str, int]] = []

    async def search_dense(self, dataset: str, vector: Any, *, limit: int, restriction: Any) -> Any:
        self.asked.append(("dense", limit))
        return await super().search_dense(dataset, vector, limit=limit, restriction=restriction)

    async def search_sparse(self, dataset: str, text: str, *, limit: int, restriction: Any) -> Any:
        self.asked.append(("sparse", limit))
        return await super().search_sparse(dataset, text, limit=limit, restriction=restriction)


async def filled(*chunks: Chunk) -> tuple[RetrievalEngine, CountingStore]:
    embedding = HashingEmbedding()
    store = CountingStore(embedding.dimension)
    for chunk in chunks or CHUNKS:
        vectors = await embedding.embed_passages([chunk.text])
        await store.replace_documents("notes", [EmbeddedDocument(chunk.document_id, (chunk,), vectors)])
    return RetrievalEngine(store, embedding, EmbeddingCalibration(embedding, WITHOUT_FLOOR)), store


async def with_tokens(embedding: TokenHashingEmbedding, *chunks: Chunk) -> RetrievalEngine:
    store = InMemoryChunkStore(dimension=embedding.dimension)
    for chunk in chunks:
        made = await embedding.embed_passage_tokens([chunk.text])
        document = EmbeddedDocument(chunk.document_id, (chunk,), made.vectors, made.tokens)
        await store.replace_documents("notes", [document])
    return RetrievalEngine(store, embedding, EmbeddingCalibration(embedding, WITHOUT_FLOOR))


@pytest.mark.parametrize("strategy", EVERY)
async def test_the_passage_with_the_words_comes_first(strategy: Any):
    engine, store = await filled()
    results = await engine.search("notes", "oolong tea from Fujian", strategy=strategy)
    assert results[0].id == "tea#0"
    assert results[0].content == "Oolong tea comes from Fujian."
    assert all(0 <= result.score <= 1 for result in results)
    assert [(-result.score, result.id) for result in results] == sorted((-r.score, r.id) for r in results)
    legs = {"dense": {"dense"}, "sparse": {"sparse"}, "hybrid": {"dense", "sparse"}}[strategy]
    assert {leg for leg, _ in store.asked} == legs
    assert set(results[0].legs) == legs
    assert all(leg.rank == 1 for leg in results[0].legs.values())


async def test_hybrid_is_the_default_and_four_the_usual_number():
    engine, store = await filled()
    assert len(await engine.search("notes", "nothing to see")) == DEFAULT_TOP_K == 4
    assert {leg for leg, _ in store.asked} == {"dense", "sparse"}


async def test_each_leg_is_asked_for_enough():
    engine, store = await filled()
    await engine.search("notes", "tea", 3)
    await engine.search("notes", "tea", 150)
    assert [limit for _, limit in store.asked] == [100, 100, 150, 150]


MANY = [
    fake_chunk(f"d{n:02}", f"tea {'oolong ' * (n % 3)}{'from Fujian ' * (n % 4)}steeped {n} minutes at night")
    for n in range(40)
]


@pytest.mark.parametrize("strategy", EVERY)
@pytest.mark.parametrize("question", ["oolong tea from Fujian", "what is steeped for 7 minutes?", "Mongolia"])
async def test_a_passage_has_one_relevance_for_a_question(question: str, strategy: Any):
    """However many are wanted, and whoever asks: the graph's node takes a hundred, a user four."""
    engine = await with_tokens(TokenHashingEmbedding(), *MANY)
    every = await engine.find(SourceQuery("notes", question, strategy=strategy), 100)
    assert every.results or (question, strategy) == ("Mongolia", "sparse")
    for few in (1, 4, 30):
        assert await engine.search("notes", question, top_k=few, strategy=strategy) == every.results[:few]
        one = await engine.find(SourceQuery("notes", question, strategy=strategy), few)
        assert one.familiarity == every.familiarity


@pytest.mark.parametrize("strategy", EVERY)
async def test_tokens_are_compared_in_a_hybrid_search_alone(strategy: Any):
    engine = await with_tokens(TokenHashingEmbedding(), *CHUNKS)
    found = await engine.find(SourceQuery("notes", "oolong tea from Fujian", strategy=strategy), 100)
    compared = [result.tokens is not None for result in found.results]
    assert found.results[0].id == "tea#0"
    assert compared == [strategy == "hybrid"] * len(compared)
    assert (found.familiarity is not None) == (strategy == "hybrid")


async def test_nearer_tokens_come_first_where_vectors_and_words_are_alike():
    embedding = TokenHashingEmbedding()
    same = [fake_chunk(name, "tea leaves wither") for name in "ab"]
    for tokens, first in (("tea leaves wither", "a#0"), ("green kettle", "b#0")):
        store = InMemoryChunkStore(dimension=embedding.dimension)
        (vector,) = await embedding.embed_passages(["tea leaves wither"])
        told = [await embedding.embed_passage_tokens([text]) for text in ("tea leaves wither", tokens)]
        for chunk, made in zip(same, told, strict=True):
            document = EmbeddedDocument(chunk.document_id, (chunk,), vector[None], made.tokens)
            await store.replace_documents("notes", [document])
        engine = RetrievalEngine(store, embedding, EmbeddingCalibration(embedding, WITHOUT_FLOOR))
        assert (await engine.search("notes", "green kettle"))[0].id == first


async def test_what_was_learnt_of_the_question_comes_with_its_results():
    engine = await with_tokens(TokenHashingEmbedding(), *CHUNKS)
    near = await engine.find(SourceQuery("notes", "oolong tea from Fujian"), DEFAULT_TOP_K)
    far = await engine.find(SourceQuery("notes", "kettle of copper"), DEFAULT_TOP_K)
    assert (near.familiarity or 0.0) > (far.familiarity or 0.0)
    assert near.results == await engine.search("notes", "oolong tea from Fujian")
    without, _ = await filled()
    assert (await without.find(SourceQuery("notes", "oolong tea from Fujian"), 1)).familiarity is None


async def test_a_chunk_that_one_leg_missed_is_judged_by_the_other():
    engine, _ = await filled()
    results = await engine.search("notes", "Fujian", 100)
    assert len(results) == len(CHUNKS)
    assert [set(result.legs) for result in results if result.id != "tea#0"] == [{"dense"}] * (len(CHUNKS) - 1)


async def test_the_threshold_keeps_what_is_at_or_above_it():
    engine, _ = await filled()
    every = await engine.search("notes", "oolong tea from Fujian", 100)
    second = every[1].score
    kept = await engine.search("notes", "oolong tea from Fujian", 100, second)
    assert [result.id for result in kept] == [result.id for result in every if result.score >= second]
    assert await engine.search("notes", "oolong tea from Fujian", 100, 1.0) == []


@pytest.mark.parametrize("strategy", EVERY)
async def test_filters_and_as_of_restrict_every_strategy(strategy: Any):
    engine, _ = await filled()

    async def ids(**restriction: Any) -> set[str]:
        found = await engine.search("notes", "tea station number", 100, strategy=strategy, **restriction)
        return {result.id for result in found}

    assert await ids(filters={"year": {"$gte": 2021}}) == {"tea#0"}
    assert await ids(filters=Comparison("year", "$lt", 2021)) == {"milk#0"}
    assert "train#0" in await ids()
    assert "train#0" not in await ids(as_of=datetime(2024, 6, 29, tzinfo=UTC))


async def test_a_filter_on_what_nothing_has_says_what_there_is():
    engine, _ = await filled(*CHUNKS)
    for known in (None, {}, {"year": 2024}, {"$not": {"path": "tea"}}, {"date": {"$gte": "2023"}}):
        assert await engine.why_nothing_passes("notes", known) is None
    told = await engine.why_nothing_passes("notes", {"$or": [{"yaer": 2024}, {"year": 2024}]})
    assert told == (
        "no chunk of dataset 'notes' has 'yaer', which the filter names; it can be filtered by: year, date, path, title, document_id, kind"
    )
    assert "can be filtered by: nothing" in str(await engine.why_nothing_passes("elsewhere", {"year": 1}))


async def test_a_condition_that_nothing_meets_is_named():
    engine, _ = await filled(*CHUNKS)
    told = await engine.why_nothing_passes("notes", {"year": {"$gte": "abc"}, "path": {"$ne": "tea"}})
    assert told == (
        "no chunk of dataset 'notes' passes the filter {'year': {'$gte': 'abc'}}; a number never equals a text"
    )
    apart = {"year": {"$lt": 2021}, "title": {"$eq": "none"}}
    assert "{'title': {'$eq': 'none'}};" in str(await engine.why_nothing_passes("notes", apart))
    together = {"$and": [{"year": {"$lt": 2021}}, {"year": {"$gt": 2021}}]}
    assert "{'$and': [" in str(await engine.why_nothing_passes("notes", together))


async def test_a_day_before_everything_is_named():
    engine, _ = await filled(CHUNKS[2])
    late = datetime(2100, 1, 1, tzinfo=UTC)
    assert await engine.why_nothing_passes("notes", None, late) is None
    early = datetime(1900, 1, 1, 23, 59, 59, 999999, tzinfo=UTC)
    told = await engine.why_nothing_passes("notes", None, early)
    assert told == "every chunk in dataset 'notes' is dated after 1900-01-01 23:59:59+00:00"
    told = await engine.why_nothing_passes("notes", {"path": {"$exists": True}}, early)
    assert str(told).startswith("every chunk that passes the filter in dataset 'notes'")


@pytest.mark.parametrize("strategy", EVERY)
async def test_equal_chunks_come_in_id_order(strategy: Any):
    engine, _ = await filled(*(fake_chunk(name, "the very same tea") for name in "dbca"))
    results = await engine.search("notes", "tea", 3, strategy=strategy)
    assert [result.id for result in results] == ["a#0", "b#0", "c#0"]


async def test_a_blank_question_finds_nothing_and_searches_nothing():
    engine, store = await filled()
    assert await engine.search("notes", " \n\t") == []
    assert store.asked == []


async def test_an_unknown_dataset_is_told_with_the_known():
    engine, _ = await filled()
    with pytest.raises(UnknownDataset, match=r"'recipes' \(known: notes\)"):
        await engine.search("recipes", "tea")


async def test_a_known_dataset_where_nothing_passes_is_empty():
    engine, _ = await filled()
    assert await engine.search("notes", "tea", filters={"year": 1900}) == []


@pytest.mark.parametrize(
    ("arguments", "error", "told"),
    [
        ({"top_k": 0}, InputError, "top_k"),
        ({"top_k": 2.5}, InputError, "top_k"),
        ({"top_k": True}, InputError, "top_k"),
        ({"score_threshold": 1.1}, InputError, "score_threshold"),
        ({"score_threshold": -0.1}, InputError, "score_threshold"),
        ({"score_threshold": float("nan")}, InputError, "score_threshold"),
        ({"score_threshold": "high"}, InputError, "score_threshold"),
        ({"strategy": "fuzzy"}, InputError, "'fuzzy'; use one of: dense, sparse, hybrid"),
        ({"filters": {"year": {"$near": 1}}}, FilterError, r"\$near"),
    ],
)
async def test_bad_arguments_are_told(arguments: dict[str, Any], error: type[Exception], told: str):
    engine, store = await filled()
    with pytest.raises(error, match=told):
        await engine.search("notes", "tea", **arguments)
    assert store.asked == []


async def test_metadata_holds_the_users_and_what_a_citation_needs():
    chunk = fake_chunk(
        "tea", "tea", heading_path=("A", "B"), url="obsidian://x", date=datetime(2024, 1, 1, tzinfo=UTC),
        metadata={"year": 2024, "title": "the user's own"},
    )  # fmt: skip
    engine, _ = await filled(chunk)
    assert (await engine.search("notes", "tea"))[0].metadata == {
        "year": 2024,
        "document_id": "tea",
        "path": "tea",
        "title": "tea",
        "heading_path": ["A", "B"],
        "start": 0,
        "end": 3,
        "ordinal": 0,
        "kind": "paragraph",
        "date": "2024-01-01T00:00:00+00:00",
        "url": "obsidian://x",
    }


@pytest.mark.parametrize("strategy", EVERY)
async def test_a_property_named_as_what_a_search_tells_is_the_notes_own(strategy: Any):
    own = {
        "familiarity": "high",
        "walk": ["home"],
        "legs": 4,
        "tokens": "of love",
        "entities": [],
        "score": 7,
    }
    embedding = TokenHashingEmbedding()
    engine = await with_tokens(embedding, fake_chunk("tea", "tea", metadata=own))
    (found,) = await engine.search("notes", "tea", filters={"familiarity": "high"}, strategy=strategy)
    assert {key: found.metadata[key] for key in own} == own


async def test_what_other_words_find_is_judged_by_the_question():
    engine, _ = await filled()
    alone = await engine.search("notes", "oolong tea from Fujian", 10)
    reworded = await engine.search(
        "notes", "oolong tea from Fujian midnight train", 10, judged_as="oolong tea from Fujian"
    )
    by_id = {result.id: result.score for result in reworded}
    assert {result.id: by_id[result.id] for result in alone} == {result.id: result.score for result in alone}
    assert max(by_id.values()) == alone[0].score


async def test_other_words_are_judged_by_the_tokens_of_the_question():
    engine = await with_tokens(TokenHashingEmbedding(), *CHUNKS)
    question = "oolong tea from Fujian"
    alone = await engine.find(SourceQuery("notes", question), 100)
    reworded = await engine.find(SourceQuery("notes", f"{question} midnight train", question), 100)
    assert reworded.results == alone.results
    assert reworded.familiarity == alone.familiarity


async def test_a_question_that_means_nothing_means_nothing_in_other_words_either():
    _, store = await filled()
    engine = RetrievalEngine(store, HashingEmbedding())
    nonsense = "xqzv wqkj"
    assert await engine.search("notes", nonsense) == []
    assert await engine.search("notes", f"{nonsense} oolong tea", judged_as=nonsense) == []
