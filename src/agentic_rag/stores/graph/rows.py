"""Rows of the graph's tables, with the columns that follow from others; pure."""

from __future__ import annotations

from datetime import datetime

from agentic_rag.dates.instants import as_utc
from agentic_rag.domain import Chunk
from agentic_rag.stores.graph.schemas import Row
from agentic_rag.stores.lancedb.full_text import index_text

BASE = "Entity"
"""The label that every entity has."""


def entity_row(columns: Row) -> Row:
    """The entity with its labels sorted and complete."""
    return {**columns, "labels": sorted({*columns["labels"], BASE})}


def fact_row(columns: Row) -> Row:
    """The fact with its full text; ``Change`` adds the columns that come from its episodes."""
    return {**columns, "text": index_text(f"{columns['name'].replace('_', ' ')}\n{columns['fact']}")}


def episode_row(columns: Row, chunk: Chunk | None) -> Row:
    """The episode with what it has of its chunk, if it is one."""
    return {
        **columns,
        "document_id": chunk.document_id if chunk else None,
        "chunk_id": chunk.id if chunk else None,
        "chunk_date": utc(chunk.date) if chunk else None,
    }


def utc(moment: datetime | None) -> datetime | None:
    """A datetime in UTC; one without a zone is UTC already."""
    return None if moment is None else as_utc(moment)
