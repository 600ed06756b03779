"""``GraphEngine``: a walk from named entities, or from near facts, or no result; restrictions hold for walk and hits."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest

from agentic_rag.domain import (
    Chunk,
    DocumentGraph,
    Entity,
    Fact,
    FactHit,
    Findings,
    Mention,
)
from agentic_rag.domain.filters import Expression, parse_filters
from agentic_rag.domain.ports import EmbeddedDocument, GraphQuery
from agentic_rag.errors import ManifestMismatch, StoreError
from agentic_rag.retrieval import graph_engine
from agentic_rag.retrieval.calibration import Calibration, Sense
from agentic_rag.retrieval.embedding_calibration import EmbeddingCalibration, fitted_calibration
from agentic_rag.retrieval.graph_engine import GraphEngine
from agentic_rag.retrieval.passage_graph import PassageGraph
from agentic_rag.retrieval.ports import SourceQuery
from agentic_rag.retrieval.schemas import chunk_metadata
from agentic_rag.stores.in_memory import InMemoryChunkStore
from agentic_rag.stores.in_memory_graph import InMemoryGraphStore
from agentic_rag.testing import HashingEmbedding, fake_chunk

SHIPPED = replace(fitted_calibration().calibration, ordinary={})
"""Without reference passages, which are of the bundled model's dimension: nothing means nothing."""
OLD, NEW = datetime(2020, 1, 1, tzinfo=UTC), datetime(2024, 1, 1, tzinfo=UTC)
DIMENSION = 4096
"""So many that hardly two words share one."""
FILM = "Who made Film?"
SAID = "she taught him to fire the kiln"
TAUGHT = Fact("anna lee", "zhang wei", "TAUGHT", f"{SAID}.", "letters#0")
CHUNKS = {
    "film": ("A picture shot in 1999.", ("Film", "Director")),
    "director": ("He was born in a small place.", ("Director", "Town")),
    "town": ("Its bridge has nine arches.", ("Town",)),
    "letters": ("What is written here tells much.", ("Letters", "Anna Lee", "Zhang Wei")),
    "wei": ("Pots of blue glaze stand there.", ("Zhang Wei",)),
    **{f"other{n}": ("Something else altogether.", (f"Other{n}",)) for n in range(3)},
}
"""Document to its text and the names it mentions, its own first. No question here has words of what it leads to."""


class Graph(InMemoryGraphStore):
    """Remembers how each search was asked, and finds what it is given besides."""

    def __init__(self, embedding: HashingEmbedding) -> None:
        super().__init__(embedding)
        self.asked: list[dict[str, Any]] = []
        self.besides: list[FactHit] = []

    async def search(
        self,
        dataset: str,
        query: GraphQuery,
        *,
        limit: int,
    ) -> list[FactHit]:
        self.asked.append({"query": query.text, "limit": limit, "within": query.within})
        found = await super().search(dataset, query, limit=limit)
        return [*found, *self.besides]


class Unreadable(InMemoryChunkStore):
    async def get_vectors(self, dataset: str, chunk_ids: Sequence[str]) -> Any:
        raise StoreError("disk gone")

    async def search_sparse(self, *given: Any, **options: Any) -> Any:
        raise StoreError("disk gone")


class Switched(InMemoryChunkStore):
    async def get_vectors(self, dataset: str, chunk_ids: Sequence[str]) -> Any:
        raise ManifestMismatch("reindexed with another model")


class Unknown(InMemoryChunkStore):
    async def profile(self, dataset: str) -> Any:
        raise StoreError("disk gone")


class OfAnother(InMemoryChunkStore):
    async def profile(self, dataset: str) -> Any:
        raise ManifestMismatch("reindexed with another model")


