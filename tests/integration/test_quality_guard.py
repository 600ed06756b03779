"""The quality guard: what the whole graph finds on small judged sets does not fall below what it found before."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentic_rag import RagConfig, open_rag
from agentic_rag.evaluation.run import EvalOptions, evaluate

ROOT = Path(__file__).resolve().parents[2]
SHARED = ROOT.parent / "shared" / "data" / "beir"

FLOORS = {
    ROOT / "evaluation" / "datasets" / "vault_100": (40, 0.71),
    SHARED / "cmrc2018" / "trial": (40, 0.93),
}
"""By set: how many queries, and the least MRR@10; some .03 below what was measured when they were last set."""


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("source", FLOORS, ids=lambda source: source.name)
async def test_quality_does_not_fall(source: Path, tmp_path: Path) -> None:
    if not source.is_dir():
        pytest.skip(f"{source.relative_to(ROOT.parent)} is not part of this project and is not there")
    limit, floor = FLOORS[source]
    async with open_rag(RagConfig(data_dir=tmp_path)) as rag:
        report = await evaluate(rag, source, EvalOptions(("full",), limit=limit))
    figures = report.systems["full"]
    assert figures["degraded"] == 0
    assert figures["mrr@10"]["value"] >= floor
