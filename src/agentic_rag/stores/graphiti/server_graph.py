"""How rows are written to a graph server: grouped ``UNWIND`` statements, the same for Neo4j and FalkorDB.

A ``Run`` executes one statement and gives its rows as dicts. Vectors are never written: they live in
LanceDB, and as Cypher parameters they would travel as text.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Collection, Iterator, Sequence
from typing import Any

from agentic_rag.stores.batch import batches
from agentic_rag.stores.graphiti.schemas import (
    FACT_PROPERTIES,
    LINK_ENDS,
    NODE_LABELS,
    NODE_PROPERTIES,
    Kind,
    Row,
)

Run = Callable[..., Awaitable[Any]]
BATCH = 2_000
"""Rows a statement; bounds the memory of one parameter."""
_LINKS = ("HAS_MEMBER", "HAS_EPISODE", "NEXT_EPISODE")


class NoGraph:
    """Writes nothing: the embedded graph is LanceDB alone, and Cypher reads a copy of it."""

    async def upsert(self, run: Run, kind: Kind, rows: Sequence[Row]) -> None:
        """Create or replace the node or edge of each row; edges with missing ends are left out."""

    async def delete_nodes(self, run: Run, uuids: Collection[str]) -> None:
        """Delete entities, episodes, communities and sagas with all their edges and facts."""

    async def delete_edges(self, run: Run, uuids: Collection[str], kind: Kind | None = None) -> None:
        """Delete facts, mentions and links; ``kind`` where all are of one: a relation is looked for among all of its kind."""

    async def delete_group(self, run: Run, group: str | None, *, sagas: bool) -> None:
        """Delete a group, or with None everything."""

    async def remove_label(self, run: Run, label: str, uuids: Collection[str]) -> None:
        """Take a label off entities; ``upsert`` takes none off."""


class ServerGraph(NoGraph):
    """Neo4j and FalkorDB: labels are labels, facts are relations, properties are free."""

    async def upsert(self, run: Run, kind: Kind, rows: Sequence[Row]) -> None:
        if kind in ("facts", "mentions", "links"):
            for name in sorted({_relation(kind, row) for row in rows}):
                chosen = [row for row in rows if _relation(kind, row) == name]
                await self._upsert_relations(run, name, chosen, FACT_PROPERTIES if kind == "facts" else ())
            return
        names = tuple(name for name in NODE_PROPERTIES[kind] if name != "labels")
        for labels in sorted({tuple(row.get("labels", ())) for row in rows}):
            chosen = [row for row in rows if tuple(row.get("labels", ())) == labels]
            extra = "".join(f" SET n:{label}" for label in labels if label != NODE_LABELS[kind])
            statement = (
                f"UNWIND $rows AS row MERGE (n:{NODE_LABELS[kind]} {{uuid: row.uuid}}) SET n += row{extra}"
            )
            for batch in batches(chosen, BATCH):
                await run(statement, rows=[_flat(_picked(row, names)) for row in batch])

    async def delete_nodes(self, run: Run, uuids: Collection[str]) -> None:
        for rows in _keys(uuids):
            for label in NODE_LABELS.values():
                await run(
                    f"UNWIND $rows AS row MATCH (n:{label} {{uuid: row.uuid}}) DETACH DELETE n", rows=rows
                )

    async def delete_edges(self, run: Run, uuids: Collection[str], kind: Kind | None = None) -> None:
        named = {"facts": ("RELATES_TO",), "mentions": ("MENTIONS",), "links": _LINKS}
        names = named[kind] if kind in named else [name for group in named.values() for name in group]
        for rows in _keys(uuids):
            keys = [row["uuid"] for row in rows]
            for name in names:
                await run(f"MATCH ()-[e:{name}]->() WHERE e.uuid IN $uuids DELETE e", uuids=keys)

    async def delete_group(self, run: Run, group: str | None, *, sagas: bool) -> None:
        for label in NODE_LABELS.values():
            if label == "Saga" and not sagas:
                continue
            if group is None:
                await run(f"MATCH (n:{label}) DETACH DELETE n")
            else:
                await run(f"MATCH (n:{label}) WHERE n.group_id = $group_id DETACH DELETE n", group_id=group)

    async def remove_label(self, run: Run, label: str, uuids: Collection[str]) -> None:
        for rows in _keys(uuids):
            await run(f"UNWIND $rows AS row MATCH (n:Entity {{uuid: row.uuid}}) REMOVE n:{label}", rows=rows)

    async def uuids(self, run: Run, group: str, kind: Kind) -> set[str]:
        """What the graph holds of a kind."""
        if kind in NODE_LABELS:
            pattern = f"(n:{NODE_LABELS[kind]})"
        else:
            relations = {"facts": "RELATES_TO", "mentions": "MENTIONS"}
            pattern = f"()-[n:{relations.get(kind, 'HAS_MEMBER|HAS_EPISODE|NEXT_EPISODE')}]->()"
        found = await run(
            f"MATCH {pattern} WHERE n.group_id = $group_id RETURN n.uuid AS uuid", group_id=group
        )
        return {row["uuid"] for row in found}

    async def _upsert_relations(
        self, run: Run, name: str, rows: Sequence[Row], names: tuple[str, ...]
    ) -> None:
        ends = (("Entity", "Entity"),) if name == "RELATES_TO" else LINK_ENDS[name]
        for start, end in ends:
            statement = (
                f"UNWIND $rows AS row MATCH (s:{start} {{uuid: row.source_uuid}}) "
                f"MATCH (t:{end} {{uuid: row.target_uuid}}) "
                f"MERGE (s)-[e:{name} {{uuid: row.uuid}}]->(t) SET e += row.properties"
            )
            for batch in batches(rows, BATCH):
                await run(statement, rows=[_relation_row(row, names) for row in batch])


def _relation(kind: Kind, row: Row) -> str:
    return {"facts": "RELATES_TO", "mentions": "MENTIONS"}.get(kind) or str(row["kind"])


def _relation_row(row: Row, names: tuple[str, ...]) -> Row:
    properties = {name: row[name] for name in (names or ("group_id", "created_at"))}
    ends = {"source_uuid": row["source_uuid"], "target_uuid": row["target_uuid"]}
    return {"uuid": row["uuid"], **ends, "properties": _flat({"uuid": row["uuid"], **properties})}


def _flat(row: Row) -> Row:
    """Attributes as properties of their own, as Graphiti keeps them on servers; nested ones stay JSON."""
    attributes = json.loads(row.get("attributes") or "{}")
    plain = {
        name: value if isinstance(value, str | int | float | bool) else json.dumps(value)
        for name, value in attributes.items()
        if name not in row and value is not None
    }
    return {**plain, **{name: value for name, value in row.items() if name != "attributes"}}


def _keys(uuids: Collection[str]) -> Iterator[Sequence[Row]]:
    return batches([{"uuid": uuid} for uuid in sorted(uuids)], BATCH)


def _picked(row: Row, names: tuple[str, ...]) -> Row:
    return {"uuid": row["uuid"], **{name: row[name] for name in names}}
