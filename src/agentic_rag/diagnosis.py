"""Checks of what is configured, reachable and installed, with a remedy for each problem; for ``doctor`` and the
health page."""

from __future__ import annotations

import asyncio
import importlib.metadata
import importlib.util
import os
import platform
import re
import shlex
import sys
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import AsyncExitStack
from dataclasses import asdict, dataclass, replace
from typing import Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, SecretStr

from agentic_rag.domain.identity import MEMORY_PREFIX, group_id, without_memories
from agentic_rag.domain.json_values import Json
from agentic_rag.domain.ports import Embedding
from agentic_rag.errors import AgenticRagError, StoreError, first_line, install
from agentic_rag.settings.addresses import without_login
from agentic_rag.settings.config import RagConfig
from agentic_rag.stores.data_folder import COPIES, REPAIR, REPAIRING, VECTORS

Status = Literal["ok", "off", "missing"]
PACKAGES = (
    "langgraph",
    "langchain-core",
    "graphiti-core",
    "lancedb",
    "pylance",
    "openai",
    "onnxruntime",
)
EXTRAS = {
    "service, page, MCP, watch": ("fastapi", "service"),
    "PDF and Office documents": ("pypdfium2", "documents"),
    "pictures and scans of text": ("rapidocr", "ocr"),
    "cross-encoder": ("sentence_transformers", "rerank"),
    "LangGraph Studio": ("langgraph_api", "studio"),
    "FalkorDB": ("falkordb", "falkordb"),
    "Chroma": ("chromadb", "chroma"),
    "Milvus": ("pymilvus", "milvus"),
    "vectors in PostgreSQL": ("pgvector", "pgvector"),
    "conversations in PostgreSQL": ("psycopg_pool", "postgres"),
    "Ray": ("ray", "distributed"),
    "charts": ("matplotlib", "charts"),
}
REACH_SECONDS, STORE_SECONDS, WRITES_SECONDS = 3.0, 10.0, 60.0
SCRIPTS = {"latin": "English", "cjk": "Chinese"}
"""The command that repairs damaged files, and its folder in the data folder while it runs."""
TELLS_APART = 2.0
"""Minimum distance of related from unrelated texts, in standard deviations of the unrelated; in languages that a
model has learnt it is 4 to 6."""


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check; ``cure`` is the command or setting that repairs it, or turns on what is off."""

    what: str
    status: Status
    detail: str
    cure: str | None = None

    def to_dict(self) -> Json:
        """Plain values."""
        return asdict(self)


Check = Callable[[RagConfig], Awaitable[Finding]]


async def examine(load: Callable[[], RagConfig], *, thorough: bool = False) -> list[Finding]:
    """Run all checks; the failure of one does not hide the others.

    ``thorough``: also reads every row, which takes seconds in a large data folder, and tests concurrent writes on an
    object store with a temporary table. Otherwise nothing is written.
    """
    findings = [_python(), *_packages()]
    try:
        config = load()
    except AgenticRagError as error:
        return [
            *findings,
            Finding("configuration", "missing", str(error), "correct the setting that it names"),
        ]
    checks = {
        "data folder": _data_folder,
        "embedding": _embedding,
        **_stores(config, thorough=thorough),
        "datasets": _datasets,
        "graph": _graph,
        "conversations": _conversations,
        "chat model": _chat,
    }
    findings += [await _safely(what, check, config) for what, check in checks.items()]
    return [*findings, *_extras()]


def _stores(config: RagConfig, *, thorough: bool) -> dict[str, Check]:
    """Checks of the vector store and of LanceDB's tables."""
    place = _written_object_store if thorough else _object_store
    if config.vectors.backend == "lancedb":
        return {"vectors": place, **({"tables": _tables} if thorough else {})}
    return {"vectors": _vector_store, "tables": _tables if thorough and config.lancedb_uri is None else place}


