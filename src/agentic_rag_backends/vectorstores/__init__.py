"""The vector half on other stores: Chroma, Milvus, PostgreSQL. Not imported unless one is configured.

``adapter`` is the one implementation of ``ports.ChunkStore``; ``chroma``, ``milvus`` and ``pgvector`` answer the
few requests of ``backend``.
"""

from __future__ import annotations

import asyncio
import os
from importlib import import_module
from pathlib import Path

from agentic_rag.errors import ConfigError, needing
from agentic_rag.extensions import VectorStore
from agentic_rag.settings.addresses import is_http
from agentic_rag.settings.config import VectorsConfig
from agentic_rag_backends.vectorstores.adapter import VectorStoreChunks
from agentic_rag_backends.vectorstores.backend import VectorBackend

BACKENDS = {"chroma": "Chroma", "milvus": "Milvus", "pgvector": "PgVector"}
"""Module and class by ``vectors.backend``; each module needs the extra of its name."""
FILES = {"chroma": "chroma", "milvus": "milvus.db"}
"""Where an embedded store lies in the data folder if no URI says otherwise."""


async def open_vector_store(
    config: VectorsConfig, folder: Path, *, model: str, dimension: int
) -> VectorStoreChunks:
    """The chunk store of a configuration whose backend is one of ``BACKENDS``.

    Args:
        config: backend and URI.
        folder: the data folder, where an embedded store lies by default.
        model: name of the embedding model.
        dimension: length of its vectors.

    Raises:
        ConfigError: the backend needs a URI, or cannot use the one it was given.
        MissingExtra, StoreLocked, StoreAway, StoreError: see ``VectorBackend.open``.
    """
    uri = config.uri.get_secret_value() if config.uri is not None else None
    if uri is None:
        if config.backend not in FILES:
            raise ConfigError(
                f"vectors.backend is {config.backend!r} but vectors.uri is not set; "
                "set it to postgresql://user:password@host:port/database"
            )
        uri = str(folder / FILES[config.backend])
    elif config.backend in FILES:
        _check_address(uri)
    opened = await asyncio.to_thread(lambda: backend_class(config.backend).open(uri))
    return VectorStoreChunks(opened, model=model, dimension=dimension)


def backend_class(name: str) -> type[VectorBackend]:
    """The class of a backend, by its name in ``BACKENDS``.

    Raises:
        MissingExtra: its package is not installed.
    """
    before = dict(os.environ)
    try:
        with needing(f"the {BACKENDS[name]} backend", name):
            module = import_module(f"{__name__}.{name}")
    finally:  # Milvus's library reads a ``.env`` when it is imported
        for added in set(os.environ) - set(before):
            del os.environ[added]
        os.environ.update(before)
    found: type[VectorBackend] = getattr(module, BACKENDS[name])
    return found


def _check_address(uri: str) -> None:
    """Raises ``ConfigError`` for the address of a server that is none; it is not shown, for it may hold a password."""
    if "://" in uri and not is_http(uri):
        raise ConfigError(
            "vectors.uri cannot be read; write http://host:port, with a number as port, or the path of a folder or file"
        )


CHROMA = VectorStore(open_vector_store, FILES["chroma"])
MILVUS = VectorStore(open_vector_store, FILES["milvus"])
PGVECTOR = VectorStore(open_vector_store)
