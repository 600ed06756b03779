"""The quality guard: the scores of the whole graph on a small judged set do not fall below earlier ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentic_rag import RagConfig, open_rag
from agentic_rag_lab.evaluation.run import EvalOptions, evaluate

SET = Path(__file__).resolve().parents[2] / "evaluation" / "datasets" / "vault_100"
QUERIES, FLOOR = 40, 0.71
"""How many queries, in English and Chinese, and the least MRR@10: some .03 below what was measured when it was last
set. ``evaluation/bench_quality.py`` asks the other sets."""


@pytest.mark.slow
@pytest.mark.timeout(600)
async def test_quality_does_not_fall(tmp_path: Path) -> None:
    async with open_rag(RagConfig(data_dir=tmp_path)) as rag:
        report = await evaluate(rag, SET, EvalOptions(("full",), limit=QUERIES))
    figures = report.systems["full"]
    assert figures["degraded"] == 0
    assert figures["mrr@10"]["value"] >= FLOOR
