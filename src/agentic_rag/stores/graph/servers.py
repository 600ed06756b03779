"""Servers that keep a copy of the graph, as installed packages add them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agentic_rag.errors import ConfigError
from agentic_rag.extensions import load
from agentic_rag.stores.graph.commit import Committer
from agentic_rag.stores.graph.mirror import Mirror

if TYPE_CHECKING:
    from agentic_rag.settings.config import GraphConfig


@dataclass(frozen=True, slots=True)
class GraphServer:
    """An entry of ``agentic_rag.graph_servers``: a server that keeps a copy of the graph."""

    driver: Callable[[GraphConfig, Committer | None], Any]
    """A Graphiti driver whose write transactions go through the committer, with ``reach`` (raises ``StoreAway``) and
    ``description``; None: only to see whether the server is there. Raises ``ConfigError`` for settings that it cannot use,
    ``MissingExtra`` for a package that is not installed."""
    mirror: Mirror
    """Writes the rows of the graph by the driver's statements."""


def graph_server(backend: str) -> GraphServer:
    """The entry of ``graph.backend`` in ``agentic_rag.graph_servers``; raises ``ConfigError`` if there is none."""
    server: GraphServer = load("graph_servers", backend, "graph.backend", ("embedded",), ConfigError)
    return server
