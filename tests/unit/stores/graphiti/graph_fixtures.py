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
from agentic_rag.stores.graphiti.driver_embedded import EmbeddedDriver
from agentic_rag.stores.graphiti.schemas import KINDS
from agentic_rag.stores.graphiti.store import GraphitiStore
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
    store = await GraphitiStore.open(
        uri=str(folder / "lance"),
        folder=folder,
        embedding=embedding or HashingEmbedding(256),
        **options,
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
    """Kind → uuids over every node and edge that Cypher finds; facts only when both ends are there."""
    driver = store.graphiti.driver
    embedded = type(driver) is EmbeddedDriver
    fact = "[:RELATES_TO]->(n:RelatesToNode_)-[:RELATES_TO]" if embedded else "[n:RELATES_TO]"
    patterns = {
        "entities": "(n:Entity)",
        "episodes": "(n:Episodic)",
        "facts": f"(:Entity)-{fact}->(:Entity)",
        "mentions": "(:Episodic)-[n:MENTIONS]->(:Entity)",
        "communities": "(n:Community)",
        "sagas": "(n:Saga)",
        "links": "()-[n:HAS_MEMBER|HAS_EPISODE|NEXT_EPISODE]->()",
    }
    found = {}
    for kind, pattern in patterns.items():
        rows, _, _ = await driver.execute_query(f"MATCH {pattern} RETURN n.uuid AS uuid")
        uuids = [row["uuid"] for row in rows]
        assert len(uuids) == len(set(uuids)), f"{kind} twice in the graph"
        found[kind] = set(uuids)
    return found
