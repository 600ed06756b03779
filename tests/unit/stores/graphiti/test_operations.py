from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from agentic_rag.domain.identity import episode_uuid
from agentic_rag.domain.ports import GraphQuery
from agentic_rag.errors import ConfigError
from agentic_rag.stores.graphiti.library import (
    CommunityEdge,
    CommunityNode,
    EdgeNotFoundError,
    EntityEdge,
    EntityNode,
    EpisodeType,
    EpisodicEdge,
    EpisodicNode,
    NodeNotFoundError,
    SagaNode,
)
from agentic_rag.stores.graphiti.store import GraphitiStore
from agentic_rag.testing import HashingEmbedding
from graph_fixtures import in_graph, in_tables, note, opened

NOW = datetime(2024, 5, 1, tzinfo=UTC)


@pytest.fixture(params=["embedded", "falkordb", "neo4j"])
async def store(
    tmp_path: Path, embedding: HashingEmbedding, request: pytest.FixtureRequest
) -> AsyncIterator[GraphitiStore]:
    graph = request.getfixturevalue(request.param).emptied() if request.param != "embedded" else None
    async with opened(tmp_path, embedding, graph=graph) as made:
        yield made
        assert await in_graph(made) == await in_tables(made)
        assert not (tmp_path / "graph.journal").exists()


def entity(name: str, **fields: Any) -> EntityNode:
    return EntityNode(name=name, group_id="g", labels=["Person"], **fields)


def edge(source: EntityNode, target: EntityNode, fact: str, **fields: Any) -> EntityEdge:
    return EntityEdge(
        source_node_uuid=source.uuid,
        target_node_uuid=target.uuid,
        group_id="g",
        name="KNOWS",
        fact=fact,
        created_at=NOW,
        **fields,
    )


def episode(name: str) -> EpisodicNode:
    return EpisodicNode(
        name=name,
        group_id="g",
        source=EpisodeType.message,
        source_description="chat",
        content=name,
        valid_at=NOW,
    )


async def test_add_triplet_without_a_language_model(store: GraphitiStore) -> None:
    ann, bob = entity("Ann"), entity("Bob")
    await store.graphiti.add_triplet(ann, edge(ann, bob, "Ann knows Bob"), bob)
    found = await store.graphiti.search("Ann knows Bob", group_ids=["g"])
    assert [fact.fact for fact in found] == ["Ann knows Bob"]
    tables = await in_tables(store)
    assert (len(tables["entities"]), len(tables["facts"])) == (2, 1)


async def test_everything_that_is_saved_is_mirrored(store: GraphitiStore) -> None:
    driver = store.graphiti.driver
    ann, bob = entity("Ann", attributes={"age": 7, "nested": {"x": [None]}}), entity("Bob")
    first, second = episode("one"), episode("two")
    fact = edge(ann, bob, "Ann knows Bob", episodes=[first.uuid], invalid_at=NOW)
    things = [
        ann, bob, first, second, fact,
        EpisodicEdge(source_node_uuid=first.uuid, target_node_uuid=ann.uuid, group_id="g", created_at=NOW),
    ]  # fmt: skip
    for thing in things:
        await thing.save(driver)
        await thing.save(driver)
    sizes = {kind: len(uuids) for kind, uuids in (await in_tables(store)).items()}
    assert sizes == {"entities": 2, "episodes": 2, "facts": 1, "mentions": 1}
    assert await in_graph(store) == await in_tables(store)

    read = await EntityNode.get_by_uuid(driver, ann.uuid)
    assert (read.attributes, read.labels) == (ann.attributes, ["Entity", "Person"])
    assert (await EntityEdge.get_by_uuids(driver, [fact.uuid]))[0].invalid_at == NOW
    assert [e.name for e in await EpisodicNode.get_by_uuids(driver, [second.uuid, first.uuid])] == [
        "two",
        "one",
    ]
    assert {e.uuid for e in await store.graphiti.retrieve_episodes(NOW, group_ids=["g"])} == {
        first.uuid, second.uuid,
    }  # fmt: skip
    await fact.load_fact_embedding(driver)
    assert len(fact.fact_embedding or []) == 256
    for cls, error in ((EntityNode, NodeNotFoundError), (EntityEdge, EdgeNotFoundError)):
        with pytest.raises(error):
            await cls.get_by_uuid(driver, "none")
    with pytest.raises(NodeNotFoundError):
        await EpisodicNode.get_by_uuid(driver, "none")
    unsaved = entity("unsaved")
    await unsaved.load_name_embedding(driver)  # no entity's vector is stored: the name is embedded
    assert len(unsaved.name_embedding or []) == 256

    await first.delete(driver)
    assert {kind for kind, uuids in (await in_tables(store)).items() if uuids} == {
        "entities", "episodes", "facts",
    }  # fmt: skip
    await ann.delete(driver)
    assert (await in_tables(store))["facts"] == set(), "a fact does not outlive its ends"


