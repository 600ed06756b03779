"""How rows are written to a graph: grouped ``UNWIND`` statements, one dialect a backend.

A ``Run`` executes one statement and gives its rows as dicts. Vectors are never written: they live in
LanceDB, and as Cypher parameters they would travel as text.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Collection, Iterator, Sequence
from typing import Any, Protocol

from agentic_rag.stores.graphiti.schemas import Kind, Row

Run = Callable[..., Awaitable[Any]]
BATCH = 2_000
"""Rows a statement; bounds the memory of one parameter."""


class Dialect(Protocol):
    """Writes rows by kind, deletes by uuid, lists what is there."""

    async def upsert(self, run: Run, kind: Kind, rows: Sequence[Row]) -> None:
        """Make each row's node or edge exactly so; edges whose ends are missing are left out."""
        ...

    async def delete_nodes(self, run: Run, uuids: Collection[str], *, without_facts: bool = False) -> None:
        """Delete entities, episodes, communities and sagas with all their edges and facts.

        ``without_facts``: no fact names them any more, which saves looking for those among all facts.
        """
        ...

    async def delete_edges(self, run: Run, uuids: Collection[str], kind: Kind | None = None) -> None:
        """Delete facts, mentions and links; ``kind`` where all are of one: a relation is looked for among all of its kind."""
        ...

    async def delete_group(self, run: Run, group: str | None, *, sagas: bool) -> None:
        """Delete a group, or with None everything."""
        ...

    async def remove_label(self, run: Run, label: str, uuids: Collection[str]) -> None:
        """Take a label off entities; ``upsert`` takes none off where labels are no property."""
        ...

    async def uuids(self, run: Run, group: str, kind: Kind) -> set[str]:
        """What the graph holds of a kind."""
        ...


_NODES: dict[Kind, str] = {
    "entities": "Entity",
    "episodes": "Episodic",
    "communities": "Community",
    "sagas": "Saga",
}
_NODE_PROPERTIES: dict[Kind, tuple[str, ...]] = {
    "entities": ("name", "group_id", "labels", "created_at", "summary", "attributes"),
    "episodes": (
        "name", "group_id", "created_at", "source", "source_description", "content", "valid_at",
        "entity_edges",
    ),
    "communities": ("name", "group_id", "created_at", "summary"),
    "sagas": (
        "name", "group_id", "created_at", "summary", "first_episode_uuid", "last_episode_uuid",
        "last_summarized_at", "last_summarized_episode_valid_at",
    ),
}  # fmt: skip
_FACT_PROPERTIES = (
    "group_id", "created_at", "name", "fact", "episodes", "expired_at", "valid_at", "invalid_at",
    "reference_time", "attributes",
)  # fmt: skip
_TIMES = frozenset(
    {
        "created_at", "valid_at", "invalid_at", "expired_at", "reference_time", "last_summarized_at",
        "last_summarized_episode_valid_at",
    }
)  # fmt: skip
_LISTS = frozenset({"labels", "episodes", "entity_edges"})
_LINK_ENDS = {
    "HAS_MEMBER": (("Community", "Entity"), ("Community", "Community")),
    "HAS_EPISODE": (("Saga", "Episodic"),),
    "NEXT_EPISODE": (("Episodic", "Episodic"),),
    "MENTIONS": (("Episodic", "Entity"),),
}
_LINKS = ("HAS_MEMBER", "HAS_EPISODE", "NEXT_EPISODE")


def _relations(kind: Kind | None) -> tuple[str, ...]:
    """Names of the relations that a kind's edges may be, but for a fact's; of any kind without one."""
    named: dict[Kind, tuple[str, ...]] = {"facts": (), "mentions": ("MENTIONS",), "links": _LINKS}
    return named[kind] if kind is not None else ("MENTIONS", *_LINKS)


