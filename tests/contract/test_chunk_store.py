"""What every ``ports.ChunkStore`` promises, checked against the in-memory reference and LanceDB."""

from __future__ import annotations

import asyncio
import random
import shutil
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from agentic_rag.domain.filters import parse_filters
from agentic_rag.domain.ports import ChunkStore, EmbeddedDocument, Restriction
from agentic_rag.errors import AgenticRagError, InputError, ManifestMismatch, StoreError
from agentic_rag.stores.in_memory import InMemoryChunkStore
from agentic_rag.stores.lancedb import chunk_store
from agentic_rag.stores.lancedb.chunk_store import LanceChunkStore
from agentic_rag.stores.lancedb.connection import LanceConnection, lance_connection
from agentic_rag.stores.lancedb.indexes import MAX_PIECES
from agentic_rag.stores.lancedb.reindex import reindex
from agentic_rag.stores.lancedb.replacing import replace_rows
from agentic_rag.testing import HashingEmbedding
from agentic_rag.testing.contracts.chunk_store import (
    DIMENSION,
    EAST,
    OPEN,
    ChunkStoreContract,
    chunk,
    documents_of,
    piece,
    sparse,
)
from vector_stores import EVERY, EXTRAS, opened, skip_without, uri_of


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


class TestChunkStore(ChunkStoreContract):
    @pytest.fixture
    def store(self, store: Any) -> Any:
        return store


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
    writing = asyncio.create_task(lance.replace_documents("notes", documents_of(chunk("a"))))
    await begun.wait()
    writing.cancel()
    await asyncio.sleep(0.05)
    assert not writing.done()
    go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await writing
    assert await lance.count("notes") == 1


# --- pieces -----------------------------------------------------------------------------------------


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


async def test_tokens_come_back_where_a_store_keeps_them(store: ChunkStore):
    one, two = chunk("a"), chunk("a", "1")
    vectors = np.tile(EAST, (2, 1))
    await store.replace_documents("notes", [EmbeddedDocument("a", (one, two), vectors, (b"\x00\xff", b""))])
    kept = await store.get_token_vectors("notes", [one.id, two.id, "no such"])
    assert kept in ({one.id: b"\x00\xff"}, {})
    assert kept or not isinstance(store, InMemoryChunkStore | LanceChunkStore)
    await store.replace_documents("notes", documents_of(one))
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


async def test_one_search_for_words_serves_all_who_ask_at_the_same_time(
    lance: LanceChunkStore, monkeypatch: pytest.MonkeyPatch
):
    await lance.replace_documents("notes", documents_of(chunk("a", text="tea"), chunk("b", text="tea leaf")))
    searches = 0
    leg = chunk_store.sparse_leg

    async def counted(*arguments: Any) -> Any:
        nonlocal searches
        searches += 1
        await asyncio.sleep(0.05)
        return await leg(*arguments)

    monkeypatch.setattr(chunk_store, "sparse_leg", counted)

    def search(text: str = "tea", limit: int = 5, restriction: Restriction = OPEN) -> Any:
        return asyncio.ensure_future(lance.search_sparse("notes", text, limit=limit, restriction=restriction))

    first, second = search(), search()
    await asyncio.sleep(0)
    first.cancel()
    found = await second
    assert [one.chunk.id for one in found] == ["a#0", "b#0"]
    assert searches == 1, "who is cancelled ends nobody else's search"
    later = datetime(2030, 1, 1, tzinfo=UTC)
    await asyncio.gather(
        search(), search("leaf"), search(limit=1), search(restriction=Restriction(as_of=later))
    )
    assert searches == 5, "another search, or a later one, is made anew"
    before = search()
    await lance.replace_documents("notes", documents_of(chunk("c", text="tea")))
    after = search()
    lance.connection.refresh()
    assert {len(await one) for one in (after, search())} == {3}, "what is written meanwhile is found"
    assert len(await before) in (2, 3)


@pytest.mark.parametrize("name", ["lancedb", *EXTRAS])
async def test_stats_of_another_model_tell_what_made_the_vectors(
    name: str, tmp_path: Path, request: pytest.FixtureRequest
):
    skip_without(name)
    where = uri_of(name, tmp_path, request) if name in EXTRAS else str(tmp_path / "lance")
    async with opened(name, where, DIMENSION) as store:
        await store.replace_documents("notes", documents_of(chunk("a"), chunk("b")))
    async with opened(name, where, DIMENSION + 1) as other:
        stats = await other.stats("notes")
        assert (stats.dimension, stats.tables[0].rows) == (DIMENSION, 2)
        with pytest.raises(ManifestMismatch):
            await other.count("notes")


