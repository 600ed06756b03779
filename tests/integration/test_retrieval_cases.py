"""The cases that the retrieval module was asked for, on the bundled model and LanceDB."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from agentic_rag.domain import Chunk, search_text
from agentic_rag.domain.ports import EmbeddedDocument
from agentic_rag.models.bundled import BundledEmbedding
from agentic_rag.retrieval import RetrievalEngine
from agentic_rag.stores.lancedb.chunk_store import LanceChunkStore
from agentic_rag.stores.lancedb.connection import lance_connection

NOTES: list[tuple[str, dict[str, Any]]] = [
    ("苹果是水果", {"lang": "zh"}),
    ("合同条款：付款期限为三十天，逾期按日计息。", {"year": 2022}),
    ("合同条款：付款期限为六十天，违约金为百分之五。", {"year": 2023}),
    ("The quarterly report covers revenue and costs.", {"year": 2023}),
    ("Green tea leaves are not oxidised.", {"topic": ["tea"]}),
]
GIBBERISH = [
    "asdkjh qwoeiu zxcmnb", "xq zv kw pt", "驫龘鬱纛籲", "@@@### $$$", "zzzz", "x9f8 q2w3 7h6j",
    "qqqqqqqq", "ξψζ φθδ", "fjdksla; fjdksla;", "�" * 12, "lkjhgfdsa poiuytrewq", "㍿㌀㌁",
]  # fmt: skip


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[RetrievalEngine]:
    embedding = BundledEmbedding()
    async with lance_connection(str(tmp_path)) as connection:
        store = LanceChunkStore(connection, model=embedding.name, dimension=embedding.dimension)
        chunks = [
            Chunk(f"d{n}#0", f"d{n}", text, 0, len(text), 0, "", f"d{n}", "paragraph", metadata=metadata)
            for n, (text, metadata) in enumerate(NOTES)
        ]
        vectors = await embedding.embed_passages([search_text(chunk) for chunk in chunks])
        await store.replace_documents(
            "notes", [EmbeddedDocument(c.document_id, (c,), vectors[i : i + 1]) for i, c in enumerate(chunks)]
        )
        yield RetrievalEngine(store, embedding)


@pytest.mark.parametrize("query", ["Apple 是什么类别", "苹果属于什么", "What category is an apple?"])
async def test_meaning_across_languages(engine: RetrievalEngine, query: str):
    best, *others = await engine.search("notes", query)
    assert best.content == "苹果是水果"
    assert all(best.score > other.score for other in others)
    assert all(best.legs["dense"].score > o.legs["dense"].score for o in others if "dense" in o.legs)


async def test_the_cosine_of_the_first_case(engine: RetrievalEngine):
    best, *others = await engine.search("notes", "Apple 是什么类别")
    assert best.legs["dense"].score > 0.8
    assert len(others) == 3


@pytest.mark.parametrize("strategy", ["hybrid", "dense", "sparse"])
async def test_a_filter_leaves_out_what_does_not_pass(engine: RetrievalEngine, strategy: Any):
    found = await engine.search("notes", "合同条款", filters={"year": 2023}, strategy=strategy)
    assert found[0].content == NOTES[2][0]
    assert all(result.metadata["year"] == 2023 for result in found)


@pytest.mark.parametrize("strategy", ["hybrid", "dense", "sparse"])
async def test_gibberish_finds_nothing(engine: RetrievalEngine, strategy: Any):
    for query in GIBBERISH:
        assert await engine.search("notes", query, strategy=strategy) == [], query


async def test_a_threshold_is_a_relevance_under_every_strategy(engine: RetrievalEngine):
    for strategy in ("hybrid", "dense", "sparse"):
        every = await engine.search("notes", "合同付款期限", strategy=strategy)  # type: ignore[arg-type]
        cut = await engine.search("notes", "合同付款期限", score_threshold=0.5, strategy=strategy)  # type: ignore[arg-type]
        assert cut == [result for result in every if result.score >= 0.5]
