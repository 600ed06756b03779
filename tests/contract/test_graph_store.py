"""What every ``ports.GraphStore`` promises, checked against the in-memory reference and Graphiti."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from agentic_rag.domain.identity import entity_key
from agentic_rag.domain.ports import GraphStore
from agentic_rag.stores.in_memory_graph import InMemoryGraphStore
from agentic_rag.testing import HashingEmbedding
from agentic_rag.testing.contracts.graph_store import (
    JAN,
    GraphStoreContract,
    find,
    graph_of_name,
    labels_of,
    tea,
    travel,
)


@pytest.fixture
def embedding() -> HashingEmbedding:
    return HashingEmbedding(64)


@pytest.fixture(params=["memory", "embedded", "falkordb", "neo4j", "object_store"])
async def store(
    request: pytest.FixtureRequest, tmp_path: Path, embedding: HashingEmbedding
) -> AsyncIterator[GraphStore]:
    if request.param == "memory":
        yield InMemoryGraphStore(embedding)
        return
    from agentic_rag.stores.graphiti.store import GraphitiStore
    from agentic_rag.stores.lancedb.connection import lance_connection

    uri, storage_options, graph = str(tmp_path / "lance"), None, None
    if request.param == "object_store":
        s3 = request.getfixturevalue("object_store")
        uri, storage_options = s3.empty_uri(), s3.options
    elif request.param != "embedded":
        graph = request.getfixturevalue(request.param).emptied()
    async with lance_connection(uri, storage_options, locks=str(tmp_path)) as connection:
        opened = await GraphitiStore.open(
            connection=connection, folder=tmp_path, embedding=embedding, graph=graph
        )
        yield opened
        await opened.close()


class TestGraphStore(GraphStoreContract):
    @pytest.fixture
    def store(self, store: Any) -> Any:
        return store


async def test_links_follow_the_graph(store: GraphStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agentic_rag.stores.graph.links.MAX_LAG_SECONDS", 0.0)
    await store.replace_documents("notes", [tea(), travel()])
    before = await store.links("notes")
    assert await store.links("notes") is before
    await store.remove_documents("notes", ["tea"])
    after = await store.links("notes")
    assert after is not None
    assert list(after.chunk_ids) == ["travel#0"]
    assert set(map(entity_key, after.names)) == {"fujian", "mountains"}


async def test_what_was_just_written_is_named_before_the_links_are_read_again(
    store: GraphStore, embedding: HashingEmbedding, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def chunks_of_fujian() -> set[str]:
        hits = await find(store, embedding, "Fujian")
        return {
            chunk for hit in hits if "Fujian" in (hit.source_name, hit.target_name) for chunk in hit.chunk_ids
        }

    monkeypatch.setattr("agentic_rag.stores.graph.links.ALWAYS_FRESH_CHUNKS", 0)
    monkeypatch.setattr("agentic_rag.stores.graph.links.MAX_LAG_SECONDS", 1e9)
    await store.replace_documents("notes", [travel()])
    await find(store, embedding, "mountains")
    await store.replace_documents("notes", [tea(date=JAN)])
    hits = await find(store, embedding, "oolong")
    fact = next(hit for hit in hits if hit.name == "COMES_FROM")
    assert (fact.source_name, fact.target_name, fact.chunk_ids) == ("Oolong", "Fujian", ("tea#0",))
    assert await chunks_of_fujian() == {"tea#0", "travel#0"}, (
        "an entity that was there is in the new note too"
    )
    earlier = await find(store, embedding, "oolong", as_of=JAN - timedelta(days=1))
    assert not any("tea#0" in hit.chunk_ids for hit in earlier)
    await store.remove_documents("notes", ["travel"])
    assert await chunks_of_fujian() == {"tea#0"}, "and in the removed no more"


@pytest.mark.parametrize("by", ["mention", "fact"])
async def test_a_label_goes_with_the_last_document_that_gives_it(
    store: GraphStore, monkeypatch: pytest.MonkeyPatch, by: str
) -> None:
    monkeypatch.setattr("agentic_rag.stores.graph.links.MAX_LAG_SECONDS", 0.0)
    await store.replace_documents(
        "notes", [graph_of_name("a", "Note", "Tag", by=by), graph_of_name("b", "Thing")]
    )
    await store.replace_documents("notes", [graph_of_name("c", "Note", by=by)])
    assert await labels_of(store, "fujian") == {"Note", "Tag", "Thing"}
    await store.remove_documents("notes", ["a"])
    assert await labels_of(store, "fujian") == {"Note", "Thing"}
    await store.replace_documents("notes", [graph_of_name("c", "Card", by=by)])
    assert await labels_of(store, "fujian") == {"Card", "Thing"}
    await store.replace_documents("notes", [graph_of_name("b"), graph_of_name("d", "Note", by=by)])
    assert await labels_of(store, "fujian") == {"Card", "Note"}
