"""A LadybugDB copy of the LanceDB tables, for Cypher: made when a query asks for it, in a temporary folder.

No search reads it. It holds no vectors, takes no writes, and is made anew when the tables have changed.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from agentic_rag.stores.batch import batches
from agentic_rag.stores.graphiti.schemas import (
    FACT_PROPERTIES,
    KINDS,
    LINK_ENDS,
    NODE_LABELS,
    NODE_PROPERTIES,
    Kind,
    Row,
    columns,
)
from agentic_rag.stores.graphiti.server_graph import BATCH
from agentic_rag.stores.graphiti.tables import GraphTables
from agentic_rag.stores.uninterrupted import uninterrupted

BUFFER_POOL = 256 * 1024 * 1024
"""Bytes LadybugDB may use for pages; by itself it would take 80 % of the memory."""

_SCHEMA = """
CREATE NODE TABLE Episodic (
    uuid STRING PRIMARY KEY, name STRING, group_id STRING, created_at TIMESTAMP, source STRING,
    source_description STRING, content STRING, valid_at TIMESTAMP, entity_edges STRING[]);
CREATE NODE TABLE Entity (
    uuid STRING PRIMARY KEY, name STRING, group_id STRING, labels STRING[], created_at TIMESTAMP,
    name_embedding FLOAT[], summary STRING, attributes STRING);
CREATE NODE TABLE Community (
    uuid STRING PRIMARY KEY, name STRING, group_id STRING, created_at TIMESTAMP,
    name_embedding FLOAT[], summary STRING);
CREATE NODE TABLE RelatesToNode_ (
    uuid STRING PRIMARY KEY, group_id STRING, created_at TIMESTAMP, name STRING, fact STRING,
    fact_embedding FLOAT[], episodes STRING[], expired_at TIMESTAMP, valid_at TIMESTAMP,
    invalid_at TIMESTAMP, reference_time TIMESTAMP, attributes STRING);
CREATE NODE TABLE Saga (
    uuid STRING PRIMARY KEY, name STRING, group_id STRING, created_at TIMESTAMP, summary STRING,
    first_episode_uuid STRING, last_episode_uuid STRING, last_summarized_at TIMESTAMP,
    last_summarized_episode_valid_at TIMESTAMP);
CREATE REL TABLE RELATES_TO (FROM Entity TO RelatesToNode_, FROM RelatesToNode_ TO Entity);
CREATE REL TABLE MENTIONS (FROM Episodic TO Entity, uuid STRING, group_id STRING, created_at TIMESTAMP);
CREATE REL TABLE HAS_MEMBER (
    FROM Community TO Entity, FROM Community TO Community, uuid STRING, group_id STRING,
    created_at TIMESTAMP);
CREATE REL TABLE HAS_EPISODE (FROM Saga TO Episodic, uuid STRING, group_id STRING, created_at TIMESTAMP);
CREATE REL TABLE NEXT_EPISODE (
    FROM Episodic TO Episodic, uuid STRING, group_id STRING, created_at TIMESTAMP);
"""
"""Tables and columns as Graphiti's queries name them; a fact is a node between two RELATES_TO."""
_TIMES = frozenset(
    {
        "created_at", "valid_at", "invalid_at", "expired_at", "reference_time", "last_summarized_at",
        "last_summarized_episode_valid_at",
    }
)  # fmt: skip
_LISTS = frozenset({"labels", "episodes", "entity_edges"})

Versions = tuple[tuple[str, Kind, tuple[str, int]], ...]


