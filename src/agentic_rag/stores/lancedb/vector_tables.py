"""A dataset's tables that hold vectors, as a store describes them to ``reindex``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import pyarrow as pa

from agentic_rag.domain.ports import PassageVectors
from agentic_rag.stores.lancedb.connection import LanceConnection, Prepare
from agentic_rag.stores.lancedb.indexes import BUILT_HERE, IndexBuilder, IndexPlan

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class VectorTable:
    """One of a dataset's tables that hold vectors, and how a new generation of it is made."""

    name: str
    """What it holds: ``chunks``, ``facts``, …"""
    base: str
    """Name of its first generation."""
    key: str
    """Its primary key."""
    columns: Sequence[str]
    """What of a row is carried over; the rest is derived."""
    measured_column: str
    """The column whose text length estimates the embedding time of a row."""
    schema: pa.Schema
    """Of the new generation."""
    text: Callable[[Row], str]
    """What of a row is embedded."""
    make_rows: Callable[[Sequence[Row], PassageVectors], pa.Table]
    """New rows from old ones and their vectors."""
    prepare: Prepare | None
    """What an empty table needs before its first row."""
    plan: IndexPlan
    tokens: bool = False
    """Whether its rows hold token vectors."""


@runtime_checkable
class Reindexable(Protocol):
    """A store on LanceDB's tables that ``reindex`` can embed again."""

    @property
    def connection(self) -> LanceConnection: ...

    def vector_tables(self, dataset: str) -> tuple[VectorTable, ...]: ...

    async def optimize(
        self, dataset: str, *, purge: bool = False, builder: IndexBuilder = BUILT_HERE
    ) -> None:
        """As ``ports.ChunkWriter`` says; the builder makes the indexes."""