class World:
    """Notes in both stores, and an engine over them."""

    def __init__(
        self, store: type[InMemoryChunkStore] = InMemoryChunkStore, calibration: Calibration = SHIPPED
    ) -> None:
        self.embedding = HashingEmbedding(DIMENSION)
        self.graph = Graph(self.embedding)
        self.store = store(dimension=DIMENSION)
        self.engine = GraphEngine(
            self.graph, self.store, self.embedding, EmbeddingCalibration(self.embedding, calibration)
        )

    async def add(self, chunk: Chunk, names: Sequence[str], *facts: Fact, label: str = "Note") -> None:
        entities = tuple(Entity(name.lower(), name, (label,)) for name in names)
        mentions = tuple(Mention(entity.key, chunk.id) for entity in entities)
        document = DocumentGraph(chunk.document_id, (chunk,), entities, facts, mentions)
        await self.graph.replace_documents("notes", [document])
        vectors = await self.embedding.embed_passages([chunk.text])
        await self.store.replace_documents("notes", [EmbeddedDocument(chunk.document_id, (chunk,), vectors)])

    async def find(self, query: str, limit: int = 100, **options: Any) -> Findings:
        return await self.engine.find(SourceQuery("notes", query, **options), limit)

    async def ids(self, query: str, limit: int = 100, **options: Any) -> list[str]:
        return [hit["id"] for hit in (await self.find(query, limit, **options)).hits]


async def world(
    store: type[InMemoryChunkStore] = InMemoryChunkStore,
    fields: Mapping[str, Mapping[str, Any]] | None = None,
    calibration: Calibration = SHIPPED,
) -> World:
    """The CHUNKS, with further fields of some of them."""
    made = World(store, calibration)
    for document, (text, names) in CHUNKS.items():
        chunk = fake_chunk(document, text, **{"title": names[0], **(fields or {}).get(document, {})})
        await made.add(chunk, names, *([TAUGHT] if document == "letters" else []))
    return made


def wanted(filters: dict[str, Any]) -> Expression:
    expression = parse_filters(filters)
    assert expression is not None
    return expression


NOT_NAMED = "the question names no note, heading, tag or person of the documents, and no fact is near it"


def nothing(reason: str = NOT_NAMED) -> Findings:
    return Findings([], {"names": []}, reason)


async def test_a_walk_goes_from_what_is_named_over_what_shares_no_word_with_the_question():
    found = await (await world()).find(FILM)
    walked = {hit["id"]: hit["evidence"]["walk"] for hit in found.hits}
    assert list(walked)[:3] == ["film#0", "director#0", "town#0"]
    assert walked["film#0"] == 1.0
    assert 1.0 > walked["director#0"] > walked["town#0"] > 0
    assert all(type(share) is float for share in walked.values())
    assert [hit["rank"] for hit in found.hits] == list(range(1, len(found.hits) + 1))


async def test_a_hit_tells_what_it_rests_on_and_keeps_the_notes_own_properties():
    own = {"walk": ["home"], "entities": "many", "legs": 4}
    made = await world(fields={"director": {"metadata": own}})
    found = await made.find("Was the Director of Film ever in Town?")
    by_id = {hit["id"]: hit for hit in found.hits}
    assert all(hit["evidence"].keys() == {"walk", "entities"} for hit in found.hits)
    named = {chunk_id: hit["evidence"]["entities"] for chunk_id, hit in by_id.items()}
    assert named["film#0"] == ["Director", "Film"]
    assert named["director#0"] == ["Director", "Town"]
    assert named["town#0"] == ["Town"]
    (chunk,) = (await made.graph.get_chunks("notes", ["director#0"])).values()
    assert by_id["director#0"]["metadata"] == chunk_metadata(chunk)
    assert {key: by_id["director#0"]["metadata"][key] for key in own} == own


async def test_what_is_known_of_the_question_comes_with_the_hits():
    made = await world()
    assert (await made.find(FILM)).question == {"names": ["Film"], "specificity": 1.0}
    several = await made.find("Is Director or Town in it?")
    assert several.question["names"] == ["Director", "Town"]
    # Of eight chunks two mention each
    assert several.question["specificity"] == pytest.approx(math.log(1 + 8 / 2) / math.log(1 + 8), abs=1e-6)


async def test_the_walk_and_the_start_alone_judge():
    made = await world()
    for question in (FILM, "Director", "Town and Zhang Wei", SAID):
        found = await made.find(question)
        assert found.hits
        for hit in found.hits:
            judged = fitted_calibration().graph.relevance(
                hit["evidence"]["walk"], found.question["specificity"]
            )
            assert hit["score"] == pytest.approx(judged, abs=1e-6)


async def test_what_is_nearest_to_the_question_is_not_found_where_no_walk_comes_by():
    """Not even where its text is the question itself: that is for the vector store to say."""
    made = await world()
    assert set(await made.ids("Film")) == {"film#0", "director#0", "town#0"}
    await made.add(fake_chunk("twin", "Nobody knows about the Filmographer"), ["Twin"])
    assert await made.ids("Nobody knows about the Filmographer") == []


