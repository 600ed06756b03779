"""Reindex, evaluation and benchmark on a Ray cluster give the same results as one machine."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from lancedb.index import BTree
from lancedb.query import MatchQuery

from agentic_rag import RagConfig, open_rag
from agentic_rag.domain.ports import FloatArray
from agentic_rag.errors import ModelError
from agentic_rag.stores.lancedb import compaction, indexes
from agentic_rag.stores.lancedb.connection import lance_connection
from agentic_rag.stores.lancedb.full_text import full_text_index
from agentic_rag.testing import HashingEmbedding, TokenHashingEmbedding
from agentic_rag_backends.distributed import indexing
from agentic_rag_backends.distributed.cluster import open_cluster
from agentic_rag_lab.designs.config import parse_pipeline
from agentic_rag_lab.evaluation.bench.run import BenchOptions, run_bench
from agentic_rag_lab.evaluation.run import EvalOptions, evaluate
from beam_files import write
from example_vault import EXAMPLE_VAULT
from stored import tables

LABELLED = Path(__file__).parents[2] / "evaluation" / "datasets" / "vault_night_sky"


class BrokenEmbedding(HashingEmbedding):
    async def embed_passages(self, texts: Sequence[str]) -> FloatArray:
        raise ModelError("the model is out of order")


async def test_a_dataset_embedded_anew(address: str, tmp_path: Path) -> None:
    here, there = RagConfig(data_dir=tmp_path / "here"), RagConfig(data_dir=tmp_path / "there")
    for config in (here, there):
        async with open_rag(config, embedding=HashingEmbedding(16)) as rag:
            await rag.ingest(EXAMPLE_VAULT)
    async with open_rag(here, embedding=TokenHashingEmbedding(32)) as rag:
        expected = await rag.reindex()
    async with open_rag(there, embedding=TokenHashingEmbedding(32)) as rag:
        report = await rag.reindex(engine="ray", address=address)
    assert (report.rows, report.embedded) == (expected.rows, expected.embedded)
    one, two = await tables(here.data_dir), await tables(there.data_dir)
    assert one.rows == two.rows
    for name, vectors in one.vectors.items():
        assert all(np.array_equal(vector, two.vectors[name][key]) for key, vector in vectors.items()), name


async def test_a_model_that_fails_leaves_the_dataset_as_it_is(address: str, tmp_path: Path) -> None:
    config = RagConfig(data_dir=tmp_path / "data")
    async with open_rag(config, embedding=HashingEmbedding(16)) as rag:
        await rag.ingest(EXAMPLE_VAULT)
    before = await tables(config.data_dir)
    async with open_rag(config, embedding=BrokenEmbedding(32)) as rag:
        with pytest.raises(ModelError, match="the model is out of order"):
            await rag.reindex(engine="ray", address=address)
    assert (await tables(config.data_dir)).rows == before.rows


WORDS = "tea oolong leaf water kettle steam cup milk sugar honey lemon mint rose sencha matcha".split()
SCHEMA = pa.schema(
    [
        pa.field("id", pa.string(), nullable=False),
        pa.field("text", pa.string()),
        pa.field("vector", pa.list_(pa.float16(), 16), nullable=False),
    ]
)
PLAN = indexes.IndexPlan(
    (indexes.PlannedIndex("text", full_text_index), indexes.PlannedIndex("id", BTree)), vector_from=1_000
)


def some_rows(part: int) -> pa.Table:
    chance = random.Random(part)
    vectors = np.random.default_rng(part).normal(size=600 * 16).astype(np.float16)
    texts = [" ".join(chance.choices(WORDS, k=chance.randint(3, 20))) for _ in range(600)]
    return pa.table(
        {
            "id": [f"{part}-{number}" for number in range(600)],
            "text": texts,
            "vector": pa.FixedSizeListArray.from_arrays(pa.array(vectors), 16),
        },
        schema=SCHEMA,
    )


async def found(table: Any) -> list[Any]:
    """By words with scores, by vector and by key."""
    words = (
        table.query()
        .nearest_to_text(MatchQuery("oolong kettle", "text"))
        .select(["id", "_score"])
        .limit(2_400)
    )
    near = table.query().nearest_to([1.0] * 16).distance_type("cosine").nprobes(12).refine_factor(5)
    return [
        {(row["id"], round(row["_score"], 4)) for row in await words.to_list()},
        [row["id"] for row in await near.select(["id", "_distance"]).limit(10).to_list()],
        [row["text"] for row in await table.query().where("id = '2-77'").to_list()],
    ]


async def test_indexes_of_segments(address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They find what one index finds, and later rows are taken in."""
    monkeypatch.setattr(indexing, "INDEXED_APART", 1_000)
    monkeypatch.setattr(compaction, "MAX_ROWS", 600)
    async with open_cluster(address) as cluster, lance_connection(str(tmp_path)) as connection:
        tables = [await connection.create_table(name, SCHEMA, "id", None) for name in ("here", "there")]
        for table, builder in zip(tables, (indexes.BUILT_HERE, indexing.RayBuilder(cluster)), strict=True):
            await table.create_index("text", config=full_text_index())
            for part in range(3):
                await table.add(some_rows(part))
            await indexes.tidy_table(table, PLAN, table.name, builder=builder)
        here, there = tables
        kinds = {
            index.columns[0]: (index.num_segments, index.num_unindexed_rows)
            for index in await there.list_indices()
        }
        assert kinds == {"text": (2, 0), "id": (2, 0), "vector": (2, 0)}
        assert await found(there) == await found(here)
        for table in tables:
            await table.add(some_rows(3))
            await indexes.tidy_table(table, PLAN, table.name)
        assert {index.num_unindexed_rows for index in await there.list_indices()} == {0}
        assert await found(there) == await found(here)


async def test_systems_are_evaluated(address: str, tmp_path: Path) -> None:
    options = EvalOptions(systems=["dense", "full"], limit=12)

    async def figures(folder: str, options: EvalOptions) -> Any:
        async with open_rag(RagConfig(data_dir=tmp_path / folder), embedding=HashingEmbedding()) as rag:
            told: list[tuple[str, int, int]] = []
            report = await evaluate(rag, LABELLED, options, lambda *step: told.append(step))
        asked = [step for step in told if step[0] == "ask"]
        assert asked[-1][1] == asked[-1][2]
        for found in report.systems.values():
            found.pop("latency_ms")
        return report.systems, report.abstention

    assert await figures("here", options) == await figures(
        "there", replace(options, engine="ray", address=address)
    )


async def test_conversations_are_benchmarked(address: str, tmp_path: Path) -> None:
    chats = tmp_path / "chats"
    for number in ("1", "2"):
        write(chats / "100K" / number)
    design = parse_pipeline({"services": {"register_memory_service": "vector_memory"}}, name="vectors")

    async def figures_of(folder: str, **options: Any) -> dict[str, Any]:
        config = RagConfig(data_dir=tmp_path / folder)
        report = await run_bench(design, config, BenchOptions(data=chats, task_id="all", **options))
        again = await run_bench(design, config, BenchOptions(data=chats, task_id="all", **options))
        assert again.reused_answers == again.summary["questions"]
        return {
            key: report.summary[key]
            for key in ("questions", "tested", "failed", "overall", "beam", "inserts")
        }

    assert await figures_of("here") == await figures_of("there", engine="ray", address=address)
