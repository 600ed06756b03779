"""What every ``ports.ChunkStore`` promises, checked against the in-memory reference and LanceDB."""

from __future__ import annotations

import asyncio
import random
import shutil
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentic_rag.dates.instants import parse_as_of
from agentic_rag.domain import Chunk, filterable
from agentic_rag.domain.filters import And, Comparison, Expression, Not, Or, matches, parse_filters
from agentic_rag.domain.ports import (
    ChunkStore,
    EmbeddedDocument,
    FloatArray,
    PieceStore,
    Restriction,
    StagedRows,
)
from agentic_rag.errors import AgenticRagError, InputError, ManifestMismatch, StoreError
from agentic_rag.stores.in_memory import InMemoryChunkStore
from agentic_rag.stores.lancedb.chunk_store import LanceChunkStore
from agentic_rag.stores.lancedb.connection import LanceConnection, lance_connection
from agentic_rag.stores.lancedb.indexes import MOST_PIECES
from agentic_rag.stores.lancedb.reindex import reindex
from agentic_rag.stores.lancedb.replacing import replace_rows
from agentic_rag.testing import HashingEmbedding
from vector_stores import EVERY, EXTRAS, opened, skip_without, uri_of

DIMENSION = 4
OPEN = Restriction()
EAST, NORTH = np.eye(DIMENSION, dtype=np.float32)[:2]
HOSTILE = [
    "'", "''", '"', "\\", "\\'", "a'b\"c\\d", "' OR 1=1 --", "'; DROP TABLE chunks; --", "') OR ('1'='1",
    "\0", "a\0b", "🍵", "👩‍👩‍👧", "\ud800", "\udfff x", "", " ", "\n", "%", "_", "*", "null", "true", "1",
    "$eq", '["k","v"]', "é", "e\u0301", "茶" * 300,
]  # fmt: skip


def chunk(document: str, key: str = "0", text: str = "tea", **fields: Any) -> Chunk:
    defaults: dict[str, Any] = {"start": 0, "end": len(text), "ordinal": 0, "title": "", "path": document}
    return Chunk(f"{document}#{key}", document, text, **{**defaults, "kind": "paragraph", **fields})


def embedded(*chunks: Chunk, vector: FloatArray = EAST) -> list[EmbeddedDocument]:
    """The chunks as documents, all with one vector."""
    by_document: dict[str, list[Chunk]] = {}
    for one in chunks:
        by_document.setdefault(one.document_id, []).append(one)
    return [
        EmbeddedDocument(name, tuple(own), np.tile(vector, (len(own), 1)))
        for name, own in by_document.items()
    ]


@pytest.fixture
async def connection(tmp_path: Path) -> AsyncIterator[LanceConnection]:
    async with lance_connection(str(tmp_path / "lance")) as opened:
        yield opened


@pytest.fixture
def lance(connection: LanceConnection) -> LanceChunkStore:
    return LanceChunkStore(connection, model="hashing", dimension=DIMENSION)


