"""The same chunks and vectors in alternative libraries, asked in turns with ours."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from agentic_rag.domain.filters import parse_filters
from agentic_rag.domain.ports import FloatArray, Restriction
from agentic_rag.models.bundled import BundledEmbedding
from agentic_rag.retrieval.engine import RetrievalEngine
from agentic_rag.stores.lancedb.chunk_store import LanceChunkStore
from agentic_rag.stores.lancedb.connection import lance_connection
from figures import Row, row
from retrieval_benchmark.corpus import GivenVectors, base, documents, queries

DATASET, TOP_K = "bench", 10
PARTS = {"lang": "en"}
YEARS = {"year": 2010}
"""A filter that matches 4 % of the chunks; ``PARTS`` matches about two thirds."""
Asked = Callable[[str], Awaitable[list[str]]]


async def rows(size: int, data: Path, folder: Path, count: int) -> list[Row]:
    """Chroma with filters and without, and LangChain's ensemble of BM25 and vectors."""
    sets = await base(data)
    texts, vectors = queries(sets, count)
    chunks: list[Any] = []
    parts: list[FloatArray] = []
    async with lance_connection(str(folder / "ours")) as connection:
        store = LanceChunkStore(connection, model=BundledEmbedding.name, dimension=384)
        for batch in documents(sets, size):
            await store.replace_documents(DATASET, batch)
            chunks += [chunk for document in batch for chunk in document.chunks]
            parts += [document.vectors for document in batch]
        await store.optimize(DATASET)
        stored = np.concatenate(parts)
        engine = RetrievalEngine(store, GivenVectors(BundledEmbedding.name, texts, vectors))
        found = await _chroma(engine, store, chunks, stored, texts, vectors, folder)
        return found + await _ensemble(engine, chunks, stored, texts, vectors)


async def _chroma(
    engine: RetrievalEngine,
    store: LanceChunkStore,
    chunks: Sequence[Any],
    stored: FloatArray,
    texts: Sequence[str],
    vectors: FloatArray,
    folder: Path,
) -> list[Row]:
    import chromadb

    client = chromadb.PersistentClient(str(folder / "chroma"), chromadb.Settings(anonymized_telemetry=False))
    collection = client.create_collection("bench", configuration={"hnsw": {"space": "cosine"}})
    for start in range(0, len(chunks), 5000):
        part = chunks[start : start + 5000]
        collection.add(
            ids=[chunk.id for chunk in part],
            embeddings=stored[start : start + 5000],
            documents=[chunk.text for chunk in part],
            metadatas=[{"year": chunk.metadata["year"], "lang": chunk.metadata["lang"]} for chunk in part],
        )
    known = dict(zip(texts, vectors, strict=True))
    place = {chunk.id: number for number, chunk in enumerate(chunks)}
    rows: list[Row] = []
    for told, filters in ((f"filter {PARTS}", PARTS), (f"filter {YEARS}", YEARS), ("no filter", None)):
        passing = np.array([all(c.metadata[k] == v for k, v in (filters or {}).items()) for c in chunks])

        async def ours(text: str, filters: Any = filters) -> list[str]:
            return [
                r.id for r in await engine.search(DATASET, text, TOP_K, filters=filters, strategy="dense")
            ]

        def query(text: str, filters: Any) -> list[str]:
            asked = collection.query(
                query_embeddings=[known[text]], n_results=TOP_K, where=filters, include=["documents", "metadatas", "distances"]
            )  # fmt: skip
            return list(asked["ids"][0])

        async def theirs(text: str, filters: Any = filters) -> list[str]:
            return await asyncio.to_thread(query, text, filters)

        taken, results = await _in_turns({"ours": ours, "theirs": theirs}, texts)
        # The engine orders by relevance and returns nothing for an unanswerable question, so it is only timed; the
        # exactness of the index is measured on the leg below it.
        restriction = Restriction(parse_filters(filters))
        results["ours"] = [
            [s.chunk.id for s in await store.search_dense(DATASET, v, limit=TOP_K, restriction=restriction)]
            for v in vectors
        ]
        recall = {}
        for name, lists in results.items():
            shares = []
            for vector, ids in zip(vectors, lists, strict=True):
                cosines = np.where(passing, stored @ vector, -2.0)
                true = set(np.argpartition(-cosines, TOP_K)[:TOP_K].tolist())
                shares.append(len(true & {place[i] for i in ids}) / TOP_K)
            recall[name] = float(np.mean(shares))
        size = f"{len(chunks):,} chunks, dense, {told}"
        rows += [
            row(f"{size}: p50", "ms", _p(taken["ours"], 50), peer="Chroma", theirs=_p(taken["theirs"], 50),
                floor=_p(taken["theirs"], 50) if filters else None),
            row(f"{size}: p95", "ms", _p(taken["ours"], 95), peer="Chroma", theirs=_p(taken["theirs"], 95)),
            row(f"{size}: recall@10 of the vector search", "", recall["ours"], bound="min", peer="Chroma", theirs=recall["theirs"],
                floor=min(recall["theirs"], 0.95) if filters else None),
        ]  # fmt: skip
    return rows