async def test_deleting_by_uuid_and_group(store: GraphitiStore) -> None:
    driver = store.graphiti.driver
    ann, bob, cid = entity("Ann"), entity("Bob"), entity("Cid")
    facts = [edge(ann, bob, "one"), edge(bob, cid, "two"), edge(cid, ann, "three")]
    for thing in (ann, bob, cid, *facts):
        await thing.save(driver)
    await EntityEdge.delete_by_uuids(driver, [facts[0].uuid])
    await facts[1].delete(driver)
    assert (await in_tables(store))["facts"] == {facts[2].uuid} == (await in_graph(store))["facts"]
    await EntityNode.delete_by_uuids(driver, [ann.uuid])
    assert (await in_tables(store))["facts"] == set()
    await EntityNode.delete_by_group_id(driver, "other")
    assert len((await in_tables(store))["entities"]) == 2
    await EntityNode.delete_by_group_id(driver, "g")
    assert (await in_tables(store))["entities"] == set()


async def test_clearing(store: GraphitiStore) -> None:
    from graphiti_core.utils.maintenance.graph_data_operations import clear_data

    await store.replace_documents("notes", [note("one", "a1", "b1")])
    await store.replace_documents("笔记", [note("one", "a1", "b1")])
    await clear_data(store.graphiti.driver, ["notes"])
    assert (await store.counts("notes")).entities == 0
    assert (await store.counts("笔记")).entities == 2
    await clear_data(store.graphiti.driver)
    assert not any((await in_tables(store)).values())


@pytest.mark.parametrize("store", ["falkordb", "neo4j"], indirect=True)
async def test_communities_and_sagas_stay_on_a_server(store: GraphitiStore) -> None:
    driver = store.graphiti.driver
    await store.replace_documents("notes", [note("one", "a1", "b1")])
    before = await in_tables(store)
    community = CommunityNode(name="friends", group_id="notes", summary="a1 and b1")
    await community.generate_name_embedding(store.graphiti.embedder)
    saga = SagaNode(name="week", group_id="notes", created_at=NOW)
    member = CommunityEdge(
        source_node_uuid=community.uuid,
        target_node_uuid=min(before["entities"]),
        group_id="notes",
        created_at=NOW,
    )
    for thing in (community, saga, member):
        await thing.save(driver)
    await store.replace_documents("notes", [note("one", "a1", "b1")])
    assert [c.name for c in await CommunityNode.get_by_group_ids(driver, ["notes"])] == ["friends"]
    assert [s.name for s in await SagaNode.get_by_group_ids(driver, ["notes"])] == ["week"]
    for thing in (member, community, saga):
        await thing.delete(driver)
    assert await CommunityNode.get_by_group_ids(driver, ["notes"]) == []
    assert await SagaNode.get_by_group_ids(driver, ["notes"]) == []
    assert await in_tables(store) == before
    with pytest.raises(NotImplementedError, match="entity"):
        _ = store.graphiti.nodes.entity


