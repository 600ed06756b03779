"""What every ``ports.GraphStore`` promises."""

from __future__ import annotations

from dataclasses import asdict, replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest

from agentic_rag.domain import Chunk, DocumentGraph, Entity, Fact, FactHit, Mention
from agentic_rag.domain.identity import entity_key
from agentic_rag.domain.ports import GraphCounts, GraphQuery, GraphStore
from agentic_rag.errors import InputError, ManifestMismatch
from agentic_rag.testing import HashingEmbedding

JAN, JUN = datetime(2024, 1, 1, tzinfo=UTC), datetime(2024, 6, 1, tzinfo=UTC)


HOSTILE = [
    "",
    "   ",
    "'",
    '"',
    'tea" OR "1',
    "\x00",
    "tea\x00tea",
    "_",
    "___",
    "AND OR NOT",
    "+tea -leaf && || ! ( ) { } [ ] ^ ~ * ? : \\ /",
    "MATCH (n) DETACH DELETE n",
    "'; DROP TABLE facts; --",
    "🍵",
    "👩‍👩‍👧",
    "\ud800",
    "tea " * 5000,
    "茶" * 20_000,
    "a" * 20_000,
    "%s %d {0} $1",
    "\r\n\t",
]


def chunk(document: str, key: str, text: str, date: datetime | None = None, **metadata: Any) -> Chunk:
    return Chunk(
        id=f"{document}#{key}",
        document_id=document,
        text=text,
        start=3,
        end=3 + len(text),
        ordinal=int(key),
        title=document,
        path=f"{document}.md",
        kind="paragraph",
        heading_path=("Top", "Under"),
        date=date,
        url=f"obsidian://open?file={document}",
        metadata=metadata,
    )


def tea(*, date: datetime | None = None) -> DocumentGraph:
    return DocumentGraph(
        document_id="tea",
        chunks=(
            chunk(
                "tea",
                "0",
                "Oolong comes from Fujian.",
                date,
                year=2024,
                tags=["a", None],
                aliases=["Wu Long", "青茶"],
            ),
            chunk("tea", "1", "苹果是水果", date),
        ),
        entities=(
            Entity("oolong", "Oolong", ("Note",)),
            Entity("fujian", "Fujian", ("Place",)),
            Entity("苹果", "苹果", ("Thing",)),
        ),
        facts=(Fact("oolong", "fujian", "COMES_FROM", "Oolong comes from Fujian.", "tea#0"),),
        mentions=(
            Mention("oolong", "tea#0"),
            Mention("fujian", "tea#0"),
            Mention("苹果", "tea#1"),
        ),
    )


def travel() -> DocumentGraph:
    return DocumentGraph(
        document_id="travel",
        chunks=(chunk("travel", "0", "Fujian has mountains and a long coast."),),
        entities=(Entity("fujian", "Fujian", ("Place",)), Entity("mountains", "mountains")),
        facts=(Fact("fujian", "mountains", "HAS", "Fujian has mountains.", "travel#0"),),
        mentions=(Mention("mountains", "travel#0"),),
    )


async def find(
    store: GraphStore,
    embedding: HashingEmbedding,
    text: str,
    dataset: str = "notes",
    *,
    limit: int = 10,
    **restriction: Any,
) -> list[FactHit]:
    vector = (await embedding.embed_queries([text]))[0]
    return await store.search(dataset, GraphQuery(text, vector, **restriction), limit=limit)


async def chunks_of(store: GraphStore, key: str) -> set[str]:
    """Ids of the chunks that are linked to an entity."""
    links = await store.links("notes")
    assert links is not None
    pairs = zip(links.mentioning, links.mentioned_entities, strict=True)
    return {
        links.chunk_ids[chunk]
        for chunk, entity in pairs
        if entity_key(links.names[entity]) == entity_key(key)
    }


async def labels_of(store: GraphStore, key: str) -> set[str]:
    links = await store.links("notes")
    assert links is not None
    return set(links.labels[list(map(entity_key, links.names)).index(key)]) - {"Entity"}


def graph_of_name(document: str, *labels: str, by: str = "mention") -> DocumentGraph:
    """A document that names the entity ``fujian`` once, in a mention or a fact."""
    chunks = (chunk(document, "0", "Fujian."),)
    entities = (Entity("fujian", "Fujian", labels), Entity("coast", "coast"))
    if by == "mention":
        return DocumentGraph(document, chunks, entities, (), (Mention("fujian", f"{document}#0"),))
    return DocumentGraph(
        document, chunks, entities, (Fact("fujian", "coast", "HAS", "A coast.", f"{document}#0"),)
    )


