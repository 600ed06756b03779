"""Puts a graph store's parts together; importing this module imports Graphiti."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agentic_rag.domain.ports import Embedding
from agentic_rag.stores.graphiti.clients import NoLanguageModel, PassthroughReranker, PortEmbedder
from agentic_rag.stores.graphiti.commit import Committer
from agentic_rag.stores.graphiti.cypher import NoGraph, ServerGraph
from agentic_rag.stores.graphiti.cypher_copy import CypherCopy
from agentic_rag.stores.graphiti.driver_embedded import EmbeddedDriver
from agentic_rag.stores.graphiti.drivers import server_driver
from agentic_rag.stores.graphiti.library import Graphiti
from agentic_rag.stores.graphiti.links import LinkReader
from agentic_rag.stores.graphiti.mirror import LanceMirror
from agentic_rag.stores.graphiti.mirrored_operations import mirror_operations
from agentic_rag.stores.graphiti.repair import Repair
from agentic_rag.stores.graphiti.search_interface import LanceSearch
from agentic_rag.stores.graphiti.searching import Searcher
from agentic_rag.stores.graphiti.tables import GraphTables
from agentic_rag.stores.graphiti.writing import GraphWriter
from agentic_rag.stores.lancedb.connection import LanceConnection


@dataclass(frozen=True, slots=True)
class Engine:
    """The parts of one store."""

    graphiti: Any
    tables: GraphTables
    writer: GraphWriter
    links: LinkReader
    searcher: Searcher
    folder: Path


def build(
    connection: LanceConnection,
    folder: Path,
    embedding: Embedding,
    *,
    backend: str,
    login: tuple[str | None, str | None, str | None],
    llm_client: Any,
    cross_encoder: Any,
) -> Engine:
    """A real Graphiti whose writes go to LanceDB too, or there alone, and whose searches LanceDB answers."""
    tables = GraphTables(connection, model=embedding.name, dimension=embedding.dimension)
    server = None if backend == "embedded" else ServerGraph()
    committer = Committer(tables, Repair(tables, server), folder)
    driver: Any = (
        EmbeddedDriver(committer, CypherCopy(tables))
        if server is None
        else server_driver(backend, *login, committer)
    )
    graph = server or NoGraph()
    embedder = PortEmbedder(embedding)
    driver.search_interface = LanceSearch(tables)
    driver.graph_operations_interface = LanceMirror(tables, graph, embedder)
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
        tables=tables,
        writer=GraphWriter(tables, driver, graph, embedding, embedder),
        links=links,
        searcher=Searcher(graphiti, tables, links),
        folder=folder,
    )
