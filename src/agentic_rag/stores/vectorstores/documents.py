"""Chunks as LangChain documents and back: the one place that knows what a collection's rows hold.

A row's page content is the chunk's text, so that other tools can read the collection; its metadata::

    name      JSON of [chunk id, document id]
    chunk     JSON of everything else that makes the chunk
    document  digest of the document id
    date      microseconds since 1970, UTC; far in the past where the chunk has no date
    items     digests of the chunk's metadata items (see ``stores.metadata_items``)

All JSON is ASCII, because no store takes every text. Ids, keys and values of users reach a filter only as
digests, hexadecimal and of one length, so nothing that is written in a note can be read as part of one.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from langchain_core.documents import Document

from agentic_rag.dates.instants import as_utc
from agentic_rag.domain import Chunk, filterable
from agentic_rag.domain.identity import digest
from agentic_rag.stores.metadata_items import AllOf, AnyOf, Condition, HasAny, metadata_items

NAME, CHUNK, DOCUMENT, DATE, ITEMS = "name", "chunk", "document", "date", "items"
UNDATED = -(2**62)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def row_id(chunk_id: str) -> str:
    """Id of a chunk's row, 32 hexadecimal digits."""
    return digest("chunk", chunk_id)


def document_key(document_id: str) -> str:
    """What a row holds of its document's id, 32 hexadecimal digits."""
    return digest("document", document_id)


def digested(condition: Condition) -> Condition:
    """The condition with each item as rows hold it."""
    match condition:
        case HasAny(items, negated):
            return HasAny(tuple(_item_key(item) for item in items), negated)
        case AllOf(parts):
            return AllOf(tuple(digested(part) for part in parts))
        case AnyOf(parts):
            return AnyOf(tuple(digested(part) for part in parts))


def microseconds(moment: datetime) -> int:
    """Since 1970 in UTC; exact."""
    return (as_utc(moment) - _EPOCH) // timedelta(microseconds=1)


def to_document(chunk: Chunk, most_bytes: int | None = None) -> Document:
    """A chunk as a row.

    Args:
        chunk: the chunk.
        most_bytes: UTF-8 bytes of page content that the store holds; a longer text is whole in ``chunk``.
    """
    shown = _shown(chunk.text, most_bytes)
    fields: dict[str, Any] = {
        "start": chunk.start,
        "end": chunk.end,
        "ordinal": chunk.ordinal,
        "title": chunk.title,
        "path": chunk.path,
        "kind": chunk.kind,
        "heading_path": list(chunk.heading_path),
        "date": chunk.date.isoformat() if chunk.date is not None else None,
        "url": chunk.url,
        "metadata": dict(chunk.metadata),
    }
    if shown != chunk.text:
        fields["text"] = chunk.text
    return Document(
        id=row_id(chunk.id),
        page_content=shown,
        metadata={
            NAME: json.dumps([chunk.id, chunk.document_id]),
            CHUNK: json.dumps(fields),
            DOCUMENT: document_key(chunk.document_id),
            DATE: microseconds(chunk.date) if chunk.date is not None else UNDATED,
            ITEMS: sorted({_item_key(item) for item in metadata_items(filterable(chunk))}),
        },
    )


def to_chunk(document: Document) -> Chunk:
    """The chunk that a row was made from."""
    chunk_id, document_id = names(document.metadata[NAME])
    fields = {"text": document.page_content, **json.loads(document.metadata[CHUNK])}
    date = fields["date"]
    chunk = Chunk(id=chunk_id, document_id=document_id, **fields)
    return replace(
        chunk,
        heading_path=tuple(fields["heading_path"]),
        date=datetime.fromisoformat(date) if date is not None else None,
    )


def names(name: str) -> tuple[str, str]:
    """Chunk id and document id of a row."""
    chunk_id, document_id = json.loads(name)
    return chunk_id, document_id


def width(condition: Condition) -> int:
    """How many items a condition names."""
    match condition:
        case HasAny(items):
            return len(items)
        case AllOf(parts) | AnyOf(parts):
            return sum(width(part) for part in parts)


def hexadecimal(keys: Iterable[str]) -> list[str]:
    """The keys, for a filter language without parameters; raises ``ValueError`` for what is no digest."""
    checked = list(keys)
    for key in checked:
        if not key or set(key) - set("0123456789abcdef"):
            raise ValueError(f"{key!r} is not a digest")
    return checked


def _item_key(item: str) -> str:
    return digest("item", item)


def _shown(text: str, most_bytes: int | None) -> str:
    """The text as every store can hold it: without NUL, and cut where it is too long."""
    shown = text.replace("\0", "\ufffd")
    if most_bytes is None or len(shown) * 4 <= most_bytes:
        return shown
    return shown.encode("utf-8")[:most_bytes].decode("utf-8", "ignore")