async def _safely(what: str, check: Check, config: RagConfig) -> Finding:
    try:
        return replace(await check(config), what=what)
    except AgenticRagError as error:
        cure = REPAIR if f"run: {REPAIR}" in str(error) else "correct what the message names"
        return Finding(what, "missing", str(error), cure)
    except Exception as error:  # noqa: BLE001 - whatever a library raises, the other checks are still to be made
        return Finding(what, "missing", _foreign(error, config), "correct what the message names")


def _foreign(error: Exception, config: RagConfig) -> str:
    """A library's error on one line; only its type if its text contains a secret."""
    kind, line = type(error).__name__, first_line(error)
    if line == kind or any(secret in line for secret in _secrets(config) if secret):
        return kind
    return f"{kind}: {line}"


def _secrets(value: object) -> Iterator[str]:
    """Texts of the configuration that are never printed: secrets, and all parts of URLs but scheme, host and path."""
    if isinstance(value, BaseModel):
        for name in type(value).model_fields:
            yield from _secrets(getattr(value, name))
    elif isinstance(value, SecretStr):
        yield value.get_secret_value()
        yield from _secrets(value.get_secret_value())
    elif isinstance(value, Mapping):
        yield from value.values()
    elif isinstance(value, tuple):
        for one in value:
            yield from _secrets(one)
    elif isinstance(value, str) and "://" in value:
        login, query = value.rpartition("@")[0].partition("://")[2], value.partition("?")[2]
        yield from re.split(r"[/:@?&=#]", f"{login}&{query}")


def _python() -> Finding:
    version = platform.python_version()
    good = sys.version_info[:2] >= (3, 11)
    return Finding(
        "python", "ok" if good else "missing", version, None if good else "install Python 3.11 or newer"
    )


def _packages() -> list[Finding]:
    findings = []
    for name in PACKAGES:
        try:
            findings.append(Finding(name, "ok", importlib.metadata.version(name)))
        except importlib.metadata.PackageNotFoundError:
            findings.append(Finding(name, "missing", "not installed", f"pip install {name}"))
    return findings


async def _data_folder(config: RagConfig) -> Finding:
    folder = config.data_dir
    if not folder.exists():
        return Finding(
            "data folder",
            "off",
            f"{folder} does not exist yet; the first ingest creates it",
            "agentic-rag ingest PATH",
        )
    if not os.access(folder, os.W_OK):
        cure = f"chmod u+w {shlex.quote(str(folder))}, or --data-dir"
        return Finding("data folder", "missing", f"{folder} is not writable", cure)
    from agentic_rag.stores.lancedb.sizes import folder_bytes

    size = await asyncio.to_thread(folder_bytes, folder)
    return Finding("data folder", "ok", f"{folder}, {size / 1e6:.1f} MB")


async def _embedding(config: RagConfig) -> Finding:
    from agentic_rag.opening import opened_embedding

    async with opened_embedding(config, None) as model:
        vectors = await model.embed_queries(["ready?"])
        relevance = await _relevance(model)
    return Finding("embedding", "ok", f"{model.name}, {vectors.shape[1]} dimensions; {relevance}")


async def _relevance(model: Embedding) -> str:
    """How relevance is calibrated for the model."""
    from agentic_rag.retrieval.embedding_calibration import EmbeddingCalibration, measure_model

    if EmbeddingCalibration(model).is_fitted:
        return "its relevance is calibrated"
    told = (await measure_model(model)).levels
    hardly = [name for pair, name in SCRIPTS.items() if told[pair].apart < TELLS_APART]
    by_pairs = "its relevance is calibrated by reference pairs"
    return by_pairs + (
        f"; it hardly tells related from unrelated {' and '.join(hardly)} texts" if hardly else ""
    )


