"""Gives every test of the graph store a fake embedding."""

from __future__ import annotations

from typing import Any

import pytest

from agentic_rag.testing import HashingEmbedding


@pytest.fixture
def embedding() -> HashingEmbedding:
    return HashingEmbedding(256)


@pytest.fixture
def options(request: pytest.FixtureRequest) -> dict[str, Any]:
    """How to open a store on the backend that ``BACKENDS`` names."""
    return (
        {"graph": request.getfixturevalue(request.param).emptied()}
        if request.param in ("falkordb", "neo4j")
        else {}
    )
