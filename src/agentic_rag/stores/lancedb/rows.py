"""Chunks as LanceDB rows and back: the one place that knows the table's columns."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from agentic_rag.domain import Chunk, search_text
from agentic_rag.ports import FloatArray, ScoredChunk
from agentic_rag.stores.lancedb.full_text import indexed
from agentic_rag.stores.metadata_items import metadata_items

CHUNK_COLUMNS = [
    "chunk_id", "document_id", "text", "start", "end", "ordinal", "title", "path", "kind",
    "heading_path", "date", "url", "metadata",
]  # fmt: skip
"""What makes a chunk; vector, full text and filter columns are the store's own."""


def chunk_schema(dimension: int) -> pa.Schema:
    """Columns of a chunk table; the vector may not be null, or rows without one would be stored."""
    text = pa.string()
    return pa.schema(
        [
            pa.field("chunk_id", text, nullable=False),
            pa.field("document_id", text, nullable=False),
            pa.field("text", text, nullable=False),
            pa.field("search_text", text, nullable=False),
            pa.field("start", pa.int64()),
            pa.field("end", pa.int64()),
            pa.field("ordinal", pa.int64()),
            pa.field("title", text),
            pa.field("path", text),
            pa.field("kind", text),
            pa.field("heading_path", pa.list_(text)),
            pa.field("date", pa.timestamp("us", "UTC")),
            pa.field("url", text),
            pa.field("metadata", text),
            pa.field("meta", pa.list_(text)),
            pa.field("vector", pa.list_(pa.float32(), dimension), nullable=False),
        ]
    )


def to_table(chunks: Sequence[Chunk], vectors: FloatArray, schema: pa.Schema) -> pa.Table:
    """One Arrow table for a batch of chunks and their vectors, same order."""
    columns: dict[str, list[Any]] = {name: [] for name in schema.names if name != "vector"}
    for chunk in chunks:
        for name, value in _row(chunk).items():
            columns[name].append(value)
    dimension = schema.field("vector").type.list_size
    flat = pa.array(vectors.reshape(-1), type=pa.float32())
    arrays: dict[str, Any] = {**columns, "vector": pa.FixedSizeListArray.from_arrays(flat, dimension)}
    return pa.Table.from_arrays(
        [arrays[f.name] if f.name == "vector" else pa.array(arrays[f.name], type=f.type) for f in schema],
        schema=schema,
    )


def _row(chunk: Chunk) -> dict[str, Any]:
    return {
        "chunk_id": chunk.id,
        "document_id": chunk.document_id,
        "text": chunk.text,
        "search_text": indexed(search_text(chunk)),
        "start": chunk.start,
        "end": chunk.end,
        "ordinal": chunk.ordinal,
        "title": chunk.title,
        "path": chunk.path,
        "kind": chunk.kind,
        "heading_path": list(chunk.heading_path),
        "date": chunk.date,
        "url": chunk.url,
        "metadata": json.dumps(dict(chunk.metadata), ensure_ascii=True, sort_keys=True),
        "meta": metadata_items(chunk.metadata),
    }


def to_chunk(row: Mapping[str, Any]) -> Chunk:
    """A stored row as the chunk it was made from."""
    return Chunk(
        id=row["chunk_id"],
        document_id=row["document_id"],
        text=row["text"],
        start=row["start"],
        end=row["end"],
        ordinal=row["ordinal"],
        title=row["title"],
        path=row["path"],
        kind=row["kind"],
        heading_path=tuple(row["heading_path"]),
        date=row["date"],
        url=row["url"],
        metadata=_metadata(row["metadata"]),
    )


def _metadata(stored: str) -> dict[str, Any]:
    return json.loads(stored) if stored != "{}" else {}


def scored(found: pa.Table, scores: FloatArray) -> list[ScoredChunk]:
    """What a search found, CHUNK_COLUMNS and ``vector``, with a score a row."""
    # CHUNK_COLUMNS are a chunk's fields in their order; a mapping a row would cost a search half a millisecond.
    columns = (found[name].to_pylist() for name in CHUNK_COLUMNS)
    chunks = [_chunk(row) for row in zip(*columns, strict=True)]
    return [
        ScoredChunk(chunk, score, vector)
        for chunk, score, vector in zip(chunks, scores.tolist(), vectors_of(found), strict=True)
    ]


def _chunk(row: tuple[Any, ...]) -> Chunk:
    values: list[Any] = [*row[:9], tuple(row[9]), *row[10:12], _metadata(row[12])]
    return Chunk(*values)


def vectors_of(found: pa.Table) -> FloatArray:
    """The column ``vector``, shape (rows, dimension)."""
    column = found["vector"].combine_chunks()
    flat: FloatArray = column.flatten().to_numpy(zero_copy_only=False)
    return flat.reshape(len(found), column.type.list_size)