# --- LanceDB: other connections, other processes, other models -----------------------------------


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
        await writer.replace_documents("notes", documents_of(chunk("a")))
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-c", READER, str(tmp_path), stdout=asyncio.subprocess.PIPE
        )
        assert process.stdout is not None
        assert await process.stdout.readline() == b"ready\n"
        await writer.replace_documents("notes", documents_of(chunk("b")))
        written = time.time()
        seen = float(await asyncio.wait_for(process.stdout.readline(), 30))
        assert await process.wait() == 0
    assert seen - written < 1.5


KILLABLE = """
import asyncio, sys
from datetime import UTC, datetime, timedelta
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

    for number in range(2):
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
        await lance.replace_documents("notes", documents_of(*[chunk(f"d{number}-{n}") for n in range(4)]))
        words = next(i for i in (await lance.stats("notes")).tables[0].indexes if i.column == "search_text")
        left.append(words.unindexed_rows)
    assert max(left) <= 10
    assert left.count(0) <= 5, "not at every write"


async def test_many_small_writes_leave_few_pieces(tmp_path: Path):
    """One process a write, as when single notes are added on the command line."""
    for number in range(40):
        async with lance_connection(str(tmp_path)) as connection:
            store = LanceChunkStore(connection, model="m", dimension=DIMENSION)
            await store.replace_documents("notes", documents_of(chunk(f"d{number}")))
            table = await connection.table("chunks_notes")
            assert (await table.stats())["fragment_stats"]["num_fragments"] <= MAX_PIECES
    async with lance_connection(str(tmp_path)) as connection:
        store = LanceChunkStore(connection, model="m", dimension=DIMENSION)
        assert len(await sparse(store, "tea", limit=100)) == 40


async def test_writers_and_index_care_do_not_stand_in_each_others_way(tmp_path: Path):
    async def write(name: str) -> None:
        async with lance_connection(str(tmp_path)) as connection:
            store = LanceChunkStore(connection, model="m", dimension=DIMENSION)
            for number in range(8):
                await store.replace_documents(
                    "notes", documents_of(chunk(f"{name}{number}"), chunk("shared"))
                )
                if number % 3 == 0:
                    await store.optimize("notes")

    await asyncio.gather(*(write(name) for name in "abcd"))
    async with lance_connection(str(tmp_path)) as connection:
        store = LanceChunkStore(connection, model="m", dimension=DIMENSION)
        assert await store.count("notes") == 4 * 8 + 1
        assert len(await sparse(store, "tea", limit=100)) == 4 * 8 + 1


async def test_a_broken_store_is_told_in_our_own_words(tmp_path: Path):
    (tmp_path / "chunks_notes.lance").mkdir()
    (tmp_path / "chunks_notes.lance" / "_versions").mkdir()
    (tmp_path / "chunks_notes.lance" / "_versions" / "1.manifest").write_bytes(b"rubbish")
    async with lance_connection(str(tmp_path)) as connection:
        store = LanceChunkStore(connection, model="m", dimension=DIMENSION)
        with pytest.raises(AgenticRagError, match="LanceDB"):
            await store.search_dense("notes", EAST, limit=1, restriction=OPEN)


async def test_a_table_that_went_away_is_told_in_our_own_words(lance: LanceChunkStore, tmp_path: Path):
    await lance.replace_documents("notes", documents_of(chunk("a")))
    shutil.rmtree(tmp_path / "lance" / "chunks_notes.lance")
    await asyncio.sleep(1.1)  # as long as a reader may believe what it knows
    for asked in (
        lance.get_token_vectors("notes", ["a#0"]),
        lance.replace_documents("notes", documents_of(chunk("b"))),
        lance.stats("notes"),
    ):
        with pytest.raises(StoreError, match="LanceDB failed"):
            await asked


async def test_what_was_closed_stays_closed_and_says_so(tmp_path: Path):
    async with lance_connection(str(tmp_path)) as connection:
        store = LanceChunkStore(connection, model="m", dimension=DIMENSION)
        await store.replace_documents("notes", documents_of(chunk("a")))
    await connection.close()
    with pytest.raises(StoreError, match="was closed; ask within"):
        await store.count("notes")
    with pytest.raises(StoreError, match="was closed"):
        await connection.table_names()
    async with lance_connection(str(tmp_path)) as again:
        assert await LanceChunkStore(again, model="m", dimension=DIMENSION).count("notes") == 1