@pytest.mark.parametrize("question", ["where was somebody born?", "nine arches", "something else altogether"])
async def test_where_nothing_is_named_and_no_fact_is_near_there_is_nothing(question: str):
    assert await (await world()).find(question) == nothing()


async def test_a_name_only_known_from_running_text_starts_no_walk():
    made = World()
    await made.add(fake_chunk("film", "A picture."), ["Film"], label="Thing")
    assert await made.find("Who made Film?") == nothing()


async def test_a_walk_from_what_stands_alone_would_only_rank_by_nearness():
    made = World()
    for name in ("Water", "Warm", "Salt"):
        await made.add(fake_chunk(name.lower(), f"{name} is here.", title=name), [name])
    told = await made.find("Is Water clear, and Salt?")
    assert told == nothing(
        "nothing in the documents is linked with Salt, Water, and no fact is near the question"
    )


async def test_near_facts_start_a_walk_at_their_ends():
    made = await world()
    found = await made.find(SAID)
    assert found.question == {"names": [], "specificity": graph_engine.SPECIFICITY_OF_FACTS}
    assert found.hits[0]["id"] == "letters#0"
    assert (found.hits[0]["type"], [fact["text"] for fact in found.hits[0]["facts"]]) == (
        "edge",
        [f"{SAID}."],
    )
    # The last is of the fact's other end, and says nothing of the fact itself.
    ends = {hit["id"]: hit["evidence"]["entities"] for hit in found.hits}
    assert ends == {"letters#0": ["Anna Lee", "Zhang Wei"], "wei#0": ["Zhang Wei"]}


async def test_a_fact_starts_a_walk_from_the_relevance_of_a_near_one(monkeypatch: pytest.MonkeyPatch):
    made = await world()
    (asked,) = await made.embedding.embed_queries([SAID])
    (fact,) = await made.graph.search("notes", GraphQuery(SAID, asked), limit=50)
    relevance = SHIPPED.of_cosine(fact.cosine or 0.0, ("latin", "latin"))
    monkeypatch.setattr(graph_engine, "NEAR_FACT", relevance)
    assert await made.ids(SAID) != []
    monkeypatch.setattr(graph_engine, "NEAR_FACT", relevance + 1e-9)
    assert await made.find(SAID) == nothing()


async def test_facts_do_not_lead_away_from_what_is_named():
    made = await world()
    found = await made.find(f"Film: {SAID}")
    assert found.question["names"] == ["Film"]
    assert found.hits[0]["id"] == "film#0"


async def test_of_the_near_facts_the_nearest_start_the_walk(monkeypatch: pytest.MonkeyPatch):
    made = await world()
    other = Fact("other0", "other1", "KNOWS", "she taught him to fire the kiln at night", "other0#0")
    chunk = fake_chunk("other0", "Something else altogether.", title="Other0")
    await made.add(chunk, ["Other0", "Other1"], other)
    monkeypatch.setattr(graph_engine, "NEAR_FACT", 0.0)
    monkeypatch.setattr(graph_engine, "START_FACTS", 2)
    both = {hit["id"]: hit["evidence"]["entities"] for hit in (await made.find(SAID)).hits}
    monkeypatch.setattr(graph_engine, "START_FACTS", 1)
    one = {hit["id"]: hit["evidence"]["entities"] for hit in (await made.find(SAID)).hits}
    assert (both["letters#0"], both["other0#0"]) == (["Anna Lee", "Zhang Wei"], ["Other0", "Other1"])
    assert one["letters#0"] == ["Anna Lee", "Zhang Wei"]
    assert one.get("other0#0", []) == []


async def test_ends_count_by_how_near_their_facts_are_and_how_rare_they_are():
    made = await world(Unreadable)
    other = Fact("other0", "zhang wei", "KNOWS", f"{SAID} at night alone", "other0#0")
    await made.add(fake_chunk("other0", "Something else.", title="Other0"), ["Other0", "Zhang Wei"], other)
    links = await made.graph.links("notes")
    assert links is not None
    graph = PassageGraph(links)
    anna, zhang, zero = graph.places(["Anna Lee", "Zhang Wei", "Other0"])
    assert None not in (anna, zhang, zero)
    asked, stated = await made.embedding.embed_queries([SAID, f"{SAID} at night alone"])
    near, less = (SHIPPED.of_cosine(float(asked @ one), ("latin", "latin")) for one in (asked, stated))
    weights = {anna: near**2 * math.log(1 + 8), zhang: (near**2 + less**2) * math.log(1 + 8 / 3),
               zero: less**2 * math.log(1 + 8)}  # fmt: skip
    told = {hit["id"]: hit["evidence"]["walk"] for hit in (await made.find(SAID)).hits}
    assert 0.9 > less > 0.1
    assert told == pytest.approx(graph.visits(weights, {}, limit=100))  # type: ignore[arg-type]