class CypherCopy:
    """Answers Cypher from a copy of the tables; belongs to one event loop.

    Args:
        tables: what is copied; uuids are unique over all groups.
    """

    def __init__(self, tables: GraphTables) -> None:
        self._tables = tables
        self._lock = asyncio.Lock()
        self._copied: Versions | None = None
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._database: Any = None

    async def read(self, query: str, parameters: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Rows of one statement on the tables as they are now; another process's last second may be missing.

        Raises what LadybugDB raises: for a wrong statement, and for one that writes.
        """
        async with self._lock:
            # A cancelled caller leaves a thread behind, and the next one may close the database under it.
            return await uninterrupted(self._read(query, parameters))

    async def _read(self, query: str, parameters: Mapping[str, Any]) -> list[dict[str, Any]]:
        groups = await self._tables.groups()
        versions = tuple(
            [(group, kind, await self._tables.version(group, kind)) for group in groups for kind in KINDS]
        )
        if versions != self._copied:
            await asyncio.to_thread(self._discard)
            await self._make(groups)
            self._copied = versions
        return await asyncio.to_thread(self._run, query, parameters)

    async def close(self) -> None:
        async with self._lock:
            await asyncio.to_thread(self._discard)

    async def _make(self, groups: Sequence[str]) -> None:
        await asyncio.to_thread(self._open, read_only=False)
        await asyncio.to_thread(self._run, _SCHEMA, {})
        for kind in KINDS:
            for group in groups:
                rows = await self._tables.select(group, kind, select=columns(kind))
                await asyncio.to_thread(self._fill, kind, rows)
        await asyncio.to_thread(self._database.close)
        await asyncio.to_thread(self._open, read_only=True)

    def _open(self, *, read_only: bool) -> None:
        import ladybug

        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(
                prefix="agentic-rag-graph-", ignore_cleanup_errors=True
            )
        path = Path(self._folder.name) / "graph.lbug"
        self._database = ladybug.Database(str(path), buffer_pool_size=BUFFER_POOL, read_only=read_only)

    def _discard(self) -> None:
        self._copied = None
        if self._database is not None:
            self._database.close()
            self._database = None
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None

    def _fill(self, kind: Kind, rows: Sequence[Row]) -> None:
        for statement, wanted, names in _statements(kind, rows):
            for batch in batches(wanted, BATCH):
                self._run(statement, {"rows": [{name: row[name] for name in names} for row in batch]})

    def _run(self, statement: str, parameters: Mapping[str, Any]) -> list[dict[str, Any]]:
        import ladybug

        connection = ladybug.Connection(self._database)
        try:
            result = connection.execute(statement, dict(parameters))
            results = result if isinstance(result, list) else [result]
            return [_aware(row) for one in results for row in one.rows_as_dict()]
        finally:
            connection.close()


def _statements(kind: Kind, rows: Sequence[Row]) -> Iterator[tuple[str, Sequence[Row], Sequence[str]]]:
    """Each statement that writes rows of a kind, the rows it is for, and the columns it reads."""
    ends = ("source_uuid", "target_uuid")
    names: tuple[str, ...]
    if kind == "facts":
        names = ("uuid", *FACT_PROPERTIES)
        create = f"CREATE (s)-[:RELATES_TO]->(e:RelatesToNode_ {{{_map(names)}}})-[:RELATES_TO]->(t)"
        yield f"{_between('Entity', 'Entity')} {create}", rows, (*names, *ends)
    elif kind in ("mentions", "links"):
        names = ("uuid", "group_id", "created_at")
        for name in ["MENTIONS"] if kind == "mentions" else sorted({row["kind"] for row in rows}):
            chosen = [row for row in rows if kind == "mentions" or row["kind"] == name]
            for source, target in LINK_ENDS[name]:
                create = f"CREATE (s)-[:{name} {{{_map(names)}}}]->(t)"
                yield f"{_between(source, target)} {create}", chosen, (*names, *ends)
    else:
        names = ("uuid", *NODE_PROPERTIES[kind])
        yield f"UNWIND $rows AS row CREATE (:{NODE_LABELS[kind]} {{{_map(names)}}})", rows, names


def _between(source: str, target: str) -> str:
    """A key look-up in two steps: as one pattern, LadybugDB would pair all nodes with all."""
    return (
        f"UNWIND $rows AS row WITH row MATCH (s:{source}) WHERE s.uuid = row.source_uuid "
        f"WITH row, s MATCH (t:{target}) WHERE t.uuid = row.target_uuid"
    )


def _map(names: Sequence[str]) -> str:
    return ", ".join(f"{name}: {_cast(name)}" for name in names)


def _cast(name: str) -> str:
    """The row's value with its type, which a batch of nothing but nulls or empty lists has lost."""
    kind = "TIMESTAMP" if name in _TIMES else "STRING[]" if name in _LISTS else "STRING"
    return f"CAST(row.{name} AS {kind})"


def _aware(row: dict[str, Any]) -> dict[str, Any]:
    """LadybugDB gives UTC without saying so; Graphiti compares with datetimes that do."""
    return {
        name: value.replace(tzinfo=UTC) if isinstance(value, datetime) and value.tzinfo is None else value
        for name, value in row.items()
    }
