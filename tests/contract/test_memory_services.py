"""What every memory service promises: all eight, those that use stores on the real ones.

But for the product's memory, which writes each insert at once: on the real stores it is in ``integration/test_memory``,
and as a design in ``integration/test_bench``.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import pytest_asyncio

from agentic_rag.domain.identity import memory_dataset
from agentic_rag.domain.ports import ChunkStore, Embedding, GraphStore
from agentic_rag.errors import InputError, StoreError
from agentic_rag.graph import GraphParts, build_rag_graph
from agentic_rag.memory.memories import Memories
from agentic_rag.models.bundled import count_tokens_batch
from agentic_rag.retrieval.engine import RetrievalEngine
from agentic_rag.retrieval.graph_engine import GraphEngine
from agentic_rag.stores.in_memory import InMemoryChunkStore
from agentic_rag.stores.in_memory_graph import InMemoryGraphStore
from agentic_rag.testing import HashingEmbedding
from agentic_rag_lab.designs.memory import Closes, Deletes, Memory, MemoryService, Neighbours, ReturnsAll
from agentic_rag_lab.designs.services import build_service, known_services
from agentic_rag_lab.designs.services.entries import BATCH_DOCUMENTS
from agentic_rag_lab.designs.services.parts import ServiceParts
from user_memories import memories_on

# The real stores belong to the loop they were opened in, and are opened once: each test has its own namespace.
pytestmark = pytest.mark.asyncio(loop_scope="module")

IN_PROCESS = ("short_term_memory", "vector_hash_memory", "full_context", "no_memory")
STORED = ("vector_memory", "graph_memory", "agentic_memory", "orchestrated_memory")
BEHIND = ("vector_memory", "graph_memory", "agentic_memory")
"""Write many inserts together, before the next reading; the product's memory writes each at once."""
RANKED = ("vector_hash_memory", *STORED)
BY_VECTOR = ("vector_hash_memory", "vector_memory")
LINKED = ("vector_hash_memory", "vector_memory", "graph_memory", "agentic_memory")
CASES = [(name, "none") for name in (*IN_PROCESS, "orchestrated_memory")] + [
    (name, "lancedb") for name in BEHIND
]

WORK = "(2023-08-01)Alice: I work at Google\n(2023-08-01)Bob: That's a great company!"
LAKE = "(2023-08-02)Bob: I painted the lake at sunrise last weekend."
BREAD = "(2023-08-03)Alice: My sourdough bread finally rose properly."
HOSTILE = [
    "",
    " \n\t ",
    "'",
    "'; DROP TABLE chunks; --",
    "\0",
    "a\0b",
    "🍵",
    "👩‍👩‍👧 👩‍👩‍👧",
    "\ud800",
    "\udfff tea \ud800",
    "()",
    "():",
    "(2023-08-01)Alice:",
    "(2023-08-01)Alice: \n\n(2023-08-01)Bob: hi\r\nagain",
    "(" * 2_000,
    "茶" * 2_000,
    "tea " * 5_000,
]


@dataclass
class World:
    """Stores, and what stands on them."""

    embedding: Embedding
    chunks: ChunkStore
    knowledge: GraphStore
    engine: GraphEngine
    ask: Any
    memories: Memories

    def parts(self, namespace: str) -> ServiceParts:
        return ServiceParts(
            namespace=namespace,
            embedding=self.embedding,
            chunks=self.chunks,
            knowledge=self.knowledge,
            graph_engine=self.engine,
            ask=self.ask,
            count_tokens=count_tokens_batch,
            memories=self.memories,
        )


