"""Gives every test of the graph store a fake embedding."""

from __future__ import annotations

import pytest

from agentic_rag.testing import HashingEmbedding


@pytest.fixture
def embedding() -> HashingEmbedding:
    return HashingEmbedding(256)