def sensed(floor: float, doubted: float) -> Calibration:
    """One to which every question means 0, and what is found as much."""
    sense = Sense(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, floor=floor, unrelated_below=doubted)
    ordinary = dict.fromkeys(("latin", "cjk"), np.zeros(DIMENSION, dtype=np.float32))
    return replace(SHIPPED, sense=sense, ordinary=ordinary)


SENSIBLE, DOUBTED, NONSENSE = sensed(-1.0, -1.0), sensed(-1.0, 1.0), sensed(1.0, -1.0)


@pytest.mark.parametrize("calibration", [DOUBTED, NONSENSE], ids=["doubted", "nonsense"])
async def test_what_may_mean_nothing_to_the_dataset_starts_no_walk_at_facts(calibration: Calibration):
    """The facts nearest to gibberish are near as well."""
    assert await (await world(calibration=SENSIBLE)).ids(SAID) == ["letters#0", "wei#0"]
    assert await (await world(calibration=calibration)).find(SAID) == nothing()


async def test_what_is_named_starts_a_walk_whatever_the_rest_means():
    made = await world(calibration=NONSENSE)
    assert await made.ids("Town xqzv kpwt") == await (await world()).ids("Town xqzv kpwt") != []


async def test_where_nothing_is_known_of_the_dataset_near_facts_start_the_walk(
    caplog: pytest.LogCaptureFixture,
):
    assert await (await world(Unknown, calibration=NONSENSE)).ids(SAID) == ["letters#0", "wei#0"]
    assert "disk gone" in caplog.text


async def test_a_profile_of_another_model_is_no_reason_to_guess():
    with pytest.raises(ManifestMismatch):
        await (await world(OfAnother)).find(SAID)


async def test_the_limit_holds_for_chunks():
    made = World()
    for n in range(9):
        await made.add(fake_chunk(f"d{n}", "tea"), ["Oolong", f"Note{n}"])
    assert len(await made.ids("Oolong", 4)) == 4
    assert len(await made.ids("Oolong", 50)) == 9


@pytest.mark.parametrize(
    ("within_limit", "expected"), [(2000, ["film#0"]), (0, ["film#0", "town#0"])], ids=["list", "afterwards"]
)
async def test_filters_hold_for_the_hits_and_where_they_select_few_for_the_walk(
    monkeypatch: pytest.MonkeyPatch, within_limit: int, expected: list[str]
):
    """A walk within a list of chunks does not pass through others; where the list is too long, it does."""
    monkeypatch.setattr(graph_engine, "WITHIN_LIMIT", within_limit)
    made = await world()
    filters = wanted({"document_id": {"$in": ["film", "town", "other0"]}})
    assert await made.ids(FILM, filters=filters) == expected
    allowed = ["film#0", "other0#0", "town#0"]
    assert [asked["within"] for asked in made.graph.asked] == [allowed if within_limit else None]


@pytest.mark.parametrize("name", ["path", "document_id", "kind", "date"])
async def test_filters_on_what_every_chunk_has_hold_in_the_graph(name: str):
    """They are no property of a note: the stored metadata alone do not have them."""
    fields = {
        "film": {"date": NEW, "kind": "table"},
        **{document: {"date": OLD} for document in CHUNKS if document != "film"},
    }
    sought = {"path": "film", "document_id": "film", "kind": "table", "date": {"$gte": "2023-01-01"}}
    assert await (await world(fields=fields)).ids(FILM, filters=wanted({name: sought[name]})) == ["film#0"]


