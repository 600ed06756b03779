"""LanceDB is the truth: after a crash, or with a graph that lost its data, the graph is made equal to it."""

from __future__ import annotations

import logging
from collections.abc import Collection
from dataclasses import dataclass

from agentic_rag.stores.graphiti.change import CANDIDATES, Change
from agentic_rag.stores.graphiti.cypher import Dialect, Run
from agentic_rag.stores.graphiti.journal import Journal, Touched
from agentic_rag.stores.graphiti.labels import labels_given, relabelled
from agentic_rag.stores.graphiti.schemas import KINDS, Kind, Row, columns
from agentic_rag.stores.graphiti.tables import GraphTables

_LOGGER = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class GraphRepair:
    """What making the graph equal took."""

    written: int
    deleted: int


class Reconciler:
    """Puts the graph and the orphans in LanceDB right; every method may be repeated.

    Args:
        tables: the truth.
        journal: tells which rows a crash may have left different.
        dialect: how the graph is read and written.
    """

    def __init__(self, tables: GraphTables, journal: Journal, dialect: Dialect) -> None:
        self._tables = tables
        self._journal = journal
        self._dialect = dialect

    async def settle(self, run: Run, *, compare: bool = False) -> GraphRepair:
        """Undo what a crash left half done; with ``compare``, also look for rows gone or left over."""
        touched = await self._journal.read() if self._journal.pending() else {}
        everything = touched is None
        touched = touched or {}
        await self._sweep(touched)
        groups = set(touched)
        if compare or everything:
            groups |= set(await self._tables.groups())
        repair = GraphRepair(0, 0)
        for group in sorted(groups):
            for kind in KINDS:
                suspects = touched.get(group, {}).get(kind, [])
                done = await self._level(run, group, kind, suspects, everything=everything)
                repair = GraphRepair(repair.written + done.written, repair.deleted + done.deleted)
        if repair != GraphRepair(0, 0):
            _LOGGER.warning(
                "the graph was put right from LanceDB: %d rows written, %d deleted",
                repair.written,
                repair.deleted,
            )
        await self._journal.clear()
        return repair

    async def rebuild(self, run: Run) -> GraphRepair:
        """Write every row again, into a graph that may hold anything."""
        repair = GraphRepair(0, 0)
        for group in await self._tables.groups():
            await self._dialect.delete_group(run, group, sagas=True)
            for kind in KINDS:
                done = await self._level(run, group, kind, [], everything=False)
                repair = GraphRepair(repair.written + done.written, repair.deleted + done.deleted)
        await self._journal.clear()
        return repair

    async def _level(
        self, run: Run, group: str, kind: Kind, suspects: Collection[str], *, everything: bool
    ) -> GraphRepair:
        held = await self._dialect.uuids(run, group, kind)
        rows = await self._tables.select(group, kind, select=["uuid"])
        true = {row["uuid"] for row in rows}
        extra = held - true
        if extra and kind in ("facts", "mentions", "links"):
            await self._dialect.delete_edges(run, extra, kind)
        elif extra:
            await self._dialect.delete_nodes(run, extra)
        wanted = true if everything else (true - held) | (true & set(suspects))
        # Facts and mentions of an entity are gone with it, so nodes come first in KINDS.
        await self._dialect.upsert(run, kind, await self._rows(group, kind, wanted))
        return GraphRepair(len(wanted), len(extra))

    async def _rows(self, group: str, kind: Kind, uuids: Collection[str]) -> list[Row]:
        return await self._tables.select_in(group, kind, "uuid", uuids, columns(kind)) if uuids else []

    async def _sweep(self, touched: Touched) -> None:
        """Delete the entities that an interrupted write left without a fact or mention, and take its labels back."""
        for group, kinds in touched.items():
            candidates = set(kinds.get(CANDIDATES, []))
            orphans = candidates - await named(self._tables, group, candidates)
            given = await labels_given(self._tables, group, candidates - orphans)
            change = Change()
            if orphans:
                change.delete_nodes(orphans, group)
            change.put("entities", await relabelled(self._tables, group, given))
            if not change.is_empty():
                removing = await change.removing(self._tables)
                async with self._tables.writing(change.writing(), removing=removing):
                    await change.apply(self._tables)


async def named(
    tables: GraphTables, group: str, entities: Collection[str], outside: str | None = None
) -> set[str]:
    """Those among the entities that a fact or mention names; ``outside`` restricts facts and mentions."""
    facts_from = await tables.select_in(group, "facts", "source_uuid", entities, ["source_uuid"], outside)
    facts_to = await tables.select_in(group, "facts", "target_uuid", entities, ["target_uuid"], outside)
    mentions = await tables.select_in(group, "mentions", "target_uuid", entities, ["target_uuid"], outside)
    return {row["source_uuid"] for row in facts_from} | {row["target_uuid"] for row in (*facts_to, *mentions)}