async def _datasets(config: RagConfig) -> Finding:
    if not config.data_dir.exists():
        return Finding("datasets", "off", "none yet", "agentic-rag ingest PATH")
    from agentic_rag.rag import open_rag

    async with open_rag(config) as rag:
        names = await rag.ledger.datasets()
        held = [f"{name} ({await rag.chunks.count(name)} chunks)" for name in names]
        pending = [
            f"{name}: {document}"
            for name in names
            for document, record in (await rag.ledger.records(name)).items()
            if record.pending
        ]
    if pending:
        return Finding(
            "datasets",
            "missing",
            f"an ingest or remove was interrupted: {len(pending)} documents pending, {', '.join(pending[:3])}",
            "run the same command again",
        )
    return Finding(
        "datasets", "ok" if held else "off", ", ".join(held) or "none yet", "agentic-rag ingest PATH"
    )


async def _graph(config: RagConfig) -> Finding:
    graph = config.graph
    if graph.backend == "embedded":
        return Finding("graph", "ok", "embedded, in the data folder")
    from agentic_rag.stores.graph.servers import graph_server

    driver = graph_server(graph.backend).driver(graph, None)
    try:
        await driver.reach()
    finally:
        await driver.close()
    return Finding("graph", "ok", driver.description)


async def _vector_store(config: RagConfig) -> Finding:
    """Opens the configured store beside LanceDB and lists its datasets."""
    from agentic_rag.opening import closed_by, vector_store

    backend, uri = config.vectors.backend, config.vectors.uri
    kind = vector_store(backend)
    if uri is None and kind.file is not None and not (config.data_dir / kind.file).exists():
        return Finding(
            "vectors", "off", f"{backend}, none yet in {config.data_dir}", "agentic-rag ingest PATH"
        )
    async with AsyncExitStack() as stack:
        store = await kind.open(config.vectors, config.data_dir, model="", dimension=1)
        closed_by(stack, store)
        description = getattr(store, "description", backend)
        try:
            async with asyncio.timeout(STORE_SECONDS):
                names = await store.datasets()
        except TimeoutError:
            stack.pop_all()  # closing the store would wait for its answer
            cure = "restart it, or correct vectors.uri"
            return Finding("vectors", "missing", f"{description}: no answer within {STORE_SECONDS:g} s", cure)
    return Finding("vectors", "ok", f"{description}, {len(without_memories(names))} datasets")


async def _object_store(config: RagConfig) -> Finding:
    uri = config.lancedb_uri
    if uri is None and config.lancedb_copies:
        cure = "set AGENTIC_RAG_LANCEDB_URI, or leave AGENTIC_RAG_LANCEDB_COPIES out"
        return Finding("vectors", "missing", "lancedb_copies is set but lancedb_uri is not", cure)
    if uri is None or "://" not in uri:
        return Finding("vectors", "ok", f"in {uri or config.data_dir}")
    from agentic_rag.stores.lancedb.connection import lance_connection

    place = without_login(uri)
    cure = "start the object store, or correct AGENTIC_RAG_LANCEDB_URI and AGENTIC_RAG_STORAGE_OPTIONS"
    try:
        async with (
            asyncio.timeout(STORE_SECONDS),
            lance_connection(uri, config.storage_options) as connection,
        ):
            held = len(await connection.table_names())
    except TimeoutError:
        return Finding("vectors", "missing", f"{place}: no answer within {STORE_SECONDS:g} s", cure)
    except StoreError as error:
        return Finding("vectors", "missing", str(error), cure)
    return Finding("vectors", "ok", f"{place}, {held} tables")


