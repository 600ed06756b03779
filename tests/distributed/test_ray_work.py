"""Reindexing, evaluating and benchmarking on a Ray cluster give what one machine gives."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agentic_rag import RagConfig, open_rag
from agentic_rag.distributed import indexing
from agentic_rag.domain.ports import FloatArray
from agentic_rag.errors import ModelError
from agentic_rag.evaluation.bench.run import BenchOptions, run_bench
from agentic_rag.evaluation.run import EvalOptions, evaluate
from agentic_rag.lab.config import parse_pipeline
from agentic_rag.stores.lancedb import chunk_store, indexes
from agentic_rag.testing import HashingEmbedding, TokenHashingEmbedding
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


async def test_indexes_of_segments(address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They find what one index finds, and later rows are taken in."""
    monkeypatch.setattr(indexing, "INDEXED_APART", 200)
    monkeypatch.setattr(indexes, "VECTOR_INDEX_FROM", 200)
    monkeypatch.setattr(chunk_store, "VECTOR_INDEX_FROM", 200)
    built: list[str] = []
    build = indexing.RayBuilder._build
    monkeypatch.setattr(
        indexing.RayBuilder,
        "_build",
        lambda self, kind, *given: (built.append(kind), build(self, kind, *given))[1],
    )
    vault = Path(shutil.copytree(EXAMPLE_VAULT, tmp_path / "vault"))
    here, there = RagConfig(data_dir=tmp_path / "here"), RagConfig(data_dir=tmp_path / "there")
    async with (
        open_rag(here, embedding=HashingEmbedding()) as alone,
        open_rag(there, embedding=HashingEmbedding()) as many,
    ):
        await alone.ingest(vault)
        await many.ingest(vault, engine="ray", address=address)
        assert {"FTS", "IvfSq"} <= set(built)
        (vault / "Kettle.md").write_text("# Kettle\n\nA kettle boils water.\n", "utf-8")
        for rag in (alone, many):
            await rag.ingest(vault)
            await rag.chunks.optimize("default")
            (chunks,) = (await rag.chunks.stats("default")).tables
            assert chunks.unindexed_rows == 0
        for question in ("kettle", "oolong oxidation", "杀青"):
            for strategy in ("sparse", "dense"):
                one, two = [
                    {(hit.id, round(hit.score, 6)) for hit in await rag.search(question, strategy=strategy)}
                    for rag in (alone, many)
                ]
                assert one == two


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

    async def found(folder: str, **options: Any) -> dict[str, Any]:
        config = RagConfig(data_dir=tmp_path / folder)
        report = await run_bench(design, config, BenchOptions(data=chats, task_id="all", **options))
        again = await run_bench(design, config, BenchOptions(data=chats, task_id="all", **options))
        assert again.kept == again.summary["questions"]
        return {
            key: report.summary[key]
            for key in ("questions", "tested", "failed", "overall", "beam", "inserts")
        }

    assert await found("here") == await found("there", engine="ray", address=address)