async def _ensemble(
    engine: RetrievalEngine,
    chunks: Sequence[Any],
    stored: FloatArray,
    texts: Sequence[str],
    vectors: FloatArray,
) -> list[Row]:
    from langchain_classic.retrievers import EnsembleRetriever
    from langchain_community.retrievers import BM25Retriever
    from langchain_core.documents import Document
    from langchain_core.embeddings import Embeddings
    from langchain_core.vectorstores import InMemoryVectorStore

    known = dict(zip(texts, vectors, strict=True))
    given = {chunk.id: vector for chunk, vector in zip(chunks, stored, strict=True)}

    class Given(Embeddings):
        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            return [given[text].tolist() for text in texts]

        def embed_query(self, text: str) -> list[float]:
            return list(known[text].tolist())

    made = [Document(chunk.text, id=chunk.id) for chunk in chunks]
    words = BM25Retriever.from_documents(made, k=TOP_K)
    store = InMemoryVectorStore(Given())
    # Its vectors are added by id, next to the texts.
    store.store = {
        str(document.id): {"id": document.id, "vector": given[str(document.id)].tolist(), "text": document.page_content, "metadata": {}}
        for document in made
    }  # fmt: skip
    ensemble = EnsembleRetriever(
        retrievers=[words, store.as_retriever(search_kwargs={"k": TOP_K})], weights=[0.5, 0.5]
    )

    async def ours(text: str) -> list[str]:
        return [result.id for result in await engine.search(DATASET, text, TOP_K)]

    async def theirs(text: str) -> list[str]:
        return [str(document.id) for document in await asyncio.to_thread(ensemble.invoke, text)]

    taken, _ = await _in_turns({"ours": ours, "theirs": theirs}, texts[:40])
    told = f"{len(chunks):,} chunks, hybrid, no filter"
    return [
        row(f"{told}: p50", "ms", _p(taken["ours"], 50), peer="EnsembleRetriever", theirs=_p(taken["theirs"], 50),
            floor=_p(taken["theirs"], 50)),
        row(f"{told}: p95", "ms", _p(taken["ours"], 95), peer="EnsembleRetriever", theirs=_p(taken["theirs"], 95)),
    ]  # fmt: skip


async def _in_turns(
    runs: dict[str, Asked], texts: Sequence[str]
) -> tuple[dict[str, list[float]], dict[str, list[list[str]]]]:
    taken: dict[str, list[float]] = {name: [] for name in runs}
    found: dict[str, list[list[str]]] = {name: [] for name in runs}
    for run in runs.values():
        await run(texts[0])
    for text in texts:
        for name, run in runs.items():
            started = time.perf_counter()
            found[name].append(await run(text))
            taken[name].append((time.perf_counter() - started) * 1e3)
    return taken, found


def _p(taken: Sequence[float], q: int) -> float:
    return float(np.percentile(taken, q))
