"""Breadth-first walks over facts and mentions."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from agentic_rag.stores.graph import sql
from agentic_rag.stores.graph.tables import GraphTables

MAX_FRONTIER = 10_000
"""Nodes a level may start from, in uuid order; bounds a walk through a hub."""


@dataclass(frozen=True, slots=True)
class WalkResult:
    """What a walk found, nearest first, ties by uuid; facts and entities once each."""

    facts: dict[str, None]
    entities: dict[str, None]


async def reach(tables: GraphTables, group: str, origins: Sequence[str], depth: int) -> WalkResult:
    """Follow facts from source to target, and mentions from episode to entity, up to ``depth`` edges.

    An origin is found only when an edge leads back to it.
    """
    facts: dict[str, None] = {}
    entities: dict[str, None] = {}
    seen: set[str] = set()
    frontier = sorted(set(origins))
    for level in range(max(depth, 0)):
        frontier = frontier[:MAX_FRONTIER]
        if not frontier:
            break
        seen |= set(frontier)
        found = await tables.select_in(group, "facts", "source_uuid", frontier, ["uuid", "target_uuid"])
        targets = {row["target_uuid"] for row in found}
        if level == 0:  # only an origin can be an episode: no edge leads to one
            mentions = await tables.select_in(group, "mentions", "source_uuid", frontier, ["target_uuid"])
            targets |= {row["target_uuid"] for row in mentions}
        facts |= dict.fromkeys(sorted(row["uuid"] for row in found if row["uuid"] not in facts))
        entities |= dict.fromkeys(sorted(targets - set(entities)))
        frontier = sorted(targets - seen)
    return WalkResult(facts, entities)


async def neighbours(tables: GraphTables, group: str, center: str, candidates: Collection[str]) -> set[str]:
    """The candidates that a fact joins to the centre, in either direction."""
    onward = sql.is_in("source_uuid", [center])
    back = sql.is_in("target_uuid", [center])
    targets = await tables.select_in(group, "facts", "target_uuid", candidates, ["target_uuid"], onward)
    sources = await tables.select_in(group, "facts", "source_uuid", candidates, ["source_uuid"], back)
    return {row["target_uuid"] for row in targets} | {row["source_uuid"] for row in sources}
