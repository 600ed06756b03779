"""Metrics: one series per route, for any requested path."""

from __future__ import annotations

import re
from pathlib import Path

from agentic_rag import RagConfig
from service_server import called_service


async def test_methods_that_nobody_knows_are_one_series(tmp_path: Path) -> None:
    async with called_service(RagConfig(data_dir=tmp_path)) as client:
        for method in ("GET", "DELETE", "X1", "X2", "get", "X" * 5000):
            await client.request(method, "/healthz")
            await client.request(method, "/no/such/path")
        told = (await client.get("/metrics")).text
    methods = re.findall(r'request_seconds_count\{method="([^"]*)",route="/healthz"', told)
    assert sorted(methods) == ["DELETE", "GET", "other"]
