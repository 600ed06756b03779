"""Re-embedding into new tables during reads and writes: the result, the switch, and a crash before it."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agentic_rag import Rag, RagConfig, open_rag
from agentic_rag.channels import in_full
from agentic_rag.domain.ports import FloatArray, GraphQuery, Restriction
from agentic_rag.errors import ConfigError, ManifestMismatch, ModelError, StoreLocked, UnknownDataset
from agentic_rag.retrieval.ports import SourceQuery
from agentic_rag.stores.in_memory import InMemoryChunkStore
from agentic_rag.stores.lancedb import manifests
from agentic_rag.stores.lancedb.connection import LanceConnection
from agentic_rag.stores.lancedb.process_lock import only_one
from agentic_rag.testing import HashingEmbedding, TokenHashingEmbedding
from stored import assert_same, assert_whole, everything, tables

OLD, NEW = 64, 96
QUERIES = ("leaf and water", "Note 3", "clay", "苹果")
WORDS = "leaf water steam stone garden roast bitter sweet cup slow fire clay pot spring kettle".split()


def write_notes(vault: Path, numbers: Sequence[int], *, also: str = "") -> Path:
    vault.mkdir(exist_ok=True)
    for number in numbers:
        words = " ".join(WORDS[(number * 7 + step * (number % 5 + 1)) % len(WORDS)] for step in range(12))
        text = f"# Note {number}\n\nA note on {words}. See [[Note {number // 2}]]. 苹果 {also}\n\n## More\n\n{words[::-1]}\n"
        (vault / f"Note {number}.md").write_text(text, encoding="utf-8")
    return vault


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    return write_notes(tmp_path / "vault", range(24))


@asynccontextmanager
async def opened(data: Path, dimension: int, embedding: HashingEmbedding | None = None) -> AsyncIterator[Rag]:
    async with open_rag(RagConfig(data_dir=data), embedding=embedding or HashingEmbedding(dimension)) as rag:
        yield rag


async def ingested(data: Path, vault: Path, dimension: int = OLD) -> None:
    async with opened(data, dimension) as rag:
        await rag.ingest(vault)


async def found(rag: Rag) -> list[Any]:
    """What both halves find, with scores."""
    every: list[Any] = []
    for query in QUERIES:
        every.append([(r.id, r.score, r.legs) for r in await rag.search(query, top_k=20)])
        hits = (await rag.graph_engine.find(SourceQuery("default", query), 20)).hits
        every.append([(hit["id"], hit["score"], len(hit["facts"])) for hit in hits])
    return every


def found_something(answers: Sequence[Any]) -> bool:
    """Whether each vector search did, and the graph where a note is named: elsewhere it has nothing to say."""
    return all(answers[::2]) and bool(answers[1::2][QUERIES.index("Note 3")])


class Slow(HashingEmbedding):
    """Takes its time over stored texts, so that others can do things meanwhile."""

    async def embed_passages(self, texts: Sequence[str]) -> FloatArray:
        await asyncio.sleep(0.1)
        return await super().embed_passages(texts)


async def test_it_gives_what_a_fresh_ingest_gives(vault: Path, tmp_path: Path) -> None:
    await ingested(tmp_path / "data", vault)
    told: list[tuple[str, int, int]] = []
    async with opened(tmp_path / "data", NEW) as rag:
        report = await rag.reindex(progress=lambda *step: told.append(step))
        after, answers = await everything(rag), await found(rag)
    await ingested(tmp_path / "fresh", vault, NEW)
    async with opened(tmp_path / "fresh", NEW) as rag:
        assert_same(after, await everything(rag))
        assert answers == await found(rag)
    assert_whole(after)
    assert found_something(answers)
    assert (report.before, report.now) == (
        f"hashing-{OLD} ({OLD} dimensions, cosine)",
        f"hashing-{NEW} ({NEW} dimensions, cosine)",
    )
    rows = sum(report.rows.values())
    assert report.rows["chunks"] == len(after.rows["chunks_default"])
    assert report.rows["facts"] == len(after.rows["graph_default_facts"])
    assert told[0] == ("embed", 0, rows)
    assert told[-1] == ("embed", rows, rows)
    assert [done for _, done, _ in told] == sorted(done for _, done, _ in told)


async def test_tokens_come_with_a_model_that_tells_them(vault: Path, tmp_path: Path) -> None:
    """Data that were stored without any get them, and a question is compared by them."""
    await ingested(tmp_path / "data", vault)
    async with opened(tmp_path / "data", NEW, TokenHashingEmbedding(NEW)) as rag:
        await rag.reindex()
        ids = await rag.chunks.matching_chunk_ids("default", Restriction(), limit=1000)
        tokens = await rag.chunks.get_token_vectors("default", ids)
        state = await rag.graph.ainvoke({"query": "leaf"})
    assert sorted(tokens) == ids
    near = [result["evidence"]["tokens"] for result in in_full(state["reranked_results"])]
    assert near
    assert max(near) > 0.9
    async with opened(tmp_path / "fresh", NEW, TokenHashingEmbedding(NEW)) as rag:
        await rag.ingest(vault)
        assert await rag.chunks.get_token_vectors("default", ids) == tokens


async def test_ingest_goes_on_where_it_was(vault: Path, tmp_path: Path) -> None:
    await ingested(tmp_path / "data", vault)
    embedding = HashingEmbedding(NEW)
    async with opened(tmp_path / "data", NEW, embedding) as rag:
        await rag.reindex()
        embedding.embedded_texts.clear()
        again = await rag.ingest(vault)
        assert again.count("unchanged") == len(again.files) == 24
        assert embedding.embedded_texts == []
        write_notes(vault, [3, 99], also="and a word")
        (vault / "Note 5.md").unlink()
        await rag.ingest(vault)
        after = await everything(rag)
    await ingested(tmp_path / "fresh", vault, NEW)
    async with opened(tmp_path / "fresh", NEW) as rag:
        assert_same(after, await everything(rag))


async def test_another_model_is_refused_with_the_line_that_mends_it(vault: Path, tmp_path: Path) -> None:
    await ingested(tmp_path / "data", vault)
    before = await tables(tmp_path / "data")
    line = (
        rf"dataset 'default' was embedded with hashing-{OLD} \({OLD} dimensions, cosine\), the configuration "
        rf"says hashing-{NEW} .*agentic-rag reindex --dataset default"
    )
    async with opened(tmp_path / "data", NEW) as rag:
        vector = np.ones(NEW, dtype=np.float32)
        calls = [
            lambda: rag.search("leaf"),
            lambda: rag.search("leaf", strategy="sparse"),
            lambda: rag.graph_engine.find(SourceQuery("default", "leaf"), 3),
            lambda: rag.knowledge.search("default", GraphQuery("leaf", vector), limit=3),
            lambda: rag.graph.ainvoke({"query": "leaf"}),
            lambda: rag.ingest(write_notes(vault, [3], also="changed")),
            lambda: rag.chunks.remove_documents("default", ["Note 1.md"]),
            lambda: rag.knowledge.remove_documents("default", ["Note 1.md"]),
        ]
        for call in calls:
            with pytest.raises(ManifestMismatch, match=line):
                await call()
        stats = await rag.chunks.stats("default")
        assert (stats.model, stats.dimension) == (f"hashing-{OLD}", OLD)
        assert (await rag.knowledge.counts("default")).facts > 0
    assert_same(await tables(tmp_path / "data"), before)
    async with opened(tmp_path / "data", OLD) as rag:
        assert not any(record.pending for record in (await rag.ledger.records("default")).values())


async def test_one_dataset_at_a_time(vault: Path, tmp_path: Path) -> None:
    """The others keep their model, and do not stand in the way of the one that was reindexed."""
    data = tmp_path / "data"
    async with opened(data, OLD) as rag:
        await rag.ingest(vault)
        await rag.ingest(vault, dataset="笔记")
    async with opened(data, NEW) as rag:
        await rag.reindex("笔记")
        assert await rag.search("leaf", dataset="笔记")
        write_notes(vault, [50])
        await rag.ingest(vault, dataset="笔记")
        with pytest.raises(ManifestMismatch, match="--dataset default"):
            await rag.search("leaf")
    async with opened(data, OLD) as rag:
        assert await rag.search("leaf")
        with pytest.raises(ManifestMismatch, match="--dataset '笔记'"):
            await rag.search("leaf", dataset="笔记")


@pytest.mark.slow
async def test_readers_search_all_the_time(vault: Path, tmp_path: Path) -> None:
    """With the old model until the switch, with the new one from then on; never anything in between."""
    data = tmp_path / "data"
    write_notes(vault, range(60))
    await ingested(data, vault)
    truth: dict[int, list[Any]] = {}
    async with opened(data, OLD) as rag:
        truth[OLD] = await found(rag)
    await ingested(tmp_path / "fresh", vault, NEW)
    async with opened(tmp_path / "fresh", NEW) as rag:
        truth[NEW] = await found(rag)
    searched = {OLD: 0, NEW: 0}
    last_old, first_new, often, switched = 0.0, 0.0, asyncio.Event(), asyncio.Event()

    async def read(dimension: int) -> None:
        nonlocal last_old, first_new
        async with opened(data, dimension) as reader:
            while not (switched.is_set() and first_new):
                try:
                    answers = await found(reader)
                except ManifestMismatch:
                    if dimension == OLD and searched[OLD]:
                        return
                    await asyncio.sleep(0.02)
                    continue
                assert answers == truth[dimension]
                searched[dimension] += 1
                if dimension == OLD:
                    last_old = time.perf_counter()
                    if searched[OLD] > 2:
                        often.set()
                elif not first_new:
                    first_new = time.perf_counter()
                await asyncio.sleep(0.02)  # for who converts

    async def convert() -> None:
        await often.wait()
        async with opened(data, NEW, Slow(NEW)) as rag:
            await rag.reindex()
        switched.set()

    began = time.perf_counter()
    await asyncio.wait_for(asyncio.gather(read(OLD), read(NEW), convert()), 120)
    assert searched[OLD] > 2
    assert searched[NEW] > 0
    assert last_old - first_new < 5, "readers follow"
    assert first_new > began


async def test_a_search_under_way_ends_in_the_old_table(vault: Path, tmp_path: Path) -> None:
    await ingested(tmp_path / "data", vault)
    async with opened(tmp_path / "data", OLD) as reader, opened(tmp_path / "data", NEW) as rag:
        before = await found(reader)
        await rag.reindex()
        with contextlib.suppress(ManifestMismatch):  # it may look at the manifest again meanwhile, or not yet
            assert await found(reader) == before
        await asyncio.sleep(1.1)
        with pytest.raises(ManifestMismatch):
            await found(reader)


async def test_what_is_written_meanwhile_is_there_afterwards(vault: Path, tmp_path: Path) -> None:
    """Adding, changing and removing under the same model, from another connection, until after the switch."""
    data = tmp_path / "data"
    await ingested(data, vault)
    done = asyncio.Event()
    rounds = 0

    async def write() -> None:
        nonlocal rounds
        async with opened(data, OLD) as rag:
            while not done.is_set() or rounds < 3:
                write_notes(vault, [rounds % 24, 100 + rounds], also=f"round {rounds}")
                (vault / f"Note {98 + rounds}.md").unlink(missing_ok=True)
                await rag.ingest(vault)
                rounds += 1

    async def convert() -> None:
        async with opened(data, OLD, Slow(OLD)) as rag:
            for _ in range(3):
                await rag.reindex()
        done.set()

    await asyncio.gather(write(), convert())
    async with opened(data, OLD) as rag:
        stored = await everything(rag)
    assert_whole(stored)
    async with opened(tmp_path / "fresh", OLD) as rag:
        await rag.ingest(vault)
        assert_same(stored, await everything(rag))


async def test_a_writer_with_the_old_model_stops_whole(vault: Path, tmp_path: Path) -> None:
    """Every document that it was told is stored is there; the next ingest, with the new model, does the rest."""
    data = tmp_path / "data"
    await ingested(data, vault)

    async def write() -> int:
        async with opened(data, OLD) as rag:
            for number in range(1000):
                write_notes(vault, [100 + number])
                try:
                    await rag.ingest(vault)
                except ManifestMismatch:
                    return number
        raise AssertionError("the switch never came")

    async def convert() -> None:
        async with opened(data, NEW, Slow(NEW)) as rag:
            await rag.reindex()

    acknowledged, _ = await asyncio.gather(write(), convert())
    async with opened(data, NEW) as rag:
        held = await rag.chunks.document_ids("default")
        assert {f"Note {100 + number}.md" for number in range(acknowledged)} <= held
        await rag.ingest(vault)
        stored = await everything(rag)
    assert_whole(stored)
    async with opened(tmp_path / "fresh", NEW) as rag:
        await rag.ingest(vault)
        assert_same(stored, await everything(rag))


async def test_a_failure_changes_nothing(vault: Path, tmp_path: Path) -> None:
    class Failing(HashingEmbedding):
        async def embed_passages(self, texts: Sequence[str]) -> FloatArray:
            if len(self.embedded_texts) > 20:
                raise ModelError("no more")
            return await super().embed_passages(texts)

    data = tmp_path / "data"
    await ingested(data, vault)
    before = await tables(data)
    async with opened(data, NEW, Failing(NEW)) as rag:
        with pytest.raises(ModelError):
            await rag.reindex()
    assert_same(await tables(data), before)
    async with opened(data, NEW) as rag:
        await rag.reindex()
        assert_whole(await everything(rag))
        names = await rag.chunks.connection.table_names()  # type: ignore[attr-defined]
    assert [name for name in names if name.startswith("chunks_")] == ["chunks_default", "chunks_default.1"]


async def test_old_generations_are_dropped_once_nobody_reads_them(
    vault: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await ingested(tmp_path / "data", vault)
    async with opened(tmp_path / "data", NEW) as rag:
        connection: LanceConnection = rag.chunks.connection  # type: ignore[attr-defined]
        await rag.reindex()
        await rag.chunks.optimize("default")
        await rag.knowledge.optimize("default")
        assert {"chunks_default", "graph_default_facts"} <= set(await connection.table_names())
        monkeypatch.setattr(manifests, "KEEP_GENERATIONS", timedelta(0))
        await rag.chunks.optimize("default")
        await rag.knowledge.optimize("default")
        names = set(await connection.table_names())
        assert not {"chunks_default", "graph_default_facts"} & names
        assert {"chunks_default.1", "graph_default_facts.1", "graph_default_episodes"} <= names
        await rag.reindex()
        names = set(await connection.table_names())
        assert "chunks_default.2" in names
        assert await rag.search("leaf")


async def test_what_cannot_be_reindexed_is_told(vault: Path, tmp_path: Path) -> None:
    await ingested(tmp_path / "data", vault)
    async with opened(tmp_path / "data", NEW) as rag:
        with pytest.raises(UnknownDataset, match="known: default"):
            await rag.reindex("nothing")
        uri = rag.chunks.connection.uri  # type: ignore[attr-defined]
        async with only_one(uri, "reindexing-default", "test"):
            with pytest.raises(StoreLocked, match="another process is reindexing dataset 'default'"):
                await rag.reindex()
        other = replace(rag, chunks=InMemoryChunkStore(dimension=NEW))
        with pytest.raises(ConfigError, match="LanceDB"):
            await other.reindex()


async def test_dying_at_the_switch_is_before_it_or_after_it(
    vault: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Died(BaseException):
        """Stands for a process that ends here."""

    async def before(*_: Any) -> None:
        raise Died

    async def after(*arguments: Any) -> None:
        await switch(*arguments)
        raise Died

    data, switch = tmp_path / "data", manifests.Manifests.switch
    await ingested(data, vault)
    for died, dimension, in_force in ((before, NEW, OLD), (after, NEW, NEW), (before, 2 * NEW, NEW)):
        with monkeypatch.context() as broken:
            broken.setattr(manifests.Manifests, "switch", died)
            async with opened(data, dimension) as rag:
                with pytest.raises(Died):
                    await rag.reindex()
        async with opened(data, in_force) as rag:
            assert found_something(await found(rag))
            await rag.ingest(write_notes(vault, [1], also=f"{dimension} {in_force}"))
    async with opened(data, OLD) as rag:
        await rag.reindex()  # beside what the last one left, which has another dimension
        assert found_something(await found(rag))
