"""Schemathesis sends unusual requests: no response is a server error, and each matches the API description."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from agentic_rag import RagConfig, open_rag
from agentic_rag.testing import HashingEmbedding
from example_vault import EXAMPLE_VAULT
from service_server import running_service

CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
)


async def ingested(config: RagConfig) -> None:
    async with open_rag(config, embedding=HashingEmbedding()) as rag:
        await rag.ingest(EXAMPLE_VAULT / "processing")


@pytest.mark.slow
def test_every_answer_is_documented(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On few notes, and without a model: what an answer may look like depends on neither."""
    config = RagConfig(data_dir=tmp_path / "data")
    asyncio.run(ingested(config))
    monkeypatch.setattr("agentic_rag_service.app.open_rag", partial(open_rag, embedding=HashingEmbedding()))
    program = str(Path(sys.executable).with_name("schemathesis"))
    options = [
        "--phases",
        "coverage,fuzzing",
        "--max-examples",
        "5",
        "--seed",
        "1",
        "--checks",
        ",".join(CHECKS),
    ]
    options += ["--suppress-health-check", "all", "--no-color"]
    with running_service(config) as address:
        run = subprocess.run(
            [program, "run", f"{address}/openapi.json", *options],
            capture_output=True,
            text=True,
            cwd=tmp_path,
        )
    assert run.returncode == 0, run.stdout[-6000:]
