"""The whole application on each vector store: it finds the same notes as on LanceDB."""

from __future__ import annotations

import asyncio
import sys
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from agentic_rag import Rag, RagConfig, open_rag
from agentic_rag.errors import ConfigError, MissingExtra, StoreAway
from agentic_rag.graph import build_rag_graph
from agentic_rag.retrieval.sources import VectorSource
from agentic_rag.testing import HashingEmbedding
from example_vault import EXAMPLE_VAULT
from vector_stores import EXTRAS, skip_without, uri_of

QUESTIONS = ["At what temperature is green tea steeped?", "Who picks the leaves in Fujian?", "杀青 萎凋"]


async def found(rag: Rag) -> dict[str, Any]:
    """What searches and the graph say, by question."""
    said: dict[str, Any] = {
        "datasets": await rag.ledger.datasets(),
        "chunks": await rag.chunks.count("default"),
    }
    # Word scores differ a little from store to store; cosines do not.
    with patch("agentic_rag.graph.VectorSource", partial(VectorSource, strategy="dense")):
        graph = build_rag_graph(rag.parts, rag.config).compile()
    for question in QUESTIONS:
        for filters in (None, {"tags": {"$exists": True}}, {"date": {"$gte": "2024-05-01"}}):
            results = await rag.search(question, strategy="dense", top_k=1000, filters=filters)
            cosines = {result.id: pytest.approx(result.legs["dense"].score, abs=1e-3) for result in results}
            said[f"{question} {filters}"] = cosines
        state = await graph.ainvoke({"query": question, "operation": "document_retrieval"})
        said[f"first of {question}"] = state["reranked_results"][0]["id"]
        assert state["lancedb_outcome"]["status"] == "ok", state["lancedb_outcome"]
        assert state["answer"]
    return said


@pytest.fixture(scope="module")
def on_lancedb(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    async def expected() -> dict[str, Any]:
        config = RagConfig(data_dir=tmp_path_factory.mktemp("reference"))
        async with open_rag(config, embedding=HashingEmbedding()) as rag:
            await rag.ingest(EXAMPLE_VAULT)
            return await found(rag)

    return asyncio.run(expected())


@pytest.mark.slow
@pytest.mark.parametrize("backend", list(EXTRAS))
async def test_the_same_is_found_as_on_lancedb(
    backend: str, on_lancedb: dict[str, Any], tmp_path: Path, request: pytest.FixtureRequest
):
    skip_without(backend)
    vectors = {"backend": backend, "uri": uri_of(backend, tmp_path, request)}
    config = RagConfig(data_dir=tmp_path / "data", vectors=vectors)
    embedding = HashingEmbedding()
    async with open_rag(config, embedding=embedding) as rag:
        report = await rag.ingest(EXAMPLE_VAULT)
        assert report.count("failed") == 0
        assert await found(rag) == on_lancedb
        embedding.embedded_texts.clear()
        again = await rag.ingest(EXAMPLE_VAULT)
        assert again.count("unchanged") == len(again.files)
        assert embedding.embedded_texts == []
        retriever = rag.retrieval.as_retriever("default", top_k=3)
        assert [d.id for d in await retriever.ainvoke(QUESTIONS[0])] == [
            result.id for result in await rag.search(QUESTIONS[0], top_k=3)
        ]
    async with open_rag(config, embedding=embedding) as rag:
        assert await found(rag) == on_lancedb


async def test_another_store_is_filled_by_the_next_ingest(tmp_path: Path):
    """The ledger stays in the data folder, and must not say of an empty store that nothing is to be done."""
    skip_without("chroma")
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "tea.md").write_text("Oolong comes from Fujian.", encoding="utf-8")
    data = tmp_path / "data"
    async with open_rag(RagConfig(data_dir=data), embedding=HashingEmbedding()) as rag:
        await rag.ingest(tmp_path / "notes")
    config = RagConfig(data_dir=data, vectors={"backend": "chroma"})
    async with open_rag(config, embedding=HashingEmbedding()) as rag:
        assert [record.pending for record in (await rag.ledger.records("default")).values()] == [True]
        await rag.ingest(tmp_path / "notes")
        assert [record.pending for record in (await rag.ledger.records("default")).values()] == [False]
        assert len(await rag.search("oolong")) == 1
    assert (data / "chroma").is_dir()


@pytest.mark.parametrize(
    ("vectors", "kind", "told"),
    [
        ({"backend": "pgvector"}, ConfigError, r"vectors\.uri is not set"),
        ({"uri": "postgresql://ada:secret@127.0.0.1/notes"}, ConfigError, "set lancedb_uri instead"),
        (
            {"backend": "pgvector", "uri": "postgresql://ada:secret@127.0.0.1:1/notes"},
            StoreAway,
            "PostgreSQL at postgresql://127.0.0.1:1/notes cannot be used",
        ),
    ],
)
async def test_what_cannot_be_opened_is_told_at_once(
    vectors: dict[str, str], kind: type[Exception], told: str, tmp_path: Path
):
    skip_without("pgvector")
    with pytest.raises(kind, match=told) as caught:
        async with open_rag(RagConfig(data_dir=tmp_path, vectors=vectors), embedding=HashingEmbedding()):
            pass
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(("backend", "package"), EXTRAS.items())
async def test_a_missing_package_names_its_extra(
    backend: str, package: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.delitem(sys.modules, f"agentic_rag_backends.vectorstores.{backend}", raising=False)
    monkeypatch.setitem(sys.modules, package, None)
    vectors = {"backend": backend, "uri": "postgresql://localhost/x" if backend == "pgvector" else None}
    with pytest.raises(MissingExtra, match=rf"pip install '\.\[{backend}\]'"):
        async with open_rag(RagConfig(data_dir=tmp_path, vectors=vectors), embedding=HashingEmbedding()):
            pass
