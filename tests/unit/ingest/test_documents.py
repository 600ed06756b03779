"""Documents written into both stores: what is embedded, linked, replaced and removed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from agentic_rag.domain import Block, Document, DocumentGraph
from agentic_rag.errors import InputError, StoreError
from agentic_rag.ingest.documents import DocumentWriter
from agentic_rag.stores.in_memory import InMemoryChunkStore
from agentic_rag.stores.in_memory_graph import InMemoryGraphStore
from agentic_rag.testing import HashingEmbedding, TokenHashingEmbedding
from word_counts import count_words


def session(name: str, *turns: str, title: str = "Ann and Bob") -> Document:
    """A document of one block a turn."""
    blocks, position = [], 0
    for number, turn in enumerate(turns, 1):
        key = f"D1:{number}"
        blocks.append(Block("turn", position, position + len(turn), key=key, metadata={"dia_id": key}))
        position += len(turn) + 1
    return Document(name, name, title, "\n".join(turns), "session", tuple(blocks))


class World:
    """In-memory stores and a writer."""

    def __init__(self) -> None:
        self.embedding = HashingEmbedding(32)
        self.chunks = InMemoryChunkStore(dimension=32)
        self.graph = InMemoryGraphStore(HashingEmbedding(32))
        self.writer = DocumentWriter(self.chunks, self.graph, self.embedding, count_words)


@pytest.fixture
def world() -> World:
    return World()


async def test_a_document_is_in_both_stores(world: World) -> None:
    (graph,) = await world.writer.replace("talk", [session("a", "Ann: I met Carla Bruni.", "Bob: Hi")])
    assert isinstance(graph, DocumentGraph)
    assert [chunk.id for chunk in graph.chunks] == ["a#D1:1", "a#D1:2"]
    assert "carla bruni" in {entity.key for entity in graph.entities}
    assert set(await world.chunks.get_chunks("talk", ["a#D1:1", "a#D1:2"])) == {"a#D1:1", "a#D1:2"}
    assert (await world.graph.counts("talk")).episodes == 2


async def test_only_what_is_not_stored_with_the_same_words_is_embedded(world: World) -> None:
    await world.writer.replace("talk", [session("a", "Ann: one", "Bob: two")])
    before = await world.chunks.get_vectors("talk", ["a#D1:1"])
    await world.writer.replace("talk", [session("a", "Ann: one", "Bob: other", "Ann: three")])
    assert world.embedding.embedded_texts == [
        "Ann and Bob. Ann: one",
        "Ann and Bob. Bob: two",
        "Ann and Bob. Bob: other",
        "Ann and Bob. Ann: three",
    ]
    after = await world.chunks.get_vectors("talk", ["a#D1:1"])
    assert np.array_equal(before["a#D1:1"], after["a#D1:1"])
    await world.writer.replace("talk", [session("a", "Ann: one", title="Ann alone")])
    assert world.embedding.embedded_texts[4:] == ["Ann alone. Ann: one"]
    assert await world.chunks.count("talk") == 1


async def test_tokens_are_kept_with_the_vectors(world: World) -> None:
    embedding = TokenHashingEmbedding(32)
    writer = DocumentWriter(world.chunks, world.graph, embedding, count_words)
    ids = ["a#D1:1", "a#D1:2"]
    await writer.replace("talk", [session("a", "Ann: one", "Bob: two")])
    before = await world.chunks.get_token_vectors("talk", ids)
    assert [len(before[name]) for name in ids] == [5 * 16, 5 * 16]  # of five words, 32 dimensions each
    await writer.replace("talk", [session("a", "Ann: one", "Bob: other")])
    assert embedding.embedded_texts[2:] == ["Ann and Bob. Bob: other"]
    after = await world.chunks.get_token_vectors("talk", ids)
    assert after[ids[0]] == before[ids[0]]
    assert after[ids[1]] != before[ids[1]]


async def test_texts_are_linked_to_the_documents_written_by_then(world: World) -> None:
    note = Document("n", "n", "Quarterly Review", "What we saw.", "record", ())
    mentioning = session("a", "Ann: The Quarterly Review was long.")
    await world.writer.replace("talk", [note])
    (graph,) = await world.writer.replace("talk", [mentioning])
    assert "Record" in {label for e in graph.entities if e.key == "quarterly review" for label in e.labels}
    await world.writer.remove("talk", ["n"])
    (graph,) = await world.writer.replace("talk", [mentioning])
    assert "Record" not in {label for entity in graph.entities for label in entity.labels}


async def test_removed_from_both_stores(world: World) -> None:
    await world.writer.replace("talk", [session("a", "Ann: one"), session("b", "Bob: two")])
    await world.writer.remove("talk", ["a", "unknown"])
    await world.writer.remove("talk", [])
    assert await world.chunks.document_ids("talk") == {"b"}
    assert (await world.graph.counts("talk")).episodes == 1


async def test_nothing_and_an_empty_document(world: World) -> None:
    assert await world.writer.replace("talk", []) == []
    await world.writer.replace("talk", [session("a", "Ann: one")])
    assert await world.writer.replace("talk", [session("a")]) == [DocumentGraph("a", ())]
    assert await world.chunks.count("talk") == 0


async def test_bad_input(world: World) -> None:
    with pytest.raises(InputError, match="given twice"):
        await world.writer.replace("talk", [session("a", "x"), session("a", "y")])
    with pytest.raises(InputError, match="a dataset needs a name"):
        await world.writer.replace(" ", [session("a", "x")])


async def test_a_write_that_was_cut_short_is_put_right_by_the_next(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuse(*given: Any, **more: Any) -> None:
        raise StoreError("gone")

    with monkeypatch.context() as broken:
        broken.setattr(world.graph, "replace_documents", refuse)
        with pytest.raises(StoreError, match="gone"):
            await world.writer.replace("talk", [session("a", "Ann: one")])
    # The chunk store knows of it, so that who clears by its document ids clears the graph too.
    assert await world.chunks.document_ids("talk") == {"a"}
    await world.writer.replace("talk", [session("a", "Ann: one")])
    assert (await world.graph.counts("talk")).episodes == 1
    with monkeypatch.context() as broken:
        broken.setattr(world.graph, "remove_documents", refuse)
        with pytest.raises(StoreError, match="gone"):
            await world.writer.remove("talk", ["a"])
    assert await world.chunks.document_ids("talk") == {"a"}
