"""The example vault, ingested once with the bundled model, for every test that only reads."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agentic_rag import Rag, RagConfig, open_rag
from example_vault import EXAMPLE_VAULT


@pytest.fixture(scope="session")
def example_data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Data folder with dataset ``default``; do not write to it."""
    folder = tmp_path_factory.mktemp("example") / "data"

    async def ingested() -> None:
        async with open_rag(RagConfig(data_dir=folder)) as rag:
            report = await rag.ingest(EXAMPLE_VAULT)
            assert report.count("failed") == 0

    asyncio.run(ingested())
    return folder


@pytest.fixture
async def example(example_data: Path) -> AsyncIterator[Rag]:
    async with open_rag(RagConfig(data_dir=example_data)) as rag:
        yield rag
