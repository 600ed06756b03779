"""Puts a graph store's parts together; importing this module imports Graphiti."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agentic_rag.domain.ports import Embedding
from agentic_rag.stores.graphiti.clients import NoLanguageModel, PassthroughReranker, PortEmbedder
from agentic_rag.stores.graphiti.commit import Committer
from agentic_rag.stores.graphiti.drivers import Backend, dialect_of, make_driver
from agentic_rag.stores.graphiti.journal import Journal
from agentic_rag.stores.graphiti.library import Graphiti
from agentic_rag.stores.graphiti.links import LinkReader
from agentic_rag.stores.graphiti.mirror import LanceMirror
from agentic_rag.stores.graphiti.mirrored_operations import mirror_operations
from agentic_rag.stores.graphiti.reconcile import GraphRepair, Reconciler
from agentic_rag.stores.graphiti.search_interface import LanceSearch
from agentic_rag.stores.graphiti.searching import Searcher
from agentic_rag.stores.graphiti.tables import GraphTables
from agentic_rag.stores.graphiti.writing import GraphWriter
from agentic_rag.stores.lancedb.connection import LanceConnection


@dataclass(frozen=True, slots=True)
class Engine:
    """The parts of one store."""

    graphiti: Any
    driver: Any
    tables: GraphTables
    writer: GraphWriter
    links: LinkReader
    searcher: Searcher
    reconciler: Reconciler
    folder: Path

    async def rebuild(self) -> GraphRepair:
        repair: GraphRepair = await self.driver.exclusively(self.reconciler.rebuild)
        return repair


def build(
    connection: LanceConnection,
    graph_path: Path,
    embedding: Embedding,
    *,
    backend: Backend,
    server: tuple[str | None, str | None, str | None],
    llm_client: Any,
    cross_encoder: Any,
    buffer_pool_size: int,
) -> Engine:
    """A real Graphiti whose writes are mirrored to LanceDB and whose searches LanceDB answers."""
    tables = GraphTables(connection, model=embedding.name, dimension=embedding.dimension)
    journal = Journal(graph_path.with_name(graph_path.name + ".journal"))
    dialect = dialect_of(backend)
    reconciler = Reconciler(tables, journal, dialect)
    server_uri, user, password = server
    driver = make_driver(
        backend,
        Committer(tables, journal, reconciler),
        graph_path=graph_path,
        buffer_pool_size=buffer_pool_size,
        server_uri=server_uri,
        user=user,
        password=password,
    )
    embedder = PortEmbedder(embedding)
    driver.search_interface = LanceSearch(tables)
    driver.graph_operations_interface = LanceMirror(tables, dialect, embedder)
    mirror_operations(driver, driver.graph_operations_interface)
    graphiti = Graphiti(
        graph_driver=driver,
        llm_client=llm_client or NoLanguageModel(),
        embedder=embedder,
        cross_encoder=cross_encoder or PassthroughReranker(),
    )
    links = LinkReader(tables)
    return Engine(
        graphiti=graphiti,
        driver=driver,
        tables=tables,
        writer=GraphWriter(tables, driver, dialect, embedding, embedder),
        links=links,
        searcher=Searcher(graphiti, tables, links),
        reconciler=reconciler,
        folder=graph_path.parent,
    )
