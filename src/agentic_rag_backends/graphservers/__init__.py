"""The graph on a server beside LanceDB: Neo4j and FalkorDB. Not imported unless one is configured."""

from __future__ import annotations

from agentic_rag.stores.graph.servers import GraphServer
from agentic_rag_backends.graphservers.cypher import CypherMirror
from agentic_rag_backends.graphservers.drivers import server_driver

SERVER = GraphServer(server_driver, CypherMirror())
"""Both: their statements are the same, and ``graph.backend`` chooses the driver."""