@pytest.fixture(params=[*EVERY, "object_store"])
async def store(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[ChunkStore]:
    if request.param == "object_store":
        s3 = request.getfixturevalue("object_store")
        async with lance_connection(s3.empty_uri(), s3.options, locks=str(tmp_path)) as stored:
            yield LanceChunkStore(stored, model="hashing", dimension=DIMENSION)
        return
    skip_without(request.param)
    where = uri_of(request.param, tmp_path, request) if request.param in EXTRAS else str(tmp_path / "lance")
    async with opened(request.param, where, DIMENSION) as one:
        yield one


async def test_a_cancelled_write_is_over_when_its_caller_goes_on(
    lance: LanceChunkStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that lands later undoes, or doubles, what is written next."""
    begun, go_on = asyncio.Event(), asyncio.Event()

    async def held_back(*given: Any) -> None:
        begun.set()
        await go_on.wait()
        await replace_rows(*given)

    monkeypatch.setattr("agentic_rag.stores.lancedb.chunk_store.replace_rows", held_back)
    writing = asyncio.create_task(lance.replace_documents("notes", embedded(chunk("a"))))
    await begun.wait()
    writing.cancel()
    await asyncio.sleep(0.05)
    assert not writing.done()
    go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await writing
    assert await lance.count("notes") == 1


async def dense(
    store: ChunkStore, vector: FloatArray = EAST, limit: int = 10, **restriction: Any
) -> list[str]:
    found = await store.search_dense("notes", vector, limit=limit, restriction=Restriction(**restriction))
    return [scored.chunk.id for scored in found]


async def sparse(store: ChunkStore, text: str, limit: int = 10, **restriction: Any) -> list[str]:
    found = await store.search_sparse("notes", text, limit=limit, restriction=Restriction(**restriction))
    return [scored.chunk.id for scored in found]


async def matching(store: ChunkStore, **restriction: Any) -> list[str]:
    return await store.matching_chunk_ids("notes", Restriction(**restriction), limit=1000)


# --- pieces -----------------------------------------------------------------------------------------


async def piece(store: ChunkStore, *chunks: Chunk, vector: FloatArray = EAST) -> StagedRows:
    assert isinstance(store, PieceStore)
    return await store.stage("notes", embedded(*chunks, vector=vector))


async def test_pieces_replace_documents_when_they_are_committed(store: ChunkStore):
    if not isinstance(store, PieceStore):
        pytest.skip("rows are sent by the process that writes them")
    await store.replace_documents("notes", embedded(chunk("a"), chunk("a", "1"), chunk("b")))
    await store.prepare_staging("notes")
    pieces = [
        await piece(store, chunk("a", text="oolong", metadata={"year": 2024}), chunk("c"), vector=NORTH),
        await piece(store, chunk("d"), vector=NORTH),
    ]
    assert sorted(await store.get_chunks("notes", ["a#0", "c#0"])) == ["a#0"], "nothing is found before"
    assert await matching(store, filters=parse_filters({"year": 2024})) == []
    await store.commit_staged("notes", pieces)
    assert await store.document_ids("notes") == {"a", "b", "c", "d"}
    assert await store.count("notes") == 4
    assert (await store.get_chunks("notes", ["a#0"]))["a#0"].text == "oolong"
    assert await matching(store, filters=parse_filters({"year": {"$gte": 2024}})) == ["a#0"]
    assert (await dense(store, NORTH))[:3] == ["a#0", "c#0", "d#0"]
    assert await sparse(store, "oolong") == ["a#0"]
    # As after a crash before they were marked done.
    await store.commit_staged(
        "notes", [await piece(store, chunk("a"), chunk("a", "2")), await piece(store, chunk("c"))]
    )
    assert sorted(await store.get_chunks("notes", ["a#0", "a#1", "a#2", "c#0"])) == ["a#0", "a#2", "c#0"]
    await store.commit_staged(
        "notes", [await store.stage("notes", [EmbeddedDocument("a", (), np.zeros((0, 4)))])]
    )
    assert await store.document_ids("notes") == {"b", "c", "d"}


async def test_pieces_of_a_table_that_is_in_force_no_more(
    lance: LanceChunkStore, connection: LanceConnection
):
    embedding = HashingEmbedding(8)
    await lance.prepare_staging("notes")
    old = await piece(lance, chunk("a"))
    await reindex([lance], embedding, "notes")
    now = LanceChunkStore(connection, model=embedding.name, dimension=embedding.dimension)
    with pytest.raises(StoreError, match="reindexed meanwhile; run the ingest again"):
        await now.commit_staged("notes", [old])


# --- what is stored comes back -------------------------------------------------------------------


async def test_a_chunk_comes_back_as_it_was(store: ChunkStore):
    whole = Chunk(
        id="茶/乌龙.md#0",
        document_id="茶/乌龙.md",
        text="Oolong\0 🍵 from 福建.\r\n",
        start=7,
        end=29,
        ordinal=3,
        title="乌龙",
        path="茶/乌龙.md",
        kind="list",
        heading_path=("Top", "Über"),
        date=datetime(2024, 2, 29, 12, 30, 15, 123456, tzinfo=UTC),
        url="obsidian://open?vault=a%20b",
        metadata={
            "year": 2024,
            "tags": ["a", None, 1.5],
            "nested": {"k": [True]},
            "none": None,
            "\0'\ud800": "",
        },
    )
    await store.replace_documents("notes", embedded(whole))
    assert await store.get_chunks("notes", [whole.id, "no such"]) == {whole.id: whole}
    vectors = await store.get_vectors("notes", [whole.id, "no such"])
    assert list(vectors) == [whole.id]
    assert vectors[whole.id].dtype == np.float32
    assert vectors[whole.id].tolist() == EAST.tolist()


async def test_documents_come_back_whole_and_in_order(store: ChunkStore):
    numbers = [3, 0, 11, 2, 1]
    parts = [chunk("a", str(n), text=f"part {n}", ordinal=n) for n in numbers]
    others = [chunk("b"), chunk("笔记/茶"), chunk("' OR 1=1 --")]
    await store.replace_documents("notes", embedded(*parts, *others))
    read = await store.document_chunks("notes", ["a", "笔记/茶", "no such", "a"])
    assert {name: [one.ordinal for one in its] for name, its in read.items()} == {
        "a": sorted(numbers),
        "笔记/茶": [0],
    }
    assert read["a"][1].text == "part 1"
    assert (await store.document_chunks("notes", ["' OR 1=1 --"])).keys() == {"' OR 1=1 --"}
    assert await store.document_chunks("notes", []) == {}
    assert await store.document_chunks("none", ["a"]) == {}
    assert await store.document_chunks("notes", ["\ud800", "a#0", "%"]) == {}
    await store.remove_documents("notes", ["a"])
    assert (await store.document_chunks("notes", ["a", "b"])).keys() == {"b"}


async def test_tokens_come_back_where_a_store_keeps_them(store: ChunkStore):
    one, two = chunk("a"), chunk("a", "1")
    vectors = np.tile(EAST, (2, 1))
    await store.replace_documents("notes", [EmbeddedDocument("a", (one, two), vectors, (b"\x00\xff", b""))])
    kept = await store.get_token_vectors("notes", [one.id, two.id, "no such"])
    assert kept in ({one.id: b"\x00\xff"}, {})
    assert kept or not isinstance(store, InMemoryChunkStore | LanceChunkStore)
    await store.replace_documents("notes", embedded(one))
    assert await store.get_token_vectors("notes", [one.id, two.id]) == {}
    assert await store.get_token_vectors("none", [one.id]) == {}


@pytest.mark.parametrize("kind", ["memory", "lancedb"])
async def test_tokens_are_one_a_chunk(kind: str, tmp_path: Path):
    async with opened(kind, str(tmp_path / "lance"), DIMENSION) as store:
        with pytest.raises(InputError, match="2 chunks and token vectors of 1"):
            await store.replace_documents(
                "notes",
                [EmbeddedDocument("a", (chunk("a"), chunk("a", "1")), np.tile(EAST, (2, 1)), (b"x",))],
            )
        assert await store.count("notes") == 0


async def test_vectors_take_two_bytes_a_dimension(lance: LanceChunkStore):
    """Their cosines hardly differ from those of the vectors that were given."""
    given = np.random.default_rng(3).normal(size=(50, DIMENSION)).astype(np.float32)
    given /= np.linalg.norm(given, axis=1, keepdims=True)
    names = [f"n{number:02}" for number in range(50)]
    documents = [
        EmbeddedDocument(name, (chunk(name),), vector[None])
        for name, vector in zip(names, given, strict=True)
    ]
    await lance.replace_documents("notes", documents)
    table = await lance.connection.table("chunks_notes")
    assert table is not None
    assert (await table.schema()).field("vector").type.value_type == pa.float16()
    vectors = await lance.get_vectors("notes", [f"{name}#0" for name in names])
    assert np.abs(np.stack([vectors[f"{name}#0"] for name in names]) - given).max() < 5e-4
    found = await lance.search_dense("notes", given[0], limit=50, restriction=OPEN)
    exact = {f"{name}#0": float(vector @ given[0]) for name, vector in zip(names, given, strict=True)}
    assert all(abs(one.score - exact[one.chunk.id]) < 5e-4 for one in found)


async def test_a_table_with_whole_floats_goes_on_until_it_is_reindexed(connection: LanceConnection):
    embedding = HashingEmbedding(DIMENSION)
    store = LanceChunkStore(connection, model=embedding.name, dimension=DIMENSION)
    store._schema = pa.schema(
        [f.with_type(pa.list_(pa.float32(), DIMENSION)) if f.name == "vector" else f for f in store._schema]
    )
    third = np.array([1, 1, 1, 0], dtype=np.float32) / np.sqrt(np.float32(3))
    await store.replace_documents("notes", embedded(chunk("a"), vector=third))
    store = LanceChunkStore(connection, model=embedding.name, dimension=DIMENSION)
    await store.replace_documents("notes", embedded(chunk("b", text="leaf"), vector=third))
    found = await store.get_vectors("notes", ["a#0", "b#0"])
    assert [vector.tolist() for vector in found.values()] == 2 * [third.tolist()], "not rounded"
    assert await dense(store) == ["a#0", "b#0"]
    await reindex([store], embedding, "notes")
    table = await connection.table("chunks_notes.1")
    assert table is not None
    assert (await table.schema()).field("vector").type.value_type == pa.float16()
    assert await dense(LanceChunkStore(connection, model=embedding.name, dimension=DIMENSION)) == [
        "a#0",
        "b#0",
    ]


async def test_an_unknown_dataset_is_empty(store: ChunkStore):
    assert await store.count("none") == 0
    assert await store.document_ids("none") == set()
    assert await store.get_chunks("none", ["a"]) == {}
    assert await store.get_vectors("none", ["a"]) == {}
    assert await store.search_dense("none", EAST, limit=3, restriction=OPEN) == []
    assert await store.search_sparse("none", "tea", limit=3, restriction=OPEN) == []
    assert await store.matching_chunk_ids("none", OPEN, limit=3) == []
    await store.remove_documents("none", ["a"])
    await store.optimize("none")
    assert (await store.stats("none")).tables == ()
    assert await store.datasets() == []


async def test_stats_tell_rows_model_and_what_is_not_indexed(store: ChunkStore):
    await store.replace_documents("notes", embedded(chunk("a"), chunk("a", "1"), chunk("b")))
    for _ in range(2):
        stats = await store.stats("notes")
        table = stats.tables[0]
        assert (table.name, table.rows) == ("chunks", 3)
        assert (stats.dimension, stats.metric) == (DIMENSION, "cosine")
        assert all(index.indexed_rows + index.unindexed_rows == 3 for index in table.indexes)
        await store.optimize("notes")
    assert table.unindexed_rows == 0
    await store.remove_documents("notes", ["a", "b"])
    assert (await store.stats("notes")).tables[0].rows == 0


@pytest.mark.parametrize("name", ["lancedb", *EXTRAS])
async def test_stats_of_another_model_tell_what_made_the_vectors(
    name: str, tmp_path: Path, request: pytest.FixtureRequest
):
    skip_without(name)
    where = uri_of(name, tmp_path, request) if name in EXTRAS else str(tmp_path / "lance")
    async with opened(name, where, DIMENSION) as store:
        await store.replace_documents("notes", embedded(chunk("a"), chunk("b")))
    async with opened(name, where, DIMENSION + 1) as other:
        stats = await other.stats("notes")
        assert (stats.dimension, stats.tables[0].rows) == (DIMENSION, 2)
        with pytest.raises(ManifestMismatch):
            await other.count("notes")


async def test_replacing_twice_changes_nothing(store: ChunkStore):
    documents = embedded(chunk("a"), chunk("a", "1"), chunk("b"))
    await store.replace_documents("notes", documents)
    await store.replace_documents("notes", documents)
    assert await store.count("notes") == 2 + 1
    assert await store.document_ids("notes") == {"a", "b"}


async def test_a_replaced_document_has_its_new_chunks_and_no_other(store: ChunkStore):
    await store.replace_documents("notes", embedded(chunk("a"), chunk("a", "1"), chunk("b")))
    changed = chunk("a", "1", "coffee")
    await store.replace_documents("notes", embedded(changed, chunk("a", "2"), vector=NORTH))
    assert await matching(store) == ["a#1", "a#2", "b#0"]
    assert (await store.get_chunks("notes", ["a#1"]))["a#1"] == changed
    assert (await store.get_vectors("notes", ["a#1"]))["a#1"].tolist() == NORTH.tolist()
    assert await sparse(store, "coffee") == ["a#1"]


async def test_a_document_without_chunks_is_emptied(store: ChunkStore):
    await store.replace_documents("notes", embedded(chunk("a"), chunk("b")))
    empty = EmbeddedDocument("a", (), np.zeros((0, DIMENSION), dtype=np.float32))
    await store.replace_documents("notes", [empty])
    assert await store.document_ids("notes") == {"b"}
    await store.replace_documents("notes", [])
    assert await store.count("notes") == 1


async def test_removal_takes_every_chunk_and_ignores_unknown_ids(store: ChunkStore):
    await store.replace_documents("notes", embedded(chunk("a"), chunk("a", "1"), chunk("b"), chunk("a'")))
    await store.remove_documents("notes", ["a", "no such", "' OR 1=1 --", "\ud800"])
    assert await matching(store) == ["a'#0", "b#0"]
    await store.remove_documents("notes", [])
    await store.remove_documents("notes", ["a'", "b"])
    assert await store.count("notes") == 0
    assert await store.datasets() == ["notes"]


async def test_hostile_ids_are_exact_or_refused(store: ChunkStore):
    """A lone surrogate is no Unicode, so it can name nothing; any other text is an id like another."""
    await store.replace_documents("notes", embedded(chunk("other")))
    for name in filter(None, HOSTILE):
        if any("\ud800" <= sign <= "\udfff" for sign in name):
            with pytest.raises(InputError, match="surrogate"):
                await store.replace_documents("notes", embedded(chunk(name)))
            assert await store.get_chunks("notes", [f"{name}#0"]) == {}
            continue
        await store.replace_documents("notes", embedded(chunk(name)))
        assert set(await store.get_chunks("notes", [f"{name}#0", f"{name}#1"])) == {f"{name}#0"}, name
        await store.remove_documents("notes", [name])
        assert await store.document_ids("notes") == {"other"}, name


# --- what is refused -----------------------------------------------------------------------------


async def test_what_makes_no_sense_is_refused_and_changes_nothing(store: ChunkStore):
    await store.replace_documents("notes", embedded(chunk("a")))
    one = embedded(chunk("b"))[0]
    with pytest.raises(InputError, match="document id"):
        await store.replace_documents("notes", [one, one])
    with pytest.raises(InputError, match="chunk id"):
        await store.replace_documents("notes", embedded(chunk("b"), chunk("b")))
    with pytest.raises(InputError, match="not one of document"):
        await store.replace_documents("notes", [EmbeddedDocument("c", one.chunks, one.vectors)])
    with pytest.raises(InputError, match="surrogate"):
        await store.replace_documents("notes", embedded(chunk("b", text="\ud800")))
    with pytest.raises(ManifestMismatch, match=r"\(1, 3\)"):
        await store.replace_documents(
            "notes", [EmbeddedDocument("b", one.chunks, np.ones((1, 3), dtype=np.float32))]
        )
    assert await store.document_ids("notes") == {"a"}


async def test_a_query_vector_of_another_length_is_refused(store: ChunkStore):
    await store.replace_documents("notes", embedded(chunk("a")))
    with pytest.raises(ManifestMismatch, match=r"\(3,\)"):
        await dense(store, np.ones(3, dtype=np.float32))


@pytest.mark.parametrize("name", ["", "  ", "a\0b", "\ud800"])
async def test_a_name_that_names_nothing_is_refused(store: ChunkStore, name: str):
    with pytest.raises(InputError, match="dataset needs a name"):
        await store.count(name)
    with pytest.raises(InputError, match="dataset needs a name"):
        await store.replace_documents(name, embedded(chunk("a")))


async def test_datasets_are_apart_whatever_their_script(store: ChunkStore):
    names = ["notes", "Notes 2", "笔记", "ノート", "café", "a/b", "a'b", "u_e7ac94e8aeb0", "x" * 200, "🍵"]
    for name in names:
        await store.replace_documents(name, embedded(chunk(f"document of {name}")))
    assert await store.datasets() == sorted(names)
    for name in names:
        assert await store.document_ids(name) == {f"document of {name}"}


async def test_a_name_is_the_same_however_it_is_composed(store: ChunkStore):
    await store.replace_documents("cafe\u0301", embedded(chunk("a")))
    assert await store.count("café") == 1
    assert await store.datasets() == ["café"]


# --- order ---------------------------------------------------------------------------------------


async def test_dense_is_cosine_descending(store: ChunkStore):
    half = np.array([1, 1, 0, 0], dtype=np.float32) / np.sqrt(np.float32(2))
    for name, vector in {"east": EAST, "between": half, "north": NORTH, "west": -EAST}.items():
        await store.replace_documents("notes", embedded(chunk(name), vector=vector))
    found = await store.search_dense("notes", EAST, limit=10, restriction=OPEN)
    assert [one.chunk.document_id for one in found] == ["east", "between", "north", "west"]
    assert [one.score for one in found] == pytest.approx([1, 1 / np.sqrt(2), 0, -1], abs=2e-4)


async def test_equal_scores_are_in_id_order_also_where_the_limit_cuts(store: ChunkStore):
    many = [chunk(f"d{number:03}") for number in reversed(range(60))]
    await store.replace_documents("notes", embedded(*many))
    first = [f"d{number:03}#0" for number in range(5)]
    assert await dense(store, limit=5) == first
    assert await sparse(store, "tea", limit=5) == first
    assert await store.matching_chunk_ids("notes", OPEN, limit=5) == first
    assert len(await dense(store, limit=100)) == 60


async def test_a_limit_of_none_gives_none(store: ChunkStore):
    await store.replace_documents("notes", embedded(chunk("a")))
    assert await dense(store, limit=0) == []
    assert await sparse(store, "tea", limit=0) == []
    assert await store.matching_chunk_ids("notes", OPEN, limit=0) == []


async def test_sparse_prefers_more_and_rarer_words(store: ChunkStore):
    texts = ["tea oolong", "tea tea", "tea milk", "tea sugar", "water sugar"]
    await store.replace_documents(
        "notes", embedded(*[chunk(str(n), text=text) for n, text in enumerate(texts)])
    )
    found = await store.search_sparse("notes", "oolong tea", limit=10, restriction=OPEN)
    assert [one.chunk.text for one in found] == ["tea oolong", "tea tea", "tea milk", "tea sugar"]
    assert all(one.score > 0 for one in found)


async def test_sparse_reads_title_and_headings_too(store: ChunkStore):
    titled = chunk("a", title="Oolong", heading_path=("Brewing", "Water"))
    await store.replace_documents("notes", embedded(titled, chunk("b")))
    for word in ("oolong", "brewing", "water"):
        assert await sparse(store, word) == ["a#0"]


# --- restriction ---------------------------------------------------------------------------------


async def test_filters_act_before_the_limit(store: ChunkStore):
    near = [chunk(f"near{n:02}", metadata={"lang": "en"}) for n in range(20)]
    await store.replace_documents("notes", embedded(*near))
    await store.replace_documents(
        "notes", embedded(chunk("far", text="tea and more words", metadata={"lang": "zh"}), vector=-EAST)
    )
    only = parse_filters({"lang": "zh"})
    assert await dense(store, limit=1, filters=only) == ["far#0"]
    assert await sparse(store, "tea", limit=1, filters=only) == ["far#0"]
    assert await matching(store, filters=only) == ["far#0"]
    assert await dense(store, filters=parse_filters({"lang": "fr"})) == []


@pytest.mark.parametrize(
    ("as_of", "passing"),
    [
        ("2024-01-01", ["none#0", "old#0"]),
        ("2024-06-29", ["none#0", "old#0"]),
        ("2024-06-30", ["day#0", "none#0", "old#0"]),
        ("2024-06-30T12:00:00", ["day#0", "none#0", "old#0"]),
        ("2024-06-30T11:59:59.999999", ["none#0", "old#0"]),
        ("2024-06-30T20:00:00+08:00", ["day#0", "none#0", "old#0"]),
        ("0800-01-01", ["none#0"]),
        ("9999-12-31", ["day#0", "late#0", "none#0", "old#0"]),
    ],
)
async def test_as_of_leaves_out_what_came_later(store: ChunkStore, as_of: str, passing: list[str]):
    dates = {
        "old": datetime(1500, 1, 1, tzinfo=UTC),
        "day": datetime(2024, 6, 30, 12, tzinfo=UTC),
        "late": datetime(3000, 1, 1, tzinfo=UTC),
        "none": None,
    }
    await store.replace_documents(
        "notes", embedded(*[chunk(name, date=date) for name, date in dates.items()])
    )
    moment = parse_as_of(as_of)
    assert await matching(store, as_of=moment) == passing
    assert sorted(await dense(store, as_of=moment)) == passing
    assert sorted(await sparse(store, "tea", as_of=moment)) == passing


async def test_a_moment_without_a_zone_is_utc(store: ChunkStore):
    noon = datetime(2024, 6, 30, 12)
    await store.replace_documents("notes", embedded(chunk("a", date=noon)))
    assert await matching(store, as_of=noon) == ["a#0"]
    assert await matching(store, as_of=noon - timedelta(microseconds=1)) == []
    assert await matching(store, as_of=noon.replace(tzinfo=timezone(timedelta(hours=1)))) == []


async def test_filters_and_as_of_hold_together(store: ChunkStore):
    old, new = datetime(2020, 1, 1, tzinfo=UTC), datetime(2024, 1, 1, tzinfo=UTC)
    await store.replace_documents(
        "notes",
        embedded(
            chunk("a", date=old, metadata={"n": 1}),
            chunk("b", date=new, metadata={"n": 1}),
            chunk("c", date=old, metadata={"n": 2}),
        ),
    )
    either = parse_filters({"$or": [{"n": 1}, {"n": 3}]})
    assert await matching(store, filters=either, as_of=datetime(2022, 1, 1, tzinfo=UTC)) == ["a#0"]


async def test_a_chunks_place_is_filtered_like_its_metadata(store: ChunkStore):
    spring = datetime(2024, 3, 10, tzinfo=UTC)
    placed = {"path": "tea/oolong.md", "title": "Oolong", "heading_path": ("Oolong", "Steps"), "date": spring}
    own = {"title": "of its own", "date": None, "year": [2023, None], "nested": {"a": 1}, "none": []}
    await store.replace_documents(
        "notes",
        embedded(
            chunk("a", **placed),
            chunk("b", **placed, metadata=own),
            chunk("c", date=spring + timedelta(hours=9)),
        ),
    )
    for wanted, passing in [
        ({"document_id": "a"}, "a"),
        ({"path": "tea/oolong.md"}, "ab"),
        ({"title": "Oolong"}, "a"),
        ({"title": "of its own"}, "b"),
        ({"heading_path": "Steps"}, "ab"),
        ({"kind": "paragraph"}, "abc"),
        ({"date": "2024-03-10"}, "ab"),
        ({"date": {"$gte": "2024-03-10"}}, "abc"),
        ({"date": {"$lt": "2024-03-11"}}, "abc"),
        ({"date": {"$exists": True}}, "abc"),
        ({"folder": "tea"}, "ab"),
        ({"path": {"$contains": "OOLONG"}}, "ab"),
        ({"$not": {"title": {"$contains": "oo"}}}, "bc"),
    ]:
        assert await matching(store, filters=parse_filters(wanted)) == [f"{name}#0" for name in passing], (
            wanted
        )
    assert await store.filter_keys("notes") == {
        *("document_id", "path", "folder", "title", "heading_path", "kind", "date", "year")
    }
    assert await store.filter_keys("nothing") == set()


async def test_a_text_is_found_by_a_part_of_it(store: ChunkStore):
    rows: list[dict[str, Any]] = [
        {"genre": "Tactical RPG", "year": 2023},
        {"genre": ["puzzle", "乌龙茶 RPG"], "year": 2023.5},
        {"genre": 'the "it\'s" game', "done": True},
        {},
    ]
    await store.replace_documents(
        "notes", embedded(*(chunk(f"d{n}", metadata=m) for n, m in enumerate(rows)))
    )
    for key, part, passing in [
        ("genre", "rpg", [0, 1]),
        ("genre", "ＲＰＧ", [0, 1]),
        ("genre", "乌龙", [1]),
        ("genre", '"IT\'S"', [2]),
        ("genre", "' OR 1=1 --", []),
        ("genre", "", [0, 1, 2]),
        ("year", "2023", [0, 1]),
        ("done", "true", [2]),
        ("nothing", "", []),
    ]:
        wanted = Comparison(key, "$contains", part)
        assert await matching(store, filters=wanted) == [f"d{n}#0" for n in passing], wanted
        others = [n for n in range(len(rows)) if n not in passing]
        assert await matching(store, filters=Not(wanted)) == [f"d{n}#0" for n in others], wanted


async def test_a_tag_selects_those_below_it(store: ChunkStore):
    several: list[Any] = [["food/Pasta", "tea"], "#food", ["#foods", 7], ["Food"], []]
    await store.replace_documents(
        "notes", embedded(*(chunk(f"d{n}", metadata={"tags": tags}) for n, tags in enumerate(several)))
    )
    for wanted, passing in [("food", [0, 1]), ("food/Pasta", [0]), ("foods", [2]), ("Pasta", []), (7, [2])]:
        found = await matching(store, filters=Comparison("tags", "$eq", wanted))
        assert found == [f"d{n}#0" for n in passing], wanted


async def test_hostile_filters_match_exactly_and_change_nothing(store: ChunkStore):
    rows = (
        [{text: text} for text in HOSTILE if text] + [{"k": text} for text in HOSTILE] + [{}, {"k": HOSTILE}]
    )
    chunks = [chunk(f"d{number:03}", metadata=row) for number, row in enumerate(rows)]
    await store.replace_documents("notes", embedded(*chunks))
    for text in HOSTILE:
        for key in {text or "k", "k"}:
            for operator in ("$eq", "$ne", "$gt", "$lte", "$contains"):
                wanted = Comparison(key, operator, text)  # type: ignore[arg-type]
                expected = [one.id for one in chunks if matches(wanted, filterable(one))]
                assert await matching(store, filters=wanted) == expected, wanted
    assert await store.count("notes") == len(rows)


KEYS = ["n", "tag", "date", "path", "it's", 'say "x"', "a\0b", "\ud800", "键", "$"]
NUMBERS: list[Any] = [0, 1, -1, 2, 1.0, 0.5, -0.0, 10**20, 2**53, 2**53 + 1, 1e300]
STRINGS: list[Any] = ["", "1", "true", "a", "b", "茶", "a'b", "\0", "\ud800", "🍵", "2024-01-01"]
SCALARS = [None, True, False, *NUMBERS, *STRINGS]
KEY, SCALAR = st.sampled_from(KEYS), st.sampled_from(SCALARS)
COMPARISONS = st.one_of(
    st.builds(Comparison, KEY, st.sampled_from(["$eq", "$ne"]), SCALAR),
    st.builds(
        Comparison, KEY, st.sampled_from(["$gt", "$gte", "$lt", "$lte"]), st.sampled_from(NUMBERS + STRINGS)
    ),
    st.builds(Comparison, KEY, st.sampled_from(["$in", "$nin"]), st.lists(SCALAR, max_size=3).map(tuple)),
    st.builds(Comparison, KEY, st.just("$exists"), st.booleans()),
    st.builds(Comparison, KEY, st.just("$contains"), st.sampled_from(STRINGS)),
)


def _joined(parts: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
    several = st.lists(parts, min_size=1, max_size=3).map(tuple)
    return st.one_of(st.builds(And, several), st.builds(Or, several), st.builds(Not, parts))


EXPRESSIONS = st.recursive(COMPARISONS, _joined, max_leaves=6)


def _random_metadata(draw: random.Random) -> dict[str, Any]:
    def value() -> Any:
        shape = draw.random()
        if shape < 0.7:
            return draw.choice(SCALARS)
        return {"x": draw.choice(SCALARS)} if shape < 0.75 else draw.choices(SCALARS, k=draw.randrange(4))

    return {key: value() for key in draw.sample(KEYS, draw.randrange(len(KEYS)))}


@pytest.mark.slow
def test_lancedb_filters_as_the_definition_does(tmp_path: Path):
    """600 random filters on 80 chunks of random metadata, each compared with ``filters.matches``."""
    draw = random.Random(80)
    chunks = [chunk(f"d{number:02}", metadata=_random_metadata(draw)) for number in range(80)]
    with asyncio.Runner() as runner:
        connection = LanceConnection(str(tmp_path))
        store = LanceChunkStore(connection, model="hashing", dimension=DIMENSION)
        runner.run(store.replace_documents("notes", embedded(*chunks)))
        told_apart = 0

        @settings(max_examples=600, deadline=None, database=None)
        @given(EXPRESSIONS)
        def compare(wanted: Expression) -> None:
            nonlocal told_apart
            expected = [one.id for one in chunks if matches(wanted, filterable(one))]
            assert runner.run(matching(store, filters=wanted)) == expected
            told_apart += 0 < len(expected) < len(chunks)

        compare()
        runner.run(connection.close())
    assert told_apart > 300, "most filters must pass some chunks and not others"


async def test_filters_of_any_allowed_depth_and_width(store: ChunkStore):
    await store.replace_documents("notes", embedded(*[chunk(f"d{n}", metadata={"n": n}) for n in range(5)]))
    deep: dict[str, Any] = {"n": 1}
    for number in range(30):
        deep = {("$and", "$or")[number % 2]: [deep, {"n": {"$lt": 3}}]}
    negated: dict[str, Any] = {"n": 1}
    for _ in range(60):
        negated = {"$not": negated}
    wide = {"n": {"$in": list(range(1, 3000))}}
    assert await matching(store, filters=parse_filters(deep)) == ["d0#0", "d1#0", "d2#0"]
    assert await matching(store, filters=parse_filters(negated)) == ["d1#0"]
    assert await matching(store, filters=parse_filters(wide)) == ["d1#0", "d2#0", "d3#0", "d4#0"]


async def test_a_profile_is_the_mean_of_some_chunks_and_follows_writes(store: ChunkStore):
    assert await store.profile("notes") is None
    await store.replace_documents("notes", embedded(chunk("a")))
    await store.replace_documents("notes", embedded(chunk("b"), vector=-EAST))
    profile = await store.profile("notes")
    assert profile is not None
    assert (profile.chunks, profile.centre.tolist(), profile.centre.dtype) == (
        2,
        [0.0] * DIMENSION,
        np.float32,
    )
    await store.remove_documents("notes", ["b"])
    profile = await store.profile("notes")
    assert profile is not None
    assert (profile.chunks, profile.centre.tolist()) == (1, EAST.tolist())
    await store.remove_documents("notes", ["a"])
    assert await store.profile("notes") is None


# --- full text -----------------------------------------------------------------------------------

TEXTS = {
    "zh": "苹果是水果，乌龙茶来自福建。",
    "ja": "東京でラーメンを食べました。",
    "en": "Oolong leaves are brewed in Fujian's mountains.",
    "digits": "Room 404 costs 3.50 in 2023.",
    "letters": "Vitamin C and plan B.",
    "file": "see report_final-v2.pdf",
    "code": "call parse_filters or LanceChunkStore.search_dense",
    "accents": "a résumé",
    "wide": "ＡＢＣ１２３",
    "ko": "한국어 문장",
}


FOUND: list[tuple[str, str | None]] = [
    ("水果", "zh"), ("苹果", "zh"), ("福建", "zh"), ("東京", "ja"), ("ラーメン", "ja"), ("한국어", "ko"),
    ("OOLONG", "en"), ("brewing", "en"), ("mountain", "en"), ("Fujian", "en"),
    ("404", "digits"), ("3.50", "digits"), ("2023", "digits"), ("C", "letters"), ("b", "letters"),
    ("report_final-v2.pdf", "file"), ("report_final", "file"), ("v2", "file"), ("pdf", "file"),
    ("parse_filters", "code"), ("filters", "code"), ("lancechunkstore", "code"), ("search_dense", "code"),
    ("LanceChunkStore.search_dense", "code"), ("résumé", "accents"), ("ABC123", "wide"), ("abc123", "wide"),
    ("chunk", "code"), ("search", "code"), ("resume", "accents"), ("ABC", "wide"), ("乌龙", "zh"), ("龙茶", "zh"),
    ("What is the price of 404?", "digits"), ("为什么是水果", "zh"),
    # Not found, by design: the beginning of a word, signs.
    ("oolo", None), ("🍵", None), ("...", None),
]  # fmt: skip
"""Query, and the one text of ``TEXTS`` that it finds."""


async def test_full_text(store: ChunkStore):
    await store.replace_documents(
        "notes", embedded(*[chunk(name, text=text) for name, text in TEXTS.items()])
    )
    for query, found in FOUND:
        assert await sparse(store, query) == ([f"{found}#0"] if found else []), query


HOSTILE_QUERIES = [
    *HOSTILE, "   ", "\r\n\t", "tea AND NOT OR", "+tea -leaf && || ! ( ) { } [ ] ^ ~ * ? : \\ /", '"tea', "tea'",
    "tea\0tea", "SELECT * FROM chunks", "tea " * 5000, "茶" * 20_000, "a" * 20_000, "%s %d {0} $1", "\ud800 tea",
]  # fmt: skip


async def test_any_text_can_be_searched_for(store: ChunkStore):
    await store.replace_documents("notes", embedded(chunk("a"), chunk("b", text="water")))
    for query in HOSTILE_QUERIES:
        assert set(await sparse(store, query)) <= {"a#0", "b#0"}, query[:40]
    for query in ("tea AND NOT OR", '"tea', "tea'", "\ud800 tea", "tea " * 5000):
        assert await sparse(store, query) == ["a#0"], query[:40]
    assert await store.count("notes") == 2


async def test_optimising_changes_no_answer(store: ChunkStore):
    chunks = [chunk(name, text=text, metadata={"n": n}) for n, (name, text) in enumerate(TEXTS.items())]
    await store.replace_documents("notes", embedded(*chunks))
    few = parse_filters({"n": {"$gte": 3}})
    queries = ("水果", "404 tea filters", "C")
    before = [await sparse(store, query) for query in queries], await dense(store, filters=few)
    await store.optimize("notes")
    await store.optimize("notes")
    assert ([await sparse(store, query) for query in queries], await dense(store, filters=few)) == before
    await store.replace_documents("notes", embedded(chunk("new", text="水果 404", metadata={"n": 99})))
    assert set(await sparse(store, "水果")) == {"zh#0", "new#0"}
    assert await matching(store, filters=parse_filters({"n": {"$gt": 50}})) == ["new#0"]


# --- LanceDB: other connections, other processes, other models -----------------------------------


async def test_a_second_connection_sees_new_rows_within_two_seconds(tmp_path: Path):
    async with lance_connection(str(tmp_path)) as one, lance_connection(str(tmp_path)) as two:
        writer, reader = (LanceChunkStore(c, model="m", dimension=DIMENSION) for c in (one, two))
        await writer.replace_documents("notes", embedded(chunk("a")))
        assert await reader.count("notes") == 1
        await writer.replace_documents("notes", embedded(chunk("b")))
        deadline = time.monotonic() + 2
        while await reader.count("notes") < 2 and time.monotonic() < deadline:
            await asyncio.sleep(0.1)
        assert await matching(reader) == ["a#0", "b#0"]
        assert await sparse(reader, "tea") == ["a#0", "b#0"]


WRITER = """
import asyncio, sys
import numpy as np
from agentic_rag.domain import Chunk
from agentic_rag.domain.ports import EmbeddedDocument
from agentic_rag.stores.lancedb.chunk_store import LanceChunkStore
from agentic_rag.stores.lancedb.connection import lance_connection

async def main():
    async with lance_connection(sys.argv[1]) as connection:
        store = LanceChunkStore(connection, model="m", dimension=4)
        print("ready", flush=True)
        sys.stdin.readline()
        for batch in range(6):
            await store.replace_documents(f"notes{batch % 3}", [
                EmbeddedDocument(name, tuple(
                    Chunk(f"{name}#{k}", name, "tea", 0, 3, k, name, name, "text", metadata={"k": k}) for k in range(4)
                ), np.tile(np.eye(4, dtype=np.float32)[0], (4, 1)))
                for name in (f"d{batch}-{n}" for n in range(5))
            ])

asyncio.run(main())
"""


async def test_two_processes_that_make_and_write_the_same_leave_it_once(tmp_path: Path):
    def write_twice() -> None:
        writers = [
            subprocess.Popen(
                [sys.executable, "-c", WRITER, str(tmp_path)],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            )
            for _ in range(2)
        ]  # fmt: skip
        for writer in writers:
            assert writer.stdout is not None
            assert writer.stdout.readline() == "ready\n"
        for writer in writers:
            assert writer.stdin is not None
            writer.stdin.write("go\n")
            writer.stdin.flush()
        for writer in writers:
            _, errors = writer.communicate(timeout=60)
            assert writer.returncode == 0, errors

    await asyncio.to_thread(write_twice)
    async with lance_connection(str(tmp_path)) as connection:
        store = LanceChunkStore(connection, model="m", dimension=DIMENSION)
        upper = Restriction(parse_filters({"k": {"$gte": 2}}))
        for dataset in ("notes0", "notes1", "notes2"):
            ids = await store.matching_chunk_ids(dataset, OPEN, limit=1000)
            assert len(ids) == len(set(ids)) == 2 * 5 * 4
            assert len(await store.matching_chunk_ids(dataset, upper, limit=1000)) == 2 * 5 * 2
            assert len(await store.search_sparse(dataset, "tea", limit=1000, restriction=OPEN)) == 2 * 5 * 4


READER = """
import asyncio, sys, time
from agentic_rag.stores.lancedb.chunk_store import LanceChunkStore
from agentic_rag.stores.lancedb.connection import lance_connection

async def main():
    async with lance_connection(sys.argv[1]) as connection:
        store = LanceChunkStore(connection, model="m", dimension=4)
        assert await store.count("notes") == 1
        print("ready", flush=True)
        while await store.count("notes") < 2:
            await asyncio.sleep(0.01)
        print(time.time(), flush=True)

asyncio.run(main())
"""


async def test_a_reader_in_another_process_sees_new_data_within_a_second(tmp_path: Path):
    async with lance_connection(str(tmp_path)) as connection:
        writer = LanceChunkStore(connection, model="m", dimension=DIMENSION)
        await writer.replace_documents("notes", embedded(chunk("a")))
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-c", READER, str(tmp_path), stdout=asyncio.subprocess.PIPE
        )
        assert process.stdout is not None
        assert await process.stdout.readline() == b"ready\n"
        await writer.replace_documents("notes", embedded(chunk("b")))
        written = time.time()
        seen = float(await asyncio.wait_for(process.stdout.readline(), 30))
        assert await process.wait() == 0
    assert seen - written < 1.5


KILLABLE = """
import asyncio, sys
from datetime import timedelta
import numpy as np
from agentic_rag.domain import Chunk
from agentic_rag.domain.ports import EmbeddedDocument
from agentic_rag.stores.lancedb import indexes
from agentic_rag.stores.lancedb.chunk_store import LanceChunkStore
from agentic_rag.stores.lancedb.connection import lance_connection

indexes.UNINDEXED_ROWS, indexes.CARE_INTERVAL = 20, timedelta(0)

async def main(uri, start):
    async with lance_connection(uri) as connection:
        store = LanceChunkStore(connection, model="m", dimension=4)
        for number in range(int(start), 10**6):
            name = f"d{number}"
            chunks = tuple(
                Chunk(f"{name}#{k}", name, f"tea {k}", 0, 5, k, name, name, "text", metadata={"n": number})
                for k in range(5)
            )
            await store.replace_documents(
                "notes", [EmbeddedDocument(name, chunks, np.tile(np.eye(4, dtype=np.float32)[0], (5, 1)))]
            )
            print(number, flush=True)

asyncio.run(main(*sys.argv[1:]))
"""


@pytest.mark.slow
async def test_kill_9_loses_no_document_that_was_acknowledged(tmp_path: Path):
    """While it writes, tidies and builds indexes; each document is there with all its chunks, or not at all."""
    chance = random.Random(9)
    acknowledged: set[str] = set()

    def killed(start: int) -> list[int]:
        writer = subprocess.Popen(
            [sys.executable, "-c", KILLABLE, str(tmp_path), str(start)], stdout=subprocess.PIPE, text=True
        )
        assert writer.stdout is not None
        first = writer.stdout.readline()
        time.sleep(chance.uniform(0, 0.4))
        writer.kill()
        rest, _ = writer.communicate()
        return [int(line) for line in (first + rest).split("\n") if line]

    for number in range(5):
        done = await asyncio.to_thread(killed, 1000 * number)
        assert done
        acknowledged |= {f"d{one}" for one in done}
        async with lance_connection(str(tmp_path)) as connection:
            store = LanceChunkStore(connection, model="m", dimension=DIMENSION)
            held = await store.document_ids("notes")
            assert acknowledged <= held
            assert len(held - acknowledged) <= number + 1, "at most the one it was at"
            assert await store.count("notes") == 5 * len(held)
            last = Restriction(parse_filters({"n": {"$gte": done[-1]}}))
            assert len(await store.matching_chunk_ids("notes", last, limit=100)) in (5, 10)
            assert await store.search_sparse("notes", "tea", limit=5, restriction=OPEN)


async def test_a_store_indexes_by_itself_what_makes_searches_slow(
    lance: LanceChunkStore, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("agentic_rag.stores.lancedb.indexes.UNINDEXED_ROWS", 10)
    monkeypatch.setattr("agentic_rag.stores.lancedb.indexes.CARE_INTERVAL", timedelta(0))
    left = []
    for number in range(12):
        await lance.replace_documents("notes", embedded(*[chunk(f"d{number}-{n}") for n in range(4)]))
        words = next(i for i in (await lance.stats("notes")).tables[0].indexes if i.column == "search_text")
        left.append(words.unindexed_rows)
    assert max(left) <= 10
    assert left.count(0) <= 5, "not at every write"


async def test_many_small_writes_leave_few_pieces(tmp_path: Path):
    """One process a write, as when single notes are added on the command line."""
    for number in range(40):
        async with lance_connection(str(tmp_path)) as connection:
            store = LanceChunkStore(connection, model="m", dimension=DIMENSION)
            await store.replace_documents("notes", embedded(chunk(f"d{number}")))
            table = await connection.table("chunks_notes")
            assert (await table.stats())["fragment_stats"]["num_fragments"] <= MOST_PIECES
    async with lance_connection(str(tmp_path)) as connection:
        store = LanceChunkStore(connection, model="m", dimension=DIMENSION)
        assert len(await sparse(store, "tea", limit=100)) == 40


async def test_writers_and_index_care_do_not_stand_in_each_others_way(tmp_path: Path):
    async def write(name: str) -> None:
        async with lance_connection(str(tmp_path)) as connection:
            store = LanceChunkStore(connection, model="m", dimension=DIMENSION)
            for number in range(15):
                await store.replace_documents("notes", embedded(chunk(f"{name}{number}"), chunk("shared")))
                if number % 3 == 0:
                    await store.optimize("notes")

    await asyncio.gather(*(write(name) for name in "abcd"))
    async with lance_connection(str(tmp_path)) as connection:
        store = LanceChunkStore(connection, model="m", dimension=DIMENSION)
        assert await store.count("notes") == 4 * 15 + 1
        assert len(await sparse(store, "tea", limit=100)) == 4 * 15 + 1


@pytest.mark.parametrize(("model", "dimension"), [("other", DIMENSION), ("hashing", DIMENSION + 1)])
async def test_another_model_is_refused_with_both_named(
    lance: LanceChunkStore, connection: LanceConnection, model: str, dimension: int
):
    await lance.replace_documents("notes", embedded(chunk("a")))
    other = LanceChunkStore(connection, model=model, dimension=dimension)
    vector = np.eye(dimension, dtype=np.float32)[0]
    told = rf"hashing \({DIMENSION} dimensions.*{model} \({dimension} dimensions.*configure that model"
    with pytest.raises(ManifestMismatch, match=told):
        await other.search_dense("notes", vector, limit=1, restriction=OPEN)
    with pytest.raises(ManifestMismatch, match=told):
        await other.replace_documents("notes", embedded(chunk("b"), vector=vector))
    with pytest.raises(ManifestMismatch, match=told):
        await other.count("notes")
    assert await lance.count("notes") == 1


async def test_a_broken_store_is_told_in_our_own_words(tmp_path: Path):
    (tmp_path / "chunks_notes.lance").mkdir()
    (tmp_path / "chunks_notes.lance" / "_versions").mkdir()
    (tmp_path / "chunks_notes.lance" / "_versions" / "1.manifest").write_bytes(b"rubbish")
    async with lance_connection(str(tmp_path)) as connection:
        store = LanceChunkStore(connection, model="m", dimension=DIMENSION)
        with pytest.raises(AgenticRagError, match="LanceDB"):
            await store.search_dense("notes", EAST, limit=1, restriction=OPEN)


async def test_a_table_that_went_away_is_told_in_our_own_words(lance: LanceChunkStore, tmp_path: Path):
    await lance.replace_documents("notes", embedded(chunk("a")))
    shutil.rmtree(tmp_path / "lance" / "chunks_notes.lance")
    await asyncio.sleep(1.1)  # as long as a reader may believe what it knows
    for asked in (
        lance.get_token_vectors("notes", ["a#0"]),
        lance.replace_documents("notes", embedded(chunk("b"))),
        lance.stats("notes"),
    ):
        with pytest.raises(StoreError, match="LanceDB failed"):
            await asked


async def test_what_was_closed_stays_closed_and_says_so(tmp_path: Path):
    async with lance_connection(str(tmp_path)) as connection:
        store = LanceChunkStore(connection, model="m", dimension=DIMENSION)
        await store.replace_documents("notes", embedded(chunk("a")))
    await connection.close()
    with pytest.raises(StoreError, match="was closed; ask within"):
        await store.count("notes")
    with pytest.raises(StoreError, match="was closed"):
        await connection.table_names()
    async with lance_connection(str(tmp_path)) as again:
        assert await LanceChunkStore(again, model="m", dimension=DIMENSION).count("notes") == 1
