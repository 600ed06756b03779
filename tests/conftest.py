"""Makes the modules beside it importable, and hands out the servers they start."""

from __future__ import annotations

import asyncio
import fcntl
import os
import ssl
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from httpx._transports import default
from hypothesis import HealthCheck, settings

from agentic_rag import RagConfig, open_rag
from example_vault import EXAMPLE_VAULT
from graph_servers import GraphServer, falkordb_server, neo4j_server
from local_openai_server import LocalOpenAIServer, running
from object_store import ObjectStore, s3_server
from vector_stores import milvus_lite, postgres_server

# ranx, which tests agree with, compiles for a minute what then takes milliseconds either way.
os.environ.setdefault("NUMBA_DISABLE_JIT", "1")
# A loaded machine is slow, and the first example loads models and dictionaries.
settings.register_profile(
    "tests", max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("tests")
# Run by themselves: by make test-browser, for they need a browser and tools from npm, and by make test-distributed, for
# they start a Ray cluster.
APART = {"browser": "AGENTIC_RAG_BROWSER", "distributed": "AGENTIC_RAG_RAY"}
collect_ignore = [folder for folder, asked in APART.items() if not os.environ.get(asked)]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Slow tests first, so that no worker is left alone with one at the end."""
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Slow tests run untraced: coverage makes them up to four times as slow, and the quick ones cover the same code.

    pytest-cov's mark for it, ``no_cover``, does nothing in xdist's workers.
    """
    tracing = sys.gettrace()
    if item.get_closest_marker("slow"):
        sys.settrace(None)
    try:
        return (yield)
    finally:
        sys.settrace(tracing)


@pytest.fixture(autouse=True)
def _one_try(monkeypatch: pytest.MonkeyPatch) -> None:
    """A test of a failing endpoint does not wait for further tries; those that are about them set their number."""
    monkeypatch.setattr("agentic_rag.models.endpoint.TRIES", 1)


@pytest.fixture(scope="session", autouse=True)
def _certificates_read_once() -> Iterator[None]:
    """httpx reads the certificates of every authority for each of its clients, which takes as long as a request."""
    read_anew = default.create_ssl_context
    usual = read_anew()

    def known(verify: Any = True, cert: Any = None, trust_env: bool = True) -> ssl.SSLContext:
        is_usual = (
            verify is True and cert is None and not os.environ.keys() & {"SSL_CERT_FILE", "SSL_CERT_DIR"}
        )
        return usual if is_usual else read_anew(verify, cert, trust_env)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(default, "create_ssl_context", known)
        yield


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


@pytest.fixture(scope="session")
def falkordb(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GraphServer]:
    """A FalkorDB server, one for all tests; its ``options`` empty it."""
    with falkordb_server(tmp_path_factory.mktemp("falkordb")) as server:
        yield server


@pytest.fixture(scope="session")
def neo4j(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GraphServer]:
    """A Neo4j server, one for all tests; its ``options`` empty it."""
    with neo4j_server(tmp_path_factory.mktemp("neo4j")) as server:
        yield server


@pytest.fixture(scope="session")
def object_store() -> Iterator[ObjectStore]:
    """An object store, one for all tests; each takes an empty place of it."""
    with s3_server() as store:
        yield store


@pytest.fixture(scope="session")
def example_data(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """Data folder with the example vault as dataset ``default``, ingested once for all workers; do not write to it."""
    shared = tmp_path_factory.getbasetemp()
    if worker_id != "master":
        shared = shared.parent
    folder = shared / "example-data"
    with (shared / "example-data.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            asyncio.run(_ingest_example(shared / "example-data.new"))
            (shared / "example-data.new").rename(folder)
    return folder


async def _ingest_example(folder: Path) -> None:
    async with open_rag(RagConfig(data_dir=folder)) as rag:
        report = await rag.ingest(EXAMPLE_VAULT)
        assert report.count("failed") == 0
