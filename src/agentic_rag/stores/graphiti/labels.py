"""Labels of entities that several documents name: each mention keeps those that its document gives."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from agentic_rag.stores.graphiti.schemas import Row
from agentic_rag.stores.graphiti.tables import GraphTables

BASE = "Entity"
"""The label that every entity has."""


async def labels_given(
    tables: GraphTables, group: str, entities: Collection[str], outside: str | None = None
) -> dict[str, set[str]]:
    """Labels that mentions give the entities, none where nothing mentions one; ``outside`` restricts the mentions.

    An entity that Graphiti itself mentions (a chat model read about it) is left out: its labels are Graphiti's.
    """
    columns = ["target_uuid", "entity_labels"]
    rows = await tables.select_in(group, "mentions", "target_uuid", entities, columns, outside)
    given: dict[str, set[str]] = {uuid: {BASE} for uuid in entities}
    for row in rows:
        if row["entity_labels"] is None:
            given.pop(row["target_uuid"], None)
        elif row["target_uuid"] in given:
            given[row["target_uuid"]].update(row["entity_labels"])
    return given


async def relabelled(tables: GraphTables, group: str, labels: Mapping[str, Collection[str]]) -> list[Row]:
    """Whole rows, with vectors, of the stored entities that have other labels than these, with these."""
    rows = await tables.select_in(group, "entities", "uuid", labels)
    changed = [
        {**row, "labels": sorted(labels[row["uuid"]])}
        for row in rows
        if set(row["labels"]) != set(labels[row["uuid"]])
    ]
    vectors = await tables.vectors(group, "entities", [row["uuid"] for row in changed])
    return [{**row, "vector": vectors[row["uuid"]]} for row in changed]
