"""Chunks as LanceDB rows and back: the one place that knows the table's columns."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any

import numpy as np
import orjson
import pyarrow as pa
from numpy.typing import NDArray

from agentic_rag.domain import Chunk, filterable, search_text
from agentic_rag.domain.ports import FloatArray, PassageVectors
from agentic_rag.stores.lancedb.full_text import index_text
from agentic_rag.stores.metadata_items import metadata_items

CHUNK, VECTOR, TOKENS = "chunk", "vector", "token_vectors"
"""What makes a chunk is one column, since a search pays for every column of every row it reads."""
_BY_VALUE = {"lance-encoding:structural-encoding": "fullzip"}
"""Field metadata of a column that Lance lays out value after value; see ``places``."""
_ZSTD = _BY_VALUE | {"lance-encoding:compression": "zstd"}
"""Token vectors shrink by a sixth, texts by two fifths."""


def vector_type(dimension: int) -> pa.DataType:
    """Half precision: cosines differ by about 1e-5, and the column takes half the bytes."""
    return pa.list_(pa.float16(), dimension)


def chunk_schema(dimension: int) -> pa.Schema:
    """Columns of a chunk table: keys, the chunk as JSON, and what is searched.

    The vector may not be null, or rows without one would be stored.
    """
    text = pa.string()
    return pa.schema(
        [
            pa.field("chunk_id", text, nullable=False),
            pa.field("document_id", text, nullable=False),
            pa.field(CHUNK, text, nullable=False, metadata=_ZSTD),
            pa.field("search_text", text, nullable=False),
            pa.field("date", pa.timestamp("us", "UTC")),
            pa.field("meta", pa.list_(text)),
            pa.field(VECTOR, vector_type(dimension), nullable=False, metadata=_BY_VALUE),
            pa.field(TOKENS, pa.binary(), metadata=_ZSTD),
        ]
    )


def to_table(chunks: Sequence[Chunk], vectors: PassageVectors, schema: pa.Schema) -> pa.Table:
    """One Arrow table for a batch of chunks and their vectors, same order."""
    vector = schema.get_field_index(VECTOR)
    rows = [
        {**_row(chunk), TOKENS: tokens or None} for chunk, tokens in zip(chunks, vectors.tokens, strict=True)
    ]
    table = pa.Table.from_pylist(rows, schema=schema.remove(vector))
    return table.add_column(vector, schema.field(vector), vector_array(vectors.vectors, schema))


def vector_array(vectors: FloatArray, schema: pa.Schema) -> pa.Array:
    """Vectors, shape (rows, dimension), in the precision of the table's column ``vector``."""
    stored = schema.field(VECTOR).type
    flat = vectors.reshape(-1).astype(stored.value_type.to_pandas_dtype())
    return pa.FixedSizeListArray.from_arrays(pa.array(flat), stored.list_size)


def _row(chunk: Chunk) -> dict[str, object]:
    return {
        "chunk_id": chunk.id,
        "document_id": chunk.document_id,
        CHUNK: _pack_chunk(chunk),
        "search_text": index_text(search_text(chunk)),
        "date": chunk.date,
        "meta": metadata_items(filterable(chunk)),
    }


def _pack_chunk(chunk: Chunk) -> str:
    """The fields in their order; metadata apart as ASCII, for it may hold what UTF-8 cannot."""
    metadata = json.dumps(dict(chunk.metadata), ensure_ascii=True, sort_keys=True)
    fields = [
        chunk.id, chunk.document_id, chunk.text, chunk.start, chunk.end, chunk.ordinal, chunk.title,
        chunk.path, chunk.kind, list(chunk.heading_path),
        chunk.date.isoformat() if chunk.date is not None else None, chunk.url, metadata,
    ]  # fmt: skip
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":"))


def unpack_chunk(chunk_json: str | bytes) -> Chunk:
    """The chunk that the column ``chunk`` holds."""
    *fields, heading_path, date, url, metadata = orjson.loads(chunk_json)
    moment = None if date is None else datetime.fromisoformat(date)
    values: list[Any] = [*fields, tuple(heading_path), moment, url]
    # Not by orjson, which refuses half a surrogate pair.
    values.append(json.loads(metadata) if metadata != "{}" else {})
    return Chunk(*values)


def stored_vectors(values: Sequence[bytes]) -> FloatArray:
    """Values of the column ``vector`` as they lie in the file, at least one, as float32, shape (values, dimension)."""
    half = np.frombuffer(b"".join(values), np.float16).reshape(len(values), -1)
    return half.astype(np.float32)


def vectors_of(table: pa.Table) -> FloatArray:
    """The column ``vector``, as float32, shape (rows, dimension)."""
    column = table[VECTOR]
    dimension = column.type.list_size
    parts = [vector_rows(chunk).astype(np.float32, copy=False) for chunk in column.chunks]
    if len(parts) == 1:
        return parts[0]
    return np.concatenate([np.zeros((0, dimension), dtype=np.float32), *parts])


def vector_rows(vectors: pa.FixedSizeListArray) -> NDArray[Any]:
    """Vectors in the precision of the column, shape (rows, dimension). Without ``flatten``, which takes longer than all else
    that is done with the vectors of a search."""
    every = np.asarray(vectors.values).reshape(-1, vectors.type.list_size)
    return every[vectors.offset : vectors.offset + len(vectors)]
