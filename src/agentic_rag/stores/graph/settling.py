"""What is settled before a write: removes orphans from LanceDB and makes the graph server equal to LanceDB."""

from __future__ import annotations

import logging
from collections.abc import Collection

from agentic_rag.stores.graph.change import CANDIDATES, Change, TouchedRows
from agentic_rag.stores.graph.mirror import Mirror, Run
from agentic_rag.stores.graph.schemas import KINDS, Kind, Row, columns
from agentic_rag.stores.graph.shared_entities import labels_given, named_entities, relabel
from agentic_rag.stores.graph.tables import GraphTables

logger = logging.getLogger(__name__)


class Settling:
    """Undoes what an interrupted write left half done; repeating it changes nothing.

    Args:
        tables: the truth.
        server: how the graph server is read and written; None where there is none.
    """

    def __init__(self, tables: GraphTables, server: Mirror | None) -> None:
        self._tables = tables
        self._server = server
        self._is_compared = False

    async def settle(self, run: Run, touched_rows: TouchedRows | None) -> None:
        """Undo what an interrupted write left half done; the first time, compare the whole server with LanceDB.

        ``touched_rows``: what the write's journal names, None where that could not be read.
        """
        everything = touched_rows is None
        if touched_rows is None:
            touched_rows = {group: await self._every_entity(group) for group in await self._tables.groups()}
        await self._sweep(touched_rows)
        if self._server is not None:
            await self._level_all(self._server, run, touched_rows, everything=everything)

    async def _every_entity(self, group: str) -> dict[str, list[str]]:
        rows = await self._tables.select(group, "entities", select=["uuid"])
        return {CANDIDATES: [row["uuid"] for row in rows]}

    async def _sweep(self, touched_rows: TouchedRows) -> None:
        """Delete the entities that an interrupted write left without a fact or mention, and correct the labels of
        the others."""
        for group, kinds in touched_rows.items():
            candidates = set(kinds.get(CANDIDATES, []))
            orphans = candidates - await named_entities(self._tables, group, candidates)
            given = await labels_given(self._tables, group, candidates - orphans)
            change = Change()
            if orphans:
                change.delete_nodes(orphans, group)
            change.put("entities", await relabel(self._tables, group, given))
            if not change.is_empty():
                removing = change.removing()
                async with self._tables.writing(change.writing(), removing=removing):
                    await change.apply(self._tables)

    async def _level_all(
        self, server: Mirror, run: Run, touched_rows: TouchedRows, *, everything: bool
    ) -> None:
        groups = set(touched_rows) if self._is_compared else {*touched_rows, *await self._tables.groups()}
        written = deleted = 0
        for group in sorted(groups):
            for kind in KINDS:
                suspects = touched_rows.get(group, {}).get(kind, [])
                more, fewer = await self._level(server, run, group, kind, suspects, everything=everything)
                written, deleted = written + more, deleted + fewer
        self._is_compared = True
        if written or deleted:
            logger.warning(
                "the graph was repaired from LanceDB: %d rows written, %d deleted", written, deleted
            )

    async def _level(
        self,
        server: Mirror,
        run: Run,
        group: str,
        kind: Kind,
        suspects: Collection[str],
        *,
        everything: bool,
    ) -> tuple[int, int]:
        """Rows written and deleted."""
        stored = await server.uuids(run, group, kind)
        rows = await self._tables.select(group, kind, select=["uuid"])
        true = {row["uuid"] for row in rows}
        extra = stored - true
        if extra and kind in ("facts", "mentions"):
            await server.delete_edges(run, extra, kind)
        elif extra:
            await server.delete_nodes(run, extra)
        wanted = true if everything else (true - stored) | (true & set(suspects))
        # Facts and mentions of an entity are gone with it, so nodes come first in KINDS.
        await server.upsert(run, kind, await self._rows(group, kind, wanted))
        return len(wanted), len(extra)

    async def _rows(self, group: str, kind: Kind, uuids: Collection[str]) -> list[Row]:
        return await self._tables.select_in(group, kind, "uuid", uuids, columns(kind)) if uuids else []
