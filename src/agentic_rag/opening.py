"""Opens the configured stores and models, and closes them with their owner."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from agentic_rag.backup import changing
from agentic_rag.domain.identity import digest, group_id
from agentic_rag.domain.ports import ChunkStore, Embedding, GraphStore, Ledger
from agentic_rag.errors import ConfigError, StoreError
from agentic_rag.extensions import VectorStore, load
from agentic_rag.memory.store import Turn
from agentic_rag.models.endpoint import Spending
from agentic_rag.rerank import BY_MODEL, Rerankers
from agentic_rag.retrieval.embedding_calibration import (
    EmbeddingCalibration,
    KeptLevels,
    reference_pairs_text,
)
from agentic_rag.retrieval.floor import Nats
from agentic_rag.settings.config import RagConfig
from agentic_rag.settings.parameters import RerankParameters
from agentic_rag.stores.data_folder import COPIES, VECTORS

if TYPE_CHECKING:
    from agentic_rag.domain.ports import TokenCounter
    from agentic_rag.retrieval.sources import Source
    from agentic_rag.stores.lancedb.connection import LanceConnection

Model = TypeVar("Model")
Reach = Callable[[], Awaitable[object]]
"""Raises ``StoreError`` if a store cannot be used."""


@dataclass(frozen=True, slots=True)
class Stores:
    """All stores that are written."""

    chunks: ChunkStore
    knowledge: GraphStore
    ledger: Ledger
    turn: Turn
    """A lock on a user's memories, across processes; its holder sees all earlier writes."""
    reach: Mapping[str, Reach]
    """Checks by the store's name in ``doctor``."""


async def open_stores(config: RagConfig, embedding: Embedding, stack: AsyncExitStack) -> Stores:
    """The configured stores, closed with the stack.

    Raises:
        ConfigError: the configuration contradicts itself.
        StoreError: one cannot be opened.
    """
    from agentic_rag.stores.data_format import checked_format
    from agentic_rag.stores.graphiti.store import GraphitiStore
    from agentic_rag.stores.lancedb.ledger import LanceLedger

    folder = await asyncio.to_thread(_make_folder, config.data_dir)
    await asyncio.to_thread(checked_format, folder)
    connection = _connection(config, folder)
    stack.push_async_callback(connection.close)
    with suppress(StoreError):  # a question reports it too
        await connection.ready()
    chunks, ledger = await _open_chunks(config, folder, connection, LanceLedger(connection), embedding, stack)
    knowledge = await GraphitiStore.open(
        connection=connection, folder=folder, embedding=embedding, graph=config.graph
    )
    stack.push_async_callback(knowledge.close)
    reach: dict[str, Reach] = {"vectors": connection.reach, "graph": knowledge.reach}
    if config.vectors.backend != "lancedb":
        reach |= {"tables": connection.reach, "vectors": chunks.datasets}
    return Stores(chunks, knowledge, ledger, _turns(connection, config), reach)


def _connection(config: RagConfig, folder: Path) -> LanceConnection:
    from agentic_rag.stores.lancedb.connection import LanceConnection

    if not config.lancedb_copies:
        uri = config.lancedb_uri or str(folder / VECTORS)
        return LanceConnection(uri, config.storage_options, locks=str(folder))
    if config.lancedb_uri is None:
        raise ConfigError(
            "lancedb_copies is set but lancedb_uri is not; set lancedb_uri, or unset lancedb_copies"
        )
    from agentic_rag.stores.lancedb.copies import CopiedConnection

    copies = folder / COPIES / digest(config.lancedb_uri)[:16]
    return CopiedConnection(config.lancedb_uri, config.storage_options, copies)


def check_writes(config: RagConfig) -> None:
    """Raises ``ConfigError`` if this process reads copies."""
    if config.lancedb_copies:
        raise ConfigError(
            "lancedb_copies is set, so this process cannot write; write from a process that has it unset"
        )


@asynccontextmanager
async def changing_stores(config: RagConfig) -> AsyncIterator[None]:
    """Held while an ingest, a removal, a reindex or a memory changes stored data; see ``backup.changing``.

    Raises:
        ConfigError: this process reads copies.
    """
    check_writes(config)
    async with changing(config.data_dir):
        yield


async def _open_chunks(
    config: RagConfig,
    folder: Path,
    connection: LanceConnection,
    ledger: Ledger,
    embedding: Embedding,
    stack: AsyncExitStack,
) -> tuple[ChunkStore, Ledger]:
    """The configured chunk store, and the ledger for use with that store."""
    model, dimension = embedding.name, embedding.dimension
    if config.vectors.backend == "lancedb":
        if config.vectors.uri is not None:
            raise ConfigError("vectors.uri is set but vectors.backend is 'lancedb'; set lancedb_uri instead")
        from agentic_rag.stores.lancedb.chunk_store import LanceChunkStore

        return LanceChunkStore(connection, model=model, dimension=dimension), ledger
    from agentic_rag.stores.checked_ledger import CheckedLedger

    store = vector_store(config.vectors.backend)
    chunks = await store.open(config.vectors, folder, model=model, dimension=dimension)
    closed_by(stack, chunks)
    return chunks, CheckedLedger(ledger, chunks)


