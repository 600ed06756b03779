"""Search time of the engine from ten thousand to a million chunks; one separate process per size.

    python -m retrieval_benchmark.scale build|search SIZE FOLDER DATA QUERIES

``build`` writes and indexes, ``search`` measures; each prints one JSON object. Two processes, so that
each has a peak memory of its own.
"""

from __future__ import annotations

import asyncio
import gc
import json
import resource
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import numpy as np

from agentic_rag.domain.filters import parse_filters
from agentic_rag.domain.ports import FloatArray, Restriction
from agentic_rag.models.bundled import BundledEmbedding
from agentic_rag.retrieval.config import MIN_CANDIDATES
from agentic_rag.retrieval.engine import RetrievalEngine
from agentic_rag.stores.lancedb.chunk_store import LanceChunkStore
from agentic_rag.stores.lancedb.connection import lance_connection
from agentic_rag.stores.lancedb.full_text import query_text
from agentic_rag.stores.lancedb.indexes import probes
from agentic_rag.stores.lancedb.rows import CHUNK, VECTOR
from retrieval_benchmark.corpus import FILTER, GivenVectors, base, documents, queries

DATASET, TOP_K, CONCURRENT = "bench", 10, 32
RECALL_QUERIES = 100
Run = Callable[[str], Awaitable[Any]]


async def build(size: int, folder: Path, data: Path) -> dict[str, float]:
    """Seconds to write and to index, and the peak memory in MB."""
    sets = await base(data)
    async with lance_connection(str(folder)) as connection:
        store = LanceChunkStore(connection, model=BundledEmbedding.name, dimension=384)
        started = time.perf_counter()
        for batch in documents(sets, size):
            await store.replace_documents(DATASET, batch)
        written = time.perf_counter()
        await store.optimize(DATASET)
        indexed = time.perf_counter()
        stats = await store.stats(DATASET)
    bytes_ = sum(table.size_bytes or 0 for table in stats.tables)
    return {"write s": written - started, "index s": indexed - written, "disk MB": bytes_ / 1e6, "memory MB": _peak()}  # fmt: skip


async def search(size: int, folder: Path, data: Path, count: int) -> dict[str, float]:
    """Milliseconds and queries a second of hybrid search with a filter and without, beside bare calls."""
    texts, vectors = queries(await base(data), count)
    known = dict(zip(texts, vectors, strict=True))
    async with lance_connection(str(folder)) as connection:
        store = LanceChunkStore(connection, model=BundledEmbedding.name, dimension=384)
        engine = RetrievalEngine(store, GivenVectors(BundledEmbedding.name, texts, vectors))
        table = await connection.table(f"chunks_{DATASET}")
        where = await store._where(DATASET, Restriction(parse_filters(FILTER)))

        async def filtered(text: str) -> None:
            await engine.search(DATASET, text, TOP_K, filters=FILTER)

        async def unfiltered(text: str) -> None:
            await engine.search(DATASET, text, TOP_K)

        async def bare(text: str) -> None:
            await _bare(table, text, known[text], where, MIN_CANDIDATES + 1, [CHUNK, VECTOR])

        runs: dict[str, Run] = {"filtered": filtered, "bare": bare, "unfiltered": unfiltered}
        for text in texts[:10]:
            for run in runs.values():
                await run(text)
        gc.collect()
        gc.freeze()
        taken = await _interleaved(runs, texts)
        found = {f"{name} p{q}": float(np.percentile(ms, q)) for name, ms in taken.items() for q in (50, 95)}
        found["overhead"] = float(np.median(taken["filtered"]) / np.median(taken["bare"]))
        for name, run in runs.items():
            found[f"{name} queries/s"] = await _at_once(run, texts)
        found["search MB"] = _peak()
        for name, filters, passing in (("", None, None), (" with filter", FILTER, where)):
            restriction = Restriction(parse_filters(filters))
            found[f"recall@10{name}"] = await _recall(
                store, table, vectors[:RECALL_QUERIES], restriction, passing
            )
    return found


async def _bare(
    table: Any, text: str, vector: FloatArray, where: str | None, limit: int, columns: list[str]
) -> None:
    """The two LanceDB calls that the engine makes, and nothing of what it makes of them."""
    from lancedb.query import MatchQuery

    dense = table.query().nearest_to(vector).distance_type("cosine").nprobes(probes(where)).limit(limit)
    dense = dense.select([*columns, "_distance"])
    words = table.query().nearest_to_text(MatchQuery(query_text(text), "search_text")).limit(limit)
    words = words.select([*columns, "_score"])
    if where:
        dense, words = dense.where(where), words.where(where)
    await asyncio.gather(dense.to_arrow(), words.to_arrow())


async def _interleaved(runs: dict[str, Run], texts: list[str]) -> dict[str, list[float]]:
    taken: dict[str, list[float]] = {name: [] for name in runs}
    for number, text in enumerate(texts):
        # The first to ask a question finds nothing in memory: all take turns at it.
        order = list(runs)[number % len(runs) :] + list(runs)[: number % len(runs)]
        for name in order:
            started = time.perf_counter()
            await runs[name](text)
            taken[name].append((time.perf_counter() - started) * 1e3)
    return taken


async def _at_once(run: Run, texts: list[str]) -> float:
    places = asyncio.Semaphore(CONCURRENT)

    async def one(text: str) -> None:
        async with places:
            await run(text)

    started = time.perf_counter()
    await asyncio.gather(*(one(text) for text in texts))
    return len(texts) / (time.perf_counter() - started)


async def _recall(
    store: LanceChunkStore, table: Any, vectors: FloatArray, restriction: Restriction, where: str | None
) -> float:
    """Share of the true ten nearest that the index finds, against every vector that passes compared exactly."""
    best = [np.zeros((0, 2)) for _ in vectors]
    ids: list[str] = []
    query = table.query().select(["chunk_id", "vector"])
    query = query.where(where) if where else query
    async for batch in await query.to_batches(max_batch_length=50_000):
        stored = batch["vector"].flatten().to_numpy(zero_copy_only=False).reshape(-1, vectors.shape[1])
        cosines = vectors @ stored.T
        for number, row in enumerate(cosines):
            top = np.argpartition(-row, min(10, len(row) - 1))[:10]
            best[number] = np.concatenate([best[number], np.stack([row[top], top + len(ids)], axis=1)])
        ids += batch["chunk_id"].to_pylist()
    shares = []
    for vector, candidates in zip(vectors, best, strict=True):
        true = {ids[int(i)] for i in candidates[np.argsort(-candidates[:, 0])[:10], 1]}
        found = await store.search_dense(DATASET, vector, limit=10, restriction=restriction)
        shares.append(len(true & {scored.chunk.id for scored in found}) / len(true))
    return float(np.mean(shares))


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


async def main() -> None:
    what, size, folder, data, count = sys.argv[1], int(sys.argv[2]), Path(sys.argv[3]), Path(sys.argv[4]), int(sys.argv[5])  # fmt: skip
    found = await build(size, folder, data) if what == "build" else await search(size, folder, data, count)
    print(json.dumps(found))


if __name__ == "__main__":
    asyncio.run(main())
