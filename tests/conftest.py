"""Makes the modules beside it importable, and hands out the servers they start."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from local_openai_server import LocalOpenAIServer, running
from vector_stores import milvus_lite, postgres_server

# ranx, which tests agree with, compiles for a minute what then takes milliseconds either way.
os.environ.setdefault("NUMBA_DISABLE_JIT", "1")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Slow tests run without tracing, which makes them half as slow again; the quick ones cover the code."""
    for item in items:
        if item.get_closest_marker("slow"):
            item.add_marker("no_cover")


@pytest.fixture
def model_server() -> Iterator[LocalOpenAIServer]:
    """A local server that speaks the OpenAI protocol."""
    with running() as server:
        yield server


@pytest.fixture(scope="session")
def postgres_uri() -> Iterator[str]:
    """A PostgreSQL server with pgvector, one for all tests."""
    with postgres_server() as uri:
        yield uri


@pytest.fixture(scope="session")
def milvus_file(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A Milvus Lite file, one for all tests: to start its server takes longer than most of them."""
    with milvus_lite(tmp_path_factory.mktemp("milvus")) as file:
        yield file