async def test_a_filter_that_leaves_out_what_is_visited_most_starves_nothing(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(graph_engine, "WITHIN_LIMIT", 0)
    made = World()
    for n in range(5):
        names = ["Oolong"] if n < 3 else ["Oolong", f"Note{n}", f"Leaf{n}", f"Pot{n}"]
        lang = "en" if n < 3 else "zh"
        await made.add(fake_chunk(f"d{n}", "tea", metadata={"lang": lang}), names)
    assert await made.ids("Oolong", 2) == ["d3#0", "d4#0"]
    assert await made.ids("Oolong", 2, filters=wanted({"lang": "en"})) == ["d0#0", "d1#0"]


async def test_what_does_not_pass_a_filter_starts_no_walk(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(graph_engine, "WITHIN_LIMIT", 0)
    near, far = await world(), await world()
    await far.add(fake_chunk("town", "It stands there.", title="Town"), ["Town"])
    both = [await one.find("Film with nine arches") for one in (near, far)]
    assert both[0].hits[1]["evidence"] != both[1].hits[1]["evidence"]
    filters = wanted({"document_id": {"$in": ["film", "director"]}})
    passing = [await one.find("Film with nine arches", filters=filters) for one in (near, far)]
    assert passing[0].hits == passing[1].hits != []


async def test_what_no_chunk_passes_is_not_searched():
    made = await world()
    assert await made.find(FILM, filters=wanted({"year": 1900})) == nothing("no passage passes the filters")
    assert made.graph.asked == []


async def test_as_of_leaves_out_later_chunks_and_does_not_walk_through_them():
    made = await world(fields={"film": {"date": OLD}, "director": {"date": NEW}})
    assert set(await made.ids(FILM)) == {"film#0", "director#0", "town#0"}
    assert set(await made.ids(FILM, as_of=NEW)) == {"film#0", "director#0", "town#0"}
    assert await made.ids(FILM, as_of=datetime(2022, 1, 1, tzinfo=UTC)) == ["film#0"]


async def test_a_fact_that_did_not_hold_yet_starts_no_walk():
    made = await world()
    chunk = fake_chunk("letters", CHUNKS["letters"][0], title="Letters")
    await made.add(chunk, CHUNKS["letters"][1], replace(TAUGHT, valid_at=NEW))
    assert "wei#0" in await made.ids(SAID, as_of=NEW)
    assert await made.find(SAID, as_of=OLD) == nothing()


@pytest.mark.parametrize("query", ["", " \n", "?!"])
async def test_a_question_without_a_word_finds_nothing(query: str):
    made = await world()
    made.embedding.embedded_texts.clear()
    assert await made.find(query) == nothing("the question has no word")
    assert (made.graph.asked, made.embedding.embedded_texts) == ([], [])


async def test_an_unknown_dataset_has_no_hits():
    made = await world()
    assert await made.engine.find(SourceQuery("other", FILM), 3) == nothing(
        "the graph has nothing of this dataset"
    )


WORDED = FactHit("c1", "MADE", "All who made pictures.", 1, None, 3.0, ())
LOOSE = FactHit("f1", "MADE", "Who made pictures.", 1, 0.4, None, (), "Somebody", "Pictures")


async def test_a_thing_without_a_chunk_is_a_hit_of_its_own():
    made = await world()
    made.graph.besides = [WORDED, LOOSE]
    found = await made.find(FILM)
    by_id = {hit["id"]: hit for hit in found.hits}
    assert {"film#0", "director#0", "town#0", "c1", "f1"} == set(by_id)
    assert (by_id["c1"]["score"], by_id["c1"]["evidence"], by_id["c1"]["rank"]) == (None, {}, len(by_id))
    assert by_id["f1"]["score"] == SHIPPED.of_cosine(0.4, ("latin", "latin"))
    assert by_id["f1"]["facts"][0]["target"] == "Pictures"
    assert [hit["rank"] for hit in found.hits] == list(range(1, len(by_id) + 1))
    assert len((await made.find(FILM, 2)).hits) == 2


async def test_a_filter_is_passed_by_no_thing_without_a_chunk():
    made = await world()
    made.graph.besides = [WORDED, LOOSE]
    assert await made.ids(FILM, filters=wanted({"document_id": "film"})) == ["film#0"]


async def test_a_thing_without_a_chunk_is_not_found_where_no_walk_starts():
    made = await world()
    made.graph.besides = [WORDED, replace(LOOSE, cosine=1.0)]
    assert await made.find("where was somebody born?") == nothing()


async def test_without_vectors_the_walk_starts_at_the_entities_alone(caplog: pytest.LogCaptureFixture):
    """The passages that the graph's own search found best start it too, and are what is done without."""
    question = "Film and its nine arches"
    made = await world(Unreadable)
    links = await made.graph.links("notes")
    assert links is not None
    graph = PassageGraph(links)
    start = graph.rarity(graph.named_in(question))
    told = {hit["id"]: hit["evidence"]["walk"] for hit in (await made.find(question)).hits}
    assert told == graph.visits(start, {}, limit=100)
    assert "disk gone" in caplog.text
    with_passages = {
        hit["id"]: hit["evidence"]["walk"] for hit in (await (await world()).find(question)).hits
    }
    assert with_passages["town#0"] > told["town#0"]


async def test_without_vectors_near_facts_start_a_walk_too():
    assert await (await world(Unreadable)).ids(SAID) == ["letters#0", "wei#0"]


@pytest.mark.parametrize("question", [FILM, SAID])
async def test_vectors_of_another_model_are_no_reason_to_do_without(question: str):
    with pytest.raises(ManifestMismatch):
        await (await world(Switched)).find(question)


async def test_a_question_in_other_words_names_what_the_question_itself_names():
    made = await world()
    reworded = await made.find("Town and its bridge", judged_as=FILM)
    assert reworded.question == {"names": ["Film"], "specificity": 1.0}
    assert reworded.hits[0]["id"] == "film#0"
    assert all(hit["evidence"]["entities"] in ([], ["Film"]) for hit in reworded.hits)
    assert [asked["query"] for asked in made.graph.asked] == ["Town and its bridge"]
    assert await made.find("Film", judged_as="nine arches") == nothing()


async def test_passages_that_other_words_find_start_the_walk_by_their_nearness_to_the_question():
    """Added words match what they came from."""
    made = await world()
    question, added = "Film and nine arches", "Pots of blue glaze stand there"
    reworded = await made.find(f"{question} {added}", judged_as=question)
    by_itself = await made.find(f"{question} {added}")
    wei, by_words = (
        {hit["id"]: hit["evidence"]["walk"] for hit in found.hits}["wei#0"] for found in (reworded, by_itself)
    )
    assert wei < by_words


async def test_a_question_is_embedded_once():
    made = await world()
    await made.engine.ready()
    made.embedding.embedded_texts.clear()
    await made.find(FILM)
    assert made.embedding.embedded_texts == [FILM]
    await made.find("Film in other words", judged_as=FILM)
    assert made.embedding.embedded_texts[1:] == [FILM]


async def near(made: World, query: str, limit: int = 100, **options: Any) -> dict[str, float]:
    found = await made.engine.nearest("notes", query, limit=limit, **options)
    return {chunk.id: score for chunk, score in found}


async def test_the_nearest_passages_are_judged_by_their_cosine_whatever_is_named():
    made = await world()
    question = "Film of nine arches"
    found = await near(made, question)
    assert {"film#0", "town#0"} <= found.keys()
    (asked,) = await made.embedding.embed_queries([question])
    stored = await made.store.get_vectors("notes", list(found))
    assert found == pytest.approx(
        {i: SHIPPED.of_cosine(float(vector @ asked), ("latin", "latin")) for i, vector in stored.items()}
    )
    assert list(found.items()) == sorted(found.items(), key=lambda entry: (-entry[1], entry[0]))
    assert next(iter(found)) == "town#0"
    assert list(await near(made, question, 1)) == ["town#0"]


async def test_filters_hold_for_the_nearest_passages(monkeypatch: pytest.MonkeyPatch):
    made = await world()
    filters = wanted({"document_id": {"$in": ["film", "director"]}})
    for limit in (2000, 0):
        monkeypatch.setattr(graph_engine, "WITHIN_LIMIT", limit)
        assert set(await near(made, "Film of nine arches", filters=filters)) == {"film#0"}
    monkeypatch.undo()
    assert await near(made, "nine arches", filters=wanted({"year": 1900})) == {}


async def test_nothing_is_near_to_what_has_no_word_or_cannot_be_compared():
    assert await near(await world(), "?!") == {}
    assert await near(await world(Unreadable), "nine arches") == {}


async def test_what_was_added_to_the_graph_is_walked_on_at_once():
    made = await world()
    assert "later#0" not in await made.ids(FILM)
    await made.add(fake_chunk("later", "More of it."), ["Later", "Film"])
    assert "later#0" in await made.ids(FILM)
    await made.graph.remove_documents("notes", ["later"])
    assert "later#0" not in await made.ids(FILM)
