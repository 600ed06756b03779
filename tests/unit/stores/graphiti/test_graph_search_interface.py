from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from agentic_rag.domain.identity import entity_uuid, group_id
from agentic_rag.domain.ports import GraphQuery
from agentic_rag.stores.graph.searching import MAX_CHARACTERS, MAX_WORDS, searchable
from agentic_rag.stores.graphiti.library import (
    EDGE_HYBRID_SEARCH_RRF,
    ComparisonOperator,
    DateFilter,
    EntityEdge,
    SearchFilters,
)
from agentic_rag.stores.graphiti.store import GraphitiStore
from agentic_rag.testing import HashingEmbedding
from graph_fixtures import note, opened

NONE = SearchFilters()
Y2020, Y2024 = datetime(2020, 1, 1, tzinfo=UTC), datetime(2024, 1, 1, tzinfo=UTC)


@pytest.fixture
async def store(tmp_path: Path, embedding: HashingEmbedding) -> AsyncIterator[GraphitiStore]:
    async with opened(tmp_path, embedding) as made:
        await made.replace_documents("notes", [note("one", "a1", "b1", "c1", "d1"), note("two", "b1", "e1")])
        yield made


def uuid(topic: str, dataset: str = "notes") -> str:
    return entity_uuid(dataset, topic)


async def search(store: GraphitiStore) -> Any:
    return (await store.graphiti()).driver.search_interface


async def vector(embedding: HashingEmbedding, text: str) -> list[float]:
    return [float(x) for x in (await embedding.embed_queries([text]))[0]]


async def test_full_text_and_cosine(store: GraphitiStore, embedding: HashingEmbedding) -> None:
    groups = ["notes"]
    facts = await (await search(store)).edge_fulltext_search(None, "relates to e1", NONE, groups, 5)
    assert facts[0].fact == "b1 relates to e1 in two."
    near = await (await search(store)).edge_similarity_search(
        None, await vector(embedding, facts[0].fact), None, None, NONE, groups, 5, 0.9
    )
    assert [edge.uuid for edge in near] == [facts[0].uuid]
    ends = await (await search(store)).edge_similarity_search(
        None, await vector(embedding, "relates"), uuid("a1"), uuid("b1"), NONE, groups, 5, 0.0
    )
    assert [edge.fact for edge in ends] == ["a1 relates to b1 in one."]
    nodes = await (await search(store)).node_similarity_search(
        None, await vector(embedding, "e1"), NONE, groups, 2, 0.9
    )
    assert {node.name for node in nodes} == {"b1", "e1"}, "the ends of the nearest fact"
    assert await (await search(store)).node_similarity_search(None, [0.0] * 256, NONE, groups, 2, 0.0) == []


async def test_no_groups_means_all_and_no_terms_means_none(store: GraphitiStore) -> None:
    await store.replace_documents("笔记", [note("three", "c1", "f1")])
    facts = await (await search(store)).edge_fulltext_search(None, "c1", NONE, None, 5)
    assert {fact.group_id for fact in facts} == {"notes", group_id("笔记")}
    assert await (await search(store)).edge_fulltext_search(None, "_ ?", NONE, None, 5) == []
    assert await (await search(store)).edge_fulltext_search(None, "c1", NONE, ["other"], 5) == []


