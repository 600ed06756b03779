"""Columns of the LanceDB tables that hold a graph: all that is known of it; pure.

A row is a dict of these columns; it is what every module here passes on, and what LanceDB stores.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

import pyarrow as pa

from agentic_rag.stores.lancedb.manifests import of_generation
from agentic_rag.stores.lancedb.rows import vector_type

Kind = Literal["facts", "entities", "episodes", "mentions"]
Row = dict[str, Any]

KINDS: tuple[Kind, ...] = ("entities", "episodes", "facts", "mentions")
"""In the order a graph must be written: what an edge names comes before the edge."""
SEARCHABLE: frozenset[Kind] = frozenset({"facts"})
"""Kinds with a vector and a full text. Entities are found by their names in the question; episodes are chunks, which the
chunk store searches."""
OF_DOCUMENTS: tuple[Kind, ...] = ("episodes", "facts", "mentions")
"""Kinds with a document column in their rows, so that one filter replaces a document's rows."""
INDEXED_COLUMNS: Mapping[Kind, tuple[str, ...]] = {
    "facts": ("uuid", "document_id", "source_uuid", "target_uuid"),
    "entities": ("uuid",),
    "episodes": ("uuid", "document_id"),
    "mentions": ("document_id", "source_uuid", "target_uuid"),
}

_TEXT = pa.string()
_TEXTS = pa.list_(pa.string())
_TIME = pa.timestamp("us", "UTC")

_COLUMNS: Mapping[Kind, Mapping[str, pa.DataType]] = {
    "facts": {
        "document_id": _TEXT,
        "source_uuid": _TEXT,
        "target_uuid": _TEXT,
        "name": _TEXT,
        "fact": _TEXT,
        "text": _TEXT,
        "episodes": _TEXTS,
        "chunk_ids": _TEXTS,
        "chunk_date": _TIME,
        "expired_at": _TIME,
        "valid_at": _TIME,
        "invalid_at": _TIME,
        "reference_time": _TIME,
        "attributes": _TEXT,
    },
    "entities": {
        "name": _TEXT,
        "summary": _TEXT,
        "labels": _TEXTS,
        "attributes": _TEXT,
    },
    "episodes": {
        "document_id": _TEXT,
        "name": _TEXT,
        "source": _TEXT,
        "source_description": _TEXT,
        "content": _TEXT,
        "valid_at": _TIME,
        "chunk_id": _TEXT,
        "chunk_date": _TIME,
        "entity_edges": _TEXTS,
        "metadata": _TEXT,
    },
    "mentions": {
        "document_id": _TEXT,
        "source_uuid": _TEXT,
        "target_uuid": _TEXT,
        "entity_labels": _TEXTS,
        "chunk_id": _TEXT,
    },
}


def schema(kind: Kind, *, dimension: int) -> pa.Schema:
    """The table's schema; the vector may not be null, or rows without one would be stored."""
    fields = [
        pa.field("uuid", _TEXT, nullable=False),
        pa.field("group_id", _TEXT, nullable=False),
        pa.field("created_at", _TIME, nullable=False),
        *(pa.field(name, type_) for name, type_ in _COLUMNS[kind].items()),
    ]
    if kind in SEARCHABLE:
        fields.append(pa.field("vector", vector_type(dimension), nullable=False))
    return pa.schema(fields)


def columns(kind: Kind) -> list[str]:
    """Every column but the vector, which no search result needs."""
    return ["uuid", "group_id", "created_at", *_COLUMNS[kind]]


def table_name(group: str, kind: Kind) -> str:
    return f"graph_{group}_{kind}"


def group_of(name: str) -> str | None:
    """The group a table of any generation belongs to; None for another store's table."""
    prefix, _, kind = of_generation(name)[0].rpartition("_")
    if kind not in _COLUMNS or not prefix.startswith("graph_"):
        return None
    return prefix.removeprefix("graph_")


@dataclass(frozen=True, slots=True)
class Scope:
    """What one search may return."""

    dataset: str
    group: str
    as_of: datetime | None
    """In UTC."""
    within: frozenset[str] | None
    """Chunk ids."""

    def allows(self, chunk_id: str | None, date: datetime | None) -> bool:
        if chunk_id is None or (self.within is not None and chunk_id not in self.within):
            return False
        return self.as_of is None or date is None or date <= self.as_of