def vector_store(backend: str) -> VectorStore:
    """The entry of ``vectors.backend`` in ``agentic_rag.vector_stores``; raises ``ConfigError`` if there is none."""
    store: VectorStore = load("vector_stores", backend, "vectors.backend", ("lancedb",), ConfigError)
    return store


def further_sources(config: RagConfig, stack: AsyncExitStack) -> dict[str, Source]:
    """The configured sources beside the graph and the vector store, closed with the stack if they have ``close``.

    Raises:
        ConfigError: no installed package has one of that name.
    """
    factories = {name: load("sources", name, "source", error=ConfigError) for name in config.sources}
    return {name: closed_by(stack, factory(config)) for name, factory in factories.items()}


def _make_folder(folder: Path) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(
            f"cannot make the data folder {folder}: {error.strerror or error}; choose another with --data-dir"
        ) from error
    if not os.access(folder, os.W_OK):
        raise StoreError(
            f"the data folder {folder} is not writable, and questions lock files there too; copy it to a writable place, "
            "or choose another with --data-dir"
        )
    return folder


def _turns(connection: LanceConnection, config: RagConfig) -> Turn:
    from agentic_rag.stores.lancedb.process_lock import process_lock

    @asynccontextmanager
    async def turn(dataset: str) -> AsyncIterator[None]:
        async with (
            changing_stores(config),
            process_lock(connection.locks, f"remembering-{group_id(dataset)}"),
        ):
            connection.refresh()
            yield

    return turn


async def embedding_from_config(config: RagConfig, spending: Spending | None = None) -> Embedding:
    """The configured embedding model; the bundled one if no endpoint is configured.

    Raises:
        ConfigError: the endpoint's model is not named.
        ModelError: the endpoint does not give the length of its vectors.
    """
    if config.embedding.base_url is None:
        from agentic_rag.models.bundled import BundledEmbedding

        return BundledEmbedding()
    from agentic_rag.models.embeddings import OpenAIEmbedding

    return await OpenAIEmbedding.open(config.embedding, spending)


@asynccontextmanager
async def opened_embedding(config: RagConfig, embedding: Embedding | None) -> AsyncIterator[Embedding]:
    """The given model, or the configured one; raises as ``embedding_from_config``."""
    async with AsyncExitStack() as stack:
        yield embedding or closed_by(stack, await embedding_from_config(config))


def closed_by(stack: AsyncExitStack, model: Model) -> Model:
    """The model; if it has connections, the stack closes them."""
    close = getattr(model, "close", None)
    if close is not None:
        stack.push_async_callback(close)
    return model


async def open_calibration(config: RagConfig, embedding: Embedding) -> EmbeddingCalibration:
    """The calibration of the model's cosines; the levels of a model other than the bundled one are cached in the
    data folder."""
    calibration = EmbeddingCalibration(embedding)
    if calibration.is_fitted:
        return calibration
    return EmbeddingCalibration(
        embedding, levels_file=await asyncio.to_thread(_kept_levels, config, embedding)
    )


def _kept_levels(config: RagConfig, embedding: Embedding) -> KeptLevels:
    """The cache file for the levels of the model's cosines; the key includes the query prefix."""
    from agentic_rag.stores.embedding_levels import FILE, LevelsFile

    told = digest(embedding.name, config.embedding.query_prefix, reference_pairs_text())
    return LevelsFile(config.data_dir / FILE, f"{embedding.name} {told}")


def open_budget(config: RagConfig, *, chats: bool) -> Spending:
    """The budget of the endpoints, with no usage yet.

    Raises:
        ConfigError: a budget is set, but the chat model's answers have no maximum length.
    """
    if config.budget.is_set and chats and config.chat.max_tokens is None:
        raise ConfigError("a budget needs chat.max_tokens, the limit on the length of an answer; set it")
    return Spending(config.budget)


async def check_reranker(parameters: RerankParameters, rerankers: Rerankers) -> None:
    """Load the configured model now, so that its errors are raised early; it stays loaded."""
    if parameters.method in BY_MODEL:
        await asyncio.to_thread(rerankers.model, parameters)


def word_nats() -> Nats:
    """The negative log-likelihood under the bundled model's vocabulary."""
    from agentic_rag.models.bundled import nats

    return nats


def token_counter() -> TokenCounter:
    """Counts the bundled model's tokens in a batch of texts; all token counts use it."""
    from agentic_rag.models.bundled import count_tokens_batch

    return count_tokens_batch
