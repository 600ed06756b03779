"""How rows are written to a graph server: grouped ``UNWIND`` statements, the same for Neo4j and FalkorDB.

Vectors are never written: they live in LanceDB, and as Cypher parameters they would travel as text.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence

from agentic_rag.stores.batch import batches
from agentic_rag.stores.graph.mirror import Mirror, Run
from agentic_rag.stores.graph.schemas import Kind, Row

BATCH = 2_000
"""Rows a statement; bounds the memory of one parameter."""
_LABELS: Mapping[Kind, str] = {"entities": "Entity", "episodes": "Episodic"}
_ENDS: Mapping[Kind, tuple[str, str, str]] = {
    "facts": ("Entity", "RELATES_TO", "Entity"),
    "mentions": ("Episodic", "MENTIONS", "Entity"),
}
_PROPERTIES: Mapping[Kind, tuple[str, ...]] = {
    "entities": ("name", "group_id", "created_at", "summary", "attributes"),
    "episodes": (
        "name", "group_id", "created_at", "source", "source_description", "content", "valid_at",
        "entity_edges",
    ),
    "facts": (
        "group_id", "created_at", "name", "fact", "episodes", "expired_at", "valid_at", "invalid_at",
        "reference_time", "attributes",
    ),
    "mentions": ("group_id", "created_at"),
}  # fmt: skip
"""Labels, relations and properties as Graphiti's Cypher names them."""


class CypherMirror(Mirror):
    """Neo4j and FalkorDB: labels are labels, facts are relations, properties are free."""

    async def upsert(self, run: Run, kind: Kind, rows: Sequence[Row]) -> None:
        if kind in _ENDS:
            start, relation, end = _ENDS[kind]
            statement = (
                f"UNWIND $rows AS row MATCH (s:{start} {{uuid: row.source_uuid}}) "
                f"MATCH (t:{end} {{uuid: row.target_uuid}}) "
                f"MERGE (s)-[e:{relation} {{uuid: row.uuid}}]->(t) SET e += row.properties"
            )
            await _run_each(run, statement, [_relation(kind, row) for row in rows])
            return
        for labels in sorted({tuple(row.get("labels", ())) for row in rows}):
            chosen = [_properties(kind, row) for row in rows if tuple(row.get("labels", ())) == labels]
            extra = "".join(f" SET n:{label}" for label in labels if label != _LABELS[kind])
            await _run_each(
                run,
                f"UNWIND $rows AS row MERGE (n:{_LABELS[kind]} {{uuid: row.uuid}}) SET n += row{extra}",
                chosen,
            )

    async def delete_nodes(self, run: Run, uuids: Collection[str]) -> None:
        for label in _LABELS.values():
            statement = f"UNWIND $rows AS row MATCH (n:{label} {{uuid: row.uuid}}) DETACH DELETE n"
            await _run_each(run, statement, _keys(uuids))

    async def delete_edges(self, run: Run, uuids: Collection[str], kind: Kind) -> None:
        for keys in batches(sorted(uuids), BATCH):
            statement = f"MATCH ()-[e:{_ENDS[kind][1]}]->() WHERE e.uuid IN $uuids DELETE e"
            await run(statement, uuids=list(keys))

    async def remove_label(self, run: Run, label: str, uuids: Collection[str]) -> None:
        statement = f"UNWIND $rows AS row MATCH (n:Entity {{uuid: row.uuid}}) REMOVE n:{label}"
        await _run_each(run, statement, _keys(uuids))

    async def uuids(self, run: Run, group: str, kind: Kind) -> set[str]:
        """What the graph holds of a kind."""
        pattern = f"(n:{_LABELS[kind]})" if kind in _LABELS else f"()-[n:{_ENDS[kind][1]}]->()"
        found = await run(
            f"MATCH {pattern} WHERE n.group_id = $group_id RETURN n.uuid AS uuid", group_id=group
        )
        return {row["uuid"] for row in found}


async def _run_each(run: Run, statement: str, rows: Sequence[Row]) -> None:
    for batch in batches(rows, BATCH):
        await run(statement, rows=list(batch))


def _keys(uuids: Collection[str]) -> list[Row]:
    return [{"uuid": uuid} for uuid in sorted(uuids)]


def _relation(kind: Kind, row: Row) -> Row:
    ends = {"uuid": row["uuid"], "source_uuid": row["source_uuid"], "target_uuid": row["target_uuid"]}
    return {**ends, "properties": _properties(kind, row)}


def _properties(kind: Kind, row: Row) -> Row:
    """Attributes as properties of their own, as Graphiti keeps them on servers; nested ones stay JSON."""
    stored = {name: row[name] for name in ("uuid", *_PROPERTIES[kind])}
    attributes = json.loads(stored.pop("attributes", None) or "{}")
    plain = {
        name: value if isinstance(value, str | int | float | bool) else json.dumps(value)
        for name, value in attributes.items()
        if name not in stored and name != "attributes" and value is not None
    }
    return {**plain, **stored}
