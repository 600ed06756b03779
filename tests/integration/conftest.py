"""The example vault, open, for every test that only reads."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agentic_rag import Rag, RagConfig, open_rag


@pytest.fixture
async def example(example_data: Path) -> AsyncIterator[Rag]:
    async with open_rag(RagConfig(data_dir=example_data)) as rag:
        yield rag
