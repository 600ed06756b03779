"""Vector stores behind an extra, and what LanceDB shares with them, beyond the contract: exact filters, BM25, order, other processes, errors."""

from __future__ import annotations

import asyncio
import json
import random
import subprocess
import sys
import time
import traceback
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentic_rag.domain import filterable
from agentic_rag.domain.filters import And, Comparison, Expression, Not, Or, matches, parse_filters
from agentic_rag.domain.ports import ChunkStore, EmbeddedDocument, Restriction
from agentic_rag.errors import ConfigError, ManifestMismatch, StoreAway, StoreError, StoreLocked
from agentic_rag.settings.config import VectorsConfig
from agentic_rag.stores.in_memory import InMemoryChunkStore
from agentic_rag.testing.contracts.chunk_store import (
    DIMENSION,
    EAST,
    HOSTILE,
    OPEN,
    TEXTS,
    chunk,
    dense,
    documents_of,
    matching,
    sparse,
)
from agentic_rag_backends.vectorstores import open_vector_store
from agentic_rag_backends.vectorstores.backend import EVERY_ROW
from vector_stores import EXTRAS, opened, skip_without, uri_of

SECRET = "pw-very-secret"


@pytest.fixture(params=list(EXTRAS))
def backend(request: pytest.FixtureRequest) -> str:
    skip_without(request.param)
    return str(request.param)


@pytest.fixture
def where(backend: str, tmp_path: Path, request: pytest.FixtureRequest) -> str:
    return uri_of(backend, tmp_path, request)


@pytest.fixture
async def store(backend: str, where: str) -> AsyncIterator[ChunkStore]:
    async with opened(backend, where, DIMENSION) as one:
        yield one