async def _written_object_store(config: RagConfig) -> Finding:
    """``_object_store``, and whether the object store keeps concurrent writes apart."""
    found = await _object_store(config)
    uri = config.lancedb_uri
    if found.status != "ok" or uri is None or "://" not in uri:
        return found
    if config.lancedb_copies:
        from agentic_rag.stores.lancedb.sizes import folder_bytes

        held = await asyncio.to_thread(folder_bytes, config.data_dir / COPIES)
        return replace(found, detail=f"{found.detail}; read from local copies, {held / 1e6:.0f} MB")
    from agentic_rag.stores.lancedb.commits import ROUNDS, WRITERS, lost_writes

    place = without_login(uri)
    bucket = place.split("://", 1)[1]
    cure = (
        f"AGENTIC_RAG_LANCEDB_URI=s3+ddb://{bucket}?ddbTableName=TABLE, a DynamoDB table with the keys base_uri (text) "
        "and version (number); or write from one machine"
    )
    try:
        async with asyncio.timeout(WRITES_SECONDS):
            lost = await lost_writes(uri, config.storage_options)
    except TimeoutError:
        return Finding(
            "vectors", "missing", f"{place}: the test writes did not end within {WRITES_SECONDS:g} s", cure
        )
    except StoreError as error:
        return Finding("vectors", "missing", str(error), cure)
    if lost is None:
        return Finding("vectors", "missing", f"{place}: the store refuses conditional writes", cure)
    if lost:
        why = (
            f"{lost} of {WRITERS * ROUNDS} concurrent writes were lost: the store ignores conditional writes"
        )
        return Finding("vectors", "missing", f"{place}: {why}", cure)
    return Finding("vectors", "ok", f"{found.detail}; concurrent writes are safe")


async def _tables(config: RagConfig) -> Finding:
    """Reads every row and index of the data folder."""
    folder = config.data_dir / VECTORS
    if config.lancedb_uri is not None or not folder.exists():
        return Finding("tables", "off", "not in the data folder", "agentic-rag ingest PATH")
    from agentic_rag.stores.lancedb.damage import all_damages, table_names

    # Whether a user has memories is private.
    hidden = "_" + group_id(MEMORY_PREFIX + "x")[:-2]
    damages = await all_damages(folder, table_names(folder))
    told = [
        f"{'a table of memories' if hidden in damage.table else damage.table} ({damage.reason})"
        for damage in damages
    ]
    if (config.data_dir / REPAIRING).exists():
        told.append("a repair was interrupted")
    if told:
        return Finding("tables", "missing", "; ".join(told), REPAIR)
    return Finding("tables", "ok", f"all rows and indexes of {len(table_names(folder))} tables can be read")


async def _conversations(config: RagConfig) -> Finding:
    if config.service.conversations is None:
        from agentic_rag.stores.checkpoints import FILE, is_database

        file = config.data_dir / FILE
        if file.exists() and not is_database(file):
            return Finding("conversations", "missing", f"{file} cannot be read", REPAIR)
        return Finding("conversations", "ok", "SQLite, in the data folder")
    from agentic_rag.stores.checkpoints import kept_conversations

    async with kept_conversations(config):
        return Finding("conversations", "ok", "PostgreSQL")


async def _chat(config: RagConfig) -> Finding:
    chat = config.chat
    if chat.base_url is None:
        cure = "set AGENTIC_RAG_CHAT__BASE_URL and AGENTIC_RAG_CHAT__MODEL"
        return Finding("chat model", "off", "none configured; answers quote the notes", cure)
    detail = f"{chat.model} at {without_login(chat.base_url)}"
    problem = await _unreachable(chat.base_url)
    if problem is None:
        return Finding("chat model", "ok", detail)
    cure = "start the server, or correct AGENTIC_RAG_CHAT__BASE_URL"
    return Finding("chat model", "missing", f"{detail}: {problem}", cure)


async def _unreachable(uri: str) -> str | None:
    """Why no server answers at a URI; None if one does."""
    parts = urlsplit(uri)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    try:
        async with asyncio.timeout(REACH_SECONDS):
            _, writer = await asyncio.open_connection(parts.hostname, port)
    except TimeoutError:
        return f"no answer within {REACH_SECONDS:g} s"
    except OSError as error:
        return error.strerror or str(error)
    writer.close()
    return None


def _extras() -> list[Finding]:
    findings = []
    for what, (module, extra) in EXTRAS.items():
        have = importlib.util.find_spec(module) is not None
        detail = "installed" if have else "not installed"
        findings.append(Finding(what, "ok" if have else "off", detail, install(extra)))
    return findings
