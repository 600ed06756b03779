"""Graphiti's nodes and edges as rows of the graph's tables, and back; pure.

The inputs are the dicts that Graphiti's bulk writer makes, or an object's ``model_dump()``: attributes are a
dict, JSON, or (for servers) mixed in among the other keys.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from agentic_rag.stores.graph import rows
from agentic_rag.stores.graph.chunks import is_chunk, to_chunk
from agentic_rag.stores.graph.rows import utc
from agentic_rag.stores.graph.schemas import Row, columns
from agentic_rag.stores.graphiti.library import EntityEdge, EntityNode, EpisodeType, EpisodicNode

_ENTITY_KEYS = frozenset(
    {"uuid", "name", "group_id", "summary", "created_at", "name_embedding", "labels", "attributes"}
)
_FACT_KEYS = frozenset(
    {
        "uuid", "source_node_uuid", "target_node_uuid", "name", "fact", "group_id", "episodes", "created_at",
        "expired_at", "valid_at", "invalid_at", "reference_time", "fact_embedding", "attributes",
    }
)  # fmt: skip


_OURS = frozenset({"document_id", "text", "chunk_id", "chunk_ids", "chunk_date", "entity_labels"})
"""Columns by which rows are found and restricted."""


FACT_COLUMNS = [name for name in columns("facts") if name not in _OURS]
"""Columns that Graphiti's facts are made of; a search pays for every column it reads."""


def entity_row(data: Mapping[str, Any]) -> Row:
    """An entity, without Graphiti's vector of its name, by which nothing is found here."""
    return rows.entity_row(
        {
            **_common(data),
            "name": data["name"],
            "summary": data.get("summary") or "",
            "labels": data.get("labels", []),
            "attributes": _attributes(data, _ENTITY_KEYS),
        }
    )


def fact_row(data: Mapping[str, Any]) -> Row:
    """A fact; its vector may be missing."""
    return rows.fact_row(
        {
            **mention_row(data),
            "name": data["name"],
            "fact": data["fact"],
            "episodes": list(data.get("episodes") or []),
            "expired_at": utc(data.get("expired_at")),
            "valid_at": utc(data.get("valid_at")),
            "invalid_at": utc(data.get("invalid_at")),
            "reference_time": utc(data.get("reference_time")),
            "attributes": _attributes(data, _FACT_KEYS),
            "vector": data.get("fact_embedding"),
        }
    )


def episode_row(data: Mapping[str, Any]) -> Row:
    """An episode; one that is a chunk says so in its metadata (see ``chunks``)."""
    metadata = data.get("episode_metadata")
    source = data["source"]
    return rows.episode_row(
        {
            **_common(data),
            "name": data["name"],
            "source": source.value if isinstance(source, EpisodeType) else source,
            "source_description": data.get("source_description") or "",
            "content": data["content"],
            "valid_at": utc(data["valid_at"]),
            "entity_edges": list(data.get("entity_edges") or []),
            "metadata": json.dumps(metadata, ensure_ascii=True) if metadata else None,
        },
        to_chunk(data["name"], data["content"], metadata) if is_chunk(metadata) else None,
    )


def mention_row(data: Mapping[str, Any]) -> Row:
    """A mention, or the ends of a fact."""
    return {
        **_common(data),
        "source_uuid": data["source_node_uuid"],
        "target_uuid": data["target_node_uuid"],
    }


def to_entity(row: Row) -> Any:
    return EntityNode(
        **_common_fields(row),
        name=row["name"],
        labels=row["labels"],
        summary=row["summary"],
        attributes=json.loads(row["attributes"]),
    )


def to_fact(row: Row) -> Any:
    return EntityEdge(
        **_common_fields(row),
        source_node_uuid=row["source_uuid"],
        target_node_uuid=row["target_uuid"],
        name=row["name"],
        fact=row["fact"],
        episodes=row["episodes"],
        expired_at=row["expired_at"],
        valid_at=row["valid_at"],
        invalid_at=row["invalid_at"],
        reference_time=row["reference_time"],
        attributes=json.loads(row["attributes"]),
    )


def to_episode(row: Row) -> Any:
    return EpisodicNode(
        **_common_fields(row),
        name=row["name"],
        source=EpisodeType.from_str(row["source"]),
        source_description=row["source_description"],
        content=row["content"],
        valid_at=row["valid_at"],
        entity_edges=row["entity_edges"],
        episode_metadata=json.loads(row["metadata"]) if row["metadata"] else None,
    )


def _common(data: Mapping[str, Any]) -> Row:
    return {
        "uuid": data["uuid"],
        "group_id": data["group_id"],
        "created_at": utc(data.get("created_at")) or datetime.now(UTC),
    }


def _common_fields(row: Row) -> Row:
    return {name: row[name] for name in ("uuid", "group_id", "created_at")}


def _attributes(data: Mapping[str, Any], own_keys: frozenset[str]) -> str:
    given = data.get("attributes")
    if isinstance(given, str):
        return given
    if given is None:
        given = {key: value for key, value in data.items() if key not in own_keys}
    return json.dumps(given, ensure_ascii=True, default=str)
