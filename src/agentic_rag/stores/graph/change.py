"""What one transaction changes, gathered while the graph is written and then applied to LanceDB."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

from agentic_rag.stores.graph import sql
from agentic_rag.stores.graph.schemas import KINDS, OF_DOCUMENTS, Kind, Row
from agentic_rag.stores.graph.tables import GraphTables

_EDGE_KINDS: tuple[Kind, ...] = ("facts", "mentions")
_NODE_KINDS: tuple[Kind, ...] = ("entities", "episodes")
TouchedRows = dict[str, dict[str, list[str]]]
"""Group → kind → uuids; kind ``candidates`` lists entities that may have lost their last mention."""
CANDIDATES = "candidates"
"""Journal key of entities that a crash may leave without a fact or mention."""


@dataclass
class Change:
    """Rows to store, deletions to repeat and documents to replace, in one transaction.

    Gathered by one transaction and applied once; deletions come before rows.
    """

    rows: dict[tuple[str, Kind], dict[str, Row]] = field(default_factory=dict)
    deletions: list[tuple[str, Kind, str]] = field(default_factory=list)
    """Group, kind, predicate."""
    documents: dict[str, set[str]] = field(default_factory=dict)
    """Group → documents whose rows are replaced by the given ones."""
    candidates: dict[str, set[str]] = field(default_factory=dict)

    def put(self, kind: Kind, rows: Iterable[Row]) -> None:
        for row in rows:
            self.rows.setdefault((row["group_id"], kind), {})[row["uuid"]] = row

    def delete_nodes(self, uuids: Collection[str], group: str) -> None:
        """Nodes and everything that names them."""
        ends = f"({sql.is_in('source_uuid', uuids)} OR {sql.is_in('target_uuid', uuids)})"
        for kind in _EDGE_KINDS:
            self.deletions.append((group, kind, ends))
        for kind in _NODE_KINDS:
            self.deletions.append((group, kind, sql.is_in("uuid", uuids)))

    def is_empty(self) -> bool:
        return not (self.rows or self.deletions or self.documents)

    def writing(self) -> set[str]:
        """The groups that the change adds rows to."""
        return {group for group, _ in self.rows} | set(self.documents)

    def removing(self) -> set[str]:
        """Groups with explicit deletions."""
        return {group for group, _, _ in self.deletions}

    def touched_rows(self) -> TouchedRows:
        """Rows and candidates for the journal, which the repair checks if the process dies half way."""
        groups: TouchedRows = {}
        for (group, kind), rows in self.rows.items():
            groups.setdefault(group, {})[kind] = sorted(rows)
        for group in self.documents:
            groups.setdefault(group, {})
        for group, uuids in self.candidates.items():
            groups.setdefault(group, {})[CANDIDATES] = sorted(uuids)
        return groups

    async def apply(self, tables: GraphTables) -> None:
        """Make LanceDB equal to the graph; repeating it changes nothing."""
        await self._fill(tables)
        for group, kind, where in self.deletions:
            await tables.delete(group, kind, where)
        for group in sorted(self.writing()):
            for kind in KINDS:
                rows = self.rows.get((group, kind), {})
                documents = self.documents.get(group)
                if documents and kind in OF_DOCUMENTS:
                    await tables.replace(group, kind, list(rows.values()), _of(documents, kind, rows))
                else:
                    await tables.upsert(group, kind, list(rows.values()))

    async def _fill(self, tables: GraphTables) -> None:
        """Give facts and mentions the chunk and document of the episodes they name, facts their date as well."""
        for group in {group for group, kind in self.rows if kind in ("facts", "mentions")}:
            facts = list(self.rows.get((group, "facts"), {}).values())
            mentions = list(self.rows.get((group, "mentions"), {}).values())
            episodes = dict(self.rows.get((group, "episodes"), {}))
            wanted = {uuid for row in facts for uuid in row["episodes"]}
            wanted |= {row["source_uuid"] for row in mentions}
            names = ["uuid", "document_id", "chunk_id", "chunk_date"]
            stored = await tables.select_in(group, "episodes", "uuid", wanted - set(episodes), names)
            episodes |= {row["uuid"]: row for row in stored}
            for row in facts:
                _derive(row, [episodes[uuid] for uuid in row["episodes"] if uuid in episodes])
                row["chunk_ids"] = sorted(
                    {
                        episodes[uuid]["chunk_id"]
                        for uuid in row["episodes"]
                        if uuid in episodes and episodes[uuid]["chunk_id"] is not None
                    }
                )
            for row in mentions:
                episode = episodes.get(row["source_uuid"], {})
                row["document_id"], row["chunk_id"] = episode.get("document_id"), episode.get("chunk_id")


def _of(documents: Collection[str], kind: Kind, rows: Collection[str]) -> str:
    """The predicate for the documents' rows; for facts also the given rows, which another document may own."""
    of = sql.is_in("document_id", documents)
    return f"({of} OR {sql.is_in('uuid', rows)})" if kind == "facts" and rows else of


def _derive(row: Row, episodes: Sequence[Row]) -> None:
    """The first document, and the earliest date; an episode without a date makes the row dateless."""
    dates = [episode["chunk_date"] for episode in episodes]
    row["document_id"] = next((e["document_id"] for e in episodes if e["document_id"] is not None), None)
    row["chunk_date"] = min(dates) if dates and None not in dates else None
