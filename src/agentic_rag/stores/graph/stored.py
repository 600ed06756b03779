"""What is stored of documents before they change: their rows, and vectors that can be used again."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from agentic_rag.domain.ports import FloatArray
from agentic_rag.stores.graph import sql
from agentic_rag.stores.graph.chunks import READ_BY
from agentic_rag.stores.graph.contribution import Contributions
from agentic_rag.stores.graph.schemas import Row
from agentic_rag.stores.graph.tables import GraphTables


@dataclass(frozen=True, slots=True)
class Before:
    """The documents' stored rows before the change."""

    episodes: Mapping[str, Row]
    going: frozenset[str]
    """Episodes that no longer support facts, unless the new contribution says so."""
    episode_ids: frozenset[str]
    """Episodes that a chat model has read."""
    facts: Mapping[str, Row]
    mentions: Mapping[str, Row]
    kept_mentions: Mapping[str, Row]


async def before_change(
    tables: GraphTables, group: str, documents: Collection[str], keep: frozenset[str]
) -> Before:
    """Rows of the documents, and facts of others that also rest on their episodes."""
    of = sql.is_in("document_id", documents)
    columns = ["uuid", "created_at", "metadata"]
    episodes = {row["uuid"]: row for row in await tables.select(group, "episodes", of, columns)}
    uuids = set(episodes)
    facts = await tables.select(group, "facts", of)
    others = sql.every([sql.has_any("episodes", uuids), outside(documents)])
    facts += await tables.select(group, "facts", others) if uuids else []
    elsewhere = {episode for row in facts for episode in row["episodes"]} - uuids
    there = await tables.select_in(group, "episodes", "uuid", elsewhere, ["uuid"])
    # An interrupted write may have replaced the episodes of a document, and its facts not yet.
    going = (uuids | elsewhere) - {row["uuid"] for row in there} - keep
    staying = [row for row in facts if not going.issuperset(row["episodes"])]
    rows = await _with_vectors(tables, group, staying)
    mentions = await tables.select(group, "mentions", of)
    return Before(
        episodes=episodes,
        going=frozenset(going),
        episode_ids=frozenset(
            uuid for uuid, row in episodes.items() if READ_BY in json.loads(row["metadata"] or "{}")
        ),
        facts={row["uuid"]: rows.get(row["uuid"], row) for row in facts},
        mentions={row["uuid"]: row for row in mentions},
        kept_mentions={row["uuid"]: row for row in mentions if row["source_uuid"] in keep},
    )


def shared_facts(before: Before) -> dict[str, Row]:
    """Facts that a remaining episode supports too, with the remaining episodes only."""
    kept: dict[str, Row] = {}
    for uuid, row in before.facts.items():
        remaining = [episode for episode in row["episodes"] if episode not in before.going]
        if remaining and "vector" in row:
            kept[uuid] = {**row, "episodes": remaining}
    return kept


async def stored_entities(tables: GraphTables, plan: Contributions) -> dict[str, Row]:
    """The stored entities that the documents name, by uuid."""
    rows = await tables.select_in(plan.group, "entities", "uuid", plan.entities)
    return {row["uuid"]: row for row in rows}


async def stored_vectors(
    tables: GraphTables, plan: Contributions
) -> tuple[dict[str, FloatArray], dict[str, str], dict[str, FloatArray]]:
    """Of the facts: stored vectors by uuid; texts by uuid without a vector; vectors of moved documents' texts, by text."""
    vectors = await tables.vectors(plan.group, "facts", plan.facts)
    wanted = {uuid: fact.text for uuid, fact in plan.facts.items() if uuid not in vectors}
    return vectors, wanted, await _by_text(tables, plan.group, plan.moved_from)


def outside(documents: Collection[str]) -> str:
    """What is not of the documents."""
    return f"(document_id IS NULL OR NOT {sql.is_in('document_id', documents)})"


async def _with_vectors(tables: GraphTables, group: str, rows: Sequence[Row]) -> dict[str, Row]:
    vectors = await tables.vectors(group, "facts", [row["uuid"] for row in rows])
    return {row["uuid"]: {**row, "vector": vectors[row["uuid"]]} for row in rows}


async def _by_text(tables: GraphTables, group: str, documents: Collection[str]) -> dict[str, FloatArray]:
    """Vectors of the documents' facts, by fact sentence."""
    if not documents:
        return {}
    rows = await tables.select(group, "facts", sql.is_in("document_id", documents), ["uuid", "fact"])
    vectors = await tables.vectors(group, "facts", [row["uuid"] for row in rows])
    return {row["fact"]: vectors[row["uuid"]] for row in rows if row["uuid"] in vectors}
