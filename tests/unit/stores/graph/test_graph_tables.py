"""The graph's tables alone: how they stay fast during writes."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from agentic_rag.stores.graph.tables import GraphTables
from agentic_rag.stores.lancedb.connection import lance_connection
from agentic_rag.stores.lancedb.indexes import MAX_PIECES


async def test_many_small_writes_leave_few_pieces(tmp_path: Path) -> None:
    """One process a write, as when single notes are added on the command line."""
    row = {"group_id": "notes", "created_at": datetime.now(UTC), "source_uuid": "a", "target_uuid": "b"}
    for number in range(40):
        async with lance_connection(str(tmp_path)) as connection:
            tables = GraphTables(connection, model="m", dimension=4)
            await tables.upsert("notes", "mentions", [{**row, "uuid": f"m{number}"}])
            table = await connection.table("graph_notes_mentions")
            assert (await table.stats())["fragment_stats"]["num_fragments"] <= MAX_PIECES
    async with lance_connection(str(tmp_path)) as connection:
        assert await GraphTables(connection, model="m", dimension=4).count("notes", "mentions") == 40
