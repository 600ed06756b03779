"""``ports.GraphStore`` on Graphiti: the graph in LanceDB alone or on a server too, every search answered by LanceDB."""

from __future__ import annotations

import asyncio
import importlib
import json
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agentic_rag.domain import Chunk, DocumentGraph, FactHit
from agentic_rag.domain.identity import episode_uuid, group_id
from agentic_rag.domain.ports import Embedding, FloatArray, GraphCounts, GraphLinks, GraphQuery, StoreStats
from agentic_rag.errors import AgenticRagError, StoreError, first_line
from agentic_rag.settings.config import GraphConfig
from agentic_rag.stores.graph.chunks import READ_BY, is_chunk, to_chunk
from agentic_rag.stores.graph.commit import Committer
from agentic_rag.stores.graph.links import LinkReader
from agentic_rag.stores.graph.mirror import Mirror
from agentic_rag.stores.graph.rows import utc
from agentic_rag.stores.graph.schemas import Row, Scope
from agentic_rag.stores.graph.searching import Searcher
from agentic_rag.stores.graph.servers import GraphServer, graph_server
from agentic_rag.stores.graph.settling import Settling
from agentic_rag.stores.graph.tables import GraphTables
from agentic_rag.stores.graph.transactions import TableTransactions
from agentic_rag.stores.graph.writing import GraphWriter
from agentic_rag.stores.lancedb.connection import LanceConnection
from agentic_rag.stores.lancedb.indexes import BUILT_HERE, IndexBuilder
from agentic_rag.stores.lancedb.vector_tables import VectorTable

if TYPE_CHECKING:
    from agentic_rag.stores.graphiti.library import Graphiti

_OF_CHUNKS = ("uuid", "name", "content", "metadata")
"""Columns of an episode that make a chunk."""


