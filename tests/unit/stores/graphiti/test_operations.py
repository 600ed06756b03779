from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from agentic_rag.errors import ConfigError
from agentic_rag.stores.graphiti.library import (
    EntityEdge,
    EntityNode,
    EpisodeType,
    EpisodicEdge,
    EpisodicNode,
    NodeNotFoundError,
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


async def save(store: GraphitiStore, *things: Any) -> None:
    """As Graphiti does at the end of an extraction."""
    from graphiti_core.utils.bulk_utils import add_nodes_and_edges_bulk

    kinds = (EpisodicNode, EpisodicEdge, EntityNode, EntityEdge)
    of_kinds = [[one for one in things if type(one) is kind] for kind in kinds]
    graphiti = await store.graphiti()
    await add_nodes_and_edges_bulk(graphiti.driver, *of_kinds, graphiti.embedder)


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


async def test_what_an_extraction_writes_is_mirrored(store: GraphitiStore) -> None:
    graphiti = await store.graphiti()
    driver = graphiti.driver
    ann, bob = entity("Ann", attributes={"age": 7, "nested": {"x": [None]}}), entity("Bob")
    first, second = episode("one"), episode("two")
    fact = edge(ann, bob, "Ann knows Bob", episodes=[first.uuid], invalid_at=NOW)
    mention = EpisodicEdge(
        source_node_uuid=first.uuid, target_node_uuid=ann.uuid, group_id="g", created_at=NOW
    )
    for _ in range(2):
        await save(store, first, second, mention, ann, bob, fact)
    sizes = {kind: len(uuids) for kind, uuids in (await in_tables(store)).items()}
    assert sizes == {"entities": 2, "episodes": 2, "facts": 1, "mentions": 1}
    read, *others = await EntityNode.get_by_uuids(driver, [ann.uuid, "none"])
    assert (read.attributes, read.labels, others) == (ann.attributes, ["Entity", "Person"], [])
    episodes = await EpisodicNode.get_by_uuids(driver, [second.uuid, first.uuid])
    assert [one.name for one in episodes] == ["two", "one"]
    with pytest.raises(NodeNotFoundError):
        await EpisodicNode.get_by_uuid(driver, "none")
    first.episode_metadata = {"read": "by a model"}
    await first.save(driver)
    assert (await EpisodicNode.get_by_uuid(driver, first.uuid)).episode_metadata == {"read": "by a model"}
    found = await graphiti.search("Ann knows Bob", group_ids=["g"])
    assert [(one.fact, one.invalid_at) for one in found] == [("Ann knows Bob", NOW)]


async def test_a_document_and_what_graphiti_adds_to_it(store: GraphitiStore) -> None:
    """A fact that Graphiti found in two documents' episodes outlives one of them."""
    await store.replace_documents("notes", [note("one", "a1", "b1"), note("two", "b1", "c1")])
    driver = (await store.graphiti()).driver
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
    named["b1"].summary = "what a1 and c1 share"
    await save(store, named["b1"], shared)

    await store.remove_documents("notes", ["one"])
    (left,) = await (await store.graphiti()).search(shared.fact, group_ids=["notes"], num_results=1)
    assert left.episodes == [e.uuid for e in episodes if e.name == "two#0"]
    assert (await store.counts("notes")).entities == 3, "a1 is still named by the shared fact"
    await store.replace_documents("notes", [note("two", "b1", "c1", "d1")])
    (b1,) = await EntityNode.get_by_uuids(driver, [named["b1"].uuid])
    assert b1.summary == "what a1 and c1 share"
    await store.remove_documents("notes", ["two"])
    assert not any((await in_tables(store)).values())


async def test_without_a_language_model_extraction_refuses(store: GraphitiStore) -> None:
    with pytest.raises(ConfigError, match="language model"):
        await (await store.graphiti()).add_episode(
            "e", "Ann knows Bob", "chat", NOW, group_id="g", previous_episode_uuids=[]
        )