async def test_a_document_and_what_graphiti_adds_to_it(store: GraphitiStore) -> None:
    """A fact that Graphiti found in two documents' episodes outlives one of them."""
    await store.replace_documents("notes", [note("one", "a1", "b1"), note("two", "b1", "c1")])
    driver = store.graphiti.driver
    stored = await in_tables(store)
    episodes = await EpisodicNode.get_by_uuids(driver, sorted(stored["episodes"]))
    nodes = await EntityNode.get_by_uuids(driver, sorted(stored["entities"]))
    named = {node.name: node for node in nodes}
    shared = EntityEdge(
        source_node_uuid=named["a1"].uuid,
        target_node_uuid=named["c1"].uuid,
        group_id="notes",
        name="FOUND",
        fact="a1 and c1 belong together",
        episodes=[e.uuid for e in episodes],
        created_at=NOW,
    )
    await shared.save(driver)
    named["b1"].summary = "what a1 and c1 share"
    await named["b1"].save(driver)

    await store.remove_documents("notes", ["one"])
    left = await EntityEdge.get_by_uuid(driver, shared.uuid)
    assert left.episodes == [e.uuid for e in episodes if e.name == "two#0"]
    assert (await store.counts("notes")).entities == 3, "a1 is still named by the shared fact"
    await store.replace_documents("notes", [note("two", "b1", "c1", "d1")])
    assert (await EntityNode.get_by_uuid(driver, named["b1"].uuid)).summary == "what a1 and c1 share"
    await store.remove_documents("notes", ["two"])
    assert not any((await in_tables(store)).values())


@pytest.mark.parametrize("store", ["falkordb", "neo4j"], indirect=True)
async def test_remove_episode(store: GraphitiStore) -> None:
    await store.replace_documents("notes", [note("one", "a1", "b1"), note("two", "b1", "c1")])
    await store.graphiti.remove_episode(episode_uuid("notes", "one#0"))
    counts = await store.counts("notes")
    assert (counts.entities, counts.facts, counts.episodes) == (2, 1, 1)


async def test_without_a_language_model_extraction_refuses(store: GraphitiStore) -> None:
    with pytest.raises(ConfigError, match="language model"):
        await store.graphiti.add_episode("e", "Ann knows Bob", "chat", NOW, group_id="g")


async def test_a_language_model_s_graph_is_the_same_graph(
    tmp_path: Path, embedding: HashingEmbedding
) -> None:
    from agentic_rag.stores.graphiti.library import LLMClient

    class Scripted(LLMClient):  # type: ignore[misc]
        """Answers each of Graphiti's prompts by the shape of the answer it wants."""

        def __init__(self) -> None:
            super().__init__(config=None)

        async def _generate_response(
            self, messages: Any, response_model: Any = None, *_: Any, **__: Any
        ) -> Any:
            fields = set(response_model.model_fields) if response_model else set()
            if "extracted_entities" in fields:
                names = ("Ann", "Bob")
                return {"extracted_entities": [{"name": n, "entity_type_id": 0} for n in names]}
            if "edges" in fields:
                return {
                    "edges": [
                        {
                            "source_entity_name": "Ann",
                            "target_entity_name": "Bob",
                            "relation_type": "KNOWS",
                            "fact": "Ann knows Bob",
                            "valid_at": None,
                            "invalid_at": None,
                        }
                    ]
                }
            return {name: [] for name in fields}

    async with opened(tmp_path, embedding, llm_client=Scripted()) as store:
        result = await store.graphiti.add_episode("talk", "Ann knows Bob", "chat", NOW, group_id="g")
        assert [edge.fact for edge in result.edges] == ["Ann knows Bob"]
        assert await in_graph(store) == await in_tables(store)
        query = GraphQuery("Ann knows Bob", (await embedding.embed_queries(["Ann"]))[0])
        (fact,) = await store.search("g", query, limit=3)
        assert (fact.text, fact.chunk_ids) == ("Ann knows Bob", ()), "its episode is no chunk of ours"