class GraphitiStore:
    """A temporal knowledge graph whose episodes are the chunks; open it with ``open``.

    Belongs to the event loop it was opened in.
    """

    def __init__(
        self, connection: LanceConnection, folder: Path, embedding: Embedding, server: GraphServer | None
    ) -> None:
        self._connection = connection
        self._folder = folder
        self._embedding = embedding
        self._mirror = server.mirror if server else Mirror()
        self._tables = GraphTables(connection, model=embedding.name, dimension=embedding.dimension)
        self._links = LinkReader(self._tables, folder)
        self._searcher = Searcher(self._tables, self._links)
        settling = Settling(self._tables, self._mirror if server else None)
        self._committer = Committer(self._tables, settling, folder)
        self._transactions = TableTransactions(self._committer)
        self._writer = GraphWriter(self._tables, self._execute_write, self._mirror, embedding)
        self._server_driver: Any = None
        """Graphiti's, where there is a server."""
        self._graphiti: Graphiti | None = None
        self._opening = asyncio.Lock()

    @classmethod
    async def open(
        cls,
        *,
        connection: LanceConnection,
        folder: str | Path,
        embedding: Embedding,
        graph: GraphConfig | None = None,
    ) -> GraphitiStore:
        """Put the parts together; opens no connection yet.

        Args:
            connection: the database of rows and vectors; it stays open after ``close``.
            folder: the data folder, which keeps the journal and the lock of who writes.
            embedding: names the model and embeds sentences.
            graph: the backend: LanceDB alone by default, or a server's address and password.

        Raises ``ConfigError`` for an unknown backend, ``MissingExtra`` for one that is not installed.
        """
        graph = graph or GraphConfig()
        server = None if graph.backend == "embedded" else graph_server(graph.backend)
        store = cls(connection, Path(folder), embedding, server)
        # Importing LanceDB takes a second; not on the event loop, not before it is needed.
        await asyncio.to_thread(importlib.import_module, "lancedb")
        if server is not None:
            await asyncio.to_thread(importlib.import_module, "agentic_rag.stores.graphiti.library")
            with translated_failure("opening the graph"):
                store._server_driver = server.driver(graph, store._committer)
        return store

    async def graphiti(self) -> Graphiti:
        """A real Graphiti on this graph, which extracts; made at the first call, because its import takes half a second."""
        async with self._opening:
            if self._graphiti is None:
                engine = await asyncio.to_thread(
                    importlib.import_module, "agentic_rag.stores.graphiti.engine"
                )
                self._graphiti = engine.build_graphiti(
                    self._server_driver, self._transactions, self._tables, self._mirror, self._embedding
                )
            return self._graphiti

    async def _execute_write(self, work: Callable[[Any], Awaitable[None]]) -> None:
        if self._server_driver is None:
            await self._transactions.execute_write(work)
            return
        session = self._server_driver.session()
        try:
            await session.execute_write(work)
        finally:
            await session.close()

    @property
    def connection(self) -> LanceConnection:
        """The database that holds rows and vectors."""
        return self._connection

    @property
    def folder(self) -> Path:
        """The data folder."""
        return self._folder

    async def replace_documents(
        self,
        dataset: str,
        graphs: Sequence[DocumentGraph],
        *,
        vectors: Mapping[str, FloatArray] | None = None,
        keep: Collection[str] = (),
    ) -> None:
        """See ``ports.GraphStore``; waits while another process writes the graph.

        ``keep``: chunks of these documents whose stored facts and mentions stay beside the given ones.
        """
        if not graphs:
            return
        episodes = [episode_uuid(dataset, chunk) for chunk in keep]
        with translated_failure(f"storing {len(graphs)} documents of {dataset!r}"):
            await self._writer.replace(dataset, group_id(dataset), graphs, episodes, vectors or {})

    async def new_texts(self, dataset: str, graphs: Sequence[DocumentGraph]) -> list[str]:
        with translated_failure(f"reading what is stored of {len(graphs)} documents of {dataset!r}"):
            return await self._writer.new_texts(dataset, group_id(dataset), graphs)

    async def remove_documents(self, dataset: str, document_ids: Sequence[str]) -> None:
        with translated_failure(f"removing {len(document_ids)} documents of {dataset!r}"):
            await self._writer.remove(group_id(dataset), document_ids)

    async def search(
        self,
        dataset: str,
        query: GraphQuery,
        *,
        limit: int,
    ) -> list[FactHit]:
        """See ``ports.GraphStore``; never opens the graph."""
        with translated_failure(f"searching {dataset!r}"):
            allowed = None if query.within is None else frozenset(query.within)
            scope = Scope(dataset, group_id(dataset), utc(query.as_of), allowed)
            return await self._searcher.search(scope, query.text, query.vector, limit=limit)

    async def links(self, dataset: str) -> GraphLinks | None:
        with translated_failure(f"reading the links of {dataset!r}"):
            return await self._links.links(group_id(dataset))

    async def get_chunks(self, dataset: str, chunk_ids: Sequence[str]) -> dict[str, Chunk]:
        return {chunk.id: chunk for chunk, _ in await self._episodes(dataset, chunk_ids)}

    async def read_chunks(self, dataset: str, chunk_ids: Sequence[str]) -> dict[str, tuple[Chunk, str]]:
        """The chunks, of the given ones, that a chat model has read, as they were then, and the model."""
        found = await self._episodes(dataset, chunk_ids)
        return {chunk.id: (chunk, noted[READ_BY]) for chunk, noted in found if READ_BY in noted}

    async def _episodes(
        self, dataset: str, chunk_ids: Sequence[str]
    ) -> list[tuple[Chunk, Mapping[str, str]]]:
        """The chunks that exist, each with its episode's metadata."""
        uuids = [episode_uuid(dataset, chunk) for chunk in chunk_ids]
        with translated_failure(f"reading chunks of {dataset!r}"):
            rows = await self._tables.by_uuid(group_id(dataset), "episodes", uuids, _OF_CHUNKS)
        return _chunks_of(rows)

    async def all_chunks(self, dataset: str) -> list[Chunk]:
        """Every chunk that an episode holds."""
        with translated_failure(f"reading chunks of {dataset!r}"):
            rows = await self._tables.select(group_id(dataset), "episodes", select=_OF_CHUNKS)
        return [chunk for chunk, _ in _chunks_of(rows)]

    async def counts(self, dataset: str) -> GraphCounts:
        group = group_id(dataset)
        with translated_failure(f"counting {dataset!r}"):
            return GraphCounts(
                entities=await self._tables.count(group, "entities"),
                facts=await self._tables.count(group, "facts"),
                episodes=await self._tables.count(group, "episodes"),
                mentions=await self._tables.count(group, "mentions"),
            )

    async def optimize(
        self, dataset: str, *, purge: bool = False, builder: IndexBuilder = BUILT_HERE
    ) -> None:
        group = group_id(dataset)
        with translated_failure(f"indexing {dataset!r}"):
            async with self._tables.writing([group]):
                await self._tables.optimize(group, purge=purge, builder=builder)
                await self._links.keep(group)

    async def stats(self, dataset: str) -> StoreStats:
        with translated_failure(f"looking at {dataset!r}"):
            return await self._tables.stats(group_id(dataset))

    def vector_tables(self, dataset: str) -> tuple[VectorTable, ...]:
        """For ``reindex``; a graph server holds no vectors."""
        return self._tables.vector_tables(group_id(dataset))

    async def reach(self) -> None:
        """Raises ``StoreError`` where the graph server cannot be used; searches do without it."""
        if self._server_driver is not None:
            with translated_failure("reaching the graph"):
                await self._server_driver.reach()

    async def close(self) -> None:
        """Close the graph, and not the LanceDB connection, which was opened elsewhere."""
        if self._server_driver is not None:
            with translated_failure("closing the graph"):
                await self._server_driver.close()


def _chunks_of(rows: Sequence[Row]) -> list[tuple[Chunk, Mapping[str, str]]]:
    """The chunks among episodes, each with its episode's metadata."""
    noted = [(row, json.loads(row["metadata"]) if row["metadata"] else None) for row in rows]
    return [
        (to_chunk(row["name"], row["content"], metadata), metadata)
        for row, metadata in noted
        if is_chunk(metadata)
    ]


@contextmanager
def translated_failure(doing: str) -> Iterator[None]:
    """Turn what Graphiti, LanceDB or a server raises into ``StoreError``; ours pass."""
    try:
        yield
    except AgenticRagError:
        raise
    except Exception as error:
        raise StoreError(f"the graph store failed while {doing}: {first_line(error)}") from error
