"""Common parts of the graph store tests: small documents, and a dump of all stored data."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from agentic_rag.domain import Chunk, DocumentGraph, Entity, Fact, Mention
from agentic_rag.stores.graph.schemas import KINDS
from agentic_rag.stores.graphiti.driver_embedded import EmbeddedDriver
from agentic_rag.stores.graphiti.store import GraphitiStore
from agentic_rag.stores.lancedb.connection import lance_connection
from agentic_rag.testing import HashingEmbedding

BACKENDS = pytest.mark.parametrize("options", ["embedded", "falkordb", "neo4j"], indirect=True)
"""Of tests that run on each; ``options`` empties a server."""


def note(name: str, *topics: str, date: datetime | None = None) -> DocumentGraph:
    """A note of one chunk that mentions topics, each related to the next."""
    chunk = Chunk(
        f"{name}#0",
        name,
        f"{name} speaks of {', '.join(topics)}.",
        0,
        9,
        0,
        name,
        name,
        "paragraph",
        date=date,
    )
    facts = tuple(
        Fact(a, b, "RELATES", f"{a} relates to {b} in {name}.", chunk.id) for a, b in pairwise(topics)
    )
    entities = tuple(Entity(topic, topic, ("Thing",)) for topic in topics)
    return DocumentGraph(name, (chunk,), entities, facts, tuple(Mention(t, chunk.id) for t in topics))


@asynccontextmanager
async def opened(
    folder: Path, embedding: HashingEmbedding | None = None, **options: Any
) -> AsyncIterator[GraphitiStore]:
    async with lance_connection(str(folder / "lance")) as connection:
        store = await GraphitiStore.open(
            connection=connection, folder=folder, embedding=embedding or HashingEmbedding(256), **options
        )
        try:
            yield store
        finally:
            await store.close()


async def in_tables(store: GraphitiStore) -> dict[str, set[str]]:
    """Kind → uuids over every LanceDB table of every group."""
    tables = store._tables
    found: dict[str, set[str]] = {kind: set() for kind in KINDS}
    for group in await tables.groups():
        for kind in KINDS:
            found[kind] |= {row["uuid"] for row in await tables.select(group, kind, select=["uuid"])}
    return found


async def in_graph(store: GraphitiStore) -> dict[str, set[str]]:
    """Kind → uuids over every node and edge of the graph; facts and mentions only when both ends are there."""
    driver = (await store.graphiti()).driver
    if type(driver) is EmbeddedDriver:
        return await _joined(store)
    patterns = {
        "entities": "(n:Entity)",
        "episodes": "(n:Episodic)",
        "facts": "(:Entity)-[n:RELATES_TO]->(:Entity)",
        "mentions": "(:Episodic)-[n:MENTIONS]->(:Entity)",
    }
    found = {}
    for kind, pattern in patterns.items():
        rows, _, _ = await driver.execute_query(f"MATCH {pattern} RETURN n.uuid AS uuid")
        uuids = [row["uuid"] for row in rows]
        assert len(uuids) == len(set(uuids)), f"{kind} twice in the graph"
        found[kind] = set(uuids)
    return found


async def _joined(store: GraphitiStore) -> dict[str, set[str]]:
    """The same of the embedded graph, from its tables."""
    found = await in_tables(store)
    ends = {"facts": ("entities", "entities"), "mentions": ("episodes", "entities")}
    for kind, (source, target) in ends.items():
        columns = ["uuid", "source_uuid", "target_uuid"]
        rows = [
            row
            for group in await store._tables.groups()
            for row in await store._tables.select(group, kind, select=columns)
        ]
        assert len(rows) == len(found[kind]), f"{kind} twice in the graph"
        found[kind] = {
            row["uuid"]
            for row in rows
            if row["source_uuid"] in found[source] and row["target_uuid"] in found[target]
        }
    return found
