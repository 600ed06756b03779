"""Graphiti's ``GraphDriver`` without a graph database: what Graphiti writes goes to LanceDB, and nothing speaks Cypher."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from agentic_rag.stores.graph.transactions import TableTransactions, refuse_cypher
from agentic_rag.stores.graphiti.library import GraphDriver, GraphDriverSession, GraphProvider


class EmbeddedDriver(GraphDriver):  # type: ignore[misc]
    """Graphiti's sessions over the transactions that LanceDB keeps."""

    provider = GraphProvider.KUZU
    """The embedded one among Graphiti's dialects; no statement is ever run."""

    def __init__(self, transactions: TableTransactions) -> None:
        super().__init__()
        self._database = ""
        self.transaction = transactions.transaction
        self._execute_write = transactions.execute_write

    async def execute_query(self, cypher_query_: str, **kwargs: Any) -> tuple[Any, None, None]:
        """Raises ``ConfigError``: LanceDB knows no Cypher."""
        refuse_cypher()

    def session(self, database: str | None = None) -> EmbeddedSession:
        return EmbeddedSession(self._execute_write)

    async def close(self) -> None:
        """Nothing to close: the connection is the store's."""

    def delete_all_indexes(self) -> Any:
        return self.build_indices_and_constraints()

    async def build_indices_and_constraints(self, delete_existing: bool = False) -> None:
        """Nothing to build: indexes are LanceDB's."""


class EmbeddedSession(GraphDriverSession):  # type: ignore[misc]
    """A session: writes together in ``execute_write``."""

    provider = GraphProvider.KUZU

    def __init__(self, execute_write: Callable[..., Awaitable[Any]]) -> None:
        self._execute_write = execute_write

    async def __aexit__(self, *_: object) -> None:
        return None

    async def close(self) -> None:
        return None

    async def run(self, query: str | list[tuple[str, dict[str, Any]]], **kwargs: Any) -> Any:
        refuse_cypher()

    async def execute_write(self, func: Callable[..., Awaitable[Any]], *args: Any, **kwargs: Any) -> Any:
        return await self._execute_write(func, *args, **kwargs)