class LadybugDialect:
    """LadybugDB: a fixed schema, facts as nodes between two relations, look-ups by ``UNWIND … MATCH``."""

    async def upsert(self, run: Run, kind: Kind, rows: Sequence[Row]) -> None:
        if kind == "facts":
            await self._upsert_facts(run, rows)
        elif kind == "mentions":
            await self._upsert_relations(run, "MENTIONS", rows)
        elif kind == "links":
            for name in _LINKS:
                await self._upsert_relations(run, name, [row for row in rows if row["kind"] == name])
        else:
            await self._upsert_nodes(run, kind, rows)

    async def delete_nodes(self, run: Run, uuids: Collection[str], *, without_facts: bool = False) -> None:
        find = "UNWIND $rows AS row WITH row MATCH"
        for rows in _keys(uuids):
            between = "(n:Entity)-[:RELATES_TO]-(e:RelatesToNode_) WHERE n.uuid = row.uuid DETACH DELETE e"
            if not without_facts:
                await run(f"{find} {between}", rows=rows)
            for label in _NODES.values():
                await run(f"{find} (n:{label}) WHERE n.uuid = row.uuid DETACH DELETE n", rows=rows)

    async def delete_edges(self, run: Run, uuids: Collection[str], kind: Kind | None = None) -> None:
        if kind in (None, "facts"):
            for rows in _keys(uuids):
                await run(_DELETE_FACTS, rows=rows)
        for name in _relations(kind):
            for rows in _keys(uuids):
                keys = [row["uuid"] for row in rows]
                await run(f"MATCH ()-[e:{name}]->() WHERE e.uuid IN $uuids DELETE e", uuids=keys)

    async def delete_group(self, run: Run, group: str | None, *, sagas: bool) -> None:
        labels = ["RelatesToNode_", "Entity", "Episodic", "Community"] + (["Saga"] if sagas else [])
        for label in labels:
            if group is None:
                await run(f"MATCH (n:{label}) DETACH DELETE n")
            else:
                await run(f"MATCH (n:{label}) WHERE n.group_id = $group_id DETACH DELETE n", group_id=group)

    async def remove_label(self, run: Run, label: str, uuids: Collection[str]) -> None:
        """Labels are a property, which ``upsert`` writes whole."""

    async def uuids(self, run: Run, group: str, kind: Kind) -> set[str]:
        if kind == "links":
            pattern = "()-[n:HAS_MEMBER|HAS_EPISODE|NEXT_EPISODE]->()"
        elif kind == "mentions":
            pattern = "()-[n:MENTIONS]->()"
        else:
            pattern = f"(n:{_NODES.get(kind, 'RelatesToNode_')})"
        found = await run(
            f"MATCH {pattern} WHERE n.group_id = $group_id RETURN n.uuid AS uuid", group_id=group
        )
        return {row["uuid"] for row in found}

    async def _upsert_nodes(self, run: Run, kind: Kind, rows: Sequence[Row]) -> None:
        label, names = _NODES[kind], _NODE_PROPERTIES[kind]
        for batch in _batches(rows):
            found = await run(
                f"UNWIND $rows AS row WITH row MATCH (n:{label}) WHERE n.uuid = row.uuid "
                "RETURN n.uuid AS uuid",
                rows=[{"uuid": row["uuid"]} for row in batch],
            )
            there = {row["uuid"] for row in found}
            new = [_picked(row, names) for row in batch if row["uuid"] not in there]
            old = [_picked(row, names) for row in batch if row["uuid"] in there]
            if new:
                await run(
                    f"UNWIND $rows AS row CREATE (n:{label} {{uuid: row.uuid, {_map(names)}}})", rows=new
                )
            if old:
                sets = ", ".join(f"n.{name} = {_cast(name)}" for name in names)
                await run(
                    f"UNWIND $rows AS row WITH row MATCH (n:{label}) WHERE n.uuid = row.uuid SET {sets}",
                    rows=old,
                )

    async def _upsert_facts(self, run: Run, rows: Sequence[Row]) -> None:
        """Delete and create, because a fact's ends may have changed and they are relations here."""
        create = (
            "UNWIND $rows AS row WITH row MATCH (s:Entity) WHERE s.uuid = row.source_uuid "
            "WITH row, s MATCH (t:Entity) WHERE t.uuid = row.target_uuid "
            f"CREATE (s)-[:RELATES_TO]->(e:RelatesToNode_ {{uuid: row.uuid, {_map(_FACT_PROPERTIES)}}})"
            "-[:RELATES_TO]->(t)"
        )
        for batch in _batches(rows):
            await run(_DELETE_FACTS, rows=[{"uuid": row["uuid"]} for row in batch])
            names = ("source_uuid", "target_uuid", *_FACT_PROPERTIES)
            await run(create, rows=[_picked(row, names) for row in batch])

    async def _upsert_relations(self, run: Run, name: str, rows: Sequence[Row]) -> None:
        for start, end in _LINK_ENDS[name]:
            statement = (
                f"UNWIND $rows AS row WITH row MATCH (s:{start}) WHERE s.uuid = row.source_uuid "
                f"WITH row, s MATCH (t:{end}) WHERE t.uuid = row.target_uuid "
                f"MERGE (s)-[e:{name} {{uuid: row.uuid}}]->(t) "
                f"SET e.group_id = row.group_id, e.created_at = {_cast('created_at')}"
            )
            names = ("source_uuid", "target_uuid", "group_id", "created_at")
            for batch in _batches(rows):
                await run(statement, rows=[_picked(row, names) for row in batch])