def world_of(embedding: Embedding, chunks: ChunkStore, knowledge: GraphStore) -> World:
    engine = GraphEngine(knowledge, chunks, embedding)
    graph = build_rag_graph(GraphParts(engine, RetrievalEngine(chunks, embedding), embedding)).compile()
    return World(embedding, chunks, knowledge, engine, graph, memories_on(embedding, chunks, knowledge))


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def worlds(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[dict[str, World]]:
    from agentic_rag.stores.graphiti.store import GraphitiStore
    from agentic_rag.stores.lancedb.chunk_store import LanceChunkStore
    from agentic_rag.stores.lancedb.connection import lance_connection

    folder: Path = tmp_path_factory.mktemp("memories")
    embedding = HashingEmbedding(384)
    in_memory = world_of(
        embedding, InMemoryChunkStore(dimension=embedding.dimension), InMemoryGraphStore(embedding)
    )
    async with lance_connection(str(folder / "vectors")) as connection:
        chunks = LanceChunkStore(connection, model=embedding.name, dimension=embedding.dimension)
        knowledge = await GraphitiStore.open(connection=connection, folder=folder, embedding=embedding)
        yield {"none": in_memory, "lancedb": world_of(embedding, chunks, knowledge)}
        await knowledge.close()


@pytest.fixture(params=CASES, ids=lambda case: "-".join(case))
def case(request: pytest.FixtureRequest) -> tuple[str, str]:
    return request.param  # type: ignore[no-any-return]


@pytest.fixture
def name(case: tuple[str, str]) -> str:
    return case[0]


@pytest.fixture
def world(case: tuple[str, str], worlds: dict[str, World]) -> World:
    return worlds[case[1]]


Make = Callable[..., MemoryService]
_NUMBERS = count(1)


@pytest.fixture
def make(name: str, world: World) -> Make:
    """Makes a service, in a namespace of its own unless one is named; settings as keywords."""

    # The bundled model's vectors lie close together: 128 bits tell what is told apart here by luck only.
    fine = {"nbits": 2048} if name == "vector_hash_memory" else {}

    def made(namespace: str | None = None, **given: Any) -> MemoryService:
        settings = fine | given
        return build_service(name, settings, world.parts(namespace or f"memory-{next(_NUMBERS)}"))

    return made


@pytest.fixture
def service(make: Make) -> MemoryService:
    return make()


def keeps(name: str) -> None:
    if name == "no_memory":
        pytest.skip("no_memory keeps nothing")


def only(name: str, names: tuple[str, ...], what: str) -> None:
    if name not in names:
        pytest.skip(f"{name} {what}")


def ids(memories: list[Memory]) -> list[str]:
    return [memory["entry_id"] for memory in memories]


def texts(memories: list[Memory]) -> list[str]:
    return [memory["text"] for memory in memories]


async def told(service: MemoryService, *given: str, **metadata: Any) -> list[str | None]:
    return [await service.insert(text, metadata=metadata or None) for text in given]


async def test_all_services_are_tried() -> None:
    assert {name for name, _ in CASES} == set(known_services())


# --- what is inserted is found ----------------------------------------------------------------------


async def test_what_is_inserted_is_found_by_the_next_question(service: MemoryService, name: str) -> None:
    keeps(name)
    await told(service, LAKE, BREAD, WORK)
    found = await service.retrieve("Where does Alice work?")
    assert WORK in texts(found)
    if name in RANKED:
        assert found[0]["text"] == WORK
    trip = "(2023-08-09)Bob: We hiked the volcano Etna in Sicily."
    await service.insert(trip)
    assert trip in texts(await service.retrieve("Which volcano did Bob hike?"))


async def test_no_memory_keeps_nothing(service: MemoryService, name: str) -> None:
    only(name, ("no_memory",), "keeps what it is told")
    assert await service.insert(WORK) is None
    assert await service.retrieve("Where does Alice work?") == []


async def test_ids_are_the_same_for_the_same_inserts(make: Make, name: str) -> None:
    keeps(name)
    given = [f"(2023-08-01)Alice: dish {number}" for number in range(12)]
    one, other = await told(make(), *given), await told(make(), *given)
    assert one == other
    assert one == sorted(one, key=str)
    assert len(set(one)) == 12
    assert one[0] == "m00000001"


async def test_order_and_scores(make: Make, name: str) -> None:
    keeps(name)
    service = make(max_dialog=9) if name == "short_term_memory" else make()
    await told(service, WORK, LAKE, BREAD, WORK)
    found = await service.retrieve("Does Alice work at Google, a great company?")
    if name in RANKED:
        scores = [memory["score"] for memory in found]
        assert all(isinstance(score, float) for score in scores)
        assert [(-(s or 0.0), i) for s, i in zip(scores, ids(found), strict=True)] == sorted(
            (-(s or 0.0), i) for s, i in zip(scores, ids(found), strict=True)
        )
        assert texts(found)[:2] == [WORK, WORK]
    else:
        assert [memory["score"] for memory in found] == [None] * 4
        assert ids(found) == sorted(ids(found))
    assert len(set(ids(found))) == len(found)


async def test_top_k_cuts(make: Make, name: str) -> None:
    keeps(name)
    service = make(max_dialog=20) if name == "short_term_memory" else make()
    given = await told(service, *(f"(2023-08-01)Alice: I cooked dish number {n}" for n in range(12)))
    question = "Which dish did Alice cook?"
    found = await service.retrieve(question, top_k=4)
    if isinstance(service, ReturnsAll):
        assert ids(found) == given
    elif name in RANKED:
        assert ids(found) == ids(await service.retrieve(question, top_k=12))[:4]
        assert len(await service.retrieve(question, top_k=12)) == 12
        assert len(await service.retrieve(question)) == 10
    else:
        assert ids(found) == given[-4:]


async def test_top_k_must_be_a_whole_number(service: MemoryService) -> None:
    wrong: list[Any] = [0, -1, True, 2.0, "3"]
    for top_k in wrong:
        with pytest.raises(InputError, match="top_k must be a whole number of at least 1, not"):
            await service.retrieve("Where?", top_k=top_k)


async def test_a_question_that_says_nothing_finds_nothing_in_ranked_memories(
    service: MemoryService, name: str
) -> None:
    only(name, RANKED, "ranks nothing")
    await told(service, WORK)
    for query in (None, "", "  \n"):
        assert await service.retrieve(query) == []


async def test_asked_twice_it_answers_the_same(make: Make, name: str) -> None:
    given = [WORK, LAKE, BREAD, "(2023-08-04)Bob: Google gave me a painting of bread."]
    one, other = make(), make()
    for text in given:
        await one.insert(text)
        await one.retrieve("bread")  # asking in between changes nothing
    await told(other, *given)
    for question in ("Where does Alice work?", "bread", "Bob"):
        found = await one.retrieve(question)
        assert await one.retrieve(question) == found
        again = await other.retrieve(question)
        assert ids(again) == ids(found)
        # The model's vectors depend on their neighbours in a call by some 1e-8.
        assert [m["score"] for m in again] == pytest.approx([m["score"] for m in found], abs=1e-5)


# --- metadata ----------------------------------------------------------------------------------------


async def test_metadata_come_back_as_they_were(service: MemoryService, name: str) -> None:
    keeps(name)
    given = {"session_id": 3, "tags": ["a", None, 1.5], "nested": {"k": [True]}, "\ud800": "'"}
    await service.insert(WORK, metadata=given)
    await service.insert(BREAD)
    given["tags"].append("later")  # type: ignore[attr-defined]
    question = "Alice works at a company and bakes bread"
    found = {memory["text"]: memory for memory in await service.retrieve(question)}
    expected = {"session_id": 3, "tags": ["a", None, 1.5], "nested": {"k": [True]}, "\ud800": "'"}
    assert found[WORK]["metadata"] == expected
    assert found[BREAD]["metadata"] is None
    found[WORK]["metadata"]["nested"]["k"].append("mine")  # type: ignore[index]
    again = {memory["text"]: memory for memory in await service.retrieve(question)}
    assert again[WORK]["metadata"] == expected


async def test_metadata_filter(make: Make, name: str) -> None:
    keeps(name)
    service = make(max_dialog=50) if name == "short_term_memory" else make()
    for number in range(30):
        await service.insert(
            f"(2023-08-0{number % 3 + 1})Alice: I cooked dish number {number}",
            metadata={"session_id": number % 3, "place": {"room": number % 2}},
        )
    found = await service.retrieve("Which dish?", metadata={"session_id": 1}, top_k=30)
    assert sorted(ids(found)) == [f"m{number + 1:08d}" for number in range(1, 30, 3)]
    both = await service.retrieve("dish", metadata={"session_id": 1, "place": {"room": 0}}, top_k=30)
    assert sorted(ids(both)) == [f"m{number + 1:08d}" for number in range(4, 30, 6)]
    assert await service.retrieve("dish", metadata={"session_id": 7}) == []
    assert await service.retrieve("dish", metadata={"no": None}, top_k=30) != []  # missing is None
    assert len(await service.retrieve("dish", metadata={}, top_k=30)) == 30


# --- edges -------------------------------------------------------------------------------------------


async def test_an_empty_memory(service: MemoryService) -> None:
    assert await service.retrieve("Where does Alice work?") == []
    assert await service.retrieve("Where?", metadata={"session_id": 1}, top_k=1) == []
    if isinstance(service, Deletes):
        assert await service.delete("m00000001") is False
    if isinstance(service, Neighbours):
        assert await service.neighbours("m00000001") == []
    if isinstance(service, Closes):
        await service.close()


async def test_odd_texts_are_kept_and_asked(make: Make, name: str) -> None:
    service = make(max_dialog=99) if name == "short_term_memory" else make()
    given = await told(service, *HOSTILE, WORK)
    found = await service.retrieve("Where does Alice work?", top_k=99)
    expected = dict(zip(given, [*HOSTILE, WORK], strict=True))
    assert all(memory["text"] == expected[memory["entry_id"]] for memory in found)
    if name != "no_memory":
        assert WORK in texts(found)
        assert len(set(given)) == len(HOSTILE) + 1
    for query in HOSTILE:
        assert isinstance(await service.retrieve(query, top_k=3), list)


async def test_inserts_and_questions_at_once(make: Make, name: str) -> None:
    keeps(name)
    service = make(max_dialog=99) if name == "short_term_memory" else make()
    given = [f"(2023-08-01)Alice: I cooked dish number {number}" for number in range(40)]

    async def asked() -> str:
        await service.retrieve("Which dish did Alice cook?")
        return ""

    done = await asyncio.gather(
        *(asked() if number % 5 == 4 else service.insert(text) for number, text in enumerate(given))
    )
    inserted = [entry_id for entry_id in done if entry_id]
    assert inserted == [f"m{number:08d}" for number in range(1, 33)]
    found = await service.retrieve("Which dish did Alice cook?", top_k=40)
    assert sorted(ids(found)) == inserted
    by_id = {entry_id: text for entry_id, text in zip(done, given, strict=True) if entry_id}
    assert all(by_id[memory["entry_id"]] == memory["text"] for memory in found)


# --- capabilities ------------------------------------------------------------------------------------


async def test_capabilities(service: MemoryService, name: str) -> None:
    assert isinstance(service, Deletes) == (name != "no_memory")
    assert isinstance(service, Neighbours) == (name in LINKED)
    assert isinstance(service, ReturnsAll) == (name == "full_context")
    assert isinstance(service, Closes) == (name in BEHIND)


async def test_what_is_deleted_is_gone(service: MemoryService, name: str) -> None:
    keeps(name)
    assert isinstance(service, Deletes)
    work, lake, _ = await told(service, WORK, LAKE, BREAD, session_id=1)
    assert await service.delete(str(work)) is True
    assert await service.delete(str(work)) is False
    assert WORK not in texts(await service.retrieve("Where does Alice work?"))
    assert LAKE in texts(await service.retrieve("Bob's lake at sunrise"))
    assert await service.delete(str(lake)) is True
    assert texts(await service.retrieve("Alice bread and Bob's lake")) == [BREAD]
    assert await service.insert(WORK, metadata={"session_id": 1}) == "m00000004"
    assert WORK in texts(await service.retrieve("Where does Alice work?"))


async def test_neighbours(service: MemoryService, name: str) -> None:
    only(name, LINKED, "knows no links")
    assert isinstance(service, Neighbours)
    alone = "(2023-08-04)Dora: 42"
    met = "(2023-08-05)Bob: Alice showed me around Google."
    work, lake, met_id, _ = await told(service, WORK, LAKE, met, alone)
    found = await service.neighbours(str(work))
    assert found[0]["entry_id"] == met_id
    assert work not in ids(found)
    assert all(0.0 <= (memory["score"] or 0.0) <= 1.0 for memory in found)
    order = [(-(memory["score"] or 0.0), memory["entry_id"]) for memory in found]
    assert order == sorted(order)
    assert await service.neighbours(str(work)) == found
    assert ids(await service.neighbours(str(work), top_k=1)) == [met_id]
    with pytest.raises(InputError, match="top_k"):
        await service.neighbours(str(work), top_k=0)
    assert isinstance(service, Deletes)
    await service.delete(str(met_id))
    assert met_id not in ids(await service.neighbours(str(work)))
    assert await service.neighbours(str(met_id)) == []
    assert lake is not None


async def test_a_vector_of_another_length_is_refused(service: MemoryService, name: str) -> None:
    short = np.ones(7, dtype=np.float32)
    if name not in BY_VECTOR:
        await service.insert(WORK, vector=short)  # not used
        assert isinstance(await service.retrieve("Alice", vector=short), list)
        return
    with pytest.raises(InputError, match=r"length 7 .* length 384; (set|give)"):
        await service.insert(WORK, vector=short)
    assert await service.insert(WORK) == "m00000001"
    with pytest.raises(InputError, match=r"length 7 .* length 384"):
        await service.retrieve(vector=short)
    with pytest.raises(InputError, match="is all zero"):
        await service.insert(WORK, vector=np.zeros(384, dtype=np.float32))
    with pytest.raises(InputError, match="is all zero"):
        await service.retrieve(vector=np.full(384, np.nan, dtype=np.float32))


async def test_vectors_that_are_given_are_used(service: MemoryService, name: str, world: World) -> None:
    only(name, BY_VECTOR, "does not use vectors")
    about_bread = (await world.embedding.embed_passages([BREAD]))[0]
    lake = await service.insert("no words about it", vector=3.0 * about_bread)
    await told(service, WORK, LAKE)
    asked = (await world.embedding.embed_queries(["sourdough bread"]))[0]
    found = await service.retrieve(vector=asked)
    assert ids(found)[0] == lake
    assert found == await service.retrieve("something else", vector=asked)
    if name == "vector_memory":
        assert np.allclose(found[0]["embedding"], about_bread, atol=2e-4)


# --- stores ------------------------------------------------------------------------------------------


async def test_a_namespace_is_cleared_before_the_first_write(make: Make, name: str, world: World) -> None:
    only(name, STORED, "uses no store")
    own = "reopened-" + name
    stored = memory_dataset(own) if name == "orchestrated_memory" else own
    before = make(own)
    await told(before, WORK, LAKE)
    if isinstance(before, Closes):
        await before.close()
    assert await world.chunks.count(stored) > 0
    after = make(own)
    assert await after.retrieve("Where does Alice work?") == []
    await told(after, BREAD)
    assert texts(await after.retrieve("Where does Alice work, and her bread?")) == [BREAD]
    # The sentence is a memory of its own, beside what was said.
    kept = 2 if name == "orchestrated_memory" else 1
    assert await world.chunks.count(stored) == kept
    if name != "vector_memory":
        assert (await world.knowledge.counts(stored)).episodes == kept


async def test_what_is_deleted_leaves_no_row(make: Make, name: str, world: World) -> None:
    only(name, STORED, "uses no store")
    own = "deleted-" + name
    stored = memory_dataset(own) if name == "orchestrated_memory" else own
    service = make(own)
    await told(service, WORK)
    assert isinstance(service, Deletes)
    await service.delete("m00000001")
    if isinstance(service, Closes):  # what it writes behind is written by then
        await service.close()
    assert await world.chunks.count(stored) == 0


async def test_two_namespaces_know_nothing_of_each_other(make: Make, name: str) -> None:
    keeps(name)
    one, other = make(), make()
    await told(one, WORK)
    await told(other, LAKE)
    assert texts(await one.retrieve("Alice works at Google; Bob painted the lake")) == [WORK]
    assert texts(await other.retrieve("Alice works at Google; Bob painted the lake")) == [LAKE]
    assert isinstance(one, Deletes)
    await one.delete("m00000001")
    assert texts(await other.retrieve("Bob painted the lake")) == [LAKE]


def counted(store: Any, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Documents of each write from now on."""
    writes: list[int] = []
    replace = store.replace_documents

    async def replaced(dataset: str, documents: Any, **more: Any) -> None:
        writes.append(len(documents))
        await replace(dataset, documents, **more)

    monkeypatch.setattr(store, "replace_documents", replaced)
    return writes


async def test_many_inserts_are_few_writes(
    service: MemoryService, name: str, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    only(name, BEHIND, "writes nothing behind")
    chunks, knowledge = counted(world.chunks, monkeypatch), counted(world.knowledge, monkeypatch)
    for number in range(200):
        await service.insert(f"(2023-08-01)Alice: dish {number}", metadata={"session_id": number // 10})
    assert chunks == []
    await service.retrieve("dish 7")
    most = -(-200 // BATCH_DOCUMENTS)
    assert 1 <= len(chunks) <= most
    assert len(knowledge) <= most
    await service.retrieve("dish 8")
    assert len(chunks) <= most


async def test_what_could_not_be_written_is_not_lost(
    service: MemoryService, name: str, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    only(name, BEHIND, "writes nothing behind")
    await told(service, LAKE)
    await service.retrieve("lake")

    async def refuse(dataset: str, documents: Any, **more: Any) -> None:
        raise StoreError("the disk is full")

    store = world.chunks if name == "vector_memory" else world.knowledge
    with monkeypatch.context() as broken:
        broken.setattr(store, "replace_documents", refuse)
        assert await service.insert(WORK) == "m00000002"
        for _ in range(2):
            with pytest.raises(StoreError, match="the disk is full"):
                await service.retrieve("Where does Alice work?")
        assert isinstance(service, Deletes)
        assert isinstance(service, Closes)
        with pytest.raises(StoreError, match="the disk is full"):
            await service.delete("m00000001")
        with pytest.raises(StoreError, match="the disk is full"):
            await service.close()
    found = await service.retrieve("Where does Alice work?")
    assert texts(found)[0] == WORK
    assert LAKE in texts(await service.retrieve("Who painted the lake?"))


async def test_closing_writes_what_is_left(make: Make, name: str, world: World) -> None:
    only(name, BEHIND, "writes nothing behind")
    service = make("closed-" + name)
    await told(service, WORK)
    assert isinstance(service, Closes)
    assert await world.chunks.count("closed-" + name) == 0
    await service.close()
    assert await world.chunks.count("closed-" + name) == (1 if name == "vector_memory" else 2)
