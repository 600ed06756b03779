"""Schemathesis sends unusual requests: no response is a server error, and each matches the API description."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from agentic_rag import RagConfig
from service_server import running_service

CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
)


@pytest.mark.slow
def test_every_answer_is_documented(example_data: Path, tmp_path: Path) -> None:
    data = Path(shutil.copytree(example_data, tmp_path / "data"))
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
    with running_service(RagConfig(data_dir=data)) as address:
        run = subprocess.run(
            [program, "run", f"{address}/openapi.json", *options],
            capture_output=True,
            text=True,
            cwd=tmp_path,
        )
    assert run.returncode == 0, run.stdout[-6000:]
