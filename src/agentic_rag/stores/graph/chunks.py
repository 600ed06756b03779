"""A chunk as the metadata of its episode, and back, exactly; pure.

Every value is a string, the only type that every graph backend keeps unchanged.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import TypeGuard

from agentic_rag.domain import Chunk

READ_BY = "read_by"
"""Metadata key beside the chunk's own: the chat model that has read the episode to its end."""


def episode_metadata(chunk: Chunk) -> dict[str, str]:
    """Everything of a chunk but its id and text, which are the episode's name and content."""
    fields = {
        "document_id": chunk.document_id,
        "start": str(chunk.start),
        "end": str(chunk.end),
        "ordinal": str(chunk.ordinal),
        "title": chunk.title,
        "path": chunk.path,
        "kind": chunk.kind,
        "heading_path": json.dumps(list(chunk.heading_path), ensure_ascii=True),
        "metadata": json.dumps(dict(chunk.metadata), ensure_ascii=True),
    }
    if chunk.date is not None:
        fields["date"] = chunk.date.isoformat()
    if chunk.url is not None:
        fields["url"] = chunk.url
    return fields


def is_chunk(metadata: Mapping[str, str] | None) -> TypeGuard[Mapping[str, str]]:
    """Whether an episode is one of our chunks, not one that was added through Graphiti itself."""
    return metadata is not None and "document_id" in metadata


def to_chunk(name: str, content: str, metadata: Mapping[str, str]) -> Chunk:
    """The chunk an episode was made from."""
    date = metadata.get("date")
    return Chunk(
        id=name,
        document_id=metadata["document_id"],
        text=content,
        start=int(metadata["start"]),
        end=int(metadata["end"]),
        ordinal=int(metadata["ordinal"]),
        title=metadata["title"],
        path=metadata["path"],
        kind=metadata["kind"],
        heading_path=tuple(json.loads(metadata["heading_path"])),
        date=datetime.fromisoformat(date) if date is not None else None,
        url=metadata.get("url"),
        metadata=json.loads(metadata["metadata"]),
    )
