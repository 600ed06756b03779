"""Labels and summaries of entities that several documents name, after one of the documents has changed."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from agentic_rag.stores.graph.rows import BASE
from agentic_rag.stores.graph.schemas import Row
from agentic_rag.stores.graph.tables import GraphTables

MAX_SUMMARY = 1_000
"""Characters; Graphiti's own limit for a summary."""


def touched_by_reading(
    facts: Mapping[str, Row],
    mentions: Mapping[str, Row],
    episode_ids: Collection[str],
    removals: Collection[str],
) -> set[str]:
    """Entities that lose a fact or mention which a chat model had read from one of the episodes."""
    lost = [
        facts[uuid]
        for uuid in removals
        if uuid in facts and not set(episode_ids).isdisjoint(facts[uuid]["episodes"])
    ]
    left = [
        mentions[uuid]
        for uuid in removals
        if uuid in mentions and mentions[uuid]["source_uuid"] in episode_ids
    ]
    ends = {end for row in lost for end in (row["source_uuid"], row["target_uuid"])}
    return ends | {row["target_uuid"] for row in left}


async def without_facts(
    tables: GraphTables, group: str, entities: Collection[str], removals: Collection[str]
) -> list[Row]:
    """Whole rows of the entities that have a summary, with one made of the facts that remain.

    A summary that a model wrote cannot be taken apart again, so it is made anew the way Graphiti starts
    one: the entity's facts, a line each, oldest first.
    """
    rows = [row for row in await tables.select_in(group, "entities", "uuid", entities) if row["summary"]]
    if not rows:
        return []
    named = {row["uuid"] for row in rows}
    columns = ["uuid", "fact", "source_uuid", "target_uuid", "created_at"]
    facts = await tables.select_in(group, "facts", "source_uuid", named, columns)
    facts += await tables.select_in(group, "facts", "target_uuid", named, columns)
    remaining = {fact["uuid"]: fact for fact in facts if fact["uuid"] not in removals}
    in_order = sorted(remaining.values(), key=lambda fact: (fact["created_at"], fact["uuid"]))
    changed = []
    for row in rows:
        about = [f["fact"] for f in in_order if row["uuid"] in (f["source_uuid"], f["target_uuid"])]
        changed.append({**row, "summary": _join_sentences(about)})
    return changed


def _join_sentences(sentences: list[str]) -> str:
    """Whole sentences, as many as there is room for."""
    summary = ""
    for sentence in dict.fromkeys(sentences):
        longer = f"{summary}\n{sentence}".strip()
        if len(longer) > MAX_SUMMARY:
            break
        summary = longer
    return summary


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


async def relabel(tables: GraphTables, group: str, labels: Mapping[str, Collection[str]]) -> list[Row]:
    """Whole rows of the stored entities that have other labels than these, with these."""
    rows = await tables.select_in(group, "entities", "uuid", labels)
    return [
        {**row, "labels": sorted(labels[row["uuid"]])}
        for row in rows
        if set(row["labels"]) != set(labels[row["uuid"]])
    ]


async def named_entities(
    tables: GraphTables, group: str, entities: Collection[str], outside: str | None = None
) -> set[str]:
    """The entities, of the given ones, that a fact or mention names; ``outside`` restricts facts and mentions."""
    facts_from = await tables.select_in(group, "facts", "source_uuid", entities, ["source_uuid"], outside)
    facts_to = await tables.select_in(group, "facts", "target_uuid", entities, ["target_uuid"], outside)
    mentions = await tables.select_in(group, "mentions", "target_uuid", entities, ["target_uuid"], outside)
    return {row["source_uuid"] for row in facts_from} | {row["target_uuid"] for row in (*facts_to, *mentions)}