def random_unit(rows: int, dimension: int, seed: int = 0) -> np.ndarray[Any, np.dtype[np.float32]]:
    vectors = np.random.default_rng(seed).normal(size=(rows, dimension)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


# --- filters -------------------------------------------------------------------------------------


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
@pytest.mark.parametrize("backend", ["lancedb", *EXTRAS], indirect=True)
def test_filters_are_what_the_definition_says(backend: str, where: str):
    """Random filters on 80 chunks of random metadata; listed, and every tenth searched by vector and by word too."""
    draw = random.Random(80)
    chunks = [chunk(f"d{number:02}", metadata=_random_metadata(draw)) for number in range(80)]
    told_apart = tried = 0
    with asyncio.Runner() as runner:
        context = opened(backend, where, DIMENSION)
        store = runner.run(context.__aenter__())
        runner.run(store.replace_documents("notes", documents_of(*chunks)))

        @settings(max_examples=300 if backend == "lancedb" else 80, database=None)
        @given(EXPRESSIONS)
        def compare(wanted: Expression) -> None:
            nonlocal told_apart, tried
            expected = [one.id for one in chunks if matches(wanted, filterable(one))]
            assert runner.run(matching(store, filters=wanted)) == expected
            told_apart += 0 < len(expected) < len(chunks)
            tried += 1
            if tried % 10 == 0:
                assert runner.run(dense(store, limit=100, filters=wanted)) == expected
                assert runner.run(sparse(store, "tea", limit=100, filters=wanted)) == expected

        compare()
        runner.run(context.__aexit__(None, None, None))
    assert told_apart > tried / 2, "most filters must pass some chunks and not others"


async def test_nothing_a_user_wrote_is_read_as_a_filter(store: ChunkStore):
    """Every hostile text as key, as value, inside a list, as document id, under every operator."""
    tries = [text for text in HOSTILE if text]
    ids = [text for text in tries if text.isprintable() or text in "\n\0"]
    rows: list[dict[str, Any]] = [{text: text} for text in tries]
    rows += [{"k": [text, "other"]} for text in HOSTILE] + [{"k": text} for text in HOSTILE]
    chunks = [chunk(f"d{number:03}", metadata=row) for number, row in enumerate(rows)]
    chunks += [chunk(f"id {text}") for text in ids]
    await store.replace_documents("notes", documents_of(*chunks))
    wanted = [
        Comparison(key, operator, value)  # type: ignore[arg-type]
        for text in tries
        for key in (text, "k")
        for operator, value in (
            ("$eq", text), ("$ne", text), ("$in", (text, "x")), ("$nin", (text,)), ("$gte", text), ("$exists", True), ("$contains", text),
        )
    ]  # fmt: skip
    for one in random.Random(1).sample(wanted, 60):
        expected = sorted(c.id for c in chunks if matches(one, filterable(c)))
        assert await matching(store, filters=one) == expected, one
    before = await store.document_ids("notes")
    await store.remove_documents("notes", [f"{text} " for text in tries])
    assert await store.document_ids("notes") == before
    await store.remove_documents("notes", [f"id {ids[0]}"])
    assert await store.document_ids("notes") == before - {f"id {ids[0]}"}
    assert await store.datasets() == ["notes"]


@pytest.mark.slow
async def test_a_wide_filter_is_as_exact_as_a_narrow_one(store: ChunkStore):
    """Wider than any store answers well, so that it is resolved to rows first; and with ``as_of``."""
    chunks = [
        chunk(f"d{n:04}", metadata={"n": n}, date=datetime(2020 + n % 3, 1, 1, tzinfo=UTC))
        for n in range(400)
    ]
    await store.replace_documents("notes", documents_of(*chunks))
    upper = parse_filters({"n": {"$gte": 30}})
    assert await matching(store, filters=upper) == [c.id for c in chunks[30:]]
    assert await dense(store, limit=3, filters=upper) == ["d0030#0", "d0031#0", "d0032#0"]
    before = datetime(2020, 6, 1, tzinfo=UTC)
    expected = [c.id for n, c in enumerate(chunks) if n >= 30 and n % 3 == 0]
    assert await matching(store, filters=upper, as_of=before) == expected
    assert await dense(store, limit=400, filters=upper, as_of=before) == expected
    either = parse_filters({"$or": [{"n": n} for n in range(0, 398, 2)] + [{"n": {"$gt": 396}}]})
    assert len(await matching(store, filters=either)) == 199 + 3
    none = parse_filters({"n": {"$in": list(range(1000, 11_500))}})
    assert await matching(store, filters=none) == await dense(store, filters=none) == []


# --- vectors -------------------------------------------------------------------------------------


@pytest.mark.slow
async def test_dense_is_exact_and_its_order_total(backend: str, where: str):
    """1,000 chunks of 48 dimensions, a third of them with one vector; before and after ``optimize``."""
    vectors = random_unit(1000, 48)
    vectors[::3] = vectors[0]
    names = [f"d{n:04}" for n in random.Random(3).sample(range(1000), 1000)]
    documents = [
        EmbeddedDocument(name, (chunk(name, metadata={"even": n % 2 == 0}),), vectors[n : n + 1])
        for n, name in enumerate(names)
    ]
    query = random_unit(1, 48, seed=9)[0]
    reference = InMemoryChunkStore(dimension=48)
    await reference.replace_documents("notes", documents)
    async with opened(backend, where, 48) as store:
        await store.replace_documents("notes", documents)
        for _ in range(2):
            for limit in (1, 10, 500):
                for restriction in (OPEN, Restriction(parse_filters({"even": True}))):
                    for asked in (query, vectors[0]):
                        found, expected = [
                            await one.search_dense("notes", asked, limit=limit, restriction=restriction)
                            for one in (store, reference)
                        ]
                        assert len(found) == limit
                        assert [f.score for f in found] == pytest.approx(
                            [e.score for e in expected], abs=2e-6
                        )
                        order = [(-f.score, f.chunk.id) for f in found]
                        assert order == sorted(order)
            await store.optimize("notes")
        tied = sorted(names[::3])[:10]
        found = await store.search_dense("notes", vectors[0], limit=10, restriction=OPEN)
        assert [one.chunk.document_id for one in found] == tied
        stored = await store.get_vectors("notes", [f"{name}#0" for name in names[:50]])
        assert all((stored[f"{name}#0"] == vectors[n]).all() for n, name in enumerate(names[:50]))


async def test_a_long_text_and_much_metadata_are_kept_whole(store: ChunkStore):
    long = chunk(
        "long", text="茶 tea\0 " * 30_000, metadata={"list": list(range(3000)), "text": "乌龙" * 40_000}
    )
    await store.replace_documents("notes", documents_of(long))
    assert await store.get_chunks("notes", ["long#0"]) == {"long#0": long}
    assert await matching(store, filters=parse_filters({"list": 2999})) == ["long#0"]
    assert (await store.search_dense("notes", EAST, limit=1, restriction=OPEN))[0].chunk == long


# --- words ---------------------------------------------------------------------------------------


async def test_words_score_as_in_the_reference(store: ChunkStore):
    texts = [*TEXTS.values(), "tea tea oolong", "oolong", "", "..."]
    chunks = [
        chunk(f"d{n}", text=text, title=text[:4], metadata={"n": n % 3}) for n, text in enumerate(texts)
    ]
    reference = InMemoryChunkStore(dimension=DIMENSION)
    for one in (store, reference):
        await one.replace_documents("notes", documents_of(*chunks))
    for query in ("oolong tea", "水果 福建", "404 report", "tea tea tea", "plan C"):
        for restriction in (OPEN, Restriction(parse_filters({"n": {"$lt": 2}}))):
            found, expected = [
                await one.search_sparse("notes", query, limit=5, restriction=restriction)
                for one in (store, reference)
            ]
            assert [one.chunk.id for one in found] == [one.chunk.id for one in expected]
            assert [one.score for one in found] == pytest.approx([one.score for one in expected], rel=1e-5)


async def test_words_follow_every_write(store: ChunkStore):
    for before, word in pairwise(["none", "oolong", "sencha", "assam", "keemun"]):
        await store.replace_documents("notes", documents_of(chunk("a", word, text=f"{word} tea")))
        assert await sparse(store, word) == [f"a#{word}"]
        assert await sparse(store, before) == []
    await asyncio.gather(
        *(store.replace_documents("notes", documents_of(chunk(f"b{n}", text="milk"))) for n in range(5)),
        *(sparse(store, "milk") for _ in range(5)),
    )
    assert len(await sparse(store, "milk")) == 5
    await store.remove_documents("notes", ["a"])
    assert await sparse(store, "tea") == []


async def test_reading_a_dataset_goes_on_when_the_caller_has_no_more_time(
    store: ChunkStore, monkeypatch: pytest.MonkeyPatch
):
    from agentic_rag_backends.vectorstores import adapter

    read = 0

    def slow(*given: Any) -> Any:
        nonlocal read
        read += 1
        time.sleep(0.5)
        return whole(*given)

    whole = adapter.cached_rows
    monkeypatch.setattr(adapter, "cached_rows", slow)
    await store.replace_documents("notes", documents_of(chunk("a")))
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(sparse(store, "tea"), 0.2)
    assert await sparse(store, "tea") == ["a#0"]
    assert read == 1


# --- other connections, other models, what cannot be opened ----------------------------------------


async def test_a_second_store_sees_new_rows_within_a_second(backend: str, where: str):
    async with opened(backend, where, DIMENSION) as writer, opened(backend, where, DIMENSION) as reader:
        await writer.replace_documents("notes", documents_of(chunk("a", metadata={"n": 1})))
        assert await sparse(reader, "tea") == ["a#0"]
        await writer.replace_documents("notes", documents_of(chunk("b", metadata={"n": 2})))
        deadline = time.monotonic() + 1
        while len(await sparse(reader, "tea")) < 2 and time.monotonic() < deadline:
            await asyncio.sleep(0.05)
        assert await sparse(reader, "tea") == await matching(reader) == await dense(reader) == ["a#0", "b#0"]
        assert await matching(reader, filters=parse_filters({"n": {"$gt": 1}})) == ["b#0"]
        assert await reader.datasets() == ["notes"]


WRITER = """
import asyncio, sys
import numpy as np
from agentic_rag.domain import Chunk
from agentic_rag.domain.ports import EmbeddedDocument
from agentic_rag_backends.vectorstores import backend_class
from agentic_rag_backends.vectorstores.adapter import VectorStoreChunks

async def main():
    store = VectorStoreChunks(backend_class(sys.argv[1]).open(sys.argv[2]), model="hashing", dimension=4)
    for batch in range(3):
        await store.replace_documents("notes", [
            EmbeddedDocument(name, (Chunk(f"{name}#0", name, "tea", 0, 3, 0, name, name, "text"),),
                             np.eye(4, dtype=np.float32)[:1])
            for name in (f"d{batch}-{n}" for n in range(40))
        ])
    await store.close()

asyncio.run(main())
"""


@pytest.mark.parametrize("backend", ["chroma", "pgvector"], indirect=True)
async def test_another_process_can_write_meanwhile(backend: str, where: str):
    """Milvus Lite is left out: it serves one process."""
    async with opened(backend, where, DIMENSION) as reader:
        await reader.replace_documents("notes", documents_of(chunk("own")))
        assert await dense(reader) == ["own#0"]
        writers = [
            await asyncio.create_subprocess_exec(
                sys.executable, "-c", WRITER, backend, where, stderr=subprocess.PIPE
            )
            for _ in range(2 if backend == "pgvector" else 1)
        ]
        for writer in writers:
            _, errors = await asyncio.wait_for(writer.communicate(), 120)
            assert writer.returncode == 0, errors.decode()
        await asyncio.sleep(0.6)
        assert await reader.count("notes") == 121
        for found in (await dense(reader, limit=200), await sparse(reader, "tea", limit=200)):
            assert len(found) == len(set(found)) == 121
        assert len(await reader.get_vectors("notes", await matching(reader))) == 121


@pytest.mark.parametrize("backend", ["lancedb", *EXTRAS], indirect=True)
async def test_another_model_is_refused_with_both_named(backend: str, where: str):
    async with opened(backend, where, DIMENSION) as store:
        await store.replace_documents("notes", documents_of(chunk("a")))
        for model, dimension in (("other", DIMENSION), ("hashing", DIMENSION + 1)):
            vector = np.eye(dimension, dtype=np.float32)[0]
            told = (
                rf"hashing \({DIMENSION} dimensions.*{model} \({dimension} dimensions.*configure that model"
            )
            async with opened(backend, where, dimension, model) as other:
                with pytest.raises(ManifestMismatch, match=told):
                    await other.search_dense("notes", vector, limit=1, restriction=OPEN)
                with pytest.raises(ManifestMismatch, match=told):
                    await other.replace_documents("notes", documents_of(chunk("b"), vector=vector))
                with pytest.raises(ManifestMismatch, match=told):
                    await other.count("notes")
        assert await store.count("notes") == 1
        assert (await store.stats("notes")).model == "hashing"


async def test_what_is_stored_can_be_read_by_other_tools(store: ChunkStore, backend: str, where: str):
    """Page content is the text, as any LangChain program over the collection would show it."""
    await store.replace_documents("notes", documents_of(chunk("a", text="Oolong from 福建")))
    rows = store._backend.rows("agentic_rag_chunks_notes", EVERY_ROW)  # type: ignore[attr-defined]
    assert [row.text for row in rows] == ["Oolong from 福建"]
    assert json.loads(rows[0].name) == ["a#0", "a"]


@pytest.mark.parametrize(
    ("uri", "kind", "told"),
    [
        (
            f"postgresql://ada:{SECRET}@127.0.0.1:1/notes",
            StoreAway,
            "PostgreSQL at .*/notes cannot be used: ",
        ),
        (f"postgresql://ada:a@{SECRET}@127.0.0.1:1/notes", ConfigError, "with %40 for @"),
        (f"postgresql://ada:{SECRET}@127.0.0.1:port/notes", ConfigError, "write postgresql://"),
        (f"mysql://ada:{SECRET}@127.0.0.1/notes", ConfigError, "begins with 'mysql', but"),
        (f"{SECRET}", ConfigError, "write postgresql://"),
    ],
)
async def test_a_database_that_cannot_be_opened_is_told_without_its_password(uri: str, kind: Any, told: str):
    skip_without("pgvector")
    with pytest.raises(kind, match=told) as caught:
        async with opened("pgvector", uri, DIMENSION):
            pass
    assert SECRET not in "".join(traceback.format_exception(caught.value))


@pytest.mark.parametrize("backend", ["chroma", "milvus"])
@pytest.mark.parametrize("address", ["127.0.0.1:port", "127.0.0.1:99999", "[::1", f":{SECRET}/"])
async def test_an_address_that_is_none_is_told_without_its_password(
    backend: str, address: str, tmp_path: Path
):
    config = VectorsConfig(backend=backend, uri=f"http://ada:{SECRET}@{address}")
    with pytest.raises(ConfigError, match="write http://host:port") as caught:
        await open_vector_store(config, tmp_path, model="m", dimension=DIMENSION)
    assert SECRET not in "".join(traceback.format_exception(caught.value))


async def test_a_server_that_went_away_is_told(store: ChunkStore, monkeypatch: pytest.MonkeyPatch):
    await store.replace_documents("notes", documents_of(chunk("a")))

    def broken(*_: Any, **__: Any) -> Any:
        raise RuntimeError("connection lost\nSELECT secret")

    monkeypatch.setattr(store._backend, "names", broken)  # type: ignore[attr-defined]
    with pytest.raises(StoreError, match=r"failed while listing documents of 'notes': connection lost$"):
        await store.document_ids("notes")


async def test_a_milvus_file_serves_one_process(tmp_path: Path):
    skip_without("milvus")
    file = str(tmp_path / "milvus.db")
    holder = (
        "import sys\nfrom agentic_rag_backends.vectorstores.milvus import Milvus\n"
        "opened = Milvus.open(sys.argv[1])\nprint('open', flush=True)\nsys.stdin.readline()"
    )
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", holder, file, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    try:
        assert process.stdout is not None
        assert await asyncio.wait_for(process.stdout.readline(), 60) == b"open\n"
        with pytest.raises(StoreLocked, match="serves one process"):
            async with opened("milvus", file, DIMENSION):
                pass
    finally:
        await process.communicate(b"\n")