class GraphStoreContract:
    """What every ``ports.GraphStore`` promises."""

    @pytest.fixture
    def store(self) -> Any:
        """An empty ``GraphStore`` that embeds with the fixture ``embedding``."""
        raise NotImplementedError("override this fixture")

    async def test_counts_what_was_given(self, store: GraphStore) -> None:
        await store.replace_documents("notes", [tea(), travel()])
        assert await store.counts("notes") == GraphCounts(entities=4, facts=2, episodes=3, mentions=5)

    async def test_unknown_dataset_is_empty(self, store: GraphStore, embedding: HashingEmbedding) -> None:
        assert await store.counts("nothing") == GraphCounts(0, 0, 0, 0)
        assert await find(store, embedding, "tea", "nothing") == []
        assert await store.get_chunks("nothing", ["a#0"]) == {}
        await store.remove_documents("nothing", ["a"])
        await store.optimize("nothing")

    async def test_links_are_the_whole_graph(self, store: GraphStore) -> None:
        assert await store.links("notes") is None
        await store.replace_documents("notes", [tea(date=JAN), travel()])
        links = await store.links("notes")
        assert links is not None
        titles = [links.titles[document] for document in links.documents]
        assert list(zip(links.chunk_ids, titles, strict=True)) == [
            ("tea#0", "tea"), ("tea#1", "tea"), ("travel#0", "travel"),
        ]  # fmt: skip
        tea_others, _, travel_others = [list(links.aliases[document]) for document in links.documents]
        assert (tea_others, travel_others) == (["Wu Long", "青茶"], [])
        assert links.dates.astype(str).tolist() == ["2024-01-01T00:00:00.000000"] * 2 + ["NaT"]
        pairs = {
            (links.chunk_ids[chunk], entity_key(links.names[entity]))
            for chunk, entity in zip(links.mentioning, links.mentioned_entities, strict=True)
        }
        assert len(pairs) == len(links.mentioning)
        assert pairs == {
            ("tea#0", "oolong"), ("tea#0", "fujian"), ("tea#1", "苹果"),
            ("travel#0", "fujian"), ("travel#0", "mountains"),
        }  # fmt: skip
        assert "Note" in await labels_of(store, "oolong")

    async def test_finds_facts(self, store: GraphStore, embedding: HashingEmbedding) -> None:
        await store.replace_documents("notes", [tea(), travel()])
        fact = (await find(store, embedding, "oolong Fujian"))[0]
        assert (fact.name, fact.text) == ("COMES_FROM", "Oolong comes from Fujian.")
        assert (fact.source_name, fact.target_name) == ("Oolong", "Fujian")
        assert fact.chunk_ids == ("tea#0",)

    async def test_raw_scores_are_kept(self, store: GraphStore, embedding: HashingEmbedding) -> None:
        await store.replace_documents("notes", [tea(), travel()])
        query = "Oolong comes from Fujian."
        hits = await find(store, embedding, query)
        assert hits[0].cosine == pytest.approx(1.0, abs=1e-5)
        assert hits[0].bm25 is not None
        assert hits[0].bm25 > 0

    async def test_what_only_full_text_found_has_its_cosine_too(
        self, store: GraphStore, embedding: HashingEmbedding
    ) -> None:
        await store.replace_documents("notes", [tea(), travel()])
        opposite = -(await embedding.embed_queries(["Oolong comes from Fujian."]))[0]
        hits = await store.search("notes", GraphQuery("oolong comes", opposite), limit=5)
        assert hits[0].text == "Oolong comes from Fujian."
        assert hits[0].cosine == pytest.approx(-1.0, abs=1e-5)

    async def test_ranks_run_from_one(self, store: GraphStore, embedding: HashingEmbedding) -> None:
        await store.replace_documents("notes", [tea(), travel()])
        hits = await find(store, embedding, "Oolong Fujian mountains comes")
        assert [hit.rank for hit in hits] == [1, 2]
        assert len(await find(store, embedding, "Oolong Fujian mountains", limit=1)) == 1
        assert await find(store, embedding, "Oolong", limit=0) == []

    async def test_finds_chinese(self, store: GraphStore, embedding: HashingEmbedding) -> None:
        fact = Fact("苹果", "苹果", "IS", "苹果是水果", "tea#1")
        await store.replace_documents("笔记", [replace(tea(), facts=(*tea().facts, fact))])
        assert (await find(store, embedding, "水果", "笔记"))[0].text == "苹果是水果"

    async def test_full_width_and_composed_forms_are_one(
        self, store: GraphStore, embedding: HashingEmbedding
    ) -> None:
        await store.replace_documents("notes", [tea()])
        (hit,) = await find(store, embedding, "Ｏｏｌｏｎｇ")
        assert hit.bm25 is not None

    async def test_chunks_come_back_exactly(self, store: GraphStore) -> None:
        graph = tea(date=JAN)
        await store.replace_documents("notes", [graph])
        found = await store.get_chunks("notes", ["tea#0", "tea#1", "tea#9"])
        assert found == {c.id: c for c in graph.chunks}

    async def test_an_entity_is_linked_to_the_chunks_of_its_mentions_and_facts(
        self, store: GraphStore
    ) -> None:
        await store.replace_documents("notes", [tea(), travel()])
        assert await chunks_of(store, "fujian") == {"tea#0", "travel#0"}

    async def test_replacing_is_idempotent(self, store: GraphStore, embedding: HashingEmbedding) -> None:
        await store.replace_documents("notes", [tea(), travel()])
        before = await find(store, embedding, "Oolong Fujian")
        embedded = len(embedding.embedded_texts)
        await store.replace_documents("notes", [tea(), travel()])
        assert len(embedding.embedded_texts) == embedded, "what is stored already is not embedded again"
        assert await store.counts("notes") == GraphCounts(4, 2, 3, 5)
        assert await find(store, embedding, "Oolong Fujian") == before

    async def test_each_distinct_text_is_embedded_once(
        self, store: GraphStore, embedding: HashingEmbedding
    ) -> None:
        await store.replace_documents("notes", [tea(), travel()])
        assert sorted(embedding.embedded_texts) == sorted(set(embedding.embedded_texts))

    async def test_vectors_that_were_made_elsewhere_are_taken(
        self, store: GraphStore, embedding: HashingEmbedding
    ) -> None:
        texts = await store.new_texts("notes", [tea(), travel()])
        assert embedding.embedded_texts == []
        other = HashingEmbedding(embedding.dimension)
        vectors = dict(zip(texts, await other.embed_passages(texts), strict=True))
        left_out = texts[0]
        del vectors[left_out]
        await store.replace_documents("notes", [tea(), travel()], vectors=vectors)
        assert embedding.embedded_texts == [left_out]
        assert sorted(other.embedded_texts) == texts
        assert await store.new_texts("notes", [tea(), travel()]) == []
        assert await find(store, embedding, "Oolong Fujian")

    async def test_replacing_drops_what_is_gone(self, store: GraphStore, embedding: HashingEmbedding) -> None:
        await store.replace_documents("notes", [tea(), travel()])
        smaller = DocumentGraph(
            "tea", (chunk("tea", "0", "Pu-erh is dark."),), (Entity("puerh", "Pu-erh"),), (),
            (Mention("puerh", "tea#0"),),
        )  # fmt: skip
        await store.replace_documents("notes", [smaller])
        assert await store.counts("notes") == GraphCounts(entities=3, facts=1, episodes=2, mentions=3)
        assert [hit.name for hit in await find(store, embedding, "Oolong Fujian Pu-erh")] == ["HAS"]
        assert await chunks_of(store, "Oolong") == set()
        assert (await store.get_chunks("notes", ["tea#0", "tea#1"])).keys() == {"tea#0"}

    async def test_removing_keeps_what_others_name(
        self, store: GraphStore, embedding: HashingEmbedding
    ) -> None:
        await store.replace_documents("notes", [tea(), travel()])
        await store.remove_documents("notes", ["tea", "never there"])
        assert await store.counts("notes") == GraphCounts(entities=2, facts=1, episodes=1, mentions=2)
        assert await chunks_of(store, "fujian") == {"travel#0"}
        await store.remove_documents("notes", ["travel"])
        assert await store.counts("notes") == GraphCounts(0, 0, 0, 0)
        assert await find(store, embedding, "Fujian mountains") == []

    async def test_a_label_that_moves_to_another_document_of_the_same_write_stays(
        self, store: GraphStore
    ) -> None:
        await store.replace_documents("notes", [graph_of_name("a", "Note"), graph_of_name("b")])
        await store.replace_documents("notes", [graph_of_name("a"), graph_of_name("b", "Note")])
        assert await labels_of(store, "fujian") == {"Note"}

    async def test_an_entity_nobody_names_is_not_kept(self, store: GraphStore) -> None:
        graph = tea()
        await store.replace_documents("notes", [replace(graph, entities=(*graph.entities, Entity("x", "x")))])
        assert (await store.counts("notes")).entities == 3

    async def test_an_entity_that_is_only_named_is_called_by_its_key(
        self, store: GraphStore, embedding: HashingEmbedding
    ) -> None:
        await store.replace_documents("notes", [replace(tea(), entities=())])
        assert (await find(store, embedding, "oolong"))[0].source_name == "oolong"

    async def test_a_document_without_chunks_disappears(self, store: GraphStore) -> None:
        await store.replace_documents("notes", [tea()])
        await store.replace_documents("notes", [DocumentGraph("tea", ())])
        assert await store.counts("notes") == GraphCounts(0, 0, 0, 0)

    async def test_datasets_are_apart(self, store: GraphStore, embedding: HashingEmbedding) -> None:
        await store.replace_documents("notes", [tea()])
        await store.replace_documents("茶 — 笔记", [travel()])
        assert (await store.counts("notes")).episodes == 2
        assert (await store.counts("茶 — 笔记")).episodes == 1
        assert "HAS" not in {hit.name for hit in await find(store, embedding, "mountains")}
        assert [hit.name for hit in await find(store, embedding, "mountains", "茶 — 笔记")] == ["HAS"]
        await store.remove_documents("茶 — 笔记", ["travel", "tea"])
        assert (await store.counts("notes")).episodes == 2

    async def test_a_dataset_is_the_same_however_its_name_is_composed(
        self, store: GraphStore, embedding: HashingEmbedding
    ) -> None:
        await store.replace_documents("cafe\u0301", [tea()])
        assert set(await store.get_chunks("caf\u00e9", ["tea#0"])) == {"tea#0"}
        assert await find(store, embedding, "Oolong", "caf\u00e9", within=["tea#0"])
        before = await find(store, embedding, "Oolong Fujian", "cafe\u0301")
        await store.replace_documents("caf\u00e9", [tea()])
        assert await find(store, embedding, "Oolong Fujian", "caf\u00e9") == before

    async def test_facts_hold_from_valid_at_until_before_invalid_at(
        self, store: GraphStore, embedding: HashingEmbedding
    ) -> None:
        sentences = {
            "always true": (None, None),
            "true from june": (JUN, None),
            "true until june": (JAN, JUN),
            "true only in january": (JAN, datetime(2024, 2, 1, tzinfo=UTC)),
            "true long ago": (datetime(1066, 1, 1, tzinfo=UTC), datetime(1100, 1, 1, tzinfo=UTC)),
        }
        facts = tuple(
            Fact("oolong", "fujian", "IS", text, "tea#0", begun, over)
            for text, (begun, over) in sentences.items()
        )
        await store.replace_documents("notes", [replace(tea(), facts=facts)])

        async def true_at(moment: datetime | None) -> set[str]:
            return {hit.text for hit in await find(store, embedding, "true", as_of=moment)}

        assert await true_at(None) == set(sentences)
        assert await true_at(JUN) == {"always true", "true from june"}
        assert await true_at(datetime(2024, 5, 31, 23, 59, 59, tzinfo=UTC)) == {
            "always true",
            "true until june",
        }
        assert await true_at(JAN) == {"always true", "true until june", "true only in january"}
        assert await true_at(datetime(1066, 1, 1, tzinfo=UTC)) == {"always true", "true long ago"}

    async def test_as_of_leaves_out_what_only_later_chunks_say(
        self, store: GraphStore, embedding: HashingEmbedding
    ) -> None:
        await store.replace_documents("notes", [tea(date=JUN), travel()])
        hits = await find(store, embedding, "Oolong Fujian mountains", as_of=JAN)
        assert [(hit.text, hit.chunk_ids) for hit in hits] == [("Fujian has mountains.", ("travel#0",))]
        assert len(await find(store, embedding, "Oolong Fujian mountains", as_of=JUN)) == 2

    async def test_within_restricts_facts(self, store: GraphStore, embedding: HashingEmbedding) -> None:
        await store.replace_documents("notes", [tea(), travel()])
        hits = await find(store, embedding, "Oolong Fujian mountains", within=["travel#0", "unknown'#1"])
        assert [hit.chunk_ids for hit in hits] == [("travel#0",)]
        assert await find(store, embedding, "Oolong", within=[]) == []

    async def test_stats_tell_rows_and_model(self, store: GraphStore) -> None:
        assert (await store.stats("notes")).tables == ()
        await store.replace_documents("notes", [tea(), travel()])
        await store.optimize("notes")
        stats = await store.stats("notes")
        counts = await store.counts("notes")
        rows = {table.name: table.rows for table in stats.tables}
        assert (stats.model, stats.dimension, stats.metric) == ("hashing-64", 64, "cosine")
        assert {name: rows[name] for name in ("entities", "facts", "episodes", "mentions")} == asdict(counts)
        assert all(table.unindexed_rows == 0 for table in stats.tables)

    async def test_any_query_is_accepted(self, store: GraphStore, embedding: HashingEmbedding) -> None:
        await store.replace_documents("notes", [tea()])
        for query in HOSTILE:
            assert isinstance(await find(store, embedding, query), list), query[:20]
        assert await find(store, embedding, "Oolong")

    @pytest.mark.parametrize("value", [0.0, float("nan"), float("inf")])
    async def test_a_vector_that_points_nowhere_leaves_full_text(
        self, store: GraphStore, value: float
    ) -> None:
        await store.replace_documents("notes", [tea()])
        query = GraphQuery("Oolong", np.full(64, value, dtype=np.float32))
        hits = await store.search("notes", query, limit=5)
        assert hits
        assert all(hit.cosine is None for hit in hits)

    async def test_a_vector_of_another_dimension_is_refused(self, store: GraphStore) -> None:
        await store.replace_documents("notes", [tea()])
        with pytest.raises(ManifestMismatch):
            await store.search("notes", GraphQuery("Oolong", np.ones(3, dtype=np.float32)), limit=5)

    async def test_hostile_names_are_data(self, store: GraphStore, embedding: HashingEmbedding) -> None:
        name = "it's \"x\" \\ \x00 ' OR 1=1 --"
        document = "o'brien\\ -- %"
        graph = DocumentGraph(
            document,
            (chunk(document, "0", f"speaks of {name}"),),
            (Entity(name, name),),
            (Fact(name, name, name, name, f"{document}#0"),),
            (Mention(name, f"{document}#0"),),
        )
        await store.replace_documents("notes", [tea(), graph])
        assert (await store.get_chunks("notes", [f"{document}#0"]))[f"{document}#0"] == graph.chunks[0]
        assert name in {hit.name for hit in await find(store, embedding, name)}
        await store.remove_documents("notes", [document])
        assert await store.counts("notes") == GraphCounts(3, 1, 2, 3)

    async def test_wrong_input_is_refused(self, store: GraphStore) -> None:
        with pytest.raises(InputError, match="twice"):
            await store.replace_documents("notes", [tea(), tea()])
        with pytest.raises(InputError, match="tea"):
            await store.replace_documents("notes", [replace(tea(), chunks=())])
        with pytest.raises(InputError):
            await store.replace_documents("notes", [replace(travel(), chunks=tea().chunks)])
        with pytest.raises(InputError):
            await store.counts(" ")
        assert await store.counts("notes") == GraphCounts(0, 0, 0, 0)

    @pytest.mark.parametrize("reverse", [False, True])
    async def test_a_note_s_own_spelling_wins(
        self, store: GraphStore, embedding: HashingEmbedding, reverse: bool
    ) -> None:
        note = tea()
        mention = DocumentGraph(
            "other", (chunk("other", "0", "likes OOLONG"),), (Entity("oolong", "OOLONG"),), (),
            (Mention("oolong", "other#0"),),
        )  # fmt: skip
        graphs: list[DocumentGraph] = [note, mention]
        for graph in reversed(graphs) if reverse else graphs:
            await store.replace_documents("notes", [graph])
        assert (await find(store, embedding, "oolong"))[0].source_name == "Oolong"

    async def test_satisfies_the_protocol(self, store: GraphStore) -> None:
        assert isinstance(store, GraphStore)