class ServerDialect:
    """Neo4j and FalkorDB: labels are labels, facts are relations, properties are free."""

    async def upsert(self, run: Run, kind: Kind, rows: Sequence[Row]) -> None:
        if kind in ("facts", "mentions", "links"):
            for name in sorted({_relation(kind, row) for row in rows}):
                chosen = [row for row in rows if _relation(kind, row) == name]
                await self._upsert_relations(run, name, chosen, _FACT_PROPERTIES if kind == "facts" else ())
            return
        names = tuple(name for name in _NODE_PROPERTIES[kind] if name != "labels")
        for labels in sorted({tuple(row.get("labels", ())) for row in rows}):
            chosen = [row for row in rows if tuple(row.get("labels", ())) == labels]
            extra = "".join(f" SET n:{label}" for label in labels if label != _NODES[kind])
            statement = f"UNWIND $rows AS row MERGE (n:{_NODES[kind]} {{uuid: row.uuid}}) SET n += row{extra}"
            for batch in _batches(chosen):
                await run(statement, rows=[_flat(_picked(row, names)) for row in batch])

    async def delete_nodes(self, run: Run, uuids: Collection[str], *, without_facts: bool = False) -> None:
        for rows in _keys(uuids):
            for label in _NODES.values():
                await run(
                    f"UNWIND $rows AS row MATCH (n:{label} {{uuid: row.uuid}}) DETACH DELETE n", rows=rows
                )

    async def delete_edges(self, run: Run, uuids: Collection[str], kind: Kind | None = None) -> None:
        names = [*(["RELATES_TO"] if kind in (None, "facts") else []), *_relations(kind)]
        for rows in _keys(uuids):
            keys = [row["uuid"] for row in rows]
            for name in names:
                await run(f"MATCH ()-[e:{name}]->() WHERE e.uuid IN $uuids DELETE e", uuids=keys)

    async def delete_group(self, run: Run, group: str | None, *, sagas: bool) -> None:
        for label in _NODES.values():
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
        if kind in _NODES:
            pattern = f"(n:{_NODES[kind]})"
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
        ends = (("Entity", "Entity"),) if name == "RELATES_TO" else _LINK_ENDS[name]
        for start, end in ends:
            statement = (
                f"UNWIND $rows AS row MATCH (s:{start} {{uuid: row.source_uuid}}) "
                f"MATCH (t:{end} {{uuid: row.target_uuid}}) "
                f"MERGE (s)-[e:{name} {{uuid: row.uuid}}]->(t) SET e += row.properties"
            )
            for batch in _batches(rows):
                await run(statement, rows=[_relation_row(row, names) for row in batch])


_DELETE_FACTS = (
    "UNWIND $rows AS row WITH row MATCH (e:RelatesToNode_) WHERE e.uuid = row.uuid DETACH DELETE e"
)


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


def _batches(rows: Sequence[Row]) -> Iterator[Sequence[Row]]:
    for start in range(0, len(rows), BATCH):
        yield rows[start : start + BATCH]


def _keys(uuids: Collection[str]) -> Iterator[Sequence[Row]]:
    return _batches([{"uuid": uuid} for uuid in sorted(uuids)])


def _picked(row: Row, names: tuple[str, ...]) -> Row:
    return {"uuid": row["uuid"], **{name: row[name] for name in names}}


def _map(names: tuple[str, ...]) -> str:
    return ", ".join(f"{name}: {_cast(name)}" for name in names)


def _cast(name: str) -> str:
    """The row's value with its type, which a batch of nothing but nulls or empty lists has lost."""
    kind = "TIMESTAMP" if name in _TIMES else "STRING[]" if name in _LISTS else "STRING"
    return f"CAST(row.{name} AS {kind})"