async def test_date_filters(store: GraphitiStore) -> None:
    def edge(name: str, valid: datetime | None, invalid: datetime | None) -> EntityEdge:
        return EntityEdge(
            source_node_uuid=uuid("a1"),
            target_node_uuid=uuid("b1"),
            group_id="notes",
            name="WAS",
            fact=f"period {name}",
            created_at=Y2024,
            valid_at=valid,
            invalid_at=invalid,
        )

    driver = (await store.graphiti()).driver
    periods = [edge("open", None, None), edge("early", Y2020, Y2024), edge("late", Y2024, None)]
    await driver.graph_operations_interface.save_facts(driver, periods)

    async def found(**tests: list[list[tuple[str, datetime | None]]]) -> set[str]:
        filters = SearchFilters(
            **{
                name: [
                    [DateFilter(date=d, comparison_operator=ComparisonOperator[op]) for op, d in tests_of]
                    for tests_of in alternatives
                ]
                for name, alternatives in tests.items()
            }
        )
        edges = await (await search(store)).edge_fulltext_search(None, "period", filters, ["notes"], 9)
        return {edge.fact.removeprefix("period ") for edge in edges}

    assert await found() == {"open", "early", "late"}
    assert await found(valid_at=[[("less_than", Y2024)]]) == {"early"}
    assert await found(valid_at=[[("less_than_equal", Y2024)]]) == {"early", "late"}
    assert await found(valid_at=[[("is_null", None)], [("equals", Y2020)]]) == {"open", "early"}
    assert await found(invalid_at=[[("is_not_null", None)]]) == {"early"}
    assert await found(valid_at=[[("greater_than_equal", Y2020), ("not_equals", Y2020)]]) == {"late"}
    assert await found(expired_at=[[("is_not_null", None)]]) == set()


async def test_edge_types_and_ends(store: GraphitiStore) -> None:
    async def count(filters: SearchFilters) -> Any:
        return await (await search(store)).edge_fulltext_search(None, "relates", filters, ["notes"], 9)

    assert len(await count(SearchFilters(edge_types=["RELATES"]))) == 4
    assert await count(SearchFilters(edge_types=["OTHER"])) == []
    assert len(await count(SearchFilters(edge_source_node_uuids=[uuid("b1")]))) == 2


async def test_facts_come_in_the_order_of_graphitis_recipe(
    store: GraphitiStore, embedding: HashingEmbedding
) -> None:
    await store.replace_documents("notes", [note("three", *"klmnopq"), note("four", "a1", "k", "e1", "q")])
    graphiti = await store.graphiti()
    for text in ("a1 relates to k", "relates in two", "q", "nothing of it"):
        query = (await embedding.embed_queries([text]))[0]
        recipe = EDGE_HYBRID_SEARCH_RRF.model_copy(deep=True)
        recipe.edge_config.sim_min_score = 0.0
        for limit in (1, 3, 40):
            recipe.limit = limit
            theirs = await graphiti.search_(
                text, config=recipe, group_ids=["notes"], query_vector=query.tolist()
            )
            ours = await store.search("notes", GraphQuery(text, query), limit=limit)
            assert [hit.id for hit in ours] == [edge.uuid for edge in theirs.edges]


async def test_an_index_answers_like_the_scan(
    tmp_path: Path, embedding: HashingEmbedding, monkeypatch: pytest.MonkeyPatch
) -> None:
    from agentic_rag.stores.graph import tables

    monkeypatch.setattr(tables, "VECTOR_INDEX_FROM", 300)
    monkeypatch.setattr(tables, "INDEX_FROM", 100)
    async with opened(tmp_path, embedding) as store:
        topics = [f"topic{i}" for i in range(400)]
        await store.replace_documents("notes", [note("big", *topics)])
        query = (await embedding.embed_queries(["topic7 topic8"]))[0]
        before = await store.search("notes", GraphQuery("topic7 topic8", query), limit=10)
        await store.optimize("notes")
        facts = await store._tables._open_table("notes", "facts")
        assert {i.columns[0] for i in await facts.list_indices()} >= {"vector", "text", "uuid", "document_id"}
        assert await store.search("notes", GraphQuery("topic7 topic8", query), limit=10) == before
        await store.replace_documents("notes", [note("late", "topic7", "fresh")])
        ends = {hit.target_name for hit in await store.search("notes", GraphQuery("fresh", query), limit=10)}
        assert "fresh" in ends, "rows outside the index are found"


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("  oolong \t tea\n", "oolong tea"),
        ("a\x00b", "a b"),
        ("\ud800", ""),
        ("Ｔｅａ", "Tea"),
        ("茶" * 5000, "茶" * MAX_CHARACTERS),
    ],
)
def test_searchable(query: str, text: str) -> None:
    assert searchable(query) == text


def test_long_queries_are_cut_at_words() -> None:
    assert searchable("w " * 5000).split() == ["w"] * MAX_WORDS
